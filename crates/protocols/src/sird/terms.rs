//! What a host goes by.

use super::Law;
use super::params::Busy;
use incast_transport::{Framing, Rate, Span};

/// What hosts need to know; bytes are charged ones.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub framing: Framing,
    /// A full packet.
    pub full: u64,
    /// The smallest one.
    pub least: u64,
    pub bdp: u64,
    /// What a destination has credited and not received, at most.
    pub budget: u64,
    /// Largest message that is sent without being asked for.
    pub unscheduled: u64,
    /// Unused credit from which on a source is congested.
    pub congested: u64,
    pub busy: Busy,
    /// What the destination with the least to send gets of the link beyond equal shares.
    pub shortest: f64,
    pub law: Law,
    pub rate: Rate,
    /// Silence after which something is asked for again.
    pub retry: Span,
}

impl Terms {
    /// What packet `seq` of a message costs in credit. Both ends know it: from the length of a message
    /// that was requested; packets of others count as full ones.
    pub fn worth(&self, packets: u32, bytes: Option<u64>, seq: u32) -> u64 {
        let Some(bytes) = bytes.filter(|_| seq + 1 == packets) else { return self.full };
        let mss = self.framing.mss() as u64;
        match bytes.checked_sub((packets as u64 - 1) * mss) {
            Some(last) if (1..=mss).contains(&last) => {
                self.framing.charged_packet(last as u16, 0) as u64
            }
            _ => self.full,
        }
    }
}
