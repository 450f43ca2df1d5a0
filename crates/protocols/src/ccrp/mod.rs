//! CCRP: ExpressPass whose credit rate also reacts to ECN marks on data, so that it can share a
//! network with DCQCN (CCRP §3.1).

mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Params, RatioTest, Recovery};
pub use receiver::{MarkLoop, Pace, Stages};

use deviations::DEVIATIONS;
use incast_egress::red::check_thresholds;
use incast_endpoint::credit::{CreditHost, Terms, check, credit_share, reserved, shaped};
use incast_transport::{
    ClassPolicy, Declaration, Ecn, EcnUse, Host, HostSite, Info, Limit, Optional, Policy, PortSite,
    Ready, Routing, Span, TransportId, TransportKind,
};

/// CCRP's number on the wire.
pub const ID: TransportId = TransportId(10);

/// Most pairs of bytes added to a credit's length: 100 B in total.
const LONGER: u8 = 8;
/// Least automatic timeout of a request.
const AGAIN: Span = Span::from_us(100);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "ccrp",
        id: ID,
        title: "CCRP",
        paper: "Bai et al., CCRP: Converging Credit-Based and Reactive Protocols in Datacenters, \
                NPC 2020",
        kind: TransportKind::ReceiverDriven,
        switch_support: "as ExpressPass, and ECN marking by RED on the data queue",
        routing: Routing::SymmetricEcmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::Rfc3168,
        marks: true,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| {
        params.mark_by_rate.check("mark_by_rate", &fabric.rates)?;
        check_thresholds(params.mark_min, params.mark_max)?;
        check(fabric, params.credit_share, longer(params))
    },
    host,
    policy,
    unsolicited: |_, _, _| 0,
    optional: Optional { sets: params::SETS, shapes_nic: |_| true, ..Optional::NONE },
};

fn host(ccrp: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let terms = terms(ccrp);
    let max = site.rate.0 as f64 / 8.0 * share(ccrp);
    let data = ccrp.fabric.framing.charged_mtu();
    Box::new(CreditHost::new(terms, MarkLoop::new(&ccrp.params, terms.mean_credit(), data, max)))
}

/// Pairs of bytes by which credits are longer than the shortest packet, at most.
fn longer(params: &Params) -> u8 {
    if params.size_jitter { LONGER } else { 0 }
}

fn share(ccrp: &Ready<Params>) -> f64 {
    let auto = || credit_share(&ccrp.fabric.framing, longer(&ccrp.params));
    ccrp.params.credit_share.unwrap_or_else(auto)
}

fn terms(ccrp: &Ready<Params>) -> Terms {
    let params = &ccrp.params;
    let again = params.retransmit_timeout;
    Terms {
        transport: ID,
        mark: Ecn::Ect0 as u8,
        credit: ccrp.fabric.framing.charged_header(),
        jitter: params.jitter,
        longer: longer(params),
        early_stop: params.early_stop,
        request_again: again.unwrap_or_else(|| AGAIN.max(ccrp.fabric.base_rtt * 2)),
        missing_again: params.missing_timeout,
        base_rtt: ccrp.fabric.base_rtt,
        burst: None,
    }
}

fn policy(ccrp: &Ready<Params>, site: &PortSite) -> Policy {
    let Params { credit_queue, bucket, .. } = ccrp.params;
    let framing = &ccrp.fabric.framing;
    let credits = shaped(framing, site.rate, share(ccrp), credit_queue, bucket);
    if site.nic {
        // A NIC takes data from its host one packet at a time, so it has no queue to mark.
        let classes = vec![credits, ClassPolicy::fifo(Limit::Unlimited)];
        return Policy { transport: ID, classes, markers: vec![] };
    }
    let reserve = || reserved(framing, site.rate, share(ccrp));
    let shaper = ccrp.params.reserve.then(reserve);
    Policy {
        transport: ID,
        classes: vec![credits, ClassPolicy { shaper, ..ClassPolicy::fifo(site.buffer) }],
        markers: vec![Box::new(switch::marker(&ccrp.params, site))],
    }
}
