//! What credit-clocked transports share (ExpressPass, SIGCOMM 2017): a source that requests
//! credits and sends one data packet per credit, a destination that paces credits for each flow
//! at the rate of a [`CreditControl`], and recovery by going back to the first packet missing.
//!
//! The packets are those of [`views`]. With a [`Burst`] a flow also sends
//! [`Unscheduled`](views::Unscheduled) data before its first credit, and the packets of
//! [`first_round::views`](crate::first_round::views) go with it.
//!
//! Ports limit the credits, not the data: [`shaped`] is the class in which they wait.

mod count;
mod outbox;
mod receivers;
mod senders;
#[cfg(test)]
mod tests;
pub mod views;

pub use count::CreditCount;
pub use receivers::Receivers;
pub use senders::Senders;

use crate::first_round::RoundTerms;
use incast_transport::fault::{Fault, expected};
use incast_transport::{
    Bytes, ClassPolicy, Classes, Env, FabricSite, Flow, FlowId, Framing, Header, Host, Limit,
    Observed, PADDING_PAIRS, PacketRef, Rate, Shaper, Span, Time, TransportId,
};
pub use outbox::CREDIT;
use outbox::Outbox;

/// Service class of all else, control packets included: only credits may be in theirs.
pub const DATA: u8 = 1;

/// What both ends of a flow go by.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Whose packets these are.
    pub transport: TransportId,
    /// The ECN bits that data leaves with.
    pub mark: u8,
    /// Charged bytes of the shortest credit.
    pub credit: u32,
    /// Largest share by which the time to the next credit deviates, either way; below 1.
    pub jitter: f64,
    /// Largest number of pairs of bytes by which a credit is longer than the shortest packet.
    pub longer: u8,
    /// Whether a source stops credits as soon as those of the last RTT suffice for the rest.
    pub early_stop: bool,
    /// Time after which a request without a credit is repeated, at most a second.
    pub request_again: Span,
    /// Time after which a packet that is still missing is requested again.
    pub missing_again: Span,
    /// The fabric's RTT. An eighth of it is the least that a request is taken to need whose reply may be to
    /// an earlier one.
    pub base_rtt: Span,
    /// What a flow sends before its first credit, if anything. Then destinations keep what arrives
    /// out of order, and sources send again only what is missing.
    pub burst: Option<Burst>,
}

/// A first round without credits (Aeolus).
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Packets, at most.
    pub packets: u32,
    /// How losses among them are found.
    pub round: RoundTerms,
}

/// When a data packet arrived, and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// When.
    pub now: Time,
    /// From the sending of its credit until now, to the nanosecond.
    pub rtt: Span,
    /// Whether it was marked: both ECN bits are set.
    pub marked: bool,
    /// Payload bytes.
    pub payload: u16,
}

impl Terms {
    /// Mean charged bytes of a credit, by which rates become intervals.
    pub fn mean_credit(&self) -> u32 {
        mean_credit(self.credit, self.longer)
    }
}

/// A source's request for credits.
#[derive(Clone, Copy, Debug)]
pub struct CreditRequest {
    /// When the request arrived.
    pub now: Time,
    /// Packets that the flow has left.
    pub packets: u32,
    /// How long the request took, to the nanosecond; needs clocks that agree.
    pub one_way: Span,
}

/// How many credits a second a destination sends for one flow.
pub trait CreditControl: Send {
    /// What it knows of a flow.
    type Flow: Send;

    /// The source requests credits, for the first time or again.
    fn begin(&self, request: &CreditRequest) -> Self::Flow;

    /// Charged bytes of credits per second, above 0.
    fn rate(&self, flow: &Self::Flow) -> f64;

    /// Data arrived, which `count` includes. Returns whether the rate was decided anew; `count`
    /// then begins again.
    fn on_data(&self, flow: &mut Self::Flow, arrived: &Arrived, count: &CreditCount) -> bool;

    /// A credit is about to be sent. Returns whether the rate was decided anew; `count` then
    /// begins again.
    fn on_credit(&self, _flow: &mut Self::Flow, _now: Time, _count: &CreditCount) -> bool {
        false
    }

    /// When to call [`wake`](CreditControl::wake) next.
    fn deadline(&self, _flow: &Self::Flow) -> Time {
        Time::NEVER
    }

    /// The deadline has come.
    fn wake(&self, _flow: &mut Self::Flow, _now: Time) {}
}

/// The share of a link that credits may use, such that the data they let go just fills the rest in
/// the other direction: 84 / (84 + 1538) with Ethernet. Where credits are up to `longer` pairs of bytes
/// longer than the shortest packet, their mean length counts (`avgCreditSize` of ExpressPass's scripts).
pub fn credit_share(framing: &Framing, longer: u8) -> f64 {
    let (credit, data) = (mean_credit(framing.charged_header(), longer), framing.charged_mtu());
    credit as f64 / (credit + data) as f64
}

/// Mean charged bytes of credits that are 0 to `longer` pairs of bytes longer than `credit`.
fn mean_credit(credit: u32, longer: u8) -> u32 {
    credit + longer as u32
}

/// Whether a credit share and lengths of credits fit the fabric: the data that the credits let go
/// must fit a link, and the header must have room for the padding of the longest credit, which is
/// `longer` pairs of bytes longer than the shortest packet.
///
/// # Errors
/// They do not fit.
pub fn check(fabric: &FabricSite, share: Option<f64>, longer: u8) -> Result<(), Fault> {
    let framing = &fabric.framing;
    let (shortest, data) = (framing.charged_header(), framing.charged_mtu());
    let credit = mean_credit(shortest, longer);
    let most = credit as f64 / data as f64;
    if let Some(share) = share
        && share * data as f64 > credit as f64
    {
        let problem = expected(format!(
            "at most {most:.4}: the data of the credits must fit the link, and a \
             credit of {credit} B lets {data} B go"
        ));
        return Err(Fault::value("credit_share", share, problem));
    }
    let fill = framing.control_fill() / 2;
    let room = PADDING_PAIRS as u32 + 1;
    if longer > 0 && fill + longer as u32 > room {
        let problem = expected(format!(
            "false: a control packet of {} B is padded to {shortest} B on links already, \
             and packets have room for {} B of padding",
            framing.control,
            2 * room
        ));
        return Err(Fault::value("size_jitter", true, problem));
    }
    Ok(())
}

/// The class of credits at a port: at most `queue` of them wait, and a token bucket of `depth`
/// credits lets them use `share` of the link (rounded down to a bit per second).
pub fn shaped(framing: &Framing, link: Rate, share: f64, queue: u32, depth: u32) -> ClassPolicy {
    let credit = framing.charged_header() as u64;
    let rate = Rate(((link.0 as f64 * share) as u64).max(1));
    ClassPolicy {
        shaper: Some(Shaper { rate, depth: Bytes(credit * depth as u64) }),
        ..ClassPolicy::fifo(Limit::Bytes(credit * queue as u64))
    }
}

/// A limit on the class of data that keeps out of the part of a link that `share` gives to credits,
/// also when there are few of them (CCRP §3.4: 95 % are for data "even if the credit channel is not
/// fully utilized"). Whoever else waits in that class is held by it.
pub fn reserved(framing: &Framing, link: Rate, share: f64) -> Shaper {
    let rate = Rate(((link.0 as f64 * (1.0 - share)) as u64).max(1));
    Shaper { rate, depth: Bytes(2 * framing.charged_mtu() as u64) }
}

/// The stamp of an instant: nanoseconds, modulo 2^32.
fn stamp(now: Time) -> u32 {
    (now.0 / 1_000) as u32
}

/// The time since a stamp, which is less than four seconds old.
fn since(stamp_then: u32, now: Time) -> Span {
    Span::from_ns(stamp(now).wrapping_sub(stamp_then) as u64)
}

/// The transport of one host: all its sources and destinations.
pub struct CreditHost<L: CreditControl> {
    senders: Senders,
    receivers: Receivers<L>,
    outbox: Outbox,
}

impl<L: CreditControl> CreditHost<L> {
    /// A host without flows.
    pub fn new(terms: Terms, control: L) -> CreditHost<L> {
        CreditHost {
            senders: Senders::new(terms),
            receivers: Receivers::new(terms, control),
            outbox: Outbox::default(),
        }
    }
}

impl<L: CreditControl> Host for CreditHost<L> {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        self.senders.open(env, &mut self.outbox, flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let outbox = &mut self.outbox;
        let flow = env.packets[packet].flow;
        match env.packets[packet].header {
            Header::Credited { .. } => self.receivers.data(env, outbox, packet),
            Header::Credit { .. } => self.senders.credit(env, outbox, packet),
            // Its own source requests nothing from itself: somebody else made that up.
            Header::Request { .. } if self.senders.has(flow) => {}
            Header::Request { .. } => self.receivers.requested(env, outbox, packet),
            Header::Nack { .. } => self.senders.missing(env, outbox, packet),
            Header::Data { .. } => self.receivers.unscheduled(env, outbox, packet),
            Header::Probe { .. } => self.receivers.probed(env, outbox, packet),
            Header::Ack { .. } => self.senders.acked(env, packet),
            Header::Finish { .. } => self.senders.finish(env, packet),
            _ => {}
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(CREDIT)
            && let Some(credit) = self.outbox.credit(env)
        {
            return Some(credit);
        }
        if !open.has(DATA) {
            return None;
        }
        let Some(packet) = self.outbox.packet(env) else {
            return self.senders.burst(env, &mut self.outbox);
        };
        if env.packets[packet].is_data() {
            let flow = env.packets[packet].flow;
            self.senders.left(env, flow);
        }
        Some(packet)
    }

    fn deadline(&self) -> Time {
        self.senders.deadline().min(self.receivers.deadline())
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        self.receivers.wake(env, &mut self.outbox);
        self.senders.wake(env, &mut self.outbox);
    }

    fn abandon(&mut self, _env: &mut Env<'_>, flow: FlowId) {
        self.senders.abandon(flow);
        self.receivers.abandon(flow);
    }

    fn observe(&self, flow: FlowId, _now: Time) -> Observed {
        let sending = self.senders.observe(flow);
        let rate = self.receivers.credit_rate(flow).map(|rate| Rate(rate as u64));
        Observed { rate, ..sending }
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.len()
    }
}
