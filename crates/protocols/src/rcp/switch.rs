//! The port: one rate for all flows, raised by spare bandwidth and lowered by the queue.

use super::params::Params;
use super::{RATE_UNIT, RTT_UNIT, UNLIMITED};
use incast_egress::interval::{IntervalMarker, Measure};
use incast_endpoint::sender::views::{Ack, OpenAck};
use incast_transport::{Explicit, Extension, PacketPool, PacketRef, PortSite, Span, Time, View};

/// What the ports of one fabric have in common, and one port's rate.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    alpha: f64,
    beta: f64,
    /// Bytes a second: gamma C, and C.
    target: f64,
    capacity: f64,
    initial: f64,
    /// Least rate, in bytes per RTT.
    least: f64,
    slot: Span,
    rtt: Span,
    /// No interval is shorter: the time of a packet.
    shortest: Span,
    /// Longer round trips are not believed.
    longest: Span,
}

/// The longest round trip that a packet can have (MAX_ALLOWABLE_RTT of Dukkipati's pseudo-code): each
/// buffer there and back is full, on the slowest links. What a packet says is nobody's measurement
/// but its sender's.
fn longest_rtt(site: &PortSite) -> Span {
    let fabric = &site.fabric;
    let slowest = fabric.rates.first().copied().unwrap_or(site.rate);
    let full = fabric.buffer.bytes(fabric.framing.charged_mtu()).0 as f64 * 8.0 / slowest.0 as f64;
    let queues = span(full * 2.0 * fabric.hops as f64);
    Span(queues.0.saturating_add(fabric.base_rtt.0))
}

impl Gains {
    /// Of a port.
    pub fn new(params: &Params, site: &PortSite) -> Gains {
        let capacity = site.rate.0 as f64 / 8.0;
        Gains {
            alpha: params.alpha,
            beta: params.beta,
            target: params.target * capacity,
            capacity,
            initial: params.initial_rate * capacity,
            least: params.rate_min * site.fabric.framing.charged_mtu() as f64,
            slot: params.slot.unwrap_or(Span::MAX),
            rtt: params.rtt_initial.unwrap_or(site.fabric.base_rtt),
            shortest: site.fabric.mtu_time(site.rate),
            longest: longest_rtt(site),
        }
    }
}

/// The state of one port: rates in charged bytes a second, the RTT in seconds.
#[derive(Clone, Debug)]
pub struct Controller {
    gains: Gains,
    /// R and d0.
    rate: f64,
    rtt: f64,
    interval: Span,
    ends: Time,
    /// Bytes that arrived in this interval; of those that carry an RTT, the bytes and the sum
    /// of RTT x bytes.
    input: u64,
    rtt_bytes: u64,
    rtt_sum: f64,
    measured: Time,
    /// Further idle intervals would not change the state.
    settled: bool,
}

/// Seconds as a span, rounded to a picosecond.
fn span(seconds: f64) -> Span {
    Span::from_secs_f64(seconds).unwrap_or(Span::MAX)
}

impl Controller {
    /// An idle port; its first interval ends at `first`.
    pub fn new(gains: Gains, first: Time) -> Controller {
        Controller {
            gains,
            rate: gains.initial,
            rtt: gains.rtt.max(gains.shortest).as_secs_f64(),
            interval: gains.rtt.min(gains.slot).max(gains.shortest),
            ends: first,
            input: 0,
            rtt_bytes: 0,
            rtt_sum: 0.0,
            measured: Time::ZERO,
            settled: false,
        }
    }

    fn end_interval(&mut self, backlog: u64) {
        let Gains { alpha, beta, target, capacity, least, slot, shortest, .. } = self.gains;
        let seconds = self.interval.as_secs_f64();
        if self.rtt_bytes > 0 {
            // It follows quickly up, slowly down: a short sample may be of a few packets only.
            let sample = self.rtt_sum / self.rtt_bytes as f64;
            let up = seconds / self.rtt;
            let gain = match sample >= self.rtt {
                true => up,
                false => self.rate / capacity * (sample / self.rtt) * up,
            };
            self.rtt += gain * (sample - self.rtt);
        }
        let arrived = self.input as f64 / seconds;
        let spare = alpha * (target - arrived) - beta * backlog as f64 / self.rtt;
        let before = self.rate;
        self.rate *= 1.0 + seconds / self.rtt * spare / target;
        self.rate = self.rate.min(target).max((least / self.rtt).min(target));
        let quiet = self.input == 0 && backlog == 0;
        let interval = span(self.rtt).min(slot).max(shortest);
        self.settled = quiet && self.rate == before && interval == self.interval;
        (self.input, self.rtt_bytes, self.rtt_sum) = (0, 0, 0.0);
        self.measured = self.ends;
        self.interval = interval;
        self.ends += interval;
    }

    /// A packet of `bytes` arrived, of any transport.
    #[inline]
    pub fn arrives(&mut self, bytes: u32) {
        self.input += bytes as u64;
    }

    /// It was one whose sender says that it has an RTT of `rtt`.
    #[inline]
    pub fn measures(&mut self, bytes: u32, rtt: Span) {
        if rtt > self.gains.longest {
            return;
        }
        self.rtt_bytes += bytes as u64;
        self.rtt_sum += rtt.as_secs_f64() * bytes as f64;
    }

    /// R in bytes a second, d0 in seconds, and the control interval.
    pub fn state(&self) -> (f64, f64, Span) {
        (self.rate, self.rtt, self.interval)
    }
}

/// The per-port marker.
pub type RcpMarker = IntervalMarker<Controller>;

/// An idle port; without a random phase its first interval ends at `first`.
pub fn marker(params: &Params, site: &PortSite, first: Time) -> RcpMarker {
    IntervalMarker::new(Controller::new(Gains::new(params, site), first))
}

/// The RTT of a packet that requests a rate: data or a rate request.
#[inline]
fn rate_request(packets: &PacketPool, packet: PacketRef) -> Option<u32> {
    let header = &packets[packet].header;
    if Ack::read(header).is_some() || OpenAck::read(header).is_some() {
        return None;
    }
    match packets.extension(packet) {
        Extension::Explicit { fields: Explicit::Rate { rtt, .. }, .. } => Some(*rtt),
        _ => None,
    }
}

impl Measure for Controller {
    fn interval(&self) -> Span {
        self.interval
    }

    fn restart(&mut self, first: Time) {
        self.ends = first;
    }

    #[inline]
    fn advance(&mut self, now: Time, backlog: u64) {
        while self.ends <= now {
            if self.settled && self.input == 0 && backlog == 0 {
                let count = now.since(self.ends).0 / self.interval.0 + 1;
                self.ends += self.interval * count;
                self.measured = self.ends - self.interval;
                return;
            }
            self.end_interval(backlog);
        }
    }

    #[inline]
    fn offered(&mut self, packets: &PacketPool, packet: PacketRef, charged: u32, view: &View) {
        self.arrives(charged);
        if view.own
            && let Some(rtt @ 1..) = rate_request(packets, packet)
        {
            self.measures(charged, RTT_UNIT * rtt as u64);
        }
    }

    #[inline]
    fn leaves(
        &mut self,
        packets: &mut PacketPool,
        packet: PacketRef,
        _charged: u32,
        view: &View,
    ) -> bool {
        if !view.own || rate_request(packets, packet).is_none() {
            return false;
        }
        let units = (self.rate / RATE_UNIT as f64) as u32;
        let own = units.clamp(1, UNLIMITED - 1);
        let Some(Extension::Explicit { fields: Explicit::Rate { forward, .. }, .. }) =
            packets.extension_mut(packet)
        else {
            return false;
        };
        if own >= *forward {
            return false;
        }
        *forward = own;
        packets.stamps_mut(packet).informed = self.measured.0;
        true
    }
}
