//! VCP (SIGCOMM 2005): ports write their load into two bits; windows multiply, add or are cut by it.

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

pub use headers::{HIGH, ID, LOW, OVERLOAD};
pub use params::Params;
pub use receiver::Copying;
pub use sender::Vcp;
pub use switch::{VcpMarker, code, marker};

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, SenderDriven, congestion_control};
use incast_transport::{
    Acks, Declaration, EcnUse, Host, HostSite, Info, LentPorts, Optional, Policy, PortSite, Ready,
    Routing, Time, TransportKind,
};

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "vcp",
        id: ID,
        title: "VCP",
        paper: "Xia, Subramanian, Stoica and Kalyanaraman, One more bit is enough, SIGCOMM 2005",
        kind: TransportKind::Window,
        switch_support: "writes its load into the two ECN bits",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::OwnCode,
        marks: true,
        made_for_pfc: false,
        // The largest code, in the ECN bits.
        feedback_bits: Some(u8::BITS - OVERLOAD.leading_zeros()),
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy,
    unsolicited: |vcp, _, packets| packets.min(vcp.params.initial_window),
    optional: Optional {
        keeps_connections: true,
        shapes_nic: |vcp| vcp.params.at_nics,
        takes_burst: true,
        lends_ports: Some(LentPorts {
            parameters: &[
                "interval",
                "interval_min",
                "sample",
                "queue_weight",
                "average_weight",
                "target",
                "high_load",
                "at_nics",
            ],
            acks: Acks::Data,
            code: Some(LOW),
        }),
        ..Optional::NONE
    },
};

fn host(vcp: &Ready<Params>, _site: &HostSite) -> Box<dyn Host> {
    let Params { rto_min, rto_initial, .. } = vcp.params;
    let options = Options {
        data_mark: LOW,
        rto: RtoBounds::starting_at(rto_initial, rto_min),
        ..Options::tcp(ID, rto_min)
    };
    let (params, fabric) = (vcp.params.clone(), vcp.fabric.clone());
    let segment = fabric.framing.mss() as u64;
    let control = congestion_control(Copying, move |_, flow, _| {
        Vcp::new(&params, &fabric, params.window_unit.payload(flow, segment))
    });
    Box::new(SenderDriven::new(control, options))
}

fn policy(vcp: &Ready<Params>, site: &PortSite) -> Policy {
    Policy::one_queue(ID, site.buffer, Box::new(marker(&vcp.params, site, Time::NEVER)))
}
