//! A results folder whose files are written atomically.

use incast_units::Fault;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The manifest of a folder of results, of one run or of several: it is written last.
pub const MANIFEST: &str = "manifest.json";
/// One run in numbers, written after its tables.
pub const SUMMARY: &str = "summary.json";
/// The report of all runs of a folder.
pub const REPORT: &str = "report.html";

/// The file of a table, such as `flows`.
pub fn table_file(name: &str) -> String {
    format!("{name}.parquet")
}

/// Results could not be written. The message contains the path and the system error.
#[derive(Debug)]
pub enum FolderError {
    /// The folder exists already.
    Exists {
        /// Which.
        path: PathBuf,
    },
    /// The folder to be replaced has no `manifest.json`.
    NotResults {
        /// Which.
        path: PathBuf,
    },
    /// A system call failed.
    Io {
        /// What was attempted, such as `create` or `write`.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
}

impl From<FolderError> for Fault {
    fn from(error: FolderError) -> Fault {
        match error {
            FolderError::Io { .. } => Fault::unwritten(error),
            _ => Fault::new(error),
        }
    }
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FolderError::Exists { path } => write!(
                f,
                "{} exists already; choose another --out, or replace it with --force",
                path.display()
            ),
            FolderError::NotResults { path } => write!(
                f,
                "{} is not a results folder (it has no manifest.json), so --force does not \
                 replace it; choose another --out",
                path.display()
            ),
            FolderError::Io { action, path, source } => {
                write!(f, "could not {action} {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for FolderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FolderError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// An I/O result with the attempted action and the path added to its error.
pub(crate) fn at<T>(
    action: &'static str,
    path: &Path,
    result: io::Result<T>,
) -> Result<T, FolderError> {
    result.map_err(|source| FolderError::Io { action, path: path.to_path_buf(), source })
}

/// Writes a file through `write` into a temporary neighbour and renames it: a reader sees the old
/// file or the complete new one. On an error the old file stays and no temporary file is left.
pub(crate) fn write_through(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> io::Result<()>,
) -> Result<(), FolderError> {
    replace(path, |file| {
        write(file)?;
        file.sync_all()
    })
}

fn replace(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> io::Result<()>,
) -> Result<(), FolderError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".incast-");
    #[cfg(unix)]
    {
        // Temporary files are private by default; results are as readable as any other file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut temporary = at("write", path, builder.tempfile_in(folder))?;
    at("write", path, write(temporary.as_file_mut()))?;
    at("write", path, temporary.persist(path).map(drop).map_err(|error| error.error))
}

/// Writes a file atomically: a reader sees the old one or the new one, never a part.
pub fn write_atomic(path: &Path, content: &[u8]) -> Result<(), FolderError> {
    write_through(path, |file| io::Write::write_all(file, content))
}

/// The same without waiting for the disk: a reader sees the old file or the new one, and so does one
/// after the end of this process; after a loss of power the file may be empty. For many small files
/// whose writer has them put on disk together.
pub fn write_atomic_unsynced(path: &Path, content: &[u8]) -> Result<(), FolderError> {
    replace(path, |file| io::Write::write_all(file, content))
}

/// A folder for the results of one run or one set of runs.
///
/// A new folder is filled in place, so that whatever ends a run early leaves what was written
/// until then (write a manifest that says `"complete": false` first, see
/// [`write_manifest`](crate::write_manifest)). A folder to be replaced stays untouched until
/// [`finish`](ResultsFolder::finish): the new results grow in `<name>.new` beside it.
#[derive(Debug)]
pub struct ResultsFolder {
    place: PathBuf,
    work: PathBuf,
}

impl ResultsFolder {
    /// Makes a folder. Without `out` it is `<base>/<number>-<label>` with the next free number,
    /// at least four digits; characters of `label` other than letters, digits, `.`, `_` and `-`
    /// become `-`. An existing `out` is refused unless it is an empty folder, or `force` is given
    /// and it holds a `manifest.json`.
    pub fn create(
        out: Option<&Path>,
        force: bool,
        base: &Path,
        label: &str,
    ) -> Result<ResultsFolder, FolderError> {
        let Some(out) = out else {
            let place = numbered(base, &clean(label))?;
            return Ok(ResultsFolder { work: place.clone(), place });
        };
        let place = out.to_path_buf();
        if is_empty_folder(out) {
            return Ok(ResultsFolder { work: place.clone(), place });
        }
        if std::fs::symlink_metadata(out).is_err() {
            at("create", out, std::fs::create_dir_all(out))?;
            return Ok(ResultsFolder { work: place.clone(), place });
        }
        if !force {
            return Err(FolderError::Exists { path: place });
        }
        // Replacing deletes; a slip such as `--out ~ --force` must not.
        if !out.join(MANIFEST).is_file() {
            return Err(FolderError::NotResults { path: place });
        }
        let work = beside(&at("find", out, out.canonicalize())?, "new");
        remove(&work)?;
        at("create", &work, std::fs::create_dir(&work))?;
        Ok(ResultsFolder { place, work })
    }

    /// Where to write: the folder itself, or its future replacement.
    pub fn path(&self) -> &Path {
        &self.work
    }

    /// Where the results will be after [`finish`](ResultsFolder::finish).
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Writes one file of the folder at once.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FolderError> {
        write_atomic(&self.work.join(name), content)
    }

    /// Makes a folder inside, if it is not there yet, and returns its path.
    pub fn subfolder(&self, name: &str) -> Result<PathBuf, FolderError> {
        let path = self.work.join(name);
        at("create", &path, std::fs::create_dir_all(&path))?;
        Ok(path)
    }

    /// Puts the results in their place and returns it. Only now are replaced results deleted. Call
    /// it for an interrupted run too: its manifest says that it is not complete.
    pub fn finish(self) -> Result<PathBuf, FolderError> {
        if self.work == self.place {
            return Ok(self.place);
        }
        let place = at("find", &self.place, self.place.canonicalize())?;
        let old = beside(&place, "old");
        remove(&old)?;
        at("replace", &place, std::fs::rename(&place, &old))?;
        if let Err(source) = std::fs::rename(&self.work, &place) {
            // Put the earlier results back; the new ones stay beside them.
            let _ = std::fs::rename(&old, &place);
            return Err(FolderError::Io { action: "replace", path: place, source });
        }
        remove(&old)?;
        Ok(self.place)
    }
}

fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

fn remove(path: &Path) -> Result<(), FolderError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => at("remove", path, result),
    }
}

/// The next free numbered folder; another process may take a number meanwhile.
fn numbered(base: &Path, label: &str) -> Result<PathBuf, FolderError> {
    at("create", base, std::fs::create_dir_all(base))?;
    let mut last = 0;
    for entry in at("read", base, std::fs::read_dir(base))? {
        let name = at("read", base, entry)?.file_name();
        let name = name.to_string_lossy();
        let digits = name.split('-').next().unwrap_or_default();
        last = last.max(digits.parse::<u32>().unwrap_or(0));
    }
    loop {
        last = last.saturating_add(1);
        let name =
            if label.is_empty() { format!("{last:04}") } else { format!("{last:04}-{label}") };
        let path = base.join(name);
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && last < u32::MAX => {}
            result => return at("create", &path, result).map(|()| path),
        }
    }
}

/// A label as part of a file name: at most 60 characters.
fn clean(label: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = label.chars().take(60).map(|c| if keep(c) { c } else { '-' }).collect();
    name.trim_matches('-').to_string()
}
