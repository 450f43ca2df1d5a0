//! A results folder that is served: its files, and explanations of its flows.

use incast_experiment::fault::wrong;
use incast_experiment::{Fault, Monitor};
use incast_explain::{Results, Selection, console};
use incast_measure::Run;
use incast_measure::columns::{Cell, Row, TRACE};
use incast_measure::folder::MANIFEST;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Deeper folders are not listed: results have one level, figures another.
const LEVELS: usize = 3;
/// Most events that an explanation carries to the page.
const EVENTS_MOST: usize = 400_000;
/// Columns that the page draws.
const DRAWN: [&str; 11] = [
    "time_ps",
    "place",
    "event",
    "packet",
    "number",
    "bytes",
    "payload_bytes",
    "retransmission",
    "departed_ps",
    "queue_bytes",
    "why",
];

/// A results folder.
pub(super) struct Served {
    place: PathBuf,
    name: String,
    /// Its files when it was opened, relative to it, in order. They are asked for by number, so no path
    /// comes from outside.
    files: Vec<PathBuf>,
}

impl Served {
    /// Opens a folder with a manifest.
    ///
    /// # Errors
    /// It cannot be read, or has no manifest.
    pub fn open(place: &Path) -> Result<Served, Fault> {
        let at = place.display().to_string();
        let place = place.canonicalize().map_err(|error| Fault::new(error).placed(at.clone()))?;
        if !place.join(MANIFEST).is_file() {
            let problem = wrong("not a results folder")
                .expected("one that `incast run` or `incast compare` wrote, with a manifest.json");
            return Err(Fault::new(problem).placed(at));
        }
        let mut files = vec![];
        list(&place, Path::new(""), LEVELS, &mut files)
            .map_err(|error| Fault::new(error).placed(at))?;
        files.sort();
        let name = place.file_name().map_or("results".into(), |name| name.to_string_lossy().into());
        Ok(Served { place, name, files })
    }

    /// Its name and files, as the page reads them.
    pub fn listing(&self) -> Value {
        let one = |path: &PathBuf| {
            let bytes = fs::metadata(self.place.join(path)).map_or(0, |file| file.len());
            json!({ "path": path.to_string_lossy().replace('\\', "/"), "bytes": bytes })
        };
        json!({ "name": self.name, "files": self.files.iter().map(one).collect::<Vec<_>>() })
    }

    /// One of its files.
    pub fn file(&self, number: usize) -> Option<PathBuf> {
        self.files.get(number).map(|path| self.place.join(path))
    }

    /// Repeats a run with a trace of a flow and explains it.
    ///
    /// # Errors
    /// There is no such run or flow, or the run cannot be repeated.
    pub fn explain(&self, run: &str, flow: u32) -> Result<Value, Fault> {
        let results = Results::open(&self.place, Some(run))?;
        let flows = results.select(&Selection { flows: vec![flow], ..Selection::default() })?;
        let repeated = results.explain(&flows, None, &Monitor::default())?;
        let explanation = &repeated.explanations[0];
        let (trace, cut) = events(&repeated.run);
        Ok(json!({
            "text": console::text(explanation),
            "explanation": explanation,
            "trace": trace,
            "cut": cut,
        }))
    }
}

/// Adds the plain files of a folder; links are not followed.
fn list(
    root: &Path,
    within: &Path,
    levels: usize,
    files: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(within))? {
        let entry = entry?;
        let path = within.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && levels > 1 {
            list(root, &path, levels - 1, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The columns of a run's trace that the page draws, and whether events are missing.
fn events(run: &Run) -> (Value, bool) {
    let Some(trace) = &run.record.trace else { return (json!({}), false) };
    let rows = trace.events.len().min(EVENTS_MOST);
    let mut all = Map::new();
    for column in TRACE.columns.iter().filter(|column| DRAWN.contains(&column.name)) {
        let cell = |item: usize| -> Value {
            let row = Row::of(item, 0);
            match column.cell {
                Cell::Integer(get) => get(run, row).into(),
                Cell::Float(get) => get(run, row).into(),
                Cell::Text(get) => get(run, row).into(),
                Cell::Flag(get) => get(run, row).into(),
            }
        };
        all.insert(column.name.into(), (0..rows).map(cell).collect());
    }
    (all.into(), trace.cut_at.is_some() || rows < trace.events.len())
}
