//! Congestion control by telemetry (PowerTCP Algorithm 1).

use super::law::{Power, Rule};
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress};
use incast_endpoint::telemetry::Previous;
use incast_transport::telemetry::{Reader, empty_stack, written};
use incast_transport::{IntRecord, Rate, Span};
use std::sync::Arc;

/// PowerTCP's window of one flow.
#[derive(Clone, Debug)]
pub struct PowerTcp {
    rule: Arc<Rule>,
    reader: Reader,
    flow: Power,
    previous: Previous,
    decided: bool,
}

impl PowerTcp {
    /// Initial state of a flow.
    pub fn new(rule: Arc<Rule>, reader: Reader) -> PowerTcp {
        let (flow, previous) = (Power::new(&rule), Previous::default());
        PowerTcp { rule, reader, flow, previous, decided: false }
    }

    /// Window, reference (bytes) and power.
    pub fn state(&self) -> (f64, f64, f64) {
        self.flow.state()
    }

    /// NORMPOWER: that of the hop where it is largest; false if no hop tells anything new.
    fn measure(&mut self, records: &[IntRecord]) -> bool {
        let (mut most, mut elapsed) = (0.0, Span::ZERO);
        for interval in self.previous.intervals(&self.reader, records) {
            let power = interval.power(self.rule.base_rtt, self.rule.floor);
            if power > most || elapsed == Span::ZERO {
                (most, elapsed) = (power, interval.elapsed);
            }
        }
        if elapsed > Span::ZERO {
            self.flow.smooth(&self.rule, most, elapsed);
        }
        elapsed > Span::ZERO
    }
}

impl Control for PowerTcp {
    #[inline]
    fn on_send(&mut self, packet: &mut Outbound, _progress: &Progress) {
        packet.extension = empty_stack(0);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.decided = false;
        let records = written(ack.extension);
        if records.is_empty() {
            return;
        }
        // The first ACK has no predecessor to compare with.
        if !self.flow.begins(progress)
            && self.previous.compares(records, progress.now)
            && self.measure(records)
        {
            self.flow.follow(&self.rule);
            if self.flow.round_over(progress) {
                self.flow.renew();
            }
            self.decided = true;
        }
        self.previous.remember(progress.now, records);
    }

    fn on_loss(&mut self, loss: Loss, _progress: &Progress) {
        self.flow.lose(&self.rule, loss);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.flow.bytes()
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        self.flow.pacing(&self.rule)
    }

    fn decided(&self) -> bool {
        self.decided
    }
}
