//! Congestion control: the window follows the bytes in flight on the busiest link (HPCC §3, Algorithm 1).

use super::params::Terms;
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress};
use incast_endpoint::telemetry::PathRecords;
use incast_transport::telemetry::{empty_stack, written};
use incast_transport::{IntRecord, Rate, Span};
use std::sync::Arc;

/// Effective settings at a host.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Settings common to telemetry-based congestion controls.
    pub terms: Terms,
    /// Additive steps in a row (maxStage).
    pub max_stage: u32,
    /// Records whose bytes a packet has from the start.
    pub reserved: u8,
    /// Paths of a flow that its source chooses among; 1 if packets come in order.
    pub paths: u32,
}

/// HPCC's window of one flow.
#[derive(Clone, Debug)]
pub struct Hpcc {
    rule: Arc<Rule>,
    /// W and W^c, in bytes.
    window: f64,
    reference: f64,
    /// Utilisation (U).
    utilisation: f64,
    /// incStage.
    stage: u32,
    /// Bytes sent when W^c last changed; 0 before the first ACK.
    updated_at: u64,
    previous: PathRecords,
    decided: bool,
}

impl Hpcc {
    /// Initial state of a flow.
    pub fn new(rule: Arc<Rule>) -> Hpcc {
        let previous = PathRecords::new(rule.paths);
        Hpcc {
            window: rule.terms.most,
            reference: rule.terms.most,
            rule,
            utilisation: 1.0,
            stage: 0,
            updated_at: 0,
            previous,
            decided: false,
        }
    }

    /// W, W^c (bytes) and U.
    pub fn state(&self) -> (f64, f64, f64) {
        (self.window, self.reference, self.utilisation)
    }

    /// Additive steps since W^c was last multiplied.
    pub fn stage(&self) -> u32 {
        self.stage
    }

    /// MeasureInflight: applies the busiest link of the ACK's records; false if no link has
    /// new telemetry.
    fn measure(&mut self, path: u16, records: &[IntRecord]) -> bool {
        let Terms { reader, base_rtt, .. } = &self.rule.terms;
        let (mut busiest, mut elapsed) = (-1.0, Span::ZERO);
        for interval in self.previous.of(path).intervals(reader, records) {
            let utilisation = interval.utilisation(*base_rtt);
            if utilisation > busiest {
                (busiest, elapsed) = (utilisation, interval.elapsed);
            }
        }
        if elapsed == Span::ZERO {
            return false;
        }
        let weight = elapsed.min(*base_rtt).0 as f64 / base_rtt.0 as f64;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * busiest;
        true
    }

    /// ComputeWind. With `new`, the ACK is to data sent after W^c changed last.
    fn compute(&mut self, new: bool, sent: u64) {
        let Rule { terms, max_stage, .. } = &*self.rule;
        let stage;
        if self.utilisation >= terms.target || self.stage >= *max_stage {
            self.window = terms.multiplied(self.reference, self.utilisation);
            stage = 0;
        } else {
            self.window = terms.bounded(self.reference + terms.additive);
            stage = self.stage + 1;
        }
        if new {
            self.reference = self.window;
            self.stage = stage;
            self.updated_at = sent;
        }
    }
}

impl Control for Hpcc {
    #[inline]
    fn on_send(&mut self, packet: &mut Outbound, _progress: &Progress) {
        packet.extension = empty_stack(self.rule.reserved);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.decided = false;
        let (records, path) = (written(ack.extension), ack.path);
        if records.is_empty() {
            return;
        }
        if self.updated_at == 0 {
            // The first ACK has no predecessor to compare with.
            self.updated_at = progress.sent;
        } else if self.previous.of(path).compares(records, progress.now)
            && self.measure(path, records)
        {
            self.compute(progress.acknowledged > self.updated_at, progress.sent);
            self.decided = true;
        }
        self.previous.of(path).remember(progress.now, records);
    }

    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}

    #[inline]
    fn window(&self) -> u64 {
        (self.window as u64).max(1)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        self.rule.terms.pacing(self.window)
    }

    fn decided(&self) -> bool {
        self.decided
    }
}
