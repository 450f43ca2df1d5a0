//! What a run leaves behind in memory, the same from every world. The crate `measure` turns it
//! into columns.

use crate::{Ages, Parts};
use incast_units::{Span, Time};
use incast_wire::FlowId;

/// One interval of a port's life. Backlogs are charged bytes waiting, the packet in transmission
/// not included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bin {
    /// Charged bytes of packets that began transmission.
    pub sent_bytes: u64,
    /// Packets that began transmission.
    pub sent_packets: u32,
    /// Packets marked by markers.
    pub marks: u32,
    /// Packets dropped, without credits.
    pub drops: u32,
    /// Credits dropped, which costs nothing: it is how ports shape data that comes the other way.
    pub credit_drops: u32,
    /// Packets whose payload was cut off.
    pub trims: u32,
    /// Largest backlog.
    pub backlog_max: u64,
    /// Integral of the backlog over time, in byte picoseconds; divide by the interval for the mean.
    pub backlog_area: u128,
    /// Picoseconds during which some class was paused.
    pub paused: u64,
}

impl Bin {
    /// Joins two intervals.
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

/// What priority-based flow control did at a port in an interval of its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pauses {
    /// Picoseconds during which each class was paused by the other end of the link.
    pub paused: [u64; 8],
    /// Frames it sent that paused a class of the other end.
    pub pause_frames: u32,
    /// Frames it sent that released a class; a frame can do both.
    pub resume_frames: u32,
}

impl Pauses {
    /// Joins two intervals.
    pub fn join(&mut self, other: &Pauses) {
        self.paused.iter_mut().zip(other.paused).for_each(|(own, other)| *own += other);
        self.pause_frames += other.pause_frames;
        self.resume_frames += other.resume_frames;
    }
}

/// A port's life in equal intervals from the start of the run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortRecord {
    /// Number of the port over the whole fabric.
    pub port: u32,
    /// Sums over the run.
    pub total: Bin,
    /// The intervals; those at the end in which nothing happened may be missing.
    pub bins: Vec<Bin>,
    /// Sums over the run of `pauses`.
    pub total_pauses: Pauses,
    /// Pauses in the same intervals; empty if there were none.
    pub pauses: Vec<Pauses>,
}

/// A flow's life.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowRecord {
    /// Which.
    pub flow: FlowId,
    /// When it was opened; `None` if it never was.
    pub started: Option<Time>,
    /// When its last byte arrived; `None` if it is not complete.
    pub completed: Option<Time>,
    /// Where the time went, if complete. The parts add up to `completed - started`.
    pub parts: Option<Parts>,
    /// Payload bytes delivered, each byte counted once.
    pub delivered: u64,
    /// Data packets sent, retransmissions included.
    pub packets: u32,
    /// Retransmitted data packets.
    pub retransmits: u32,
    /// Permissions to send that came when nothing was left to send.
    pub wasted: u32,
    /// Decisions of its congestion control.
    pub decisions: u32,
    /// Sum over decisions of the age of their information, picoseconds.
    pub decision_age: u64,
    /// Largest of these ages, picoseconds.
    pub decision_age_max: u64,
    /// Packets without payload that its two hosts received.
    pub control_packets: u32,
    /// Charged bytes of these.
    pub control_bytes: u64,
    /// Bytes that its data packets brought behind their headers.
    pub extension_bytes: u64,
}

/// Payload bytes a flow delivered per interval, for throughput over time; kept for chosen flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FlowSeries {
    /// Which.
    pub flow: FlowId,
    /// Payload bytes delivered in each interval.
    pub delivered: Vec<u64>,
}

/// A whole run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunRecord {
    /// Every flow, in order of its number.
    pub flows: Vec<FlowRecord>,
    /// Every port, in order of its number.
    pub ports: Vec<PortRecord>,
    /// Length of the intervals of `ports` and `series`.
    pub interval: Span,
    /// Throughput of chosen flows.
    pub series: Vec<FlowSeries>,
    /// Payload bytes that all flows of each transport delivered in each interval, in the order of
    /// the transports of the run; empty if there is only one.
    pub shares: Vec<Vec<u64>>,
    /// When the run ended.
    pub ended: Time,
    /// Whether every flow was completed.
    pub complete: bool,
    /// How old the information behind decisions was, by transport in the order of the setup; not
    /// known in worlds where only bytes travel.
    pub decision_ages: Vec<Ages>,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Ports and classes that are paused and wait for each other in a circle: the run ended there.
    pub deadlock: Vec<(u32, u8)>,
    /// Since when nothing had been delivered although packets were still sent, if the run ended
    /// for that reason.
    pub stalled_since: Option<Time>,
    /// Packets that began transmission at some port.
    pub packet_hops: u64,
    /// Events of the engine; depends on the world and the number of threads.
    pub events: u64,
    /// Packets that a decoder refused.
    pub malformed: u64,
    /// Packets lost on links (random loss and failures).
    pub link_losses: u64,
}

impl RunRecord {
    /// Whether the run took its course to the end that was wished: nobody stopped it, and neither
    /// a deadlock, nor silence, nor the longest simulated time cut it short.
    pub fn ran_to_end(&self) -> bool {
        let cut = self.interrupted || !self.deadlock.is_empty() || self.stalled_since.is_some();
        !cut && (self.complete || self.ended < Time::HORIZON)
    }
}
