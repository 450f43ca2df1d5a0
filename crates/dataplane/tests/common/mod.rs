//! Setups for both worlds, and how their results are compared.

use incast_egress::port::Join;
use incast_fabric::{Fabric, LinkDefaults};
use incast_sim::Monitor;
use incast_transport::*;
use incast_world::{Captured, FlowSetup, Lane, Options, Setup, SharedBuffer};
use std::sync::Arc;

/// A scenario; every call of `setup` makes the same.
pub struct Scenario {
    pub fabric: Fabric,
    pub buffer: Limit,
    pub shared: Option<SharedBuffer>,
    pub flows: Vec<FlowSetup>,
    pub transports: Vec<&'static str>,
    /// Parameters of all of them.
    pub settings: Vec<(&'static str, &'static str)>,
    pub routing: Option<Routing>,
    /// The classes of every NIC, whose port then has a policy of its own.
    pub nic: Option<Vec<ClassPolicy>>,
    /// Only this transport's.
    pub shaped_only: Option<&'static str>,
    /// Every port, NICs included, has this marker too.
    pub marker: Option<fn() -> Box<dyn Marker>>,
    pub options: Options,
}

/// A transport whose ports were changed.
struct Changed {
    inner: Arc<dyn Configured>,
    id: TransportId,
    nic: Option<Vec<ClassPolicy>>,
    marker: Option<fn() -> Box<dyn Marker>>,
}

impl Configured for Changed {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        self.inner.host(site)
    }
    fn policy(&self, site: &PortSite) -> Policy {
        let mut policy = match &self.nic {
            Some(nic) if site.nic => {
                Policy { transport: self.id, classes: nic.clone(), markers: vec![] }
            }
            _ => self.inner.policy(site),
        };
        policy.markers.extend(self.marker.map(|make| make()));
        policy
    }
    fn shapes_nic(&self) -> bool {
        true
    }
    fn hook(&self, site: &SwitchSite) -> Option<Box<dyn SwitchHook>> {
        self.inner.hook(site)
    }
    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.inner.resolved()
    }
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        self.inner.unsolicited(site, packets)
    }
}

pub fn parse(spec: &str, gbps: u64, propagation: Span) -> Fabric {
    let rate = Rate::from_gbps(gbps);
    incast_fabric::parse(spec, LinkDefaults { rate, propagation, loss: 0.0 }).unwrap()
}

pub fn transport(name: &str) -> &'static dyn Transport {
    incast_protocols::find(name).unwrap_or_else(|| panic!("no transport {name}"))
}

pub fn flow(name: &str, id: u32, (src, dst): (u32, u32), size: u64, start: Span) -> FlowSetup {
    FlowSetup {
        flow: Flow {
            id: FlowId(id),
            src: HostId(src),
            dst: HostId(dst),
            size,
            start: Time::ZERO + start,
            segments: Segments::Uniform(Framing::ETHERNET.mss()),
        },
        transport: transport(name).info().id,
        after: vec![],
        delay: Span::ZERO,
    }
}

impl Scenario {
    pub fn new(fabric: Fabric, buffer: Limit, transports: &[&'static str]) -> Scenario {
        let capture = (0..fabric.ports().len() as u32).collect();
        Scenario {
            fabric,
            buffer,
            shared: None,
            flows: vec![],
            transports: transports.to_vec(),
            settings: vec![],
            routing: None,
            nic: None,
            shaped_only: None,
            marker: None,
            options: Options { capture, ..Options::default() },
        }
    }

    pub fn setup(&self) -> Setup {
        let fabric = Arc::new(self.fabric.clone());
        let site = incast_world::fabric_site(&fabric, Framing::ETHERNET, self.buffer, None, None);
        let lane = |name: &&'static str| {
            let entry = transport(name);
            let info = entry.info();
            let own = self.settings.iter().map(|(key, value)| (key.to_string(), value.to_string()));
            let settings: Vec<_> = own.collect();
            let mut configured = entry.configure(&settings, site.clone()).unwrap();
            let changed = self.nic.is_some() || self.marker.is_some();
            if changed && self.shaped_only.is_none_or(|only| only == info.name) {
                let (nic, marker) = (self.nic.clone(), self.marker);
                configured = Arc::new(Changed { inner: configured, id: info.id, nic, marker });
            }
            Lane { info, configured, routing: self.routing.unwrap_or(info.routing) }
        };
        let lanes: Vec<Lane> = self.transports.iter().map(lane).collect();
        let (flows, options) = (self.flows.clone(), self.options.clone());
        incast_world::assemble(fabric, site, &lanes, Join::Shared, flows, self.shared, options)
            .unwrap_or_else(|conflict| panic!("{:?}: {conflict}", self.transports))
    }

    pub fn simulate(&self) -> (RunRecord, Vec<Captured>) {
        incast_sim::run(self.setup(), 1, &Monitor::default())
    }

    /// Runs the scenario in both worlds and compares everything: each packet at each port with its
    /// time, each flow's fate and where its time went, each port's series. Returns the record.
    pub fn same_in_both_worlds(&self) -> (RunRecord, Vec<Captured>) {
        let what = &self.transports;
        let (mut simulated, packets) = self.simulate();
        // Unobserved, the simulator may decide about packets earlier; nothing else changes.
        let mut unobserved = self.setup();
        unobserved.options.capture.clear();
        let (unobserved, _) = incast_sim::run(unobserved, 1, &Monitor::default());
        assert!(unobserved == simulated, "{what:?}: observation changes the run");
        let (record, received) = incast_dataplane::run_virtual(self.setup());
        let differ = packets.iter().zip(&received).position(|(a, b)| a != b);
        if let Some(at) = differ {
            let from = at.saturating_sub(3);
            let simulator = &packets[from..(at + 3).min(packets.len())];
            let data_plane = &received[from..(at + 3).min(received.len())];
            panic!("{what:?}: packet {at}\nsimulator {simulator:#?}\ndata plane {data_plane:#?}");
        }
        assert_eq!(packets.len(), received.len(), "{what:?}: number of packets");
        assert_eq!(simulated.flows, record.flows, "{what:?}: flows");
        assert_eq!(simulated.interval, record.interval, "{what:?}: interval");
        for (a, b) in simulated.ports.iter().zip(&record.ports) {
            assert_eq!(a, b, "{what:?}: port {}", a.port);
        }
        assert_eq!(simulated.ports.len(), record.ports.len(), "{what:?}: number of ports");
        simulated.events = record.events;
        assert_eq!(simulated, record, "{what:?}: record");
        (record, received)
    }
}
