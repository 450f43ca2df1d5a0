//! Bolt (NSDI 2023): switches tell sources of a queue at once, by packets of their own, and let windows grow only
//! where links have room for it now or soon.

mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Params, Rule};
pub use sender::{Bolt, Repeat};
pub use switch::Reflector;

use deviations::DEVIATIONS;
use incast_endpoint::rto::{RtoBounds, least_or_auto};
use incast_endpoint::sender::{Options, Recovery, STAMP_BYTES, SenderDriven, congestion_control};
use incast_transport::{
    Declaration, Ecn, EcnUse, Host, HostSite, Info, Limit, Optional, Policy, PortSite, Ready,
    Routing, TransportId, TransportKind,
};
use std::sync::Arc;

/// Bolt's number on the wire.
pub const ID: TransportId = TransportId(29);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "bolt",
        id: ID,
        title: "Bolt",
        paper: "Arslan et al., Bolt: Sub-RTT Congestion Control for Ultra-Low Latency, NSDI 2023",
        kind: TransportKind::Window,
        switch_support: "tells sources of queues by packets of its own, clears a bit where a link has no room; two \
                         queues",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: true,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| params.check(fabric),
    host,
    policy,
    // No initial wait; the time stamp makes packets longer than in the ideal time.
    unsolicited: |_, _, _| 0,
    optional: Optional {
        sets: params::SETS,
        in_force: |bolt| {
            let rule = Rule::new(&bolt.params, bolt.fabric.host_rate, &bolt.fabric);
            vec![("window (in force)", format!("{}B", rule.most))]
        },
        hook: |bolt, site| Some(Box::new(Reflector::new(&bolt.params, site))),
        extension: |_| STAMP_BYTES,
        ..Optional::NONE
    },
};

fn host(bolt: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let base_rtt = bolt.fabric.base_rtt;
    let rule = Arc::new(Rule::new(&bolt.params, site.rate, &bolt.fabric));
    let rto_min = least_or_auto(bolt.params.rto_min, base_rtt);
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        ack_class: 0,
        reliability: Recovery::GoBackN.reliability(bolt.params.nack_interval, base_rtt),
        rto: RtoBounds::at_least(rto_min),
        max_payload: rule.payload as u16,
        ..Options::tcp(ID, rto_min)
    };
    let control = congestion_control(Repeat, move |now, _, _| Bolt::new(rule.clone(), now));
    Box::new(SenderDriven::new(control, options))
}

fn policy(bolt: &Ready<Params>, site: &PortSite) -> Policy {
    let control = Limit::Bytes(bolt.params.control_limit.0);
    Policy::two_queues(ID, control, site.buffer, vec![])
}
