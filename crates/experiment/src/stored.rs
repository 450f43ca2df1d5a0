//! A results folder that is read, on disk or in memory: its runs, their manifests, summaries and tables.

use crate::Fault;
use crate::fault::one_of;
use crate::fault::wrong;
use crate::manifest::{Recorded, Unread, UnreadFile, read_json};
use crate::scenario::Scenario;
use bytes::Bytes;
use incast_measure::folder::{MANIFEST, SUMMARY, table_file};
use incast_measure::{Manifest, Outline, StoredFlows, StoredTable, Summary};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files by path within their folder.
pub type Files = BTreeMap<String, Bytes>;

#[derive(Debug)]
enum Source {
    Disk(PathBuf),
    Memory(Files),
}

impl Source {
    /// A path as messages name it.
    fn name(&self, path: &str) -> String {
        match self {
            Source::Disk(folder) if path.is_empty() => folder.display().to_string(),
            Source::Disk(folder) => folder.join(path).display().to_string(),
            Source::Memory(_) => path.to_string(),
        }
    }

    fn has(&self, path: &str) -> bool {
        match self {
            Source::Disk(folder) => folder.join(path).is_file(),
            Source::Memory(files) => files.contains_key(path),
        }
    }

    fn missing(&self, path: &str) -> UnreadFile {
        let file = path.rsplit('/').next().unwrap_or(path);
        let problem = format!(
            "there is no {file}: the run ended before it was written, or only a part of the folder is here; \
             repeat the run with `incast run FOLDER`"
        );
        UnreadFile::new(Unread::Missing, &self.name(path), problem)
    }

    fn read(&self, path: &str) -> Result<Bytes, UnreadFile> {
        match self {
            Source::Disk(folder) => {
                std::fs::read(folder.join(path)).map(Bytes::from).map_err(|error| {
                    match error.kind() {
                        ErrorKind::NotFound => self.missing(path),
                        _ => UnreadFile::new(Unread::Damaged, &self.name(path), error),
                    }
                })
            }
            Source::Memory(files) => files.get(path).cloned().ok_or_else(|| self.missing(path)),
        }
    }
}

/// A results folder: of one run, or of several with a folder each.
pub struct StoredResults {
    /// What repeats the runs.
    pub recorded: Recorded,
    /// Its scenario.
    pub scenario: Scenario,
    /// A run per transport of the scenario; those that did not begin have no results.
    pub runs: Vec<StoredRun>,
    source: Arc<Source>,
}

/// One run of a results folder.
#[derive(Clone)]
pub struct StoredRun {
    /// Its transport.
    pub transport: String,
    /// Its folder within the results, empty if it is the only run.
    pub folder: String,
    /// Whether it ended regularly and all files are written.
    pub complete: bool,
    /// Of the program that wrote it.
    version: String,
    source: Arc<Source>,
}

impl StoredResults {
    /// Opens a results folder by its path, or by that of its manifest.
    ///
    /// # Errors
    /// It is none, its manifest is not whole, or its scenario is not one of this version.
    pub fn open(path: &Path) -> Result<StoredResults, Fault> {
        let Some(recorded) = Recorded::load(path)? else {
            let problem = wrong("not a results folder")
                .expected("one that `incast run` or `incast compare` wrote");
            return Err(Fault::new(problem).placed(path.display().to_string()));
        };
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        StoredResults::new(recorded, Source::Disk(folder.into())).map_err(Fault::from)
    }

    /// The same of files in memory.
    ///
    /// # Errors
    /// The same.
    pub fn of(files: Files) -> Result<StoredResults, UnreadFile> {
        let source = Source::Memory(files);
        let recorded = Recorded::parse(&source.read(MANIFEST)?, MANIFEST)?;
        StoredResults::new(recorded, source)
    }

    fn new(recorded: Recorded, source: Source) -> Result<StoredResults, UnreadFile> {
        let refused = |fault| UnreadFile { why: Unread::Refused, fault };
        let scenario = recorded.draft.scenario().map_err(refused)?;
        let source = Arc::new(source);
        let names = &scenario.transport.names;
        let run = |name: &String| {
            let folder = if names.len() > 1 { name.clone() } else { String::new() };
            let (transport, source) = (name.clone(), source.clone());
            let version = recorded.outline.version.clone();
            let mut run = StoredRun { transport, folder, complete: false, version, source };
            run.complete = run.has(MANIFEST) && run.json::<Outline>(MANIFEST)?.complete;
            Ok(run)
        };
        let runs = names.iter().map(run).collect::<Result<Vec<StoredRun>, UnreadFile>>()?;
        Ok(StoredResults { recorded, scenario, runs, source })
    }

    /// Its files, if it is in memory.
    pub fn files(&self) -> Option<&Files> {
        match &*self.source {
            Source::Disk(_) => None,
            Source::Memory(files) => Some(files),
        }
    }

    /// The path of the folder as messages name it.
    pub fn name(&self) -> String {
        self.source.name("")
    }

    /// The text of a file of the folder itself.
    ///
    /// # Errors
    /// It is not there.
    pub fn text(&self, file: &str) -> Result<String, UnreadFile> {
        Ok(String::from_utf8_lossy(&self.source.read(file)?).into_owned())
    }

    /// The run of a transport, or the only run.
    ///
    /// # Errors
    /// There is no such run, or there are several.
    pub fn run(&self, transport: Option<&str>) -> Result<&StoredRun, Fault> {
        let names: Vec<&str> = self.runs.iter().map(|run| run.transport.as_str()).collect();
        let (all, place) = (names.join(", "), self.name());
        match (transport, self.runs.as_slice()) {
            (Some(wanted), runs) => {
                runs.iter().find(|run| run.transport == wanted).ok_or_else(|| {
                    let known = one_of(wanted, names.iter().copied());
                    let problem = known.in_part(&format!("not in {place}"));
                    Fault::value("--transport", wanted, problem)
                })
            }
            (None, [only]) => Ok(only),
            (None, _) => Err(Fault::new(format!(
                "{place} has runs of several transports: choose one with --transport: {all}"
            ))),
        }
    }

    /// What to know of its runs: those that are missing, or did not come to their ends.
    pub fn notes(&self) -> Vec<String> {
        self.runs.iter().filter_map(StoredRun::note).collect()
    }
}

impl StoredRun {
    /// Whether the run was written: its summary comes after its tables, of which flows are in every run.
    pub fn has_results(&self) -> bool {
        self.has(SUMMARY) && self.has(&table_file("flows"))
    }

    /// What to know of a run without results, or that did not come to its end.
    pub fn note(&self) -> Option<String> {
        let name = &self.transport;
        match (self.has_results(), self.complete) {
            (true, true) => None,
            (true, false) => Some(format!(
                "the run of {name} is not complete (interrupted, cut short, or without a completed flow): its \
                 numbers are those until then; `incast run FOLDER` repeats it"
            )),
            (false, _) => Some(format!(
                "the run of {name} has no results: it was interrupted before; repeat it with `incast run FOLDER`"
            )),
        }
    }

    /// Where a file of the run is, as messages name it.
    pub fn place(&self, file: &str) -> String {
        self.source.name(&self.within(file))
    }

    /// Its folder as messages name it.
    pub fn name(&self) -> String {
        self.source.name(&self.folder)
    }

    fn within(&self, file: &str) -> String {
        if self.folder.is_empty() { file.to_string() } else { format!("{}/{file}", self.folder) }
    }

    /// The same if it is there.
    ///
    /// # Errors
    /// It is not.
    pub fn path(&self, file: &str) -> Result<String, UnreadFile> {
        if self.has(file) {
            Ok(self.place(file))
        } else {
            Err(self.source.missing(&self.within(file)))
        }
    }

    /// Whether the run has this file.
    pub fn has(&self, file: &str) -> bool {
        self.source.has(&self.within(file))
    }

    /// The bytes of a file of the run.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    pub fn read(&self, file: &str) -> Result<Bytes, UnreadFile> {
        self.source.read(&self.within(file))
    }

    fn json<T: DeserializeOwned>(&self, file: &str) -> Result<T, UnreadFile> {
        read_json(&self.read(file)?, &self.place(file), Some(&self.version))
    }

    /// Its manifest.
    ///
    /// # Errors
    /// It is missing, not whole, or of another version.
    pub fn manifest(&self) -> Result<Manifest, UnreadFile> {
        self.json(MANIFEST)
    }

    /// Its summary.
    ///
    /// # Errors
    /// It is missing, not whole, or of another version.
    pub fn summary(&self) -> Result<Summary, UnreadFile> {
        self.json(SUMMARY)
    }

    /// A table, such as `flows`.
    ///
    /// # Errors
    /// It is missing, or not whole.
    pub fn table(&self, name: &str) -> Result<StoredTable, UnreadFile> {
        let file = table_file(name);
        StoredTable::new(self.read(&file)?).map_err(|problem| self.damaged(&file, problem))
    }

    /// Its flows.
    ///
    /// # Errors
    /// They are missing, or not whole.
    pub fn flows(&self) -> Result<StoredFlows, UnreadFile> {
        let file = table_file("flows");
        StoredFlows::of(self.read(&file)?).map_err(|problem| self.damaged(&file, problem))
    }

    fn damaged(&self, file: &str, problem: String) -> UnreadFile {
        let advice =
            format!("{problem}; copy the folder again, or repeat the run with `incast run FOLDER`");
        UnreadFile::new(Unread::Damaged, &self.place(file), advice)
    }
}
