//! The egress marker (REN §3.2): once per period the port compares what waits with the time it was
//! idle, both in packets, and turns the difference into marks on the packets that leave next.

#[cfg(test)]
#[path = "switch_tests.rs"]
mod tests;

use super::clock::Clock;
use super::code::Code;
use super::recent::{Left, Recent};
use super::{Feedback, Params, Rule, Sample, Spend, Spread, Window};
use incast_transport::{Marker, PacketPool, PacketRef, Span, Time, View};
use std::sync::Arc;

/// Marks of one kind still to be handed out in this period.
#[derive(Clone, Copy, Debug, Default)]
struct Budget {
    left: u32,
    /// Packets to pass before the next mark.
    pass: u32,
}

impl Budget {
    /// More marks than any period hands out: every packet gets one (`leave_all`).
    const ALL: Budget = Budget { left: u32::MAX, pass: 0 };

    fn new(marks: u64) -> Budget {
        Budget { left: marks.min(Budget::ALL.left as u64 - 1) as u32, pass: 0 }
    }

    /// Whether the next packet gets a mark, of which every `stride`-th packet gets one.
    #[inline]
    fn take(&mut self, stride: impl FnOnce() -> u32) -> bool {
        if self.left == 0 {
            return false;
        }
        if self.pass > 0 {
            self.pass -= 1;
            return false;
        }
        self.left -= 1;
        self.pass = stride() - 1;
        true
    }
}

/// Bytes of state that the paper counts per port: queue, idle time and a timestamp (REN §5.2).
const PAPER_STATE: u64 = 16;

/// Bytes of state per port: the paper's, 4 B for the marks of each kind that are still to be handed
/// out and for those that were, and 16 B for each further period that a base RTT reaches into; or,
/// instead of those that were, 8 B for each full packet of a base RTT (`recent = elapsed`). It does not
/// depend on the number of flows.
pub fn state_bytes(recent: Window, clock: &Clock) -> u64 {
    let handed_out = match recent {
        Window::Periods => 8 + 16 * (clock.periods() - 1),
        Window::Elapsed => 8 * (clock.horizon.0.div_ceil(clock.packet_time.0) + 1),
    };
    PAPER_STATE + 8 + handed_out
}

/// What the markers of all ports of one rate share.
#[derive(Debug)]
pub struct Rules {
    pub(super) nic: bool,
    compensate: bool,
    rule: Rule,
    spread: Spread,
    spend: Spend,
    sample: Sample,
    leave_all: bool,
    recent: Window,
    clock: Clock,
    /// See [`Clock::pause`].
    pause: Span,
    /// Marks are late from this age of a period on.
    late_from: Span,
}

impl Rules {
    /// The rules of switch ports or, with `nic`, of NICs.
    ///
    /// At a NIC nothing waits behind a packet, so it never marks over-utilisation. The gap
    /// before a packet counts in the period that ends with it, and marks of under-utilisation do
    /// not count as on their way: switches raise most of them.
    pub fn new(params: &Params, clock: Clock, nic: bool) -> Rules {
        Rules {
            nic,
            compensate: params.feedback == Feedback::Compensate && !nic,
            rule: params.rule,
            spread: params.spread,
            spend: params.spend,
            sample: params.sample,
            leave_all: params.leave_all,
            recent: params.recent,
            clock,
            pause: clock.pause(),
            late_from: (clock.period * clock.periods()).saturating_sub(clock.horizon),
        }
    }
}

/// A port's state; it does not depend on the number of flows. What a packet touches is in one cache
/// line: the working set of all ports of a fabric is larger than a core's caches.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct PortMarker {
    rules: Arc<Rules>,
    /// `ts`.
    started: Time,
    /// Idle time in this period; `ti` is this in full packets.
    idle: Span,
    over: Budget,
    under: Budget,
    /// Packets that left in this period.
    now: Left,
    /// The shortest queue of this period.
    least: u32,
    /// Data packets that left in this period.
    left: u32,
    /// A mark on every so many packets, of over- and of under-utilisation.
    strides: [u32; 2],
    recent: Recent,
}

const _: () = assert!(std::mem::offset_of!(PortMarker, strides) == 64);

impl PortMarker {
    /// An idle port.
    pub fn new(rules: Arc<Rules>) -> PortMarker {
        PortMarker {
            started: Time::ZERO,
            idle: Span::ZERO,
            least: u32::MAX,
            over: Budget::default(),
            under: Budget::default(),
            now: Left::default(),
            left: 0,
            strides: [1; 2],
            recent: Recent::new(rules.recent, &rules.clock),
            rules,
        }
    }

    /// Ends the period if it is over: the excess of waiting packets over idle time becomes marks
    /// of over-utilisation, the opposite marks of under-utilisation (REN §3.2.3).
    #[inline]
    fn roll(&mut self, now: Time, waiting: u32) {
        self.least = self.least.min(waiting);
        let elapsed = now.since(self.started);
        if elapsed >= self.rules.clock.period {
            self.end_period(now, waiting, elapsed);
        }
    }

    #[inline(never)]
    fn end_period(&mut self, now: Time, waiting: u32, elapsed: Span) {
        let rules = &*self.rules;
        let waiting = match rules.sample {
            Sample::Last => waiting,
            Sample::Least => self.least,
        } as u64;
        // An idle period is no evidence of room (deviation 3).
        let idle =
            if elapsed >= rules.pause { Span::ZERO } else { self.idle.min(rules.clock.period) };
        let room = idle.0 / rules.clock.packet_time.0;
        let (mut over, mut under) = (waiting.saturating_sub(room), room.saturating_sub(waiting));
        if rules.compensate {
            let recent = self.recent.roll(std::mem::take(&mut self.now), now);
            over = over.saturating_sub(recent[0]);
            under = under.saturating_sub(recent[1]);
        }
        let all = rules.leave_all && under > 0;
        self.over = Budget::new(over);
        self.under = if all { Budget::ALL } else { Budget::new(under) };
        if rules.spread == Spread::Even {
            let stride = |marks: Budget| (self.left / marks.left.max(1)).max(1);
            self.strides = [stride(self.over), stride(self.under)];
        }
        (self.left, self.least) = (0, u32::MAX);
        self.idle = Span::ZERO;
        self.started = now;
    }

    /// The mark for the next data packet, which arrived with this code.
    #[inline]
    fn code(&mut self, arrived: Code, gap: Span) -> Code {
        let rules = &*self.rules;
        let strides = &self.strides;
        let stride = |kind: usize| if rules.spread == Spread::Head { 1 } else { strides[kind] };
        if self.over.take(|| stride(0)) {
            return Code::Over;
        }
        if self.under.left == Budget::ALL.left {
            return Code::Under;
        }
        let under = match rules.rule {
            // Under only if every hop says so: on a raised packet a mark would be lost.
            Rule::Budget => {
                (arrived == Code::Under || rules.spend == Spend::Any)
                    && self.under.take(|| stride(1))
            }
            Rule::Gap => gap >= rules.clock.packet_time,
        };
        if under { Code::Under } else { Code::Full }
    }

    /// A packet leaves with `code`, which counts as in flight for the next base RTT.
    #[inline]
    fn leaves(&mut self, code: Code, now: Time) {
        match &mut self.recent {
            Recent::Periods(_) => {
                let late = now.since(self.started) >= self.rules.late_from;
                self.now.count(code, late);
            }
            Recent::Elapsed(elapsed) => elapsed.left(code, now),
        }
    }
}

impl Marker for PortMarker {
    fn state_bytes(&self) -> usize {
        size_of_val(self) + self.recent.heap_bytes()
    }

    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let rules = &*self.rules;
        // A longer gap is a pause of the traffic, not room between packets (deviation 3).
        let gap = view.idle.filter(|&gap| gap < rules.pause).unwrap_or(Span::ZERO);
        let compensate = rules.compensate;
        if rules.nic {
            self.idle += gap;
            self.roll(view.now, view.data.packets);
        } else {
            self.roll(view.now, view.data.packets);
            self.idle += gap;
        }
        let content = &packets[packet];
        if !view.own || !content.is_data() {
            return false;
        }
        let arrived = Code::of(content.mark);
        let local = self.code(arrived, gap);
        let merged = arrived.max(local);
        let decisive = merged == local;
        *packets.mark_mut(packet) = merged as u8;
        if decisive {
            packets.stamps_mut(packet).informed = view.now.0;
        }
        self.left += 1;
        if compensate {
            self.leaves(merged, view.now);
        }
        decisive && local != Code::Full
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
