//! HPCC (SIGCOMM 2019): each ACK returns the state of every hop; the window keeps the bytes
//! in flight on the busiest link below its bandwidth-delay product.

mod deviations;
pub mod headers;
#[cfg(test)]
pub(crate) mod network_tests;
pub(crate) mod params;
mod sender;
#[cfg(test)]
pub(crate) mod tests;

pub use params::{Params, Terms, Windows};
pub use sender::{Hpcc, Rule};

use deviations::DEVIATIONS;
use incast_egress::telemetry::{Stamper, depth, stack_bytes};
use incast_endpoint::rto::{RtoBounds, least_or_auto};
use incast_endpoint::sender::{Admission, Options, ReturnStack, congestion_control};
use incast_endpoint::unordered::host_of;
use incast_transport::{
    Declaration, Ecn, EcnUse, FabricSite, Fault, Host, HostSite, Info, Optional, Policy, PortSite,
    Routing, TransportId, TransportKind,
};
use std::sync::Arc;

/// HPCC's number on the wire.
pub const ID: TransportId = TransportId(19);

/// The catalogue entry.
pub static ENTRY: Declaration<Params, Plan> = Declaration {
    info: &Info {
        name: "hpcc",
        id: ID,
        title: "HPCC",
        paper: "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019",
        kind: TransportKind::Window,
        switch_support: "writes time, bytes sent, queue and rate into each packet; made for PFC",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: true,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: true,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| Plan::new(ENTRY.info, params.clone(), fabric),
    host: |hpcc, site| hpcc.derived.host(&hpcc.fabric, site),
    policy: |hpcc, site| hpcc.derived.policy(site),
    // Records are charged: no flow takes the time it would take without them.
    unsolicited: |_, _, _| 0,
    optional: Optional {
        keeps_connections: true,
        extension: |hpcc| hpcc.derived.extension(),
        any_order: |hpcc| hpcc.params.spray().is_some(),
        ..Optional::NONE
    },
};

/// HPCC, or a transport that differs in parameters only, for one fabric.
pub struct Plan {
    id: TransportId,
    params: Params,
    hops: u8,
}

impl Plan {
    /// The transport of `info` under these parameters.
    pub(crate) fn new(
        info: &'static Info,
        params: Params,
        fabric: &FabricSite,
    ) -> Result<Plan, Fault> {
        params.check()?;
        let hops = depth(params.int_hops, fabric)?;
        Ok(Plan { id: info.id, params, hops })
    }

    /// Bytes of a full stack.
    pub(crate) fn extension(&self) -> u16 {
        stack_bytes(self.hops).0 as u16
    }

    fn rule(&self, fabric: &FabricSite, site: &HostSite) -> Rule {
        Rule {
            terms: Terms::new(&self.params.windows(), site.rate, fabric),
            max_stage: self.params.max_stage,
            reserved: if self.params.int_fixed { self.hops } else { 0 },
            paths: self.params.spray().map_or(1, |spray| spray.paths),
        }
    }

    /// HPCC on one host. ACKs return the records.
    pub(crate) fn host(&self, fabric: &FabricSite, site: &HostSite) -> Box<dyn Host> {
        let rule = Arc::new(self.rule(fabric, site));
        let rto_min = least_or_auto(self.params.rto_min, rule.terms.base_rtt);
        let options = Options {
            data_mark: Ecn::NotEct as u8,
            admission: Admission::Below,
            reliability: self
                .params
                .recovery
                .reliability(self.params.nack_interval, fabric.base_rtt),
            rto: RtoBounds::at_least(rto_min),
            max_payload: fabric.framing.mss() - self.extension(),
            ..Options::tcp(self.id, rto_min)
        };
        let control = congestion_control(ReturnStack, move |_, _, _| Hpcc::new(rule.clone()));
        host_of(control, options, self.params.spray(), site)
    }

    /// One queue whose port writes its state into each packet.
    pub(crate) fn policy(&self, site: &PortSite) -> Policy {
        let stamper = Stamper::new(site, !self.params.quantise_int);
        Policy::one_queue(self.id, site.buffer, Box::new(stamper))
    }
}
