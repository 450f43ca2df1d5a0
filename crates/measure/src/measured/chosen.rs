//! What a number of a run is restricted to: flows, ports and a window.

use crate::{BalancedWindow, Run, statistics};
use incast_transport::Bin;
use incast_units::{Fault, Span, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A quantity written as text with its unit, such as `"8us"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity<T>(pub T);

impl<'de, T: std::str::FromStr<Err = Fault>> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Quantity).map_err(serde::de::Error::custom)
    }
}

impl<T: std::fmt::Display> Serialize for Quantity<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

/// Which number of a run is meant: of which flows or ports, in which window.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen<K> {
    /// Which number.
    pub kind: K,
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
pub(crate) fn fits(wanted: &str, name: &str) -> bool {
    let Some((beginning, rest)) = wanted.split_once('*') else { return wanted == name };
    let Some(left) = name.strip_prefix(beginning) else { return false };
    (0..=left.len()).any(|at| left.is_char_boundary(at) && fits(rest, &left[at..]))
}

impl<K> Chosen<K> {
    /// The chosen flows.
    pub(crate) fn flows(&self, run: &Run) -> Vec<usize> {
        (0..run.flows.len()).filter(|flow| self.fits(run, *flow)).collect()
    }

    /// Share of the chosen flows that completed.
    pub(crate) fn completed(&self, run: &Run) -> Option<f64> {
        let chosen = self.flows(run);
        let done = chosen.iter().filter(|flow| run.fct(**flow).is_some()).count();
        (!chosen.is_empty()).then(|| done as f64 / chosen.len() as f64)
    }

    pub(crate) fn ports_of(&self, run: &Run) -> Vec<usize> {
        let Some(wanted) = &self.port else { return vec![] };
        let named = |at: &usize| wanted.split(',').any(|one| fits(one, &run.ports[*at].name));
        (0..run.ports.len()).filter(named).collect()
    }

    /// The instants between which it is taken; half of the arrivals, or from the completion of a flow on.
    pub fn window(&self, run: &Run) -> (Time, Time) {
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
    fn bins(&self, run: &Run, port: usize) -> Vec<(Bin, Span)> {
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
        number: impl Fn(usize, &[(Bin, Span)], f64) -> f64,
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

    pub(crate) fn backlog_mean(&self, run: &Run) -> Option<f64> {
        self.over_ports(run, |_, bins, time| {
            bins.iter().map(|(bin, _)| bin.backlog_area as f64).sum::<f64>() / time
        })
    }

    /// In KB; a port that was never used has no backlog.
    pub(crate) fn backlog_percentile(&self, run: &Run, thousandths: u32) -> Option<f64> {
        let of = |port: usize| run.record.ports[port].backlogs.percentile(thousandths).unwrap_or(0);
        let all: Vec<f64> = self.ports_of(run).into_iter().map(|p| of(p) as f64 / 1e3).collect();
        statistics::mean(&all)
    }

    pub(crate) fn backlog_max(&self, run: &Run) -> Option<f64> {
        let ports = self.ports_of(run).into_iter().flat_map(|port| self.bins(run, port));
        Some(ports.map(|(bin, _)| bin.backlog_max).max()? as f64)
    }

    pub(crate) fn utilisation(&self, run: &Run) -> Option<f64> {
        self.over_ports(run, |port, bins, time| {
            let sent: f64 = bins.iter().map(|(bin, _)| bin.sent_bytes as f64).sum();
            sent * 8e12 / time / run.ports[port].rate.0 as f64
        })
    }

    /// The sum of a count over the chosen ports in the window, or over the whole fabric.
    pub(crate) fn counted(&self, run: &Run, count: fn(&Bin) -> f64) -> Option<f64> {
        if self.port.is_some() {
            let bins = self.ports_of(run).into_iter().flat_map(|port| self.bins(run, port));
            let all: Vec<f64> = bins.map(|(bin, _)| count(&bin)).collect();
            return (!all.is_empty()).then(|| all.iter().sum());
        }
        Some(run.record.ports.iter().map(|port| count(&port.total)).sum())
    }

    pub(crate) fn flow_gbps(&self, run: &Run) -> Option<f64> {
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
