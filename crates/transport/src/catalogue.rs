//! The catalogue entry: what a transport is called, what it needs, how to make its parts.

use crate::{
    FabricSite, Host, HostSite, ParameterDoc, ParameterError, Policy, PortSite, SwitchHook,
    SwitchSite, TransportId,
};
use std::sync::Arc;

/// How the fabric chooses among equal-cost links for a transport's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// By a hash of the flow, each switch with its own seed.
    Ecmp,
    /// By a hash that is the same in both directions: an answer takes its question's way back.
    SymmetricEcmp,
    /// Each packet at random.
    Spray,
    /// Each packet to the next of a random permutation, renewed after each turn.
    RoundRobin,
    /// By the packet's `path` field, which the source sets: below the number of paths, each number
    /// means another one in a fabric of two or three tiers.
    SourcePath,
}

impl Routing {
    /// All, with the names scenarios use.
    pub const NAMES: [(&'static str, Routing); 5] = [
        ("ecmp", Routing::Ecmp),
        ("symmetric-ecmp", Routing::SymmetricEcmp),
        ("spray", Routing::Spray),
        ("round-robin", Routing::RoundRobin),
        ("source-path", Routing::SourcePath),
    ];
}

/// Facts about a transport.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Name on the command line.
    pub name: &'static str,
    /// Number on the wire; the top bit says that the ECN bits carry a code of its own.
    pub id: TransportId,
    /// Full name.
    pub title: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// `receiver-driven`, `window`, `rate`, ...
    pub kind: &'static str,
    /// What it needs of switches, in words.
    pub switch_support: &'static str,
    /// Load balancing that its paper uses.
    pub routing: Routing,
}

/// A catalogue entry.
pub trait Transport: Sync {
    /// Facts.
    fn info(&self) -> &'static Info;

    /// Its parameters with defaults and sources.
    fn parameters(&self) -> Vec<ParameterDoc>;

    /// Bits in which a data packet carries the state of switches, where a table of overheads counts
    /// them; `None` where they are not fixed, or nobody counts them.
    fn feedback_bits(&self) -> Option<u32> {
        None
    }

    /// Fixes the parameters for a fabric. `settings` are `(key, value)` as a person wrote them.
    fn configure(
        &self,
        settings: &[(String, String)],
        fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, ParameterError>;
}

/// A transport with its parameters, ready to be put into a fabric.
pub trait Configured: Send + Sync {
    /// The transport of one host.
    fn host(&self, site: &HostSite) -> Box<dyn Host>;

    /// What it asks of a port. NICs ask too: a NIC pulls packets from its hosts one by one, so
    /// only what shapes or marks there matters.
    fn policy(&self, site: &PortSite) -> Policy;

    /// Whether a NIC needs the policy too (a shaper or marker at the source).
    fn shapes_nic(&self) -> bool {
        false
    }

    /// What it does in switches beyond ports.
    fn hook(&self, _site: &SwitchSite) -> Option<Box<dyn SwitchHook>> {
        None
    }

    /// Every parameter with the value in force, for the manifest.
    fn resolved(&self) -> Vec<(&'static str, String)>;

    /// Whether it does not work unless answers come back by the links that data takes: symmetric
    /// ECMP, in a fabric in which that holds.
    fn needs_symmetric_paths(&self) -> bool {
        false
    }

    /// What a person should look at before trusting a run with these parameters on this fabric.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// Packets a source sends before it hears from its destination, for a flow of `packets`:
    /// a lone flow no larger takes exactly the ideal time.
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32;
}
