//! A network to run transports in, and the way its packets take.

use incast_egress::port::Join;
use incast_fabric::{
    Fabric, LinkDefaults, NodeId, Options as Shape, PortId, ideal_fct, parse_with,
};
use incast_sim::{Monitor, run};
use incast_transport::*;
use incast_world::{Choice, FlowSetup, Lane, Options, assemble, choose, fabric_site};
use std::sync::Arc;

pub struct Network {
    pub fabric: Arc<Fabric>,
    pub site: Arc<FabricSite>,
    pub options: Options,
    /// Everybody uses per-flow ECMP, whatever its paper says, so that paths can be foretold.
    pub single_path: bool,
}

/// Host links of `rate`, all links `propagation` long; `shape` tells what differs.
pub fn network(spec: &str, rate: Rate, propagation: Span, shape: &Shape, buffer: Limit) -> Network {
    let defaults = LinkDefaults { rate, propagation, loss: 0.0 };
    let fabric = Arc::new(parse_with(spec, defaults, shape).expect("a valid topology"));
    let site = fabric_site(&fabric, Framing::ETHERNET, buffer, None, None);
    let until = Time(100_000_000_000_000);
    let options = Options { until, drain: Span::from_ms(1), ..Options::default() };
    Network { fabric, site, options, single_path: true }
}

pub fn flow(id: u32, src: u32, dst: u32, size: u64, start: Time) -> FlowSetup {
    FlowSetup {
        flow: Flow {
            id: FlowId(id),
            src: HostId(src),
            dst: HostId(dst),
            size,
            start,
            segments: Segments::Uniform(1460),
        },
        transport: TransportId(0),
        after: vec![],
        delay: Span::ZERO,
    }
}

impl Network {
    pub fn configured(&self, entry: &dyn Transport, settings: &Settings) -> Arc<dyn Configured> {
        entry.configure(settings, self.site.clone()).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn run(
        &self,
        entry: &dyn Transport,
        settings: &Settings,
        flows: &[FlowSetup],
    ) -> RunRecord {
        let info = entry.info();
        let configured = self.configured(entry, settings);
        let routing = if self.single_path { Routing::Ecmp } else { info.routing };
        let mut flows = flows.to_vec();
        flows.iter_mut().for_each(|flow| flow.transport = info.id);
        let lane = Lane { info, configured, routing };
        let (fabric, site) = (self.fabric.clone(), self.site.clone());
        let options = self.options.clone();
        let setup = assemble(fabric, site, &[lane], Join::Shared, flows, None, options)
            .unwrap_or_else(|conflict| panic!("{conflict}"));
        run(setup, 1, &Monitor::default()).0
    }

    /// The ports that the data of a flow takes, the NIC first, or with `back` those of its
    /// answers; with per-flow ECMP.
    pub fn way(&self, entry: &dyn Transport, flow: &Flow, back: bool) -> Vec<PortId> {
        let (src, dst) = if back { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        let packet = Packet {
            header: Header::Data { seq: 0, offset: 0, tag: 0, flags: 0 },
            src,
            dst,
            flow: flow.id,
            payload: 1,
            path: 0,
            mark: 0,
            class: 1,
            transport: entry.info().id,
            flags: 0,
            extension: 0,
        };
        let (fabric, routes) = (&self.fabric, self.fabric.routes());
        let mut way = vec![fabric.host_port(src.0)];
        loop {
            let spec = fabric.port(*way.last().expect("a NIC"));
            if spec.peer == NodeId(dst.0) {
                return way;
            }
            let place = (spec.peer, spec.reverse);
            let seed = self.options.seed;
            match choose(fabric, &routes, Routing::Ecmp, seed, place, &packet, Time::ZERO) {
                Choice::Port(port) => way.push(port),
                other => panic!("{other:?}"),
            }
        }
    }

    /// The ideal time of a flow on its way.
    pub fn ideal(&self, entry: &dyn Transport, flow: &Flow) -> Span {
        let links = self.fabric.links(&self.way(entry, flow, false));
        let charged = |seq| charged(flow.payload(seq));
        ideal_fct(&links, (0..flow.packets()).map(charged))
    }
}

/// What a person may set, as key and value.
pub type Settings = [(String, String)];

/// Charged bytes of a packet with this payload.
pub fn charged(payload: u16) -> Bytes {
    Bytes(Framing::ETHERNET.charged(payload as u32 + 40) as u64)
}
