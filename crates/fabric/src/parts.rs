//! What a fabric consists of: nodes, ports with their links, and what may befall a link.

use incast_units::{Bytes, Rate, Span, Time};

/// A node. Hosts are `0..hosts`, switches follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// An egress port, which is the same as a directed link. Global, and contiguous per node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// How far a node stands from the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Tier {
    /// A host.
    Host = 0,
    /// A switch with hosts: leaf, ToR.
    Edge = 1,
    /// A switch one step from an edge switch, in a fabric that has a further tier.
    Aggregation = 2,
    /// The highest tier: a spine, or a core switch.
    Core = 3,
}

/// The properties of an egress port and of the link behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortSpec {
    /// The node the port belongs to.
    pub node: NodeId,
    /// The node at the other end.
    pub peer: NodeId,
    /// The peer's egress port back to us: our ingress identity at the peer.
    pub reverse: PortId,
    /// The rate of the link.
    pub rate: Rate,
    /// Propagation towards the peer. May differ from the reverse path only where an importer folded
    /// a switch latency into it.
    pub propagation: Span,
    /// Probability that a packet is lost on the link, 0 to 1.
    pub loss: f64,
    /// The tier of `node`.
    pub tier: Tier,
    /// Whether `peer` is of a higher tier than `node`.
    pub upward: bool,
    /// The lower tier of the two ends: the same seen from both, as symmetric ECMP needs it.
    pub level: Tier,
}

/// When switches begin to forward a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Forwarding {
    /// When its last bit has arrived.
    #[default]
    StoreAndForward,
    /// When its first bytes have arrived, as links charge them, unless it must be stored.
    CutThrough(Bytes),
}

impl Forwarding {
    /// The bytes that a switch reads before it forwards a packet of `charged` bytes.
    #[inline]
    pub fn reads(self, charged: Bytes) -> Bytes {
        match self {
            Forwarding::StoreAndForward => charged,
            Forwarding::CutThrough(first) => first.min(charged),
        }
    }
}

/// A link that fails: from `at` until it is repaired neither direction carries anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When.
    pub at: Time,
    /// When it works again; [`Time::NEVER`] if it is not repaired.
    pub until: Time,
    /// One direction.
    pub port: PortId,
    /// The other direction.
    pub reverse: PortId,
}

/// Losses that come in bursts: a link is in a good or a bad state, for times that are exponentially distributed
/// (Gilbert 1960, Elliott 1963). In the good state its own loss probability holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossBursts {
    /// Mean length of a good state.
    pub every: Span,
    /// Mean length of a bad state.
    pub lasts: Span,
    /// Probability that a packet is lost in the bad state, 0 to 1.
    pub loss: f64,
}

impl LossBursts {
    /// Share of the time in the bad state.
    pub fn share(&self) -> f64 {
        self.lasts.0 as f64 / (self.lasts.0 as f64 + self.every.0 as f64)
    }
}
