//! DCQCN (SIGCOMM 2015): random marks, paced notifications, a rate machine; for lossless fabrics.

pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Params, Rule, Variant};
pub use receiver::Notifier;
pub use sender::Dcqcn;

use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Law, Options, Reliability, SenderDriven};
use incast_transport::{
    ClassPolicy, Configured, EcnUse, FabricSite, Flow, Framing, Host, HostSite, Info, Kind, Limit,
    ParameterDoc, ParameterError, Policy, PortSite, Routing, Span, Time, Transport, TransportId,
};
use std::sync::Arc;

/// DCQCN's number on the wire.
pub const ID: TransportId = TransportId(11);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// DCQCN.
pub struct Entry;

static INFO: Info = Info {
    name: "dcqcn",
    id: ID,
    title: "DCQCN",
    paper: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
    kind: Kind::Rate,
    switch_support: "ECN marking by RED on the instantaneous queue; made for PFC",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::Rfc3168,
    marks: true,
    made_for_pfc: true,
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

/// DCQCN with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Configured for Plan {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let framing = self.fabric.framing;
        let bdp = site.bdp_packets as u64 * framing.mss() as u64;
        let law = DcqcnLaw {
            rule: Rule::new(&self.params, site.rate, bdp),
            framing,
            interval: self.params.cnp_interval,
        };
        let rto = RtoBounds::at_least(self.params.rto_min);
        let reliability = Reliability::GoBackN { again: self.params.nack_interval };
        let tcp = Options::tcp(ID, self.params.rto_min);
        Box::new(SenderDriven::new(law, Options { reliability, rto, ack_class: 0, ..tcp }))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let control = ClassPolicy::fifo(Limit::Bytes(self.params.control_limit.0));
        Policy {
            transport: ID,
            classes: vec![control, ClassPolicy::fifo(site.buffer)],
            markers: vec![Box::new(switch::marker(&self.params, site))],
        }
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        match self.params.window_limit {
            true => packets.min(site.bdp_packets),
            false => packets,
        }
    }
}

/// Makes a [`Dcqcn`] for each flow sent and a [`Notifier`] for each received.
struct DcqcnLaw {
    rule: Rule,
    framing: Framing,
    interval: Span,
}

impl Law for DcqcnLaw {
    type Control = Dcqcn;
    type Feedback = Notifier;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Dcqcn {
        Dcqcn::new(self.rule, self.framing)
    }

    fn feedback(&mut self) -> Notifier {
        Notifier::new(self.interval)
    }
}
