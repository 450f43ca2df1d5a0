//! Where the time of each flow went, and how old the information behind decisions was.
//!
//! The sender's side accumulates, per flow, NIC time and blocked time; each data packet takes a
//! snapshot along when it departs, and collects its waits on the way. The packet whose arrival
//! completes the flow therefore tells the whole story, exactly: the parts of an [`Outcome`] add
//! up to the flow completion time to the picosecond.

use crate::losses::Losses;
use crate::{Ages, Meta, Stamps};
use incast_units::Time;
use incast_wire::{FlowId, Packet};

/// Tiers of ports: NIC, edge, aggregation, core.
pub const TIERS: usize = 4;
/// Number of [`Reason`]s.
pub const REASONS: usize = 5;

/// Why a flow with data to send is not sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Reason {
    /// It is not blocked: it waits for the NIC only, or has nothing more to send.
    #[default]
    Ready,
    /// It waits for a grant, token or pull.
    Grant,
    /// It waits for a credit.
    Credit,
    /// Its window is full.
    Window,
    /// It is paced.
    Pacing,
}

/// How long a host's NIC has been busy, so that waiting can be told from idling.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostClock {
    /// Picoseconds of transmission begun so far.
    pub busy: u64,
    /// When the present transmission ends.
    pub busy_until: u64,
}

impl HostClock {
    /// Picoseconds the NIC has been idle from the start of the run until `now`.
    #[inline]
    fn idle(&self, now: u64) -> u64 {
        now + self.busy_until.saturating_sub(now) - self.busy
    }
}

/// The sending side of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderTrace {
    /// Whether it was opened.
    pub opened: bool,
    /// When it was opened.
    pub started: u64,
    /// NIC time spent on it.
    pub own: u64,
    /// The NIC's idle clock when `reason` began.
    idle_mark: u64,
    /// Idle time by reason.
    blocked: [u64; REASONS],
    /// Why it is not sending.
    reason: Reason,
    /// Data packets sent, retransmissions included.
    pub packets: u32,
    /// Data packets sent that were flagged as retransmissions.
    pub retransmits: u32,
    /// Permissions that were not used.
    pub wasted: u32,
    /// Decisions taken.
    pub decisions: u32,
    /// Its transport's place among those of the run.
    lane: u8,
    /// Sum over decisions of the age of their information, picoseconds.
    pub decision_age: u64,
    /// Largest of these ages.
    pub decision_age_max: u64,
    /// Packets without payload that either end received here.
    pub control_packets: u32,
    /// Charged bytes of these.
    pub control_bytes: u64,
}

/// Parts of a time, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// The NIC was busy with this flow.
    pub nic_own: u64,
    /// The NIC was busy with other flows.
    pub nic_other: u64,
    /// The NIC was idle and the flow blocked, by [`Reason`].
    pub blocked: [u64; REASONS],
    /// From the first loss of a byte still missing to the departure that completed the flow.
    pub recovery: u64,
    /// Serialisation on every link of the way.
    pub serialisation: u64,
    /// Propagation on every link of the way.
    pub propagation: u64,
    /// Queues on the way, by tier.
    pub queueing: [u64; TIERS],
}

impl Parts {
    /// All parts together.
    pub fn total(&self) -> u64 {
        self.nic_own
            + self.nic_other
            + self.blocked.iter().sum::<u64>()
            + self.recovery
            + self.serialisation
            + self.propagation
            + self.queueing.iter().sum::<u64>()
    }

    /// The time before the departure of a packet with these stamps.
    fn before_departure(stamps: &Stamps) -> Parts {
        let idle: u64 = stamps.blocked.iter().sum();
        Parts {
            nic_own: stamps.own,
            nic_other: stamps.departed - stamps.started - stamps.own - idle,
            blocked: stamps.blocked,
            ..Parts::default()
        }
    }

    /// Adds the way of a packet from its departure until `now`.
    fn add_way(&mut self, stamps: &Stamps, meta: &Meta, now: u64) {
        let waited: u64 = stamps.waited.iter().sum();
        let way = now - stamps.departed - waited;
        let serialised = (meta.serialised as u64).min(way);
        self.serialisation += serialised;
        self.propagation += way - serialised;
        for (sum, part) in self.queueing.iter_mut().zip(stamps.waited) {
            *sum += part;
        }
    }
}

/// A data packet's loss: when, and where the time had gone until then.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Whose bytes.
    pub flow: FlowId,
    /// Their number in the flow ([`Header::data_key`](incast_wire::Header::data_key)).
    pub key: u32,
    /// When.
    pub at: u64,
    /// The parts from the flow's start until then.
    pub parts: Parts,
}

impl Loss {
    /// What is known of the loss of a data packet at `now`.
    pub fn of(flow: FlowId, key: u32, stamps: &Stamps, meta: &Meta, now: u64) -> Loss {
        let mut parts = Parts::before_departure(stamps);
        parts.add_way(stamps, meta, now);
        Loss { flow, key, at: now, parts }
    }
}

/// A completed flow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Which.
    pub flow: FlowId,
    /// When it was opened.
    pub started: u64,
    /// When its last byte arrived.
    pub completed: u64,
    /// Where the time went, from the start to `completed`.
    pub parts: Parts,
}

/// The receiving side of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct ReceiverTrace {
    delivered: u64,
    /// Bytes of the flow, or 0 if nobody has told.
    size: u64,
    completed: bool,
    losses: u32,
    /// Bytes behind the headers of its data packets.
    extension_bytes: u64,
}

/// Collects facts about flows. One per partition of a world; flows are numbered over the run.
#[derive(Default)]
pub struct Probe {
    senders: Vec<SenderTrace>,
    receivers: Vec<ReceiverTrace>,
    losses: Losses,
    outcomes: Vec<Outcome>,
    deliveries: Option<Vec<(FlowId, u64, u32)>>,
    clock: HostClock,
    now: u64,
    /// When payload last arrived for the first time.
    last_delivery: u64,
    arriving: Option<(Stamps, Meta)>,
    recovered: Option<Loss>,
    /// How old information was, by the transport's place.
    ages: Vec<Ages>,
}

impl Probe {
    /// A probe for `flows` flows. With `log_deliveries` every delivered range is kept, for tests.
    pub fn new(flows: usize, log_deliveries: bool) -> Probe {
        Probe {
            senders: vec![SenderTrace::default(); flows],
            receivers: vec![ReceiverTrace::default(); flows],
            deliveries: log_deliveries.then(Vec::new),
            ages: vec![Ages::new()],
            ..Probe::default()
        }
    }

    // -- called by transports ------------------------------------------------------------------

    /// From now on the flow does not send, for this reason; [`Reason::Ready`] ends it.
    #[inline]
    pub fn blocked(&mut self, flow: FlowId, reason: Reason) {
        let idle = self.clock.idle(self.now);
        let trace = &mut self.senders[flow.0 as usize];
        if trace.reason != reason {
            trace.blocked[trace.reason as usize] += idle - trace.idle_mark;
            trace.idle_mark = idle;
            trace.reason = reason;
        }
    }

    /// The flow's sender or receiver acted on information that was current at `informed`.
    #[inline]
    pub fn decision(&mut self, flow: FlowId, informed: Time) {
        let trace = &mut self.senders[flow.0 as usize];
        let age = self.now.saturating_sub(informed.0);
        trace.decisions += 1;
        trace.decision_age += age;
        trace.decision_age_max = trace.decision_age_max.max(age);
        self.ages[trace.lane as usize].add(age);
    }

    /// A credit, grant or token came to the flow's source when nothing was left to send.
    #[inline]
    pub fn wasted(&mut self, flow: FlowId) {
        self.senders[flow.0 as usize].wasted += 1;
    }

    /// `payload` bytes from `offset` on arrived for the first time. `key` is the packet's
    /// [`data_key`](incast_wire::Header::data_key).
    #[inline]
    pub fn delivered(&mut self, flow: FlowId, key: u32, offset: u64, payload: u32) {
        let trace = &mut self.receivers[flow.0 as usize];
        trace.delivered += payload as u64;
        self.last_delivery = self.now;
        if let Some(log) = &mut self.deliveries {
            log.push((flow, offset, payload));
        }
        if trace.losses > 0 {
            self.found(flow, key);
        }
    }

    #[cold]
    fn found(&mut self, flow: FlowId, key: u32) {
        if let Some(loss) = self.losses.remove(flow, key) {
            self.receivers[flow.0 as usize].losses -= 1;
            // A copy that departed before the loss did not recover it.
            let departed = self.arriving.as_ref().map_or(0, |(stamps, _)| stamps.departed);
            self.recovered = Some(loss).filter(|loss| loss.at <= departed);
        }
    }

    /// Every byte of the flow has arrived. Called once, while the last packet is being received
    /// and after its [`delivered`](Probe::delivered).
    pub fn completed(&mut self, flow: FlowId) {
        let trace = &mut self.receivers[flow.0 as usize];
        assert!(!trace.completed, "flow {} completed twice", flow.0);
        trace.completed = true;
        let (stamps, meta) = self.arriving.expect("a flow completes on an arrival");
        let mut parts = match self.recovered {
            Some(loss) => {
                let mut parts = loss.parts;
                parts.recovery += stamps.departed - loss.at;
                parts
            }
            None => Parts::before_departure(&stamps),
        };
        parts.add_way(&stamps, &meta, self.now);
        let taken = self.now - stamps.started;
        assert_eq!(parts.total(), taken, "parts of flow {} do not add up", flow.0);
        self.outcomes.push(Outcome { flow, started: stamps.started, completed: self.now, parts });
    }

    // -- called by worlds ----------------------------------------------------------------------

    /// The host whose transport is about to be called, and the packet it receives, if any.
    #[inline]
    pub fn enter(&mut self, now: Time, clock: HostClock) {
        self.now = now.0;
        self.clock = clock;
    }

    /// Tells each flow's bytes, so that [`needs_stamps`](Probe::needs_stamps) can be choosy.
    pub fn expect(&mut self, sizes: impl Iterator<Item = u64>) {
        self.receivers.iter_mut().zip(sizes).for_each(|(trace, size)| trace.size = size);
    }

    /// Tells the place of each flow's transport among those of the run, so that ages of information
    /// are counted apart. Without it all are counted together.
    pub fn group(&mut self, lanes: impl Iterator<Item = u8>) {
        let mut most = 0;
        for (trace, lane) in self.senders.iter_mut().zip(lanes) {
            trace.lane = lane;
            most = most.max(lane);
        }
        self.ages.resize(most as usize + 1, Ages::new());
    }

    /// A packet of which links charge `charged` bytes is received by a host. This is what feedback
    /// costs: packets without payload whole, and what data packets carry behind their headers.
    #[inline]
    pub fn received(&mut self, packet: &Packet, charged: u32) {
        if !packet.is_data() {
            let trace = &mut self.senders[packet.flow.0 as usize];
            trace.control_packets += 1;
            trace.control_bytes += charged as u64;
        } else if packet.extension > 0 {
            let trace = &mut self.receivers[packet.flow.0 as usize];
            trace.extension_bytes += packet.extension as u64;
        }
    }

    /// Whether the way of a data packet about to be received can matter: it may complete its flow,
    /// or bring what was lost before. If so [`arriving`](Probe::arriving) has to be called, else
    /// [`passing`](Probe::passing).
    #[inline]
    pub fn needs_stamps(&self, flow: FlowId, payload: u32) -> bool {
        let trace = &self.receivers[flow.0 as usize];
        trace.losses > 0 || trace.delivered + payload as u64 >= trace.size
    }

    /// A data packet is about to be received whose way cannot matter.
    #[inline]
    pub fn passing(&mut self) {
        self.arriving = None;
        self.recovered = None;
    }

    /// A data packet is about to be received.
    pub fn arriving(&mut self, stamps: &Stamps, meta: &Meta) {
        self.arriving = Some((*stamps, *meta));
        self.recovered = None;
    }

    /// A flow is opened here.
    pub fn opened(&mut self, flow: FlowId) {
        let idle = self.clock.idle(self.now);
        let trace = &mut self.senders[flow.0 as usize];
        trace.opened = true;
        trace.started = self.now;
        trace.idle_mark = idle;
    }

    /// A data packet of the flow departs now and occupies the NIC for `tx` picoseconds (0 if it
    /// waits in the NIC first, see [`occupies`](Probe::occupies)); writes the snapshot that the
    /// packet takes along.
    #[inline]
    pub fn departs(&mut self, flow: FlowId, tx: u64, retransmit: bool, stamps: &mut Stamps) {
        let idle = self.clock.idle(self.now);
        let trace = &mut self.senders[flow.0 as usize];
        trace.blocked[trace.reason as usize] += idle - trace.idle_mark;
        trace.idle_mark = idle;
        stamps.started = trace.started;
        stamps.departed = self.now;
        stamps.waited = [0; TIERS];
        stamps.own = trace.own;
        stamps.blocked = trace.blocked;
        trace.own += tx;
        trace.packets += 1;
        trace.retransmits += retransmit as u32;
    }

    /// A data packet of the flow that has departed into a NIC's own port begins transmission and
    /// occupies the NIC for `tx` picoseconds.
    pub fn occupies(&mut self, flow: FlowId, tx: u64) {
        self.senders[flow.0 as usize].own += tx;
    }

    /// Takes in a loss, in the partition where the flow's receiver is.
    pub fn record_loss(&mut self, loss: Loss) {
        let trace = &mut self.receivers[loss.flow.0 as usize];
        if trace.completed {
            return;
        }
        trace.losses += self.losses.insert(loss) as u32;
    }

    /// Sender records, indexed by flow.
    pub fn senders(&self) -> &[SenderTrace] {
        &self.senders
    }

    /// When payload last arrived for the first time, in picoseconds; 0 before any has.
    pub fn last_delivery(&self) -> u64 {
        self.last_delivery
    }

    /// Bytes delivered so far of a flow.
    pub fn bytes_delivered(&self, flow: FlowId) -> u64 {
        self.receivers[flow.0 as usize].delivered
    }

    /// Bytes that a flow's data packets brought here behind their headers.
    pub fn extension_bytes(&self, flow: FlowId) -> u64 {
        self.receivers[flow.0 as usize].extension_bytes
    }

    /// How old information was, by the transport's place among those of the run.
    pub fn ages(&self) -> &[Ages] {
        &self.ages
    }

    /// Flows completed so far, in order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Delivered ranges `(flow, offset, bytes)`, if they are logged.
    pub fn deliveries(&self) -> &[(FlowId, u64, u32)] {
        self.deliveries.as_deref().unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_wire::{Header, HostId, TransportId};

    fn packet(flow: u32, payload: u16, extension: u8) -> Packet {
        Packet {
            header: Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags: 0 },
            src: HostId(0),
            dst: HostId(1),
            flow: FlowId(flow),
            payload,
            path: 0,
            mark: 0,
            class: 0,
            transport: TransportId(0),
            flags: 0,
            extension,
        }
    }

    #[test]
    fn feedback_is_control_whole_and_what_data_carry_beside() {
        let mut probe = Probe::new(2, false);
        probe.received(&packet(1, 1460, 0), 1538);
        probe.received(&packet(1, 1444, 16), 1538);
        probe.received(&packet(1, 0, 0), 84);
        probe.received(&packet(1, 0, 26), 104);
        let trace = &probe.senders()[1];
        assert_eq!((trace.control_packets, trace.control_bytes), (2, 188));
        assert_eq!(probe.extension_bytes(FlowId(1)), 16);
        let other = (probe.senders()[0].control_bytes, probe.extension_bytes(FlowId(0)));
        assert_eq!(other, (0, 0));
    }

    #[test]
    fn ages_are_counted_by_transport() {
        let mut probe = Probe::new(3, false);
        probe.group([0, 2, 2].into_iter());
        probe.enter(Time(1000), HostClock::default());
        for (flow, informed) in [(0, 900), (1, 500), (2, 0), (2, 1000), (2, 2000)] {
            probe.decision(FlowId(flow), Time(informed));
        }
        let counts: Vec<u64> = probe.ages().iter().map(Ages::count).collect();
        assert_eq!(counts, [1, 0, 4]);
        let last = &probe.senders()[2];
        // What lies in the future is as young as can be.
        assert_eq!((last.decisions, last.decision_age, last.decision_age_max), (3, 1000, 1000));
    }
}
