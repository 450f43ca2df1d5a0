//! Numbers that claims are about.

use super::kind::Kind;
use incast_measure::{BalancedWindow, Run, statistics};
use incast_transport::{Span, Time};
use serde::{Deserialize, Deserializer};

/// A quantity written as text with its unit, such as `"8us"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity<T>(pub T);

impl<'de, T: std::str::FromStr<Err = incast_transport::ParseError>> Deserialize<'de>
    for Quantity<T>
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Quantity).map_err(serde::de::Error::custom)
    }
}

/// What is measured in one run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Which number.
    pub kind: Kind,
    /// A port: `leaf0->leaf1`; or several: `leaf*->host*` or `host1->leaf0,host2->leaf0`, of which the mean is taken, the largest
    /// backlog, or the sum of packets.
    pub port: Option<String>,
    /// Start of the window; the start of the run if not given.
    pub from: Option<Quantity<Span>>,
    /// End of the window; the end of the run if not given.
    pub to: Option<Quantity<Span>>,
    /// The window's instants count from the completion of this flow, by its place in the list. The window of a run in which it does
    /// not complete is empty.
    pub after: Option<u32>,
    /// Over the second half of the arrivals instead, of which `run.warmup = 0.5` measures the flows.
    #[serde(default)]
    pub half: bool,
    /// Place of a flow in the list.
    pub flow: Option<u32>,
    /// Only flows of this class.
    pub class: Option<String>,
    /// Only flows of at most this size.
    pub largest: Option<u64>,
    /// Only flows of at least this size.
    pub smallest: Option<u64>,
    /// Only flows that this transport carries, where there are several.
    pub carrier: Option<String>,
    /// The transport that `carrier` is compared with.
    pub against: Option<String>,
    /// Length of the windows in which rates are compared; one from `from` to `to` if not given.
    pub window: Option<Quantity<Span>>,
    /// Rates are equal within this share of their mean; 0.2 if not given.
    pub tolerance: Option<f64>,
    /// Whether rates must stay equal once they are.
    #[serde(default)]
    pub lasting: bool,
}

/// Whether a name is meant; `*` stands for anything.
fn fits(wanted: &str, name: &str) -> bool {
    let Some((beginning, rest)) = wanted.split_once('*') else { return wanted == name };
    let Some(left) = name.strip_prefix(beginning) else { return false };
    (0..=left.len()).any(|at| left.is_char_boundary(at) && fits(rest, &left[at..]))
}

/// Charged bytes of a full packet of the run.
pub(super) fn full_packet(run: &Run) -> f64 {
    run.manifest["fabric"]["charged_mtu_bytes"].as_f64().unwrap_or(1538.0)
}

impl Measure {
    /// A measure of the whole run.
    pub(super) fn new(kind: Kind) -> Measure {
        Measure {
            kind,
            port: None,
            from: None,
            to: None,
            after: None,
            half: false,
            flow: None,
            class: None,
            largest: None,
            smallest: None,
            carrier: None,
            against: None,
            window: None,
            tolerance: None,
            lasting: false,
        }
    }

    /// Its name in tables: the kind and what restricts it, without quotation marks.
    pub fn id(&self) -> String {
        let kind = serde_json::to_value(self.kind).expect("a kind has a name");
        let mut id = kind.as_str().expect("names are text").to_string();
        let mut add = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                id += &format!(" {key}={value}");
            }
        };
        let span = |span: Option<Quantity<Span>>| span.map(|span| span.0.to_string());
        add("port", self.port.clone());
        add("from", span(self.from));
        add("to", span(self.to));
        add("after", self.after.map(|flow| flow.to_string()));
        add("half", self.half.then(|| "true".to_string()));
        add("flow", self.flow.map(|flow| flow.to_string()));
        add("class", self.class.clone());
        add("largest", self.largest.map(|size| size.to_string()));
        add("smallest", self.smallest.map(|size| size.to_string()));
        add("carrier", self.carrier.clone());
        add("against", self.against.clone());
        add("window", span(self.window));
        add("tolerance", self.tolerance.map(|share| share.to_string()));
        add("lasting", self.lasting.then(|| "true".to_string()));
        id
    }

    /// The same between other instants.
    pub fn between(&self, from: Time, to: Time) -> Measure {
        let span = |at: Time| Some(Quantity(Span(at.0)));
        Measure { from: span(from), to: span(to), after: None, half: false, ..self.clone() }
    }

    /// The number, if the run has it.
    pub fn of(&self, run: &Run) -> Option<f64> {
        match self.kind {
            Kind::BacklogMaxPackets => Some(self.backlog_max(run)? / full_packet(run)),
            Kind::BacklogMeanPackets => Some(self.backlog_mean(run)? / full_packet(run)),
            Kind::BacklogMaxKb => Some(self.backlog_max(run)? / 1e3),
            Kind::BacklogMeanKb => Some(self.backlog_mean(run)? / 1e3),
            Kind::BacklogP50Kb => self.backlog_percentile(run, 500),
            Kind::BacklogP99Kb => self.backlog_percentile(run, 990),
            Kind::Utilisation => self.utilisation(run),
            Kind::Packets => {
                let bins = self.ports_of(run).into_iter().map(|port| self.bins(run, port));
                let all: Vec<_> = bins.flatten().collect();
                (!all.is_empty()).then(|| all.iter().map(|(bin, _)| bin.sent_packets as f64).sum())
            }
            Kind::Marks => None,
            Kind::Drops | Kind::CreditDrops | Kind::Trims => self.counted(run),
            Kind::FlowGbps => self.flow_gbps(run),
            Kind::FctMeanUs
            | Kind::FctP99Us
            | Kind::FctP999Us
            | Kind::SlowdownMean
            | Kind::SlowdownP99
            | Kind::ThroughputMeanGbps => self.statistic(&self.values(run)),
            Kind::RequestMeanMs => {
                let time = |r: &incast_measure::Request| Some(r.end?.since(r.start).0 as f64 / 1e9);
                let measured = run.requests.iter().filter(|request| !request.warmup);
                let all: Vec<f64> = measured.filter_map(time).collect();
                statistics::mean(&all)
            }
            Kind::Completed => {
                let chosen: Vec<usize> =
                    (0..run.flows.len()).filter(|f| self.fits(run, *f)).collect();
                let done = chosen.iter().filter(|f| run.fct(**f).is_some()).count();
                (!chosen.is_empty()).then(|| done as f64 / chosen.len() as f64)
            }
            Kind::Share | Kind::RateRatio | Kind::Jain | Kind::ConvergenceMs => self.fairness(run),
            Kind::FeedbackAgeUs
            | Kind::FeedbackUtility
            | Kind::DecisionsPerRtt
            | Kind::FeedbackPercent
            | Kind::ExtensionPerPacket => self.feedback(run),
        }
    }

    /// What the measure looks at in each chosen flow that completed, in order of their start.
    fn values(&self, run: &Run) -> Vec<f64> {
        self.samples(run).into_iter().map(|(_, value)| value).collect()
    }

    /// [`values`](Self::values), each with the number of its flow.
    pub(super) fn samples(&self, run: &Run) -> Vec<(usize, f64)> {
        let value = |flow: usize| match self.kind {
            Kind::SlowdownMean | Kind::SlowdownP99 => run.slowdown(flow),
            Kind::ThroughputMeanGbps => {
                Some(run.flows[flow].size_bytes as f64 * 8.0 / run.fct(flow)?.as_ns_f64())
            }
            _ => Some(run.fct(flow)?.as_ns_f64() / 1e3),
        };
        let chosen = (0..run.flows.len()).filter(|flow| self.fits(run, *flow));
        chosen.filter_map(|flow| Some((flow, value(flow)?))).collect()
    }

    pub(super) fn statistic(&self, values: &[f64]) -> Option<f64> {
        let ascending = || {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        };
        match self.kind {
            Kind::FctP99Us | Kind::SlowdownP99 => statistics::percentile(&ascending(), 990),
            Kind::FctP999Us => statistics::percentile(&ascending(), 999),
            _ => statistics::mean(values),
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

    /// Whether the measure can be taken in runs of a plan with these ports, this many flows and
    /// these transports.
    pub fn check(&self, ports: &[String], flows: usize, carriers: &[&str]) -> Result<(), String> {
        for wanted in self.port.iter().flat_map(|port| port.split(',')) {
            if !ports.iter().any(|known| fits(wanted, known)) {
                return Err(format!("there is no port `{wanted}`"));
            }
        }
        let needs_port = matches!(
            self.kind,
            Kind::BacklogMaxPackets
                | Kind::BacklogMeanPackets
                | Kind::BacklogMaxKb
                | Kind::BacklogMeanKb
                | Kind::BacklogP50Kb
                | Kind::BacklogP99Kb
                | Kind::Utilisation
                | Kind::Packets
                | Kind::Marks
        );
        if needs_port && self.port.is_none() {
            return Err(format!("{:?} needs a port", self.kind));
        }
        if let Some(wanted) = self.captures().iter().find(|wanted| !ports.contains(wanted)) {
            return Err(format!("marks are read at single ports, and `{wanted}` is none"));
        }
        for name in self.carrier.iter().chain(&self.against) {
            if !carriers.contains(&name.as_str()) {
                return Err(format!("no flow is carried by `{name}`"));
            }
        }
        if self.half && (self.from.is_some() || self.to.is_some() || self.after.is_some()) {
            return Err("`half` is a window of its own: no `from`, no `to`, no `after`".into());
        }
        self.check_after(flows)?;
        match self.kind {
            Kind::BacklogP50Kb | Kind::BacklogP99Kb
                if self.half || self.from.is_some() || self.to.is_some() =>
            {
                return Err(
                    "percentiles of the backlog are over the run: no `from`, `to` or `half`".into(),
                );
            }
            Kind::Share | Kind::RateRatio if self.carrier.is_none() => {
                return Err(format!("{:?} needs a carrier", self.kind));
            }
            Kind::RateRatio if self.against.is_none() => {
                return Err("rate_ratio needs `against`".into());
            }
            Kind::ConvergenceMs if self.window.is_none() => {
                return Err("convergence_ms needs a window".into());
            }
            _ => {}
        }
        match self.flow {
            Some(flow) if flow as usize >= flows => Err(format!("there is no flow {flow}")),
            None if self.kind == Kind::FlowGbps => Err("flow_gbps needs a flow".into()),
            None if self.kind == Kind::Marks => Err("marks need a flow".into()),
            _ => Ok(()),
        }
    }

    /// Refuses `after` with a flow that the run has not, or a number that has no window.
    fn check_after(&self, flows: usize) -> Result<(), String> {
        let Some(flow) = self.after else { return Ok(()) };
        if flow as usize >= flows {
            return Err(format!("`after`: there is no flow {flow}"));
        }
        match self.kind {
            Kind::BacklogMaxPackets
            | Kind::BacklogMeanPackets
            | Kind::BacklogMaxKb
            | Kind::BacklogMeanKb
            | Kind::Utilisation
            | Kind::Packets
            | Kind::FlowGbps => Ok(()),
            Kind::Drops | Kind::CreditDrops | Kind::Trims if self.port.is_some() => Ok(()),
            kind => Err(format!("`after` needs a number with a window, and {kind:?} has none")),
        }
    }

    pub(super) fn ports_of(&self, run: &Run) -> Vec<usize> {
        let Some(wanted) = &self.port else { return vec![] };
        let named = |at: &usize| wanted.split(',').any(|one| fits(one, &run.ports[*at].name));
        (0..run.ports.len()).filter(named).collect()
    }

    pub(super) fn window(&self, run: &Run) -> (Time, Time) {
        if self.half
            && let Some(BalancedWindow { from, to }) = BalancedWindow::second_half(run)
        {
            return (from, to);
        }
        let ended = run.record.ended;
        let zero = match self.after {
            None => Time::ZERO,
            Some(flow) => match run.record.flows[flow as usize].completed {
                Some(completed) => completed,
                None => return (ended, ended),
            },
        };
        let at = |span: Quantity<Span>| zero + span.0;
        (self.from.map_or(zero, at), self.to.map_or(ended, at))
    }

    /// The intervals of a port whose middle lies in the window.
    fn bins(&self, run: &Run, port: usize) -> Vec<(incast_transport::Bin, Span)> {
        let (from, to) = self.window(run);
        let inside = (0..run.intervals()).filter(|index| {
            let (start, width) = run.interval(*index);
            let middle = start + width / 2;
            middle >= from && middle < to
        });
        inside.map(|i| (run.bin(port, i), run.interval(i).1)).collect()
    }

    /// Mean over the chosen ports of a number that follows from a port's intervals and their
    /// length in picoseconds.
    fn over_ports(
        &self,
        run: &Run,
        number: impl Fn(usize, &[(incast_transport::Bin, Span)], f64) -> f64,
    ) -> Option<f64> {
        let all: Vec<f64> = self
            .ports_of(run)
            .into_iter()
            .filter_map(|port| {
                let bins = self.bins(run, port);
                let time: f64 = bins.iter().map(|(_, width)| width.0 as f64).sum();
                (time > 0.0).then(|| number(port, &bins, time))
            })
            .collect();
        statistics::mean(&all)
    }

    fn backlog_mean(&self, run: &Run) -> Option<f64> {
        self.over_ports(run, |_, bins, time| {
            bins.iter().map(|(bin, _)| bin.backlog_area as f64).sum::<f64>() / time
        })
    }

    /// In KB; a port that was never used has no backlog.
    fn backlog_percentile(&self, run: &Run, thousandths: u32) -> Option<f64> {
        let of = |port: usize| run.record.ports[port].backlogs.percentile(thousandths).unwrap_or(0);
        let all: Vec<f64> = self.ports_of(run).into_iter().map(|p| of(p) as f64 / 1e3).collect();
        statistics::mean(&all)
    }

    fn backlog_max(&self, run: &Run) -> Option<f64> {
        let ports = self.ports_of(run).into_iter().flat_map(|port| self.bins(run, port));
        Some(ports.map(|(bin, _)| bin.backlog_max).max()? as f64)
    }

    fn utilisation(&self, run: &Run) -> Option<f64> {
        self.over_ports(run, |port, bins, time| {
            let sent: f64 = bins.iter().map(|(bin, _)| bin.sent_bytes as f64).sum();
            sent * 8e12 / time / run.ports[port].rate.0 as f64
        })
    }

    /// Packets whose transmission `port` started in each of `count` intervals, the first one that in which
    /// `from` lies; `None` if the run has fewer.
    pub fn packets(&self, run: &Run, count: usize) -> Option<Vec<u32>> {
        let &[port] = &self.ports_of(run)[..] else { return None };
        let from = self.window(run).0.since(run.record.series_start);
        let first = (from.0 / run.record.interval.0.max(1)) as usize;
        let all = first..first + count;
        (all.end <= run.intervals()).then(|| all.map(|i| run.bin(port, i).sent_packets).collect())
    }

    fn counted(&self, run: &Run) -> Option<f64> {
        let count = |bin: &incast_transport::Bin| match self.kind {
            Kind::Drops => bin.drops,
            Kind::CreditDrops => bin.credit_drops,
            _ => bin.trims,
        };
        if self.port.is_some() {
            let bins = self.ports_of(run).into_iter().flat_map(|port| self.bins(run, port));
            let all: Vec<f64> = bins.map(|(bin, _)| count(&bin) as f64).collect();
            return (!all.is_empty()).then(|| all.iter().sum());
        }
        Some(run.record.ports.iter().map(|port| count(&port.total) as f64).sum())
    }

    fn flow_gbps(&self, run: &Run) -> Option<f64> {
        let series = run.record.series.iter().find(|series| Some(series.flow.0) == self.flow)?;
        let (from, to) = self.window(run);
        // After another flow, at an instant that nobody chose, silence must not pass for a rate.
        let done = run.record.flows[series.flow.0 as usize].completed.unwrap_or(run.record.ended);
        if self.after.is_some() && to > done {
            return None;
        }
        let chosen: Vec<usize> = run.middles_in(from, to).collect();
        let at = |index: &usize| series.delivered.get(*index).copied().unwrap_or(0);
        let bytes: u64 = chosen.iter().map(at).sum();
        let time = (chosen.len() as u64 * run.record.interval.0) as f64 / 1e12;
        (time > 0.0).then(|| bytes as f64 * 8.0 / time / 1e9)
    }

    fn fits(&self, run: &Run, flow: usize) -> bool {
        let meta = &run.flows[flow];
        !meta.warmup
            && self.flow.is_none_or(|one| one as usize == flow)
            && self.class.as_ref().is_none_or(|class| class == meta.class)
            && self
                .carrier
                .as_ref()
                .is_none_or(|name| run.transports[meta.transport as usize] == *name)
            && self.largest.is_none_or(|most| meta.size_bytes <= most)
            && self.smallest.is_none_or(|least| meta.size_bytes >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("leaf0->leaf1", "leaf0->leaf1") && !fits("leaf0", "leaf0->leaf1"));
        assert!(fits("leaf*->host*", "leaf12->host3") && fits("*", "x") && fits("a*", "a"));
        assert!(!fits("leaf*->host*", "leaf1->spine0") && !fits("leaf*->host", "leaf1->host0"));
    }
}
