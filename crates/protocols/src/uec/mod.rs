//! UEC (Ultra Ethernet): every packet takes its own path and may come in any order; a window follows the
//! delay and the mark of the packet that each ACK answers.

#[cfg(test)]
mod credit_tests;
mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod nscc;
mod params;
#[cfg(test)]
mod tests;

pub use nscc::{Constants, Nscc};
pub use params::{Mode, Params};

use deviations::DEVIATIONS;
use incast_egress::cut::{CutMarker, classes};
use incast_egress::red::{Red, check_thresholds};
use incast_endpoint::unordered::{
    CONTROL, CorePlan, CreditPlan, EXTENSION, HostPlan, Rules, Sizes, SleekPlan, Unbounded,
    UnorderedHost,
};
use incast_transport::fault::{Fault, expected};
use incast_transport::{
    Bytes, Declaration, Ecn, EcnUse, FabricSite, Host, HostSite, Info, Notice, Optional, Policy,
    PortSite, Rate, Ready, Routing, Span, TransportId, TransportKind,
};
use std::sync::Arc;

/// UEC's number on the wire.
pub const ID: TransportId = TransportId(22);
/// The BDP to which the published gains belong: 100 Gb/s and 12 us.
const REFERENCE_BDP: f64 = 150_000.0;
/// The delay to which they belong.
const REFERENCE_DELAY: f64 = 12e6;
/// Quanta that a pull grants at most.
const GRANT: u64 = 64;
/// Behind an oversubscribed core credits come at least at this share of what all receivers could have at once, and of the link.
const CORE_SHARE: f64 = 0.9;
const LEAST_SHARE: f64 = 0.01;
/// Added to the timeout that `auto` takes.
const TIMEOUT_BASE: Span = Span::from_us(15);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "uec",
        id: ID,
        title: "Ultra Ethernet, NSCC and RCCC",
        paper: "Ultra Ethernet Consortium, UE specification 1.0, 2025, as in its simulator \
                uet-htsim; Bonato et al., SMaRTT-REPS, 2024",
        kind: TransportKind::Window,
        switch_support: "payload trimming, ECN, two strict priorities, hashed path numbers",
        routing: Routing::Entropy,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::Rfc3168,
        marks: true,
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
    optional: Optional {
        extension: |_| EXTENSION,
        warnings,
        warning_kinds: params::WARNINGS,
        ..Optional::NONE
    },
};

fn sizes(fabric: &FabricSite, rate: Rate) -> Sizes<'_> {
    Sizes { fabric, rate }
}

fn derive(params: &Params, fabric: &FabricSite) -> Result<(), Fault> {
    let sizes = sizes(fabric, fabric.host_rate);
    sizes.check_data_queue(params.data_queue)?;
    if params.sleek && params.trimming {
        let problem = expected("false with trimming = true: what is cut is told by its header");
        return Err(Fault::value("sleek", true, problem));
    }
    let red = red(params, sizes);
    check_thresholds(red.min, red.max)
}

/// ACKs that come too rarely for the windows of the slowest hosts.
fn warnings(uec: &Ready<Params>) -> Vec<Notice> {
    let sizes = sizes(&uec.fabric, uec.fabric.host_rate);
    let (bytes, bdp) = (uec.params.ack_bytes, sizes.rate.bytes_in(sizes.base_rtt()));
    if bytes.0 + bytes.0 / 4 <= bdp.0 {
        return vec![];
    }
    vec![params::UEC_ACKS_RARE.notice(&[("bytes", &bytes), ("bdp", &bdp)])]
}

/// Charged bytes of data that may be at a port, with the packet in transmission.
fn data_queue(params: &Params, sizes: Sizes<'_>) -> u64 {
    sizes.data_queue(params.data_queue, if params.trimming { 1 } else { 5 })
}

fn red(params: &Params, sizes: Sizes<'_>) -> Red {
    let packets = sizes.bdp_packets(1);
    let auto = |share: u64| Bytes((packets * share).div_ceil(5) * sizes.packet());
    let min = params.mark_min.unwrap_or(auto(1));
    Red { min, max: params.mark_max.unwrap_or(auto(4)), probability: 1.0 }
}

/// What the windows of hosts with this link have in common.
fn constants(uec: &Ready<Params>, rate: Rate) -> Constants {
    let (params, sizes) = (&uec.params, sizes(&uec.fabric, rate));
    let base_rtt = sizes.base_rtt();
    let mss = sizes.payload() as f64;
    let target = params.target.unwrap_or(if params.trimming { 0.75 } else { 1.0 });
    let target = base_rtt.0 as f64 * target;
    let bdp = rate.bytes_in(base_rtt).0 as f64 / REFERENCE_BDP;
    Constants {
        rate,
        base_rtt: base_rtt.0,
        mtu: uec.fabric.framing.mtu as u64,
        target: target as u64,
        alpha: params.alpha * mss * bdp * (target / REFERENCE_DELAY) / target,
        fair: params.fair * mss * bdp,
        eta: (params.eta * mss * bdp) as u64,
        fast: params.fast * bdp,
        fast_below: params.fast_below.0,
        gamma: params.gamma,
        adapt_share: params.adapt_share as u64,
        adapt_delay: (params.adapt_delay * target) as u64,
        learn_base_rtt: params.learn_base_rtt,
    }
}

/// How receivers slow down where the core carries less than the hosts send, and no window does it.
fn core_plan(uec: &Ready<Params>, rate: Rate) -> Option<CorePlan> {
    let (params, sizes) = (&uec.params, sizes(&uec.fabric, rate));
    let ratio = sizes.fabric.oversubscription;
    let slows = params.core_pace && params.mode == Mode::Rccc && ratio > 1.0;
    slows.then(|| CorePlan {
        pace: sizes.pace(params.credit_rate),
        every: sizes.base_rtt() * 3 / 2,
        least: (CORE_SHARE / ratio).max(LEAST_SHARE),
    })
}

fn plan(uec: &Ready<Params>, rate: Rate) -> HostPlan {
    let (params, sizes) = (&uec.params, sizes(&uec.fabric, rate));
    let common = constants(uec, rate);
    let most = common.most(common.base_rtt);
    HostPlan {
        transport: ID,
        header: sizes.header() as u32,
        data_mark: Ecn::Ect0 as u8,
        reply_class: CONTROL,
        padded: true,
        echoes: false,
        max_payload: sizes.payload(),
        strategy: params.path_choice,
        paths: params.entropies,
        trims: params.trimming,
        ack_every: params.ack_bytes.0,
        acks_advance: false,
        timeout: sizes.timeout(params.rto, TIMEOUT_BASE, data_queue(params, sizes)),
        probe_every: sizes.base_rtt(),
        credits: (params.mode != Mode::Nscc).then_some(CreditPlan {
            most,
            pace: sizes.pace(params.credit_rate),
            grant: GRANT,
            packet: common.mtu,
            rules: Rules::AsAsked,
        }),
        core: core_plan(uec, rate),
        sleek: params.sleek.then(|| SleekPlan {
            most,
            payload: sizes.payload() as u64,
            base_rtt: Span(common.base_rtt),
            target: Some(Span(common.target)),
        }),
    }
}

fn host(uec: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let plan = plan(uec, site.rate);
    if uec.params.mode == Mode::Rccc {
        return Box::new(UnorderedHost::new(plan, Unbounded));
    }
    let law = Nscc::new(Arc::new(constants(uec, site.rate)));
    Box::new(UnorderedHost::new(plan, law))
}

fn policy(uec: &Ready<Params>, site: &PortSite) -> Policy {
    let (params, sizes) = (&uec.params, sizes(&site.fabric, site.rate));
    let last_hop = site.tier == 1 && !site.upward;
    // Receivers that give credits keep the last link's queue short.
    let marks = params.mode == Mode::Nscc || !last_hop;
    let marker = CutMarker::new(marks.then(|| red(params, sizes)), !last_hop);
    let classes = classes(data_queue(params, sizes), sizes.packet(), params.trimming);
    Policy { transport: ID, classes, markers: vec![Box::new(marker)] }
}
