//! Packets of captured ports on their way to a sink while the run goes on.

use incast_transport::{CaptureCut, Extension, Packet, Time};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Packets that a stream holds before it writes some.
const BATCH: usize = 4_096;

/// A packet as it began transmission at a captured port.
#[derive(Clone, PartialEq, Debug)]
pub struct Captured {
    /// Start of transmission.
    pub at: Time,
    /// Which port.
    pub port: u32,
    /// The packet.
    pub packet: Packet,
    /// Its extension.
    pub extension: Extension,
}

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
    pub(crate) fn part(&self) -> usize {
        let mut merge = self.merge();
        merge.reached.push(0);
        merge.reached.len() - 1
    }

    /// Takes packets of a part, which has none left before `reached`.
    pub(crate) fn take(&self, part: usize, packets: &mut Vec<Captured>, reached: u64) {
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
