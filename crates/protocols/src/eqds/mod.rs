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
use incast_egress::cut::{CutMarker, classes};
use incast_endpoint::unordered::{
    CONTROL, CreditPlan, EXTENSION, HostPlan, QUANTUM, Rules, Sizes, UnorderedHost, at_least,
};
use incast_transport::{
    Bytes, Declaration, Ecn, EcnUse, FabricSite, Fault, Host, HostSite, Info, Optional, Policy,
    PortSite, Rate, Ready, Routing, Span, TransportId, TransportKind,
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

fn sizes(fabric: &FabricSite, rate: Rate) -> Sizes<'_> {
    Sizes { fabric, rate }
}

fn derive(params: &Params, fabric: &FabricSite) -> Result<(), Fault> {
    at_least("window", params.window, fabric.framing.mtu as u64, "a full packet")?;
    sizes(fabric, fabric.host_rate).check_data_queue(params.data_queue)
}

/// Bytes that a flow sends before it has heard anything.
fn window(params: &Params, sizes: Sizes<'_>) -> u64 {
    let auto = sizes.bdp_packets(1).max(2) * sizes.fabric.framing.mtu as u64;
    params.window.map_or(auto, |given| given.0)
}

fn timeout(params: &Params, sizes: Sizes<'_>) -> Span {
    sizes.timeout(params.rto, TIMEOUT_BASE, sizes.data_queue(params.data_queue, 1))
}

/// What `auto` stands for at hosts with the fabric's rate.
fn in_force(eqds: &Ready<Params>) -> Vec<(&'static str, String)> {
    let (params, sizes) = (&eqds.params, sizes(&eqds.fabric, eqds.fabric.host_rate));
    vec![
        ("window (in force)", Bytes(window(params, sizes)).to_string()),
        ("data_queue (in force)", Bytes(sizes.data_queue(params.data_queue, 1)).to_string()),
        ("rto (in force)", timeout(params, sizes).to_string()),
    ]
}

fn plan(eqds: &Ready<Params>, rate: Rate) -> HostPlan {
    let (params, sizes) = (&eqds.params, sizes(&eqds.fabric, rate));
    HostPlan {
        transport: ID,
        header: sizes.header() as u32,
        data_mark: Ecn::NotEct as u8,
        reply_class: CONTROL,
        padded: true,
        echoes: false,
        max_payload: sizes.payload(),
        strategy: params.path_choice,
        paths: params.entropies,
        trims: true,
        ack_every: params.ack_bytes.0,
        acks_advance: true,
        timeout: timeout(params, sizes),
        probe_every: sizes.base_rtt(),
        credits: Some(CreditPlan {
            most: window(params, sizes),
            pace: sizes.pace(params.credit_rate),
            grant: params.credit_per_pull.0 / QUANTUM,
            packet: sizes.fabric.framing.mtu as u64,
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
    let sizes = sizes(&site.fabric, site.rate);
    let classes = classes(sizes.data_queue(eqds.params.data_queue, 1), sizes.packet(), true);
    // Every cut counts against its path, also at the last hop.
    let marker = CutMarker::new(None, true);
    Policy { transport: ID, classes, markers: vec![Box::new(marker)] }
}
