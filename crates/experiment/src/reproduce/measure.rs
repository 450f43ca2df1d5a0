//! Numbers that claims are about.

use incast_measure::{Run, statistics};
use incast_transport::{Span, Time};
use serde::Deserialize;

use crate::Quantity;

/// What is measured in one run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Which number.
    pub kind: Kind,
    /// A port: `s0->s1`.
    pub port: Option<String>,
    /// Start of the window; the start of the run if not given.
    pub from: Option<Quantity<Span>>,
    /// End of the window; the end of the run if not given.
    pub to: Option<Quantity<Span>>,
    /// Place of a flow in the list.
    pub flow: Option<u32>,
    /// Only flows of this class.
    pub class: Option<String>,
    /// Only flows of at most this size.
    pub largest: Option<u64>,
    /// Only flows of at least this size.
    pub smallest: Option<u64>,
}

/// Names of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Largest backlog of `port` in full packets (1538 charged bytes, 1500 without Ethernet's).
    BacklogMaxPackets,
    /// Mean backlog of `port` in full packets.
    BacklogMeanPackets,
    /// Share of the time that `port` transmits.
    Utilisation,
    /// Packets that `port` began to send.
    Packets,
    /// Packets dropped at `port`, or anywhere.
    Drops,
    /// Packets trimmed at `port`, or anywhere.
    Trims,
    /// Payload throughput of `flow` in Gb/s.
    FlowGbps,
    /// Mean flow completion time in microseconds.
    FctMeanUs,
    /// 99th percentile of the flow completion time in microseconds.
    FctP99Us,
    /// Mean slowdown.
    SlowdownMean,
    /// 99th percentile of the slowdown.
    SlowdownP99,
    /// Mean request completion time in milliseconds.
    RequestMeanMs,
    /// Mean over flows of size by completion time, in Gb/s of payload.
    ThroughputMeanGbps,
    /// Share of the flows that completed.
    Completed,
}

/// Charged bytes of a full packet of the run.
fn full_packet(run: &Run) -> f64 {
    run.manifest["fabric"]["charged_mtu_bytes"].as_f64().unwrap_or(1538.0)
}

impl Measure {
    /// The number, if the run has it.
    pub fn of(&self, run: &Run) -> Option<f64> {
        match self.kind {
            Kind::BacklogMaxPackets => {
                let bins = self.bins(run)?;
                Some(bins.iter().map(|(bin, _)| bin.backlog_max).max()? as f64 / full_packet(run))
            }
            Kind::BacklogMeanPackets => {
                let bins = self.bins(run)?;
                let area: f64 = bins.iter().map(|(bin, _)| bin.backlog_area as f64).sum();
                let time: f64 = bins.iter().map(|(_, width)| width.0 as f64).sum();
                Some(area / time / full_packet(run))
            }
            Kind::Utilisation => {
                let bins = self.bins(run)?;
                let rate = run.ports[self.port_of(run)?].rate;
                let sent: f64 = bins.iter().map(|(bin, _)| bin.sent_bytes as f64).sum();
                let time: f64 = bins.iter().map(|(_, width)| width.as_secs_f64()).sum();
                Some(sent * 8.0 / time / rate.0 as f64)
            }
            Kind::Packets => {
                let sent = |(bin, _): &(incast_transport::Bin, Span)| bin.sent_packets as f64;
                Some(self.bins(run)?.iter().map(sent).sum())
            }
            Kind::Drops | Kind::Trims => self.counted(run),
            Kind::FlowGbps => self.flow_gbps(run),
            Kind::FctMeanUs => {
                let all = self.flows(run, |run, flow| Some(run.fct(flow)?.as_ns_f64() / 1e3));
                statistics::mean(&all)
            }
            Kind::FctP99Us => {
                let all = self.flows(run, |run, flow| Some(run.fct(flow)?.as_ns_f64() / 1e3));
                statistics::percentile(&all, 990)
            }
            Kind::SlowdownMean => statistics::mean(&self.flows(run, Run::slowdown)),
            Kind::SlowdownP99 => statistics::percentile(&self.flows(run, Run::slowdown), 990),
            Kind::ThroughputMeanGbps => {
                let rate = |run: &Run, flow: usize| {
                    Some(run.flows[flow].size_bytes as f64 * 8.0 / run.fct(flow)?.as_ns_f64())
                };
                statistics::mean(&self.flows(run, rate))
            }
            Kind::RequestMeanMs => {
                let time = |r: &incast_measure::Request| Some(r.end?.since(r.start).0 as f64 / 1e9);
                let all: Vec<f64> = run.requests.iter().filter_map(time).collect();
                statistics::mean(&all)
            }
            Kind::Completed => {
                let chosen: Vec<usize> =
                    (0..run.flows.len()).filter(|f| self.fits(run, *f)).collect();
                let done = chosen.iter().filter(|f| run.fct(**f).is_some()).count();
                (!chosen.is_empty()).then(|| done as f64 / chosen.len() as f64)
            }
        }
    }

    /// Whether the measure can be taken in runs of a plan with these ports and this many flows.
    pub fn check(&self, ports: &[String], flows: usize) -> Result<(), String> {
        if let Some(port) = &self.port
            && !ports.contains(port)
        {
            return Err(format!("there is no port `{port}`"));
        }
        let needs_port = matches!(
            self.kind,
            Kind::BacklogMaxPackets | Kind::BacklogMeanPackets | Kind::Utilisation | Kind::Packets
        );
        if needs_port && self.port.is_none() {
            return Err(format!("{:?} needs a port", self.kind));
        }
        match self.flow {
            Some(flow) if flow as usize >= flows => Err(format!("there is no flow {flow}")),
            None if self.kind == Kind::FlowGbps => Err("flow_gbps needs a flow".into()),
            _ => Ok(()),
        }
    }

    fn port_of(&self, run: &Run) -> Option<usize> {
        let name = self.port.as_ref()?;
        run.ports.iter().position(|port| port.name == *name)
    }

    fn window(&self, run: &Run) -> (Time, Time) {
        let from = self.from.map_or(Time::ZERO, |from| Time(from.0.0));
        (from, self.to.map_or(run.record.ended, |to| Time(to.0.0)))
    }

    /// The intervals of the port whose middle lies in the window.
    fn bins(&self, run: &Run) -> Option<Vec<(incast_transport::Bin, Span)>> {
        let port = self.port_of(run)?;
        let (from, to) = self.window(run);
        let inside = (0..run.intervals()).filter(|index| {
            let (start, width) = run.interval(*index);
            let middle = start + width / 2;
            middle >= from && middle < to
        });
        let bins: Vec<_> = inside.map(|i| (run.bin(port, i), run.interval(i).1)).collect();
        (!bins.is_empty()).then_some(bins)
    }

    /// Packets that `port` began to send in each of `count` intervals, the first one that in which
    /// `from` lies; `None` if the run has fewer.
    pub fn packets(&self, run: &Run, count: usize) -> Option<Vec<u32>> {
        let port = self.port_of(run)?;
        let first = (self.window(run).0.0 / run.record.interval.0.max(1)) as usize;
        let all = first..first + count;
        (all.end <= run.intervals()).then(|| all.map(|i| run.bin(port, i).sent_packets).collect())
    }

    fn counted(&self, run: &Run) -> Option<f64> {
        let count = |bin: &incast_transport::Bin| match self.kind {
            Kind::Drops => bin.drops,
            _ => bin.trims,
        };
        if self.port.is_some() {
            return Some(self.bins(run)?.iter().map(|(bin, _)| count(bin) as f64).sum());
        }
        Some(run.record.ports.iter().map(|port| count(&port.total) as f64).sum())
    }

    fn flow_gbps(&self, run: &Run) -> Option<f64> {
        let series = run.record.series.iter().find(|series| Some(series.flow.0) == self.flow)?;
        let (from, to) = self.window(run);
        let width = run.record.interval.0;
        let inside = |index: u64| {
            let middle = index * width + width / 2;
            middle >= from.0 && middle < to.0
        };
        let last = to.0.div_ceil(width);
        let chosen: Vec<u64> = (0..last).filter(|index| inside(*index)).collect();
        let at = |index: &u64| series.delivered.get(*index as usize).copied().unwrap_or(0);
        let bytes: u64 = chosen.iter().map(at).sum();
        let time = (chosen.len() as u64 * width) as f64 / 1e12;
        (time > 0.0).then(|| bytes as f64 * 8.0 / time / 1e9)
    }

    fn fits(&self, run: &Run, flow: usize) -> bool {
        let meta = &run.flows[flow];
        !meta.warmup
            && self.flow.is_none_or(|one| one as usize == flow)
            && self.class.as_ref().is_none_or(|class| class == meta.class)
            && self.largest.is_none_or(|most| meta.size_bytes <= most)
            && self.smallest.is_none_or(|least| meta.size_bytes >= least)
    }

    /// Values of the chosen flows, ascending.
    fn flows(&self, run: &Run, value: impl Fn(&Run, usize) -> Option<f64>) -> Vec<f64> {
        let chosen = (0..run.flows.len()).filter(|flow| self.fits(run, *flow));
        let mut all: Vec<f64> = chosen.filter_map(|flow| value(run, flow)).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}
