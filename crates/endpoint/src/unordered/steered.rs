//! Controls of the common sender over packets that may come in any order: the same law, another endpoint.
//!
//! A control counts positions of a flow's bytes: what was acknowledged, what was sent. Here these are
//! counts: bytes that have arrived, wherever they are, and those with what is in flight. While nothing is
//! lost or overtaken both are the same.

use super::host::UnorderedHost;
use super::law::{Cut, Departure, Law, Laws, Lost, News};
use super::paths::Strategy;
use super::plan::HostPlan;
use super::sleek::SleekPlan;
use crate::pacer::Pacer;
use crate::rto::{Rto, RtoBounds};
use crate::sender::{
    Ack, Admission, Control, ControlFactory, Loss, Options, Outbound, Progress, SenderDriven,
};
use incast_transport::{Bytes, Extension, Flow, Host, HostSite, Span, Time, Timers};

incast_transport::choice! {
    /// In which order the receiver takes packets.
    pub enum Delivery {
        /// That of the flow: a gap is a loss, once a few packets have come behind it.
        Ordered = "ordered",
        /// Any: each packet may take its own path.
        Unordered = "unordered",
    }
}

/// What a transport departs from its paper by with [`Delivery::Unordered`].
pub const UNORDERED: &str = "`reliability = \"unordered\"` takes packets in any order: ACKs name \
    packets, what is missing behind 1.5 windows of arrivals is sent again, and positions are counts of \
    bytes.";

impl Delivery {
    /// How packets are spread, if they may come in any order.
    pub fn spray(self, strategy: Strategy, paths: u32) -> Option<Spray> {
        (self == Delivery::Unordered).then_some(Spray { strategy, paths })
    }
}

/// How the packets of a flow are spread.
#[derive(Clone, Copy, Debug)]
pub struct Spray {
    /// How path numbers are chosen.
    pub strategy: Strategy,
    /// Among how many, a power of two.
    pub paths: u32,
}

/// The host of a control: the common sender, or with `spray` one whose packets may come in any order.
/// The latter is for controls that need nothing but ACKs: no timers, requests or messages of their own.
pub fn host_of<F: ControlFactory + 'static>(
    factory: F,
    options: Options,
    spray: Option<Spray>,
    site: &HostSite,
) -> Box<dyn Host> {
    let Some(spray) = spray else { return Box::new(SenderDriven::new(factory, options)) };
    let rule =
        Rule { admission: options.admission, data_mark: options.data_mark, rto: options.rto };
    let laws = Steering { factory, rule, timers: Timers::default() };
    Box::new(UnorderedHost::new(plan(&options, spray, site), laws))
}

/// Payload alone is counted, each packet is acknowledged, and gaps tell of losses: ports drop packets.
fn plan(options: &Options, spray: Spray, site: &HostSite) -> HostPlan {
    let payload = options.max_payload.min(site.fabric.framing.mss());
    let bdp = site.bdp_packets as u64 * payload as u64;
    HostPlan {
        transport: options.transport,
        header: 0,
        data_mark: options.data_mark,
        reply_class: options.ack_class,
        padded: false,
        echoes: true,
        max_payload: payload,
        strategy: spray.strategy,
        paths: spray.paths,
        trims: false,
        ack_every: 1,
        acks_advance: false,
        timeout: options.rto.initial,
        probe_every: Span::MAX,
        credits: None,
        core: None,
        sleek: Some(SleekPlan {
            most: bdp + bdp / 2,
            payload: payload as u64,
            base_rtt: site.fabric.base_rtt,
            target: None,
        }),
    }
}

/// What all flows of a host have in common.
#[derive(Clone, Copy, Debug)]
struct Rule {
    admission: Admission,
    data_mark: u8,
    rto: RtoBounds,
}

/// Makes the laws of a host's flows.
pub struct Steering<F> {
    factory: F,
    rule: Rule,
    timers: Timers,
}

impl<F: ControlFactory> Laws for Steering<F> {
    type Law = Steered<F::Control>;

    fn begin(&mut self, now: Time, flow: &Flow, others: usize) -> Steered<F::Control> {
        let mut control = self.factory.control(now, flow, others);
        if let Some(packets) = flow.burst {
            control.start_with(packets);
        }
        debug_assert_eq!(control.deadline(), Time::NEVER, "a control without timers");
        Steered {
            control,
            rule: self.rule,
            pacer: Pacer::new(),
            rto: Rto::new(self.rule.rto),
            timers: self.timers,
            flow: flow.id.0,
            size: flow.size,
            arrived: 0,
            full_until: 0,
            cut_until: 0,
            expired: Time::NEVER,
        }
    }

    fn set_timers(&mut self, timers: Timers) {
        self.timers = timers;
    }
}

/// A control of the common sender as the law of one flow.
pub struct Steered<C> {
    control: C,
    rule: Rule,
    pacer: Pacer,
    rto: Rto,
    timers: Timers,
    flow: u32,
    size: u64,
    /// Bytes that have arrived, each once.
    arrived: u64,
    /// The window was full when so many had arrived or were in flight.
    full_until: u64,
    /// A loss is that of another window once more have arrived.
    cut_until: u64,
    /// When packets were last taken for lost for want of ACKs.
    expired: Time,
}

impl<C: Control> Steered<C> {
    /// The control.
    pub fn control(&self) -> &C {
        &self.control
    }

    fn progress(&self, now: Time, in_flight: u64, recovering: bool) -> Progress {
        Progress {
            now,
            acknowledged: self.arrived,
            sent: self.arrived + in_flight,
            size: self.size,
            pipe: in_flight,
            smoothed_rtt: self.rto.smoothed(),
            recovering,
        }
    }

    /// A packet is known to be lost: one loss a window.
    fn lose(&mut self, now: Time, in_flight: u64) {
        if self.cut_until > 0 && self.arrived < self.cut_until {
            return;
        }
        self.cut_until = self.arrived + in_flight;
        let progress = self.progress(now, in_flight, true);
        self.control.on_loss(Loss::Fast, &progress);
    }
}

impl<C: Control> Law for Steered<C> {
    const STEERED: bool = true;

    fn on_ack(&mut self, news: &News<'_>) {
        if let Some(rtt) = news.rtt {
            self.rto.sample(rtt);
        }
        if news.bytes > 0 {
            self.rto.progressed();
        }
        let limited = self.arrived < self.full_until;
        self.arrived += news.bytes;
        let ack = Ack {
            bytes: news.bytes,
            sacked: 0,
            echo: news.echo,
            ece: news.marked,
            nack: false,
            mark: 0,
            nibble: 0,
            window: 0,
            rtt: news.rtt,
            limited,
            extension: news.extension,
            informed: news.informed,
            path: news.path,
        };
        let progress = self.progress(news.now, news.in_flight, news.recovering);
        self.control.on_ack(&ack, &progress);
    }

    fn on_nack(&mut self, cut: &Cut) {
        self.lose(cut.now, cut.in_flight);
    }

    fn on_gap(&mut self, lost: &Lost) {
        self.lose(lost.now, lost.in_flight);
    }

    fn on_timeout(&mut self, lost: &Lost) {
        if self.expired == lost.now {
            return; // of the same window
        }
        self.expired = lost.now;
        let progress = self.progress(lost.now, lost.in_flight, false);
        self.control.on_loss(Loss::Timeout, &progress);
        self.rto.expired();
        self.cut_until = self.arrived + lost.in_flight;
    }

    #[inline]
    fn window(&self) -> u64 {
        self.control.window()
    }

    #[inline]
    fn admits(&self, in_flight: u64, bytes: u64) -> bool {
        match self.rule.admission {
            Admission::Below => in_flight < self.control.window(),
            Admission::Fits => in_flight + bytes <= self.control.window(),
        }
    }

    #[inline]
    fn on_full(&mut self, in_flight: u64) {
        self.full_until = self.arrived + in_flight;
    }

    fn on_send(&mut self, packet: &Departure) -> Option<Extension> {
        let Departure { now, offset, payload, again: retransmit, in_flight } = *packet;
        let mut outbound = Outbound {
            offset,
            payload,
            retransmit,
            mark: self.rule.data_mark,
            nibble: 0,
            window: 0,
            extension: Extension::None,
            more: false,
        };
        let progress = self.progress(now, in_flight, false);
        self.control.on_send(&mut outbound, &progress);
        Some(outbound.extension)
    }

    #[inline]
    fn paced(&mut self, now: Time, charged: u32) {
        if self.control.pacing().is_some() {
            self.pacer.sent(now, Bytes(charged as u64));
        }
    }

    #[inline]
    fn opens(&mut self) -> Time {
        let Some(rate) = self.control.pacing() else { return Time::ZERO };
        self.pacer.retime(rate);
        self.pacer.next()
    }

    #[inline]
    fn due(&self, at: Time, _timeout: Span) -> Time {
        let which = (self.flow as u64) << 8 | u64::from(self.rto.doublings());
        self.timers.due(at, self.rto.timeout(), which)
    }

    /// All that is in flight, as with the common sender.
    fn lost_with(&self, _at: Time) -> Time {
        Time::NEVER
    }

    fn decided(&self) -> bool {
        self.control.decided()
    }
}
