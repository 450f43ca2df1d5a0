//! TIMELY (SIGCOMM 2015): the round-trip time, by its gradient, sets the rate; switches do nothing.

pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use params::{Pace, Params, Rule, Start, Update, Variant};
pub use receiver::ReturnStamp;
pub use sender::{STAMP_BYTES, Timely};

use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Law, Options, Reliability, SenderDriven};
use incast_transport::{
    ClassPolicy, Configured, Ecn, EcnUse, FabricSite, Flow, Framing, Host, HostSite, Info, Kind,
    Limit, ParameterDoc, ParameterError, Policy, PortSite, Routing, Time, Transport, TransportId,
};
use std::sync::Arc;

/// TIMELY's number on the wire.
pub const ID: TransportId = TransportId(12);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// TIMELY.
pub struct Entry;

static INFO: Info = Info {
    name: "timely",
    id: ID,
    title: "TIMELY",
    paper: "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015",
    kind: Kind::Rate,
    switch_support: "none; made for PFC",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::None,
    marks: false,
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

/// TIMELY with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Plan {
    /// Payload of a full packet beside its time stamp.
    fn payload(&self) -> u16 {
        self.fabric.framing.mss() - STAMP_BYTES
    }
}

impl Configured for Plan {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let payload = self.payload();
        let law = TimelyLaw {
            rule: Rule::new(&self.params, site.rate, site.bdp_packets as u64, payload),
            framing: self.fabric.framing,
            start: self.params.start,
        };
        let options = Options {
            data_mark: Ecn::NotEct as u8,
            ack_class: 0,
            reliability: Reliability::GoBackN { again: self.params.nack_interval },
            rto: RtoBounds::at_least(self.params.rto_min),
            max_payload: payload,
            ..Options::tcp(ID, self.params.rto_min)
        };
        Box::new(SenderDriven::new(law, options))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let control = ClassPolicy::fifo(Limit::Bytes(self.params.control_limit.0));
        let data = ClassPolicy::fifo(site.buffer);
        Policy { transport: ID, classes: vec![control, data], markers: vec![] }
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    /// None, although nothing is waited for: each packet is longer by its time stamp than the ideal
    /// time counts.
    fn unsolicited(&self, _site: &HostSite, _packets: u32) -> u32 {
        0
    }
}

/// Makes a [`Timely`] for each flow.
struct TimelyLaw {
    rule: Rule,
    framing: Framing,
    start: Start,
}

impl Law for TimelyLaw {
    type Control = Timely;
    type Feedback = ReturnStamp;

    fn control(&mut self, _now: Time, _flow: &Flow, others: usize) -> Timely {
        let others = if self.start == Start::Share { others } else { 0 };
        Timely::new(self.rule, self.framing, others)
    }

    fn feedback(&mut self) -> ReturnStamp {
        ReturnStamp
    }
}
