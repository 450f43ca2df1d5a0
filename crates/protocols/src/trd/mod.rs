//! The traditional receiver-driven transport: one new packet for each packet received, never more
//! and never less. What REN and AMRT measure themselves against in their models.

pub mod headers;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod world;

pub use params::Params;

use incast_endpoint::receiver_driven::{ReceiverDriven, Silence};
use incast_transport::{
    ClassPolicy, Configured, EcnUse, FabricSite, Host, HostSite, Info, Kind, Limit, ParameterDoc,
    ParameterError, Policy, PortSite, Routing, Transport, TransportId,
};
use std::sync::Arc;

/// Number on the wire.
pub const ID: TransportId = TransportId(2);

/// The catalogue entry.
pub static ENTRY: Trd = Trd;

static INFO: Info = Info {
    name: "trd",
    id: ID,
    title: "traditional receiver-driven transport",
    paper: "the baseline of the models in REN (IEEE TCC 2021, §4) and AMRT (ICPP 2020, §5)",
    kind: Kind::ReceiverDriven,
    switch_support: "drop-tail FIFO and a control class",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::None,
    marks: false,
    made_for_pfc: false,
    feedback_bits: None,
    deviations: &[],
};

/// The transport.
pub struct Trd;

impl Transport for Trd {
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
        let silence = Silence::of(&fabric, params.stall);
        Ok(Arc::new(Ready { params, fabric, silence }))
    }
}

struct Ready {
    params: Params,
    fabric: Arc<FabricSite>,
    silence: Silence,
}

impl Configured for Ready {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let burst = self.params.burst.unwrap_or(site.bdp_packets);
        let packet_time = self.fabric.mtu_time(site.rate);
        let senders = sender::terms(burst, packet_time, self.silence);
        let receivers = receiver::terms(burst, self.silence);
        Box::new(ReceiverDriven::new(senders, receivers, self.silence))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let control = ClassPolicy::fifo(Limit::Bytes(self.params.control_limit.0));
        let data = ClassPolicy::fifo(site.buffer);
        Policy { transport: ID, classes: vec![control, data], markers: vec![] }
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        let mut resolved = self.params.resolved();
        resolved.push(("stall (in force)", self.silence.first.to_string()));
        resolved
    }

    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        packets.min(self.params.burst.unwrap_or(site.bdp_packets))
    }
}
