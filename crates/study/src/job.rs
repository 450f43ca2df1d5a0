//! What a driver drives: tasks that give rows, and where the rows are kept.

use crate::claim::Claimed;
use incast_experiment::{Fault, Monitor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A unit of work, which runs alike here and in a worker that has nothing but its bytes.
pub trait Task: Send + Sync + Sized + 'static {
    /// What it gives, good or failed.
    type Row: Gained;

    /// Hash of all that decides its row; the name of the row.
    fn hash(&self) -> &str;

    /// What it resembles, for the forecast: its series, and the combination of values that it shares
    /// with other series.
    fn kind(&self) -> (usize, usize);

    /// What it is called in messages.
    fn name(&self) -> String;

    /// Bytes of memory that it takes at most, about.
    fn memory(&self) -> u64;

    /// All that a worker needs to know.
    fn to_bytes(&self) -> Vec<u8>;

    /// Runs it in so many threads; with a folder, the files of the run are written there. None if
    /// `monitor` interrupted it. What goes wrong, a panic included, is a row with its error
    /// ([`guarded`](crate::guarded)).
    fn run(&self, threads: usize, monitor: &Monitor, folder: Option<&Path>) -> Option<Self::Row>;
}

/// What a task gave.
pub trait Gained: Serialize + DeserializeOwned + Send + 'static {
    /// Hash of the task.
    fn hash(&self) -> &str;

    /// Why the task failed; a row with an error has no numbers.
    fn error(&self) -> Option<&str>;

    /// Flows that the run completed.
    fn flows(&self) -> u64;

    /// Wall-clock time that the run took, without waiting for its turn, if it is known.
    fn took(&self) -> Option<Duration> {
        None
    }
}

/// Where the rows of some tasks are kept, and which tasks they call for.
pub trait Job: Send + Sync {
    /// The tasks.
    type Task: Task;

    /// Hashes of all rows that are kept.
    ///
    /// # Errors
    /// What the system says.
    fn kept(&self) -> Result<BTreeSet<String>, Fault>;

    /// Hashes of kept rows with an error, as far as this is known without reading them: these are read
    /// in any case, so that whoever continues a study hears of them.
    ///
    /// # Errors
    /// What the system says.
    fn failed(&self) -> Result<BTreeSet<String>, Fault> {
        Ok(BTreeSet::new())
    }

    /// Whether the job is told of rows that are kept already: what they say is needed.
    fn reads(&self) -> bool;

    /// The row of a task, if it is kept.
    ///
    /// # Errors
    /// What cannot be read or is no row.
    fn row(&self, task: &Self::Task) -> Result<Option<RowOf<Self>>, Fault>;

    /// Keeps a row: every reader sees all of it when this returns.
    ///
    /// # Errors
    /// What the system says, such as that the disk is full; then nothing has changed.
    fn keep(&self, task: &Self::Task, row: &RowOf<Self>) -> Result<(), Fault>;

    /// Removes a row, so that its task is run again.
    fn remove(&self, task: &Self::Task);

    /// Claims a task for this process.
    fn claim(&self, task: &Self::Task) -> Claimed;

    /// Where the files of a run are written, if that is wanted.
    fn folder(&self, _task: &Self::Task) -> Option<PathBuf> {
        None
    }

    /// Takes note of a row.
    fn note(&mut self, _task: &Self::Task, _row: &RowOf<Self>) {}

    /// Tasks that the rows so far call for.
    ///
    /// # Errors
    /// A task that cannot be made.
    fn more(&mut self) -> Result<Vec<Arc<Self::Task>>, Fault> {
        Ok(vec![])
    }

    /// Gathers what is kept; `changed` if rows have been added.
    ///
    /// # Errors
    /// What cannot be read or written.
    fn gather(&self, _changed: bool) -> Result<(), Fault> {
        Ok(())
    }
}

/// The rows of a job.
pub type RowOf<J> = <<J as Job>::Task as Task>::Row;
