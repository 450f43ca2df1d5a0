//! FastTune: switches acknowledge the first packets of a flow and add their state to ACKs, so that
//! the window follows recent measurements (FastTune §III-A).

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
pub use receiver::EmptyStack;
pub use sender::FastTune;
pub use switch::SwitchAcks;

use crate::hpcc::Terms;
use deviations::DEVIATIONS;
use incast_egress::telemetry::depth;
use incast_endpoint::rto::{RtoBounds, least_or_auto};
use incast_endpoint::sender::{Admission, Options, SenderDriven, congestion_control};
use incast_transport::{
    Declaration, Ecn, EcnUse, Host, HostSite, Info, Limit, Optional, Policy, PortSite, Rate, Ready,
    Routing, TransportId, TransportKind,
};
use std::sync::Arc;

/// FastTune's number on the wire.
pub const ID: TransportId = TransportId(21);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "fasttune",
        id: ID,
        title: "FastTune",
        paper: "Zhou et al., FastTune: Timely and Precise Congestion Control in Data Center Network",
        kind: TransportKind::Window,
        switch_support: "acknowledges first packets, adds its state to ACKs; symmetric paths, two queues",
        routing: Routing::SymmetricEcmp,
        symmetric_paths: true,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| {
        fabric.check_control_limit("control_limit", params.control_limit)?;
        depth(params.int_hops, fabric).map(|_| ())
    },
    host,
    policy,
    unsolicited,
    optional: Optional {
        hook: |fasttune, site| Some(Box::new(SwitchAcks::new(&fasttune.params, site))),
        ..Optional::NONE
    },
};

fn host(fasttune: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let terms = Arc::new(terms(fasttune, site.rate));
    let rto_min = least_or_auto(fasttune.params.rto_min, terms.base_rtt);
    let (params, base_rtt) = (&fasttune.params, fasttune.fabric.base_rtt);
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        ack_class: 0,
        admission: Admission::Below,
        reliability: params.recovery.reliability(params.nack_interval, base_rtt),
        rto: RtoBounds::at_least(rto_min),
        ..Options::tcp(ID, rto_min)
    };
    let control = congestion_control(EmptyStack, move |_, _, _| FastTune::new(terms.clone()));
    Box::new(SenderDriven::new(control, options))
}

fn terms(fasttune: &Ready<Params>, line: Rate) -> Terms {
    Terms::new(&fasttune.params.windows(), line, &fasttune.fabric)
}

fn policy(fasttune: &Ready<Params>, site: &PortSite) -> Policy {
    let control = Limit::Bytes(fasttune.params.control_limit.0);
    Policy::two_queues(ID, control, site.buffer, vec![])
}

/// At most three packets: the second ACK of the first switch, which arrives while the third packet
/// leaves, already reports a busy link.
fn unsolicited(fasttune: &Ready<Params>, site: &HostSite, packets: u32) -> u32 {
    let fits = terms(fasttune, site.rate).most / fasttune.fabric.framing.mss() as f64;
    packets.min(3).min(fits.ceil() as u32)
}
