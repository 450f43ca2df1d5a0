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

use crate::losses::{First, Losses, Spread};
use crate::{LastPacket, Meta, Stamps};
use incast_wire::{FlowId, Header, Packet, flag, tcp_flag};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Number of port tiers: NIC, edge, aggregation, core.
pub const TIERS: usize = 4;
/// Number of [`Reason`]s.
pub const REASONS: usize = 5;
/// Of these bits, an ACK has one: a reply to a request is no ACK.
const ANSWER: u8 = tcp_flag::ACK | tcp_flag::SYN;
/// Most recoveries of a flow that are remembered. Of more, the older half is forgotten: if the
/// completing packet departed before the others, they count as waiting.
const RESUMED_MOST: usize = 1 << 12;

/// Why a flow with data to send is not sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Reason {
    /// Not blocked: it waits only for the NIC, or has no data left to send.
    #[default]
    Ready,
    /// Waiting for a grant, token or pull.
    Grant,
    /// Waiting for a credit.
    Credit,
    /// The window is full.
    Window,
    /// Waiting for the pacer.
    Pacing,
}

/// What a flow's sender has done up to an instant, in picoseconds. What is missing to the time since
/// its start is waiting for a NIC that was busy with other flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Spent {
    /// NIC time spent on the flow.
    pub own: u64,
    /// Waiting, by [`Reason`]; with [`Reason::Ready`] only while the NIC was idle.
    pub blocked: [u64; REASONS],
}

/// The time since a flow last sent something new, carried by packets that end a long wait and by
/// retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Gap {
    /// Departure of the packet that carries it; of another packet, if it carries none.
    pub until: u64,
    /// End of the flow's last transmission of new data; its start, if there was none.
    pub since: u64,
    /// What the sender had done by then.
    pub spent: Spent,
}

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
    /// Queueing on the path, by tier.
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

    /// Adds what the sender did between two instants `span` apart. A snapshot of a packet that waits in
    /// its NIC counts transmissions that are still to come; what exceeds the span is left out, so
    /// that the sum is exact.
    fn add_sender(&mut self, span: u64, from: &Spent, to: &Spent) {
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
    fn add_first(&mut self, mut left: u64, span: u64, from: &Spent, to: &Spent) {
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

    /// Adds the delays of a packet from its departure until `now`.
    pub(crate) fn add_path(&mut self, stamps: &Stamps, meta: &Meta, now: u64) {
        let waited: u64 = stamps.waited.iter().sum();
        let unqueued = now - stamps.departed - waited;
        let serialised = (meta.serialised as u64).min(unqueued);
        self.serialisation += serialised;
        self.propagation += unqueued - serialised;
        for (sum, part) in self.queueing.iter_mut().zip(stamps.waited) {
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

/// The loss of a packet, with its path until then.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// The flow.
    pub flow: FlowId,
    /// What was lost.
    pub what: Lost,
    /// When it was lost.
    pub at: u64,
    /// When it departed.
    pub(crate) departed: u64,
    /// What the sender had done by then.
    pub(crate) spent: Spent,
    /// The path's parts from its departure until the loss.
    pub(crate) path: Parts,
    /// Whether it was a retransmission.
    pub(crate) again: bool,
    /// When the flow started.
    pub(crate) started: u64,
    /// What it carried of the wait before it.
    pub(crate) gap: Gap,
}

impl Loss {
    /// The loss of a packet, or of its payload, at `now`. `None` for a pause frame, which belongs to no
    /// flow.
    pub fn of(packet: &Packet, stamps: &Stamps, meta: &Meta, now: u64) -> Option<Loss> {
        if matches!(packet.header, Header::Pause { .. }) {
            return None;
        }
        let data = packet.is_data() || packet.has(flag::TRIMMED);
        let mut path = Parts::default();
        if data {
            path.add_path(stamps, meta, now);
        }
        let what = match packet.header {
            header if data => Lost::Data(header.data_key()),
            Header::Segment { flags, .. } if flags & ANSWER == tcp_flag::ACK => Lost::Ack,
            Header::Nack { .. } => Lost::Ack,
            _ => Lost::Control,
        };
        let Stamps { departed, spent, started, gap, .. } = *stamps;
        let again = packet.has(flag::RETRANSMIT);
        Some(Loss { flow: packet.flow, what, at: now, departed, spent, path, again, started, gap })
    }

    /// The same for a packet that a port drops. Credits that ports drop are not missing: that is how
    /// their rate is controlled.
    pub fn at_port(packet: &Packet, stamps: &Stamps, meta: &Meta, now: u64) -> Option<Loss> {
        let credit = matches!(packet.header, Header::Credit { .. });
        if credit { None } else { Loss::of(packet, stamps, meta, now) }
    }
}

/// The departure of a data packet, that arrived or was lost.
#[derive(Clone, Copy)]
struct Departure {
    at: u64,
    /// When the flow started.
    started: u64,
    /// What the sender had done by then.
    spent: Spent,
    /// The wait that the packet ended, if it carries one.
    gap: Option<Gap>,
}

impl Departure {
    fn new(at: u64, started: u64, spent: Spent, gap: Gap) -> Departure {
        Departure { at, started, spent, gap: (gap.until == at).then_some(gap) }
    }

    fn of(stamps: &Stamps) -> Departure {
        Departure::new(stamps.departed, stamps.started, stamps.spent, stamps.gap)
    }
}

/// A lost data packet that ended a wait.
struct Ended {
    key: u32,
    /// When it was lost.
    lost: u64,
    again: bool,
    departure: Departure,
}

/// A departure until which a flow was recovering.
#[derive(Clone, Copy, Debug, Default)]
struct Resumed {
    at: u64,
    /// What the sender had done by then.
    spent: Spent,
    /// Where the time went from the flow's start until then.
    parts: Parts,
}

/// Lost control packets of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    /// When the first ACK was lost.
    ack: Option<u64>,
    /// When the first of the others was lost.
    other: Option<u64>,
    /// How many waits the others explain.
    waits: u32,
}

impl Missing {
    /// When the loss was that explains a wait from `since` to `until`, if one does.
    fn explains(&mut self, since: u64, until: u64, again: bool, patience: u64) -> Option<u64> {
        let long = |at: &u64| since.max(*at) + patience <= until;
        if let Some(at) = self.other.filter(long) {
            self.waits -= 1;
            self.other = (self.waits > 0).then_some(at);
            return Some(at);
        }
        self.ack.filter(|at| again && long(at))
    }
}

/// Losses that are not recovered yet, and recoveries of flows that are not complete.
#[derive(Default)]
pub(crate) struct Breakdown {
    /// Of data packets.
    data: Losses,
    /// Of control packets, by flow.
    control: HashMap<u64, Missing, BuildHasherDefault<Spread>>,
    /// By flow, in order of time.
    resumed: HashMap<u64, Vec<Resumed>, BuildHasherDefault<Spread>>,
    /// Lost data packets whose waits are in no recovery yet, by flow, in order of departure.
    ended: HashMap<u64, Vec<Ended>, BuildHasherDefault<Spread>>,
    /// Those that are booked next; empty between calls.
    known: Vec<Ended>,
}

impl Breakdown {
    /// Records a loss. Returns whether it is the only one so far of the packet, or of control packets
    /// of the flow.
    pub fn lose(&mut self, loss: Loss) -> bool {
        if let Lost::Data(key) = loss.what {
            self.end_wait(key, &loss);
            return self.data.insert(key, loss);
        }
        let flow = loss.flow.0 as u64;
        let new = !self.control.contains_key(&flow);
        let missing = self.control.entry(flow).or_default();
        let control = loss.what == Lost::Control;
        missing.waits += control as u32;
        let first = if control { &mut missing.other } else { &mut missing.ack };
        *first = Some(first.map_or(loss.at, |at| at.min(loss.at)));
        new
    }

    /// Keeps the wait that a lost packet ended, until a later one arrives.
    fn end_wait(&mut self, key: u32, loss: &Loss) {
        let departure = Departure::new(loss.departed, loss.started, loss.spent, loss.gap);
        if departure.gap.is_none() || loss.departed < loss.started {
            return;
        }
        let all = self.ended.entry(loss.flow.0 as u64).or_default();
        let place = all.partition_point(|one| one.departure.at <= loss.departed);
        all.insert(place, Ended { key, lost: loss.at, again: loss.again, departure });
    }

    /// A data packet with this [`data_key`](Header::data_key) arrives, new or not. A wait shorter
    /// than `patience` is not explained by lost control packets. Returns whether a known loss is
    /// forgotten, which was that of a copy of what had arrived.
    pub fn arrive(
        &mut self,
        flow: FlowId,
        key: u32,
        stamps: &Stamps,
        again: bool,
        patience: u64,
    ) -> bool {
        let departure = Departure::of(stamps);
        self.book_lost(flow, departure.at, patience);
        if departure.gap.is_none() {
            return false;
        }
        let known = if again { self.data.first(flow, key) } else { None };
        if known.is_some_and(|first| !first.again) {
            return false;
        }
        self.waited(flow, &departure, again, patience);
        known.is_some() && self.data.remove(flow, key).is_some()
    }

    /// Books the waits that ended with packets that were lost before `departed`. A packet that departed
    /// then arrives: all of these losses are known, in whatever partition they happened.
    fn book_lost(&mut self, flow: FlowId, departed: u64, patience: u64) {
        let Some(all) = self.ended.get_mut(&(flow.0 as u64)) else { return };
        let mut known = std::mem::take(&mut self.known);
        known.extend(all.extract_if(.., |one| one.lost <= departed));
        for Ended { key, again, departure, .. } in known.drain(..) {
            let first = self.data.first(flow, key);
            match first.filter(|first| again && first.at <= departure.at) {
                Some(first) => self.repaired(flow, &first, &departure),
                None => self.waited(flow, &departure, again, patience),
            }
        }
        self.known = known;
    }

    /// A packet ended a wait. What it repairs is not known to be lost.
    fn waited(&mut self, flow: FlowId, departure: &Departure, again: bool, patience: u64) {
        let Departure { at, started, spent, gap: Some(gap) } = *departure else { return };
        if again && self.extend(flow, departure) {
            return;
        }
        // Retransmissions since the last new packet have ended waits of their own.
        let last = self.latest(flow, at).filter(|last| last.at > gap.since);
        let (since, done) = last.map_or((gap.since, gap.spent), |last| (last.at, last.spent));
        let missing = self.control.get_mut(&(flow.0 as u64));
        let lost = missing.and_then(|missing| missing.explains(since, at, again, patience));
        let Some(lost) = lost else { return };
        let mut parts = self.parts_at(flow, since, &done, started);
        let (span, normal) = (at - since, lost.saturating_sub(since));
        parts.add_first(normal, span, &done, &spent);
        parts.recovery += span - normal;
        self.resume(flow, departure, parts);
    }

    /// A retransmission goes on with the recovery in which its flow sent nothing new, if there is
    /// one. Whether there is.
    fn extend(&mut self, flow: FlowId, departure: &Departure) -> bool {
        let since = departure.gap.map(|gap| gap.since);
        let last = self.latest(flow, departure.at);
        let Some(last) = last.filter(|last| since.is_some_and(|since| last.at >= since)) else {
            return false;
        };
        let mut parts = last.parts;
        parts.recovery += departure.at - last.at;
        self.resume(flow, departure, parts);
        true
    }

    /// A packet has arrived for the first time. Returns whether a loss of it was known, which is
    /// then forgotten.
    pub fn deliver(&mut self, flow: FlowId, key: u32, stamps: Option<&Stamps>) -> bool {
        let Some(loss) = self.data.remove(flow, key) else { return false };
        // A copy that departed before the loss is not its retransmission. What was lost before the
        // flow began was not the flow's.
        let repairs =
            |stamps: &&Stamps| loss.at <= stamps.departed && stamps.started <= loss.departed;
        if let Some(stamps) = stamps.filter(repairs) {
            self.repaired(flow, &loss, &Departure::of(stamps));
        }
        true
    }

    /// A packet that was lost departs again.
    fn repaired(&mut self, flow: FlowId, loss: &First, departure: &Departure) {
        if self.extend(flow, departure) {
            return;
        }
        let Departure { at, started, gap, .. } = *departure;
        let parts = if let Some(gap) = gap.filter(|gap| gap.since > loss.at) {
            let mut parts = self.parts_at(flow, gap.since, &gap.spent, started);
            parts.recovery += at - gap.since;
            parts
        } else {
            let mut parts = self.parts_at(flow, loss.departed, &loss.spent, started);
            let Parts { serialisation, propagation, queueing, .. } = loss.path;
            parts.serialisation += serialisation;
            parts.propagation += propagation;
            parts.queueing.iter_mut().zip(queueing).for_each(|(sum, part)| *sum += part);
            parts.recovery += at - loss.at;
            parts
        };
        self.resume(flow, departure, parts);
    }

    /// Where the time went until the departure of a packet.
    pub fn before(&self, flow: FlowId, stamps: &Stamps) -> Parts {
        self.parts_at(flow, stamps.departed, &stamps.spent, stamps.started)
    }

    /// Where the whole time of a flow went that is complete with this packet, and when the flow
    /// began.
    pub fn whole(
        &self,
        flow: FlowId,
        stamps: &Stamps,
        meta: &Meta,
        path: u16,
        now: u64,
    ) -> (Parts, LastPacket, u64) {
        let mut parts = self.before(flow, stamps);
        parts.add_path(stamps, meta, now);
        let Stamps { started, worst, worst_port, .. } = *stamps;
        assert_eq!(parts.total(), now - started, "parts of flow {} do not add up", flow.0);
        let worst_port = if worst > 0 { worst_port } else { 0 };
        (parts, LastPacket { path, worst_port, worst_wait: worst }, started)
    }

    /// Forgets a flow that is complete.
    pub fn complete(&mut self, flow: FlowId) {
        self.control.remove(&(flow.0 as u64));
        self.resumed.remove(&(flow.0 as u64));
        self.ended.remove(&(flow.0 as u64));
    }

    /// Forgets the losses of a flow that will not be complete.
    pub fn forget(&mut self, flow: FlowId) {
        self.data.forget(flow);
    }

    /// Where the time went until `at`, when the sender had done `spent`.
    fn parts_at(&self, flow: FlowId, at: u64, spent: &Spent, started: u64) -> Parts {
        let start = Resumed { at: started, ..Resumed::default() };
        let last = self.latest(flow, at).unwrap_or(start);
        let mut parts = last.parts;
        parts.add_sender(at - last.at, &last.spent, spent);
        parts
    }

    /// The last recovery that was over by `at`.
    fn latest(&self, flow: FlowId, at: u64) -> Option<Resumed> {
        let all = self.resumed.get(&(flow.0 as u64))?;
        let after = all.partition_point(|known| known.at <= at);
        after.checked_sub(1).map(|last| all[last])
    }

    /// A recovery was over with the departure of this packet.
    fn resume(&mut self, flow: FlowId, departure: &Departure, parts: Parts) {
        let all = self.resumed.entry(flow.0 as u64).or_default();
        if all.len() == RESUMED_MOST {
            all.drain(..RESUMED_MOST / 2);
        }
        let Departure { at, spent, .. } = *departure;
        let place = all.partition_point(|known| known.at < at);
        all.insert(place, Resumed { at, spent, parts });
    }
}
