//! Bytes of packets.

use incast_wire::{checksum, encode};

/// Any bytes: what is accepted is written again the same way. With the checksums made right too,
/// since mutation does not guess them.
pub fn decode(bytes: &[u8]) {
    check(bytes);
    if bytes.len() < 40 {
        return;
    }
    let mut sealed = bytes.to_vec();
    // The transport checksum covers headers and extension, whose length the packet may not tell.
    for end in [40].into_iter().chain((1..=48).map(|pairs| 40 + 2 * pairs)) {
        if end <= sealed.len() {
            seal(&mut sealed, end);
            check(&sealed);
        }
    }
}

fn seal(bytes: &mut [u8], end: usize) {
    bytes[10..12].fill(0);
    let sum = checksum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes[26..28].fill(0);
    let sum = checksum(&bytes[20..end]);
    bytes[26..28].copy_from_slice(&sum.to_be_bytes());
}

fn check(bytes: &[u8]) {
    let Ok((packet, extension)) = incast_wire::decode(bytes) else { return };
    let mut written = Vec::new();
    let length = encode(&packet, &extension, &mut written);
    assert_eq!(incast_wire::decode(&written), Ok((packet, extension)));
    // All but the time to live, the checksums (there are two zeros) and the payload.
    let end = length - packet.payload as usize;
    let same = |at: &usize| !matches!(at, 8 | 10 | 11 | 26 | 27);
    assert!((0..end).filter(same).all(|at| written[at] == bytes[at]));
}
