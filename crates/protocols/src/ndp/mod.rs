//! NDP (SIGCOMM 2017): switches cut payloads, receivers pull, every packet takes its own path.

mod deviations;
pub mod headers;
mod host;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use headers::ID;
pub use params::{HeaderPriority, Params};

use deviations::DEVIATIONS;
use headers::CONTROL;
use host::NdpHost;
use incast_transport::fault::{Fault, expected};
use incast_transport::parameter::Value;
use incast_transport::{
    Bytes, ClassPolicy, Declaration, Discipline, EcnUse, Framing, Host, HostSite, Info, Limit,
    Optional, Policy, PortSite, Rate, Ready, Routing, Schedule, TransportKind,
};
use sender::HostPlan;

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
        kind: TransportKind::ReceiverDriven,
        switch_support: "payload trimming, return to sender, two weighted queues",
        routing: Routing::SourcePath,
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
        let framing = fabric.framing;
        let key = ("data_queue", params.data_queue);
        check(key, framing.charged_mtu() as u64, "a full packet")?;
        let key = ("header_queue", header_queue(params.header_queue, &framing));
        check(key, framing.charged_header() as u64, "a header")
    },
    host,
    policy,
    unsolicited: |ndp, site, packets| packets.min(first_window(ndp, site)),
    optional: Optional { takes_burst: true, ..Optional::NONE },
};

/// The limit of headers and control: 24 KB, or room for sixteen headers if they are longer.
fn header_queue(given: Option<Limit>, framing: &Framing) -> Limit {
    let auto = (16 * framing.charged_header() as u64).max(24_000);
    given.unwrap_or(Limit::Bytes(auto))
}

/// Refuses a queue that could never hold what it is for, of so many charged bytes.
fn check((key, limit): (&'static str, Limit), least: u64, what: &str) -> Result<(), Fault> {
    match limit {
        Limit::Bytes(bytes) if bytes < least => {
            let accepted = format!("{what} ({least}B as links charge it) or more");
            Err(Fault::value(key, limit.show(), expected(accepted)))
        }
        _ => Ok(()),
    }
}

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

fn policy(ndp: &Ready<Params>, site: &PortSite) -> Policy {
    let Params { data_queue, trim_tail, return_to_sender, .. } = ndp.params;
    let header_queue = header_queue(ndp.params.header_queue, &site.fabric.framing);
    let (first, second) = match ndp.params.header_priority {
        HeaderPriority::Strict => (Schedule::Strict, Schedule::Strict),
        HeaderPriority::Weighted => {
            let (headers, data) = weights(ndp);
            (Schedule::Weighted(headers), Schedule::Weighted(data))
        }
    };
    let control = ClassPolicy { schedule: first, ..ClassPolicy::fifo(header_queue) };
    let discipline =
        Discipline::Trim { headers: CONTROL, tail: trim_tail, bounce: return_to_sender };
    let data = ClassPolicy { schedule: second, discipline, ..ClassPolicy::fifo(data_queue) };
    Policy { transport: ID, classes: vec![control, data], markers: vec![] }
}
