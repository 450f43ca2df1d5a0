//! One run: its record with the scenario's metadata.

use crate::jobs::{Collective, ProgramMeta, RankMeta};
use crate::warning::Warning;
use crate::{Fidelity, FlowLevel, Manifest, Server};
use incast_transport::{Bin, FlowRecord, Pauses, PortRecord, RunRecord};
use incast_units::{Bytes, Rate, Span, Time};

/// Flows of at least this many bytes are long, others short (DECN's evaluation states the
/// boundary: 100 KB, KB = 1000).
pub const LONG_FLOW_BYTES: u64 = 100_000;

/// Metadata of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMeta {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload bytes to transfer.
    pub size_bytes: u64,
    /// Its transport: an index into [`Run::transports`].
    pub transport: u16,
    /// What kind of traffic it belongs to, such as `background` or `incast`.
    pub class: &'static str,
    /// The nodes on the path of the packet that completed it, or of all its packets; `sprayed` if
    /// that is not known.
    pub path: Box<str>,
    /// Its completion time alone on an empty network.
    pub ideal_fct: Span,
    /// Whether it is one of a stream of arrivals: drawn by a Poisson process, or background of a
    /// flow file.
    pub arrival: bool,
    /// Whether it belongs to the warm-up and is left out of statistics.
    pub warmup: bool,
    /// When its application ended it, of one without an end.
    pub stop: Option<Time>,
    /// The queue of data that it is in, where ports have several or its file says so.
    pub priority: Option<u8>,
}

impl FlowMeta {
    /// Whether it stands for a flow without an end, which is not expected to complete.
    pub fn is_endless(&self) -> bool {
        self.size_bytes >= Bytes::ENDLESS.0
    }
}

/// Metadata of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortMeta {
    /// Name, such as `leaf0->spine3`.
    pub name: String,
    /// Tier: `nic`, `edge`, `aggregation` or `core`.
    pub tier: &'static str,
    /// Rate of its link.
    pub rate: Rate,
    /// Whether it leads away from the receiving hosts.
    pub upward: bool,
    /// Number of its node: a host or a switch.
    pub node: u32,
}

/// A link fails or works again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkChange {
    /// When.
    pub at: Time,
    /// Its ends, such as `leaf0-spine1`.
    pub link: String,
    /// Whether it works from then on.
    pub up: bool,
}

/// Flows that belong together, such as the responses to one query. They are
/// complete with the last flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// When its first flow was due.
    pub start: Time,
    /// When its last flow was complete; `None` if some flow is not.
    pub end: Option<Time>,
    /// Number of its flows.
    pub flows: u32,
    /// Whether it belongs to the warm-up and is left out of statistics.
    pub warmup: bool,
}

/// A run: record and metadata.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Label in tables and legends. Runs of equal label are treated as repetitions with different
    /// seeds.
    pub label: String,
    /// Names of the transports, indexed by [`FlowMeta::transport`].
    pub transports: Vec<String>,
    /// The record.
    pub record: RunRecord,
    /// The flows, in the order of `record.flows`.
    pub flows: Vec<FlowMeta>,
    /// The ports, indexed by [`PortRecord::port`].
    pub ports: Vec<PortMeta>,
    /// Links that fail and work again, in order of time.
    pub link_changes: Vec<LinkChange>,
    /// The requests, if flows belong together.
    pub requests: Vec<Request>,
    /// The iterations of collectives, one collective after the other.
    pub collectives: Vec<Collective>,
    /// The programs.
    pub programs: Vec<ProgramMeta>,
    /// Their ranks, in the order of `record.executions`.
    pub ranks: Vec<RankMeta>,
    /// Servers, where some have several NICs.
    pub servers: Vec<Server>,
    /// Unloaded RTT of a full packet and its ACK over the longest path; zero if unknown.
    pub base_rtt: Span,
    /// The resolved scenario and where and how it ran, for `manifest.json`.
    pub manifest: Manifest,
    /// Warnings that were known before the run.
    pub notes: Vec<Warning>,
    /// Which world ran it, in words; empty if unknown.
    pub world: String,
    /// How faithful it was to real time, if it followed it. Never enters the summary.
    pub fidelity: Option<Fidelity>,
    /// Of a run at flow level, which has neither packets nor queues.
    pub flow_level: Option<FlowLevel>,
    /// Seconds of wall-clock time the run took, if known. Never enters the summary, which is equal
    /// for equal scenarios and seeds.
    pub wall_seconds: Option<f64>,
}

impl Run {
    /// Panics unless record and metadata belong together and the parts of every completed flow
    /// add up to its completion time: only a bug can break that.
    pub fn check(&self) {
        let (flows, ports) = (self.record.flows.len(), self.record.ports.len());
        assert_eq!(flows, self.flows.len(), "flow records and flow metadata differ in number");
        assert_eq!(ports, self.ports.len(), "port records and port metadata differ in number");
        let (ranks, executions) = (self.ranks.len(), self.record.executions.len());
        assert_eq!(ranks, executions, "ranks and records of executions differ in number");
        for (at, (record, meta)) in self.record.flows.iter().zip(&self.flows).enumerate() {
            assert_eq!(record.flow.0 as usize, at, "flow records are out of order");
            assert!((meta.transport as usize) < self.transports.len(), "flow {at}: no transport");
            if let (Some(fct), Some(parts)) = (fct(record), record.parts) {
                assert_eq!(parts.total(), fct.0, "parts of flow {at} do not add up");
            }
        }
        for (at, record) in self.record.ports.iter().enumerate() {
            assert_eq!(record.port as usize, at, "port records are out of order");
        }
    }

    /// Whether there are flows that have an end, and none of them is complete.
    pub(crate) fn nothing_completed(&self) -> bool {
        let done = |flow: &FlowRecord| flow.completed.is_some();
        let ends = self.flows.iter().any(|flow| !flow.is_endless());
        ends && !self.record.flows.iter().any(done)
    }

    /// Whether the run [ended by itself](RunRecord::ran_to_end) and some flow is complete, if it has
    /// flows.
    pub fn complete(&self) -> bool {
        self.record.ran_to_end() && !self.nothing_completed()
    }

    /// Completion time of a flow, from its opening to the arrival of its last byte.
    pub fn fct(&self, flow: usize) -> Option<Span> {
        fct(&self.record.flows[flow])
    }

    /// Time from a flow's opening until its sender has learned that everything was delivered.
    pub fn sender_fct(&self, flow: usize) -> Option<Span> {
        let record = &self.record.flows[flow];
        Some(record.acknowledged?.since(record.started?))
    }

    /// Completion time over completion time alone; `None` if incomplete or the ideal is zero.
    pub fn slowdown(&self, flow: usize) -> Option<f64> {
        let ideal = self.flows[flow].ideal_fct.0;
        self.fct(flow).filter(|_| ideal > 0).map(|fct| fct.0 as f64 / ideal as f64)
    }

    /// Mean payload rate of a flow in Gb/s: its size over its completion time, or what has been
    /// delivered until the end of the run, or until its application ended it, if it is incomplete. `None` if it
    /// never started.
    pub fn throughput_gbps(&self, flow: usize) -> Option<f64> {
        let (record, meta) = (&self.record.flows[flow], &self.flows[flow]);
        let (bytes, time) = match self.fct(flow) {
            Some(fct) => (meta.size_bytes, fct),
            None => {
                let ended = meta.stop.unwrap_or(Time::NEVER).min(self.record.ended);
                (record.delivered, ended.since(record.started?))
            }
        };
        gbps(bytes, time)
    }

    /// Decisions of some flows over their lives in base round-trip times, those that are not
    /// complete until the end of the run. `None` without decisions.
    pub fn decisions_per_rtt(&self, flows: impl Iterator<Item = usize>) -> Option<f64> {
        let (mut decisions, mut lived) = (0u64, 0u128);
        for at in flows {
            let record = &self.record.flows[at];
            let Some(started) = record.started else { continue };
            decisions += record.decisions as u64;
            lived += record.completed.unwrap_or(self.record.ended).since(started).0 as u128;
        }
        let known = decisions > 0 && lived > 0 && self.base_rtt.0 > 0;
        known.then(|| decisions as f64 * self.base_rtt.0 as f64 / lived as f64)
    }

    /// Number of intervals of the port series: enough to reach the end of the run and to show
    /// every interval that was recorded.
    pub fn intervals(&self) -> usize {
        let interval = self.record.interval.0;
        if interval == 0 {
            return 0;
        }
        let lived = self.record.ended.since(self.record.series_start).0.div_ceil(interval) as usize;
        self.record.ports.iter().map(|port| port.bins.len()).fold(lived, usize::max)
    }

    /// Start and length of an interval. The last one ends with the run.
    pub fn interval(&self, index: usize) -> (Time, Span) {
        let full = self.record.interval;
        let start = self.record.series_start + full * index as u64;
        let left = self.record.ended.since(start);
        (start, if left.0 == 0 { full } else { Span(left.0.min(full.0)) })
    }

    /// The intervals whose middle lies from `from` to before `to`, as if all were of full length and
    /// went on behind the end of the run.
    pub fn middles_in(&self, from: Time, to: Time) -> impl Iterator<Item = usize> + use<> {
        let (start, width) = (self.record.series_start, self.record.interval.0.max(1));
        let middle = move |index: u64| start + Span(index * width + width / 2);
        let all = 0..to.since(start).0.div_ceil(width);
        all.filter(move |index| (from..to).contains(&middle(*index))).map(|index| index as usize)
    }

    /// One interval of a port; empty if nothing was recorded.
    pub fn bin(&self, port: usize, index: usize) -> Bin {
        self.record.ports[port].bins.get(index).copied().unwrap_or_default()
    }

    /// Charged bytes that a port had on the wire, by interval. A packet is recorded where its
    /// transmission begins; what the link cannot have carried before that interval ended, rounded
    /// up to bytes, counts in the next one. What the end of the run cut off counts nowhere.
    /// `intervals` is [`Run::intervals`], which looks at every port: to be asked once for all ports.
    pub fn wire_bytes(&self, port: usize, intervals: usize) -> Vec<u64> {
        let (bins, rate) = (&self.record.ports[port].bins, self.ports[port].rate);
        let (mut all, mut left) = (vec![], 0);
        for index in 0.. {
            if index >= bins.len() && (left == 0 || index >= intervals) {
                break;
            }
            let room = match rate.0 {
                0 => u64::MAX,
                bits => {
                    (bits as u128 * self.interval(index).1.0 as u128 / 8_000_000_000_000) as u64
                }
            };
            left += self.bin(port, index).sent_bytes;
            all.push(left.min(room));
            left -= left.min(room);
        }
        all
    }

    /// The pauses in one interval of a port; empty if nothing was recorded.
    pub fn pauses(&self, port: usize, index: usize) -> Pauses {
        self.record.ports[port].pauses.get(index).copied().unwrap_or_default()
    }

    /// When the first flow started: what is before counts in no mean over time. The end of the run
    /// if none did.
    pub fn began(&self) -> Time {
        let starts = self.record.flows.iter().filter_map(|flow| flow.started);
        starts.min().unwrap_or(self.record.ended)
    }

    /// From the start of the first flow to the end of the run.
    pub fn lived(&self) -> Span {
        self.record.ended.since(self.began())
    }

    /// Mean use of a port's link over [`lived`](Run::lived), 0 to 1.
    pub(crate) fn utilisation(&self, port: &PortRecord, lived: Span) -> Option<f64> {
        share(port.total.sent_bytes, lived, self.ports[port.port as usize].rate)
    }
}

fn fct(record: &FlowRecord) -> Option<Span> {
    Some(record.completed?.since(record.started?))
}

/// Bytes over time in Gb/s; `None` over no time.
pub(crate) fn gbps(bytes: u64, time: Span) -> Option<f64> {
    (time.0 > 0).then(|| bytes as f64 * 8_000.0 / time.0 as f64)
}

/// Bytes sent over what a link can send in that time; `None` without time or rate.
pub(crate) fn share(bytes: u64, time: Span, rate: Rate) -> Option<f64> {
    gbps(bytes, time).filter(|_| rate.0 > 0).map(|sent| sent / rate.as_gbps_f64())
}
