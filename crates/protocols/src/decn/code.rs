//! The twelve-bit difference (DECN §III-C): offset binary, four bits a packet, the highest first.
//!
//! Comparing codes, or their nibbles from the first that differs, compares differences: a switch
//! takes the minimum one packet at a time and looks at no sign.

use incast_transport::Rate;

incast_transport::choice! {
    /// What a step of the twelve-bit difference stands for.
    pub enum Unit {
        /// 1 Mb/s: differences beyond 2047 Mb/s saturate.
        Paper = "paper",
        /// The smallest power of two of 1 Mb/s with which the fabric's largest rate fits.
        Scaled = "scaled",
    }
}

/// Packets of a feedback unit.
pub const PACKETS: u8 = 3;
/// The largest code: 2047 steps up. What senders write, so that any switch may lower it.
pub const LARGEST: u16 = 0xFFF;
/// The code of no difference; a code at or above says "not slower".
const ZERO: i64 = 0x800;

/// The code of a difference in bits per second, to the nearest step, halves away from zero;
/// beyond 2047 steps up or 2048 down it is the last one.
#[inline]
pub fn encode(difference: i64, step: i64) -> u16 {
    let steps = (difference.abs() + step / 2) / step * difference.signum();
    (steps.clamp(-ZERO, ZERO - 1) + ZERO) as u16
}

/// The difference in bits per second that a code stands for.
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

/// What a step stands for, in bits per second.
pub fn step(unit: Unit, largest: Rate) -> i64 {
    let mut step = 1_000_000;
    while unit == Unit::Scaled && (ZERO - 1) * step < largest.0 as i64 {
        step *= 2;
    }
    step
}
