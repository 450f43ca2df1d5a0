//! Recovery by timeout: when no data arrives for a while, request the lowest missing packet.

use super::{Arrivals, Holes, Recovery, Reissue, Request};
use incast_transport::{Bytes, FabricSite, Span, Time};

/// Waits `first` after the last data, then twice as long each time, `most` at the longest.
#[derive(Clone, Copy, Debug)]
pub struct StallTimeout {
    /// Time without data after which the first grant is re-issued.
    pub first: Span,
    /// Longest interval between re-issued grants; at least `first`.
    pub most: Span,
}

/// Longest interval of the default, in base RTTs.
const MOST: u64 = 16;

impl StallTimeout {
    /// The default: first after two base RTT and the time that a full port takes to drain, so that
    /// no queueing at one port looks like a loss. An unlimited buffer counts as much as doubling
    /// would reach, 16 base RTT in all. `first` replaces the period.
    pub fn of(fabric: &FabricSite, first: Option<Span>) -> StallTimeout {
        let most = fabric.base_rtt * MOST;
        let drain = match fabric.buffer.bytes(fabric.framing.charged_mtu()) {
            Bytes(u64::MAX) => Span::MAX,
            bytes => fabric.host_rate.tx_time(bytes),
        };
        let two = fabric.base_rtt * 2;
        let first = first.unwrap_or_else(|| two + drain.min(most - two));
        StallTimeout { first, most: most.max(first) }
    }
}

/// A flow's part of [`StallTimeout`].
#[derive(Clone, Copy, Debug)]
pub struct StallState {
    since: Time,
    wait: Span,
}

impl Recovery for StallTimeout {
    type Flow = StallState;

    fn opened(&self, now: Time) -> StallState {
        StallState { since: now, wait: self.first }
    }

    #[inline]
    fn arrived(&self, flow: &mut StallState, now: Time, _number: Option<u32>) {
        *flow = StallState { since: now, wait: self.first };
    }

    #[inline]
    fn granted(&self, _flow: &mut StallState, _now: Time, _packets: u8) -> Option<u32> {
        None
    }

    #[inline]
    fn deadline(&self, flow: &StallState) -> Time {
        flow.since.saturating_add(flow.wait)
    }

    fn expired(
        &self,
        flow: &mut StallState,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Reissue> {
        flow.since = now;
        flow.wait = flow.wait.saturating_mul(2).min(self.most);
        holes.requested_lowest(arrivals, now, self.first);
        Some(Reissue::probe(Request::First(arrivals.lowest_missing())))
    }
}
