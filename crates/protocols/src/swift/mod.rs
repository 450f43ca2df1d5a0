//! Swift (SIGCOMM 2020): a window that keeps the delay of each packet at a target, and that may fall below
//! a packet; then packets are paced. Switches take no part.

mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::{Params, Rule};
pub use sender::Swift;

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, ReturnStamp, STAMP_BYTES, congestion_control};
use incast_endpoint::unordered::host_of;
use incast_transport::{
    Declaration, Ecn, EcnUse, Host, HostSite, Info, Optional, PlbRule, Policy, Ready, Routing,
    TransportId, TransportKind,
};
use std::sync::Arc;

/// Swift's number on the wire.
pub const ID: TransportId = TransportId(24);

/// htsim: five to seven RTTs without a delay below the target of a large window.
const PLB: PlbRule = PlbRule { rounds: 5, spread: 2, share: 1.0 };

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "swift",
        id: ID,
        title: "Swift",
        paper: "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the \
                Datacenter, SIGCOMM 2020",
        kind: TransportKind::Window,
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
    derive: |params, _| params.check(),
    host,
    policy: |_, site| Policy::one_class(ID, site.buffer, vec![]),
    // No initial wait; the time stamp makes packets longer than in the ideal time.
    unsolicited: |_, _, _| 0,
    optional: Optional {
        keeps_connections: true,
        sets: params::SETS,
        in_force: |swift| {
            vec![("base_target (in force)", swift.params.base(&swift.fabric).to_string())]
        },
        warnings: |swift| swift.params.warnings(&swift.fabric),
        warning_kinds: params::WARNINGS,
        moves_flows: true,
        extension: |_| STAMP_BYTES,
        any_order: |swift| swift.params.spray().is_some(),
        ..Optional::NONE
    },
};

fn host(swift: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let Params { rto_min, rto_initial, .. } = swift.params;
    let rule = Arc::new(Rule::new(&swift.params, site.rate, &swift.fabric));
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        rto: RtoBounds::starting_at(Some(rto_initial), rto_min),
        max_payload: rule.payload,
        plb: site.plb(PLB),
        ..Options::tcp(ID, rto_min)
    };
    let control = congestion_control(ReturnStamp, move |_, _, _| Swift::new(rule.clone()));
    host_of(control, options, swift.params.spray(), site)
}
