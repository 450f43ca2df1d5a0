//! A network to run transports in, and the paths of their packets.

use incast_fabric::{
    Fabric, Forwarding, LinkDefaults, NodeId, Options as Shape, PortId, cut_through_fct, ideal_fct,
    parse_with,
};
use incast_testkit::{Settings, Trial, data};
use incast_transport::*;
use incast_world::{Arrival, Choice, Options, choose, fabric_site};
use std::sync::Arc;

pub struct Network {
    pub fabric: Arc<Fabric>,
    pub site: Arc<FabricSite>,
    pub options: Options,
    /// All transports use per-flow ECMP, regardless of their papers, so that paths are predictable.
    pub single_path: bool,
}

/// Host links of `rate`, `propagation` delay per link; `shape` overrides both.
pub fn network(spec: &str, rate: Rate, propagation: Span, shape: &Shape, buffer: Limit) -> Network {
    framed(spec, (rate, propagation), shape, buffer, Framing::ETHERNET)
}

/// The same, with these sizes of packets.
pub fn framed(
    spec: &str,
    (rate, propagation): (Rate, Span),
    shape: &Shape,
    buffer: Limit,
    framing: Framing,
) -> Network {
    let defaults = LinkDefaults { rate, propagation, loss: 0.0 };
    let fabric = Arc::new(parse_with(spec, defaults, shape).expect("a valid topology"));
    let site = fabric_site(&fabric, framing, buffer, None, None);
    let until = Time(100_000_000_000_000);
    let options = Options { until, drain: Span::from_ms(1), ..Options::default() };
    Network { fabric, site, options, single_path: true }
}

impl Network {
    /// The same, with switches that cut through after 64 B.
    pub fn cutting_through(mut self) -> Network {
        let forwarding = Forwarding::CutThrough(Bytes(64));
        self.fabric = Arc::new((*self.fabric).clone().with_forwarding(forwarding));
        let FabricSite { framing, buffer, .. } = *self.site;
        self.site = fabric_site(&self.fabric, framing, buffer, None, None);
        self
    }

    /// A trial of a transport in this network.
    pub fn trial<'a>(&self, entry: &'a dyn Transport, settings: &Settings<'a>) -> Trial<'a> {
        let mut trial = Trial::new(entry, self.fabric.clone(), vec![]);
        (trial.settings, trial.options) = (settings.to_vec(), self.options.clone());
        (trial.buffer, trial.framing) = (self.site.buffer, self.site.framing);
        trial.routing = self.single_path.then_some(Routing::Ecmp);
        trial
    }

    /// The ports that the data of a flow takes, the NIC first, or with `back` those of its ACKs;
    /// with per-flow ECMP.
    pub fn path(&self, entry: &dyn Transport, flow: &Flow, back: bool) -> Vec<PortId> {
        let (src, dst) = if back { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        let packet = Packet { src, dst, flow: flow.id, ..data(entry.info().id, 0, 0) };
        let (fabric, routes) = (&self.fabric, self.fabric.routes());
        let mut path = vec![fabric.host_port(src.0)];
        loop {
            let spec = fabric.port(*path.last().expect("a NIC"));
            if spec.peer == NodeId(dst.0) {
                return path;
            }
            let arrival = Arrival { node: spec.peer, back: spec.reverse, at: Time::ZERO };
            let seed = self.options.seed;
            match choose(fabric, &routes, Routing::Ecmp, seed, arrival, &packet) {
                Choice::Port(port) => path.push(port),
                other => panic!("{other:?}"),
            }
        }
    }

    /// The ideal time of a flow on its path.
    pub fn ideal(&self, entry: &dyn Transport, flow: &Flow) -> Span {
        let links = self.fabric.links(&self.path(entry, flow, false));
        let packets = (0..flow.packets()).map(|seq| self.charged(flow.payload(seq)));
        match self.fabric.forwarding() {
            Forwarding::StoreAndForward => ideal_fct(&links, packets),
            Forwarding::CutThrough(read) => cut_through_fct(&links, read, packets),
        }
    }

    /// Charged bytes of a packet with this payload.
    pub fn charged(&self, payload: u16) -> Bytes {
        Bytes(self.site.framing.charged_packet(payload, 0) as u64)
    }
}
