//! DECN: switches signal to each flow the difference between its fair share and its rate, in twelve
//! reserved header bits over three packets.

pub mod code;
mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod switch;
#[cfg(test)]
mod tests;

pub use code::Unit;
pub use headers::{FIRST_OF_UNIT, ID};
pub use params::{Cadence, Params, Rule};
pub use receiver::Copying;
pub use sender::Decn;
pub use switch::{DecnMarker, Sampling, Shares};

use deviations::DEVIATIONS;
use headers::OTHERS;
use incast_endpoint::rto::RtoBounds;
use incast_endpoint::sender::{Options, SenderDriven, congestion_control};
use incast_transport::{
    Declaration, EcnUse, Host, HostSite, Info, Optional, Policy, PortSite, Ready, Routing,
    TransportKind,
};

/// The four bits that a sender writes into the packets of a unit.
pub const UNDECIDED: u8 = code::nibble(code::LARGEST, 0);

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "decn",
        id: ID,
        title: "DECN",
        paper: "Jiang et al., Achieving Fast Convergence and High Efficiency using Differential \
                Explicit Feedback in Data Center",
        kind: TransportKind::Rate,
        switch_support: "measures each flow and signals the difference to its share, 12 bits in \
                         3 packets",
        routing: Routing::Ecmp,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::OwnCode,
        marks: true,
        made_for_pfc: false,
        // In reserved bits of the packets of a unit: packets do not get longer.
        feedback_bits: Some(u16::BITS - code::LARGEST.leading_zeros()),
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |_, _| Ok(()),
    host,
    policy,
    // Packets after the first are paced.
    unsolicited: |_, _, packets| packets.min(1),
    optional: Optional {
        warnings: |decn| decn.params.warnings(&decn.fabric),
        warning_kinds: params::WARNINGS,
        ..Optional::NONE
    },
};

fn host(decn: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let Params { rto_min, rto_initial, .. } = decn.params;
    let options = Options {
        data_mark: OTHERS,
        rto: RtoBounds::starting_at(rto_initial, rto_min),
        ..Options::tcp(ID, rto_min)
    };
    let rule = Rule::new(&decn.params, site.rate, &decn.fabric);
    let control = congestion_control(Copying, move |_, flow, _| Decn::new(rule, flow.packets()));
    Box::new(SenderDriven::new(control, options))
}

fn policy(decn: &Ready<Params>, site: &PortSite) -> Policy {
    Policy::one_queue(ID, site.buffer, Box::new(DecnMarker::new(&decn.params, site)))
}
