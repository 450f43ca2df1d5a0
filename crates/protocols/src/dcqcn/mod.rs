//! DCQCN (SIGCOMM 2015): RED marking, congestion notification packets (CNPs) and rate control per
//! flow; for lossless fabrics.

mod deviations;
pub mod headers;
#[cfg(test)]
pub(crate) mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{CnpForm, Params, Rule, Variant};
pub use receiver::Notifier;
pub use sender::Dcqcn;

use deviations::DEVIATIONS;
use incast_egress::red::check_thresholds;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, Recovery, SenderDriven, congestion_control};
use incast_transport::{
    Acks, Declaration, EcnUse, Host, HostSite, Info, LentPorts, Limit, Optional, Policy, PortSite,
    Ready, Routing, TransportId, TransportKind,
};

/// DCQCN's number on the wire.
pub const ID: TransportId = TransportId(11);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "dcqcn",
        id: ID,
        title: "DCQCN",
        paper: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
        kind: TransportKind::Rate,
        switch_support: "ECN marking by RED on the instantaneous queue; made for PFC",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::Rfc3168,
        marks: true,
        made_for_pfc: true,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| {
        params.mark_by_rate.check("mark_by_rate", &fabric.rates)?;
        let mark_max = params.mark_max.unwrap_or(params::MARK_MAX);
        check_thresholds(params.mark_min, mark_max)?;
        fabric.check_control_limit("control_limit", params.control_limit)
    },
    host,
    policy,
    unsolicited,
    optional: Optional {
        sets: params::SETS,
        lends_ports: Some(LentPorts {
            parameters: &[
                "mark_min",
                "mark_max",
                "mark_probability",
                "mark_rate",
                "mark_by_rate",
                "control_limit",
            ],
            acks: Acks::Control,
            code: None,
        }),
        ..Optional::NONE
    },
};

fn host(dcqcn: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let framing = dcqcn.fabric.framing;
    let bdp = site.bdp_packets as u64 * framing.mss() as u64;
    let rule = Rule::new(&dcqcn.params, site.rate, bdp);
    let notifier = Notifier::new(dcqcn.params.cnp_interval, dcqcn.params.cnp);
    let control = congestion_control(notifier, move |_, _, _| Dcqcn::new(rule, framing));
    let rto = RtoBounds::at_least(dcqcn.params.rto_min);
    let Params { recovery, nack_interval, .. } = dcqcn.params;
    let reliability = recovery.reliability(nack_interval, dcqcn.fabric.base_rtt);
    let tcp = Options::tcp(ID, dcqcn.params.rto_min);
    Box::new(SenderDriven::new(control, Options { reliability, rto, ack_class: 0, ..tcp }))
}

fn policy(dcqcn: &Ready<Params>, site: &PortSite) -> Policy {
    let control = Limit::Bytes(dcqcn.params.control_limit.0);
    let marker = switch::marker(&dcqcn.params, site);
    Policy::two_queues(ID, control, site.buffer, vec![Box::new(marker)])
}

fn unsolicited(dcqcn: &Ready<Params>, site: &HostSite, packets: u32) -> u32 {
    let Params { window_limit, recovery, .. } = dcqcn.params;
    match window_limit || recovery == Recovery::Sack {
        true => packets.min(site.bdp_packets),
        false => packets,
    }
}
