//! Numbers that claims are about.

use incast_measure::{Run, statistics};
use incast_transport::{Bin, Span, Time};
use serde::Deserialize;

use crate::Quantity;

/// What is measured in one run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Which number.
    pub kind: Kind,
    /// A port: `leaf0->leaf1`; or several, of which the number is the mean (the largest one, the
    /// sum): `leaf*->host*`, `host1->leaf0,host2->leaf0`.
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
    /// Mean age of the information behind decisions in microseconds.
    FeedbackAgeUs,
    /// The same by FastTune's Eq. 6: 2 minus the age in base round trips.
    FeedbackUtility,
    /// Decisions of a flow per base round trip.
    DecisionsPerRtt,
    /// Control packets and what data packets carry beside, over the payload, in percent.
    FeedbackPercent,
    /// What data packets carry beside, bytes a packet sent.
    ExtensionPerPacket,
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
                let bins = self.all_bins(run)?;
                Some(bins.iter().map(|(bin, _)| bin.backlog_max).max()? as f64 / full_packet(run))
            }
            Kind::BacklogMeanPackets => self.mean_of_ports(run, |_, bins| {
                let area: f64 = bins.iter().map(|(bin, _)| bin.backlog_area as f64).sum();
                let time: f64 = bins.iter().map(|(_, width)| width.0 as f64).sum();
                area / time / full_packet(run)
            }),
            Kind::Utilisation => self.mean_of_ports(run, |port, bins| {
                let rate = run.ports[port].rate;
                let sent: f64 = bins.iter().map(|(bin, _)| bin.sent_bytes as f64).sum();
                let time: f64 = bins.iter().map(|(_, width)| width.as_secs_f64()).sum();
                sent * 8.0 / time / rate.0 as f64
            }),
            Kind::Packets => {
                let sent = |(bin, _): &(Bin, Span)| bin.sent_packets as f64;
                Some(self.all_bins(run)?.iter().map(sent).sum())
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
            Kind::FeedbackAgeUs
            | Kind::FeedbackUtility
            | Kind::DecisionsPerRtt
            | Kind::FeedbackPercent
            | Kind::ExtensionPerPacket => self.feedback(run),
        }
    }

    /// What feedback costs the chosen flows, and how old it is.
    fn feedback(&self, run: &Run) -> Option<f64> {
        let chosen: Vec<usize> = (0..run.flows.len()).filter(|f| self.fits(run, *f)).collect();
        let group = incast_measure::group(run, "chosen", &chosen);
        match self.kind {
            Kind::FeedbackAgeUs => Some(group.decision_age_mean_ns? / 1e3),
            Kind::FeedbackUtility => group.feedback_utility,
            Kind::DecisionsPerRtt => group.decisions_per_rtt,
            Kind::FeedbackPercent => Some(100.0 * group.feedback_per_payload?),
            _ => (group.packets > 0).then(|| group.extension_bytes as f64 / group.packets as f64),
        }
    }

    /// Whether the measure can be taken in runs of a plan with these ports and this many flows.
    pub fn check(&self, ports: &[String], flows: usize) -> Result<(), String> {
        for pattern in self.port.iter().flat_map(|port| port.split(',')) {
            if !ports.iter().any(|name| fits(pattern, name)) {
                return Err(format!("there is no port `{pattern}`"));
            }
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

    fn ports_of(&self, run: &Run) -> Vec<usize> {
        let Some(text) = &self.port else { return vec![] };
        let named = |port: &usize| text.split(',').any(|one| fits(one, &run.ports[*port].name));
        (0..run.ports.len()).filter(named).collect()
    }

    /// The mean over the ports of a number of their intervals in the window.
    fn mean_of_ports(&self, run: &Run, of: impl Fn(usize, &[(Bin, Span)]) -> f64) -> Option<f64> {
        let bins = self.ports_of(run).into_iter().map(|port| (port, self.bins(run, port)));
        let seen = bins.filter(|(_, bins)| !bins.is_empty());
        let numbers: Vec<f64> = seen.map(|(port, bins)| of(port, &bins)).collect();
        statistics::mean(&numbers)
    }

    fn window(&self, run: &Run) -> (Time, Time) {
        let from = self.from.map_or(Time::ZERO, |from| Time(from.0.0));
        (from, self.to.map_or(run.record.ended, |to| Time(to.0.0)))
    }

    /// The intervals of the port whose middle lies in the window.
    fn bins(&self, run: &Run, port: usize) -> Vec<(Bin, Span)> {
        let (from, to) = self.window(run);
        let inside = (0..run.intervals()).filter(|index| {
            let (start, width) = run.interval(*index);
            let middle = start + width / 2;
            middle >= from && middle < to
        });
        inside.map(|i| (run.bin(port, i), run.interval(i).1)).collect()
    }

    /// The same of all ports, if there are any.
    fn all_bins(&self, run: &Run) -> Option<Vec<(Bin, Span)>> {
        let ports = self.ports_of(run).into_iter();
        let bins: Vec<_> = ports.flat_map(|port| self.bins(run, port)).collect();
        (!bins.is_empty()).then_some(bins)
    }

    /// Packets that `port` began to send in each of `count` intervals, the first one that in which
    /// `from` lies; `None` if the run has fewer.
    pub fn packets(&self, run: &Run, count: usize) -> Option<Vec<u32>> {
        let port = *self.ports_of(run).first()?;
        let first = (self.window(run).0.0 / run.record.interval.0.max(1)) as usize;
        let all = first..first + count;
        (all.end <= run.intervals()).then(|| all.map(|i| run.bin(port, i).sent_packets).collect())
    }

    fn counted(&self, run: &Run) -> Option<f64> {
        let count = |bin: &Bin| match self.kind {
            Kind::Drops => bin.drops,
            _ => bin.trims,
        };
        if self.port.is_some() {
            return Some(self.all_bins(run)?.iter().map(|(bin, _)| count(bin) as f64).sum());
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

/// Whether a port's name fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let pattern = pattern.trim();
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(start) else { return false };
    (0..=name.len()).any(|at| name.is_char_boundary(at) && fits(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_of_ports() {
        for (pattern, name, fit) in [
            ("leaf0->leaf1", "leaf0->leaf1", true),
            ("leaf0->leaf1", "leaf0->leaf10", false),
            ("leaf*->host*", "leaf12->host3", true),
            ("leaf*->host*", "host3->leaf12", false),
            (" host1->* ", "host1->leaf0", true),
            ("*", "anything", true),
            ("leaf*->host1", "leaf0->host11", false),
        ] {
            assert_eq!(fits(pattern, name), fit, "{pattern} {name}");
        }
    }
}
