//! The catalogue: one folder and one line a transport.

pub mod aeolus;
pub mod amrt;
pub mod ccrp;
pub mod cubic;
pub mod dcqcn;
pub mod dctcp;
pub mod decn;
pub mod expresspass;
pub mod fasttune;
pub mod homa;
pub mod hpcc;
pub mod hpcc_plus;
pub mod mlcp;
pub mod ndp;
pub mod phost;
pub mod rcp;
pub mod ren;
pub mod timely;
pub mod trd;
pub mod vcp;
pub mod xcp;

use incast_transport::{HeaderView, Transport};

/// Every transport, by name.
pub const CATALOGUE: &[&dyn Transport] = &[
    &aeolus::ENTRY,
    &amrt::ENTRY,
    &ccrp::ENTRY,
    &cubic::ENTRY,
    &dcqcn::ENTRY,
    &dctcp::ENTRY,
    &decn::ENTRY,
    &expresspass::ENTRY,
    &fasttune::ENTRY,
    &homa::ENTRY,
    &hpcc::ENTRY,
    &hpcc_plus::ENTRY,
    &mlcp::ENTRY,
    &ndp::ENTRY,
    &phost::ENTRY,
    &rcp::ENTRY,
    &ren::ENTRY,
    &timely::ENTRY,
    &trd::ENTRY,
    &vcp::ENTRY,
    &xcp::ENTRY,
];

/// The transport of this name.
pub fn find(name: &str) -> Option<&'static dyn Transport> {
    CATALOGUE.iter().copied().find(|transport| transport.info().name == name)
}

/// The kinds of packets that each transport sends, in the order of the catalogue.
pub const HEADERS: &[&[HeaderView]] = &[
    aeolus::headers::HEADERS,
    amrt::headers::HEADERS,
    ccrp::headers::HEADERS,
    cubic::headers::HEADERS,
    dcqcn::headers::HEADERS,
    dctcp::headers::HEADERS,
    decn::headers::HEADERS,
    expresspass::headers::HEADERS,
    fasttune::headers::HEADERS,
    homa::headers::HEADERS,
    hpcc::headers::HEADERS,
    hpcc_plus::headers::HEADERS,
    mlcp::headers::HEADERS,
    ndp::headers::HEADERS,
    phost::headers::HEADERS,
    rcp::headers::HEADERS,
    ren::headers::HEADERS,
    timely::headers::HEADERS,
    trd::headers::HEADERS,
    vcp::headers::HEADERS,
    xcp::headers::HEADERS,
];
