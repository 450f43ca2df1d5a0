//! MLCP (INFOCOM 2008): VCP with sixteen levels of load instead of three.

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
pub use switch::MlcpMarker;

use incast_blocks::rto::RtoBounds;
use incast_blocks::sender::{Law, Options, Sender};
use incast_transport::{
    ClassPolicy, Configured, Ecn, FabricSite, Flow, Host, HostSite, Info, ParameterDoc,
    ParameterError, Policy, PortSite, Routing, Span, Time, Transport, TransportId,
};
use std::sync::Arc;

/// MLCP's number on the wire.
pub const ID: TransportId = TransportId(17);

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
    kind: "window",
    switch_support: "writes its load into four bits",
    routing: Routing::Ecmp,
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
        let initial = rto_initial.unwrap_or(rto_min);
        let options = Options {
            data_mark: Ecn::NotEct as u8,
            rto: RtoBounds { initial, min: rto_min, max: Span::from_secs(60) },
            max_payload: self.params.segment(&self.fabric),
            ..Options::tcp(ID, rto_min)
        };
        let law = MlcpLaw { params: self.params.clone(), fabric: self.fabric.clone() };
        Box::new(Sender::new(law, options))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        Policy {
            transport: ID,
            // Data and answers share one queue; class 0 is there for transports that use it.
            classes: vec![ClassPolicy::fifo(site.buffer); 2],
            markers: vec![Box::new(MlcpMarker::new(&self.params, site))],
        }
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

/// Makes a [`Mlcp`] for each flow; answers copy the level.
struct MlcpLaw {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Law for MlcpLaw {
    type Control = Mlcp;
    type Feedback = Copying;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Mlcp {
        Mlcp::new(&self.params, &self.fabric)
    }

    fn feedback(&mut self) -> Copying {
        Copying
    }
}
