//! What a host goes by.

use crate::homa;
use incast_endpoint::first_round::RoundTerms;

/// Settings of a host in addition to Homa's.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub round: RoundTerms,
    pub host_burst: u32,
    pub homa: homa::Terms,
}
