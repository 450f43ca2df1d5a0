//! ExpressPass (SIGCOMM 2017): destinations send credits, ports limit them, and data finds room.

#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
#[cfg(test)]
mod tests;

pub use params::{Feedback, Params};
pub use receiver::{FeedbackLoop, Pace};

use incast_blocks::credit::{CreditHost, Terms, credit_share, shaped};
use incast_transport::{
    ClassPolicy, Configured, Ecn, FabricSite, Host, HostSite, Info, Limit, ParameterDoc,
    ParameterError, Policy, PortSite, Routing, Span, Transport, TransportId,
};
use std::sync::Arc;

/// ExpressPass's number on the wire.
pub const ID: TransportId = TransportId(9);

/// Largest number of pairs of bytes by which a credit is longer: 100 B in all (fat-tree script).
const LONGER: u8 = 8;
/// Least automatic time after which something is asked for again (fat-tree script).
const AGAIN: Span = Span::from_us(100);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// ExpressPass.
pub struct Entry;

static INFO: Info = Info {
    name: "expresspass",
    id: ID,
    title: "ExpressPass",
    paper: "Cho, Jang and Han, Credit-Scheduled Delay-Bounded Congestion Control for Datacenters, \
            SIGCOMM 2017",
    kind: "receiver-driven",
    switch_support: "a short, rate-limited queue for credits; paths that are the same both ways",
    routing: Routing::SymmetricEcmp,
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

/// ExpressPass with its parameters, for one fabric.
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
        let again = again.unwrap_or_else(|| AGAIN.max(self.fabric.base_rtt * 2));
        Terms {
            transport: ID,
            mark: Ecn::NotEct as u8,
            credit: self.fabric.framing.charged_header(),
            jitter: params.jitter,
            longer: if params.size_jitter { LONGER } else { 0 },
            early_stop: params.early_stop,
            request_again: again,
            missing_again: again,
        }
    }
}

impl Configured for Plan {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let terms = self.terms();
        let max = site.rate.0 as f64 / 8.0 * self.share();
        let law = FeedbackLoop::new(&self.params, terms.credit, max);
        Box::new(CreditHost::new(terms, law))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let Params { credit_queue, bucket, .. } = self.params;
        let framing = &self.fabric.framing;
        let credits = shaped(framing, site.rate, self.share(), credit_queue, bucket);
        // A NIC takes data from its host one packet at a time.
        let data = if site.nic { Limit::Unlimited } else { site.buffer };
        Policy { transport: ID, classes: vec![credits, ClassPolicy::fifo(data)], markers: vec![] }
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
