//! RCP (IWQoS 2005): every port offers one rate to all flows; a flow uses the lowest of its path.

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

pub use params::Params;
pub use receiver::Returning;
pub use sender::{Rcp, Rule};
pub use switch::{Controller, Gains, RcpMarker, marker};

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, SenderDriven, congestion_control};
use incast_transport::{
    Declaration, Ecn, EcnUse, Explicit, Extension, Host, HostSite, Info, Optional, Policy,
    PortSite, Ready, Routing, Span, Time, TransportId, TransportKind,
};

/// RCP's number on the wire.
pub const ID: TransportId = TransportId(15);

/// Bytes of its header on data and ACKs (DECN Table I: 96 bits).
pub const HEADER: u16 = 12;
/// Units of the header's fields: of round-trip times, and of rates in bytes a second.
const RTT_UNIT: Span = Span::from_ns(64);
const RATE_UNIT: u64 = 64;
/// The rate that a source requests: unlimited.
const UNLIMITED: u32 = u32::MAX;

#[inline]
const fn header(rtt: u32, forward: u32, reverse: u32) -> Explicit {
    Explicit::Rate { rtt, forward, reverse }
}

/// The rate set by the switches; unlimited if the packet has none.
#[inline]
fn forward_of(extension: &Extension) -> u32 {
    match extension {
        Extension::Explicit { fields: Explicit::Rate { forward, .. }, .. } => *forward,
        _ => UNLIMITED,
    }
}

/// The rate that an ACK returns.
#[inline]
fn reverse_of(extension: &Extension) -> Option<u32> {
    match extension {
        Extension::Explicit { fields: Explicit::Rate { reverse, .. }, .. } => Some(*reverse),
        _ => None,
    }
}

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "rcp",
        id: ID,
        title: "RCP",
        paper: "Dukkipati, Kobayashi, Zhang-Shen and McKeown, Processor Sharing Flows in the Internet, \
                IWQoS 2005",
        kind: TransportKind::Rate,
        switch_support: "offers one rate to all flows, from what arrives and waits",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: true,
        ecn: EcnUse::None,
        marks: true,
        made_for_pfc: false,
        feedback_bits: Some(8 * header(0, 0, 0).bytes() as u32),
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy,
    // No data leaves before the rate request is acknowledged.
    unsolicited: |_, _, _| 0,
    optional: Optional { extension: |_| HEADER, ..Optional::NONE },
};

fn host(rcp: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let Params { rto_min, rto_initial, .. } = rcp.params;
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        rto: RtoBounds::starting_at(rto_initial, rto_min),
        max_payload: rcp.fabric.framing.mss() - HEADER,
        ..Options::tcp(ID, rto_min)
    };
    let rule = Rule::new(&rcp.params, site.rate, &rcp.fabric);
    let control = congestion_control(Returning, move |now, _, _| Rcp::new(rule.clone(), now));
    Box::new(SenderDriven::new(control, options))
}

fn policy(rcp: &Ready<Params>, site: &PortSite) -> Policy {
    Policy::one_queue(ID, site.buffer, Box::new(marker(&rcp.params, site, Time::NEVER)))
}
