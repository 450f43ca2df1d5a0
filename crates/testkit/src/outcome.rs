//! What a run left, and how rates and queues were.

use incast_fabric::Fabric;
use incast_transport::{Bin, Framing, PortRecord, Rate, RunRecord, Span, Time};
use incast_world::Captured;
use std::ops::Deref;
use std::sync::Arc;

/// A run's record, captured packets and fabric.
pub struct Outcome {
    /// Every flow and port.
    pub record: RunRecord,
    /// Packets at captured ports.
    pub packets: Vec<Captured>,
    /// Where it was run.
    pub fabric: Arc<Fabric>,
}

impl Deref for Outcome {
    type Target = RunRecord;
    fn deref(&self) -> &RunRecord {
        &self.record
    }
}

impl Outcome {
    /// The switch port that sent most.
    pub fn bottleneck(&self) -> &PortRecord {
        let hosts = self.fabric.hosts();
        let switches = self.record.ports.iter().filter(|port| port.port >= hosts);
        switches.max_by_key(|port| port.total.sent_bytes).expect("a switch has ports")
    }

    /// The port by which the last switch reaches a host.
    pub fn last_hop(&self, host: u32) -> &PortRecord {
        let port = self.fabric.routes().next(self.fabric.rack_of(host), host)[0];
        &self.record.ports[port.0 as usize]
    }

    /// A host's NIC.
    pub fn nic(&self, host: u32) -> &PortRecord {
        &self.record.ports[self.fabric.host_port(host).0 as usize]
    }

    /// A port's intervals from `from` to `to`.
    pub fn bins_of<'a>(&self, port: &'a PortRecord, from: Span, to: Span) -> &'a [Bin] {
        let index = |at: Span| ((at.0 / self.record.interval.0) as usize).min(port.bins.len());
        &port.bins[index(from)..index(to)]
    }

    /// The busiest switch port's intervals from `from` to `to`.
    pub fn bins(&self, from: Span, to: Span) -> &[Bin] {
        self.bins_of(self.bottleneck(), from, to)
    }

    /// Charged bytes per second that a port sent from `from` to `to`.
    pub fn throughput(&self, port: &PortRecord, from: Span, to: Span) -> f64 {
        let bins = self.bins_of(port, from, to);
        let sent: u64 = bins.iter().map(|bin| bin.sent_bytes).sum();
        sent as f64 / (self.record.interval.as_secs_f64() * bins.len() as f64)
    }

    /// The share of a link of `rate` in use at the bottleneck from `from` to `to`.
    pub fn utilisation(&self, rate: Rate, from: Span, to: Span) -> f64 {
        self.throughput(self.bottleneck(), from, to) / (rate.0 as f64 / 8.0)
    }

    /// Full packets waiting at the bottleneck, on average from `from` to `to`.
    pub fn mean_queue(&self, from: Span, to: Span) -> f64 {
        let bins = self.bins(from, to);
        let area: f64 = bins.iter().map(|bin| bin.backlog_area as f64).sum();
        area / (self.record.interval.0 as f64 * bins.len() as f64) / FULL
    }

    /// Full packets waiting there, at most from `from` to `to`.
    pub fn peak_queue(&self, from: Span, to: Span) -> f64 {
        let most = self.bins(from, to).iter().map(|bin| bin.backlog_max).max();
        most.unwrap_or(0) as f64 / FULL
    }

    /// Packets dropped anywhere.
    pub fn drops(&self) -> u32 {
        self.record.ports.iter().map(|port| port.total.drops).sum()
    }

    /// Packets trimmed anywhere.
    pub fn trims(&self) -> u32 {
        self.record.ports.iter().map(|port| port.total.trims).sum()
    }

    /// Data packets sent again.
    pub fn retransmits(&self) -> u32 {
        self.record.flows.iter().map(|flow| flow.retransmits).sum()
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

    /// When the last flow was complete, all of which are.
    pub fn finished(&self) -> Time {
        let flows = self.record.flows.iter();
        flows.map(|flow| flow.completed.expect("complete")).max().expect("flows")
    }
}

/// Charged bytes of a full packet.
const FULL: f64 = Framing::ETHERNET.overhead as f64 + Framing::ETHERNET.mtu as f64;
