//! NDP (SIGCOMM 2017): switches cut payloads, receivers pull, every packet takes its own path.

mod deviations;
pub mod headers;
mod host;
#[cfg(test)]
mod network_tests;
mod params;
mod paths;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;

use deviations::DEVIATIONS;
use host::{HostPlan, NdpHost};
use incast_transport::{
    Bytes, ClassPolicy, Declaration, Discipline, EcnUse, Host, HostSite, Info, Kind, Limit,
    Optional, Policy, PortSite, Rate, Ready, Routing, Schedule, TransportId,
};

/// NDP's number on the wire.
pub const ID: TransportId = TransportId(4);
/// Class of headers, ACKs, NACKs and pulls.
const CONTROL: u8 = 0;
/// Class of data.
const DATA: u8 = 1;
/// Shortest first window chosen by `auto` (authors' simulator, `main_ndp`).
const FIRST_WINDOW_LEAST: u32 = 15;

/// Most path numbers `auto` takes: a permutation is kept for each flow.
const PATHS_MOST: u32 = 4096;

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "ndp",
        id: ID,
        title: "NDP",
        paper: "Handley et al., Re-architecting datacenter networks and stacks for low latency and \
                high performance, SIGCOMM 2017",
        kind: Kind::ReceiverDriven,
        switch_support: "payload trimming, return to sender, two weighted queues",
        routing: Routing::SourcePath,
        symmetric_paths: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy,
    unsolicited: |ndp, site, packets| packets.min(first_window(ndp, site)),
    optional: Optional { takes_burst: true, ..Optional::NONE },
};

fn host(ndp: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    // An RTT is known before it is measured: no timeout may be shorter.
    let timeout_least = ndp.params.rto_min.max(ndp.fabric.base_rtt * 2);
    Box::new(NdpHost::new(HostPlan {
        first_window: first_window(ndp, site),
        spacing: spacing(ndp, site.rate),
        timeout_least,
        paths: ndp.params.paths.unwrap_or(ndp.fabric.paths.min(PATHS_MOST)),
    }))
}

fn first_window(ndp: &Ready<Params>, site: &HostSite) -> u32 {
    ndp.params.first_window.unwrap_or(site.bdp_packets.max(FIRST_WINDOW_LEAST))
}

/// NDP §3.2: a pull for each time that a full packet takes, at the link's rate or a share of it.
fn spacing(ndp: &Ready<Params>, rate: Rate) -> incast_transport::Span {
    let millionths = (ndp.params.pull_rate * 1e6) as u64;
    let rate = Rate((rate.0 as u128 * millionths as u128).div_ceil(1_000_000) as u64);
    rate.tx_time(Bytes(ndp.fabric.framing.charged_mtu() as u64))
}

/// Weights, by bytes, that give `header_share` headers for one data packet.
fn weights(ndp: &Ready<Params>) -> (u32, u32) {
    let framing = ndp.fabric.framing;
    let headers = ndp.params.header_share as u64 * framing.charged_header() as u64;
    let data = framing.charged_mtu() as u64;
    // In thousandths of the larger one, so that ports can compare them exactly.
    let most = headers.max(data);
    let weight = |bytes: u64| ((bytes * 1_000 + most / 2) / most).max(1) as u32;
    (weight(headers), weight(data))
}

fn policy(ndp: &Ready<Params>, _site: &PortSite) -> Policy {
    let Params { data_queue, trim_tail, return_to_sender, .. } = ndp.params;
    let (headers, data) = weights(ndp);
    let header_bytes = 2 * data_queue as u64 * ndp.fabric.framing.mtu as u64;
    let control = ClassPolicy {
        schedule: Schedule::Weighted(headers),
        limit: Limit::Bytes(header_bytes),
        discipline: Discipline::DropTail,
        shaper: None,
    };
    let discipline =
        Discipline::Trim { headers: CONTROL, tail: trim_tail, bounce: return_to_sender };
    let data = ClassPolicy {
        schedule: Schedule::Weighted(data),
        limit: Limit::Packets(data_queue),
        discipline,
        shaper: None,
    };
    Policy { transport: ID, classes: vec![control, data], markers: vec![] }
}
