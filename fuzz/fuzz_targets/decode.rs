//! Any bytes: no panic, and what is accepted is written again the same way. With the checksums
//! made right too, since a fuzzer does not guess them.

#![no_main]

use incast_wire::{checksum, decode, encode};
use libfuzzer_sys::fuzz_target;

fn reseal(bytes: &mut [u8], end: usize) {
    bytes[10..12].fill(0);
    let sum = checksum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes[26..28].fill(0);
    let sum = checksum(&bytes[20..end]);
    bytes[26..28].copy_from_slice(&sum.to_be_bytes());
}

fn check(bytes: &[u8]) {
    let Ok((packet, extension)) = decode(bytes) else { return };
    let mut written = Vec::new();
    let length = encode(&packet, &extension, &mut written);
    assert_eq!(decode(&written), Ok((packet, extension)));
    // All but the time to live, the checksums (there are two zeros) and the payload.
    let end = length - packet.payload as usize;
    let same = |at: &usize| !matches!(at, 8 | 10 | 11 | 26 | 27);
    assert!((0..end).filter(same).all(|at| written[at] == bytes[at]));
}

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    if bytes.len() < 40 {
        return;
    }
    let mut sealed = bytes.to_vec();
    // Without an extension, and with one of each number of entries.
    for end in [40].into_iter().chain((0..=8).map(|entries| 42 + 8 * entries)) {
        if end <= sealed.len() {
            reseal(&mut sealed, end);
            check(&sealed);
        }
    }
});
