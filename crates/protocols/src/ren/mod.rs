//! REN: a receiver-driven transport whose switches say how many grants should circulate.

mod clock;
mod code;
mod deviations;
pub mod headers;
mod params;
mod receiver;
mod recent;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use clock::Clock;
pub use code::Code;
pub use headers::ID;
pub use params::{Feedback, Params, Rule, Sample, Spend, Spread, Window};
pub use switch::{PortMarker, Rules, state_bytes};

use deviations::DEVIATIONS;
use incast_endpoint::receiver_driven::{ReceiverDriven, StallTimeout};
use incast_transport::fault::expected;
use incast_transport::{
    Declaration, EcnUse, FabricSite, Fault, Host, HostSite, Info, Limit, Optional, Policy,
    PortSite, Rate, Routing, Span, TransportKind,
};
use std::sync::{Arc, Mutex};

/// The catalogue entry.
pub static ENTRY: Declaration<Params, Timers> = Declaration {
    info: &Info {
        name: "ren",
        id: ID,
        title: "REN: receiver-driven transport based on explicit notification",
        paper: "IEEE Transactions on Cloud Computing, 2021",
        kind: TransportKind::ReceiverDriven,
        switch_support: "samples queue and idle time once per period; writes a 2-bit code; 16 B per port",
        routing: Routing::Spray,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::OwnCode,
        marks: true,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive,
    host,
    policy,
    unsolicited: |ren, site, packets| packets.min(burst(&ren.params, site)),
    optional: Optional {
        in_force: |ren| {
            vec![
                ("period (in force)", ren.derived.period.to_string()),
                ("stall (in force)", ren.derived.stall.first.to_string()),
                (
                    "bytes of state per port (in force)",
                    state_bytes(ren.params.recent, &clock(ren, ren.fabric.host_rate)).to_string(),
                ),
            ]
        },
        shapes_nic: |ren| ren.params.at_nics,
        takes_burst: true,
        ..Optional::NONE
    },
};

/// Effective values where a parameter is `auto`.
pub struct Timers {
    period: Span,
    stall: StallTimeout,
    /// Those of the ports that were made so far, of switches and of NICs, by rate.
    rules: Mutex<Vec<(Rate, Arc<Rules>)>>,
}

type Ready = incast_transport::Ready<Params, Timers>;

/// Most periods in a base RTT: a port counts the marks of each.
const PERIODS_MOST: u64 = 1_024;

fn derive(params: &Params, fabric: &FabricSite) -> Result<Timers, Fault> {
    fabric.check_control_limit("control_limit", params.control_limit)?;
    let period = params.period.unwrap_or(fabric.base_rtt);
    if fabric.base_rtt.0.div_ceil(period.0) > PERIODS_MOST {
        let base = fabric.base_rtt;
        let accepted = format!("auto, or at least 1/{PERIODS_MOST} of the base RTT of {base}");
        return Err(Fault::value("period", period, expected(accepted)));
    }
    let stall = StallTimeout::of(fabric, params.stall);
    Ok(Timers { period, stall, rules: Mutex::default() })
}

fn clock(ren: &Ready, rate: Rate) -> Clock {
    let (period, horizon) = (ren.derived.period, ren.fabric.base_rtt);
    Clock { period, horizon, packet_time: ren.fabric.mtu_time(rate) }
}

/// The rules of ports of this rate, the same ones for all.
fn rules(ren: &Ready, rate: Rate, nic: bool) -> Arc<Rules> {
    let mut known = ren.derived.rules.lock().expect("nothing panics with the lock");
    if let Some((_, rules)) = known.iter().find(|(of, rules)| *of == rate && rules.nic == nic) {
        return rules.clone();
    }
    let rules = Arc::new(Rules::new(&ren.params, clock(ren, rate), nic));
    known.push((rate, rules.clone()));
    rules
}

fn burst(params: &Params, site: &HostSite) -> u32 {
    params.burst.unwrap_or(site.bdp_packets)
}

fn host(ren: &Ready, site: &HostSite) -> Box<dyn Host> {
    let stall = ren.derived.stall;
    let burst = burst(&ren.params, site);
    let senders = sender::terms(burst, ren.fabric.mtu_time(site.rate), stall);
    let receivers = receiver::terms(burst, stall);
    Box::new(ReceiverDriven::new(senders, receivers, stall))
}

fn policy(ren: &Ready, site: &PortSite) -> Policy {
    let marker = PortMarker::new(rules(ren, site.rate, site.nic));
    if site.nic {
        return Policy::at_nic(ID, vec![Box::new(marker)]);
    }
    let control = Limit::Bytes(ren.params.control_limit.0);
    Policy::two_queues(ID, control, site.buffer, vec![Box::new(marker)])
}
