//! The Internet checksum (RFC 1071) and its incremental update (RFC 1624).

/// The Internet checksum of `bytes`: the complement of the ones' complement sum of the 16-bit
/// words, network order. An odd last byte is padded with zero. Over bytes that include their own
/// valid checksum it is 0.
#[inline]
pub fn checksum(bytes: &[u8]) -> u16 {
    complement(sum(bytes))
}

/// The Internet checksum of several pieces in a row, of which all but the last have an even length.
pub fn checksum_of(pieces: &[&[u8]]) -> u16 {
    complement(pieces.iter().map(|piece| sum(piece)).sum())
}

/// The checksum of bytes whose checksum was `old` after one of their 16-bit words changed `from`
/// one value `to` another (RFC 1624, equation 3: `~(~old + ~from + to)`).
#[inline]
pub fn updated(old: u16, from: u16, to: u16) -> u16 {
    complement(u64::from(!old) + u64::from(!from) + u64::from(to))
}

/// The unfolded ones' complement sum of `bytes`. Sums of pieces of even length can be added.
///
/// 32-bit words give the same folded sum as 16-bit words, since 2^16 is 1 modulo 2^16 - 1. A u64
/// holds the sum of 2^32 of them.
#[inline]
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum: u64 = words.iter().map(|&word| u64::from(u32::from_be_bytes(word))).sum();
    let last = match *rest {
        [] => 0,
        [a] => u32::from_be_bytes([a, 0, 0, 0]),
        [a, b] => u32::from_be_bytes([a, b, 0, 0]),
        [a, b, c, ..] => u32::from_be_bytes([a, b, c, 0]),
    };
    sum + u64::from(last)
}

/// The unfolded sum of twenty bytes in the order in which the machine reads them. With the other
/// order it is, modulo ffff, 256 times as much, so it tells a valid sum as well (RFC 1071, section 2 (B)).
#[inline]
pub(crate) fn sum_native(bytes: &[u8; 20]) -> u64 {
    let ([first, second], rest) = bytes.as_chunks::<8>() else { unreachable!("twenty bytes") };
    let [first, second] = [first, second].map(|eight| u64::from_ne_bytes(*eight));
    let last = rest.first_chunk().map_or(0, |four| u32::from_ne_bytes(*four));
    let halves = |eight: u64| (eight & 0xffff_ffff) + (eight >> 32);
    halves(first) + halves(second) + u64::from(last)
}

/// Whether bytes of this unfolded sum include their own valid checksum: folded it is ffff, so it is a
/// multiple of ffff, and not 0.
#[inline]
pub(crate) fn is_valid(sum: u64) -> bool {
    sum != 0 && sum.is_multiple_of(0xffff)
}

/// The checksum of an unfolded sum.
#[inline]
pub(crate) fn complement(sum: u64) -> u16 {
    // Folds to 32 bits, then twice to 16 bits; the second time adds the last carry.
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rfc_1071_section_3_example() {
        // The RFC's example sums to ddf2 before the complement.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn rfc_1624_section_4_example() {
        // Equation 2 of RFC 1141 gives ffff here; equation 3 gives the correct result, 0000.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn known_ipv4_header() {
        // A UDP datagram's header, 192.168.0.1 to 192.168.0.199, whose checksum is b861.
        let mut header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header), 0xb861);
        header[10..12].copy_from_slice(&[0xb8, 0x61]);
        assert_eq!(checksum(&header), 0);
    }

    #[test]
    fn odd_and_empty_inputs() {
        assert_eq!(checksum(&[]), 0xffff);
        assert_eq!(checksum(&[0xab]), !0xab00);
        assert_eq!(checksum(&[1, 2, 3]), !(0x0102 + 0x0300));
        assert_eq!(checksum(&[0xff; 6]), 0);
    }

    proptest! {
        #[test]
        fn valid_in_any_order(mut bytes: [u8; 20], valid: bool) {
            if valid {
                bytes[..2].fill(0);
                let sum = checksum(&bytes);
                bytes[..2].copy_from_slice(&sum.to_be_bytes());
            }
            let expected = checksum(&bytes) == 0;
            prop_assert!(expected || !valid);
            prop_assert_eq!(is_valid(sum(&bytes)), expected);
            prop_assert_eq!(is_valid(sum_native(&bytes)), expected);
        }

        #[test]
        fn equals_the_sum_word_by_word(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut sum = 0u32;
            for word in bytes.chunks(2) {
                sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
                if sum > 0xffff {
                    sum -= 0xffff; // end-around carry
                }
            }
            prop_assert_eq!(checksum(&bytes), !(sum as u16));
        }

        #[test]
        fn pieces_are_as_one(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..100) {
            let (first, second) = bytes.split_at((2 * cut).min(bytes.len() & !1));
            prop_assert_eq!(checksum_of(&[first, &[], second]), checksum(&bytes));
        }

        #[test]
        fn update_equals_recomputation(
            mut bytes in prop::collection::vec(any::<u8>(), 4..64), word in any::<u16>(),
        ) {
            // Not all zero, like any header: only then could the two zeros of ones' complement
            // differ.
            bytes[3] |= 1;
            let from = u16::from_be_bytes([bytes[0], bytes[1]]);
            let before = checksum(&bytes);
            bytes[..2].copy_from_slice(&word.to_be_bytes());
            prop_assert_eq!(updated(before, from, word), checksum(&bytes));
        }
    }
}
