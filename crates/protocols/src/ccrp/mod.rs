//! CCRP (NPC 2020): ExpressPass whose credits also answer marks of data, to live beside DCQCN.

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

use incast_endpoint::credit::{CreditHost, Terms, credit_share, reserved, shaped};
use incast_transport::{
    ClassPolicy, Configured, Ecn, EcnUse, FabricSite, Host, HostSite, Info, Kind, Limit,
    ParameterDoc, ParameterError, Policy, PortSite, Routing, Span, Transport, TransportId,
};
use std::sync::Arc;

/// CCRP's number on the wire.
pub const ID: TransportId = TransportId(10);

/// Largest number of pairs of bytes by which a credit is longer: 100 B in all.
const LONGER: u8 = 8;
/// Least automatic time after which a request is repeated.
const AGAIN: Span = Span::from_us(100);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// CCRP.
pub struct Entry;

static INFO: Info = Info {
    name: "ccrp",
    id: ID,
    title: "CCRP",
    paper: "Bai et al., CCRP: Converging Credit-Based and Reactive Protocols in Datacenters, \
            NPC 2020",
    kind: Kind::ReceiverDriven,
    switch_support: "as ExpressPass, and ECN marking by RED on the data queue",
    routing: Routing::SymmetricEcmp,
    symmetric_paths: false,
    ecn: EcnUse::Rfc3168,
    marks: true,
    made_for_pfc: false,
    feedback_bits: None,
    deviations: &[],
};

impl Transport for Entry {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn parameters(&self) -> Vec<ParameterDoc> {
        Params::docs()
    }

    fn configure(
        &self,
        settings: &[(String, String)],
        fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, ParameterError> {
        Ok(Arc::new(Plan { params: Params::read(settings)?, fabric }))
    }
}

/// CCRP with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Plan {
    fn share(&self) -> f64 {
        self.params.credit_share.unwrap_or_else(|| credit_share(&self.fabric.framing))
    }

    fn terms(&self) -> Terms {
        let params = &self.params;
        let again = params.retransmit_timeout;
        Terms {
            transport: ID,
            mark: Ecn::Ect0 as u8,
            credit: self.fabric.framing.charged_header(),
            jitter: params.jitter,
            longer: if params.size_jitter { LONGER } else { 0 },
            early_stop: params.early_stop,
            request_again: again.unwrap_or_else(|| AGAIN.max(self.fabric.base_rtt * 2)),
            missing_again: params.missing_timeout,
            burst: None,
        }
    }
}

impl Configured for Plan {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let terms = self.terms();
        let max = site.rate.0 as f64 / 8.0 * self.share();
        let data = self.fabric.framing.charged_mtu();
        Box::new(CreditHost::new(
            terms,
            MarkLoop::new(&self.params, terms.mean_credit(), data, max),
        ))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let Params { credit_queue, bucket, .. } = self.params;
        let framing = &self.fabric.framing;
        let credits = shaped(framing, site.rate, self.share(), credit_queue, bucket);
        if site.nic {
            // It takes data from its host one packet at a time: there is no queue to mark.
            let classes = vec![credits, ClassPolicy::fifo(Limit::Unlimited)];
            return Policy { transport: ID, classes, markers: vec![] };
        }
        let reserve = || reserved(framing, site.rate, self.share());
        let shaper = self.params.reserve.then(reserve);
        Policy {
            transport: ID,
            classes: vec![credits, ClassPolicy { shaper, ..ClassPolicy::fifo(site.buffer) }],
            markers: vec![Box::new(switch::marker(&self.params))],
        }
    }

    fn shapes_nic(&self) -> bool {
        true
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    fn unsolicited(&self, _site: &HostSite, _packets: u32) -> u32 {
        0
    }
}
