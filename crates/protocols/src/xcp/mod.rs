//! XCP (SIGCOMM 2002): ports compute how much each packet's window may change, and packets carry it.

mod deviations;
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
pub use switch::{Controller, Gains, XcpMarker, marker};

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{DelayedAck, Options, SenderDriven, congestion_control};
use incast_transport::{
    Declaration, Ecn, EcnUse, Explicit, Extension, Host, HostSite, Info, Optional, Policy,
    PortSite, Ready, Routing, Span, TransportId, TransportKind,
};

/// XCP's number on the wire.
pub const ID: TransportId = TransportId(14);

/// Units of the congestion header's fields.
const RTT_UNIT: Span = Span::from_ns(64);
const SPACING_UNIT: Span = Span::from_ps(64);
/// Bytes a second.
const FEEDBACK_UNIT: f64 = 16.0;
/// The rate that a source requests: unlimited.
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
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "xcp",
        id: ID,
        title: "XCP",
        paper: "Katabi, Handley and Rohrs, Congestion control for high bandwidth-delay product \
                networks, SIGCOMM 2002",
        kind: TransportKind::Window,
        switch_support: "computes feedback for each packet from what arrives and waits",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: true,
        ecn: EcnUse::None,
        marks: true,
        made_for_pfc: false,
        feedback_bits: Some(8 * header_of(false, 0, 0, 0, 0).bytes() as u32),
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy,
    // The congestion header is charged: no flow takes the time it would take without one.
    unsolicited: |_, _, _| 0,
    optional: Optional {
        keeps_connections: true,
        shapes_nic: |xcp| xcp.params.at_nics,
        extension: |xcp| xcp.params.header as u16,
        takes_burst: true,
        ..Optional::NONE
    },
};

fn host(xcp: &Ready<Params>, _site: &HostSite) -> Box<dyn Host> {
    let (params, framing) = (xcp.params.clone(), xcp.fabric.framing);
    let returning = Returning { long: params.header == 20 };
    let control = congestion_control(returning, move |_, _, _| Xcp::new(&params, framing));
    Box::new(SenderDriven::new(control, options(xcp)))
}

fn options(xcp: &Ready<Params>) -> Options {
    let Params { rto_min, rto_initial, delayed_ack, delayed_ack_timeout, .. } = xcp.params;
    Options {
        data_mark: Ecn::NotEct as u8,
        rto: RtoBounds::starting_at(rto_initial, rto_min),
        delayed_ack: DelayedAck::of(delayed_ack, delayed_ack_timeout),
        max_payload: xcp.fabric.framing.mss() - xcp.params.header as u16,
        ..Options::tcp(ID, rto_min)
    }
}

fn policy(xcp: &Ready<Params>, site: &PortSite) -> Policy {
    Policy::one_queue(ID, site.buffer, Box::new(marker(&xcp.params, site)))
}
