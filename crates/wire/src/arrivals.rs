//! [`Extension::Arrivals`] on the wire: its kind in the first four bits, twelve reserved bits, the fields, and
//! sixteen reserved bits.

use crate::malformed::Malformed;
use crate::words::{HEADERS, long_word, word};
use crate::{ARRIVALS_BYTES, Extension, HEADER_BYTES};

/// Its kind.
pub(crate) const ARRIVALS: u8 = 8;

/// Its length in a packet of `length` bytes, which are all present. Reserved bits must be zero.
pub(crate) fn extent(bytes: &[u8], length: u16) -> Result<u8, Malformed> {
    let minimum = HEADER_BYTES + u16::from(ARRIVALS_BYTES);
    if length < minimum {
        return Err(Malformed::Length { length, minimum });
    }
    let entry = &bytes[HEADERS..minimum as usize];
    let reserved = [entry[1], entry[22], entry[23]].into_iter().find(|&byte| byte != 0);
    if entry[0] & 15 != 0 || reserved.is_some() {
        return Err(Malformed::Extension { first: entry[0], reserved: reserved.unwrap_or(0) });
    }
    Ok(ARRIVALS_BYTES)
}

pub(crate) fn write((base, bits, received, beyond): (u32, u64, u64, u16), out: &mut [u8]) {
    out.fill(0);
    out[0] = ARRIVALS << 4;
    out[2..6].copy_from_slice(&base.to_be_bytes());
    out[6..14].copy_from_slice(&bits.to_be_bytes());
    out[14..20].copy_from_slice(&received.to_be_bytes()[2..]);
    out[20..22].copy_from_slice(&beyond.to_be_bytes());
}

pub(crate) fn read(bytes: &[u8]) -> Extension {
    Extension::Arrivals {
        base: long_word(bytes, 2),
        bits: u64::from(long_word(bytes, 6)) << 32 | u64::from(long_word(bytes, 10)),
        received: u64::from(word(bytes, 14)) << 32 | u64::from(long_word(bytes, 16)),
        beyond: word(bytes, 20),
    }
}
