//! What is kept of a file, and the program that it makes.

use super::groups::{Group, Groups};
use crate::build::Collective;
use crate::error::{Place, ProgramError};
use crate::graph::Program;
use crate::warning::READ_AS;
use incast_units::Notice;
use incast_units::fault::wrong;
use std::ops::Range;

/// Most steps that a program of a workload may have.
const MOST_STEPS: u64 = 1 << 24;

/// What ranks of a group do after a pass through a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub kind: Collective,
    pub group: Group,
    pub bytes: u64,
}

/// A pass through a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pass {
    pub ns: u64,
    pub wanted: Option<Wanted>,
}

#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub line: u32,
    pub forward: Pass,
    pub input: Pass,
    pub weight: Pass,
    /// After each collective of it.
    pub update: u64,
    /// The layer from which forward passes are repeated before its backward pass.
    pub again_from: Option<u32>,
}

/// A file of SimAI: the layers that each rank goes through, and how ranks are divided. What a rank does is made from these
/// when it is asked for.
#[derive(Clone, Debug)]
pub struct Workload {
    pub(super) file: String,
    pub(super) groups: Groups,
    pub(super) layers: Vec<Layer>,
    /// The layers of each micro-batch, as far as stages exchange data for it; none where they do not.
    pub(super) batches: Vec<Range<u32>>,
    /// Bytes that a rank sends to the next stage, and to the one before, per micro-batch.
    pub(super) pp_bytes: u64,
    /// What the file does not say, and how it was taken.
    pub(super) taken: Vec<String>,
}

impl Workload {
    /// How ranks are divided.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Number of layers.
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// What the file does not say, and how it was taken.
    pub fn notices(&self) -> Vec<Notice> {
        let notice = |taken: &String| READ_AS.notice(&[("file", &self.file), ("taken", taken)]);
        self.taken.iter().map(notice).collect()
    }

    /// The whole program.
    ///
    /// # Errors
    /// More steps than a run can have, and as [`Program::new`].
    pub fn program(&self) -> Result<Program, ProgramError> {
        let (ranks, steps) = (self.groups.ranks, self.count_steps());
        if steps > MOST_STEPS {
            let problem = wrong(format!(
                "{ranks} ranks with {} layers take {steps} steps",
                self.layers.len()
            ))
            .expected(format!("at most {MOST_STEPS}: fewer layers, which this line counts"));
            return Err(ProgramError::new(&self.file, Place::Line(2), problem));
        }
        let ranks = (0..ranks).map(|rank| self.rank(rank)).collect();
        Ok(Program::new(&self.file, ranks)?.with_groups().with_notes(self.notices()))
    }
}
