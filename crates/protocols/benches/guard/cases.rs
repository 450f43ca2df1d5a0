//! What is measured: the traffic of `incast bench`, on an eighth of its hosts and for shorter.

use incast_fabric::Fabric;
use incast_protocols::{CATALOGUE, find};
use incast_sim::{Monitor, run};
use incast_testkit::{Trial, flow, us};
use incast_transport::{Classes, Flow, Framing, Limit, Rate, SizeQuantiles, Time};
use incast_workload::{
    Incasts, Shape, Start, Traffic, WireCost, incasts, permutation, poisson, table,
};
use incast_world::{Pfc, SharedBuffer, sufficient_headroom};
use std::sync::Arc;

/// Six times as many hosts in a rack as uplinks, as in `incast bench`.
const LEAVES: u32 = 4;
const SPINES: u32 = 2;
const HOSTS_PER_LEAF: u32 = 12;
const RATE: Rate = Rate::from_gbps(40);

/// A kind of traffic. Runs of two sizes differ by about 100,000 packet-hops in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Permutation,
    WebSearch,
    Incast,
    Pfc,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Permutation, Kind::WebSearch, Kind::Incast, Kind::Pfc];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Permutation => "permutation",
            Kind::WebSearch => "web_search",
            Kind::Incast => "incast",
            Kind::Pfc => "web_search_pfc",
        }
    }
}

/// A transport under a kind of traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    pub kind: Kind,
    pub transport: &'static str,
}

impl Case {
    /// Every transport of the catalogue under every kind.
    pub fn all() -> impl Iterator<Item = Case> {
        let names = || CATALOGUE.iter().map(|entry| entry.info().name);
        Kind::ALL
            .into_iter()
            .flat_map(move |kind| names().map(move |transport| Case { kind, transport }))
    }

    pub fn find(name: &str) -> Option<Case> {
        Case::all().find(|case| case.name() == name)
    }

    pub fn name(self) -> String {
        format!("{}/{}", self.kind.name(), self.transport)
    }

    /// Runs it, `size` times as long as the shortest. Returns packet-hops and events.
    pub fn run(self, size: u32) -> (u64, u64) {
        let fabric = incast_testkit::fabric(
            &format!("leaf-spine:{LEAVES}x{SPINES}x{HOSTS_PER_LEAF}"),
            RATE,
            us(1),
        );
        let until = us(match self.kind {
            Kind::Permutation => 250,
            Kind::WebSearch | Kind::Pfc => 500,
            Kind::Incast => 1_000_000,
        });
        let traffic = traffic(self.kind, size);
        let (flows, sizes) = (flows(&traffic), quantiles(&traffic));
        let pfc = (self.kind == Kind::Pfc).then(|| rules(&fabric));
        let mut trial = Trial::new(find(self.transport).expect("in the catalogue"), fabric, flows);
        trial.buffer = Limit::Bytes(BUFFER);
        if let Some(pfc) = pfc {
            (trial.buffer, trial.shared) = (Limit::Unlimited, pfc.shared);
            trial.options.pfc = Some(Arc::new(pfc));
        }
        trial.sizes = Some(Arc::new(sizes));
        trial.options.until = Time::ZERO + until.saturating_mul(size as u64);
        trial.options.interval = trial.base_rtt();
        let (record, _) = run(trial.setup(), 1, &Monitor::default());
        assert!(self.kind != Kind::Incast || record.complete, "{} ends", self.name());
        (record.packet_hops, record.events)
    }
}

/// What waits at a port of a switch, as scenarios have it.
const BUFFER: u64 = 128 << 10;

/// One buffer per switch, a quarter of that of `incast bench` as switches have a quarter of its ports.
const SHARED: SharedBuffer = SharedBuffer { pool: 9_000_000 / 4, alpha: 0.125 };

fn rules(fabric: &Fabric) -> Pfc {
    Pfc {
        lossless: Classes::ALL,
        xoff: BUFFER,
        xoff_by_port: vec![],
        release: 2 * Framing::ETHERNET.charged_mtu() as u64,
        headroom: sufficient_headroom(fabric, Framing::ETHERNET),
        lossy: BUFFER,
        shared: Some(SHARED),
        alpha: vec![],
        reserve: 0,
        reserve_by_port: vec![],
        set_aside: vec![],
        cyclic: false,
        watchdog: None,
    }
}

/// The flows of the longest run, so that a shorter one begins in the same way.
fn traffic(kind: Kind, size: u32) -> Traffic {
    let hosts = LEAVES * HOSTS_PER_LEAF;
    let uplinks = Rate(RATE.0 * (LEAVES * SPINES) as u64);
    let shape = Shape::racks(hosts, HOSTS_PER_LEAF, RATE, Some(uplinks));
    let made = match kind {
        Kind::Permutation => permutation(hosts, 1_000_000_000, 1),
        Kind::Incast => {
            let senders: Vec<u32> = (1..hosts).collect();
            incasts(&shape, &Incasts::once(0, senders, 100_000 * size as u64, Time::ZERO))
        }
        Kind::WebSearch | Kind::Pfc => {
            let sizes = table("web_search").expect("a built-in table");
            poisson(&shape, sizes, 0.5, 1_000, 1, None, WireCost::ETHERNET)
        }
    };
    made.expect("valid settings")
}

fn flows(traffic: &Traffic) -> Vec<Flow> {
    let one = |(id, spec): (u32, &incast_workload::FlowSpec)| match spec.start {
        Start::At(at) => flow(id, spec.src, spec.dst, spec.size, at),
        Start::After { .. } | Start::Told => unreachable!("no flow waits for another"),
    };
    (0..).zip(&traffic.flows).map(one).collect()
}

fn quantiles(traffic: &Traffic) -> SizeQuantiles {
    let mut sizes: Vec<u64> = traffic.flows.iter().map(|flow| flow.size).collect();
    sizes.sort_unstable();
    let last = sizes.len() - 1;
    let point = |i: usize| (sizes[last * i / 64] as f64, i as f64 / 64.0);
    SizeQuantiles { points: (0..=64).map(point).collect() }
}
