//! DECN: switches tell each flow the difference between its fair share and its rate, in twelve
//! bits over three packets that are no longer for it.

pub mod code;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use params::{Cadence, Params, Rule, Unit};
pub use receiver::Copying;
pub use sender::Decn;
pub use switch::{DecnMarker, Sampling, Shares};

use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, SenderDriven, law};
use incast_transport::{
    Configured, EcnUse, FabricSite, Host, HostSite, Info, Kind, ParameterDoc, ParameterError,
    Policy, PortSite, Routing, Transport, TransportId,
};
use std::sync::Arc;

/// DECN's number on the wire; its code is in the ECN bits.
pub const ID: TransportId = TransportId(0x92);

/// The mark of the first packet of a feedback unit, and of all others (DECN §III-C).
pub const FIRST_OF_UNIT: u8 = 0b01;
const OTHERS: u8 = 0b00;
/// The four bits that a sender writes into the packets of a unit.
pub const UNDECIDED: u8 = code::nibble(code::LARGEST, 0);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// DECN.
pub struct Entry;

static INFO: Info = Info {
    name: "decn",
    id: ID,
    title: "DECN",
    paper: "Jiang et al., Achieving Fast Convergence and High Efficiency using Differential \
            Explicit Feedback in Data Center",
    kind: Kind::Rate,
    switch_support: "measures each flow and tells it the difference to its share, 12 bits in \
                     3 packets",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::OwnCode,
    marks: true,
    made_for_pfc: false,
    // In reserved bits, over the packets of a unit: nothing is added.
    feedback_bits: Some(u16::BITS - code::LARGEST.leading_zeros()),
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

/// DECN with its parameters, for one fabric.
struct Plan {
    params: Params,
    fabric: Arc<FabricSite>,
}

impl Configured for Plan {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let Params { rto_min, rto_initial, .. } = self.params;
        let options = Options {
            data_mark: OTHERS,
            rto: RtoBounds::starting_at(rto_initial, rto_min),
            ..Options::tcp(ID, rto_min)
        };
        let rule = Rule::new(&self.params, site.rate, &self.fabric);
        let law = law(Copying, move |_, flow, _| Decn::new(rule, flow.packets()));
        Box::new(SenderDriven::new(law, options))
    }

    fn policy(&self, site: &PortSite) -> Policy {
        Policy::one_queue(ID, site.buffer, Box::new(DecnMarker::new(&self.params, site)))
    }

    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.params.resolved()
    }

    fn warnings(&self) -> Vec<String> {
        self.params.warnings(&self.fabric)
    }

    fn unsolicited(&self, _site: &HostSite, packets: u32) -> u32 {
        // From the second packet on they are spaced.
        packets.min(1)
    }
}
