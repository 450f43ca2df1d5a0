//! The pages of runs: one for all transports and seeds of a run, once the last of them is there.

use incast_experiment::Fault;
use incast_measure::Run;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Pages by their paths.
#[derive(Default)]
pub struct Reports(Mutex<BTreeMap<PathBuf, Page>>);

#[derive(Default)]
struct Page {
    title: String,
    awaited: usize,
    runs: BTreeMap<usize, Run>,
}

impl Reports {
    /// One more run belongs to a page; returns its place there.
    pub fn await_one(&self, path: &Path, title: &str) -> usize {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let page = pages.entry(path.into()).or_default();
        page.title = title.into();
        page.awaited += 1;
        page.awaited - 1
    }

    /// Adds a run; the last one makes the page.
    ///
    /// # Errors
    /// A page that cannot be written.
    pub fn add(&self, path: &Path, place: usize, run: Run) -> Result<(), Fault> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(page) = pages.get_mut(path) else { return Ok(()) };
        page.runs.insert(place, run);
        if page.runs.len() < page.awaited {
            return Ok(());
        }
        let page = pages.remove(path).expect("found above");
        drop(pages);
        page.write(path)
    }

    /// Makes the pages of which some runs are missing: they failed, or were not made.
    ///
    /// # Errors
    /// A page that cannot be written.
    pub fn close(&self) -> Result<(), Fault> {
        let pages = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let begun = pages.into_iter().filter(|(_, page)| !page.runs.is_empty());
        begun.into_iter().try_for_each(|(path, page)| page.write(&path))
    }
}

impl Page {
    fn write(self, path: &Path) -> Result<(), Fault> {
        let runs: Vec<Run> = self.runs.into_values().collect();
        Ok(incast_measure::report_html(path, &self.title, &runs)?)
    }
}
