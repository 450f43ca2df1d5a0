//! The receiver: one grant for each data packet, and a list of what each grant should bring.

use super::{Code, ID, Params, params, sender::PACKETS};
use incast_endpoint::receiver_driven::{
    Arrivals, Holes, ReceiverTerms, Recovery, Reissue, Request,
};
use incast_transport::{FabricSite, Span, Time};
use std::collections::VecDeque;

/// Grants are numbered modulo 2^24, the width of the field.
const NUMBERS: u32 = 1 << 24;
/// What the data queues of the way may add to the timeout at the most, in base RTTs.
const QUEUES_MOST: u64 = 16;
/// The longest back-off, as a power of two of the timeout.
const DOUBLINGS: u32 = 4;

pub(super) fn terms(expectations: &Expectations) -> ReceiverTerms {
    let (saturated, room) = (Code::Saturated as u8, Code::Room as u8);
    ReceiverTerms {
        transport: ID,
        answer: [saturated, saturated, saturated, room],
        answer_duplicate: [saturated; 4],
        recovery: saturated,
        packets: PACKETS,
        marked: true,
        hole_behind: u32::MAX,
        hole_patience: expectations.timeout,
    }
}

/// When data counts as lost (AMRT §6: a `timeout` after the grant that let it go).
#[derive(Clone, Copy, Debug)]
pub struct Expectations {
    /// What the network takes from a grant to its data, at the most.
    pub timeout: Span,
    /// Whether the timeout stays even when every measured round trip is longer.
    pub strict: bool,
    /// Which event starts the timeout.
    pub recovery: params::Recovery,
}

impl Expectations {
    /// The timeout of a fabric: the base RTT and a full data queue at each hop both ways.
    pub fn of(fabric: &FabricSite, params: &Params) -> Expectations {
        let packets = 2 * params.data_packets as u64 * fabric.hops as u64;
        let queues = fabric.mtu_time(fabric.host_rate).saturating_mul(packets);
        let queues = queues.min(fabric.base_rtt * QUEUES_MOST);
        let roomy = fabric.base_rtt + queues + Span::from_us(1);
        let default = if params.strict_1rtt { fabric.base_rtt } else { roomy };
        let timeout = params.timeout.unwrap_or(default);
        Expectations { timeout, strict: params.strict_1rtt, recovery: params.recovery }
    }

    /// The longest interval between re-issued grants of a silent flow whose packets come evenly.
    pub fn longest(&self) -> Span {
        self.timeout * (1 << DOUBLINGS)
    }

    fn timeout_of(&self, flow: &Expected) -> Span {
        match flow.least_rtt {
            Some(rtt) if !self.strict => self.timeout.max(rtt),
            _ => self.timeout,
        }
    }

    /// How long nothing must come before a probe leaves. A flow with something to send has its
    /// turn once a round of its sender's NIC; the round is what its packets are apart.
    fn silence(&self, flow: &Expected) -> Span {
        let once = match self.recovery {
            params::Recovery::Passed => self.timeout_of(flow).max(flow.gaps.longest() * 2),
            params::Recovery::Paper => self.timeout_of(flow),
        };
        (once * (1 << flow.doublings)).min(once.max(self.longest()))
    }
}

/// What one grant should bring.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When it was granted; of one that was passed, when that was.
    since: Time,
    packets: u8,
}

/// The longest time between two packets of a flow in this and the last round. A round ends with
/// data of a grant that was issued in it: by then every packet on its way has had its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Gaps {
    now: Span,
    before: Span,
    /// The first grant of this round.
    first: u32,
}

impl Gaps {
    fn longest(&self) -> Span {
        self.now.max(self.before)
    }

    fn end_round(&mut self, next: u32) {
        *self = Gaps { now: Span::ZERO, before: self.now, first: next };
    }
}

/// A flow's grants that have not brought all they should.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Ordinary grants in order of their consecutive numbers; satisfied ones inside stay with no
    /// packets until they are in front.
    entries: VecDeque<Entry>,
    first_number: u32,
    /// So many of them, from the front, were passed by data of a later one.
    passed: usize,
    gaps: Gaps,
    /// The last arrival.
    heard: Time,
    /// The last arrival, or the last grant that was re-issued in silence.
    quiet_since: Time,
    doublings: u32,
    /// Whether data arrived since the last re-issued grant.
    alive: bool,
    /// Least time from a grant to its data.
    least_rtt: Option<Span>,
}

impl Expected {
    fn drop_satisfied(&mut self) {
        while self.entries.front().is_some_and(|entry| entry.packets == 0) {
            self.entries.pop_front();
            self.passed = self.passed.saturating_sub(1);
            self.first_number = (self.first_number + 1) % NUMBERS;
        }
    }

    fn next_number(&self) -> u32 {
        (self.first_number + self.entries.len() as u32) % NUMBERS
    }

    /// Data of a grant arrived: whatever earlier ones let go should have come before `then`.
    #[inline]
    fn pass(&mut self, index: usize, then: Time) {
        for entry in self.entries.range_mut(self.passed.min(index)..index) {
            entry.since = then;
        }
        self.passed = self.passed.max(index);
    }

    /// Takes the front grant out; its data is lost.
    fn give_up_first(&mut self) {
        if let Some(entry) = self.entries.front_mut() {
            entry.packets = 0;
            self.drop_satisfied();
        }
    }

    /// The time between two packets, unless it was a loss that made it long: then what arrives
    /// was sent because of the probe.
    #[inline]
    fn note_gap(&mut self, now: Time, granted: Option<Time>) {
        let answers_probe = granted.is_none_or(|granted| granted > self.heard);
        if self.alive || !answers_probe {
            self.gaps.now = self.gaps.now.max(now.since(self.heard));
        }
    }
}

impl Recovery for Expectations {
    type Flow = Expected;

    fn opened(&self, now: Time) -> Expected {
        Expected {
            entries: VecDeque::new(),
            first_number: 0,
            passed: 0,
            gaps: Gaps::default(),
            heard: now,
            quiet_since: now,
            doublings: 0,
            alive: true,
            least_rtt: None,
        }
    }

    #[inline]
    fn arrived(&self, flow: &mut Expected, now: Time, number: Option<u32>) {
        let index = number.map(|number| number.wrapping_sub(flow.first_number) % NUMBERS);
        let entry = index.and_then(|index| flow.entries.get(index as usize)).copied();
        flow.note_gap(now, entry.map(|entry| entry.since));
        flow.heard = now;
        flow.quiet_since = now;
        flow.doublings = 0;
        flow.alive = true;
        let (Some(index), Some(entry)) = (index, entry) else { return };
        let index = index as usize;
        flow.entries[index].packets = entry.packets.saturating_sub(1);
        if index >= flow.passed {
            let rtt = now.since(entry.since);
            flow.least_rtt = Some(flow.least_rtt.map_or(rtt, |least| least.min(rtt)));
            // A probe is answered only if nothing waits at the sender, and it left after a timeout
            // of silence: what is late was late then.
            flow.pass(index, if entry.packets == 0 { entry.since } else { now });
            let next = flow.next_number();
            let number = (flow.first_number + index as u32) % NUMBERS;
            if number.wrapping_sub(flow.gaps.first) % NUMBERS < NUMBERS / 2 {
                flow.gaps.end_round(next);
            }
        }
        flow.drop_satisfied();
    }

    #[inline]
    fn granted(&self, flow: &mut Expected, now: Time, packets: u8) -> Option<u32> {
        let number = flow.next_number();
        flow.entries.push_back(Entry { since: now, packets });
        Some(number)
    }

    #[inline]
    fn deadline(&self, flow: &Expected) -> Time {
        let first = match self.recovery {
            params::Recovery::Paper => flow.entries.front(),
            params::Recovery::Passed => flow.entries.front().filter(|_| flow.passed > 0),
        };
        match first {
            // A shorter round trip than any before shortens the timeout: then it is now.
            Some(entry) => (entry.since + self.timeout_of(flow)).max(flow.heard),
            None => flow.quiet_since + self.silence(flow),
        }
    }

    fn expired(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        match self.recovery {
            params::Recovery::Passed if flow.passed > 0 => self.replace(flow, now, arrivals, holes),
            params::Recovery::Passed => Some(self.probe(flow, now, arrivals, holes)),
            params::Recovery::Paper => self.by_the_paper(flow, now, arrivals, holes),
        }
    }
}

impl Expectations {
    /// The first grant's data is lost, or the grant itself.
    fn replace(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        flow.give_up_first();
        match holes.next(arrivals, now, self.timeout, arrivals.end()) {
            Some(hole) => {
                let number = self.granted(flow, now, 1);
                Some(Reissue::replacement(Request::First(hole)).numbered(number))
            }
            // All has been sent, and what is missing has been asked for.
            None if arrivals.packets().is_some() => None,
            None => Some(Reissue::replacement(Request::Nothing)),
        }
    }

    /// Nothing comes: all may be lost, or late for another reason. One packet will tell.
    fn probe(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Reissue {
        flow.doublings = (flow.doublings + 1).min(DOUBLINGS);
        flow.quiet_since = now;
        flow.alive = false;
        // Its number tells the answer; it promises none.
        let number = self.granted(flow, now, 0);
        let request = if arrivals.has_hole() {
            holes.asked_lowest(arrivals, now, self.timeout);
            Request::First(arrivals.lowest_missing())
        } else {
            Request::LastResort(arrivals.end())
        };
        Reissue::probe(request).numbered(number)
    }

    /// Each grant has a timer of its own (§6).
    fn by_the_paper(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        let quiet = flow.entries.is_empty();
        flow.give_up_first();
        let request = match holes.next(arrivals, now, self.timeout_of(flow), arrivals.end()) {
            Some(hole) => Request::First(hole),
            // All of these were asked for a long time ago.
            None if quiet => {
                holes.asked_lowest(arrivals, now, self.timeout);
                Request::First(arrivals.lowest_missing())
            }
            // Grants of a flow that is silent, or that has sent everything, bring nothing.
            None if !flow.alive || arrivals.packets().is_some() => return None,
            // No hole: the grant was lost, or the packet behind the highest one.
            None => Request::LastResort(arrivals.end()),
        };
        if quiet {
            flow.doublings = (flow.doublings + 1).min(DOUBLINGS);
        }
        flow.quiet_since = now;
        flow.alive = false;
        Some(Reissue::replacement(request))
    }
}
