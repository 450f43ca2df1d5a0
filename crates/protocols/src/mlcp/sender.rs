//! Congestion control: as VCP's, but the emptier the path the larger the factor, and the fuller the deeper
//! the cut.

use super::level::{HIGHEST, INCREASES, Levels, OVERLOAD};
use super::params::{Factors, Params};
use incast_endpoint::load_window::{LoadWindow, Phase};
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress};
use incast_transport::math::pow;
use incast_transport::{Explicit, Extension, FabricSite, Rate, Span};

/// RTTs up to this long are of class 0; each class doubles it.
const CLASS_0: Span = Span::from_us(25);
pub(super) const LAST_CLASS: u8 = 7;

/// The class of an RTT: three bits.
pub fn class(rtt: Span) -> u8 {
    (0..LAST_CLASS).find(|class| rtt <= CLASS_0 * (1 << class)).unwrap_or(LAST_CLASS)
}

/// MLCP's window of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Mlcp {
    window: LoadWindow,
    rtt: Span,
    /// No pacing before the first RTT sample.
    sampled: bool,
    interval: Span,
    /// xi of the levels that multiply.
    increase: [f64; INCREASES as usize],
    additive: f64,
    decrease: Factors,
    scale_max: f64,
    paced: bool,
    tells_class: bool,
    /// Payload and charged bytes of a packet.
    segment: f64,
    charged: f64,
    decided: bool,
}

impl Mlcp {
    /// Initial state of a flow whose window counts packets of `payload` bytes.
    pub fn new(params: &Params, fabric: &FabricSite, payload: u64) -> Mlcp {
        let levels = Levels::new(params);
        let mut increase = [0.0; INCREASES as usize];
        for (level, step) in (0..).zip(&mut increase) {
            let load = levels.load(level);
            *step = (params.increase * (1.0 - load) / load).min(1.0);
        }
        Mlcp {
            window: LoadWindow::new(params.initial_window as f64),
            rtt: fabric.base_rtt,
            sampled: false,
            interval: params.period,
            increase,
            additive: params.additive,
            decrease: params.decrease,
            scale_max: params.scale_max,
            paced: params.pacing,
            tells_class: params.header > 0,
            segment: payload as f64,
            charged: fabric.framing.charged_packet(payload as u16, params.header as u8) as f64,
            decided: false,
        }
    }

    /// The window in packets, with its fraction.
    pub fn packets(&self) -> f64 {
        self.window.packets()
    }

    /// The step xi of each level that multiplies.
    pub fn steps(&self) -> [f64; INCREASES as usize] {
        self.increase
    }

    /// Intervals per RTT, up to the scaling limit of the steps.
    fn scale(&self) -> f64 {
        (self.rtt.0 as f64 / self.interval.0 as f64).min(self.scale_max)
    }

    fn add(&mut self) {
        let scale = self.scale();
        self.window.creep(self.additive * scale * scale);
    }
}

impl Control for Mlcp {
    fn start_with(&mut self, packets: u32) {
        self.window = LoadWindow::new(packets as f64);
    }

    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        self.rtt = progress.smoothed_rtt.unwrap_or(self.rtt);
        if self.tells_class {
            packet.extension = Extension::explicit(Explicit::Class { class: class(self.rtt) });
        }
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
            level @ 0..INCREASES => {
                let scale = self.scale();
                self.window.grow(pow(1.0 + self.increase[level as usize], scale) - 1.0);
            }
            INCREASES..OVERLOAD => self.add(),
            level => match self.window.phase(progress.now, self.interval, self.rtt) {
                Phase::Free => {
                    let factor = self.decrease.0[(level.min(HIGHEST) - OVERLOAD) as usize];
                    self.window.cut(factor, progress.now);
                }
                Phase::Holding => self.add(),
                Phase::Frozen => {}
            },
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
