//! The paper's rule: one timer per grant, from the grant to its data (AMRT §6).

use super::{DOUBLINGS, Expectations, Grants};
use incast_endpoint::receiver_driven::{Arrivals, Holes, Recovery, Reissue, Request};
use incast_transport::{Span, Time};

/// Replaces a grant whose data has not arrived within the timeout.
#[derive(Clone, Copy, Debug)]
pub struct Paper(pub Expectations);

/// The receiver's state of a flow.
#[derive(Clone, Debug)]
pub struct Expected {
    grants: Grants,
    /// The last arrival.
    heard: Time,
    /// The last arrival, or the last re-issued grant.
    quiet_since: Time,
    doublings: u32,
    /// Whether data arrived since the last re-issued grant.
    alive: bool,
    /// Least time from a grant to its data.
    least_rtt: Option<Span>,
}

impl Recovery for Paper {
    type Flow = Expected;

    fn opened(&self, now: Time) -> Expected {
        Expected {
            grants: Grants::default(),
            heard: now,
            quiet_since: now,
            doublings: 0,
            alive: true,
            least_rtt: None,
        }
    }

    #[inline]
    fn arrived(&self, flow: &mut Expected, now: Time, number: Option<u32>) {
        flow.heard = now;
        flow.quiet_since = now;
        flow.doublings = 0;
        flow.alive = true;
        let Some((place, entry)) = flow.grants.find(number) else { return };
        let rtt = now.since(entry.since);
        flow.least_rtt = Some(flow.least_rtt.map_or(rtt, |least| least.min(rtt)));
        flow.grants.bring_one(place);
    }

    #[inline]
    fn granted(&self, flow: &mut Expected, now: Time, packets: u8) -> Option<u32> {
        Some(flow.grants.push(now, packets))
    }

    #[inline]
    fn deadline(&self, flow: &Expected) -> Time {
        let timeout = self.0.of_flow(flow.least_rtt);
        match flow.grants.first() {
            // A new least RTT shortens the timeout, possibly into the past: then it expires now.
            Some(entry) => (entry.since + timeout).max(flow.heard),
            None => {
                let silence = (timeout * (1 << flow.doublings)).min(timeout.max(self.0.longest()));
                flow.quiet_since + silence
            }
        }
    }

    fn expired(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        let quiet = flow.grants.first().is_none();
        flow.grants.give_up_first();
        let patience = self.0.of_flow(flow.least_rtt);
        let request = match holes.next(arrivals, now, patience, arrivals.end()) {
            Some(hole) => Request::First(hole),
            // All holes have been requested; request the lowest one again.
            None if quiet => {
                holes.requested_lowest(arrivals, now, self.0.timeout);
                Request::First(arrivals.lowest_missing())
            }
            // A new grant is useless if nothing arrives or the flow has sent everything.
            None if !flow.alive || arrivals.packets().is_some() => return None,
            // No hole: the grant was lost, or the packet after the highest received one.
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
