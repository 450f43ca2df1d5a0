//! What a file of another tool gives, and what is wrong with it.

use crate::{Fabric, Problem, Size, TopologyError};
use incast_units::fault;
use incast_units::{Bytes, Notice};

/// More nodes than this in a file are refused: a few digits may ask for any number.
pub(super) const MOST_NODES: u64 = 1 << 21;

/// More links than this are refused, too.
pub(super) const MOST_LINKS: u64 = 1 << 23;

/// Refuses a file that asks for too much.
pub(super) fn check_size(Size { nodes, links }: Size) -> Result<(), TopologyError> {
    if nodes <= MOST_NODES && links <= MOST_LINKS {
        return Ok(());
    }
    Err(TopologyError::new(Problem::TooLarge(format!(
        "{nodes} hosts and switches with {links} links; a file may have {MOST_NODES} with {MOST_LINKS}"
    ))))
}

/// A fabric read from a file, and how its numbers translate.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The fabric, named after the file.
    pub fabric: Fabric,
    /// What a reader should know: what was left out or folded into something else.
    pub notes: Vec<Notice>,
    /// Buffers per tier, edge first, where the file states them (htsim).
    pub queues: Vec<TierQueues>,
    pub(super) host_ids: Vec<u32>,
    pub(super) switch_ids: Vec<u32>,
}

impl Imported {
    /// The number each host had in the file, by its host number here. Ascending.
    pub fn host_ids(&self) -> &[u32] {
        &self.host_ids
    }

    /// The number each switch had in the file, in the order of the switches here; of a switch on a host's board,
    /// the host's.
    pub fn switch_ids(&self) -> &[u32] {
        &self.switch_ids
    }

    /// The host that had this number in the file; `None` for a switch or an unknown number.
    pub fn host_of(&self, id: u32) -> Option<u32> {
        self.host_ids.binary_search(&id).ok().map(|host| host as u32)
    }
}

/// An error at a line of a file.
pub(super) fn error_at(
    file: &str,
    line: usize,
    message: impl Into<fault::Problem>,
) -> TopologyError {
    TopologyError::malformed(message).at(file, Some(line as u32))
}

/// Buffers per port of one tier, as a `.topo` file states them, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierQueues {
    /// `Queue_Up`: ports towards the tier above.
    pub up: Option<Bytes>,
    /// `Queue_Down`: ports towards the tier below.
    pub down: Option<Bytes>,
}
