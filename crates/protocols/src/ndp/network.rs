//! Whole networks for tests: the real engine, one transport.

use super::test_world::configured;
use incast_egress::port::Join;
use incast_fabric::{Fabric, LinkDefaults, ideal_fct};
use incast_sim::{Monitor, run};
use incast_transport::{
    Bytes, Flow, Framing, Limit, PortRecord, Rate, Routing, RunRecord, SizeQuantiles, Span, Time,
    Transport,
};
use incast_world::{Captured, FlowSetup, Lane, Options, assemble, fabric_site};
use std::sync::Arc;

pub(crate) struct Network {
    pub fabric: Arc<Fabric>,
    pub rate: Rate,
    pub base_rtt: Span,
    transport: &'static dyn Transport,
    settings: Vec<(&'static str, &'static str)>,
    pub options: Options,
    pub routing: Routing,
    pub buffer: Limit,
    pub sizes: Option<Arc<SizeQuantiles>>,
}

impl Network {
    /// A fabric of equal links at 10 Gb/s.
    pub fn new(
        transport: &'static dyn Transport,
        settings: &[(&'static str, &'static str)],
        spec: &str,
        propagation: Span,
    ) -> Network {
        let rate = Rate::from_gbps(10);
        let links = LinkDefaults { rate, propagation, loss: 0.0 };
        let fabric = Arc::new(incast_fabric::parse(spec, links).expect("a valid topology"));
        let base_rtt = fabric.base_rtt(Bytes(1538), Bytes(84));
        let options = Options { log_deliveries: true, ..Options::default() };
        Network {
            fabric,
            rate,
            base_rtt,
            transport,
            settings: settings.to_vec(),
            options,
            routing: transport.info().routing,
            buffer: Limit::Packets(128),
            sizes: None,
        }
    }

    pub fn run(&self, flows: Vec<Flow>) -> RunRecord {
        self.capture(flows).0
    }

    /// The same, and the packets at the ports that `options.capture` names.
    pub fn capture(&self, flows: Vec<Flow>) -> (RunRecord, Vec<Captured>) {
        let sizes = self.sizes.clone();
        let site = fabric_site(&self.fabric, Framing::ETHERNET, self.buffer, sizes, None);
        let info = self.transport.info();
        let lane = Lane {
            info,
            configured: configured(self.transport, &self.settings, &site),
            routing: self.routing,
        };
        let own = |flow| FlowSetup { flow, transport: info.id, after: vec![], delay: Span::ZERO };
        let flows = flows.into_iter().map(own).collect();
        let (fabric, options) = (self.fabric.clone(), self.options.clone());
        let setup = assemble(fabric, site, &[lane], Join::Shared, flows, None, options);
        let setup = setup.unwrap_or_else(|conflict| panic!("{conflict}"));
        run(setup, 1, &Monitor::default())
    }

    /// The time of a flow of full packets that is alone.
    pub fn ideal(&self, src: u32, dst: u32, packets: u64) -> Span {
        let routes = self.fabric.routes();
        let links = self.fabric.links(&self.fabric.path(&routes, src, dst, |_| 0));
        ideal_fct(&links, (0..packets).map(|_| Bytes(1538)))
    }

    /// The port by which the last switch reaches a host.
    pub fn last_hop<'a>(&self, record: &'a RunRecord, host: u32) -> &'a PortRecord {
        let port = self.fabric.routes().next(self.fabric.rack_of(host), host)[0];
        &record.ports[port.0 as usize]
    }
}

/// How long a flow took.
pub(crate) fn taken(record: &RunRecord, flow: usize) -> Span {
    let flow = &record.flows[flow];
    flow.completed.expect("complete") - flow.started.expect("started")
}

/// When the last flow was complete.
pub(crate) fn finished(record: &RunRecord) -> Time {
    record.flows.iter().map(|flow| flow.completed.expect("complete")).max().expect("flows")
}
