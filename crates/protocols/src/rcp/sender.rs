//! Congestion control: the flow requests a rate before it sends data and then uses the rate
//! of the last ACK.

use super::params::Params;
use super::{RATE_UNIT, RTT_UNIT, UNLIMITED, header, reverse_of};
use incast_endpoint::sender::{Ack, Control, Loss, Message, Outbound, Progress, Request};
use incast_transport::{Extension, FabricSite, Rate, Span, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest RTT that fits the header, in its units.
const U24_MAX: u64 = (1 << 24) - 1;
/// Maximum number of doublings of the timeout for the first ACK.
const DOUBLINGS: u32 = 6;
/// Data is limited by its rate only.
const OPEN: u64 = 1 << 62;
/// Class of rate requests: the queue of data.
const CLASS: u8 = 1;

/// Effective settings at a host.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The host's link in bits per second.
    pub line: u64,
    /// Bits of a full packet on a link.
    pub packet_bits: u64,
    /// Initial timeout of the first request.
    pub retry: Span,
    /// RTTs without an ACK.
    pub patience: u64,
    /// Least rate in packets per RTT.
    pub rate_min: f64,
    /// Used as the RTT until the first sample.
    pub base_rtt: Span,
    /// The last rate the host received, if new flows start with it; 0: none yet.
    pub known: Option<Arc<AtomicU64>>,
}

impl Rule {
    /// The parameters at a host with a link of `line`.
    pub fn new(params: &Params, line: Rate, fabric: &FabricSite) -> Rule {
        Rule {
            line: line.0,
            packet_bits: fabric.framing.charged_mtu() as u64 * 8,
            retry: params.rto_initial.unwrap_or(params.rto_min),
            patience: params.patience as u64,
            rate_min: params.rate_min,
            base_rtt: fabric.base_rtt,
            known: params.first_rtt_rate.then(Arc::default),
        }
    }
}

/// RCP's rate of one flow, in bits per second of charged bytes.
#[derive(Clone, Debug)]
pub struct Rcp {
    rule: Rule,
    /// 0 until the first ACK.
    rate: u64,
    rtt: Option<Span>,
    /// A request is due.
    request_due: bool,
    /// When the first one was sent, and how many were.
    first_request: Option<Time>,
    requests: u32,
    /// When the next request is due while there is no rate, or less than a packet per RTT.
    next: Time,
    /// When the last ACK arrived.
    heard: Time,
    decided: bool,
}

impl Rcp {
    /// The state of a flow that opens at `now`.
    pub fn new(rule: Rule, now: Time) -> Rcp {
        let known = rule.known.as_ref().map_or(0, |known| known.load(Ordering::Relaxed));
        let request_due = known == 0;
        Rcp {
            rate: known,
            rtt: None,
            request_due,
            first_request: None,
            requests: 0,
            next: now + rule.retry,
            heard: now,
            decided: false,
            rule,
        }
    }

    /// The rate in bits per second; 0 before the first ACK.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    fn round_trip(&self) -> Span {
        self.rtt.unwrap_or(self.rule.base_rtt).max(Span(1))
    }

    /// Less than a packet per RTT: data alone would return feedback too rarely.
    fn slow(&self) -> bool {
        let bits = self.rate as u128 * self.round_trip().0 as u128;
        bits < self.rule.packet_bits as u128 * 1_000_000_000_000
    }

    fn learn(&mut self, extension: &Extension, now: Time) {
        let Some(units) = reverse_of(extension) else { return };
        let bits = match units {
            UNLIMITED => self.rule.line,
            units => (units as u64 * RATE_UNIT * 8).clamp(1, self.rule.line),
        };
        if let Some(known) = &self.rule.known {
            known.store(bits, Ordering::Relaxed);
        }
        let first = self.rate == 0;
        self.rate = bits;
        self.heard = now;
        self.decided = true;
        if first || self.next <= now {
            self.next = now + self.round_trip();
        }
    }

    fn extension(&self) -> Extension {
        let rtt = self.rtt.map_or(0, |rtt| (rtt.0 / RTT_UNIT.0).clamp(1, U24_MAX) as u32);
        Extension::explicit(header(rtt, UNLIMITED, 0))
    }
}

impl Control for Rcp {
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        self.rtt = progress.smoothed_rtt.or(self.rtt);
        packet.extension = self.extension();
    }

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.rtt = progress.smoothed_rtt.or(self.rtt);
        self.decided = false;
        self.learn(ack.extension, progress.now);
    }

    fn on_message(&mut self, message: &Message<'_>, progress: &Progress) {
        self.decided = false;
        if let (Some(sent), None, 1) = (self.first_request, self.rtt, self.requests) {
            self.rtt = Some(progress.now.since(sent));
        }
        self.learn(message.extension, progress.now);
    }

    /// A loss is repaired and does not change the rate.
    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}

    fn deadline(&self) -> Time {
        if self.rate == 0 {
            return self.next;
        }
        let timeout = self.heard + self.round_trip() * self.rule.patience;
        if self.slow() { self.next.min(timeout) } else { timeout }
    }

    fn on_deadline(&mut self, progress: &Progress) {
        let now = progress.now;
        if self.rate == 0 {
            // The request or its ACK was lost.
            self.request_due = true;
            self.next = now + self.rule.retry * (1 << self.requests.min(DOUBLINGS));
            return;
        }
        if now >= self.heard + self.round_trip() * self.rule.patience {
            let seconds = self.round_trip().as_secs_f64();
            let least = self.rule.packet_bits as f64 * self.rule.rate_min / seconds;
            self.rate = (self.rate / 2).max((least as u64).max(1));
            self.heard = now;
        }
        if self.next <= now {
            self.request_due = self.slow();
            self.next = now + self.round_trip();
        }
    }

    fn request(&mut self, progress: &Progress) -> Option<Request> {
        if !std::mem::take(&mut self.request_due) {
            return None;
        }
        self.requests += 1;
        self.first_request = self.first_request.or(Some(progress.now));
        let extension = self.extension();
        Some(Request { nibble: 0, window: 0, class: CLASS, extension })
    }

    fn close(&mut self, _progress: &Progress) -> Option<Request> {
        let extension = self.extension();
        Some(Request { nibble: 0, window: 0, class: CLASS, extension })
    }

    fn decided(&self) -> bool {
        self.decided
    }

    fn window(&self) -> u64 {
        if self.rate == 0 { 0 } else { OPEN }
    }

    fn pacing(&self) -> Option<Rate> {
        (self.rate > 0).then_some(Rate(self.rate))
    }
}
