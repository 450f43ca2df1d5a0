//! REN: a receiver-driven transport whose switches say how many grants should circulate.

mod deviations;
pub mod headers;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Feedback, Params, Rule, Spread};
pub use switch::{Code, PortMarker};

use deviations::DEVIATIONS;
use incast_endpoint::receiver_driven::{ReceiverDriven, StallTimeout};
use incast_transport::{
    Declaration, EcnUse, Host, HostSite, Info, Kind, Limit, Optional, Policy, PortSite, Routing,
    Span, TransportId,
};

/// Number on the wire; the code is in the ECN bits.
pub const ID: TransportId = TransportId(0x86);

/// The catalogue entry.
pub static ENTRY: Declaration<Params, Timers> = Declaration {
    info: &Info {
        name: "ren",
        id: ID,
        title: "REN: receiver-driven transport based on explicit notification",
        paper: "IEEE Transactions on Cloud Computing, 2021",
        kind: Kind::ReceiverDriven,
        switch_support: "samples queue and idle time once a period; writes a 2-bit code; 16 B a port",
        routing: Routing::Spray,
        symmetric_paths: false,
        ecn: EcnUse::OwnCode,
        marks: true,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| {
        fabric.check_control_limit::<Params>("ren", "control_limit", params.control_limit)?;
        Ok(Timers {
            period: params.period.unwrap_or(fabric.base_rtt),
            stall: StallTimeout::of(fabric, params.stall),
        })
    },
    host,
    policy,
    unsolicited: |ren, site, packets| packets.min(burst(&ren.params, site)),
    optional: Optional {
        in_force: |ren| {
            vec![
                ("period (in force)", ren.derived.period.to_string()),
                ("stall (in force)", ren.derived.stall.first.to_string()),
            ]
        },
        ..Optional::NONE
    },
};

/// Effective values where a parameter is `auto`.
pub struct Timers {
    period: Span,
    stall: StallTimeout,
}

type Ready = incast_transport::Ready<Params, Timers>;

fn burst(params: &Params, site: &HostSite) -> u32 {
    params.burst.unwrap_or(site.bdp_packets)
}

fn host(ren: &Ready, site: &HostSite) -> Box<dyn Host> {
    let stall = ren.derived.stall;
    let burst = burst(&ren.params, site);
    let senders = sender::terms(burst, ren.fabric.mtu_time(site.rate), stall);
    let receivers = receiver::terms(burst, stall);
    Box::new(ReceiverDriven::new(senders, receivers, stall))
}

fn policy(ren: &Ready, site: &PortSite) -> Policy {
    let control = Limit::Bytes(ren.params.control_limit.0);
    let packet_time = ren.fabric.mtu_time(site.rate);
    let marker = PortMarker::new(&ren.params, ren.derived.period, packet_time);
    Policy::two_queues(ID, control, site.buffer, vec![Box::new(marker)])
}
