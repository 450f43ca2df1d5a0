//! Packets kept of captured ports: the first ones of the run, however it is divided.

use crate::Captured;

/// The earliest packets, by time and then port, up to a limit. Ports are brought up to date out of
/// order, so more are held for a while: at most twice the limit.
#[derive(Debug, Default)]
pub struct Captures {
    limit: usize,
    kept: Vec<Captured>,
}

impl Captures {
    /// At most `limit` packets.
    pub fn new(limit: usize) -> Captures {
        Captures { limit, kept: vec![] }
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
    }

    /// The packets, in order of time, then port.
    pub fn finish(mut self) -> Vec<Captured> {
        self.cut();
        self.kept
    }

    fn cut(&mut self) {
        self.kept.sort_by_key(|captured| (captured.at, captured.port));
        self.kept.truncate(self.limit);
    }
}
