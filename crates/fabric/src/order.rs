//! The order of what happens at one instant, and keys of random streams.
//!
//! Both worlds sort simultaneous arrivals at a node by [`arrival_key`], so that ties are fair,
//! reproducible, and the same in each world and at any number of threads.

use crate::parts::PortId;
use incast_units::Time;

const KEY_BITS: u32 = 30;
const KEY_MASK: u32 = (1 << KEY_BITS) - 1;

/// A 64-bit finaliser: a bijection in which every input bit changes about half of the output bits.
/// Constants of Stafford's variant 13, the finaliser of SplitMix64.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Where an arrival through `ingress` stands among those of the same instant: a 30-bit value, a
/// bijection of the ingress port for a given seed and time, and as good as a fresh draw for each
/// time. Ports are taken modulo 2^30, more than any fabric has.
#[inline]
pub fn arrival_key(seed: u64, at: Time, ingress: PortId) -> u32 {
    let key = mix(seed.wrapping_add(at.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    // Each step is a bijection of 30 bits: keyed xor, multiplication by an odd number, xor-shift.
    let mut x = (ingress.0 ^ key as u32) & KEY_MASK;
    x = x.wrapping_mul((key >> 32) as u32 | 1) & KEY_MASK;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2c1b_3c6d) & KEY_MASK;
    x ^= x >> 13;
    x = x.wrapping_mul((key >> 17) as u32 | 1) & KEY_MASK;
    x ^ (x >> 15)
}

/// The key of a random stream: one per run, entity (host, port) and purpose.
#[inline]
pub fn random_key(seed: u64, entity: u32, purpose: u32) -> u64 {
    let stream = ((entity as u64) << 32) | purpose as u64;
    mix(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ mix(stream.wrapping_add(1)))
}

/// The `counter`-th value of a stream. The key enters twice, so that two streams are never shifted
/// copies of each other.
#[inline]
pub fn draw(key: u64, counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key;
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z = z.wrapping_add(key.rotate_left(29));
    mix(z)
}
