//! The default: data overtaken by data of a later grant counts as lost one timeout later.
//!
//! A sender serves the grants of a flow in order. Once data of a later grant has arrived, missing
//! data of an earlier one no longer waits in the sender's NIC. Without any arrival the receiver
//! sends one probe; a sender that still has packets of the flow queued ignores it.

use super::{DOUBLINGS, Expectations, Grants, NUMBERS};
use incast_endpoint::receiver_driven::{Arrivals, Holes, Recovery, Reissue, Request};
use incast_transport::{Span, Time};

/// Replaces a grant one timeout after data of a later one arrived, and probes flows without
/// arrivals.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// The timeout.
    pub expected: Expectations,
    /// The packets of a first burst that have not come when the reply to a probe does are all lost,
    /// and asked for at once. This is the longest burst that a source is believed to have sent.
    pub tail: Option<u32>,
}

/// The longest time between two packets of a flow in this and the last round. A round ends with
/// the arrival of data of a grant that was issued in it.
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

    /// Ends the round if the data belongs to one of its grants.
    #[inline]
    fn data_of(&mut self, number: u32, next: u32) {
        if number.wrapping_sub(self.first) % NUMBERS < NUMBERS / 2 {
            *self = Gaps { now: Span::ZERO, before: self.now, first: next };
        }
    }
}

/// The receiver's state of a flow.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The timeout of an overtaken grant starts at its `since`.
    grants: Grants,
    /// Number of grants, from the front, that data of a later grant has overtaken.
    passed: usize,
    gaps: Gaps,
    /// The last arrival.
    heard: Time,
    /// The last arrival, or the last re-issued grant without arrivals.
    quiet_since: Time,
    doublings: u32,
    /// Whether data arrived since the last re-issued grant.
    alive: bool,
    /// Least time from a grant to its data.
    least_rtt: Option<Span>,
    /// The next packet of a lost tail to ask for.
    tail_next: u32,
    /// Whether the rest of the first burst is lost and has not been asked for.
    tail_is_lost: bool,
}

impl Expected {
    /// Starts the timeouts of all grants before `place` at `then`, because data of a later one
    /// arrived.
    #[inline]
    fn pass(&mut self, place: usize, then: Time) {
        for entry in self.grants.entries.range_mut(self.passed..place) {
            entry.since = then;
        }
        self.passed = place;
    }

    /// Records the time between two packets, unless a loss caused it: then the arrival is the
    /// reply to a probe.
    #[inline]
    fn note_gap(&mut self, now: Time, granted: Option<Time>) {
        let answers_probe = granted.is_none_or(|granted| granted > self.heard);
        if self.alive || !answers_probe {
            self.gaps.now = self.gaps.now.max(now.since(self.heard));
        }
    }
}

impl Expected {
    /// The next packet behind all that have come, or been asked for since the last probe.
    fn next_of_tail(&mut self, arrivals: &Arrivals) -> u32 {
        let packet = self.tail_next.max(arrivals.end());
        self.tail_next = packet + 1;
        packet
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
            tail_next: 0,
            tail_is_lost: false,
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
            // The sender replies to a probe only if its queue is empty, so earlier data was already
            // late when the probe left.
            flow.pass(place, if entry.packets == 0 { entry.since } else { now });
            flow.tail_is_lost = self.tail.is_some() && entry.packets == 0;
            flow.gaps.data_of(flow.grants.number(place), flow.grants.next_number());
        }
        flow.passed = flow.passed.saturating_sub(flow.grants.bring_one(place));
    }

    #[inline]
    fn granted(&self, flow: &mut Expected, now: Time, packets: u8) -> Option<u32> {
        Some(flow.grants.push(now, packets))
    }

    fn named(&self, flow: &mut Expected) {
        flow.passed = flow.passed.saturating_sub(flow.grants.cancel_one(flow.passed));
    }

    #[inline]
    fn deadline(&self, flow: &Expected) -> Time {
        if flow.tail_is_lost {
            return flow.heard;
        }
        match flow.grants.first().filter(|_| flow.passed > 0) {
            // A new least RTT shortens the timeout, possibly into the past: then it expires now.
            Some(entry) => (entry.since + self.expected.of_flow(flow.least_rtt)).max(flow.heard),
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
        if flow.tail_is_lost {
            return self.ask_for_tail(flow, now, arrivals, holes);
        }
        match flow.passed {
            0 => Some(self.probe(flow, now, arrivals, holes)),
            _ => self.replace(flow, now, arrivals, holes),
        }
    }
}

impl Passed {
    /// Time without arrivals after which a probe leaves. A flow with queued packets is served once
    /// per round of its sender's NIC; the round is the interval between its packets.
    fn silence(&self, flow: &Expected) -> Span {
        let once = self.expected.of_flow(flow.least_rtt).max(flow.gaps.longest() * 2);
        (once * (1 << flow.doublings)).min(once.max(self.expected.longest()))
    }

    /// Replaces the first grant: it or its data is lost.
    fn replace(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        flow.passed = flow.passed.saturating_sub(flow.grants.give_up_first());
        match holes.next(arrivals, now, self.expected.timeout, arrivals.end()) {
            Some(hole) => {
                let number = flow.grants.push(now, 1);
                Some(Reissue::replacement(Request::First(hole)).numbered(Some(number)))
            }
            // The flow has sent everything, and missing packets have been requested.
            None if arrivals.packets().is_some() => None,
            None if self.tail.is_some() => {
                let number = flow.grants.push(now, 1);
                let tail = Request::LastResort(flow.next_of_tail(arrivals));
                Some(Reissue::replacement(tail).numbered(Some(number)))
            }
            None => Some(Reissue::replacement(Request::Nothing)),
        }
    }

    /// A grant for the next lost packet of the first burst, whose sender had nothing left to send
    /// when it replied to a probe.
    fn ask_for_tail(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        let packet = flow.next_of_tail(arrivals);
        if packet >= arrivals.burst_end().min(self.tail.unwrap_or(0)) {
            flow.tail_is_lost = false;
            return None;
        }
        holes.request(packet, now, self.expected.timeout);
        let number = flow.grants.push(now, 1);
        Some(Reissue::replacement(Request::LastResort(packet)).numbered(Some(number)))
    }

    /// Requests one packet, because nothing arrives.
    fn probe(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Reissue {
        flow.doublings = (flow.doublings + 1).min(DOUBLINGS);
        flow.tail_next = 0;
        flow.quiet_since = now;
        flow.alive = false;
        // Its number identifies the reply; no packet is expected of it.
        let number = flow.grants.push(now, 0);
        let request = if arrivals.has_hole() {
            holes.requested_lowest(arrivals, now, self.expected.timeout);
            Request::First(arrivals.lowest_missing())
        } else {
            Request::LastResort(arrivals.end())
        };
        Reissue::probe(request).numbered(Some(number))
    }
}
