//! A port as data: classes, queue disciplines and markers. What a transport asks of every port it
//! crosses, so that the policies of several transports can be joined in one port.

use crate::{Marker, TransportId};
use incast_units::{Bytes, Rate};

/// How much may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many charged bytes.
    Bytes(u64),
    /// No limit of the port's own.
    Unlimited,
}

impl Limit {
    /// Whether a packet of `charged` bytes still fits behind `packets` and `bytes`.
    #[inline]
    pub fn admits(self, packets: u32, bytes: u64, charged: u32) -> bool {
        match self {
            Limit::Packets(most) => packets < most,
            Limit::Bytes(most) => bytes + charged as u64 <= most,
            Limit::Unlimited => true,
        }
    }

    /// The limit in bytes, a packet counting `charged` bytes.
    pub fn bytes(self, charged: u32) -> Bytes {
        match self {
            Limit::Packets(most) => Bytes(most as u64 * charged as u64),
            Limit::Bytes(most) => Bytes(most),
            Limit::Unlimited => Bytes(u64::MAX),
        }
    }
}

/// What happens to a packet that finds its class full.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Discipline {
    /// The arriving packet is dropped.
    DropTail,
    /// The same, but the limit is that of all classes of the transport with this discipline
    /// together: one buffer behind several priorities (Homa).
    SharedTail,
    /// The packet of the least important class that came last gives way, if its class is less
    /// important than the arriving packet's; the limit is that of all push-out classes together.
    PushOut,
    /// A full packet loses its payload and the header joins class `headers`; with probability
    /// `tail` it is the last packet of the queue that is trimmed instead of the arriving one.
    /// A header that does not fit is bounced to its source once (`bounce`), or dropped.
    Trim {
        /// Class that headers join.
        headers: u8,
        /// Probability that the queue's tail is trimmed.
        tail: f64,
        /// Whether headers without room go back to their source.
        bounce: bool,
    },
    /// Unscheduled packets (data flag) are dropped once the class holds `threshold`. Limit and
    /// threshold are those of all selective classes of the transport together (Aeolus on Homa).
    Selective {
        /// Most that may wait for an unscheduled packet to be admitted.
        threshold: Limit,
        /// Whether the threshold is that of the packet's class alone.
        alone: bool,
    },
}

/// When a class is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Before all classes with a higher number.
    Strict,
    /// In turn with the other weighted classes of the port, in proportion to its weight in bytes.
    Weighted(u32),
}

/// A token bucket that a class must pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaper {
    /// Tokens per second, as a rate of charged bytes.
    pub rate: Rate,
    /// Depth in charged bytes.
    pub depth: Bytes,
}

/// One service class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassPolicy {
    /// When it is served.
    pub schedule: Schedule,
    /// What may wait.
    pub limit: Limit,
    /// What happens beyond that.
    pub discipline: Discipline,
    /// A token bucket, if any.
    pub shaper: Option<Shaper>,
}

impl ClassPolicy {
    /// A class of which the transport sends nothing: there for others that share the port.
    pub fn unused() -> ClassPolicy {
        ClassPolicy::fifo(Limit::Packets(0))
    }

    /// Strict priority, drop-tail at `limit`.
    pub fn fifo(limit: Limit) -> ClassPolicy {
        ClassPolicy {
            schedule: Schedule::Strict,
            limit,
            discipline: Discipline::DropTail,
            shaper: None,
        }
    }
}

/// What one transport asks of a port.
pub struct Policy {
    /// Whose policy it is.
    pub transport: TransportId,
    /// Indexed by a packet's class. At most 8; a packet of a class beyond uses the last.
    pub classes: Vec<ClassPolicy>,
    /// Its markers, called in order. They rewrite packets of this transport only.
    pub markers: Vec<Box<dyn Marker>>,
}

impl Policy {
    /// One drop-tail queue of `buffer` for data and answers, with one marker. Class 0 is as long,
    /// for transports that use it.
    pub fn one_queue(transport: TransportId, buffer: Limit, marker: Box<dyn Marker>) -> Policy {
        Policy { transport, classes: vec![ClassPolicy::fifo(buffer); 2], markers: vec![marker] }
    }

    /// Two drop-tail queues: `control` in front of `data`.
    pub fn two_queues(
        transport: TransportId,
        control: Limit,
        data: Limit,
        markers: Vec<Box<dyn Marker>>,
    ) -> Policy {
        let classes = vec![ClassPolicy::fifo(control), ClassPolicy::fifo(data)];
        Policy { transport, classes, markers }
    }
}

/// Some transports, looked up by their number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransportSet([u64; 4]);

impl TransportSet {
    /// These transports.
    pub fn of(transports: &[TransportId]) -> TransportSet {
        let mut set = TransportSet::default();
        transports.iter().for_each(|id| set.0[id.0 as usize / 64] |= 1 << (id.0 % 64));
        set
    }

    /// Whether a transport is among them.
    #[inline]
    pub fn has(&self, transport: TransportId) -> bool {
        self.0[transport.0 as usize / 64] >> (transport.0 % 64) & 1 != 0
    }
}
