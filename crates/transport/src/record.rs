//! The record of a run, the same from every world. The crate `measure` turns it into columns.

use crate::trace::LastPacket;
use crate::{Histogram, Parts, PathsTaken, Reordering, Trace};
use incast_units::{Span, Time};
use incast_wire::FlowId;

/// Statistics of a port in one interval. Backlogs are queued charged bytes without the packet in
/// transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bin {
    /// Charged bytes of packets that started transmission.
    pub sent_bytes: u64,
    /// Packets that started transmission.
    pub sent_packets: u32,
    /// Packets marked by markers.
    pub marks: u32,
    /// Packets dropped, without credits.
    pub drops: u32,
    /// Credits dropped. This is no loss: ports shape the data of the reverse direction this way.
    pub credit_drops: u32,
    /// Packets trimmed.
    pub trims: u32,
    /// Largest backlog.
    pub backlog_max: u64,
    /// Integral of the backlog over time, in byte picoseconds; divide by the interval for the mean.
    pub backlog_area: u128,
    /// Picoseconds during which at least one class was paused.
    pub paused: u64,
}

impl Bin {
    /// Merges another interval into this one.
    pub fn join(&mut self, other: &Bin) {
        self.sent_bytes += other.sent_bytes;
        self.sent_packets += other.sent_packets;
        self.marks += other.marks;
        self.drops += other.drops;
        self.credit_drops += other.credit_drops;
        self.trims += other.trims;
        self.backlog_max = self.backlog_max.max(other.backlog_max);
        self.backlog_area += other.backlog_area;
        self.paused += other.paused;
    }
}

/// Priority-based flow control at a port in one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pauses {
    /// Picoseconds during which each class was paused by the other end of the link.
    pub paused: [u64; 8],
    /// Frames sent that paused a class at the other end.
    pub pause_frames: u32,
    /// Frames sent that resumed a class. A frame can pause one class and resume another.
    pub resume_frames: u32,
    /// How often a watchdog declared a class stuck.
    pub storms: u32,
}

impl Pauses {
    /// Merges another interval into this one.
    pub fn join(&mut self, other: &Pauses) {
        self.paused.iter_mut().zip(other.paused).for_each(|(own, other)| *own += other);
        self.pause_frames += other.pause_frames;
        self.resume_frames += other.resume_frames;
        self.storms += other.storms;
    }
}

/// The time series of a port, in equal intervals from the start of the run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortRecord {
    /// Number of the port in the fabric.
    pub port: u32,
    /// Sums over the run.
    pub total: Bin,
    /// The intervals. Idle intervals at the end may be missing.
    pub bins: Vec<Bin>,
    /// Sums over the run of `pauses`.
    pub total_pauses: Pauses,
    /// Pauses in the same intervals; empty if there were none.
    pub pauses: Vec<Pauses>,
    /// Backlogs in bytes at random instants, one in each of equal stretches of time: in the time of
    /// 16 full packets. Empty if the port was never used.
    pub backlogs: Histogram,
}

/// The record of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowRecord {
    /// The flow.
    pub flow: FlowId,
    /// When it was opened; `None` if it never was.
    pub started: Option<Time>,
    /// When its last byte arrived; `None` if it is not complete.
    pub completed: Option<Time>,
    /// When its sender learned that everything had been delivered; `None` if it had not by the end of
    /// the run.
    pub acknowledged: Option<Time>,
    /// Breakdown of the completion time, if complete. The parts add up to `completed - started`.
    pub parts: Option<Parts>,
    /// The packet that completed it, if complete.
    pub last: Option<LastPacket>,
    /// Payload bytes delivered, without duplicates.
    pub delivered: u64,
    /// Data packets sent, retransmissions included.
    pub packets: u32,
    /// Retransmitted data packets.
    pub retransmits: u32,
    /// Grants, tokens or credits that arrived when no data was left to send.
    pub wasted: u32,
    /// Decisions of its congestion control.
    pub decisions: u32,
    /// Sum over decisions of the age of their information, picoseconds.
    pub decision_age: u64,
    /// Largest of these ages, picoseconds.
    pub decision_age_max: u64,
    /// Packets without payload that its two hosts received.
    pub control_packets: u32,
    /// Charged bytes of the control packets.
    pub control_bytes: u64,
    /// Bytes of the header extensions of its data packets.
    pub extension_bytes: u64,
    /// How its data packets overtook each other; `None` if none arrived whose place in the order is
    /// known.
    pub reordering: Option<Reordering>,
    /// Which paths they took; `None` if that is not recorded, or none arrived.
    pub paths: Option<PathsTaken>,
}

/// Payload bytes that a flow delivered per interval, kept for selected flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FlowSeries {
    /// The flow.
    pub flow: FlowId,
    /// Payload bytes delivered in each interval.
    pub delivered: Vec<u64>,
}

/// The record of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunRecord {
    /// Every flow, in order of its number.
    pub flows: Vec<FlowRecord>,
    /// Every port, in order of its number.
    pub ports: Vec<PortRecord>,
    /// Length of the intervals of `ports` and `series`.
    pub interval: Span,
    /// Start of the first interval.
    pub series_start: Time,
    /// Throughput of selected flows.
    pub series: Vec<FlowSeries>,
    /// Payload bytes delivered per transport and interval, in the order of the transports of the
    /// run; empty if there is only one transport.
    pub shares: Vec<Vec<u64>>,
    /// When the run ended.
    pub ended: Time,
    /// Whether every flow was completed.
    pub complete: bool,
    /// Age of the information behind decisions, by transport in the order of the setup; unknown in
    /// worlds that transmit bytes only.
    pub decision_ages: Vec<Histogram>,
    /// Whether the user stopped the run.
    pub interrupted: bool,
    /// The deadlocked cycle of paused ports and classes that ended the run; empty if none.
    pub deadlock: Vec<(u32, u8)>,
    /// Time of the last delivery if the run ended because packets were still sent but none were
    /// delivered.
    pub stalled_since: Option<Time>,
    /// Transmissions over all ports.
    pub packet_hops: u64,
    /// Events processed; depends on the world and the number of threads.
    pub events: u64,
    /// Packets rejected by the decoder.
    pub malformed: u64,
    /// Packets lost on links (random loss and failures).
    pub link_losses: u64,
    /// What executions have done, by number; empty without any.
    pub executions: Vec<ExecutionRecord>,
    /// Where the capture was cut off, if ports that were captured sent more packets than were kept.
    pub captures_cut: Option<CaptureCut>,
    /// The trace, if there is one.
    pub trace: Option<Trace>,
}

/// What an execution at a host, such as a rank of a program, has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExecutionRecord {
    /// When it began; `None` if it has not.
    pub begun: Option<Time>,
    /// When it was over; `None` if it is not.
    pub ended: Option<Time>,
    /// For how long it computed.
    pub computing: Span,
    /// Steps that are not done.
    pub left: u64,
    /// What it waits for, beside time.
    pub waits: Vec<String>,
    /// Whether it will do something by itself.
    pub busy: bool,
    /// Its steps, in their order.
    pub steps: Vec<StepRecord>,
}

/// A step of an execution: a message that it sends or takes, or a computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepRecord {
    /// When it began; `None` if it has not.
    pub begun: Option<Time>,
    /// When it was done; `None` if it is not.
    pub ended: Option<Time>,
    /// The step for which it waited last before it began.
    pub after: Option<u32>,
    /// The message that it took: the execution that sent it, by its number in its program, and the step there.
    pub message: Option<(u32, u32)>,
}

/// Where a capture was cut off: it has the first packets of the run, by time, then port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureCut {
    /// How many packets it has.
    pub packets: u64,
    /// When the last of them began transmission.
    pub until: Time,
}

impl RunRecord {
    /// Whether the run reached its requested end. A user interrupt, a deadlock, a stall or the
    /// longest simulated time end it early.
    pub fn ran_to_end(&self) -> bool {
        let cut = self.interrupted || !self.deadlock.is_empty() || self.stalled_since.is_some();
        !cut && (self.complete || self.ended < Time::HORIZON)
    }
}
