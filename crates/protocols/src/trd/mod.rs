//! The traditional receiver-driven transport: one new packet for each packet received, never more
//! and never less. What REN and AMRT measure themselves against in their models.

mod deviations;
pub mod headers;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use headers::ID;
pub use params::{Order, Params};

use deviations::DEVIATIONS;
use incast_endpoint::receiver_driven::{self, ReceiverDriven, StallTimeout, Tells};
use incast_transport::{
    Acks, Declaration, EcnUse, Host, HostSite, Info, LentPorts, Limit, Optional, Policy, PortSite,
    Ready, Routing, TransportKind,
};

/// The catalogue entry.
pub static ENTRY: Declaration<Params, StallTimeout> = Declaration {
    info: &Info {
        name: "trd",
        id: ID,
        title: "traditional receiver-driven transport",
        paper: "the baseline of the models in REN §4 (IEEE TCC 2021) and AMRT §5 (ICPP 2020)",
        kind: TransportKind::ReceiverDriven,
        switch_support: "drop-tail FIFO and a control class",
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
    derive: |params, fabric| {
        fabric.check_control_limit("control_limit", params.control_limit)?;
        Ok(StallTimeout::of(fabric, params.stall))
    },
    host,
    policy,
    unsolicited: |trd, site, packets| packets.min(burst(&trd.params, site)),
    optional: Optional {
        in_force: |trd| vec![("stall (in force)", trd.derived.first.to_string())],
        takes_burst: true,
        lends_ports: Some(LentPorts {
            parameters: &["control_limit"],
            acks: Acks::Control,
            code: None,
        }),
        ..Optional::NONE
    },
};

fn burst(params: &Params, site: &HostSite) -> u32 {
    params.burst.unwrap_or(site.bdp_packets)
}

fn host(trd: &Ready<Params, StallTimeout>, site: &HostSite) -> Box<dyn Host> {
    let burst = burst(&trd.params, site);
    let packet_time = trd.fabric.mtu_time(site.rate);
    let (order, tells) = match trd.params.order {
        Order::None => (receiver_driven::Order::Own, Tells::Nothing),
        Order::Srpt => (receiver_driven::Order::Shortest { most: site.bdp_packets }, Tells::Beyond),
    };
    let senders = sender::terms(burst, tells, packet_time, trd.derived);
    let receivers = receiver::terms(burst, tells, order, trd.derived);
    Box::new(ReceiverDriven::new(senders, receivers, trd.derived))
}

fn policy(trd: &Ready<Params, StallTimeout>, site: &PortSite) -> Policy {
    let control = Limit::Bytes(trd.params.control_limit.0);
    Policy::two_queues(ID, control, site.buffer, vec![])
}
