//! Catalogue entries of transports: names, requirements and constructors.

use crate::routing::Routing;
use crate::{
    Acks, FabricSite, HeaderView, Host, HostSite, ParameterDoc, ParameterSet, Policy, PortSite,
    Setting, SwitchHook, SwitchSite, TransportId,
};
use incast_units::{Fault, Notice, WarningKind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The control of a flow's sending rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransportKind {
    /// The destination hands out grants, tokens, pulls or credits.
    ReceiverDriven,
    /// The source bounds the bytes in flight.
    Window,
    /// The source paces packets.
    Rate,
}

impl TransportKind {
    /// The name in `incast list`.
    pub fn name(self) -> &'static str {
        match self {
            TransportKind::ReceiverDriven => "receiver-driven",
            TransportKind::Window => "window",
            TransportKind::Rate => "rate",
        }
    }
}

/// The use of the two ECN bits in a transport's data packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// Not-ECT: switches must not mark them.
    None,
    /// ECT and CE as in RFC 3168: a rule of another transport may mark them too
    /// ([`Marker::sets_ce`](crate::Marker::sets_ce)).
    Rfc3168,
    /// A code of the transport's own, which other transports must not change. On the wire the top
    /// bit of the transport's number is set.
    OwnCode,
}

impl EcnUse {
    /// The name in `incast list NAME`.
    pub fn name(self) -> &'static str {
        match self {
            EcnUse::None => "none",
            EcnUse::Rfc3168 => "rfc3168",
            EcnUse::OwnCode => "own-code",
        }
    }
}

/// A difference from a transport's paper, or a choice where the paper is silent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deviation {
    /// Number in the list of the transport's README, from 1.
    pub number: u32,
    /// The place in the paper, such as `REN §3.2.2` or `Algorithm 2, line 10`; empty if there is no
    /// single one.
    pub section: &'static str,
    /// The behaviour of this implementation.
    pub what: &'static str,
    /// The reason.
    pub reason: &'static str,
    /// The measured effect, if any.
    pub effect: Option<&'static str>,
}

/// Facts about a transport that do not depend on its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Name on the command line.
    pub name: &'static str,
    /// Number on the wire; the top bit is set if and only if `ecn` is [`EcnUse::OwnCode`].
    pub id: TransportId,
    /// Full name.
    pub title: &'static str,
    /// The publication.
    pub paper: &'static str,
    /// The control of a flow's sending rate.
    pub kind: TransportKind,
    /// Required switch support, in words.
    pub switch_support: &'static str,
    /// Load balancing of its paper.
    pub routing: Routing,
    /// Whether it requires ACKs on the reverse path of the data: symmetric ECMP, in a fabric with
    /// symmetric paths.
    pub symmetric_paths: bool,
    /// Whether it compares what the hops of one path tell (telemetry, granted rates) from packet to packet:
    /// over several paths that says little.
    pub one_path: bool,
    /// The use of the ECN bits in its data packets.
    pub ecn: EcnUse,
    /// Whether switch ports mark its data packets under congestion, counted as `marks` in the
    /// results.
    pub marks: bool,
    /// Whether its paper assumes a lossless fabric (priority flow control). Without PFC it runs
    /// with a loss recovery that the paper does not describe.
    pub made_for_pfc: bool,
    /// Feedback bits per data packet according to a published overhead table; `None` if they vary
    /// or no table lists them.
    pub feedback_bits: Option<u32>,
    /// The packet types that it sends, with their header fields.
    pub headers: &'static [HeaderView],
    /// Differences from the paper, numbered from 1.
    pub deviations: &'static [Deviation],
}

/// What a transport says of its ports, if congestion controls from outside the catalogue may run
/// through them: ports that need nothing of packets but what the common sender writes.
#[derive(Clone, Copy, Debug)]
pub struct LentPorts {
    /// Those of its parameters that decide what its ports do.
    pub parameters: &'static [&'static str],
    /// The class of ACKs that its ports have room for.
    pub acks: Acks,
    /// The code in the ECN bits that data leaves with, if ports write codes of their own there, and
    /// not marks of RFC 3168: ACKs return it.
    pub code: Option<u8>,
}

/// A catalogue entry. Every [`Declaration`](crate::Declaration) implements it.
pub trait Transport: Sync {
    /// Facts about the transport.
    fn info(&self) -> &'static Info;

    /// Its parameters with defaults and sources.
    fn parameters(&self) -> Vec<ParameterDoc>;

    /// Its named sets of parameter values; the first one is the default and contains no values.
    fn sets(&self) -> &'static [ParameterSet] {
        &[]
    }

    /// Whether a flow may have a first burst or initial window of its own
    /// ([`Flow::burst`](crate::Flow::burst)).
    fn takes_burst(&self) -> bool {
        false
    }

    /// Whether flows can be messages on one [connection](crate::Connection): its sources append what is opened on one to
    /// what they send there.
    fn keeps_connections(&self) -> bool {
        false
    }

    /// Whether its sources can move a flow to another path ([`Routing::Plb`]).
    fn moves_flows(&self) -> bool {
        false
    }

    /// Its ports, if other congestion controls may run through them.
    fn lends_ports(&self) -> Option<LentPorts> {
        None
    }

    /// The kinds of [its warnings](Configured::warnings).
    fn warning_kinds(&self) -> &'static [&'static WarningKind] {
        &[]
    }

    /// Sets the parameters for a fabric. `settings` are the user's `(key, value)` pairs.
    ///
    /// # Errors
    /// An unknown key, or a value that is invalid in general or in this fabric.
    fn configure(
        &self,
        settings: &[(String, Setting)],
        fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, Fault>;
}

/// A transport with its parameters set for a fabric.
pub trait Configured: Send + Sync {
    /// The transport of one host.
    fn host(&self, site: &HostSite) -> Box<dyn Host>;

    /// Its policy for a port. At a NIC only shapers and markers take effect, because a NIC pulls
    /// packets from its host one by one.
    fn policy(&self, site: &PortSite) -> Policy;

    /// Whether the policy applies to NICs (a shaper or marker at the source).
    fn shapes_nic(&self) -> bool {
        false
    }

    /// Its switch hook, if any.
    fn hook(&self, _site: &SwitchSite) -> Option<Box<dyn SwitchHook>> {
        None
    }

    /// Every parameter with its effective value, for the manifest.
    fn resolved(&self) -> Vec<(&'static str, String)>;

    /// Warnings for the user about these parameters on this fabric.
    fn warnings(&self) -> Vec<Notice> {
        vec![]
    }

    /// Bytes at most that its data packets carry between the header and the payload: what a
    /// packet of the MTU must have room for.
    fn extension(&self) -> u16 {
        0
    }

    /// Whether under these parameters its packets may come in any order, and its sources give each a path
    /// number, though [`Info`] says otherwise.
    fn any_order(&self) -> bool {
        false
    }

    /// A run begins. Sets `halt` when it cannot go on: the run then ends early, and
    /// [`failure`](Configured::failure) says why.
    fn begin(&self, _halt: &Arc<AtomicBool>) {}

    /// Why the run that began last could not go on.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Packets that a source sends before the first reply of the destination, for a flow of
    /// `packets`. A flow of at most this size completes in exactly the ideal time on an idle
    /// network.
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32;
}
