//! Whole networks for tests of one transport: run, then ask how rates and queues were.

use incast_egress::port::Join;
use incast_endpoint::sender::{Ack, Outbound, Progress};
use incast_fabric::{Dumbbell, Fabric, Star, ideal_fct};
use incast_sim::{Monitor, run};
use incast_transport::{
    Backlog, Bin, Bytes, Extension, Flow, FlowId, Framing, Header, HostId, Limit, Packet,
    PortRecord, PortSite, Rate, RunRecord, Segments, Span, Time, Transport, TransportId, View,
};
use incast_world::{Captured, Faults, FlowSetup, Lane, Options, assemble, fabric_site};
use std::sync::Arc;

/// More than a run can carry.
pub const FOREVER: u64 = 1 << 40;

/// A flow of `size` bytes, opened `start` after the beginning.
pub fn flow(id: u32, src: u32, dst: u32, size: u64, start: Span) -> FlowSetup {
    FlowSetup {
        flow: Flow {
            id: FlowId(id),
            src: HostId(src),
            dst: HostId(dst),
            size,
            start: Time::ZERO + start,
            segments: Segments::Uniform(1_460),
        },
        transport: TransportId(0),
        after: vec![],
        delay: Span::ZERO,
    }
}

/// Hosts around one switch; a round trip is four times `propagation` and a little.
pub fn star(hosts: u32, rate: Rate, propagation: Span) -> Fabric {
    Star { hosts, rate, propagation, loss: 0.0 }.build().unwrap()
}

/// Pairs of hosts whose links are four times as fast as the one link between their switches, so
/// that no NIC limits anything; a round trip is `rtt` and a little.
pub fn dumbbell(pairs: u32, rate: Rate, rtt: Span) -> Fabric {
    let dumbbell = Dumbbell {
        left: pairs,
        right: pairs,
        host_rate: Rate(rate.0 * 4),
        bottleneck_rate: rate,
        host_propagation: rtt / 8,
        bottleneck_propagation: rtt / 4,
        loss: 0.0,
    };
    dumbbell.build().unwrap()
}

/// Pairs of hosts with one link between their switches, all links alike (CCRP §2.2).
pub fn pairs(pairs: u32, rate: Rate, propagation: Span) -> Fabric {
    let dumbbell = Dumbbell {
        left: pairs,
        right: pairs,
        host_rate: rate,
        bottleneck_rate: rate,
        host_propagation: propagation,
        bottleneck_propagation: propagation,
        loss: 0.0,
    };
    dumbbell.build().unwrap()
}

/// A transport in a network.
pub struct Trial {
    pub entry: &'static dyn Transport,
    pub settings: Vec<(&'static str, &'static str)>,
    pub fabric: Fabric,
    pub buffer: Limit,
    pub flows: Vec<FlowSetup>,
    pub options: Options,
}

impl Trial {
    /// With the transport's defaults and a buffer of 200 packets.
    pub fn new(entry: &'static dyn Transport, fabric: Fabric, flows: Vec<FlowSetup>) -> Trial {
        let (settings, options) = (vec![], Options::default());
        Trial { entry, settings, fabric, buffer: Limit::Packets(200), flows, options }
    }

    /// Ends the run, and watches all flows in steps of `interval`.
    pub fn until(mut self, end: Span, interval: Span) -> Trial {
        self.options.until = Time::ZERO + end;
        self.options.interval = interval;
        self.options.watch = self.flows.iter().map(|setup| setup.flow.id).collect();
        self
    }

    pub fn set(mut self, key: &'static str, value: &'static str) -> Trial {
        self.settings.push((key, value));
        self
    }

    pub fn faulty(mut self, seed: u64) -> Trial {
        self.options.seed = seed;
        self.options.log_deliveries = true;
        self.options.faults =
            Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late: Span::from_us(50) };
        self
    }

    pub fn run(self) -> Outcome {
        let hosts = self.fabric.hosts();
        let fabric = Arc::new(self.fabric);
        let site = fabric_site(&fabric, Framing::ETHERNET, self.buffer, None, None);
        let settings: Vec<(String, String)> =
            self.settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let configured = self.entry.configure(&settings, site.clone()).unwrap();
        let info = self.entry.info();
        let lane = Lane { info, configured, routing: info.routing };
        let mut flows = self.flows;
        flows.iter_mut().for_each(|setup| setup.transport = info.id);
        let join = Join::Shared;
        let setup = assemble(fabric, site, &[lane], join, flows, None, self.options).unwrap();
        let (record, packets) = run(setup, 1, &Monitor::default());
        Outcome { record, packets, hosts }
    }
}

/// What a run left.
pub struct Outcome {
    pub record: RunRecord,
    /// Packets at captured ports.
    pub packets: Vec<Captured>,
    hosts: u32,
}

impl Outcome {
    /// The switch port that sent most.
    pub fn bottleneck(&self) -> &PortRecord {
        let switches = self.record.ports.iter().filter(|port| port.port >= self.hosts);
        switches.max_by_key(|port| port.total.sent_bytes).expect("a switch has ports")
    }

    /// The busiest switch port's intervals from `from` to `to`.
    pub fn bins(&self, from: Span, to: Span) -> &[Bin] {
        let bins = &self.bottleneck().bins;
        let index = |at: Span| (at.0 / self.record.interval.0) as usize;
        &bins[index(from).min(bins.len())..index(to).min(bins.len())]
    }

    /// The share of a link of `rate` in use from `from` to `to`.
    pub fn utilisation(&self, rate: Rate, from: Span, to: Span) -> f64 {
        let bins = self.bins(from, to);
        let sent: u64 = bins.iter().map(|bin| bin.sent_bytes).sum();
        sent as f64 / (rate.0 as f64 / 8.0 * self.record.interval.as_secs_f64() * bins.len() as f64)
    }

    /// Full packets waiting there, on average from `from` to `to`.
    pub fn mean_queue(&self, from: Span, to: Span) -> f64 {
        let bins = self.bins(from, to);
        let area: f64 = bins.iter().map(|bin| bin.backlog_area as f64).sum();
        area / (self.record.interval.0 as f64 * bins.len() as f64) / 1_538.0
    }

    /// Full packets waiting there, at most from `from` to `to`.
    pub fn peak_queue(&self, from: Span, to: Span) -> f64 {
        let most = self.bins(from, to).iter().map(|bin| bin.backlog_max).max();
        most.unwrap_or(0) as f64 / 1_538.0
    }

    /// Packets dropped anywhere.
    pub fn drops(&self) -> u32 {
        self.record.ports.iter().map(|port| port.total.drops).sum()
    }

    /// Payload bytes that a watched flow received from `from` to `to`.
    pub fn received(&self, flow: usize, from: Span, to: Span) -> u64 {
        let series = &self.record.series[flow].delivered;
        let index = |at: Span| ((at.0 / self.record.interval.0) as usize).min(series.len());
        series[index(from)..index(to)].iter().sum()
    }

    /// Jain's index of what the watched flows received from `from` to `to`.
    pub fn fairness(&self, from: Span, to: Span) -> f64 {
        let count = self.record.series.len();
        let rates = (0..count).map(|flow| self.received(flow, from, to) as f64);
        let (sum, squares) = rates.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        sum * sum / (count as f64 * squares)
    }

    /// How long after `start` two watched flows first received, for `window`, amounts that differ
    /// by less than `criterion` of their sum; the end of that window counts.
    pub fn fair_after(&self, start: Span, window: Span, criterion: f64) -> Option<Span> {
        let step = self.record.interval;
        let bins = self.record.series.iter().map(|series| series.delivered.len()).min()?;
        let mut at = start;
        while at + window <= step * bins as u64 {
            let [a, b] = [0, 1].map(|flow| self.received(flow, at, at + window) as f64);
            if a + b > 0.0 && (a - b).abs() < criterion * (a + b) {
                return Some(at + window - start);
            }
            at += step;
        }
        None
    }

    /// The completion time of a flow.
    pub fn fct(&self, flow: usize) -> Span {
        let seen = &self.record.flows[flow];
        seen.completed.expect("complete") - seen.started.expect("opened")
    }
}

/// The time that packets of these IP lengths take alone from host to host of a fabric.
pub fn ideal(fabric: &Fabric, src: u32, dst: u32, ip_bytes: &[u32]) -> Span {
    let links = fabric.links(&fabric.path(&fabric.routes(), src, dst, |_| 0));
    let charged = |&ip: &u32| Bytes(Framing::ETHERNET.charged(ip) as u64);
    ideal_fct(&links, ip_bytes.iter().map(charged))
}

/// A switch port of a fabric with these facts.
pub fn port_site(rate: Rate, base_rtt: Span) -> PortSite {
    let fabric = star(3, rate, Span::ZERO);
    let buffer = Limit::Packets(200);
    let site = fabric_site(&fabric, Framing::ETHERNET, buffer, None, Some(base_rtt));
    PortSite { port: 9, rate, nic: false, tier: 1, upward: false, buffer, fabric: site }
}

/// What a marker sees at `now` while `bytes` wait.
pub fn view(now: Time, bytes: u64, rate: Rate) -> View {
    let waiting = Backlog { bytes, packets: bytes.div_ceil(1_538) as u32 };
    View { now, data: waiting, all: waiting, idle: None, sent: 0, rate }
}

/// A segment of `flow` from byte `seq` on, without extension.
pub fn segment(transport: TransportId, flow: u32, seq: u32, payload: u16) -> Packet {
    Packet {
        header: Header::Segment { seq, ack: 0, window: 0, nibble: 0, flags: 0 },
        src: HostId(0),
        dst: HostId(1),
        flow: FlowId(flow),
        payload,
        path: 0,
        mark: 0,
        class: 1,
        transport,
        flags: 0,
        extension: 0,
    }
}

/// An answer to one full segment, of which nothing else is said.
pub fn plain_ack(extension: &Extension) -> Ack<'_> {
    Ack {
        bytes: 1_460,
        sacked: 0,
        echo: 0,
        ece: false,
        nack: false,
        mark: 0,
        nibble: 0,
        window: 0,
        rtt: None,
        limited: true,
        extension,
        informed: Time::ZERO,
    }
}

/// A flow that has been going on for a while.
pub fn progress(now: Time, rtt: Option<Span>) -> Progress {
    Progress {
        now,
        acknowledged: 1_000_000,
        sent: 2_000_000,
        size: 1 << 40,
        pipe: 1_000_000,
        smoothed_rtt: rtt,
        recovering: false,
    }
}

/// A data packet that is about to leave.
pub fn outbound(offset: u64, payload: u16) -> Outbound {
    Outbound {
        offset,
        payload,
        retransmit: false,
        mark: 0,
        nibble: 0,
        window: 0,
        extension: Extension::None,
        more: false,
    }
}
