//! Which of several equal-cost ports a packet takes. Pure functions for use per packet.
//!
//! A switch computes one hash, mixes in where it stands ([`at_switch`] or, for symmetric ECMP,
//! [`at_level`]) and calls [`pick`]. Without the second step every switch would split its share of
//! the flows by the same bits and a fat-tree would use a fraction of its core links.

use crate::order::{draw, mix, random_key};
use crate::parts::{NodeId, PortId, Tier};
use incast_units::Time;

/// Hash of a flow for ECMP: all packets of a flow from `src` to `dst` agree.
#[inline]
pub fn flow_hash(src: u32, dst: u32, flow: u64, seed: u64) -> u32 {
    let ends = ((src as u64) << 32) | dst as u64;
    (mix(mix(ends ^ seed).wrapping_add(flow)) >> 32) as u32
}

/// Hash of a packet for ECMP over a flow's path numbers (Ultra Ethernet 1.0: the entropy value): packets
/// of a flow with the same `path` agree.
#[inline]
pub fn entropy_hash(src: u32, dst: u32, flow: u64, path: u16, seed: u64) -> u32 {
    flow_hash(src, dst, flow, seed.wrapping_add(mix(path as u64 ^ 0x656e_7472_6f70_7900)))
}

/// Like [`flow_hash`], and the same when source and destination change places.
#[inline]
pub fn symmetric_hash(src: u32, dst: u32, flow: u64, seed: u64) -> u32 {
    flow_hash(src.min(dst), src.max(dst), flow, seed)
}

/// The hash as one switch sees it: independent between switches.
#[inline]
pub fn at_switch(hash: u32, switch: NodeId) -> u32 {
    remix(hash, switch.0.wrapping_add(4))
}

/// The hash as the ports of one level see it ([`crate::PortSpec::level`] of the first port of the
/// group): independent between levels, the same for both directions of a link.
#[inline]
pub fn at_level(hash: u32, level: Tier) -> u32 {
    remix(hash, level as u32)
}

#[inline]
fn remix(hash: u32, salt: u32) -> u32 {
    (mix(((salt as u64) << 32) | hash as u64) >> 32) as u32
}

/// Maps a hash to `0..n` by its high bits; every index gets the same share of the hashes but for
/// rounding. `n = 0` gives 0.
#[inline]
pub fn pick(hash: u32, n: usize) -> usize {
    ((hash as u64 * n as u64) >> 32) as usize
}

/// A hash for random per-packet spraying, without state: a packet is identified by when and where
/// it arrived, and no two arrive through one port at the same instant.
#[inline]
pub fn spray_hash(seed: u64, switch: NodeId, at: Time, ingress: PortId) -> u32 {
    let place = ((switch.0 as u64) << 32) | ingress.0 as u64;
    (mix(mix(seed ^ place).wrapping_add(at.0)) >> 32) as u32
}

/// Where the turns of a source host begin at a switch, for spraying with one counter per source.
/// Hosts begin at different links, as the counters of the authors' simulator of pHost do.
#[inline]
pub fn first_turn(seed: u64, switch: NodeId, source: u32) -> u32 {
    random_key(seed ^ 0x736f_7572_6365_5f72, switch.0, source) as u32
}

/// Per-packet spraying in turn over a random permutation, drawn anew after each full cycle. One per
/// switch and destination group; between two reshuffles every port is used exactly once.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    order: Box<[u16]>,
    next: u16,
    key: u64,
    draws: u64,
}

impl RoundRobin {
    /// The state for a group of `ports` ports. `group` is any number of the group within the
    /// fabric, as [`crate::Routes::group`] gives it. Panics unless there are 1 to 65535 ports.
    pub fn new(seed: u64, switch: NodeId, group: u32, ports: usize) -> RoundRobin {
        assert!((1..=u16::MAX as usize).contains(&ports), "a group of {ports} ports");
        let key = random_key(seed ^ 0x726f_756e_645f_726f, switch.0, group);
        let order = (0..ports as u16).collect();
        let mut fresh = RoundRobin { order, next: 0, key, draws: 0 };
        fresh.shuffle();
        fresh
    }

    /// The number of ports it turns over.
    pub fn ports(&self) -> usize {
        self.order.len()
    }

    /// The next index in `0..ports`.
    #[inline]
    pub fn turn(&mut self) -> usize {
        if self.next as usize == self.order.len() {
            self.shuffle();
        }
        self.next += 1;
        self.order[self.next as usize - 1] as usize
    }

    fn shuffle(&mut self) {
        for last in (1..self.order.len()).rev() {
            let other = pick((draw(self.key, self.draws) >> 32) as u32, last + 1);
            self.order.swap(last, other);
            self.draws += 1;
        }
        self.next = 0;
    }
}
