//! Template (RFC 3168): a window that grows as TCP's and is halved by a mark, once per window of
//! data. Replace this sentence by the idea of the paper.

mod deviations;
pub mod headers;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
pub use sender::Template;

use deviations::DEVIATIONS;
use incast_egress::threshold::ThresholdMarker;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{EchoMark, Options, SenderDriven, congestion_control};
use incast_transport::{
    Declaration, EcnUse, Host, HostSite, Info, Optional, Policy, PortSite, Ready, Routing,
    TransportId, TransportKind,
};

/// Template's number on the wire.
pub const ID: TransportId = TransportId(127);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "template",
        id: ID,
        title: "Template",
        paper: "Ramakrishnan, Floyd and Black, The addition of ECN to IP, RFC 3168",
        kind: TransportKind::Window,
        switch_support: "ECN marking above a queue threshold",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::Rfc3168,
        marks: true,
        made_for_pfc: false,
        feedback_bits: Some(1),
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy,
    unsolicited: |ready, _, packets| packets.min(ready.params.initial_window),
    optional: Optional::NONE,
};

/// One congestion control per flow; ACKs echo marks.
fn host(ready: &Ready<Params>, _site: &HostSite) -> Box<dyn Host> {
    let (params, segment) = (ready.params.clone(), ready.fabric.framing.mss() as u64);
    let rto_min = params.rto_min;
    let options = Options { rto: RtoBounds::at_least(rto_min), ..Options::tcp(ID, rto_min) };
    let control = congestion_control(EchoMark, move |_, _, _| Template::new(&params, segment));
    Box::new(SenderDriven::new(control, options))
}

/// Data and ACKs share one queue, which marks.
fn policy(ready: &Ready<Params>, site: &PortSite) -> Policy {
    let marker = ThresholdMarker::new(ready.params.mark_threshold, site);
    Policy::one_queue(ID, site.buffer, Box::new(marker))
}
