//! No congestion control: flows send at a fixed rate and repair what they lose. What a fabric does
//! without any, and the traffic beside which others are tested.

mod deviations;
pub mod headers;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
pub use sender::FixedRate;

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, SenderDriven, Silent, congestion_control};
use incast_transport::{
    Declaration, Ecn, EcnUse, Host, HostSite, Info, Optional, Policy, Ready, Routing, TransportId,
    TransportKind,
};

/// Its number on the wire.
pub const ID: TransportId = TransportId(23);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "none",
        id: ID,
        title: "No congestion control",
        paper: "no paper: a fixed rate, as constant bit rate sources of ns-2 and ns-3 have",
        kind: TransportKind::Rate,
        switch_support: "none",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy: |_, site| Policy::one_class(ID, site.buffer, vec![]),
    unsolicited,
    optional: Optional { keeps_connections: true, ..Optional::NONE },
};

fn host(none: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let control = FixedRate { rate: none.params.rate.filter(|rate| *rate < site.rate) };
    let rto_min = none.params.rto_min;
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        rto: RtoBounds::at_least(rto_min),
        ..Options::tcp(ID, rto_min)
    };
    Box::new(SenderDriven::new(congestion_control(Silent, move |_, _, _| control), options))
}

/// At the NIC's rate a flow waits for nothing.
fn unsolicited(none: &Ready<Params>, site: &HostSite, packets: u32) -> u32 {
    if none.params.rate.is_some_and(|rate| rate < site.rate) { packets.min(1) } else { packets }
}
