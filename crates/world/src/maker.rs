//! The ports of a run, made one by one: a world makes those that it needs, when it needs them.

use crate::trace::{TraceLog, traced_port};
use incast_egress::port::{Builder, PolicyConflict};
use incast_fabric::{Fabric, PortSpec, Tier};
use incast_transport::{Configured, FabricSite, Info, Policy, Port, PortSite, Routing};
use std::sync::{Arc, Mutex};

/// A transport that takes part in a run.
#[derive(Clone)]
pub struct RunTransport {
    /// The facts of its catalogue entry.
    pub info: &'static Info,
    /// The transport with its parameters set.
    pub configured: Arc<dyn Configured>,
    /// Load balancing of its packets.
    pub routing: Routing,
}

/// A port's site.
pub fn port_site(port: u32, spec: &PortSpec, site: &Arc<FabricSite>) -> PortSite {
    PortSite {
        port,
        rate: spec.rate,
        nic: spec.tier == Tier::Host,
        tier: spec.tier as u8,
        upward: spec.upward,
        buffer: site.buffer,
        fabric: site.clone(),
    }
}

/// Makes the ports of a fabric. What it makes for a port is the same each time.
pub struct PortMaker {
    fabric: Arc<Fabric>,
    site: Arc<FabricSite>,
    transports: Vec<RunTransport>,
    builder: Mutex<Builder>,
    /// Ports that it selects are wrapped.
    trace: Option<Arc<TraceLog>>,
}

impl PortMaker {
    /// Of ports that serve these transports together.
    ///
    /// # Errors
    /// What no port can do.
    pub fn new(
        fabric: Arc<Fabric>,
        site: Arc<FabricSite>,
        transports: &[RunTransport],
        mut builder: Builder,
    ) -> Result<PortMaker, PolicyConflict> {
        check_kinds(&fabric, &site, transports, &mut builder)?;
        let (transports, builder) = (transports.to_vec(), Mutex::new(builder));
        Ok(PortMaker { fabric, site, transports, builder, trace: None })
    }

    /// Wraps the ports that a trace selects.
    pub(crate) fn trace(&mut self, log: Arc<TraceLog>) {
        self.trace = Some(log);
    }

    /// The handler of a port: every switch port has one, a NIC only if something shapes it.
    pub fn make(&self, port: u32) -> Option<Box<dyn Port>> {
        let spec = &self.fabric.ports()[port as usize];
        let mut builder = self.builder.lock().expect("no panic while it is held");
        let made = make_port(port, spec, &self.site, &self.transports, &mut builder);
        let made = made.expect("a port of its kind was made before")?;
        Some(match &self.trace {
            Some(log) => traced_port(log, port, spec.rate, made),
            None => made,
        })
    }
}

/// Makes one port of each kind: where policies contradict each other, they do so there.
pub(crate) fn check_kinds(
    fabric: &Fabric,
    site: &Arc<FabricSite>,
    transports: &[RunTransport],
    builder: &mut Builder,
) -> Result<(), PolicyConflict> {
    let mut known = vec![];
    for (port, spec) in fabric.ports().iter().enumerate() {
        let kind = (spec.rate, spec.tier, spec.upward);
        if known.last() != Some(&kind) && !known.contains(&kind) {
            known.push(kind);
            make_port(port as u32, spec, site, transports, builder)?;
        }
    }
    Ok(())
}

/// The handler of a port; none of a NIC that nothing shapes.
fn make_port(
    port: u32,
    spec: &PortSpec,
    site: &Arc<FabricSite>,
    transports: &[RunTransport],
    builder: &mut Builder,
) -> Result<Option<Box<dyn Port>>, PolicyConflict> {
    let site = port_site(port, spec, site);
    let shapes = |transport: &RunTransport| transport.configured.shapes_nic();
    if site.nic && !transports.iter().any(shapes) {
        return Ok(None);
    }
    let policy = |transport: &RunTransport| match site.nic && !shapes(transport) {
        // It has no NIC policy, and this NIC is shaped by another.
        true => Policy::at_nic(transport.info.id, vec![]),
        false => transport.configured.policy(&site),
    };
    builder.build(transports.iter().map(policy).collect(), &site).map(Some)
}
