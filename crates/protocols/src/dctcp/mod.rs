//! DCTCP (SIGCOMM 2010, RFC 8257): the window is cut in proportion to the share of marked packets.

mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod rate;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
pub use rate::{RateDctcp, RateRule};
pub use sender::Dctcp;

use deviations::DEVIATIONS;
use incast_egress::threshold::ThresholdMarker;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{DelayedAck, EchoMark, Options, Reliability, congestion_control};
use incast_endpoint::unordered::host_of;
use incast_transport::{
    Acks, Declaration, Ecn, EcnUse, Host, HostSite, Info, LentPorts, Optional, PlbRule, Policy,
    PortSite, Ready, Routing, TransportId, TransportKind,
};
use params::{Controlled, Recovery};

/// DCTCP's number on the wire.
pub const ID: TransportId = TransportId(1);

/// PLB (SIGCOMM 2022), as in Linux: three rounds with half of the data marked.
const PLB: PlbRule = PlbRule { rounds: 3, spread: 0, share: 0.5 };

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "dctcp",
        id: ID,
        title: "DCTCP",
        paper: "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; RFC 8257",
        kind: TransportKind::Window,
        switch_support: "ECN marking above a queue threshold",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::Rfc3168,
        marks: true,
        made_for_pfc: false,
        // One bit: CE or not.
        feedback_bits: Some((Ecn::Ce as u8 ^ Ecn::Ect0 as u8).count_ones()),
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| params.check(fabric),
    host,
    policy,
    unsolicited,
    optional: Optional {
        keeps_connections: true,
        sets: params::SETS,
        takes_burst: true,
        moves_flows: true,
        any_order: |dctcp| dctcp.params.spray().is_some(),
        lends_ports: Some(LentPorts {
            parameters: &["mark_threshold", "mark_rate", "mark_threshold_by_rate"],
            acks: Acks::Data,
            code: None,
        }),
        ..Optional::NONE
    },
};

fn unsolicited(dctcp: &Ready<Params>, site: &HostSite, packets: u32) -> u32 {
    packets.min(match dctcp.params.control {
        Controlled::Window => dctcp.params.initial_window,
        Controlled::Rate => site.bdp_packets,
    })
}

fn host(dctcp: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let params = dctcp.params.clone();
    let options = Options { plb: site.plb(PLB), ..options(&params) };
    let spray = params.spray();
    if params.control == Controlled::Rate {
        let rule = RateRule::new(&params, site);
        let control = congestion_control(EchoMark, move |_, _, _| RateDctcp::new(rule));
        return host_of(control, options, spray, site);
    }
    let segment = dctcp.fabric.framing.mss() as u64;
    let control = congestion_control(EchoMark, move |_, flow, _| {
        Dctcp::new(&params, params.window_unit.payload(flow, segment))
    });
    host_of(control, options, spray, site)
}

fn options(params: &Params) -> Options {
    let &Params { rto_min, rto_initial, delayed_ack, delayed_ack_timeout, .. } = params;
    Options {
        reliability: match params.recovery {
            Recovery::Sack => Reliability::Sack,
            Recovery::NewReno => Reliability::NewReno,
        },
        rto: RtoBounds::starting_at(rto_initial, rto_min),
        delayed_ack: DelayedAck::of(delayed_ack, delayed_ack_timeout),
        ..Options::tcp(ID, rto_min)
    }
}

fn policy(dctcp: &Ready<Params>, site: &PortSite) -> Policy {
    let marker = ThresholdMarker::new(dctcp.params.threshold(site), site);
    Policy::one_class(ID, site.buffer, vec![Box::new(marker)])
}
