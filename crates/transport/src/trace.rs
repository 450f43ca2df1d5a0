//! What a probe keeps of each flow.

use crate::paths::{PathTrace, PathsTaken};
use crate::recoveries::COPY;
use crate::spent::Spent;
use crate::{Histogram, Parts, Reason, Stamps};
use incast_units::Time;
use incast_wire::{FlowId, Packet, flag};

/// Busy time of a host's NIC, to separate waiting for the NIC from idle time.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostClock {
    /// Picoseconds of all transmissions started so far.
    pub busy: u64,
    /// End of the current transmission.
    pub busy_until: u64,
}

impl HostClock {
    /// Picoseconds of NIC idle time from the start of the run until `now`.
    #[inline]
    pub(crate) fn idle(&self, now: u64) -> u64 {
        now + self.busy_until.saturating_sub(now) - self.busy
    }
}

/// The sending side of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderTrace {
    /// Whether the flow was opened.
    pub opened: bool,
    /// When it was opened.
    pub started: u64,
    /// What it has done until `booked`.
    pub(crate) spent: Spent,
    /// Until then its time is accounted for: the end of the flow's own transmission, if that is later
    /// than the present.
    pub(crate) booked: u64,
    /// The NIC's idle time until then.
    pub(crate) idle: u64,
    /// End of its last transmission of new data, and what it had done by then.
    pub(crate) fresh: (u64, Spent),
    /// Why the flow is not sending.
    pub(crate) reason: Reason,
    /// Data packets sent, retransmissions included.
    pub packets: u32,
    /// Data packets sent that were flagged as retransmissions.
    pub retransmits: u32,
    /// Grants, tokens or credits that were not used.
    pub wasted: u32,
    /// Decisions taken.
    pub decisions: u32,
    /// Times that a timer of either end expired after which something is sent or asked for again.
    pub timeouts: u32,
    /// Index of its transport in the run.
    pub(crate) transport: u8,
    /// Sum over decisions of the age of their information, picoseconds.
    pub decision_age: u64,
    /// Largest age of information at a decision.
    pub decision_age_max: u64,
    /// Packets without payload that either end received in this partition.
    pub control_packets: u32,
    /// Charged bytes of the control packets.
    pub control_bytes: u64,
    /// When its sender learned that everything had been delivered.
    pub acknowledged: Option<Time>,
}

impl SenderTrace {
    /// Accounts for the time until `now`. Until then the NIC was idle for `idle`.
    #[inline]
    pub(crate) fn book(&mut self, now: u64, idle: u64) {
        // Its own transmission comes first, whatever it waits for.
        if now > self.booked {
            let ready = self.reason == Reason::Ready;
            let waited = if ready { idle - self.idle } else { now - self.booked };
            self.spent.blocked[self.reason as usize] += waited;
            (self.booked, self.idle) = (now, idle);
        }
    }

    /// Its NIC transmits a packet of it for `tx`.
    #[inline]
    pub(crate) fn occupy(&mut self, now: u64, tx: u64, retransmit: bool) {
        self.spent.own += tx;
        self.booked = now + tx;
        if !retransmit {
            self.fresh = (now + tx, self.spent);
        }
    }
}

/// A completed flow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The flow.
    pub flow: FlowId,
    /// When it was opened.
    pub started: u64,
    /// When its last byte arrived.
    pub completed: u64,
    /// The breakdown of the time from the start to `completed`.
    pub parts: Parts,
    /// The packet that completed it.
    pub last: LastPacket,
}

/// How much the packets of a flow overtook each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reordering {
    /// Data packets that arrived behind one that was sent later.
    pub packets: u32,
    /// By how many packets at most the latest one that had arrived was sent later.
    pub distance: u32,
}

impl ReceiverTrace {
    /// Counts a data packet that arrives; see [`Probe::arrives`](crate::Probe::arrives).
    #[inline]
    pub(crate) fn arrives(&mut self, packet: &Packet, stamps: &Stamps) -> bool {
        if !self.completed && stamps.ordinal() != COPY {
            self.order(stamps.ordinal());
        }
        self.counted = self.counted.wrapping_add(1);
        let last = self.delivered + packet.payload as u64 >= self.size;
        self.losses > 0 || last || self.followed || packet.has(flag::RETRANSMIT)
    }

    /// The data packet of this number has arrived; 0 if the number is not known.
    #[inline]
    fn order(&mut self, number: u32) {
        if number > self.latest {
            self.latest = number;
        } else if number > 0 {
            self.reordering.packets += 1;
            self.reordering.distance = self.reordering.distance.max(self.latest - number);
        }
    }

    /// `None` if the number of no packet was known.
    pub(crate) fn reordering(&self) -> Option<Reordering> {
        (self.latest > 0).then_some(self.reordering)
    }
}

/// The receiving side of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceiverTrace {
    pub(crate) delivered: u64,
    /// Bytes of the flow, or 0 if unknown.
    pub(crate) size: u64,
    /// Bytes of the header extensions of its data packets.
    pub(crate) extension_bytes: u64,
    pub(crate) losses: u32,
    /// Data packets that have arrived or were lost, copies included.
    pub(crate) counted: u32,
    /// The latest of them, by the order in which they were sent; 0 if that is not known.
    pub(crate) latest: u32,
    pub(crate) reordering: Reordering,
    /// The entry of its losses, from 1; 0 if it has none.
    pub(crate) entry: u32,
    pub(crate) completed: bool,
    /// The stamps of all its data packets are needed.
    pub(crate) followed: bool,
}

/// The end of a flow that was opened while the run went on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The flow.
    pub flow: FlowId,
    /// When.
    pub at: Time,
    /// Whether its last byte arrived here; else its sender learned that everything had arrived.
    pub received: bool,
}

/// The packet that completed a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastPacket {
    /// Its [`path`](incast_wire::Packet::path) field.
    pub path: u16,
    /// The port at which it waited longest; 0 if it waited nowhere.
    pub worst_port: u32,
    /// How long it waited there, picoseconds.
    pub worst_wait: u64,
}

/// All that a probe knows when the run is over.
pub struct Known {
    /// Ages of information, by transport in the order of the run.
    pub ages: Vec<Histogram>,
    /// Of each flow of the run.
    pub flows: KnownFlows,
    /// Flows completed, in order.
    pub outcomes: Vec<Outcome>,
}

/// What is known of the flows of a run, from the last one to the first: place, sender, receiver. Memory
/// of the flows that were taken is given back meanwhile.
pub struct KnownFlows {
    pub(crate) senders: Vec<SenderTrace>,
    pub(crate) receivers: Vec<ReceiverTrace>,
    /// None if they are not recorded.
    pub(crate) paths: Vec<PathTrace>,
}

/// What arrived of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownArrivals {
    /// Payload bytes, without duplicates.
    pub delivered: u64,
    /// Bytes of the header extensions of its data packets.
    pub extension_bytes: u64,
    /// How its data packets overtook each other; `None` if the number of no packet was known.
    pub reordering: Option<Reordering>,
    /// Which paths they took, if that is recorded.
    pub paths: Option<PathsTaken>,
}

/// After so many flows memory is given back.
const AT_ONCE: usize = 1 << 14;

impl Iterator for KnownFlows {
    type Item = (usize, SenderTrace, KnownArrivals);

    fn next(&mut self) -> Option<Self::Item> {
        let (sender, receiver) = (self.senders.pop()?, self.receivers.pop()?);
        let left = self.senders.len();
        if left % AT_ONCE == 0 {
            self.senders.shrink_to_fit();
            self.receivers.shrink_to_fit();
        }
        let ReceiverTrace { delivered, extension_bytes, .. } = receiver;
        let reordering = receiver.reordering();
        let paths = self.paths.pop().and_then(|trace| trace.taken());
        Some((left, sender, KnownArrivals { delivered, extension_bytes, reordering, paths }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.senders.len(), Some(self.senders.len()))
    }
}

impl ExactSizeIterator for KnownFlows {}
