//! How a transport is declared: facts and functions in one value, from which the rest follows.

use crate::{
    Acks, ClassPolicy, Configured, FabricSite, Host, HostSite, Info, LentPorts, ParameterDoc,
    ParameterSet, Parameters, Policy, PortSite, Setting, SwitchHook, SwitchSite, Transport,
    parameter::{self, SET},
};
use incast_units::{Fault, Notice, WarningKind};
use std::sync::Arc;

/// Names and values for the manifest.
pub type Values = Vec<(&'static str, String)>;

/// What a transport does in a switch beyond its ports, if anything.
pub type Hook = Option<Box<dyn SwitchHook>>;

/// A transport: what it is, and the functions that make its parts. Each folder of
/// `crates/protocols` has one as a static, `ENTRY`.
///
/// `P` are its parameters (made by [`parameters!`](crate::parameters)), `D` is what it derives from
/// them and the fabric once, before any host or port exists; `()` if nothing.
///
/// The [page of this crate](crate) shows a whole one.
pub struct Declaration<P, D = ()> {
    /// Facts.
    pub info: &'static Info,
    /// What follows from parameters and fabric, or why they do not fit together.
    pub derive: fn(&P, &FabricSite) -> Result<D, Fault>,
    /// The transport of one host.
    pub host: fn(&Ready<P, D>, &HostSite) -> Box<dyn Host>,
    /// Its policy for a port; see [`Configured::policy`].
    pub policy: fn(&Ready<P, D>, &PortSite) -> Policy,
    /// Packets that a source sends before it hears from its destination; see
    /// [`Configured::unsolicited`].
    pub unsolicited: fn(&Ready<P, D>, &HostSite, u32) -> u32,
    /// What most transports leave out.
    pub optional: Optional<P, D>,
}

/// The functions of a [`Declaration`] that most transports leave out; those that are left out are
/// taken from [`Optional::NONE`].
pub struct Optional<P, D = ()> {
    /// Named sets of parameter values, which the key `set` selects. The first one is the default
    /// and contains no values.
    pub sets: &'static [ParameterSet],
    /// Values beside the parameters that the manifest shows, such as `period (in force)` for a
    /// `period` that is `auto`.
    pub in_force: fn(&Ready<P, D>) -> Values,
    /// What the user should look at before trusting a run; see [`Configured::warnings`].
    pub warnings: fn(&Ready<P, D>) -> Vec<Notice>,
    /// The kinds of those; see [`Transport::warning_kinds`].
    pub warning_kinds: &'static [&'static WarningKind],
    /// Whether a NIC needs the policy too; see [`Configured::shapes_nic`].
    pub shapes_nic: fn(&Ready<P, D>) -> bool,
    /// Whether a flow may have a first burst or initial window of its own; see
    /// [`Transport::takes_burst`].
    pub takes_burst: bool,
    /// Whether flows can be messages on one connection; see [`Transport::keeps_connections`].
    pub keeps_connections: bool,
    /// Whether its sources can move a flow to another path; see [`Transport::moves_flows`].
    pub moves_flows: bool,
    /// Its ports, if other congestion controls may run through them; see
    /// [`Transport::lends_ports`].
    pub lends_ports: Option<LentPorts>,
    /// What it does in switches beyond ports; see [`Configured::hook`].
    pub hook: fn(&Ready<P, D>, &SwitchSite) -> Hook,
    /// Bytes of its own in data packets; see [`Configured::extension`].
    pub extension: fn(&Ready<P, D>) -> u16,
    /// Whether its packets may come in any order though its paper's may not; see
    /// [`Configured::any_order`].
    pub any_order: fn(&Ready<P, D>) -> bool,
}

impl<P, D> Optional<P, D> {
    /// No sets, no further values, no warnings, nothing at NICs, no ports for others, no hook and no
    /// extension.
    pub const NONE: Optional<P, D> = Optional {
        sets: &[],
        in_force: |_| vec![],
        warnings: |_| vec![],
        warning_kinds: &[],
        shapes_nic: |_| false,
        takes_burst: false,
        keeps_connections: false,
        moves_flows: false,
        lends_ports: None,
        hook: |_, _| None,
        extension: |_| 0,
        any_order: |_| false,
    };
}

/// A transport with its parameters, for one fabric: what the functions of its [`Declaration`] are
/// given.
pub struct Ready<P, D = ()> {
    /// Its parameters.
    pub params: P,
    /// What it derived from them.
    pub derived: D,
    /// The fabric.
    pub fabric: Arc<FabricSite>,
}

/// A declaration in force for one fabric.
struct InForce<P, D> {
    declaration: Declaration<P, D>,
    /// Name of the parameter set, if the transport has sets.
    set: Option<&'static str>,
    ready: Ready<P, D>,
}

impl<P, D> Clone for Declaration<P, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, D> Copy for Declaration<P, D> {}

impl<P, D> Clone for Optional<P, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, D> Copy for Optional<P, D> {}

impl<P, D> Transport for Declaration<P, D>
where
    P: Parameters + Send + Sync + 'static,
    D: Send + Sync + 'static,
{
    fn info(&self) -> &'static Info {
        self.info
    }

    fn parameters(&self) -> Vec<ParameterDoc> {
        ParameterSet::doc(self.optional.sets).into_iter().chain(P::docs()).collect()
    }

    fn sets(&self) -> &'static [ParameterSet] {
        self.optional.sets
    }

    fn takes_burst(&self) -> bool {
        self.optional.takes_burst
    }

    fn keeps_connections(&self) -> bool {
        self.optional.keeps_connections
    }

    fn moves_flows(&self) -> bool {
        self.optional.moves_flows
    }

    fn lends_ports(&self) -> Option<LentPorts> {
        self.optional.lends_ports
    }

    fn warning_kinds(&self) -> &'static [&'static WarningKind] {
        self.optional.warning_kinds
    }

    fn configure(
        &self,
        settings: &[(String, Setting)],
        fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, Fault> {
        let sets = self.optional.sets;
        let mut known: Vec<&str> = P::docs().iter().map(|doc| doc.name).collect();
        known.extend((!sets.is_empty()).then_some(SET));
        if let Some((key, value)) = settings.iter().find(|(key, _)| !known.contains(&&**key)) {
            return Err(parameter::unknown(key, value, &known));
        }
        let set = ParameterSet::selected(sets, settings)?;
        let settings = set.map_or_else(|| settings.to_vec(), |set| set.below(settings));
        let params = P::read(&settings)?;
        let derived = (self.derive)(&params, &fabric)?;
        let ready = Ready { params, derived, fabric };
        Ok(Arc::new(InForce { declaration: *self, set: set.map(|set| set.name), ready }))
    }
}

impl<P, D> Configured for InForce<P, D>
where
    P: Parameters + Send + Sync + 'static,
    D: Send + Sync + 'static,
{
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        let mut host = (self.declaration.host)(&self.ready, site);
        site.set_up(&mut *host);
        host
    }

    fn policy(&self, site: &PortSite) -> Policy {
        let mut policy = (self.declaration.policy)(&self.ready, site);
        // A transport that keeps its ACKs among data has no room for control.
        if self.ready.fabric.acks == Some(Acks::Control)
            && let [control, data, ..] = &mut policy.classes[..]
            && *control == ClassPolicy::unused()
        {
            *control = ClassPolicy::fifo(data.limit);
        }
        policy
    }

    fn shapes_nic(&self) -> bool {
        (self.declaration.optional.shapes_nic)(&self.ready)
    }

    fn hook(&self, site: &SwitchSite) -> Hook {
        (self.declaration.optional.hook)(&self.ready, site)
    }

    fn resolved(&self) -> Values {
        let mut resolved: Values = self.set.map(|set| (SET, set.into())).into_iter().collect();
        resolved.extend(self.ready.params.resolved());
        resolved.extend((self.declaration.optional.in_force)(&self.ready));
        resolved
    }

    fn warnings(&self) -> Vec<Notice> {
        (self.declaration.optional.warnings)(&self.ready)
    }

    fn extension(&self) -> u16 {
        (self.declaration.optional.extension)(&self.ready)
    }

    fn any_order(&self) -> bool {
        (self.declaration.optional.any_order)(&self.ready)
    }

    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        (self.declaration.unsolicited)(&self.ready, site, packets)
    }
}
