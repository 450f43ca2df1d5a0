//! PowerTCP (NSDI 2022): the window follows the power of the worst hop, which is the rate at which bytes
//! arrive there times the bytes that are there, as telemetry tells both.

mod deviations;
pub mod headers;
mod law;
#[cfg(test)]
mod network_tests;
pub(crate) mod params;
mod sender;
#[cfg(test)]
pub(crate) mod tests;

pub use law::{Average, Power, Rule};
pub use params::Params;
pub use sender::PowerTcp;

use deviations::DEVIATIONS;
use incast_egress::telemetry::{Stamper, depth, stack_bytes};
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Admission, Options, ReturnStack, SenderDriven, congestion_control};
use incast_transport::telemetry::Reader;
use incast_transport::{
    Declaration, Ecn, EcnUse, Host, HostSite, Info, Optional, Policy, PortSite, Ready, Routing,
    TransportId, TransportKind,
};
use std::sync::Arc;

/// PowerTCP's number on the wire.
pub const ID: TransportId = TransportId(25);

/// The catalogue entry. Of the fabric it derives how many records a packet has room for.
pub static ENTRY: Declaration<Params, u8> = Declaration {
    info: &Info {
        name: "powertcp",
        id: ID,
        title: "PowerTCP",
        paper: "Addanki, Michel and Schmid, PowerTCP: Pushing the Performance Limits of Datacenter \
                Networks, NSDI 2022",
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
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| depth(params.int_hops, fabric),
    host,
    policy,
    // Records are charged: no flow takes the time it would take without them.
    unsolicited: |_, _, _| 0,
    optional: Optional { keeps_connections: true, sets: params::SETS, extension, ..Optional::NONE },
};

/// Bytes of a full stack.
fn extension(power: &Ready<Params, u8>) -> u16 {
    stack_bytes(power.derived).0 as u16
}

fn host(power: &Ready<Params, u8>, site: &HostSite) -> Box<dyn Host> {
    let (params, fabric) = (&power.params, &power.fabric);
    let rule = Arc::new(params.rule(site.rate, fabric, extension(power)));
    let rto_min = params.timeout(&rule);
    let options = Options {
        data_mark: Ecn::NotEct as u8,
        admission: Admission::Below,
        reliability: params.recovery.reliability(params.nack_interval, fabric.base_rtt),
        rto: RtoBounds::at_least(rto_min),
        max_payload: fabric.framing.mss() - extension(power),
        ..Options::tcp(ID, rto_min)
    };
    let reader = Reader::new(fabric.rates.clone());
    let control =
        congestion_control(ReturnStack, move |_, _, _| PowerTcp::new(rule.clone(), reader.clone()));
    Box::new(SenderDriven::new(control, options))
}

/// One queue whose port writes its state into each packet.
fn policy(power: &Ready<Params, u8>, site: &PortSite) -> Policy {
    let stamper = Stamper::new(site, !power.params.quantise_int);
    Policy::one_queue(ID, site.buffer, Box::new(stamper))
}
