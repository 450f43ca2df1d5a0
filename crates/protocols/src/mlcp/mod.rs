//! MLCP (INFOCOM 2008): VCP with sixteen levels of load instead of three.

mod deviations;
pub mod headers;
pub mod level;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Factors, Params};
pub use receiver::Copying;
pub use sender::{Mlcp, class};
pub use switch::{MlcpMarker, marker};

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, SenderDriven, congestion_control};
use incast_transport::{
    Declaration, Ecn, EcnUse, Host, HostSite, Info, Optional, Policy, PortSite, Ready, Routing,
    Time, TransportId, TransportKind,
};
use sender::LAST_CLASS;

/// MLCP's number on the wire.
pub const ID: TransportId = TransportId(17);

/// Bits that hold every number up to `largest`.
const fn width(largest: u8) -> u32 {
    u8::BITS - largest.leading_zeros()
}

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "mlcp",
        id: ID,
        title: "MLCP",
        paper: "Qazi and Znati, On the design of load factor based congestion control protocols for \
                next-generation networks, INFOCOM 2008",
        kind: TransportKind::Window,
        switch_support: "writes its load into four bits",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: true,
        made_for_pfc: false,
        // The largest level and the largest class.
        feedback_bits: Some(width(level::HIGHEST) + width(LAST_CLASS)),
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy,
    unsolicited,
    optional: Optional {
        keeps_connections: true,
        shapes_nic: |mlcp| mlcp.params.at_nics,
        extension: |mlcp| mlcp.params.header as u16,
        takes_burst: true,
        ..Optional::NONE
    },
};

fn host(mlcp: &Ready<Params>, _site: &HostSite) -> Box<dyn Host> {
    let Params { rto_min, rto_initial, .. } = mlcp.params;
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        rto: RtoBounds::starting_at(rto_initial, rto_min),
        max_payload: mlcp.params.segment(&mlcp.fabric),
        ..Options::tcp(ID, rto_min)
    };
    let (params, fabric) = (mlcp.params.clone(), mlcp.fabric.clone());
    let segment = params.segment(&fabric) as u64;
    let control = congestion_control(Copying, move |_, flow, _| {
        Mlcp::new(&params, &fabric, params.window_unit.payload(flow, segment))
    });
    Box::new(SenderDriven::new(control, options))
}

fn policy(mlcp: &Ready<Params>, site: &PortSite) -> Policy {
    Policy::one_queue(ID, site.buffer, Box::new(marker(&mlcp.params, site, Time::NEVER)))
}

fn unsolicited(mlcp: &Ready<Params>, _site: &HostSite, packets: u32) -> u32 {
    // The byte of its class is charged: no flow takes the time it would take without one.
    if mlcp.params.header > 0 { 0 } else { packets.min(mlcp.params.initial_window) }
}
