//! The catalogue entry: what a transport is called, what it needs, how to make its parts.

use crate::{
    FabricSite, HeaderView, Host, HostSite, ParameterDoc, ParameterError, Policy, PortSite,
    SwitchHook, SwitchSite, TransportId,
};
use std::sync::Arc;

/// How the fabric chooses among equal-cost links for a transport's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// By a hash of the flow, each switch with its own seed.
    Ecmp,
    /// By a hash that is the same in both directions: an answer takes its question's reverse path.
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

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Routing::NAMES.iter().find(|(_, how)| *how == self);
        found.map(|(name, _)| *name).expect("all have names")
    }
}

/// Who decides how fast a flow sends, and in what terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The destination hands out grants, tokens, pulls or credits.
    ReceiverDriven,
    /// The source bounds the bytes in flight.
    Window,
    /// The source paces packets.
    Rate,
}

impl Kind {
    /// As `incast list` writes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ReceiverDriven => "receiver-driven",
            Kind::Window => "window",
            Kind::Rate => "rate",
        }
    }
}

/// What the two ECN bits of a transport's data packets hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// Not-ECT: no switch may mark them.
    None,
    /// ECT and CE as in RFC 3168: a rule of another transport may mark them too
    /// ([`Marker::sets_ce`](crate::Marker::sets_ce)).
    Rfc3168,
    /// A code of the transport's own, which nobody else may touch. On the wire the top bit of the
    /// transport's number says so.
    OwnCode,
}

impl EcnUse {
    /// As `incast list NAME` writes it.
    pub fn name(self) -> &'static str {
        match self {
            EcnUse::None => "none",
            EcnUse::Rfc3168 => "rfc3168",
            EcnUse::OwnCode => "own-code",
        }
    }
}

/// Where a transport differs from its paper, or decides what its paper leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deviation {
    /// Number in the list of the transport's README, from 1.
    pub number: u32,
    /// Where the paper says otherwise or nothing, such as `REN §3.2.2` or `Algorithm 2, line 10`;
    /// empty if no single place does.
    pub section: &'static str,
    /// What is done here.
    pub what: &'static str,
    /// Why.
    pub reason: &'static str,
    /// The difference it makes, if it was measured.
    pub effect: Option<&'static str>,
}

/// Facts about a transport that hold whatever its parameters are.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Name on the command line.
    pub name: &'static str,
    /// Number on the wire; the top bit is set if and only if `ecn` is [`EcnUse::OwnCode`].
    pub id: TransportId,
    /// Full name.
    pub title: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// Who decides how fast a flow sends.
    pub kind: Kind,
    /// What it needs of switches, in words.
    pub switch_support: &'static str,
    /// Load balancing that its paper uses.
    pub routing: Routing,
    /// Whether it works only if ACKs come back by the links that data takes: symmetric ECMP, in a
    /// fabric that has such paths.
    pub symmetric_paths: bool,
    /// What the ECN bits of its data packets hold.
    pub ecn: EcnUse,
    /// Whether the ports of its switches mark its data packets under congestion: whether it makes
    /// the `marks` of a port's results grow.
    pub marks: bool,
    /// Whether its paper assumes a lossless fabric (priority flow control). It runs without PFC
    /// too, on a recovery that the paper does not describe.
    pub made_for_pfc: bool,
    /// Bits in which a data packet carries the state of switches, where a table of overheads
    /// counts them; `None` where they are not fixed, or nobody counts them.
    pub feedback_bits: Option<u32>,
    /// The kinds of packets that it sends, with the names of what their headers carry.
    pub headers: &'static [HeaderView],
    /// Differences from the paper, numbered from 1.
    pub deviations: &'static [Deviation],
}

/// A catalogue entry; every [`Declaration`](crate::Declaration) is one.
pub trait Transport: Sync {
    /// Facts.
    fn info(&self) -> &'static Info;

    /// Its parameters with defaults and sources.
    fn parameters(&self) -> Vec<ParameterDoc>;

    /// Fixes the parameters for a fabric. `settings` are `(key, value)` as the user wrote them.
    ///
    /// # Errors
    /// A key that is not a parameter, or a value that it does not accept, alone or in this fabric.
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

    /// What the user should look at before trusting a run with these parameters on this fabric.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// Packets a source sends before it hears from its destination, for a flow of `packets`:
    /// a lone flow no larger takes exactly the ideal time.
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32;
}
