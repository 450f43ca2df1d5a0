//! Congestion control (XCP §3.3): the window follows the feedback alone, except for a loss.

use super::params::Params;
use super::{FEEDBACK_UNIT, RTT_UNIT, SPACING_UNIT, UNLIMITED, feedback_of, header_of};
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress};
use incast_transport::{Extension, Framing, Rate, Span};

/// Largest RTT that fits the header, in its units.
const U24_MAX: u64 = (1 << 24) - 1;

/// XCP's window of one flow, in charged bytes, since switches measure what links are occupied by.
#[derive(Clone, Copy, Debug)]
pub struct Xcp {
    framing: Framing,
    long: bool,
    paced: bool,
    /// Payload and charged bytes of a full packet.
    segment: f64,
    charged: f64,
    window: f64,
    rtt: Option<Span>,
}

impl Xcp {
    /// Initial state of a flow.
    pub fn new(params: &Params, framing: Framing) -> Xcp {
        let charged = framing.charged_mtu() as f64;
        Xcp {
            framing,
            long: params.header == 20,
            paced: params.pacing,
            segment: (framing.mss() - params.header as u16) as f64,
            charged,
            window: params.initial_window as f64 * charged,
            rtt: None,
        }
    }

    /// The window in charged bytes, with its fraction.
    pub fn charged_window(&self) -> f64 {
        self.window
    }

    /// Charged bytes of a packet.
    fn occupies(&self, packet: &Outbound) -> f64 {
        let own = if self.long { 20 } else { 16 };
        self.framing.charged_packet(packet.payload, own) as f64
    }
}

impl Control for Xcp {
    fn start_with(&mut self, packets: u32) {
        self.window = packets as f64 * self.charged;
    }

    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        self.rtt = progress.smoothed_rtt;
        // Without an RTT it requests no increase.
        let (mut rtt, mut spacing, mut feedback) = (0, 0, 0);
        if let Some(span) = progress.smoothed_rtt {
            rtt = (span.0 / RTT_UNIT.0).clamp(1, U24_MAX) as u32;
            let seconds = span.as_secs_f64() * self.occupies(packet) / self.window;
            spacing = (seconds / SPACING_UNIT.as_secs_f64()).max(1.0) as u32;
            feedback = UNLIMITED;
        }
        packet.extension = Extension::explicit(header_of(self.long, rtt, spacing, feedback, 0));
    }

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.rtt = progress.smoothed_rtt;
        let (_, reverse) = feedback_of(ack.extension);
        if let (Some(rtt), true) = (self.rtt, reverse != 0) {
            let change = reverse as f64 * FEEDBACK_UNIT * rtt.as_secs_f64();
            self.window = (self.window + change).max(self.charged);
        }
    }

    fn on_loss(&mut self, loss: Loss, _progress: &Progress) {
        self.window = match loss {
            Loss::Fast => (self.window / 2.0).max(self.charged),
            Loss::Timeout => self.charged,
        };
    }

    fn window(&self) -> u64 {
        // A thousandth of a byte covers what division and multiplication lose.
        (self.window / self.charged * self.segment + 1e-3) as u64
    }

    fn pacing(&self) -> Option<Rate> {
        let rtt = self.rtt.filter(|rtt| self.paced && *rtt > Span::ZERO)?;
        Some(Rate((self.window * 8.0 / rtt.as_secs_f64()) as u64))
    }
}
