//! theta-PowerTCP (NSDI 2022): PowerTCP without switches. Power is the delay times its growth.

mod deviations;
pub mod headers;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
pub use sender::{Measure, Theta, Update};

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{
    Admission, Options, ReturnStamp, STAMP_BYTES, SenderDriven, congestion_control,
};
use incast_transport::{
    Declaration, Ecn, EcnUse, Host, HostSite, Info, Optional, Policy, Ready, Routing, TransportId,
    TransportKind,
};
use std::sync::Arc;

/// theta-PowerTCP's number on the wire.
pub const ID: TransportId = TransportId(26);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "theta_powertcp",
        id: ID,
        title: "theta-PowerTCP",
        paper: "Addanki, Michel and Schmid, PowerTCP: Pushing the Performance Limits of Datacenter \
                Networks, NSDI 2022, Algorithm 2",
        kind: TransportKind::Window,
        switch_support: "none; made for PFC",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: true,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy: |_, site| Policy::one_class(ID, site.buffer, vec![]),
    // No initial wait; the time stamp makes packets longer than in the ideal time.
    unsolicited: |_, _, _| 0,
    optional: Optional {
        keeps_connections: true,
        sets: params::SETS,
        extension: |_| STAMP_BYTES,
        ..Optional::NONE
    },
};

fn host(theta: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let (params, fabric) = (&theta.params, &theta.fabric);
    let measure = Arc::new(params.measure(site.rate, fabric));
    let rto_min = params.timeout(&measure.rule);
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        admission: Admission::Below,
        reliability: params.recovery.reliability(params.nack_interval, fabric.base_rtt),
        rto: RtoBounds::at_least(rto_min),
        max_payload: fabric.framing.mss() - STAMP_BYTES,
        ..Options::tcp(ID, rto_min)
    };
    let control = congestion_control(ReturnStamp, move |_, _, _| Theta::new(measure.clone()));
    Box::new(SenderDriven::new(control, options))
}
