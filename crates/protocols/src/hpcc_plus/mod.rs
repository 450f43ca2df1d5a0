//! HPCC+ (FastTune §V-A): HPCC whose window is multiplied always and never stepped up.

pub mod headers;
mod params;
#[cfg(test)]
mod tests;

pub use params::Params;

use crate::hpcc::Plan;
use incast_transport::{Declaration, EcnUse, Info, Optional, Routing, TransportId, TransportKind};

/// HPCC+'s number on the wire.
pub const ID: TransportId = TransportId(20);

/// The catalogue entry.
pub static ENTRY: Declaration<Params, Plan> = Declaration {
    info: &Info {
        name: "hpcc_plus",
        id: ID,
        title: "HPCC+",
        paper: "Zhou et al., FastTune: Timely and Precise Congestion Control in Data Center Network",
        kind: TransportKind::Window,
        switch_support: "writes time, bytes sent, queue and rate into each packet; made for PFC",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: true,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: true,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: &[],
    },
    derive: |params, fabric| Plan::new(ENTRY.info, params.as_hpcc(), fabric),
    host: |plus, site| plus.derived.host(&plus.fabric, site),
    policy: |plus, site| plus.derived.policy(site),
    unsolicited: |_, _, _| 0,
    optional: Optional { extension: |plus| plus.derived.extension(), ..Optional::NONE },
};
