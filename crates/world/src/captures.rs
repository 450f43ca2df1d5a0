//! Packets kept of captured ports: the first ones of the run, however it is divided.

use crate::Captured;
use incast_transport::RunRecord;

/// The earliest packets, by time and then port, up to a limit. Ports are brought up to date out of
/// order, so more are held for a while: at most twice the limit.
#[derive(Debug, Default)]
pub struct Captures {
    limit: usize,
    kept: Vec<Captured>,
    /// Packets beyond the limit were not kept.
    beyond: bool,
}

impl Captures {
    /// At most `limit` packets.
    pub fn new(limit: usize) -> Captures {
        Captures { limit, kept: vec![], beyond: false }
    }

    /// Adds a packet. Those of one port arrives in order of time.
    pub fn push(&mut self, packet: Captured) {
        self.kept.push(packet);
        if self.kept.len() >= self.limit.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    /// Adds what another part of the fabric has kept under the same limit.
    pub fn join(&mut self, other: Captures) {
        assert_eq!(self.limit, other.limit, "parts of one run");
        self.kept.extend(other.kept);
        self.beyond |= other.beyond;
    }

    /// The packets, in order of time, then port. The record says whether there were more.
    pub fn finish(mut self, record: &mut RunRecord) -> Vec<Captured> {
        self.cut();
        record.captures_cut = self.beyond;
        self.kept
    }

    fn cut(&mut self) {
        self.kept.sort_by_key(|captured| (captured.at, captured.port));
        self.beyond |= self.kept.len() > self.limit;
        self.kept.truncate(self.limit);
    }
}
