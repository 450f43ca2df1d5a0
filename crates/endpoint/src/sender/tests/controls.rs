//! A plain congestion control, and two hosts with it on a link of 10 Gb/s and 5 us.

use crate::sender::{
    Ack, Control, ControlFactory, EchoMark, Loss, Options, Progress, SenderDriven,
};
pub use incast_testkit::{Impairment, Impairments, Network, Script, Sent, flow};
use incast_transport::*;
use std::sync::{Arc, Mutex};

pub const ID: TransportId = TransportId(1);
pub use incast_testkit::MSS;

/// Calls that a congestion control received.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    Ack { bytes: u64, sacked: u64, ece: bool, rtt: Option<Span>, limited: bool, recovering: bool },
    Loss(Loss),
}

/// A window that grows by what is acknowledged if it may, is halved by a loss, and one segment
/// after a timeout.
pub struct Plain {
    pub window: u64,
    pub threshold: u64,
    pub rate: Option<Rate>,
    pub events: Arc<Mutex<Vec<Event>>>,
}

impl Control for Plain {
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.events.lock().unwrap().push(Event::Ack {
            bytes: ack.bytes,
            sacked: ack.sacked,
            ece: ack.ece,
            rtt: ack.rtt,
            limited: ack.limited,
            recovering: progress.recovering,
        });
        if !progress.recovering && ack.limited {
            self.window += match self.window < self.threshold {
                true => ack.bytes,
                false => MSS * ack.bytes / self.window,
            };
        }
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) {
        self.events.lock().unwrap().push(Event::Loss(loss));
        self.threshold = (progress.pipe.max(self.window) / 2).max(2 * MSS);
        self.window = if loss == Loss::Fast { self.threshold } else { MSS };
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing(&self) -> Option<Rate> {
        self.rate
    }
}

/// Makes [`Plain`] congestion controls.
pub struct Plainly {
    pub window: u64,
    pub threshold: u64,
    pub rate: Option<Rate>,
    pub events: Arc<Mutex<Vec<Event>>>,
}

impl ControlFactory for Plainly {
    type Control = Plain;
    type Feedback = EchoMark;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Plain {
        let Plainly { window, threshold, rate, .. } = *self;
        Plain { window, threshold, rate, events: self.events.clone() }
    }

    fn feedback(&mut self) -> EchoMark {
        EchoMark
    }
}

/// Hosts with these congestion controls; what the script says happens to each packet, given how
/// many were sent before it.
pub fn network<L: ControlFactory>(
    factories: Vec<L>,
    options: Options,
    script: Script,
) -> Network<SenderDriven<L>> {
    let mut network = Network::new(Framing::ETHERNET, 1);
    for factory in factories {
        let host = Box::new(SenderDriven::new(factory, options));
        network.add_host(host, Rate::from_gbps(10), Span::from_us(5));
    }
    network.impair_all(Impairments::scripted(script));
    network
}

/// Two hosts with the plain congestion control.
pub type Pair = Network<SenderDriven<Plainly>>;

/// Two hosts with the plain congestion control, and the calls it received.
pub fn pair(window: u64, options: Options, script: Script) -> (Pair, Arc<Mutex<Vec<Event>>>) {
    let events = Arc::new(Mutex::new(vec![]));
    let factory = || Plainly { window, threshold: u64::MAX, rate: None, events: events.clone() };
    (network(vec![factory(), factory()], options, script), events)
}

/// Loses, repeats, delays and marks packets of both directions at random.
pub fn chaos(seed: u64, loss: f64) -> Script {
    let mut random = Random::new(seed, 7, 7);
    Box::new(move |_, _| {
        let late = Span::from_ns(random.below(30_000));
        match random.unit() {
            x if x < loss => Impairment::LOST,
            x if x < 2.0 * loss => Impairment::twice(late),
            x if x < 3.0 * loss => Impairment::late(late),
            x if x < 4.0 * loss => Impairment::MARKED,
            _ => Impairment::NONE,
        }
    })
}
