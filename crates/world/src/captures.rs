//! Packets of captured ports: the first ones of the run, however it is divided, kept in memory or
//! streamed to a sink while the run goes on.

use crate::{Captured, Options};
use incast_fabric::{Fabric, PortId};
use incast_transport::{CaptureCut, RunRecord, Time};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Packets that a stream holds before it writes some.
const BATCH: usize = 4_096;

/// Takes the packets of a capture in order of time, then port.
pub trait PacketSink: Send {
    /// One packet.
    fn packet(&mut self, packet: &Captured) -> io::Result<()>;

    /// There are no more.
    fn finish(&mut self) -> io::Result<()>;
}

/// Writes the packets of the parts of a run to a sink while the run goes on, in order of time, then
/// port, whatever order they come in. It holds those of a window and of the longest propagation.
pub struct CaptureStream {
    merge: Mutex<Merge>,
    /// Set when the sink fails: there is no use in going on.
    halt: Arc<AtomicBool>,
}

struct Merge {
    sink: Box<dyn PacketSink>,
    limit: u64,
    /// Each part has handed over every packet before its instant, picoseconds.
    reached: Vec<u64>,
    waiting: Vec<Captured>,
    written: u64,
    last: Time,
    beyond: bool,
    failed: Option<io::Error>,
}

impl fmt::Debug for CaptureStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CaptureStream")
    }
}

impl CaptureStream {
    /// To a sink, at most `limit` packets. `halt` is set if the sink fails.
    pub fn new(sink: Box<dyn PacketSink>, limit: u64, halt: Arc<AtomicBool>) -> CaptureStream {
        let merge = Merge {
            sink,
            limit,
            reached: vec![],
            waiting: vec![],
            written: 0,
            last: Time::ZERO,
            beyond: false,
            failed: None,
        };
        CaptureStream { merge: Mutex::new(merge), halt }
    }

    fn merge(&self) -> MutexGuard<'_, Merge> {
        self.merge.lock().expect("no panic while it is held")
    }

    /// A part that will hand over packets.
    fn part(&self) -> usize {
        let mut merge = self.merge();
        merge.reached.push(0);
        merge.reached.len() - 1
    }

    /// Takes packets of a part, which has none left before `reached`.
    fn take(&self, part: usize, packets: &mut Vec<Captured>, reached: u64) {
        let mut merge = self.merge();
        merge.reached[part] = reached;
        merge.waiting.append(packets);
        if merge.waiting.len() >= BATCH {
            merge.write();
        }
        if merge.failed.is_some() {
            self.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Writes what is left. Returns how many packets were written up to when, if there were more.
    /// Errors are those of the sink.
    pub fn finish(&self) -> io::Result<Option<CaptureCut>> {
        let mut merge = self.merge();
        merge.reached.fill(u64::MAX);
        merge.write();
        if let Some(error) = merge.failed.take() {
            return Err(error);
        }
        merge.sink.finish()?;
        let cut = CaptureCut { packets: merge.written, until: merge.last };
        Ok(merge.beyond.then_some(cut))
    }
}

impl Merge {
    /// Writes the packets before which none can come any more.
    fn write(&mut self) {
        let before = self.reached.iter().copied().min().unwrap_or(u64::MAX);
        self.waiting.sort_unstable_by_key(|one| (one.at, one.port));
        let ready = self.waiting.partition_point(|one| one.at.0 < before);
        for packet in self.waiting.drain(..ready) {
            if self.written == self.limit {
                self.beyond = true;
            } else if self.failed.is_none() {
                self.failed = self.sink.packet(&packet).err();
                self.written += 1;
                self.last = packet.at;
            }
        }
    }
}

/// The packets of a part of the fabric. Without a stream the earliest of them, by time and then port,
/// up to a limit. Ports are brought up to date out of order, so more are held for a while: at most
/// twice the limit.
#[derive(Debug, Default)]
pub struct Captures {
    limit: usize,
    /// Flows whose packets are captured; empty: all, and pause frames.
    flows: BTreeSet<u32>,
    kept: Vec<Captured>,
    /// Packets beyond the limit were not kept.
    beyond: bool,
    /// Where packets go, and under which number.
    stream: Option<(Arc<CaptureStream>, usize)>,
    /// A port is brought up to date so much later at most, picoseconds: with the arrival of the packet
    /// that it sent before.
    late: u64,
}

impl Captures {
    /// As the options of a run say.
    pub fn new(options: &Options, fabric: &Fabric) -> Captures {
        let spans = options.capture.iter().map(|port| fabric.port(PortId(*port)).propagation.0);
        Captures {
            limit: options.capture_limit,
            flows: options.capture_flows.clone(),
            kept: vec![],
            beyond: false,
            stream: options.capture_stream.clone().map(|stream| {
                let part = stream.part();
                (stream, part)
            }),
            late: spans.max().unwrap_or(0),
        }
    }

    /// Adds a packet. Those of one port arrives in order of time.
    pub fn push(&mut self, packet: Captured) {
        let pause = matches!(packet.packet.header, incast_transport::Header::Pause { .. });
        if !self.flows.is_empty() && (pause || !self.flows.contains(&packet.packet.flow.0)) {
            return;
        }
        self.kept.push(packet);
        if self.stream.is_none() && self.kept.len() >= self.limit.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    /// Everything before `now` has happened: a stream takes the packets.
    #[inline]
    pub fn reach(&mut self, now: u64) {
        if let Some((stream, part)) = &self.stream {
            stream.take(*part, &mut self.kept, now.saturating_sub(self.late));
        }
    }

    /// Adds what another part of the fabric has kept under the same limit.
    pub fn join(&mut self, mut other: Captures) {
        assert_eq!(self.limit, other.limit, "parts of one run");
        other.reach(u64::MAX);
        self.kept.extend(other.kept);
        self.beyond |= other.beyond;
    }

    /// The packets, in order of time, then port; none if they went to a stream. The record says
    /// whether there were more.
    pub fn finish(mut self, record: &mut RunRecord) -> Vec<Captured> {
        self.reach(u64::MAX);
        self.cut();
        let (packets, last) = (self.kept.len() as u64, self.kept.last());
        let until = last.map_or(Time::ZERO, |last| last.at);
        record.captures_cut = self.beyond.then_some(CaptureCut { packets, until });
        self.kept
    }

    fn cut(&mut self) {
        self.kept.sort_by_key(|captured| (captured.at, captured.port));
        self.beyond |= self.kept.len() > self.limit;
        self.kept.truncate(self.limit);
    }
}
