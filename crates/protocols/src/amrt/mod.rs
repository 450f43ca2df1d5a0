//! AMRT: a receiver-driven transport whose switches say when one more packet would have fitted.

pub mod headers;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Params, Recovery};
pub use receiver::Expectations;
pub use switch::{Code, GapMarker};

use incast_endpoint::receiver_driven::ReceiverDriven;
use incast_transport::{
    ClassPolicy, Configured, EcnUse, FabricSite, Host, HostSite, Info, Kind, Limit, ParameterDoc,
    ParameterError, Policy, PortSite, Routing, Transport, TransportId,
};
use std::sync::Arc;

/// Number on the wire.
pub const ID: TransportId = TransportId(0x85);

/// The catalogue entry.
pub static ENTRY: Amrt = Amrt;

static INFO: Info = Info {
    name: "amrt",
    id: ID,
    title: "AMRT: anti-ECN marking receiver-driven transport",
    paper: "ICPP 2020",
    kind: Kind::ReceiverDriven,
    switch_support: "clears a bit of packets without a gap in front; one timestamp a port",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::OwnCode,
    marks: true,
    made_for_pfc: false,
    feedback_bits: None,
    deviations: &[],
};

/// The transport.
pub struct Amrt;

impl Transport for Amrt {
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
        let expectations = Expectations::of(&fabric, &params);
        Ok(Arc::new(Ready { params, fabric, expectations }))
    }
}

struct Ready {
    params: Params,
    fabric: Arc<FabricSite>,
    expectations: Expectations,
}

impl Configured for Ready {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let burst = self.params.burst.unwrap_or(site.bdp_packets);
        let packet_time = self.fabric.mtu_time(site.rate);
        let senders = sender::terms(burst, packet_time, &self.expectations);
        let receivers = receiver::terms(&self.expectations);
        Box::new(ReceiverDriven::new(senders, receivers, self.expectations))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let control = ClassPolicy::fifo(Limit::Packets(self.params.control_packets));
        let data = ClassPolicy::fifo(Limit::Packets(self.params.data_packets));
        let marker = GapMarker::new(self.fabric.mtu_time(site.rate));
        Policy { transport: ID, classes: vec![control, data], markers: vec![Box::new(marker)] }
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        let mut resolved = self.params.resolved();
        resolved.push(("timeout (in force)", self.expectations.timeout.to_string()));
        resolved
    }

    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        packets.min(self.params.burst.unwrap_or(site.bdp_packets))
    }
}
