//! Which process runs a point, if several share a store. A claim is a lock on a file: it ends with
//! the process, whatever ends that.

use std::fs::File;
use std::path::{Path, PathBuf};

/// A point claimed by this process until the claim is dropped.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    _file: File,
}

/// Whether a point is this process's to run.
pub enum Claimed {
    /// It is.
    Own(Option<Claim>),
    /// Another process has it.
    Elsewhere,
}

/// Claims a point by a file. Where files cannot be locked every point is one's own: two processes
/// may then run the same point, and write the same row.
#[cfg(unix)]
pub fn claim(path: &Path) -> Claimed {
    use rustix::fs::{FlockOperation, flock};
    loop {
        let opened = File::options().create(true).truncate(false).write(true).open(path);
        let Ok(file) = opened else { return Claimed::Own(None) };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Whoever had it before may have removed this file after it was opened here.
            Ok(()) if is_at(&file, path) => {
                return Claimed::Own(Some(Claim { path: path.into(), _file: file }));
            }
            Ok(()) => {}
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => return Claimed::Elsewhere,
            Err(_) => return Claimed::Own(None),
        }
    }
}

/// Whether a file that is open is still the one of this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let one = |found: std::io::Result<std::fs::Metadata>| found.ok().map(|m| (m.dev(), m.ino()));
    let own = one(file.metadata());
    own.is_some() && own == one(std::fs::metadata(path))
}

/// Files are not locked on this system.
#[cfg(not(unix))]
pub fn claim(_path: &Path) -> Claimed {
    Claimed::Own(None)
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The row is there, or the point is free again: whoever has opened this file meanwhile looks
        // for the row after it has the lock.
        let _ = std::fs::remove_file(&self.path);
    }
}
