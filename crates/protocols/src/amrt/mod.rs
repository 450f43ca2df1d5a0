//! AMRT: a receiver-driven transport whose switches signal when the link had room for one more
//! packet (AMRT §3).

mod deviations;
pub mod headers;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use headers::ID;
pub use params::{Gap, Losses, Params, Recovery};
pub use receiver::{Expectations, paper::Paper, passed::Passed};
pub use switch::{Code, GapMarker};

use deviations::DEVIATIONS;
use incast_endpoint::receiver_driven::{OwnGrants, ReceiverDriven};
use incast_transport::{
    Declaration, EcnUse, Host, HostSite, Info, Limit, Optional, Policy, PortSite, Ready, Routing,
    TransportKind,
};

/// The catalogue entry.
pub static ENTRY: Declaration<Params, Expectations> = Declaration {
    info: &Info {
        name: "amrt",
        id: ID,
        title: "AMRT: anti-ECN marking receiver-driven transport",
        paper: "ICPP 2020",
        kind: TransportKind::ReceiverDriven,
        switch_support: "clears a bit of packets without a gap before them; one timestamp per port",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::OwnCode,
        marks: true,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| Ok(Expectations::of(fabric, params)),
    host,
    policy,
    unsolicited: |amrt, site, packets| packets.min(burst(&amrt.params, site)),
    optional: Optional {
        in_force: |amrt| vec![("timeout (in force)", amrt.derived.timeout.to_string())],
        shapes_nic: |amrt| amrt.params.at_nics,
        takes_burst: true,
        ..Optional::NONE
    },
};

/// The longest first burst that a receiver believes, unless its own are longer: data carries the number
/// of its packets, and a forged one shall not cause as many grants as it likes.
const BURST_MOST: u32 = 1 << 12;

fn burst(params: &Params, site: &HostSite) -> u32 {
    params.burst.unwrap_or(site.bdp_packets)
}

/// How far below the highest arrival a hole is surely lost. With one path per flow that is any
/// hole; otherwise a packet may have waited in a full queue at each hop that others did not meet.
/// The paper's rule waits for the timeout (AMRT §6).
fn hole_behind(params: &Params, site: &HostSite) -> u32 {
    match params.recovery {
        Recovery::Paper => u32::MAX,
        Recovery::Passed if site.routing.keeps_order() => 0,
        Recovery::Passed => params.data_packets.saturating_mul(site.fabric.hops),
    }
}

fn host(amrt: &Ready<Params, Expectations>, site: &HostSite) -> Box<dyn Host> {
    let burst = burst(&amrt.params, site);
    let packet_time = amrt.fabric.mtu_time(site.rate);
    let senders = sender::terms(burst, packet_time, &amrt.derived);
    let mut receivers = receiver::terms(&amrt.derived, hole_behind(&amrt.params, site));
    let expected = amrt.derived;
    match amrt.params.recovery {
        Recovery::Passed => {
            receivers.own_grants = match amrt.params.losses {
                Losses::Named | Losses::TailReissued => OwnGrants::None,
                Losses::GrantedReissued => OwnGrants::Granted,
                Losses::Reissued => OwnGrants::All,
            };
            let tail = (amrt.params.losses != Losses::Named).then_some(burst.max(BURST_MOST));
            let rules = Passed { expected, tail };
            Box::new(ReceiverDriven::new(senders, receivers, rules))
        }
        Recovery::Paper => Box::new(ReceiverDriven::new(senders, receivers, Paper(expected))),
    }
}

fn policy(amrt: &Ready<Params, Expectations>, site: &PortSite) -> Policy {
    let marker = GapMarker::new(amrt.fabric.mtu_time(site.rate), amrt.params.gap_after);
    if site.nic {
        return Policy::at_nic(ID, vec![Box::new(marker)]);
    }
    let control = Limit::Packets(amrt.params.control_packets);
    let data = Limit::Packets(amrt.params.data_packets);
    Policy::two_queues(ID, control, data, vec![Box::new(marker)])
}
