//! From configured transports to hosts and ports.

use crate::maker::{PortMaker, RunTransport, check_kinds, port_site};
use crate::pfc::SharedBuffer;
use crate::queues::{QueuedHost, Queues};
use crate::{Executions, FlowSetup, Options, Setup, cut_for_good, epochs};
use incast_egress::port::{Builder, Join, Marking, PolicyConflict, splits};
use incast_fabric::{Fabric, NodeId, Tier};
use incast_transport::{
    Bytes, Classes, Discipline, EcnUse, FabricSite, Framing, Host, HostId, HostSite, Limit, Policy,
    Rate, Routing, Schedule, Setting, SizeQuantiles, Span, SwitchSite, Transport, TransportId,
    TransportKind, TransportSet,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What transports may know about a fabric. `base_rtt` overrides the computed one.
pub fn fabric_site(
    fabric: &Fabric,
    framing: Framing,
    buffer: Limit,
    sizes: Option<Arc<SizeQuantiles>>,
    base_rtt: Option<Span>,
) -> Arc<FabricSite> {
    let mtu = Bytes(framing.charged_mtu() as u64);
    let header = Bytes(framing.charged_header() as u64);
    let host_rate = (0..fabric.hosts()).map(|host| fabric.host_rate(host)).min();
    let computed = fabric.base_rtt(mtu, header);
    Arc::new(FabricSite {
        hosts: fabric.hosts(),
        framing,
        base_rtt: base_rtt.unwrap_or(computed),
        data_delay: Span(computed.0.saturating_sub(fabric.base_rtt(header, header).0)),
        max_rate: fabric.max_rate(),
        rates: rates(fabric),
        host_rate: host_rate.unwrap_or(Rate(0)),
        buffer,
        hops: fabric.longest_path(),
        paths: fabric.most_paths(),
        oversubscription: fabric.oversubscription(),
        sizes,
        acks: None,
        timers: Default::default(),
        plb: Default::default(),
    })
}

/// The different link rates, increasing.
fn rates(fabric: &Fabric) -> Arc<[Rate]> {
    let rates: BTreeSet<Rate> = fabric.ports().iter().map(|port| port.rate).collect();
    rates.into_iter().collect()
}

/// A host's site, for a transport whose packets are balanced as `routing` says.
pub fn host_site(fabric: &Fabric, site: &Arc<FabricSite>, host: u32, routing: Routing) -> HostSite {
    let rate = fabric.host_rate(host);
    let (host, bdp_packets) = (HostId(host), site.bdp_packets(rate));
    HostSite { host, rate, bdp_packets, routing, fabric: site.clone() }
}

/// Makes a setup: every host gets the transports of the flows that start or end there, every
/// switch port, once a world needs it, the joined policies of all transports. With a shared buffer, ports have no data
/// limit of their own beyond what a transport's paper fixes.
pub fn assemble(
    fabric: Arc<Fabric>,
    site: Arc<FabricSite>,
    transports: &[RunTransport],
    join: Join,
    mut flows: Vec<FlowSetup>,
    shared: Option<SharedBuffer>,
    mut options: Options,
) -> Result<Setup, PolicyConflict> {
    let epochs = epochs(&fabric);
    let payloads = payloads(&site, transports);
    for FlowSetup { flow, cut, transport, .. } in &mut flows {
        *cut = cut_for_good(&fabric, &epochs, flow.src.0, flow.dst.0);
        flow.segments = flow.segments.at_most(most_payload(&payloads, *transport), flow.size);
    }
    let propagations = fabric.ports().iter().map(|port| port.propagation);
    options.patience = propagations.fold(site.base_rtt, Span::max);
    let served = options.queues.as_ref().map_or(Arc::from([]), |queues| queues.served.clone());
    let builder = Builder::new(join).marking(marking(transports, options.marking)).queues(served);
    let maker = PortMaker::new(fabric.clone(), site.clone(), transports, builder)?;
    let mut hooks: Vec<Vec<_>> = Vec::new();
    for node in 0..fabric.nodes() {
        let ports = fabric.ports_of(NodeId(node)).len() as u32;
        let site = SwitchSite { node, ports, fabric: site.clone() };
        let of_switch = |transport: &RunTransport| transport.configured.hook(&site);
        let is_switch = node >= fabric.hosts();
        let own =
            if is_switch { transports.iter().filter_map(of_switch).collect() } else { vec![] };
        hooks.push(own);
    }
    Ok(Setup {
        framing: site.framing,
        hosts: make_hosts(&fabric, &site, transports, &flows, options.queues.as_ref()),
        ports: Arc::new(maker),
        hooks,
        routing: transports.iter().map(|t| (t.info.id, t.routing)).collect(),
        drawn_paths: transports
            .iter()
            .filter(|t| t.routing == Routing::Entropy && !t.info.routing.is_of_sources())
            .filter(|t| !t.configured.any_order())
            .map(|t| t.info.id)
            .collect(),
        flows,
        gates: vec![],
        executions: Executions::default(),
        payloads,
        shared,
        options,
        fabric,
    })
}

/// Most payload of a packet of each transport whose packets carry an extension: less than the MTU allows.
fn payloads(site: &FabricSite, transports: &[RunTransport]) -> Vec<(TransportId, u16)> {
    let most = |one: &RunTransport| site.framing.mss().saturating_sub(one.configured.extension());
    let extended = transports.iter().filter(|one| one.configured.extension() > 0);
    extended.map(|one| (one.info.id, most(one).max(1))).collect()
}

/// That of one transport; without an extension what a segment has.
pub fn most_payload(payloads: &[(TransportId, u16)], transport: TransportId) -> u16 {
    payloads.iter().find(|(id, _)| *id == transport).map_or(u16::MAX, |(_, most)| *most)
}

/// A setup without flows of one transport, for hosts that open flows while they run. Links are
/// Ethernet's, ports of switches have the buffer of `fabric.buffer`'s default, 256 KiB.
///
/// # Errors
/// A setting that the transport does not have, or not with this value in this fabric; in words.
pub fn for_messages(
    fabric: &Arc<Fabric>,
    transport: &dyn Transport,
    settings: &[(String, Setting)],
) -> Result<Setup, String> {
    let site = fabric_site(fabric, Framing::ETHERNET, Limit::Bytes(256 << 10), None, None);
    let configured = transport.configure(settings, site.clone());
    let configured = configured.map_err(|error| error.to_string())?;
    let info = transport.info();
    let only = RunTransport { info, configured, routing: info.routing };
    let (flows, options) = (vec![], Options::default());
    assemble(fabric.clone(), site, &[only], Join::Shared, flows, None, options)
        .map_err(|conflict| conflict.to_string())
}

/// The rule of one transport for all ECN-capable packets, but those of transports whose ECN bits
/// carry a code of their own.
fn marking(transports: &[RunTransport], rule: Option<TransportId>) -> Option<Marking> {
    let rule = rule?;
    let capable = transports.iter().filter(|transport| transport.info.ecn != EcnUse::OwnCode);
    let capable: Vec<TransportId> = capable.map(|transport| transport.info.id).collect();
    Some(Marking { rule, over: TransportSet::of(&capable) })
}

/// Whether the switch ports of a transport mark packets by ECN (RFC 3168), so that its rule can be
/// that of others.
pub fn marks_ecn(fabric: &Fabric, site: &Arc<FabricSite>, transport: &RunTransport) -> bool {
    let Some((_, policy)) = some_switch_port(fabric, site, transport) else { return false };
    policy.markers.iter().any(|marker| marker.sets_ce())
}

/// The share of a link that the control class of a transport is shaped to at a switch, as that of
/// credits is; 0 if it is not.
pub fn shaped_share(fabric: &Fabric, site: &Arc<FabricSite>, transport: &RunTransport) -> f64 {
    let Some((rate, policy)) = some_switch_port(fabric, site, transport) else { return 0.0 };
    let shaper = policy.classes.first().and_then(|class| class.shaper);
    shaper.map_or(0, |shaper| shaper.rate.0) as f64 / rate.0 as f64
}

/// Whether the flows of a transport can be in several queues of data: its ports have one, and no
/// destination paces what comes in all of them.
pub fn takes_queues(fabric: &Fabric, site: &Arc<FabricSite>, transport: &RunTransport) -> bool {
    let one = |(_, policy): (Rate, Policy)| splits(&policy);
    transport.info.kind != TransportKind::ReceiverDriven
        && some_switch_port(fabric, site, transport).is_none_or(one)
}

/// Whether switches cut packets of a transport in one of these classes where its queue is full.
pub fn trims(
    fabric: &Fabric,
    site: &Arc<FabricSite>,
    transport: &RunTransport,
    classes: Classes,
) -> bool {
    let Some((_, policy)) = some_switch_port(fabric, site, transport) else { return false };
    let mut all = (0..).zip(&policy.classes).filter(|(class, _)| classes.has(*class));
    all.any(|(_, class)| matches!(class.discipline, Discipline::Trim { .. }))
}

/// The rate of the first port of a switch, and its policy there.
fn some_switch_port(
    fabric: &Fabric,
    site: &Arc<FabricSite>,
    transport: &RunTransport,
) -> Option<(Rate, Policy)> {
    let port = fabric.ports().iter().position(|port| port.tier != Tier::Host)?;
    let site = port_site(port as u32, &fabric.ports()[port], site);
    Some((site.rate, transport.configured.policy(&site)))
}

/// Whether the ports of a fabric serve all transports together, with these queues of data if there are any:
/// the first conflict, if any.
pub fn check_ports(
    fabric: &Fabric,
    site: &Arc<FabricSite>,
    transports: &[RunTransport],
    join: Join,
    queues: &[Schedule],
) -> Result<(), PolicyConflict> {
    check_kinds(fabric, site, transports, &mut Builder::new(join).queues(queues.into()))
}

fn make_hosts(
    fabric: &Fabric,
    site: &Arc<FabricSite>,
    transports: &[RunTransport],
    flows: &[FlowSetup],
    queues: Option<&Queues>,
) -> Vec<Vec<(TransportId, Box<dyn Host>)>> {
    // Without flows hosts open them while they run.
    let all = flows.is_empty() && transports.len() == 1;
    let mut used = vec![all; fabric.hosts() as usize * transports.len()];
    for setup in flows {
        let transport = transports.iter().position(|t| t.info.id == setup.transport);
        let transport = transport.expect("a flow's transport takes part in the run");
        for host in [setup.flow.src, setup.flow.dst] {
            used[host.0 as usize * transports.len() + transport] = true;
        }
    }
    let make = |(host, used): (usize, &[bool])| {
        let own = transports.iter().zip(used).filter(|(_, used)| **used);
        let made = own.map(|(transport, _)| {
            let site = host_site(fabric, site, host as u32, transport.routing);
            let own = || transport.configured.host(&site);
            let host = match queues {
                Some(queues) => Box::new(QueuedHost::new(queues, own)),
                None => own(),
            };
            (transport.info.id, host)
        });
        made.collect()
    };
    used.chunks(transports.len()).enumerate().map(make).collect()
}
