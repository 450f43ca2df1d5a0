//! REN: a receiver-driven transport whose switches say how many grants should circulate.

pub mod headers;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Feedback, Params, Rule, Spread};
pub use switch::{Code, PortMarker};

use incast_endpoint::receiver_driven::{ReceiverDriven, Silence};
use incast_transport::{
    ClassPolicy, Configured, EcnUse, FabricSite, Host, HostSite, Info, Kind, Limit, ParameterDoc,
    ParameterError, Policy, PortSite, Routing, Span, Transport, TransportId,
};
use std::sync::Arc;

/// Number on the wire.
pub const ID: TransportId = TransportId(0x86);

/// The catalogue entry.
pub static ENTRY: Ren = Ren;

static INFO: Info = Info {
    name: "ren",
    id: ID,
    title: "REN: receiver-driven transport based on explicit notification",
    paper: "IEEE Transactions on Cloud Computing, 2021",
    kind: Kind::ReceiverDriven,
    switch_support: "samples queue and idle time once a period; writes a 2-bit code; 16 B a port",
    routing: Routing::Spray,
    symmetric_paths: false,
    ecn: EcnUse::OwnCode,
    marks: true,
    made_for_pfc: false,
    feedback_bits: None,
    deviations: &[],
};

/// The transport.
pub struct Ren;

impl Transport for Ren {
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
        let period = params.period.unwrap_or(fabric.base_rtt);
        let silence = Silence::of(&fabric, params.stall);
        Ok(Arc::new(Ready { params, fabric, period, silence }))
    }
}

struct Ready {
    params: Params,
    fabric: Arc<FabricSite>,
    period: Span,
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
        let packet_time = self.fabric.mtu_time(site.rate);
        let marker = PortMarker::new(&self.params, self.period, packet_time);
        Policy { transport: ID, classes: vec![control, data], markers: vec![Box::new(marker)] }
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        let mut resolved = self.params.resolved();
        resolved.push(("period (in force)", self.period.to_string()));
        resolved.push(("stall (in force)", self.silence.first.to_string()));
        resolved
    }

    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        packets.min(self.params.burst.unwrap_or(site.bdp_packets))
    }
}
