//! VCP (SIGCOMM 2005): ports tell their load in two bits; windows multiply, add or are cut by it.

#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::Params;
pub use receiver::Copying;
pub use sender::Vcp;
pub use switch::{VcpMarker, code};

use incast_blocks::rto::RtoBounds;
use incast_blocks::sender::{Law, Options, Sender};
use incast_transport::{
    ClassPolicy, Configured, FabricSite, Flow, Host, HostSite, Info, ParameterDoc, ParameterError,
    Policy, PortSite, Routing, Span, Time, Transport, TransportId,
};
use std::sync::Arc;

/// VCP's number on the wire; its code is in the ECN bits.
pub const ID: TransportId = TransportId(0x90);

/// Load below 80 %: what senders write, and windows multiply by.
pub const LOW: u8 = 1;
/// From 80 % on.
pub const HIGH: u8 = 2;
/// From 100 % on.
pub const OVERLOAD: u8 = 3;

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// VCP.
pub struct Entry;

static INFO: Info = Info {
    name: "vcp",
    id: ID,
    title: "VCP",
    paper: "Xia, Subramanian, Stoica and Kalyanaraman, One more bit is enough, SIGCOMM 2005",
    kind: "window",
    switch_support: "writes its load into the two ECN bits",
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

/// VCP with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Configured for Plan {
    fn host(&self, _site: &HostSite) -> Box<dyn Host> {
        let Params { rto_min, rto_initial, .. } = self.params;
        let initial = rto_initial.unwrap_or(rto_min);
        let options = Options {
            data_mark: LOW,
            rto: RtoBounds { initial, min: rto_min, max: Span::from_secs(60) },
            ..Options::tcp(ID, rto_min)
        };
        let law = VcpLaw { params: self.params.clone(), fabric: self.fabric.clone() };
        Box::new(Sender::new(law, options))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        Policy {
            transport: ID,
            // Data and answers share one queue; class 0 is there for transports that use it.
            classes: vec![ClassPolicy::fifo(site.buffer); 2],
            markers: vec![Box::new(VcpMarker::new(&self.params, site))],
        }
    }

    fn shapes_nic(&self) -> bool {
        self.params.at_nics
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    fn unsolicited(&self, _site: &HostSite, packets: u32) -> u32 {
        packets.min(self.params.initial_window)
    }
}

/// Makes a [`Vcp`] for each flow; answers copy the code.
struct VcpLaw {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Law for VcpLaw {
    type Control = Vcp;
    type Feedback = Copying;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Vcp {
        Vcp::new(&self.params, &self.fabric)
    }

    fn feedback(&mut self) -> Copying {
        Copying
    }
}
