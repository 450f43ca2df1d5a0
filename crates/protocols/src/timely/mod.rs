//! TIMELY (SIGCOMM 2015): the gradient of the RTT sets the rate; switches take no part.

mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod sender;
#[cfg(test)]
mod tests;

pub use params::{Pace, Params, Rule, Start, Update, Variant};
pub use sender::Timely;

use deviations::DEVIATIONS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{
    Options, ReturnStamp, STAMP_BYTES, SenderDriven, congestion_control,
};
use incast_transport::{
    Acks, Declaration, Ecn, EcnUse, Host, HostSite, Info, LentPorts, Limit, Optional, Policy,
    PortSite, Ready, Routing, TransportId, TransportKind,
};

/// TIMELY's number on the wire.
pub const ID: TransportId = TransportId(12);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "timely",
        id: ID,
        title: "TIMELY",
        paper: "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015",
        kind: TransportKind::Rate,
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
    derive: |params, fabric| fabric.check_control_limit("control_limit", params.control_limit),
    host,
    policy,
    // No initial wait; the time stamp makes packets longer than in the ideal time.
    unsolicited: |_, _, _| 0,
    optional: Optional {
        keeps_connections: true,
        extension: |_| STAMP_BYTES,
        lends_ports: Some(LentPorts {
            parameters: &["control_limit"],
            acks: Acks::Control,
            code: None,
        }),
        ..Optional::NONE
    },
};

fn host(timely: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    // Beside the time stamp.
    let payload = timely.fabric.framing.mss() - STAMP_BYTES;
    let base_rtt = timely.fabric.base_rtt;
    let rule = Rule::new(&timely.params, site.rate, site.bdp_packets as u64, payload, base_rtt);
    let (framing, share) = (timely.fabric.framing, timely.params.start == Start::Share);
    let control = congestion_control(ReturnStamp, move |_, _, others| {
        Timely::new(rule, framing, if share { others } else { 0 })
    });
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        ack_class: 0,
        reliability: timely.params.recovery.reliability(timely.params.nack_interval, base_rtt),
        rto: RtoBounds::at_least(timely.params.rto_min),
        max_payload: payload,
        ..Options::tcp(ID, timely.params.rto_min)
    };
    Box::new(SenderDriven::new(control, options))
}

fn policy(timely: &Ready<Params>, site: &PortSite) -> Policy {
    let control = Limit::Bytes(timely.params.control_limit.0);
    Policy::two_queues(ID, control, site.buffer, vec![])
}
