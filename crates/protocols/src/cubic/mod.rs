//! CUBIC (RFC 9438) over TCP with SACK: the window depends on losses and time only. With
//! `growth = "reno"` the window grows as in NewReno.

mod deviations;
pub mod headers;
mod hystart;
#[cfg(test)]
mod network_tests;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::{Growth, Params};
pub use sender::Cubic;

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{
    DelayedAck, Options, Reliability, SenderDriven, Silent, congestion_control,
};
use incast_transport::{
    Acks, Declaration, Ecn, EcnUse, Host, HostSite, Info, LentPorts, Optional, Policy, Ready,
    Routing, TransportId, TransportKind,
};
use params::Recovery;

/// CUBIC's number on the wire.
pub const ID: TransportId = TransportId(13);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "cubic",
        id: ID,
        title: "CUBIC",
        paper: "Ha, Rhee and Xu, CUBIC: a new TCP-friendly high-speed TCP variant, 2008; RFC 9438",
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
    derive: |_, _| Ok(()),
    host,
    policy: |_, site| Policy::one_class(ID, site.buffer, vec![]),
    unsolicited,
    optional: Optional {
        keeps_connections: true,
        in_force: |cubic| vec![("beta (in force)", cubic.params.beta().to_string())],
        takes_burst: true,
        lends_ports: Some(LentPorts { parameters: &[], acks: Acks::Data, code: None }),
        ..Optional::NONE
    },
};

fn host(cubic: &Ready<Params>, _site: &HostSite) -> Box<dyn Host> {
    let (params, segment) = (cubic.params.clone(), cubic.fabric.framing.mss() as u64);
    let control = congestion_control(Silent, move |_, flow, _| {
        Cubic::new(&params, params.window_unit.payload(flow, segment))
    });
    Box::new(SenderDriven::new(control, options(cubic)))
}

fn options(cubic: &Ready<Params>) -> Options {
    let Params { rto_min, delayed_ack, delayed_ack_timeout, .. } = cubic.params;
    Options {
        // CUBIC is not ECN-capable here: its queues are drop-tail.
        data_mark: Ecn::NotEct as u8,
        reliability: match cubic.params.recovery {
            Recovery::Sack => Reliability::Sack,
            Recovery::NewReno => Reliability::NewReno,
        },
        rto: RtoBounds::starting_at(Some(cubic.params.rto_initial()), rto_min),
        delayed_ack: DelayedAck::of(delayed_ack, delayed_ack_timeout),
        ..Options::tcp(ID, rto_min)
    }
}

fn unsolicited(cubic: &Ready<Params>, _site: &HostSite, packets: u32) -> u32 {
    if cubic.params.handshake { 0 } else { packets.min(cubic.params.initial_window) }
}
