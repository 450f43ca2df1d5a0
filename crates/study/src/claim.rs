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
    let opened = File::options().create(true).truncate(false).write(true).open(path);
    let Ok(file) = opened else { return Claimed::Own(None) };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Claimed::Own(Some(Claim { path: path.into(), _file: file })),
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Claimed::Elsewhere,
        Err(_) => Claimed::Own(None),
    }
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
