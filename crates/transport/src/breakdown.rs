//! Where a flow's completion time went: the critical path of the byte that came last.
//!
//! From the flow's start to its completion, each instant belongs to one part:
//!
//! 1. The packet whose arrival completes the flow is on its way: serialisation, propagation, queues.
//! 2. Before its departure, the sender transmitted packets of the flow (`nic_own`), or waited: for
//!    the reason it reported, or, with a packet ready, for the NIC ([`Spent`]).
//! 3. A loss changes 2. Until the flow sends something new again, the time from the loss to the last
//!    retransmission is recovery; if the flow sent something new after the loss, from the end of that
//!    transmission. If nothing new was sent after the loss, the time before it is that of the lost
//!    packet: its path until the loss, and what the sender did before its departure. A retransmission
//!    that is lost as well counts as one that arrives: it ended a wait.
//! 4. A lost control packet (grant, credit, token, pull, request) makes the flow's next wait of a base
//!    RTT or more recovery, from the loss on; of several lost ones, each explains a wait. A lost ACK of
//!    the common sender is made good by the next one, unless a timer is faster: it explains waits that
//!    a retransmission ends.
//!
//! The parts add up exactly: each rule replaces an interval by the same interval.

use crate::Meta;
pub use crate::spent::{Gap, REASONS, Reason, Spent, TIERS};
use incast_wire::{FlowId, Header, Packet, flag, tcp_flag};

/// Of these bits, an ACK has one: a reply to a request is no ACK.
const ANSWER: u8 = tcp_flag::ACK | tcp_flag::SYN;

/// The parts of a flow completion time, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// The NIC was busy with this flow.
    pub nic_own: u64,
    /// The flow was ready to send and the NIC busy with other flows.
    pub nic_other: u64,
    /// The flow was waiting, by [`Reason`].
    pub blocked: [u64; REASONS],
    /// Recovery from losses.
    pub recovery: u64,
    /// Serialisation on every link of the path.
    pub serialisation: u64,
    /// Propagation on every link of the path.
    pub propagation: u64,
    /// Queueing on the path, by tier; that of NICs (tier 0) with what hosts take that are not ideal.
    pub queueing: [u64; TIERS],
}

impl Parts {
    /// The sum of all parts.
    pub fn total(&self) -> u64 {
        self.nic_own
            + self.nic_other
            + self.blocked.iter().sum::<u64>()
            + self.recovery
            + self.serialisation
            + self.propagation
            + self.queueing.iter().sum::<u64>()
    }

    /// Adds the parts of another flow.
    pub fn add(&mut self, other: &Parts) {
        self.nic_own += other.nic_own;
        self.nic_other += other.nic_other;
        self.blocked.iter_mut().zip(other.blocked).for_each(|(own, other)| *own += other);
        self.recovery += other.recovery;
        self.serialisation += other.serialisation;
        self.propagation += other.propagation;
        self.queueing.iter_mut().zip(other.queueing).for_each(|(own, other)| *own += other);
    }

    /// Adds what the sender did between two instants `span` apart. A snapshot of a packet that waits in
    /// its NIC counts transmissions that are still to come; what exceeds the span is left out, so
    /// that the sum is exact.
    pub(crate) fn add_sender(&mut self, span: u64, from: &Spent, to: &Spent) {
        let mut left = span;
        let mut take = |to: u64, from: u64| {
            let taken = to.saturating_sub(from).min(left);
            left -= taken;
            taken
        };
        self.nic_own += take(to.own, from.own);
        for (sum, (to, from)) in self.blocked.iter_mut().zip(to.blocked.iter().zip(from.blocked)) {
            *sum += take(*to, from);
        }
        self.nic_other += left;
    }

    /// Adds the first `left` picoseconds of what the sender did between two instants `span` apart,
    /// in the usual order: blocked, then ready, then sending.
    pub(crate) fn add_first(&mut self, mut left: u64, span: u64, from: &Spent, to: &Spent) {
        let mut all = Parts::default();
        all.add_sender(span, from, to);
        let mut take = |part: u64| {
            let taken = part.min(left);
            left -= taken;
            taken
        };
        for reason in (1..REASONS).chain([0]) {
            self.blocked[reason] += take(all.blocked[reason]);
        }
        self.nic_other += take(all.nic_other);
        self.nic_own += take(all.nic_own);
    }

    /// Adds the delays of a packet from its departure until `now`: `waited` of it in queues, and
    /// `serialised` picoseconds of serialisation.
    pub(crate) fn add_path(
        &mut self,
        departed: u64,
        waited: &[u64; TIERS],
        serialised: u32,
        now: u64,
    ) {
        let unqueued = now - departed - waited.iter().sum::<u64>();
        let serialised = (serialised as u64).min(unqueued);
        self.serialisation += serialised;
        self.propagation += unqueued - serialised;
        for (sum, part) in self.queueing.iter_mut().zip(waited) {
            *sum += part;
        }
    }
}

/// What was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// A data packet or its payload, with its [`data_key`](Header::data_key) in the flow.
    Data(u32),
    /// An ACK that the next one makes good.
    Ack,
    /// Another control packet.
    Control,
}

/// The loss of a packet. What its stamps say of it stays there.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// The flow.
    pub flow: FlowId,
    /// What was lost.
    pub what: Lost,
    /// When it was lost.
    pub at: u64,
    /// Picoseconds of serialisation until then.
    pub(crate) serialised: u32,
    /// Whether it was a retransmission.
    pub(crate) again: bool,
}

impl Loss {
    /// The loss of a packet, or of its payload, at `now`. `None` for a pause frame, which belongs to no
    /// flow.
    #[inline]
    pub fn of(packet: &Packet, meta: &Meta, now: u64) -> Option<Loss> {
        let data = packet.is_data() || packet.has(flag::TRIMMED);
        let what = match packet.header {
            Header::Pause { .. } => return None,
            header if data => Lost::Data(header.data_key()),
            Header::Segment { flags, .. } if flags & ANSWER == tcp_flag::ACK => Lost::Ack,
            Header::Nack { .. } => Lost::Ack,
            _ => Lost::Control,
        };
        let (serialised, again) = (meta.serialised, packet.has(flag::RETRANSMIT));
        Some(Loss { flow: packet.flow, what, at: now, serialised, again })
    }

    /// The same for a packet that a port drops. Credits that ports drop are not missing: that is how
    /// their rate is controlled.
    #[inline]
    pub fn at_port(packet: &Packet, meta: &Meta, now: u64) -> Option<Loss> {
        let credit = matches!(packet.header, Header::Credit { .. });
        if credit { None } else { Loss::of(packet, meta, now) }
    }
}
