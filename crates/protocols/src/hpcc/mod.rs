//! HPCC (SIGCOMM 2019): every hop's state comes back with each answer; the window keeps the bytes in
//! flight on the busiest link below what it holds.

pub mod headers;
#[cfg(test)]
mod network_tests;
pub(crate) mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Params, Recovery, Terms};
pub use receiver::ReturnStack;
pub use sender::{Hpcc, Rule};
pub use switch::Stamper;

use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Admission, Law, Options, SenderDriven};
use incast_transport::{
    Configured, Ecn, EcnUse, FabricSite, Flow, Host, HostSite, Info, Kind, ParameterDoc,
    ParameterError, Policy, PortSite, Routing, Time, Transport, TransportId,
};
use params::{depth, least_timeout, stack_bytes};
use std::sync::Arc;

/// HPCC's number on the wire.
pub const ID: TransportId = TransportId(19);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// HPCC.
pub struct Entry;

static INFO: Info = Info {
    name: "hpcc",
    id: ID,
    title: "HPCC",
    paper: "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019",
    kind: Kind::Window,
    switch_support: "writes time, bytes sent, queue and rate into each packet; made for PFC",
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
        let params = Params::read(settings)?;
        let resolved = params.resolved();
        Ok(Arc::new(Plan::new(&INFO, params, resolved, fabric)?))
    }
}

/// HPCC, or a transport that differs in parameters only, for one fabric.
pub(crate) struct Plan {
    id: TransportId,
    params: Params,
    resolved: Vec<(&'static str, String)>,
    hops: u8,
    fabric: Arc<FabricSite>,
}

impl Plan {
    /// The transport of `info` under these parameters, of which the manifest says `resolved`.
    pub fn new(
        info: &'static Info,
        params: Params,
        resolved: Vec<(&'static str, String)>,
        fabric: Arc<FabricSite>,
    ) -> Result<Plan, ParameterError> {
        let hops = depth(info.name, params.int_hops, &fabric)?;
        Ok(Plan { id: info.id, params, resolved, hops, fabric })
    }

    fn rule(&self, site: &HostSite) -> Rule {
        let Params { target_utilisation, flows, additive_rate, min_rate, base_rtt, .. } =
            self.params;
        let (target, rates) = ((target_utilisation, flows), (additive_rate, min_rate));
        Rule {
            terms: Terms::new(target, rates, base_rtt, site.rate, &self.fabric),
            max_stage: self.params.max_stage,
            reserved: if self.params.int_fixed { self.hops } else { 0 },
        }
    }
}

impl Configured for Plan {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let rule = Arc::new(self.rule(site));
        let rto_min = least_timeout(self.params.rto_min, rule.terms.base_rtt);
        let options = Options {
            data_mark: Ecn::NotEct as u8,
            admission: Admission::Below,
            reliability: self.params.recovery.reliability(self.params.nack_interval),
            rto: RtoBounds::at_least(rto_min),
            max_payload: self.fabric.framing.mss() - stack_bytes(self.hops).0 as u16,
            ..Options::tcp(self.id, rto_min)
        };
        Box::new(SenderDriven::new(HpccLaw { rule }, options))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let stamper = Stamper::new(self.id, site, !self.params.quantise_int);
        Policy::one_queue(self.id, site.buffer, Box::new(stamper))
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.resolved.clone()
    }

    fn unsolicited(&self, _site: &HostSite, _packets: u32) -> u32 {
        // Records are charged: no flow takes the time it would take without them.
        0
    }
}

/// Makes an [`Hpcc`] for each flow; answers return the records.
struct HpccLaw {
    rule: Arc<Rule>,
}

impl Law for HpccLaw {
    type Control = Hpcc;
    type Feedback = ReturnStack;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Hpcc {
        Hpcc::new(self.rule.clone())
    }

    fn feedback(&mut self) -> ReturnStack {
        ReturnStack
    }
}
