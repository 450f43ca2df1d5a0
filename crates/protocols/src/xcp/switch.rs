//! The port (XCP §3.4): an efficiency controller, which computes once per control interval how much
//! the aggregate may grow, and a fairness controller, which divides that among packets so that
//! flows approach equal rates. No state a flow.

use super::params::{Params, Timers};
use super::{FEEDBACK_UNIT, RTT_UNIT, SPACING_UNIT};
use incast_egress::interval::{IntervalMarker, Measure};
use incast_transport::{Explicit, Extension, PacketPool, PacketRef, PortSite, Span, Time, View};

/// ns-2.35, xcpq.cc.
const NS2_INTERVAL: Span = Span::from_ms(1);
const NS2_QUEUE_INTERVAL: Span = Span::from_ms(2);
const NS2_INITIAL: Span = Span::from_ms(50);

/// What the ports of one fabric have in common, and one port's rate.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Bytes a second.
    capacity: f64,
    /// Least control interval (Te_min), and of the queue's estimate (Tq_min).
    interval_min: Span,
    queue_interval_min: Span,
    initial: Span,
    rtt_cap: Span,
    /// A port without traffic forgets its RTT.
    forgetful: bool,
}

impl Gains {
    /// Of a port.
    pub fn new(params: &Params, site: &PortSite) -> Gains {
        let two_packets = site.fabric.mtu_time(site.rate) * 2;
        let (interval, queue, initial) = match params.timers {
            Timers::Scaled => (two_packets, two_packets, site.fabric.base_rtt),
            Timers::Ns2 => (NS2_INTERVAL, NS2_QUEUE_INTERVAL, NS2_INITIAL),
        };
        let interval_min = params.interval_min.unwrap_or(interval);
        Gains {
            alpha: params.alpha,
            beta: params.beta,
            gamma: params.gamma,
            capacity: site.rate.0 as f64 / 8.0,
            interval_min,
            queue_interval_min: params.queue_interval_min.unwrap_or(queue),
            initial: params.interval_initial.unwrap_or(initial).max(interval_min),
            rtt_cap: params.rtt_cap,
            forgetful: params.timers == Timers::Ns2,
        }
    }
}

/// The state of one port. Rates are in charged bytes a second, times in seconds where they are
/// weighted, sums as the packets brought them.
#[derive(Clone, Debug)]
pub struct Controller {
    gains: Gains,
    /// Average RTT (d).
    rtt: f64,
    /// The control interval (Te) and when it ends.
    interval: Span,
    ends: Time,
    /// When the queue's estimate is renewed.
    queue_ends: Time,
    /// Bytes that arrived in this interval.
    input: u64,
    /// Sums over its packets of their spacing, and of RTT x spacing.
    spacing: f64,
    weighted: f64,
    /// What may still be given and must still be taken (the residues P and N).
    give: f64,
    take: f64,
    /// The same for each second of spacing and for each byte (Cp and Cn).
    give_rate: f64,
    take_rate: f64,
    /// Persistent queue, and the least that was left behind since its last renewal.
    persistent: u64,
    least: u64,
    /// When the last interval ended.
    measured: Time,
    /// Further idle intervals would not change the state.
    settled: bool,
}

impl Controller {
    /// An idle port; its first interval ends at `first`.
    pub fn new(gains: Gains, first: Time) -> Controller {
        Controller {
            gains,
            rtt: gains.initial.as_secs_f64(),
            interval: gains.initial,
            ends: first,
            queue_ends: first,
            input: 0,
            spacing: 0.0,
            weighted: 0.0,
            give: 0.0,
            take: 0.0,
            give_rate: 0.0,
            take_rate: 0.0,
            persistent: 0,
            least: 0,
            measured: Time::ZERO,
            settled: false,
        }
    }

    /// Intervals without any packet are all alike.
    #[cold]
    fn skip(&mut self, now: Time) {
        let queue_interval = self.queue_interval(self.persistent);
        for (ends, interval) in
            [(&mut self.ends, self.interval), (&mut self.queue_ends, queue_interval)]
        {
            if *ends <= now {
                let count = now.since(*ends).0 / interval.0 + 1;
                *ends += interval * count;
            }
        }
        self.measured = self.measured.max(self.ends - self.interval);
    }

    /// Tq = max(Tq_min, (d - q/C) / 2).
    fn queue_interval(&self, backlog: u64) -> Span {
        let half = (self.rtt - backlog as f64 / self.gains.capacity) / 2.0;
        span(half).max(self.gains.queue_interval_min)
    }

    fn renew_queue(&mut self, backlog: u64) {
        self.persistent = self.least;
        self.least = backlog;
        self.queue_ends += self.queue_interval(backlog);
    }

    /// XCP §3.5: the feedback of the aggregate, and the shuffled traffic.
    fn end_interval(&mut self, backlog: u64) {
        let Gains { alpha, beta, gamma, capacity, initial, interval_min, forgetful, .. } =
            self.gains;
        if self.spacing > 0.0 {
            self.rtt = self.weighted / self.spacing;
        } else if forgetful {
            self.rtt = initial.as_secs_f64();
        }
        let rate = self.input as f64 / self.interval.as_secs_f64();
        let spare = alpha * (capacity - rate) - beta * self.persistent as f64 / self.rtt;
        let shuffled = (gamma * rate - spare.abs()).max(0.0);
        self.give = spare.max(0.0) + shuffled;
        self.take = (-spare).max(0.0) + shuffled;
        self.give_rate = if self.spacing > 0.0 { self.give / self.spacing } else { 0.0 };
        self.take_rate = if self.input > 0 { self.take / self.input as f64 } else { 0.0 };
        let quiet = self.input == 0 && self.least == backlog && self.persistent == backlog;
        let interval = span(self.rtt).max(interval_min);
        self.settled = quiet && interval == self.interval;
        (self.input, self.spacing, self.weighted) = (0, 0.0, 0.0);
        self.measured = self.ends;
        self.interval = interval;
        self.ends += interval;
    }

    /// A packet of `bytes` arrived, of any transport.
    #[inline]
    pub fn arrives(&mut self, bytes: u32) {
        self.input += bytes as u64;
    }

    /// It was data whose sender has an RTT of `rtt` and sends every `spacing` seconds.
    #[inline]
    pub fn measures(&mut self, rtt: Span, spacing: f64) {
        self.spacing += spacing;
        self.weighted += rtt.min(self.gains.rtt_cap).as_secs_f64() * spacing;
    }

    /// A packet of `bytes` leaves, to which hops before have granted `granted` bytes a second:
    /// what it is granted from here on, if that is less.
    #[inline]
    pub fn grants(&mut self, bytes: u32, spacing: f64, granted: f64) -> Option<f64> {
        let mut give = self.give.min(self.give_rate * spacing);
        let mut take = self.take.min(self.take_rate * bytes as f64);
        let feedback = give - take;
        let decides = granted >= feedback;
        if !decides {
            // A hop before gave less: charge only what is used (xcpq.cc).
            take = self.take.min(take + (feedback - granted));
            give = (granted + take).max(0.0);
        }
        self.give = (self.give - give).max(0.0);
        self.take = (self.take - take).max(0.0);
        self.give_rate = if self.give > 0.0 { self.give_rate } else { 0.0 };
        self.take_rate = if self.take > 0.0 { self.take_rate } else { 0.0 };
        decides.then_some(feedback)
    }

    /// A packet left `backlog` bytes behind.
    #[inline]
    pub fn departs(&mut self, backlog: u64) {
        self.least = self.least.min(backlog);
    }

    /// The residues P and N, bytes a second.
    pub fn residues(&self) -> (f64, f64) {
        (self.give, self.take)
    }

    /// The average RTT in seconds, the control interval and the persistent queue.
    pub fn state(&self) -> (f64, Span, u64) {
        (self.rtt, self.interval, self.persistent)
    }

    /// When the last interval ended: its state dates from there.
    pub fn measured(&self) -> Time {
        self.measured
    }
}

/// Seconds as a span, rounded to a picosecond; zero if negative.
fn span(seconds: f64) -> Span {
    Span::from_secs_f64(seconds.max(0.0)).unwrap_or(Span::MAX)
}

/// The per-port marker.
pub type XcpMarker = IntervalMarker<Controller>;

/// An idle port; its first interval ends at a random phase.
pub fn marker(params: &Params, site: &PortSite) -> XcpMarker {
    IntervalMarker::new(Controller::new(Gains::new(params, site), Time::NEVER))
}

/// RTT and spacing in seconds of data that carries them.
#[inline]
fn congestion_header(packets: &PacketPool, packet: PacketRef) -> Option<(Span, f64)> {
    if !packets[packet].is_data() {
        return None;
    }
    match packets.extension(packet) {
        Extension::Explicit { fields: Explicit::Window { rtt, spacing, .. }, .. } if *rtt > 0 => {
            let spacing = *spacing as f64 * SPACING_UNIT.as_secs_f64();
            Some((RTT_UNIT * *rtt as u64, spacing))
        }
        _ => None,
    }
}

impl Measure for Controller {
    fn interval(&self) -> Span {
        self.interval
    }

    fn restart(&mut self, first: Time) {
        (self.ends, self.queue_ends) = (first, first);
    }

    #[inline]
    fn advance(&mut self, now: Time, backlog: u64) {
        while self.ends.min(self.queue_ends) <= now {
            if self.settled && self.input == 0 && self.persistent == backlog {
                return self.skip(now);
            }
            if self.queue_ends <= self.ends {
                self.renew_queue(backlog);
            } else {
                self.end_interval(backlog);
            }
        }
    }

    #[inline]
    fn offered(&mut self, packets: &PacketPool, packet: PacketRef, charged: u32, view: &View) {
        self.arrives(charged);
        if view.own
            && let Some((rtt, spacing)) = congestion_header(packets, packet)
        {
            self.measures(rtt, spacing);
        }
    }

    #[inline]
    fn leaves(
        &mut self,
        packets: &mut PacketPool,
        packet: PacketRef,
        charged: u32,
        view: &View,
    ) -> bool {
        self.departs(view.all.bytes);
        if !view.own {
            return false;
        }
        let Some((_, seconds)) = congestion_header(packets, packet) else { return false };
        let Some(Extension::Explicit { fields: Explicit::Window { feedback, .. }, .. }) =
            packets.extension_mut(packet)
        else {
            return false;
        };
        let granted = *feedback as f64 * FEEDBACK_UNIT;
        let Some(less) = self.grants(charged, seconds, granted) else { return false };
        // Towards zero: no more is given or taken than the residues hold.
        *feedback = (less / FEEDBACK_UNIT) as i32;
        packets.stamps_mut(packet).informed = self.measured.0;
        less < 0.0
    }
}
