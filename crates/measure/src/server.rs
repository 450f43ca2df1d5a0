//! Servers with several NICs: what each sent and received, its NICs together.

use crate::Distribution;
use serde::{Deserialize, Serialize};

/// A server in numbers, over all its flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// Its number; its NICs are the hosts `server3/nic0`, `server3/nic1` and so on.
    pub server: u32,
    /// How many NICs it has.
    pub nics: u32,
    /// Flows that it sends.
    pub sent_flows: u64,
    /// Their sizes.
    pub sent_bytes: u64,
    /// Flows that it receives.
    pub received_flows: u64,
    /// Payload of these that was delivered.
    pub delivered_bytes: u64,
    /// Those that are complete; only they enter the next two.
    pub completed_flows: u64,
    /// Completion times of the flows that it receives.
    pub fct_ns: Option<Distribution>,
    /// The same over those of the flows alone.
    pub slowdown: Option<Distribution>,
}
