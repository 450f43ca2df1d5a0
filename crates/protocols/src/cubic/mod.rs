//! CUBIC (RFC 9438) over TCP with SACK: the window follows losses and time only. With
//! `growth = "reno"` the same TCP grows as NewReno.

pub mod headers;
mod hystart;
#[cfg(test)]
mod network_tests;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::{Growth, Params};
pub use sender::Cubic;

use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{
    Answer, Arriving, DelayedAck, Feedback, Law, Notice, Options, Reliability, SenderDriven,
};
use incast_transport::{
    ClassPolicy, Configured, Ecn, EcnUse, FabricSite, Flow, Host, HostSite, Info, Kind,
    ParameterDoc, ParameterError, Policy, PortSite, Routing, Span, Time, Transport, TransportId,
};
use params::Recovery;
use std::sync::Arc;

/// CUBIC's number on the wire.
pub const ID: TransportId = TransportId(13);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// CUBIC.
pub struct Entry;

static INFO: Info = Info {
    name: "cubic",
    id: ID,
    title: "CUBIC",
    paper: "Ha, Rhee and Xu, CUBIC: a new TCP-friendly high-speed TCP variant, 2008; RFC 9438",
    kind: Kind::Window,
    switch_support: "none",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::None,
    marks: false,
    made_for_pfc: false,
    feedback_bits: None,
    deviations: &[],
};

impl Transport for Entry {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn parameters(&self) -> Vec<ParameterDoc> {
        Params::docs()
    }

    fn configure(
        &self,
        settings: &[(String, String)],
        fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, ParameterError> {
        Ok(Arc::new(Plan { params: Params::read(settings)?, fabric }))
    }
}

/// CUBIC with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Plan {
    fn options(&self) -> Options {
        let Params { rto_min, delayed_ack, delayed_ack_timeout, .. } = self.params;
        let delayed =
            DelayedAck { count: delayed_ack.min(255) as u8, timeout: delayed_ack_timeout };
        Options {
            // Drop-tail only: marks of others' queues are not for it.
            data_mark: Ecn::NotEct as u8,
            reliability: match self.params.recovery {
                Recovery::Sack => Reliability::Sack,
                Recovery::NewReno => Reliability::NewReno,
            },
            rto: RtoBounds {
                initial: self.params.rto_initial(),
                min: rto_min,
                max: Span::from_secs(60),
            },
            delayed_ack: (delayed_ack > 1).then_some(delayed),
            ..Options::tcp(ID, rto_min)
        }
    }
}

impl Configured for Plan {
    fn host(&self, _site: &HostSite) -> Box<dyn Host> {
        let segment = self.fabric.framing.mss() as u64;
        let law = CubicLaw { params: self.params.clone(), segment };
        Box::new(SenderDriven::new(law, self.options()))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        // Data and answers share one queue; class 0 is there for transports that use it.
        Policy {
            transport: ID,
            classes: vec![ClassPolicy::unused(), ClassPolicy::fifo(site.buffer)],
            markers: vec![],
        }
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        let mut resolved = self.params.resolved();
        resolved.push(("beta (in force)", self.params.beta().to_string()));
        resolved
    }

    fn unsolicited(&self, _site: &HostSite, packets: u32) -> u32 {
        if self.params.handshake { 0 } else { packets.min(self.params.initial_window) }
    }
}

/// Makes a [`Cubic`] for each flow.
struct CubicLaw {
    params: Params,
    segment: u64,
}

impl Law for CubicLaw {
    type Control = Cubic;
    type Feedback = Silent;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Cubic {
        Cubic::new(&self.params, self.segment)
    }

    fn feedback(&mut self) -> Silent {
        Silent
    }
}

/// Answers say what arrived and nothing else.
struct Silent;

impl Feedback for Silent {
    fn on_data(&mut self, _data: &Arriving<'_>, _answer: &mut Answer) -> Option<Notice> {
        None
    }
}
