//! EQDS (Olteanu et al., NSDI 2022): receivers pace what enters the fabric by credits, switches cut what does not fit, and
//! every packet takes its own path. What was cut is asked for again before anything else.

mod deviations;
pub mod headers;
mod params;
mod patience;
#[cfg(test)]
mod tests;

pub use params::Params;

use deviations::DEVIATIONS;
use incast_egress::cut::CutMarker;
use incast_endpoint::unordered::{
    CONTROL, CreditPlan, EXTENSION, HostPlan, QUANTUM, Rules, UnorderedHost,
};
use incast_transport::fault::{Fault, expected};
use incast_transport::{
    Bytes, ClassPolicy, Declaration, Discipline, Ecn, EcnUse, FabricSite, Host, HostSite, Info,
    Limit, Optional, Policy, PortSite, Rate, Ready, Routing, Span, TransportId, TransportKind,
};
use patience::Patience;

/// EQDS's number on the wire.
pub const ID: TransportId = TransportId(31);
/// Added to the timeout that `auto` takes.
const TIMEOUT_BASE: Span = Span::from_us(50);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "eqds",
        id: ID,
        title: "EQDS",
        paper: "Olteanu et al., An edge-queued datagram service for all datacenter traffic, NSDI 2022, as in its \
                authors' simulator",
        kind: TransportKind::ReceiverDriven,
        switch_support: "payload trimming, two strict priorities, hashed path numbers",
        routing: Routing::Entropy,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive,
    host,
    policy,
    // No initial wait; the extension makes packets longer than in the ideal time.
    unsolicited: |_, _, _| 0,
    optional: Optional { extension: |_| EXTENSION, in_force, ..Optional::NONE },
};

/// Charged bytes of a full packet.
fn packet(fabric: &FabricSite) -> u64 {
    fabric.framing.charged_mtu() as u64
}

fn derive(params: &Params, fabric: &FabricSite) -> Result<(), Fault> {
    for (key, given, least, what) in [
        ("window", params.window, fabric.framing.mtu as u64, "a full packet"),
        ("data_queue", params.data_queue, 2 * packet(fabric), "two full packets"),
    ] {
        if let Some(given) = given.filter(|given| given.0 < least) {
            let problem = expected(format!("{} and more, {what}", Bytes(least)));
            return Err(Fault::value(key, given, problem));
        }
    }
    Ok(())
}

/// A BDP of a link of `rate`, in full packets of the base RTT.
fn bdp_packets(fabric: &FabricSite, rate: Rate) -> u64 {
    rate.bytes_in(fabric.base_rtt_with(EXTENSION)).0.div_ceil(packet(fabric)).max(2)
}

/// Charged bytes of data that may be at a port, with the packet in transmission.
fn data_queue(params: &Params, fabric: &FabricSite, rate: Rate) -> u64 {
    params.data_queue.map_or(bdp_packets(fabric, rate) * packet(fabric), |given| given.0)
}

/// Bytes that a flow sends before it has heard anything.
fn window(params: &Params, fabric: &FabricSite, rate: Rate) -> u64 {
    params.window.map_or(bdp_packets(fabric, rate) * fabric.framing.mtu as u64, |given| given.0)
}

fn timeout(params: &Params, fabric: &FabricSite, rate: Rate) -> Span {
    let drain = rate.tx_time(Bytes(data_queue(params, fabric, rate))) * 6;
    params.rto.unwrap_or(TIMEOUT_BASE + drain)
}

/// What `auto` stands for at hosts with the fabric's rate.
fn in_force(eqds: &Ready<Params>) -> Vec<(&'static str, String)> {
    let (params, fabric) = (&eqds.params, &*eqds.fabric);
    let rate = fabric.host_rate;
    vec![
        ("window (in force)", Bytes(window(params, fabric, rate)).to_string()),
        ("data_queue (in force)", Bytes(data_queue(params, fabric, rate)).to_string()),
        ("rto (in force)", timeout(params, fabric, rate).to_string()),
    ]
}

fn plan(eqds: &Ready<Params>, rate: Rate) -> HostPlan {
    let (params, fabric) = (&eqds.params, &*eqds.fabric);
    let header = fabric.framing.header + EXTENSION;
    HostPlan {
        transport: ID,
        header: header as u32,
        data_mark: Ecn::NotEct as u8,
        reply_class: CONTROL,
        padded: true,
        echoes: false,
        max_payload: fabric.framing.mtu - header,
        strategy: params.path_choice,
        paths: params.entropies,
        trims: true,
        ack_every: params.ack_bytes.0,
        acks_advance: true,
        timeout: timeout(params, fabric, rate),
        probe_every: fabric.base_rtt_with(EXTENSION),
        credits: Some(CreditPlan {
            most: window(params, fabric, rate),
            pace: Rate((rate.0 as f64 * params.credit_rate) as u64),
            grant: params.credit_per_pull.0 / QUANTUM,
            packet: fabric.framing.mtu as u64,
            rules: Rules::RepairFirst,
        }),
        core: None,
        sleek: None,
    }
}

fn host(eqds: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    Box::new(UnorderedHost::new(plan(eqds, site.rate), Patience::default()))
}

fn policy(eqds: &Ready<Params>, site: &PortSite) -> Policy {
    let queue = data_queue(&eqds.params, &site.fabric, site.rate);
    // The packet in transmission does not wait at a port of ours.
    let waits = Limit::Bytes(queue - packet(&site.fabric));
    let discipline = Discipline::Trim { headers: CONTROL, tail: 0.5, bounce: false };
    let data = ClassPolicy { discipline, ..ClassPolicy::fifo(waits) };
    let control = ClassPolicy::fifo(Limit::Bytes(2 * queue));
    // Every cut counts against its path, also at the last hop.
    let marker = CutMarker::new(None, true);
    Policy { transport: ID, classes: vec![control, data], markers: vec![Box::new(marker)] }
}
