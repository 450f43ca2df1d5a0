//! The catalogue: one folder and one line a transport.

pub mod aeolus;
pub mod amrt;
pub mod bolt;
pub mod ccrp;
pub mod cubic;
pub mod dcpim;
pub mod dcqcn;
pub mod dctcp;
pub mod decn;
pub mod eqds;
pub mod expresspass;
pub mod fasttune;
pub mod homa;
pub mod hpcc;
pub mod hpcc_plus;
pub mod mlcp;
pub mod ndp;
pub mod none;
pub mod pfabric;
pub mod phost;
pub mod powertcp;
pub mod rcp;
pub mod ren;
pub mod sird;
pub mod swift;
pub mod theta_powertcp;
pub mod timely;
pub mod trd;
pub mod uec;
pub mod vcp;
pub mod xcp;

use incast_transport::Transport;

/// Every transport, by name.
pub const CATALOGUE: &[&dyn Transport] = &[
    &aeolus::ENTRY,
    &amrt::ENTRY,
    &bolt::ENTRY,
    &ccrp::ENTRY,
    &cubic::ENTRY,
    &dcpim::ENTRY,
    &dcqcn::ENTRY,
    &dctcp::ENTRY,
    &decn::ENTRY,
    &eqds::ENTRY,
    &expresspass::ENTRY,
    &fasttune::ENTRY,
    &homa::ENTRY,
    &hpcc::ENTRY,
    &hpcc_plus::ENTRY,
    &mlcp::ENTRY,
    &ndp::ENTRY,
    &none::ENTRY,
    &pfabric::ENTRY,
    &phost::ENTRY,
    &powertcp::ENTRY,
    &rcp::ENTRY,
    &ren::ENTRY,
    &sird::ENTRY,
    &swift::ENTRY,
    &theta_powertcp::ENTRY,
    &timely::ENTRY,
    &trd::ENTRY,
    &uec::ENTRY,
    &vcp::ENTRY,
    &xcp::ENTRY,
];

/// The transport of this name.
pub fn find(name: &str) -> Option<&'static dyn Transport> {
    CATALOGUE.iter().copied().find(|transport| transport.info().name == name)
}
