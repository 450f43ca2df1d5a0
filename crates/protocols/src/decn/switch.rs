//! The port (DECN §III-B, Algorithm 1): measures the rate of each flow once per period, and writes
//! the difference between fair share and rate into feedback units, if it is the least so far.

use super::code::{PACKETS, encode, nibble};
use super::headers;
use super::params::Params;
use super::{FIRST_OF_UNIT, UNDECIDED};
use incast_egress::interval::random_phase;
use incast_endpoint::flow_table::FlowTable;
use incast_transport::{FlowId, Marker, PacketPool, PacketRef, PortSite, Random, Span, Time, View};

/// Bits per byte times picoseconds per second: converts bytes per picosecond to bits per second.
const BIT_PS: u128 = 8_000_000_000_000;

/// Settings of a port.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Bits per second.
    capacity: u64,
    step: i64,
    period: Span,
    epoch_packets: u32,
    epoch_max: Span,
    active: Span,
    forget: Span,
    /// Time from writing a difference to the arrival of packets sent with it.
    round: Span,
    hold_grants: bool,
}

impl Sampling {
    /// The settings of the port at `site`.
    pub fn new(params: &Params, site: &PortSite) -> Sampling {
        let active = params.active_span();
        Sampling {
            capacity: site.rate.0,
            step: super::code::step(params.unit, site.fabric.max_rate),
            period: params.period,
            epoch_packets: params.epoch_packets,
            epoch_max: params.period * params.epoch_periods as u64,
            active,
            forget: params.forget.max(active),
            round: site.fabric.base_rtt,
            hold_grants: params.hold_grants,
        }
    }
}

/// Bits per second of `bytes` in `span`, rounded down.
#[inline]
fn rate(bytes: u64, span: Span) -> u64 {
    (bytes as u128 * BIT_PS / span.0.max(1) as u128) as u64
}

/// A feedback unit that passes a port.
#[derive(Clone, Copy, Debug)]
struct Passing {
    /// Packets seen; [`PACKETS`] when the unit is done.
    seen: u8,
    /// Whether this port's difference is the least so far.
    mine: bool,
    /// The difference, the same for all three packets, and when it was measured.
    code: u16,
    measured: Time,
    /// Sequence number of the next packet.
    next: u32,
}

const NO_UNIT: Passing =
    Passing { seen: PACKETS, mine: false, code: 0, measured: Time::ZERO, next: 0 };

/// A flow at a port.
#[derive(Clone, Copy, Debug)]
struct Measured {
    flow: FlowId,
    /// Bytes (sigma) and packets that arrived since `since` (t0).
    arrived: u64,
    packets: u32,
    since: Time,
    /// Its queued bytes now, and their minimum since the measurement started: its persistent queue.
    queued: u64,
    least: u64,
    /// Its rate in bits per second (CR), once measured.
    rate: Option<u64>,
    /// Its grant as a new flow, in bits per second, until a measurement that starts at `shows` or
    /// later includes it.
    given: u64,
    shows: Time,
    last: Time,
    unit: Passing,
}

impl Measured {
    fn new(flow: FlowId, now: Time) -> Measured {
        Measured {
            flow,
            arrived: 0,
            packets: 0,
            since: now,
            queued: 0,
            least: 0,
            rate: None,
            given: 0,
            shows: now,
            last: now,
            unit: NO_UNIT,
        }
    }
}

/// The state of one port.
pub struct Shares {
    sampling: Sampling,
    /// When the period ends, and when the last one did.
    ends: Time,
    measured: Time,
    /// Bytes that arrived in this period and in the last one.
    input: u64,
    previous: u64,
    /// Spare bits per second granted to new flows in this period, and earlier grants that no
    /// measurement shows yet (`hold_grants`).
    granted: u64,
    /// Active flows (n) at the end of the last period, and new flows since.
    active: u64,
    newcomers: u64,
    flows: FlowTable<Measured>,
    expired: Vec<FlowId>,
}

impl Shares {
    /// A port without flows; its first period ends at `first`.
    pub fn new(sampling: Sampling, first: Time) -> Shares {
        Shares {
            sampling,
            ends: first,
            measured: Time::ZERO,
            input: 0,
            previous: 0,
            granted: 0,
            active: 0,
            newcomers: 0,
            flows: FlowTable::new(),
            expired: vec![],
        }
    }

    /// Ends all periods that are over at `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        while self.ends <= now {
            if self.flows.is_empty() {
                return self.skip(now);
            }
            self.end_period();
        }
    }

    /// Skips periods without flows.
    #[cold]
    fn skip(&mut self, now: Time) {
        let period = self.sampling.period;
        let count = now.since(self.ends).0 / period.0 + 1;
        self.ends += period * count;
        self.measured = self.ends - period;
        (self.input, self.previous, self.granted) = (0, 0, 0);
        (self.active, self.newcomers) = (0, 0);
    }

    /// Measures rates and counts active flows (DECN Eq. 1 to 3).
    fn end_period(&mut self) {
        let Sampling { period, epoch_packets, epoch_max, active, forget, .. } = self.sampling;
        let at = self.ends;
        let (mut count, mut held) = (0, 0);
        for flow in self.flows.values_mut() {
            let idle = at.since(flow.last);
            // Sigma counts from the start of the measurement, which may span several periods.
            if flow.queued > 0 || idle <= active.max(period) {
                count += 1;
                let lasted = at.since(flow.since);
                if flow.packets >= epoch_packets || lasted >= epoch_max {
                    if flow.since >= flow.shows {
                        flow.given = 0;
                    }
                    let standing = rate(flow.least, period);
                    flow.rate = Some(rate(flow.arrived, lasted) + standing);
                    (flow.arrived, flow.packets, flow.since) = (0, 0, at);
                    flow.least = flow.queued;
                }
                held += flow.given;
            } else if idle > forget {
                self.expired.push(flow.flow);
            }
        }
        for flow in self.expired.drain(..) {
            self.flows.remove(flow);
        }
        (self.active, self.newcomers) = (count, 0);
        (self.previous, self.input) = (self.input, 0);
        self.granted = if self.sampling.hold_grants { held } else { 0 };
        self.measured = at;
        self.ends += period;
    }

    /// Data of `flow` arrived: `bytes` charged.
    #[inline]
    fn arrives(&mut self, flow: FlowId, bytes: u32, now: Time) -> u32 {
        self.input += bytes as u64;
        let slot = match self.flows.slot_of(flow) {
            Some(slot) => slot,
            None => {
                self.newcomers += 1;
                self.flows.insert(flow, Measured::new(flow, now))
            }
        };
        let Sampling { active, period, .. } = self.sampling;
        let state = self.flows.at_mut(slot);
        if state.queued == 0 && now.since(state.last) > active.max(period) {
            // The flow was inactive: its measurement is out of date.
            *state = Measured::new(flow, now);
            self.newcomers += 1;
        }
        state.arrived += bytes as u64;
        state.packets += 1;
        state.last = now;
        slot
    }

    /// The difference of a flow, in bits per second: its share minus its rate, or for a new flow
    /// the spare capacity, granted once per period.
    fn difference(&mut self, slot: u32) -> i64 {
        let Sampling { capacity, period, round, .. } = self.sampling;
        let state = self.flows.at_mut(slot);
        if let Some(measured) = state.rate {
            return (capacity / self.active.max(1)) as i64 - measured as i64;
        }
        let used = rate(self.previous, period) + self.granted;
        let share = capacity / (self.active + self.newcomers).max(1);
        let given = share.min(capacity.saturating_sub(used));
        self.granted += given;
        state.given += given;
        state.shows = state.last + round;
        given as i64
    }

    /// One step of Algorithm 1, per data packet. Returns its four bits at departure, and when their
    /// value was measured if this port wrote them.
    #[inline]
    fn mark(&mut self, slot: u32, data: &Data) -> (u8, Time) {
        let Data { seq, payload, first, bits, .. } = *data;
        if first {
            let code = encode(self.difference(slot), self.sampling.step);
            let measured = self.measured;
            let unit = Passing { seen: 0, mine: false, code, measured, next: seq };
            self.flows.at_mut(slot).unit = unit;
        }
        let unit = &mut self.flows.at_mut(slot).unit;
        if unit.seen == PACKETS {
            return (bits, Time::NEVER);
        }
        if seq != unit.next {
            unit.seen = PACKETS;
            return (bits, Time::NEVER);
        }
        let own = nibble(unit.code, unit.seen);
        unit.mine |= own < bits;
        if !unit.mine && own > bits {
            // An earlier hop wrote a smaller difference.
            unit.seen = PACKETS;
            return (bits, Time::NEVER);
        }
        unit.next = unit.next.wrapping_add(payload as u32);
        unit.seen += 1;
        let decides = unit.mine || bits == UNDECIDED;
        (own, if decides { unit.measured } else { Time::NEVER })
    }

    #[inline]
    fn joins(&mut self, slot: u32, bytes: u32) {
        self.flows.at_mut(slot).queued += bytes as u64;
    }

    #[inline]
    fn leaves(&mut self, flow: FlowId, bytes: u32) {
        if let Some(state) = self.flows.get_mut(flow) {
            state.queued = state.queued.saturating_sub(bytes as u64);
            state.least = state.least.min(state.queued);
        }
    }

    /// Flows with state at the port.
    pub fn entries(&self) -> usize {
        self.flows.len()
    }

    /// Active flows and their fair share in bits per second, at the end of the last period.
    pub fn share(&self) -> (u64, u64) {
        (self.active, self.sampling.capacity / self.active.max(1))
    }

    /// A flow's last measured rate in bits per second, and its queued bytes.
    pub fn of(&self, flow: FlowId) -> (Option<u64>, u64) {
        self.flows.get(flow).map_or((None, 0), |state| (state.rate, state.queued))
    }

    /// Queued bytes of all flows.
    pub fn queued(&self) -> u64 {
        self.flows.values().map(|state| state.queued).sum()
    }
}

/// The marker of one port.
pub struct DecnMarker {
    shares: Shares,
}

/// A data packet.
#[derive(Clone, Copy)]
struct Data {
    flow: FlowId,
    seq: u32,
    payload: u16,
    charged: u32,
    /// Whether it starts a unit.
    first: bool,
    /// Its four bits on arrival.
    bits: u8,
}

/// Fields of a data packet; `None` for control packets and other transports.
#[inline]
fn data(packets: &PacketPool, packet: PacketRef, view: &View) -> Option<Data> {
    let content = &packets[packet];
    if !view.own || !content.is_data() {
        return None;
    }
    let own = headers::Data::read(&content.header)?;
    Some(Data {
        flow: content.flow,
        seq: own.sequence,
        payload: content.payload,
        charged: packets.charged(packet),
        first: content.mark == FIRST_OF_UNIT,
        bits: own.difference & 0xF,
    })
}

impl DecnMarker {
    /// A port without flows; its first period ends at a random phase.
    pub fn new(params: &Params, site: &PortSite) -> DecnMarker {
        DecnMarker::starting(params, site, Time::NEVER)
    }

    /// A port without flows whose first period ends at `first`, unless `begin` draws a phase.
    pub fn starting(params: &Params, site: &PortSite, first: Time) -> DecnMarker {
        DecnMarker { shares: Shares::new(Sampling::new(params, site), first) }
    }

    /// The state of the port.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }
}

impl Marker for DecnMarker {
    fn begin(&mut self, random: &mut Random) {
        self.shares.ends = random_phase(random, self.shares.sampling.period);
    }

    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let Some(data) = data(packets, packet, view) else { return false };
        self.shares.advance(view.now);
        let slot = self.shares.arrives(data.flow, data.charged, view.now);
        let (bits, measured) = self.shares.mark(slot, &data);
        self.shares.joins(slot, data.charged);
        if measured == Time::NEVER {
            return false;
        }
        packets.stamps_mut(packet).informed = measured.0;
        if let Some(difference) = headers::Data::difference_mut(&mut packets[packet].header) {
            *difference = bits;
        }
        bits != data.bits
    }

    fn on_refused(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) {
        let Some(Data { flow, charged, .. }) = data(packets, packet, view) else { return };
        self.shares.advance(view.now);
        let slot = self.shares.arrives(flow, charged, view.now);
        self.shares.flows.at_mut(slot).unit = NO_UNIT;
    }

    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let Some(Data { flow, charged, .. }) = data(packets, packet, view) else { return false };
        self.shares.advance(view.now);
        self.shares.leaves(flow, charged);
        false
    }

    fn sees(&self) -> (bool, bool) {
        (true, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
