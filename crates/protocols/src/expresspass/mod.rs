//! ExpressPass (SIGCOMM 2017): destinations send credits, and ports limit the credit rate so that
//! the data they release fits the links.

#[cfg(test)]
mod aeolus_tests;
mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
#[cfg(test)]
mod tests;

pub use params::{Feedback, FirstRtt, Params};
pub use receiver::{FeedbackLoop, Pace};

use deviations::DEVIATIONS;
use incast_endpoint::credit::{Burst, CreditHost, Terms, check, credit_share, reserved, shaped};
use incast_endpoint::first_round::RoundTerms;
use incast_transport::{
    Bytes, ClassPolicy, Declaration, Discipline, Ecn, EcnUse, FabricSite, Host, HostSite, Info,
    Limit, Optional, Policy, PortSite, Ready, Routing, Span, TransportId, TransportKind,
};

/// ExpressPass's number on the wire.
pub const ID: TransportId = TransportId(9);

/// Most pairs of bytes added to a credit's length: 100 B in total (fat-tree script).
const LONGER: u8 = 8;
/// Least automatic timeout of requests (fat-tree script).
const AGAIN: Span = Span::from_us(100);

/// With `first_rtt = aeolus`: least automatic time for a probe's reply, in base RTT.
const PROBE_ROUND_TRIPS: u64 = 3;
/// Largest share of that time due to the drain of a full buffer, in base RTT.
const DRAIN_ROUND_TRIPS: u64 = 16;

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "expresspass",
        id: ID,
        title: "ExpressPass",
        paper: "Cho, Jang and Han, Credit-Scheduled Delay-Bounded Congestion Control for Datacenters, \
                SIGCOMM 2017",
        kind: TransportKind::ReceiverDriven,
        switch_support: "a short, rate-limited queue for credits; symmetric paths",
        routing: Routing::SymmetricEcmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| check(fabric, params.credit_share, longer(params)),
    host,
    policy,
    unsolicited: |_, _, _| 0,
    optional: Optional { shapes_nic: |_| true, ..Optional::NONE },
};

fn host(expresspass: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let terms = terms(expresspass, site);
    let max = site.rate.0 as f64 / 8.0 * share(expresspass);
    let control = FeedbackLoop::new(&expresspass.params, terms.mean_credit(), max);
    Box::new(CreditHost::new(terms, control))
}

/// Pairs of bytes by which credits are longer than the shortest packet, at most.
fn longer(params: &Params) -> u8 {
    if params.size_jitter { LONGER } else { 0 }
}

fn share(expresspass: &Ready<Params>) -> f64 {
    let auto = || credit_share(&expresspass.fabric.framing, longer(&expresspass.params));
    expresspass.params.credit_share.unwrap_or_else(auto)
}

/// The first RTT of Aeolus: a burst of one BDP, on paths without reordering.
fn burst(expresspass: &Ready<Params>, site: &HostSite) -> Option<Burst> {
    let FabricSite { base_rtt, buffer, framing, host_rate, .. } = *expresspass.fabric;
    let drain = match buffer.bytes(framing.charged_mtu()) {
        Bytes(u64::MAX) => Span::ZERO,
        bytes => host_rate.tx_time(bytes).min(base_rtt * DRAIN_ROUND_TRIPS),
    };
    let probe_again = (base_rtt + drain).max(base_rtt * PROBE_ROUND_TRIPS);
    let round = RoundTerms { in_order: true, grace: Span::ZERO, probe_again };
    let aeolus = expresspass.params.first_rtt == FirstRtt::Aeolus;
    aeolus.then_some(Burst { packets: site.bdp_packets, round })
}

fn terms(expresspass: &Ready<Params>, site: &HostSite) -> Terms {
    let params = &expresspass.params;
    let again = params.retransmit_timeout;
    let again = again.unwrap_or_else(|| AGAIN.max(expresspass.fabric.base_rtt * 2));
    Terms {
        transport: ID,
        mark: Ecn::NotEct as u8,
        credit: expresspass.fabric.framing.charged_header(),
        jitter: params.jitter,
        longer: longer(params),
        early_stop: params.early_stop,
        request_again: again,
        missing_again: again,
        base_rtt: expresspass.fabric.base_rtt,
        burst: burst(expresspass, site),
    }
}

fn policy(expresspass: &Ready<Params>, site: &PortSite) -> Policy {
    let Params { credit_queue, bucket, .. } = expresspass.params;
    let framing = &expresspass.fabric.framing;
    let credits = shaped(framing, site.rate, share(expresspass), credit_queue, bucket);
    // A NIC takes data from its host one packet at a time.
    let mut data = ClassPolicy::fifo(if site.nic { Limit::Unlimited } else { site.buffer });
    if expresspass.params.reserve && !site.nic {
        data.shaper = Some(reserved(framing, site.rate, share(expresspass)));
    }
    if expresspass.params.first_rtt == FirstRtt::Aeolus && !site.nic {
        let threshold = Limit::Packets(expresspass.params.threshold);
        data.discipline = Discipline::Selective { threshold, alone: true };
    }
    Policy { transport: ID, classes: vec![credits, data], markers: vec![] }
}
