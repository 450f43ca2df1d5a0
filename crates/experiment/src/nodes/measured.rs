//! The base RTT of a testbed of processes: what its links take, as its nodes measure it.

use super::Node;
use crate::Fault;
use crate::framing::framing;
use crate::plan::Plan;
use crate::scenario::Auto;
use incast_dataplane::{LINKS_MOST, LinkRtt, Meeting};
use incast_fabric::{NodeId, PortId};
use incast_transport::{Bytes, EcnUse, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a node knows once it has met its neighbours.
#[derive(Clone)]
pub struct Met {
    /// It goes on to answer hellos, and knows of strangers.
    pub meeting: Arc<Meeting>,
    /// The fabric's base RTT with the round trips of its links as measured; the same at every node. Nothing
    /// where the fabric has too many links to tell of.
    pub base_rtt: Option<Span>,
    /// The links that this node has measured.
    pub links: Vec<LinkRtt>,
    /// Whether the switch between two hosts is the network's.
    past_switch: bool,
}

/// From this ratio on a base RTT that was set is warned about.
const OFF: u64 = 2;

impl Met {
    pub(super) fn of(plan: &Plan, node: &Node, meeting: Arc<Meeting>) -> Met {
        let (links, past_switch) = (meeting.measured(), node.past_switch);
        let base_rtt = base_rtt(plan, &meeting.round_trips(), past_switch);
        Met { base_rtt, links, meeting, past_switch }
    }

    /// The plan with the base RTT that was measured, unless that is not known or the scenario sets one; and what
    /// to tell of it.
    ///
    /// # Errors
    /// Those of [`Plan::new`].
    pub fn plan(&self, plan: &Plan) -> Result<(Option<Plan>, String), Fault> {
        let (own, links) = (plan.site.base_rtt, plan.fabric.ports().len() / 2);
        let blind = self.blind(plan);
        let Some(measured) = self.base_rtt else {
            let told = format!(
                "warning: base RTT {own} as computed: {links} links are too many to measure \
                 (at most {LINKS_MOST}); set fabric.base_rtt{blind}"
            );
            return Ok((None, told));
        };
        if plan.scenario.fabric.base_rtt.0.is_some() {
            let is_off = own.0.max(measured.0) > OFF * own.0.min(measured.0);
            let told = match is_off {
                true => format!(
                    "warning: fabric.base_rtt = {own}, but {measured} are measured: windows and timers \
                     follow what is set; without the key they follow what is measured{blind}"
                ),
                false => format!("base RTT {own} as set, {measured} measured{blind}"),
            };
            return Ok((None, told));
        }
        let told =
            format!("base RTT {measured} measured{}, {own} computed{blind}", self.own_links(plan));
        Ok((Some(with_base_rtt(plan, measured)?), told))
    }

    /// What is to be told of a transport that reacts to marks which no switch of the network makes.
    fn blind(&self, plan: &Plan) -> String {
        let own = plan.cases[0].transports.iter().map(|own| own.info);
        let mut own = own.filter(|info| info.marks && info.ecn == EcnUse::OwnCode);
        match own.next().filter(|_| self.past_switch) {
            Some(info) => format!(
                "; warning: {} reacts to marks that its own switches make, and none of them is on this way",
                info.name
            ),
            None => String::new(),
        }
    }

    /// Medians and longest round trips of the links that this node has measured, in words.
    fn own_links(&self, plan: &Plan) -> String {
        let name = |port: u32| plan.fabric.node_name(plan.fabric.port(PortId(port)).peer);
        let of = |link: &LinkRtt| {
            format!("link to {} {} (most {})", name(link.port), link.median, link.most)
        };
        let all: Vec<String> = self.links.iter().map(of).collect();
        if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
    }
}

/// The plan with this base RTT.
///
/// # Errors
/// Those of [`Plan::new`].
pub fn with_base_rtt(plan: &Plan, base_rtt: Span) -> Result<Plan, Fault> {
    let mut scenario = plan.scenario.clone();
    scenario.fabric.base_rtt = Auto(Some(base_rtt));
    Plan::new(scenario)
}

/// The base RTT of the plan's fabric if each link had these round trips beside what packets occupy it for.
/// What was measured past a switch of the network has both of its links, of which the second keeps its propagation.
fn base_rtt(plan: &Plan, trips: &BTreeMap<u32, Span>, past_switch: bool) -> Option<Span> {
    if trips.is_empty() {
        return None;
    }
    let mut longest: BTreeMap<(u32, u32), Span> = BTreeMap::new();
    for (port, took) in trips {
        let spec = plan.fabric.ports().get(*port as usize)?;
        let both = if past_switch { 2 * spec.propagation.0 } else { 0 };
        let took = Span(took.0.saturating_sub(both));
        let link = longest.entry((spec.node.0, spec.peer.0)).or_insert(took);
        *link = (*link).max(took);
    }
    let mut fabric = (*plan.fabric).clone();
    for ((a, b), took) in longest {
        fabric.change_link(NodeId(a), NodeId(b), None, Some(took / 2), None).ok()?;
    }
    let framing = framing(&plan.scenario.fabric).ok()?;
    let (mtu, header) = (framing.charged_mtu() as u64, framing.charged_header() as u64);
    Some(fabric.base_rtt(Bytes(mtu), Bytes(header)))
}
