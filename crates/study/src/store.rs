//! A study's folder: one small file per row, written at once and never changed.
//!
//! * `rows/<hash>.json`: a row. It appears by renaming a complete file, so that a reader sees all
//!   of it or nothing, and processes on several machines may share the folder. Rows are put on disk
//!   within about a second, in groups; those that a loss of power has torn are found by the next
//!   process that opens the folder, removed, and run again.
//! * `failed/<hash>`: the row has an error. Empty; it is written before the row, and means nothing
//!   without it.
//! * `claims/<hash>`: locked while some process runs the point. `claims/unsynced-*`: locked while a
//!   process has rows that may not be on disk.
//! * `study.toml`, `inputs/`: the study and copies of its input files.
//! * `store.json`: what the folder is.

use crate::claim::{Claimed, claim};
use crate::differing::differing;
use crate::row::Row;
use crate::study::{LABEL, Study};
use crate::syncer::{self, Syncer};
use incast_experiment::fault::wrong;
use incast_experiment::scenario::Node;
use incast_experiment::{Fault, VERSION, VERSIONS};
use incast_measure::{write_atomic, write_atomic_unsynced};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Layout of folders that this program writes.
const FORMAT: u32 = 1;

/// Unfinished files of a process that was killed are removed once they are this old.
const STALE: Duration = Duration::from_secs(3600);

/// What a folder is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Label {
    /// Layout.
    format: u32,
    /// Version of the program.
    pub incast: String,
    /// Version of the engine's results.
    pub engine: u32,
    /// Name of the study.
    study: String,
    /// What all studies that continue it have in common.
    family: Node,
}

impl Label {
    fn of(study: &Study) -> Label {
        Label {
            format: FORMAT,
            incast: VERSION.into(),
            engine: VERSIONS.engine,
            study: study.name().into(),
            family: study.family(),
        }
    }

    /// Keys in which the families of two differ; none if they are of one family.
    pub fn differs(&self, other: &Label) -> Option<String> {
        let family = |label: &Label| serde_json::to_value(&label.family).expect("plain data");
        let (own, other) = (family(self), family(other));
        let keys = differing(&own, &other, "");
        let all = || if keys.is_empty() { "what they vary".into() } else { keys.join(", ") };
        (own != other).then(all)
    }
}

/// A study's folder.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    syncer: Arc<Syncer>,
}

impl Store {
    /// The folder of a study: a new one, or one that holds rows of this study or of an earlier state
    /// of its file. Writes `study.toml` and copies of input files.
    ///
    /// # Errors
    /// A folder of another study or of another version, or of something else; what the system says.
    pub fn open(dir: &Path, study: &Study) -> Result<Store, Fault> {
        let store = Store::at(dir);
        let label = Label::of(study);
        match store.label()? {
            Some(found) => store.check(&found, &label, study)?,
            None if has_others(dir) => {
                let problem =
                    wrong("not the folder of a study, and not empty").expected("another --out");
                return Err(Fault::new(problem).placed(dir.display().to_string()));
            }
            None => {}
        }
        for folder in ["rows", "failed", "claims"] {
            make(&dir.join(folder))?;
        }
        store.tidy();
        store.repair()?;
        let mut files = BTreeMap::new();
        for (at, input) in study.inputs().enumerate() {
            let base = Path::new(input.name)
                .file_name()
                .map_or("input".into(), |name| name.to_string_lossy());
            let copy = format!("inputs/{at}-{base}");
            make(&dir.join("inputs"))?;
            write(&dir.join(&copy), &input.content.bytes)?;
            files.insert(input.name.to_string(), copy);
        }
        write(&dir.join("study.toml"), study.resolved(&files).as_bytes())?;
        let text = serde_json::to_string_pretty(&label).expect("plain data becomes JSON") + "\n";
        write(&dir.join(LABEL), text.as_bytes())?;
        Ok(store)
    }

    fn at(dir: &Path) -> Store {
        Store { dir: dir.into(), syncer: Arc::new(Syncer::new(dir.join("claims"))) }
    }

    /// The folder of a study, if it is there; nothing is written.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn existing(dir: &Path, study: &Study) -> Result<Option<Store>, Fault> {
        let store = Store::at(dir);
        let Some(found) = store.label()? else { return Ok(None) };
        store.check(&found, &Label::of(study), study)?;
        Ok(Some(store))
    }

    /// An existing folder of a study.
    ///
    /// # Errors
    /// A folder of something else, or of another layout.
    pub fn read(dir: &Path) -> Result<Store, Fault> {
        Ok(Store::labelled(dir)?.0)
    }

    /// The same with what the folder says of itself.
    pub(crate) fn labelled(dir: &Path) -> Result<(Store, Label), Fault> {
        let store = Store::at(dir);
        match store.label()? {
            Some(label) if label.format == FORMAT => Ok((store, label)),
            Some(label) => Err(store.other_layout(&label)),
            None => {
                let problem = "not the folder of a study: it has no store.json";
                Err(Fault::new(problem).placed(dir.display().to_string()))
            }
        }
    }

    /// The study that the folder is of, from its `study.toml`.
    ///
    /// # Errors
    /// As [`Study::load`].
    pub fn study(&self) -> Result<Study, Fault> {
        Study::load_up_to(&self.dir.join("study.toml"), &[], usize::MAX)
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn label(&self) -> Result<Option<Label>, Fault> {
        let path = self.dir.join(LABEL);
        let place = path.display().to_string();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Fault::new(error).placed(place)),
        };
        let label = serde_json::from_str(&text);
        label
            .map(Some)
            .map_err(|error| Fault::new(format!("not of a study: {error}")).placed(place))
    }

    fn other_layout(&self, found: &Label) -> Fault {
        let problem = wrong(format!(
            "a study that incast {} has kept in layout {}; this is {VERSION}, with layout {FORMAT}",
            found.incast, found.format
        ));
        let fault = Fault::new(problem.expected("another --out, or that version"));
        fault.placed(self.dir.display().to_string())
    }

    /// Refuses a folder whose rows cannot be this study's.
    fn check(&self, found: &Label, own: &Label, study: &Study) -> Result<(), Fault> {
        let place = self.dir.display().to_string();
        if found.format != own.format {
            return Err(self.other_layout(found));
        }
        if found.engine != own.engine {
            let problem = wrong(format!(
                "its rows are results of version {} (incast {}), and this program has version {}: \
                 they cannot stand in one table",
                found.engine, found.incast, own.engine
            ))
            .expected("another --out, or to remove the folder");
            return Err(Fault::new(problem).placed(place));
        }
        if found.family == own.family {
            return Ok(());
        }
        let rows = self.hashes()?;
        if rows.is_empty() || study.points().iter().any(|point| rows.contains(&point.hash)) {
            return Ok(());
        }
        let keys = found.differs(own).unwrap_or_default();
        let problem = wrong(format!(
            "the folder of another study, `{}`, which has {} rows and no point in common with `{}`: \
             they differ in {keys}",
            found.study,
            rows.len(),
            own.study
        ))
        .expected("another --out, or to remove the folder");
        Err(Fault::new(problem).placed(place))
    }

    /// Removes what a killed process has left unfinished.
    fn tidy(&self) {
        let folders = [self.dir.clone(), self.dir.join("rows"), self.dir.join("inputs")];
        let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        for entry in entries.flatten() {
            let unfinished = entry.file_name().to_string_lossy().starts_with(".incast-");
            let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
            if unfinished && age().is_some_and(|age| age > STALE) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// If a process has ended without putting its rows on disk: removes those that are not whole, so
    /// that their points are run again, and puts the others on disk.
    fn repair(&self) -> Result<(), Fault> {
        let marks = syncer::left(&self.dir.join("claims"));
        if marks.is_empty() {
            return Ok(());
        }
        let mut whole = vec![];
        for hash in self.hashes()? {
            let path = self.place(&hash);
            // No part of a row is a row, nor is one with a hole.
            match self.row(&hash) {
                Ok(Some(row)) if row.hash == hash => {
                    self.mark(&row)?;
                    whole.push(path);
                }
                _ => self.remove(&hash),
            }
        }
        syncer::sync(&whole)?;
        marks.iter().for_each(|mark| drop(std::fs::remove_file(mark)));
        Ok(())
    }

    fn place(&self, hash: &str) -> PathBuf {
        self.dir.join("rows").join(format!("{hash}.json"))
    }

    /// Whether there is a row.
    pub fn has(&self, hash: &str) -> bool {
        self.place(hash).is_file()
    }

    /// The hashes of all rows.
    ///
    /// # Errors
    /// What the system says.
    pub fn hashes(&self) -> Result<BTreeSet<String>, Fault> {
        listed(&self.dir.join("rows"), ".json")
    }

    /// The hashes of rows with an error. One whose row has been replaced or removed may be among them.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn failed(&self) -> Result<BTreeSet<String>, Fault> {
        listed(&self.dir.join("failed"), "")
    }

    /// Makes a row with an error known as such.
    fn mark(&self, row: &Row) -> Result<(), Fault> {
        match row.error {
            Some(_) => write(&self.dir.join("failed").join(&row.hash), b""),
            None => Ok(()),
        }
    }

    /// Keeps a row: every reader sees it when this returns, and it is on disk within about a second,
    /// after [`Store::sync`], or when the store is dropped. A row that is there already is replaced by
    /// its like.
    ///
    /// # Errors
    /// What the system says, such as that the disk is full; then nothing has changed, or it says so of
    /// an earlier row, which is removed.
    pub fn add(&self, row: &Row) -> Result<(), Fault> {
        self.mark(row)?;
        let path = self.place(&row.hash);
        self.syncer.write(&path, || Ok(write_atomic_unsynced(&path, &row.to_bytes())?))
    }

    /// Returns once every row that was added is on disk.
    ///
    /// # Errors
    /// What the system says of rows that could not be put there; they are removed.
    pub fn sync(&self) -> Result<(), Fault> {
        self.syncer.wait()
    }

    /// Removes a row, so that its point is run again.
    pub(crate) fn remove(&self, hash: &str) {
        let _ = std::fs::remove_file(self.place(hash));
        let _ = std::fs::remove_file(self.dir.join("failed").join(hash));
    }

    /// A row, if it is there.
    ///
    /// # Errors
    /// A file that cannot be read or is no row.
    pub fn row(&self, hash: &str) -> Result<Option<Row>, Fault> {
        let path = self.place(hash);
        let placed = |fault: Fault| fault.placed(path.display().to_string());
        match std::fs::read(&path) {
            Ok(bytes) => Row::from_bytes(&bytes).map(Some).map_err(|fault| {
                placed(fault.noted("remove it, and the next `incast study` runs its point again"))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(placed(Fault::new(error))),
        }
    }

    /// Every row by its hash.
    ///
    /// # Errors
    /// As [`Store::row`].
    pub fn rows(&self) -> Result<BTreeMap<String, Row>, Fault> {
        let mut all = BTreeMap::new();
        for hash in self.hashes()? {
            if let Some(row) = self.row(&hash)? {
                all.insert(hash, row);
            }
        }
        Ok(all)
    }

    /// Claims a point for this process.
    pub(crate) fn claim(&self, hash: &str) -> Claimed {
        claim(&self.dir.join("claims").join(hash))
    }

    /// Where the report of a run is written, if that is wanted.
    pub(crate) fn report(&self, hash: &str) -> PathBuf {
        self.dir.join("reports").join(hash)
    }
}

/// Names in a folder, without what they end with; others are passed over. None without the folder.
fn listed(folder: &Path, end: &str) -> Result<BTreeSet<String>, Fault> {
    let placed = |error: std::io::Error| Fault::new(error).placed(folder.display().to_string());
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.map_err(placed)?,
    };
    let mut all = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(placed)?.file_name();
        all.extend(name.to_string_lossy().strip_suffix(end).map(String::from));
    }
    Ok(all)
}

/// Whether a folder has something that no study has put there. A study that was killed early, or
/// that another process begins right now, has no label yet.
fn has_others(dir: &Path) -> bool {
    const OWN: [&str; 6] = ["rows", "failed", "claims", "inputs", "study.toml", LABEL];
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| {
        let name = name.to_string_lossy();
        !OWN.contains(&&*name) && !name.starts_with(".incast-")
    })
}

fn make(folder: &Path) -> Result<(), Fault> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Fault::unwritten(format!("could not create: {error}")).placed(folder.display().to_string())
    })
}

/// Writes a file unless it has this content.
fn write(path: &Path, content: &[u8]) -> Result<(), Fault> {
    if std::fs::read(path).is_ok_and(|own| own == content) {
        return Ok(());
    }
    Ok(write_atomic(path, content)?)
}
