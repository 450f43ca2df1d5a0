//! The default: what has been passed by data of a later grant is lost a timeout later.
//!
//! Flows are served in order, so what a grant let go is lost, or late for another reason than the
//! sender's NIC, once data of a later grant has come. Silence has many causes: one probe, which a
//! sender with packets of the flow to send ignores, tells which.

use super::{DOUBLINGS, Expectations, Grants, NUMBERS};
use incast_endpoint::receiver_driven::{Arrivals, Holes, Recovery, Reissue, Request};
use incast_transport::{Span, Time};

/// Replaces a grant a timeout after data of a later one has come, and probes silent flows.
#[derive(Clone, Copy, Debug)]
pub struct Passed(pub Expectations);

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

    /// Ends the round if it is one of its grants that brought data.
    #[inline]
    fn data_of(&mut self, number: u32, next: u32) {
        if number.wrapping_sub(self.first) % NUMBERS < NUMBERS / 2 {
            *self = Gaps { now: Span::ZERO, before: self.now, first: next };
        }
    }
}

/// What is expected of a flow.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The timeout of one that was passed starts then.
    grants: Grants,
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
    /// Data of a grant arrived: whatever earlier ones let go should have come before `then`.
    #[inline]
    fn pass(&mut self, place: usize, then: Time) {
        for entry in self.grants.entries.range_mut(self.passed..place) {
            entry.since = then;
        }
        self.passed = place;
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

impl Recovery for Passed {
    type Flow = Expected;

    fn opened(&self, now: Time) -> Expected {
        Expected {
            grants: Grants::default(),
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
        let grant = flow.grants.find(number);
        flow.note_gap(now, grant.map(|(_, entry)| entry.since));
        flow.heard = now;
        flow.quiet_since = now;
        flow.doublings = 0;
        flow.alive = true;
        let Some((place, entry)) = grant else { return };
        if place >= flow.passed {
            let rtt = now.since(entry.since);
            flow.least_rtt = Some(flow.least_rtt.map_or(rtt, |least| least.min(rtt)));
            // A probe gets a reply only if nothing waits at the sender, and it left after a timeout
            // of silence: what is late was late then.
            flow.pass(place, if entry.packets == 0 { entry.since } else { now });
            flow.gaps.data_of(flow.grants.number(place), flow.grants.next_number());
        }
        flow.passed = flow.passed.saturating_sub(flow.grants.bring_one(place));
    }

    #[inline]
    fn granted(&self, flow: &mut Expected, now: Time, packets: u8) -> Option<u32> {
        Some(flow.grants.push(now, packets))
    }

    #[inline]
    fn deadline(&self, flow: &Expected) -> Time {
        match flow.grants.first().filter(|_| flow.passed > 0) {
            // A shorter RTT than any before shortens the timeout: then it is now.
            Some(entry) => (entry.since + self.0.of_flow(flow.least_rtt)).max(flow.heard),
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
        match flow.passed {
            0 => Some(self.probe(flow, now, arrivals, holes)),
            _ => self.replace(flow, now, arrivals, holes),
        }
    }
}

impl Passed {
    /// How long nothing must come before a probe leaves. A flow with something to send has its
    /// turn once per round of its sender's NIC; the round is what its packets are apart.
    fn silence(&self, flow: &Expected) -> Span {
        let once = self.0.of_flow(flow.least_rtt).max(flow.gaps.longest() * 2);
        (once * (1 << flow.doublings)).min(once.max(self.0.longest()))
    }

    /// The first grant's data is lost, or the grant itself.
    fn replace(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        flow.passed = flow.passed.saturating_sub(flow.grants.give_up_first());
        match holes.next(arrivals, now, self.0.timeout, arrivals.end()) {
            Some(hole) => {
                let number = flow.grants.push(now, 1);
                Some(Reissue::replacement(Request::First(hole)).numbered(Some(number)))
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
        // Its number identifies the packet that it brings; it promises none.
        let number = flow.grants.push(now, 0);
        let request = if arrivals.has_hole() {
            holes.asked_lowest(arrivals, now, self.0.timeout);
            Request::First(arrivals.lowest_missing())
        } else {
            Request::LastResort(arrivals.end())
        };
        Reissue::probe(request).numbered(Some(number))
    }
}
