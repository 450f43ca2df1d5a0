//! The receiver: one grant for each data packet, and a list of what each grant should bring.

use super::{Code, ID, Params, sender::PACKETS};
use incast_blocks::receiver_driven::{Arrivals, Holes, ReceiverTerms, Recovery, Request};
use incast_transport::{FabricSite, Span, Time};
use std::collections::VecDeque;

/// Grants are numbered modulo 2^24, the width of the field.
const NUMBERS: u32 = 1 << 24;
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

/// When data counts as lost: a `timeout` after the grant that let it go (AMRT §6).
#[derive(Clone, Copy, Debug)]
pub struct Expectations {
    /// From a grant to the data it lets go, at the most.
    pub timeout: Span,
    /// Whether the timeout stays even when every measured round trip is longer.
    pub strict: bool,
}

impl Expectations {
    /// The timeout of a fabric: the base RTT and a full data queue at each hop both ways.
    pub fn of(fabric: &FabricSite, params: &Params) -> Expectations {
        let queues = fabric.mtu_time(fabric.host_rate) * (2 * 8 * fabric.hops as u64);
        let roomy = fabric.base_rtt + queues + Span::from_us(1);
        let default = if params.strict_1rtt { fabric.base_rtt } else { roomy };
        let timeout = params.timeout.unwrap_or(default);
        Expectations { timeout, strict: params.strict_1rtt }
    }

    /// The longest interval between re-issued grants of a silent flow.
    pub fn longest(&self) -> Span {
        self.timeout * (1 << DOUBLINGS)
    }

    fn timeout_of(&self, flow: &Expected) -> Span {
        match flow.least_rtt {
            Some(rtt) if !self.strict => self.timeout.max(rtt),
            _ => self.timeout,
        }
    }
}

/// What one grant should bring.
#[derive(Clone, Copy, Debug)]
struct Entry {
    granted: Time,
    packets: u8,
}

/// A flow's grants that have not brought all they should.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Ordinary grants in order of their consecutive numbers; satisfied ones inside stay with no
    /// packets until they are in front.
    entries: VecDeque<Entry>,
    first_number: u32,
    /// The last arrival, or the last re-issued grant.
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
            self.first_number = (self.first_number + 1) % NUMBERS;
        }
    }
}

impl Recovery for Expectations {
    type Flow = Expected;

    fn opened(&self, now: Time) -> Expected {
        Expected {
            entries: VecDeque::new(),
            first_number: 0,
            quiet_since: now,
            doublings: 0,
            alive: true,
            least_rtt: None,
        }
    }

    #[inline]
    fn arrived(&self, flow: &mut Expected, now: Time, number: Option<u32>) {
        flow.quiet_since = now;
        flow.doublings = 0;
        flow.alive = true;
        let Some(number) = number else { return };
        let index = number.wrapping_sub(flow.first_number) % NUMBERS;
        let Some(entry) = flow.entries.get_mut(index as usize) else { return };
        entry.packets = entry.packets.saturating_sub(1);
        let rtt = now.since(entry.granted);
        flow.least_rtt = Some(flow.least_rtt.map_or(rtt, |least| least.min(rtt)));
        flow.drop_satisfied();
    }

    #[inline]
    fn granted(&self, flow: &mut Expected, now: Time, packets: u8) -> Option<u32> {
        let number = (flow.first_number + flow.entries.len() as u32) % NUMBERS;
        flow.entries.push_back(Entry { granted: now, packets });
        Some(number)
    }

    #[inline]
    fn deadline(&self, flow: &Expected) -> Time {
        let timeout = self.timeout_of(flow);
        match flow.entries.front() {
            Some(entry) => entry.granted + timeout,
            None => flow.quiet_since + timeout * (1 << flow.doublings),
        }
    }

    fn expired(
        &self,
        flow: &mut Expected,
        now: Time,
        arrivals: &Arrivals,
        holes: &mut Holes,
    ) -> Option<Request> {
        let timeout = self.timeout_of(flow);
        let quiet = flow.entries.is_empty();
        if let Some(entry) = flow.entries.front_mut() {
            entry.packets = 0;
            flow.drop_satisfied();
        }
        let request = match holes.next(arrivals, now, timeout, arrivals.end()) {
            Some(hole) => Request::First(hole),
            // All of these were asked for a long time ago.
            None if quiet => {
                holes.asked_lowest(arrivals, now);
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
        Some(request)
    }
}
