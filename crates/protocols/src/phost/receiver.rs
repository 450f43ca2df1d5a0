//! Destinations: one token a packet time, to the flow with the fewest remaining packets.

use super::headers::{Announce, Finish, FreeData, OwnAnnounce, Token, TokenData};
use super::params::Wake;
use super::terms::Terms;
use incast_endpoint::flow_table::{FlowSet, FlowTable};
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::ranking::{Rank, Ranking};
use incast_endpoint::receiver_driven::{Arrival, Arrivals, FlowTimers};
use incast_transport::{Env, FlowId, Header, HostId, Packet, PacketRef, Span, Time, flag};

/// The receiving side of one flow.
struct Incoming {
    src: HostId,
    arrivals: Arrivals,
    arrived: u32,
    /// Offset of the packet that came last: headers carry offsets modulo 2^32.
    offset: u64,
    heard: Time,
    /// Packets of the flow; 0 until it is announced.
    packets: u32,
    rank: Rank,
    place: Place,
    /// Number of the next token.
    token_count: i64,
    /// Largest token number that data echoed.
    largest_used: i64,
    /// Tokens to issue before a pause.
    goal: i64,
    pause_until: Option<Time>,
    last_token: Time,
    /// The packet that the next token names, if it is missing.
    next_seq: u32,
    armed: Time,
}

/// Whether a flow competes for tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Not announced.
    Unknown,
    /// In the ranking.
    Eligible,
    /// Not before this instant, unless data arrives that uses its tokens.
    Waiting(Time),
}

/// All flows that arrive at one host.
pub struct Receivers {
    terms: Terms,
    flows: FlowTable<Incoming>,
    finished: FlowSet,
    eligible: Ranking,
    timers: FlowTimers,
    /// Slots left to free packets.
    hold: u32,
    /// When the token clock ticks; never while it is stopped.
    tick: Time,
    /// When the next token may be issued, at the earliest.
    next_slot: Time,
    seen: u32,
}

impl Receivers {
    /// No flows yet.
    pub fn new(terms: Terms) -> Receivers {
        Receivers {
            terms,
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            eligible: Ranking::default(),
            timers: FlowTimers::default(),
            hold: 0,
            tick: Time::NEVER,
            next_slot: Time::ZERO,
            seen: 0,
        }
    }

    /// Flows that are incomplete.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// An announcement arrived.
    pub fn announced(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let content = env.packets[packet];
        let Packet { flow, src, header, .. } = content;
        let (packets, free) = match (Announce::read(&header), OwnAnnounce::read(&header)) {
            (Some(Announce { packets, .. }), _) => (packets, self.terms.free(packets)),
            (_, Some(OwnAnnounce { packets, free, .. })) => (packets, free.min(packets)),
            _ => return,
        };
        if self.finished.contains(flow) {
            // The first announcement of a short flow follows its data; only a repeated one
            // is a sign that the finish was lost.
            if content.has(flag::RETRANSMIT) {
                finish(outbox, flow, src, env.now);
            }
            return;
        }
        let slot = self.slot(flow, src, env.now);
        self.begin(slot, env.now, packets, free);
    }

    fn slot(&mut self, flow: FlowId, src: HostId, now: Time) -> u32 {
        if let Some(slot) = self.flows.slot_of(flow) {
            return slot;
        }
        let rank = Rank { remaining: 0, order: self.seen, flow };
        self.seen = self.seen.wrapping_add(1);
        self.flows.insert(flow, Incoming::new(src, rank, now))
    }

    /// The flow's length and free tokens are known: it may compete for tokens.
    fn begin(&mut self, slot: u32, now: Time, packets: u32, free: u32) {
        let flow = self.flows.at_mut(slot);
        if flow.place != Place::Unknown || packets == 0 || packets < flow.arrivals.end() {
            return;
        }
        flow.packets = packets;
        flow.token_count = free as i64;
        // Data that came before a lost announcement has used its free tokens.
        flow.largest_used = (flow.arrivals.end().min(free) as i64) - 1;
        flow.next_seq = free;
        flow.goal = packets as i64;
        flow.last_token = now;
        flow.place = Place::Eligible;
        flow.rank.remaining = (packets - flow.arrived) as u64;
        self.start_clock(now);
        // Data of tokens issued now arrives behind a longer flow's free packets anyway.
        self.hold = if free == packets { free } else { 0 };
        let flow = self.flows.at_mut(slot);
        self.eligible.insert(flow.rank);
        if free == packets {
            // All of it may be in flight.
            let until = now + self.terms.slot * (2 * free as u64);
            flow.pause_until = Some(until);
            self.wait(slot, until);
        }
    }

    /// Something to do comes up: the token clock ticks in the next slot.
    fn start_clock(&mut self, now: Time) {
        self.tick = self.tick.min(self.next_slot.max(now));
    }

    /// Takes a flow out of the ranking until `at`.
    fn wait(&mut self, slot: u32, at: Time) {
        let flow = self.flows.at_mut(slot);
        self.eligible.remove(flow.rank);
        flow.place = Place::Waiting(at);
        self.timers.arm(flow.rank.flow, &mut flow.armed, at);
    }

    /// A data packet arrived.
    pub fn data(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, packet: PacketRef) {
        let Packet { header, src, flow: id, payload, .. } = env.packets[packet];
        let Some(data) = Arriving::read(&header) else { return };
        let Arriving { packet: seq, offset, last, .. } = data;
        if payload == 0 {
            return; // Only a header is left of it: as good as lost.
        }
        if self.finished.contains(id) {
            return finish(outbox, id, src, env.now);
        }
        let slot = self.slot(id, src, env.now);
        if let Spent::Free { packets } = data.spent {
            self.begin(slot, env.now, packets, self.terms.free(packets));
        }
        let flow = self.flows.at_mut(slot);
        flow.heard = env.now;
        let number = match data.spent {
            Spent::Free { .. } => seq as i64,
            Spent::Token(token) => flow.widen_number(token),
        };
        flow.largest_used = flow.largest_used.max(number.min(flow.token_count - 1));
        if flow.packets > 0 && seq >= flow.packets {
            return;
        }
        if flow.arrivals.insert(seq, last) == Arrival::New {
            flow.arrived += 1;
            let offset = flow.widen_offset(offset);
            env.probe.delivered(id, seq, offset, payload as u32);
            if flow.arrivals.complete() {
                env.probe.completed(id);
                return self.end(env.now, outbox, id);
            }
        }
        // Only data of a new flow comes without a token: like the flow itself it wakes the clock.
        let wakes = self.terms.wake == Wake::Data || matches!(data.spent, Spent::Free { .. });
        self.rerank(slot, env.now, wakes);
    }

    /// After an arrival: fewer packets remain, and the flow may have room for tokens again, which
    /// may wake the clock.
    fn rerank(&mut self, slot: u32, now: Time, wakes: bool) {
        let flow = self.flows.at_mut(slot);
        let remaining = flow.packets.saturating_sub(flow.arrived) as u64;
        match flow.place {
            Place::Unknown => {}
            Place::Eligible => {
                if remaining != flow.rank.remaining {
                    self.eligible.change(flow.rank, remaining);
                    flow.rank.remaining = remaining;
                }
            }
            Place::Waiting(_) => {
                flow.rank.remaining = remaining;
                if flow.pause_until.is_none() && flow.unused() <= self.terms.window as i64 {
                    self.resume(slot);
                    if wakes {
                        self.start_clock(now);
                    }
                }
            }
        }
    }

    /// Puts a waiting flow back into the ranking. A clock that sleeps until the closest retry
    /// finds it there then.
    fn resume(&mut self, slot: u32) {
        let flow = self.flows.at_mut(slot);
        flow.place = Place::Eligible;
        self.eligible.insert(flow.rank);
    }

    fn end(&mut self, now: Time, outbox: &mut Outbox, id: FlowId) {
        let src = self.remove(id).expect("it has just received");
        self.finished.insert(id, now);
        finish(outbox, id, src, now);
    }

    /// Takes a flow out; returns its source.
    pub fn remove(&mut self, id: FlowId) -> Option<HostId> {
        let flow = self.flows.remove(id)?;
        if flow.place == Place::Eligible {
            self.eligible.remove(flow.rank);
        }
        Some(flow.src)
    }

    /// The next timer.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.tick.min(self.timers.next())
    }

    /// Ends waits that are over, and uses the slot if it has come.
    pub fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let now = env.now;
        while let Some((id, slot)) =
            self.timers.expired(now, &mut self.flows, |flow| &mut flow.armed)
        {
            let flow = self.flows.at_mut(slot);
            match flow.place {
                Place::Waiting(until) if until <= now => {
                    env.probe.timeout(id);
                    self.resume(slot);
                    self.start_clock(now);
                }
                Place::Waiting(until) => self.timers.arm(id, &mut flow.armed, until),
                _ => {}
            }
        }
        if now >= self.tick {
            self.on_tick(now, outbox);
        }
    }

    /// The token clock: once a slot while a slot is used. Otherwise it sleeps until the closest
    /// retry of a flow that waits, or stops.
    fn on_tick(&mut self, now: Time, outbox: &mut Outbox) {
        let due = std::mem::replace(&mut self.tick, Time::NEVER);
        if self.use_slot(now, outbox) {
            // A world that calls late gets its rate back, but never a burst.
            self.next_slot = self.next_slot.max(due) + self.terms.slot;
            if self.next_slot <= now {
                self.next_slot = now + self.terms.slot;
            }
            self.tick = self.next_slot;
        } else if self.terms.wake == Wake::Timer {
            let retry = |flow: &Incoming| match flow.place {
                Place::Waiting(until) => until,
                _ => Time::NEVER,
            };
            self.tick = self.timers.earliest(&mut self.flows, |flow| &mut flow.armed, retry);
        }
    }

    /// The token timer (pHost §3.2, as in the authors' simulator). Returns whether the slot
    /// was used; if not, no flow is eligible any more.
    fn use_slot(&mut self, now: Time, outbox: &mut Outbox) -> bool {
        if self.hold > 0 {
            self.hold -= 1;
            return true;
        }
        while let Some(best) = self.eligible.best() {
            let slot = self.flows.slot_of(best.flow).expect("a ranked flow is open");
            let flow = self.flows.at_mut(slot);
            match flow.may_have_token(now, &self.terms) {
                Ok(()) => {
                    outbox.push(flow.issue(now));
                    if let Some(until) = flow.rest(now, &self.terms) {
                        self.wait(slot, until);
                    }
                    return true;
                }
                Err(until) => self.wait(slot, until),
            }
        }
        false
    }
}

/// What a data packet was sent with.
enum Spent {
    /// A free token, of a flow of so many packets; 0 if that is unknown.
    Free { packets: u32 },
    /// The token with these lower 24 bits of its number.
    Token(u32),
}

/// A data packet, whatever it was sent with.
struct Arriving {
    packet: u32,
    offset: u32,
    last: bool,
    spent: Spent,
}

impl Arriving {
    #[inline]
    fn read(header: &Header) -> Option<Arriving> {
        if let Some(FreeData { packet, offset, packets, last }) = FreeData::read(header) {
            return Some(Arriving { packet, offset, last, spent: Spent::Free { packets } });
        }
        let TokenData { packet, offset, token, last } = TokenData::read(header)?;
        Some(Arriving { packet, offset, last, spent: Spent::Token(token) })
    }
}

/// Sends the Finish packet of a flow.
fn finish(outbox: &mut Outbox, flow: FlowId, to: HostId, now: Time) {
    let header = Finish {}.into();
    outbox.push(Control { flow, to, header, again: false, informed: now });
}

impl Incoming {
    fn new(src: HostId, rank: Rank, now: Time) -> Incoming {
        Incoming {
            src,
            arrivals: Arrivals::new(),
            arrived: 0,
            offset: 0,
            heard: now,
            packets: 0,
            rank,
            place: Place::Unknown,
            token_count: 0,
            largest_used: -1,
            goal: 0,
            pause_until: None,
            last_token: now,
            next_seq: 0,
            armed: Time::NEVER,
        }
    }

    /// Tokens beyond the last one that was used; one more than are unused.
    fn unused(&self) -> i64 {
        self.token_count - self.largest_used
    }

    /// Whether the flow may be given a token now; else, until when it must wait.
    fn may_have_token(&mut self, now: Time, terms: &Terms) -> Result<(), Time> {
        if let Some(until) = self.pause_until {
            if now < until {
                return Err(until);
            }
            self.pause_until = None;
            self.goal += self.rank.remaining as i64;
        }
        let window = terms.window as i64;
        if self.unused() > window {
            let until = self.last_token + terms.downgrade;
            if now < until {
                return Err(until);
            }
            self.largest_used = self.token_count - window;
        }
        Ok(())
    }

    /// The next token: for the next missing packet, in turn from the one named last.
    fn issue(&mut self, now: Time) -> Control {
        let from = self.next_seq;
        let after = from.max(self.arrivals.end());
        let mut seq = self.arrivals.hole_from(from).unwrap_or(after);
        if seq >= self.packets {
            seq = self.arrivals.lowest_missing();
        }
        self.next_seq = seq + 1;
        let (remaining, number) = (self.rank.remaining as u32, self.token_count as u32);
        self.token_count += 1;
        self.last_token = now;
        let header = Token { packet: seq, remaining, number }.into();
        Control { flow: self.rank.flow, to: self.src, header, again: false, informed: self.heard }
    }

    /// After a token: until when the flow must wait for the next one, if it must.
    fn rest(&mut self, now: Time, terms: &Terms) -> Option<Time> {
        if self.token_count == self.goal {
            self.pause_until = Some(now + terms.pause);
            return self.pause_until;
        }
        (self.unused() > terms.window as i64).then(|| now + terms.downgrade)
    }

    /// The token number of which data carries the lower 24 bits.
    fn widen_number(&self, token: u32) -> i64 {
        let ahead = (token.wrapping_sub(self.token_count as u32) << 8) as i32 >> 8;
        self.token_count + ahead as i64
    }

    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    fn widen_offset(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}

/// Waits of a destination with the defaults for a base RTT and a packet time.
pub fn default_waits(bdp: u32, base_rtt: Span, slot: Span) -> (Span, Span) {
    // The authors' constants assume an RTT of eight packets; elsewhere the same in RTT.
    match bdp {
        8 => (slot * 9, slot * 25),
        _ => (base_rtt.scale(11, 10), base_rtt * 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_numbers_and_offsets_survive_their_fields() {
        let rank = Rank { remaining: 0, order: 0, flow: FlowId(0) };
        let mut flow = Incoming::new(HostId(0), rank, Time::ZERO);
        flow.token_count = (1 << 24) + 5;
        assert_eq!(flow.widen_number(3), (1 << 24) + 3);
        assert_eq!(flow.widen_number(0xff_fffe), (1 << 24) - 2);
        // Always less than 2^31 apart, also when packets come out of order.
        for offset in [2_000_000_000, 4_000_000_000, 4_294_968_460, 4_294_966_000, 6_000_000_000] {
            assert_eq!(flow.widen_offset(offset as u32), offset);
        }
    }
}
