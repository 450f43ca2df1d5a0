//! DCTCP (SIGCOMM 2010, RFC 8257): the share of marked packets decides how far the window falls.

pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
pub use sender::Dctcp;

use incast_egress::threshold::ThresholdMarker;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{DelayedAck, EchoMark, Law, Options, Reliability, SenderDriven};
use incast_transport::{
    ClassPolicy, Configured, Ecn, EcnUse, FabricSite, Flow, Host, HostSite, Info, Kind,
    ParameterDoc, ParameterError, Policy, PortSite, Routing, Span, Time, Transport, TransportId,
};
use params::Recovery;
use std::sync::Arc;

/// DCTCP's number on the wire.
pub const ID: TransportId = TransportId(1);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// DCTCP.
pub struct Entry;

static INFO: Info = Info {
    name: "dctcp",
    id: ID,
    title: "DCTCP",
    paper: "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; RFC 8257",
    kind: Kind::Window,
    switch_support: "ECN marking above a queue threshold",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::Rfc3168,
    marks: true,
    made_for_pfc: false,
    // Marked or not.
    feedback_bits: Some((Ecn::Ce as u8 ^ Ecn::Ect0 as u8).count_ones()),
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

/// DCTCP with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Plan {
    fn options(&self) -> Options {
        let Params { rto_min, rto_initial, delayed_ack, delayed_ack_timeout, .. } = self.params;
        let initial = rto_initial.unwrap_or(rto_min);
        let delayed =
            DelayedAck { count: delayed_ack.min(255) as u8, timeout: delayed_ack_timeout };
        Options {
            reliability: match self.params.recovery {
                Recovery::Sack => Reliability::Sack,
                Recovery::NewReno => Reliability::NewReno,
            },
            rto: RtoBounds { initial, min: rto_min, max: Span::from_secs(60) },
            delayed_ack: (delayed_ack > 1).then_some(delayed),
            ..Options::tcp(ID, rto_min)
        }
    }
}

impl Configured for Plan {
    fn host(&self, _site: &HostSite) -> Box<dyn Host> {
        let segment = self.fabric.framing.mss() as u64;
        let law = DctcpLaw { params: self.params.clone(), segment };
        Box::new(SenderDriven::new(law, self.options()))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let marker = ThresholdMarker::new(ID, self.params.mark_threshold, site);
        Policy {
            transport: ID,
            // Data and answers share one queue; class 0 is there for transports that use it.
            classes: vec![ClassPolicy::unused(), ClassPolicy::fifo(site.buffer)],
            markers: vec![Box::new(marker)],
        }
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    fn unsolicited(&self, _site: &HostSite, packets: u32) -> u32 {
        packets.min(self.params.initial_window)
    }
}

/// Makes a [`Dctcp`] for each flow; answers echo marks.
struct DctcpLaw {
    params: Params,
    segment: u64,
}

impl Law for DctcpLaw {
    type Control = Dctcp;
    type Feedback = EchoMark;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Dctcp {
        Dctcp::new(&self.params, self.segment)
    }

    fn feedback(&mut self) -> EchoMark {
        EchoMark
    }
}
