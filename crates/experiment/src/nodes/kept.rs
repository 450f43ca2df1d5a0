//! How a node kept time, as its record has it.

use incast_dataplane::Pace;
use incast_transport::{Histogram, Span};
use serde::{Deserialize, Serialize};

/// How a node kept time. Times in picoseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    /// Real time, and its own.
    pub wall: u64,
    /// Its own time.
    pub run: u64,
    /// Real time in gaps between two looks at the clock.
    pub stalled: u64,
    /// How many gaps.
    pub stalls: u64,
    /// The longest gap.
    pub longest_stall: u64,
    /// By how much frames were handled after they came, and how many were.
    pub lateness: Vec<(u64, u64)>,
    /// Data packets that its host sent.
    pub sent: u64,
    /// Those that were sent again.
    pub resent: u64,
    /// What was given up because it let no time pass, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

impl Kept {
    /// Of a node that has ended.
    pub(super) fn of(fidelity: &incast_dataplane::Fidelity) -> Kept {
        let Pace { wall, run, stalled, stalls, longest_stall, .. } = fidelity.pace;
        Kept {
            wall: wall.0,
            run: run.0,
            stalled: stalled.0,
            stalls,
            longest_stall: longest_stall.0,
            lateness: fidelity.lateness.values().collect(),
            sent: fidelity.data.packets,
            resent: fidelity.data.resent,
            troubles: fidelity.troubles.iter().map(|one| one.to_string()).collect(),
        }
    }

    /// The same as it was measured, of a node that sent so many packets.
    pub(super) fn fidelity(&self, packets: u64) -> incast_dataplane::Fidelity {
        let mut lateness = Histogram::new();
        self.lateness.iter().for_each(|(late, count)| lateness.add_many(*late, *count));
        let pace = Pace {
            wall: Span(self.wall),
            run: Span(self.run),
            stalled: Span(self.stalled),
            stalls: self.stalls,
            longest_stall: Span(self.longest_stall),
            lag_most: Span::ZERO,
        };
        let data = incast_dataplane::Data { packets: self.sent, resent: self.resent };
        incast_dataplane::Fidelity { pace, lateness, packets, data, ..Default::default() }
    }
}
