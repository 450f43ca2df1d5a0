//! The congestion control (FastTune §III-C, Algorithm 2): HPCC's utilisation measure, over partial
//! paths too, with multiplicative updates of the window only.

use super::headers::SwitchAck;
use crate::hpcc::Terms;
use incast_endpoint::sender::{Ack, Control, Loss, Message, Outbound, Progress};
use incast_transport::telemetry::{HORIZON, written};
use incast_transport::{Extension, INT_HOPS, IntRecord, Rate, Span, Time};
use std::sync::Arc;

/// Origin of an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum From {
    /// A switch: the ACK acknowledges no bytes.
    Switch,
    /// The receiver.
    Host,
}

/// FastTune's window of one flow.
#[derive(Clone, Debug)]
pub struct FastTune {
    terms: Arc<Terms>,
    /// Window W and reference window W^c, in bytes.
    window: f64,
    reference: f64,
    /// Utilisation U.
    utilisation: f64,
    /// The last record of each switch, the sender's neighbour first; unwritten before the first.
    last: [IntRecord; INT_HOPS],
    /// When the last ACK arrived.
    heard: Time,
    /// Whether the next ACK of a switch may still change W^c; it may do so once.
    switch_update: bool,
    /// Bytes sent when an ACK of the receiver last changed W^c.
    updated_at: u64,
    decided: bool,
}

impl FastTune {
    /// The state of a new flow.
    pub fn new(terms: Arc<Terms>) -> FastTune {
        FastTune {
            window: terms.most,
            reference: terms.most,
            utilisation: terms.target,
            terms,
            last: Default::default(),
            heard: Time::ZERO,
            switch_update: true,
            updated_at: 0,
            decided: false,
        }
    }

    /// W, W^c (bytes) and U.
    pub fn state(&self) -> (f64, f64, f64) {
        (self.window, self.reference, self.utilisation)
    }

    /// Lines 2 to 10: the busiest link in the ACK's records. Switches add records on the reverse
    /// path, so that of the sender's neighbour is the last.
    fn measure(&mut self, records: &[IntRecord]) {
        let Terms { reader, base_rtt, .. } = &*self.terms;
        let base_rtt = *base_rtt;
        let (mut busiest, mut elapsed) = (0.0, Span::ZERO);
        for (last, now) in self.last.iter_mut().zip(records.iter().rev()) {
            let Some(rate) = reader.rate(now) else { continue };
            let known = last.rate_code == now.rate_code;
            let (utilisation, since) = if !known {
                // A queue shows that the link is busy; without one the utilisation is unknown.
                let queued = reader.queued(now, rate);
                let held = queued as f64 / (rate.0 as f64 / 8.0 * base_rtt.as_secs_f64());
                if queued > 0 { (held + 1.0, base_rtt) } else { (0.0, Span::ZERO) }
            } else if let Some(interval) = reader.between(last, now) {
                (interval.utilisation(base_rtt), interval.elapsed)
            } else {
                // Overtaken by an ACK that left the switch later.
                continue;
            };
            if utilisation > busiest {
                (busiest, elapsed) = (utilisation, since);
            }
            *last = *now;
        }
        let weight = elapsed.min(base_rtt).0 as f64 / base_rtt.0 as f64;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * busiest;
    }

    fn react(&mut self, extension: &Extension, from: From, progress: &Progress) {
        let records = written(extension);
        self.decided = !records.is_empty();
        if !self.decided {
            return;
        }
        if progress.now.since(self.heard) >= HORIZON {
            self.last = Default::default();
        }
        self.heard = progress.now;
        self.measure(records);
        self.window = self.terms.multiplied(self.reference, self.utilisation);
        match from {
            From::Switch if self.switch_update => {
                self.reference = self.window;
                self.switch_update = false;
            }
            From::Host if progress.acknowledged > self.updated_at => {
                self.reference = self.window;
                self.updated_at = progress.sent;
            }
            _ => {}
        }
    }
}

impl Control for FastTune {
    #[inline]
    fn on_send(&mut self, _packet: &mut Outbound, _progress: &Progress) {}

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.react(ack.extension, From::Host, progress);
    }

    fn on_message(&mut self, message: &Message<'_>, progress: &Progress) {
        self.decided = false;
        if SwitchAck::read(&message.packet.header).is_some() {
            self.react(message.extension, From::Switch, progress);
        }
    }

    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}

    #[inline]
    fn window(&self) -> u64 {
        (self.window as u64).max(1)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        self.terms.pacing(self.window)
    }

    fn decided(&self) -> bool {
        self.decided
    }
}
