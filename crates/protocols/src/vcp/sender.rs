//! Congestion control (VCP §3.2): multiplicative increase, additive increase or multiplicative decrease,
//! by the load of the path.

use super::params::Params;
use super::{HIGH, LOW, OVERLOAD};
use incast_endpoint::load_window::{LoadWindow, Phase};
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress};
use incast_transport::math::pow;
use incast_transport::{FabricSite, Rate, Span};

/// VCP's window of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Vcp {
    window: LoadWindow,
    rtt: Span,
    /// No pacing before the first RTT sample.
    sampled: bool,
    interval: Span,
    increase: f64,
    additive: f64,
    decrease: f64,
    scale_max: f64,
    additive_scale_max: f64,
    paced: bool,
    /// Payload and charged bytes of a packet.
    segment: f64,
    charged: f64,
    decided: bool,
}

impl Vcp {
    /// Initial state of a flow whose window counts packets of `payload` bytes.
    pub fn new(params: &Params, fabric: &FabricSite, payload: u64) -> Vcp {
        Vcp {
            window: LoadWindow::new(params.initial_window as f64),
            rtt: fabric.base_rtt,
            sampled: false,
            interval: params.interval_on(fabric),
            increase: params.increase,
            additive: params.additive,
            decrease: params.decrease,
            scale_max: params.scale_max,
            additive_scale_max: params.additive_scale_max,
            paced: params.pacing,
            segment: payload as f64,
            charged: fabric.framing.charged_packet(payload as u16, 0) as f64,
            decided: false,
        }
    }

    /// The window in packets, with its fraction.
    pub fn packets(&self) -> f64 {
        self.window.packets()
    }

    /// Intervals per RTT.
    fn intervals(&self) -> f64 {
        self.rtt.0 as f64 / self.interval.0 as f64
    }

    /// VCP §3.3: a flow whose RTT is longer makes larger steps, so that all grow alike.
    fn multiply(&mut self) {
        let scale = self.intervals().min(self.scale_max);
        self.window.grow(pow(1.0 + self.increase, scale) - 1.0);
    }

    fn add(&mut self) {
        let most = self.additive_scale_max;
        let scale = self.intervals().clamp(1.0 / most, most);
        self.window.creep(self.additive * scale * scale);
    }
}

impl Control for Vcp {
    fn start_with(&mut self, packets: u32) {
        self.window = LoadWindow::new(packets as f64);
    }

    fn on_send(&mut self, _packet: &mut Outbound, progress: &Progress) {
        self.rtt = progress.smoothed_rtt.unwrap_or(self.rtt);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        if let Some(rtt) = progress.smoothed_rtt {
            (self.rtt, self.sampled) = (rtt, true);
        }
        // Only what is new, and not while a loss is being repaired: that has cut the window.
        self.decided = ack.bytes > 0 && !progress.recovering;
        if !self.decided {
            return;
        }
        match ack.nibble {
            LOW => self.multiply(),
            HIGH => self.add(),
            OVERLOAD => match self.window.phase(progress.now, self.interval, self.rtt) {
                Phase::Free => self.window.cut(self.decrease, progress.now),
                Phase::Holding => self.add(),
                Phase::Frozen => {}
            },
            _ => {}
        }
    }

    fn on_loss(&mut self, loss: Loss, _progress: &Progress) {
        self.window.lose(match loss {
            Loss::Fast => self.window.packets() / 2.0,
            Loss::Timeout => 1.0,
        });
    }

    fn decided(&self) -> bool {
        self.decided
    }

    fn window(&self) -> u64 {
        // A thousandth of a byte covers what division and multiplication lose.
        (self.window.packets() * self.segment + 1e-3) as u64
    }

    fn pacing(&self) -> Option<Rate> {
        if !self.paced || !self.sampled || self.rtt == Span::ZERO {
            return None;
        }
        let bits = self.window.packets() * self.charged * 8.0;
        Some(Rate((bits / self.rtt.as_secs_f64()) as u64))
    }
}
