//! MLCP (INFOCOM 2008): VCP with sixteen levels of load instead of three.

pub mod headers;
pub mod level;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Factors, Params};
pub use receiver::Copying;
pub use sender::{Mlcp, class};
pub use switch::{MlcpMarker, marker};

use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, SenderDriven, law};
use incast_transport::{
    Configured, Ecn, EcnUse, FabricSite, Host, HostSite, Info, Kind, ParameterDoc, ParameterError,
    Policy, PortSite, Routing, Time, Transport, TransportId,
};
use sender::LAST_CLASS;
use std::sync::Arc;

/// MLCP's number on the wire.
pub const ID: TransportId = TransportId(17);

/// Bits that hold every number up to `largest`.
const fn width(largest: u8) -> u32 {
    u8::BITS - largest.leading_zeros()
}

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// MLCP.
pub struct Entry;

static INFO: Info = Info {
    name: "mlcp",
    id: ID,
    title: "MLCP",
    paper: "Qazi and Znati, On the design of load factor based congestion control protocols for \
            next-generation networks, INFOCOM 2008",
    kind: Kind::Window,
    switch_support: "writes its load into four bits",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::None,
    marks: true,
    made_for_pfc: false,
    // The largest level and the largest class.
    feedback_bits: Some(width(level::HIGHEST) + width(LAST_CLASS)),
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

/// MLCP with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Configured for Plan {
    fn host(&self, _site: &HostSite) -> Box<dyn Host> {
        let Params { rto_min, rto_initial, .. } = self.params;
        let options = Options {
            data_mark: Ecn::NotEct as u8,
            rto: RtoBounds::starting_at(rto_initial, rto_min),
            max_payload: self.params.segment(&self.fabric),
            ..Options::tcp(ID, rto_min)
        };
        let (params, fabric) = (self.params.clone(), self.fabric.clone());
        let law = law(Copying, move |_, _, _| Mlcp::new(&params, &fabric));
        Box::new(SenderDriven::new(law, options))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        Policy::one_queue(ID, site.buffer, Box::new(marker(&self.params, site, Time::NEVER)))
    }

    fn shapes_nic(&self) -> bool {
        self.params.at_nics
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    fn unsolicited(&self, _site: &HostSite, packets: u32) -> u32 {
        // The byte of its class is charged: no flow takes the time it would take without one.
        if self.params.header > 0 { 0 } else { packets.min(self.params.initial_window) }
    }
}
