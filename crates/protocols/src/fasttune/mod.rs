//! FastTune: switches answer a flow's first packets and add their state to answers, so that what the
//! window follows is young.

pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::Params;
pub use receiver::EmptyStack;
pub use sender::FastTune;
pub use switch::Answering;

use crate::hpcc::Terms;
use crate::hpcc::params::{depth, least_timeout};
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Admission, Law, Options, SenderDriven};
use incast_transport::{
    ClassPolicy, Configured, Ecn, EcnUse, FabricSite, Flow, Host, HostSite, Info, Kind, Limit,
    ParameterDoc, ParameterError, Policy, PortSite, Rate, Routing, SwitchHook, SwitchSite, Time,
    Transport, TransportId,
};
use std::sync::Arc;

/// FastTune's number on the wire.
pub const ID: TransportId = TransportId(21);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// FastTune.
pub struct Entry;

static INFO: Info = Info {
    name: "fasttune",
    id: ID,
    title: "FastTune",
    paper: "Zhou et al., FastTune: Timely and Precise Congestion Control in Data Center Network",
    kind: Kind::Window,
    switch_support: "answers first packets, adds its state to answers; symmetric paths, two queues",
    routing: Routing::SymmetricEcmp,
    symmetric_paths: true,
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
        let params = Params::read(settings)?;
        depth(INFO.name, params.int_hops, &fabric)?;
        Ok(Arc::new(Plan { params, fabric }))
    }
}

/// FastTune with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Plan {
    fn terms(&self, line: Rate) -> Terms {
        let Params { target_utilisation, flows, additive_rate, min_rate, base_rtt, .. } =
            self.params;
        let (target, rates) = ((target_utilisation, flows), (additive_rate, min_rate));
        Terms::new(target, rates, base_rtt, line, &self.fabric)
    }
}

impl Configured for Plan {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let terms = Arc::new(self.terms(site.rate));
        let rto_min = least_timeout(self.params.rto_min, terms.base_rtt);
        let options = Options {
            data_mark: Ecn::NotEct as u8,
            ack_class: 0,
            admission: Admission::Below,
            reliability: self.params.recovery.reliability(self.params.nack_interval),
            rto: RtoBounds::at_least(rto_min),
            ..Options::tcp(ID, rto_min)
        };
        Box::new(SenderDriven::new(FastTuneLaw { terms }, options))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let control = ClassPolicy::fifo(Limit::Bytes(self.params.control_limit.0));
        let data = ClassPolicy::fifo(site.buffer);
        Policy { transport: ID, classes: vec![control, data], markers: vec![] }
    }

    fn hook(&self, site: &SwitchSite) -> Option<Box<dyn SwitchHook>> {
        Some(Box::new(Answering::new(&self.params, site)))
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    /// Three packets at most: the second answer of the first switch, which comes after the third
    /// has begun to leave, already says that the link is busy.
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        let fits = self.terms(site.rate).most / self.fabric.framing.mss() as f64;
        packets.min(3).min(fits.ceil() as u32)
    }
}

/// Makes a [`FastTune`] for each flow.
struct FastTuneLaw {
    terms: Arc<Terms>,
}

impl Law for FastTuneLaw {
    type Control = FastTune;
    type Feedback = EmptyStack;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> FastTune {
        FastTune::new(self.terms.clone())
    }

    fn feedback(&mut self) -> EmptyStack {
        EmptyStack
    }
}
