//! Port policies: classes, queue disciplines and markers that a transport requires of the ports on
//! its paths. One port can combine the policies of several transports.

use crate::limit::Limit;
use crate::{Marker, TransportId};
use incast_units::{Bytes, Rate};

/// The handling of a packet that arrives at a full class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Discipline {
    /// The arriving packet is dropped.
    DropTail,
    /// Drop-tail with one limit for all classes of the transport with this discipline: one buffer
    /// behind several priorities (Homa).
    SharedTail,
    /// The last packet of the lowest-priority class is dropped if its priority is lower than the
    /// arriving packet's. One limit covers all push-out classes.
    PushOut,
    /// Packets carry what their flows have left ([`Header::Data`](incast_wire::Header)'s `tag`; other packets
    /// carry nothing, which is the least). A full queue drops the packet with the most, of equals the one that came last;
    /// if that makes too little room, the next one that makes enough. The flow of the packet with the
    /// least sends next, of equals the one that came first, and of that flow the packet that came first
    /// (pFabric). One limit covers all classes with this discipline. Class 0 keeps the order of arrival.
    Remaining,
    /// The arriving packet is trimmed and its header joins class `headers`; with probability `tail`
    /// the last packet of the queue is trimmed instead. A header that does not fit is bounced to
    /// its source once (`bounce`), or dropped.
    Trim {
        /// Class of trimmed headers.
        headers: u8,
        /// Probability that the queue's tail is trimmed.
        tail: f64,
        /// Whether headers that do not fit are returned to their source.
        bounce: bool,
    },
    /// Unscheduled packets (data flag) are dropped when the queue is at `threshold`. Limit and
    /// threshold cover all selective classes of the transport together (Aeolus on Homa).
    Selective {
        /// Largest queue at which an unscheduled packet is admitted.
        threshold: Limit,
        /// Whether the threshold applies to the packet's class alone.
        alone: bool,
    },
}

/// The scheduling of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Strict priority over all classes with a higher number.
    Strict,
    /// Weighted round robin among the weighted classes of the port, by bytes.
    Weighted(u32),
}

/// A token bucket that shapes a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaper {
    /// Tokens per second, as a rate of charged bytes.
    pub rate: Rate,
    /// Depth in charged bytes.
    pub depth: Bytes,
}

/// The policy of one service class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassPolicy {
    /// The scheduling.
    pub schedule: Schedule,
    /// The queue limit.
    pub limit: Limit,
    /// The handling of packets beyond the limit.
    pub discipline: Discipline,
    /// A token bucket, if any.
    pub shaper: Option<Shaper>,
}

impl ClassPolicy {
    /// A class that the transport does not use, for other transports on the port.
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

/// The requirements of one transport on a port.
pub struct Policy {
    /// The transport.
    pub transport: TransportId,
    /// Class policies by class number, at most 8. Packets of higher classes use the last.
    pub classes: Vec<ClassPolicy>,
    /// Its markers, called in order. They rewrite packets of this transport only.
    pub markers: Vec<Box<dyn Marker>>,
}

impl Policy {
    /// One drop-tail queue of `buffer` for data and ACKs, with one marker. Class 0 has the same
    /// limit, for transports that use it.
    pub fn one_queue(transport: TransportId, buffer: Limit, marker: Box<dyn Marker>) -> Policy {
        Policy { transport, classes: vec![ClassPolicy::fifo(buffer); 2], markers: vec![marker] }
    }

    /// One drop-tail queue of `buffer` for data and ACKs; class 0 is unused.
    pub fn one_class(
        transport: TransportId,
        buffer: Limit,
        markers: Vec<Box<dyn Marker>>,
    ) -> Policy {
        let classes = vec![ClassPolicy::unused(), ClassPolicy::fifo(buffer)];
        Policy { transport, classes, markers }
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

    /// At a NIC, which pulls packets from its host one by one: two queues without a limit, and
    /// `markers`.
    pub fn at_nic(transport: TransportId, markers: Vec<Box<dyn Marker>>) -> Policy {
        Policy::two_queues(transport, Limit::Unlimited, Limit::Unlimited, markers)
    }
}

/// A set of transports, indexed by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransportSet([u64; 4]);

impl TransportSet {
    /// The set of the given transports.
    pub fn of(transports: &[TransportId]) -> TransportSet {
        let mut set = TransportSet::default();
        transports.iter().for_each(|id| set.0[id.0 as usize / 64] |= 1 << (id.0 % 64));
        set
    }

    /// Whether a transport is in the set.
    #[inline]
    pub fn has(&self, transport: TransportId) -> bool {
        self.0[transport.0 as usize / 64] >> (transport.0 % 64) & 1 != 0
    }
}
