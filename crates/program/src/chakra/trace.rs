//! A trace as its files are read.

use crate::build::Collective;
use crate::error::{Place, ProgramError};
use crate::graph::{Program, Rank};
use crate::warning::READ_AS;
use incast_units::Notice;
use incast_units::fault::wrong;
use std::collections::BTreeMap;

/// Most steps that a program of a trace may have.
pub(super) const MOST_STEPS: usize = 1 << 24;

/// The name of the file of a rank in a trace of which `file` is one: `trace.3.et` of `trace.0.et`. None if it has no such
/// name.
pub fn chakra_file(file: &str, rank: u32) -> Option<String> {
    let (prefix, number) = file.strip_suffix(".et")?.rsplit_once('.')?;
    let number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.then(|| format!("{prefix}.{rank}.et"))
}

/// The file that may say which ranks the process groups of a trace have, as astra-sim has it: `trace.json` of `trace.0.et`.
pub fn chakra_groups_file(file: &str) -> Option<String> {
    chakra_file(file, 0).map(|first| format!("{}.json", first.trim_end_matches(".0.et")))
}

/// Process groups by name: their ranks in the order of the ring.
pub type ProcessGroups = BTreeMap<String, Vec<u32>>;

/// A trace as its files are read, in the order of ranks.
pub struct Trace {
    pub(super) file: String,
    pub(super) count: u32,
    /// Name and ranks of each group; the first one is that of all.
    pub(super) groups: Vec<(String, Vec<u32>)>,
    /// Each collective of a group, in its order there: what its first rank says of it.
    pub(super) collectives: BTreeMap<(usize, u32), (Collective, u64, u32)>,
    pub(super) ranks: Vec<Rank>,
    pub(super) steps: usize,
    /// Nodes that wait for others only by `ctrl_deps`.
    pub(super) ordered: u64,
    /// Nodes of memory, and broadcasts.
    pub(super) memory: u64,
    pub(super) broadcasts: u64,
}

impl Trace {
    /// A trace of so many ranks. `file` is its name.
    ///
    /// # Errors
    /// A group with a rank that is not there, or that is there twice.
    pub fn new(file: &str, count: u32, groups: ProcessGroups) -> Result<Trace, ProgramError> {
        for (name, ranks) in &groups {
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
            let beyond = sorted.last().copied().filter(|last| *last >= count);
            if let Some(rank) = twice.or(beyond) {
                let problem = wrong(format!("process group `{name}` has rank {rank}"))
                    .expected(format!("ranks from 0 to {}, each once", count.saturating_sub(1)));
                return Err(ProgramError::new(file, Place::File, problem));
            }
        }
        let all = (String::new(), (0..count).collect());
        Ok(Trace {
            file: file.into(),
            count,
            groups: std::iter::once(all).chain(groups).collect(),
            collectives: BTreeMap::new(),
            ranks: vec![],
            steps: 0,
            ordered: 0,
            memory: 0,
            broadcasts: 0,
        })
    }

    fn notices(&self) -> Vec<Notice> {
        let mut taken = vec![];
        if self.ordered > 0 {
            taken.push(format!(
                "{} nodes that also wait for their `ctrl_deps`, which astra-sim's feeder leaves out",
                self.ordered
            ));
        }
        if self.memory > 0 {
            taken.push(format!(
                "{} nodes of memory that take their duration, on a stream of their own",
                self.memory
            ));
        }
        if self.broadcasts > 0 {
            taken.push(format!(
                "{} broadcasts from the first rank of their group, from rank to rank; astra-sim only waits for their duration",
                self.broadcasts
            ));
        }
        let notice = |taken: &String| READ_AS.notice(&[("file", &self.file), ("taken", taken)]);
        taken.iter().map(notice).collect()
    }

    /// The program of all ranks.
    ///
    /// # Errors
    /// As [`Program::new`]; nodes are named by their ids.
    pub fn finish(self) -> Result<Program, ProgramError> {
        assert_eq!(self.ranks.len(), self.count as usize, "a file for each rank");
        let notes = self.notices();
        Ok(Program::with_ids(&self.file, self.ranks)?.with_notes(notes))
    }
}
