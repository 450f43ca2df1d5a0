//! Puts rows on disk in groups, beside the work: to wait for the disk after each row takes longer than
//! a small point.
//!
//! While rows may be in memory only, a mark stands in the folder, locked by its process. A mark that
//! nobody has locked was left by a process that was killed, or by a loss of power: whoever opens the
//! folder next looks at every row, removes those that are not whole, and puts the others on disk.

use incast_experiment::Fault;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long rows wait for each other.
const PERIOD: Duration = Duration::from_secs(1);

/// From so many files on, everything that the file system has waiting is put on disk at once.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MANY: usize = 16;

/// What names of marks begin with.
const MARK: &str = "unsynced-";

/// Puts files on disk within about a second; waits for them when it is dropped.
#[derive(Debug)]
pub struct Syncer {
    /// Where marks are.
    marks: PathBuf,
    busy: Mutex<Option<Busy>>,
}

#[derive(Debug)]
struct Busy {
    files: Sender<PathBuf>,
    thread: JoinHandle<()>,
    failed: Arc<Mutex<Option<Fault>>>,
    _mark: Mark,
}

impl Syncer {
    /// Has nothing to do yet; marks stand in this folder.
    pub fn new(marks: PathBuf) -> Syncer {
        Syncer { marks, busy: Mutex::new(None) }
    }

    /// Writes a file with `write`, to be put on disk soon.
    ///
    /// # Errors
    /// Of `write`; of files that could not be put on disk since the last call: they are removed.
    pub fn write(
        &self,
        path: &Path,
        write: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut busy = self.lock();
        let own = match &mut *busy {
            Some(own) => own,
            none => none.insert(Busy::begin(&self.marks)?),
        };
        if let Some(fault) = taken(&own.failed) {
            return Err(fault);
        }
        write()?;
        own.files.send(path.into()).expect("the thread waits for files");
        Ok(())
    }

    /// Returns once all that was written is on disk.
    ///
    /// # Errors
    /// Of files that could not be put there: they are removed.
    pub fn wait(&self) -> Result<(), Fault> {
        let Some(Busy { files, thread, failed, _mark }) = self.lock().take() else { return Ok(()) };
        drop(files);
        thread.join().expect("the thread does not panic");
        taken(&failed).map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Busy>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        // Whoever needs to know has called `wait`.
        let _ = self.wait();
    }
}

fn taken(failed: &Mutex<Option<Fault>>) -> Option<Fault> {
    failed.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Busy {
    fn begin(marks: &Path) -> Result<Busy, Fault> {
        let mark = Mark::set(marks)
            .map_err(|error| Fault::new(error).placed(marks.display().to_string()))?;
        let (files, receiver) = channel();
        let failed = Arc::new(Mutex::new(None));
        let shared = failed.clone();
        let thread = std::thread::spawn(move || work(&receiver, &shared));
        Ok(Busy { files, thread, failed, _mark: mark })
    }
}

/// Puts what comes on disk, in groups, until no more can come.
fn work(files: &Receiver<PathBuf>, failed: &Mutex<Option<Fault>>) {
    while let Ok(first) = files.recv() {
        let (mut group, until) = (vec![first], Instant::now() + PERIOD);
        let rest = || until.saturating_duration_since(Instant::now());
        while let Ok(next) = files.recv_timeout(rest()) {
            group.push(next);
        }
        if let Err(fault) = sync(&group) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
        }
    }
}

/// Puts files on disk. One that cannot be put there is removed: its point is run again.
///
/// # Errors
/// What the system says of the last such file.
pub fn sync(files: &[PathBuf]) -> Result<(), Fault> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let [first, ..] = files
        && files.len() >= MANY
        && File::open(first).is_ok_and(|file| rustix::fs::syncfs(&file).is_ok())
    {
        return Ok(());
    }
    let mut result = Ok(());
    for path in files {
        let done = match File::open(path) {
            Ok(file) => file.sync_all(),
            // It has been removed since, to be run again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            let _ = std::fs::remove_file(path);
            let problem = format!("could not put on disk: {error}");
            result = Err(Fault::new(problem).placed(path.display().to_string()));
        }
    }
    result
}

/// Says that rows may be in memory only, until it is dropped.
#[derive(Debug)]
struct Mark {
    path: PathBuf,
    _file: File,
}

impl Mark {
    /// Sets a mark, on disk when this returns.
    fn set(folder: &Path) -> io::Result<Mark> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("{}-{}", std::process::id(), since.as_nanos());
        // Locked before it has the name that others look for.
        let (new, path) = (folder.join(&name), folder.join(format!("{MARK}{name}")));
        let file = File::create_new(&new)?;
        lock(&file);
        file.sync_all()?;
        std::fs::rename(&new, &path)?;
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
        Ok(Mark { path, _file: file })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Marks of processes that have ended without waiting for the disk.
pub fn left(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let marks = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(MARK));
    let free = |path: &PathBuf| File::open(path).is_ok_and(|file| lock(&file));
    marks.map(|entry| entry.path()).filter(free).collect()
}

/// Locks a file until it is closed. Where files cannot be locked each seems free: rows are looked at
/// once too often.
#[cfg(unix)]
fn lock(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    let locked = flock(file, FlockOperation::NonBlockingLockExclusive);
    locked != Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(unix))]
fn lock(_file: &File) -> bool {
    true
}
