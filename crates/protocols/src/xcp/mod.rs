//! XCP (SIGCOMM 2002): ports compute how much each packet's window may change, and packets carry it.

pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Params, Timers};
pub use receiver::Returning;
pub use sender::Xcp;
pub use switch::{Controller, Gains, XcpMarker};

use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{DelayedAck, Options, SenderDriven, law};
use incast_transport::{
    Configured, Ecn, EcnUse, Explicit, Extension, FabricSite, Host, HostSite, Info, Kind,
    ParameterDoc, ParameterError, Policy, PortSite, Routing, Span, Transport, TransportId,
};
use std::sync::Arc;

/// XCP's number on the wire.
pub const ID: TransportId = TransportId(14);

/// Units of the congestion header's fields.
const RTT_UNIT: Span = Span::from_ns(64);
const SPACING_UNIT: Span = Span::from_ps(64);
/// Bytes a second.
const FEEDBACK_UNIT: f64 = 16.0;
/// "As much as there is": what a source asks for.
const UNLIMITED: i32 = i32::MAX;

/// A congestion header.
#[inline]
const fn header_of(long: bool, rtt: u32, spacing: u32, feedback: i32, reverse: i32) -> Explicit {
    Explicit::Window { long, rtt, spacing, feedback, reverse }
}

/// The feedback and the reverse feedback of a packet, in the header's units; 0 if it has none.
#[inline]
fn feedback_of(extension: &Extension) -> (i32, i32) {
    match extension {
        Extension::Explicit { fields: Explicit::Window { feedback, reverse, .. }, .. } => {
            (*feedback, *reverse)
        }
        _ => (0, 0),
    }
}

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// XCP.
pub struct Entry;

static INFO: Info = Info {
    name: "xcp",
    id: ID,
    title: "XCP",
    paper: "Katabi, Handley and Rohrs, Congestion control for high bandwidth-delay product \
            networks, SIGCOMM 2002",
    kind: Kind::Window,
    switch_support: "computes feedback for each packet from what arrives and waits",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::None,
    marks: true,
    made_for_pfc: false,
    feedback_bits: Some(8 * header_of(false, 0, 0, 0, 0).bytes() as u32),
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

/// XCP with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Plan {
    fn options(&self) -> Options {
        let Params { rto_min, rto_initial, delayed_ack, delayed_ack_timeout, .. } = self.params;
        let delayed =
            DelayedAck { count: delayed_ack.min(255) as u8, timeout: delayed_ack_timeout };
        Options {
            data_mark: Ecn::NotEct as u8,
            rto: RtoBounds::starting_at(rto_initial, rto_min),
            delayed_ack: (delayed_ack > 1).then_some(delayed),
            max_payload: self.fabric.framing.mss() - self.params.header as u16,
            ..Options::tcp(ID, rto_min)
        }
    }
}

impl Configured for Plan {
    fn host(&self, _site: &HostSite) -> Box<dyn Host> {
        let (params, framing) = (self.params.clone(), self.fabric.framing);
        let returning = Returning { long: params.header == 20 };
        let law = law(returning, move |_, _, _| Xcp::new(&params, framing));
        Box::new(SenderDriven::new(law, self.options()))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        Policy::one_queue(ID, site.buffer, Box::new(XcpMarker::new(&self.params, site)))
    }

    fn shapes_nic(&self) -> bool {
        self.params.at_nics
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    fn unsolicited(&self, _site: &HostSite, _packets: u32) -> u32 {
        // The congestion header is charged: no flow takes the time it would take without one.
        0
    }
}
