//! The twelve-bit difference (DECN §III-C): offset binary, four bits per packet, most significant
//! first.
//!
//! Codes, and their nibbles from the first that differs, compare as the differences do: a switch
//! takes the minimum packet by packet, without regard to sign.

use incast_transport::Rate;

incast_transport::choice! {
    /// Step of the twelve-bit difference.
    pub enum Unit {
        /// 1 Mb/s: differences beyond 2047 Mb/s saturate.
        Paper = "paper",
        /// The smallest power of two times 1 Mb/s that can represent the fabric's largest rate.
        Scaled = "scaled",
    }
}

/// Packets of a feedback unit.
pub const PACKETS: u8 = 3;
/// The largest code: 2047 steps up. Senders write it, so that any switch can lower it.
pub const LARGEST: u16 = 0xFFF;
/// The code of a zero difference; lower codes are negative.
const ZERO: i64 = 0x800;

/// The code of a difference in bits per second, to the nearest step, halves away from zero;
/// saturates at 2047 steps up and 2048 down.
#[inline]
pub fn encode(difference: i64, step: i64) -> u16 {
    let steps = (difference.abs() + step / 2) / step * difference.signum();
    (steps.clamp(-ZERO, ZERO - 1) + ZERO) as u16
}

/// The difference of a code, in bits per second.
#[inline]
pub fn decode(code: u16, step: i64) -> i64 {
    (code as i64 - ZERO) * step
}

/// The four bits of a code that packet 0, 1 or 2 of a unit carries.
#[inline]
pub const fn nibble(code: u16, packet: u8) -> u8 {
    assert!(packet < PACKETS, "a unit has three packets");
    (code >> (8 - 4 * packet)) as u8 & 0xF
}

/// The size of a step, in bits per second.
pub fn step(unit: Unit, largest: Rate) -> i64 {
    let mut step = 1_000_000;
    while unit == Unit::Scaled && (ZERO - 1) * step < largest.0 as i64 {
        step *= 2;
    }
    step
}
