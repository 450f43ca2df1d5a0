//! What applications of a testbed say to each other: echoes, measurements, files.
//!
//! Every message is a request; its first byte says of what kind. A file goes in chunks with their
//! offset, each of which is answered; then its name, length and SHA-256, answered when the file that
//! has arrived has the same.

use bytes::Bytes;
use incast_dataplane::endpoint::{Endpoint, Event, MessageId, Purpose, Received, SendError};
use incast_dataplane::{Clock, PacketIo};
use incast_experiment::Fault;
use incast_experiment::fault::expected;
use incast_transport::HostId;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An echo is wanted.
pub const ECHO: u8 = b'e';
/// The number of bytes is wanted.
pub const MEASURE: u8 = b'm';
/// A chunk: number of the transfer (8), offset (8), bytes.
const CHUNK: u8 = b'c';
/// The end of a file: number of the transfer (8), length (8), SHA-256 (32), name.
const END: u8 = b'd';
/// Bytes of a file in a message.
const CHUNK_BYTES: usize = 1 << 20;
/// Chunks under way at a time.
const CHUNKS_MOST: usize = 8;
/// Files that arrive at a time.
const FILES_MOST: usize = 16;
/// A file of which nothing has come for so long is given up when another one begins.
const SILENCE_MOST: Duration = Duration::from_secs(60);
/// The answer that all is well.
const DONE: &[u8] = b"ok";

/// Answers what comes.
pub struct Server {
    folder: PathBuf,
    files: HashMap<(HostId, u64), Arriving>,
}

/// A file of which not all is here.
struct Arriving {
    path: PathBuf,
    file: File,
    /// When its last chunk came.
    heard: Instant,
}

impl Server {
    /// Files go into `folder`.
    pub fn new(folder: &Path) -> Server {
        Server { folder: folder.into(), files: HashMap::new() }
    }

    /// Takes in a message and answers it. Returns what a person wants to know of it.
    pub fn take<I: PacketIo, C: Clock>(
        &mut self,
        endpoint: &mut Endpoint<I, C>,
        received: &Received,
    ) -> Option<String> {
        if !matches!(received.purpose, Purpose::Request(_)) {
            return None;
        }
        let from = received.from;
        let (answer, line) = match received.body.split_first() {
            Some((&ECHO, _)) => (received.body.clone(), None),
            Some((&MEASURE, rest)) => {
                (Bytes::copy_from_slice(&(rest.len() as u64).to_be_bytes()), None)
            }
            Some((&CHUNK, rest)) => match self.chunk(from, rest) {
                Ok(()) => (Bytes::from_static(DONE), None),
                Err(problem) => (problem.clone().into(), Some(problem)),
            },
            Some((&END, rest)) => match self.end(from, rest) {
                Ok(line) => (Bytes::from_static(DONE), Some(line)),
                Err(problem) => (problem.clone().into(), Some(problem)),
            },
            _ => ("a message of no known kind".into(), None),
        };
        match endpoint.reply(received, answer) {
            Ok(_) => line,
            // The requester hears nothing and says so.
            Err(error) => Some(format!("no answer to host {}: {error}", from.0)),
        }
    }

    fn chunk(&mut self, from: HostId, bytes: &[u8]) -> Result<(), String> {
        let (head, data) = bytes.split_first_chunk::<16>().ok_or("a chunk without head")?;
        let number = u64::from_be_bytes(head[..8].try_into().expect("eight bytes"));
        let offset = u64::from_be_bytes(head[8..].try_into().expect("eight bytes"));
        let key = (from, number);
        if !self.files.contains_key(&key) {
            self.forget_silent();
            if self.files.len() >= FILES_MOST {
                return Err(format!("{FILES_MOST} files are arriving already"));
            }
            let path = self.folder.join(format!(".incast-{}-{number:x}.part", from.0));
            // What a server that was killed has left there is of no use.
            let file =
                File::options().create(true).truncate(true).read(true).write(true).open(&path);
            let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
            self.files.insert(key, Arriving { path, file, heard: Instant::now() });
        }
        let Arriving { path, file, heard } = self.files.get_mut(&key).expect("just opened");
        *heard = Instant::now();
        let written = file.seek(SeekFrom::Start(offset)).and_then(|_| file.write_all(data));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Gives up files whose sender has died, as far as can be known.
    fn forget_silent(&mut self) {
        self.files.retain(|_, one| {
            let keeps = one.heard.elapsed() < SILENCE_MOST;
            if !keeps {
                // That it cannot be removed changes nothing.
                let _ = std::fs::remove_file(&one.path);
            }
            keeps
        });
    }

    fn end(&mut self, from: HostId, bytes: &[u8]) -> Result<String, String> {
        let (head, name) = bytes.split_first_chunk::<48>().ok_or("an end without head")?;
        let number = u64::from_be_bytes(head[..8].try_into().expect("eight bytes"));
        let length = u64::from_be_bytes(head[8..16].try_into().expect("eight bytes"));
        let name = std::str::from_utf8(name).map_err(|_| "a name that is no text")?;
        let plain = Path::new(name).file_name().is_some_and(|last| last == name);
        if !plain || name.starts_with('.') {
            return Err(format!("`{name}` is not a plain file name"));
        }
        let arriving = self.files.remove(&(from, number)).ok_or("no such transfer")?;
        let Arriving { path, mut file, .. } = arriving;
        let fail = |error: std::io::Error| format!("{}: {error}", path.display());
        let place = self.folder.join(name);
        let finished = (|| {
            let (arrived, digest) = digest(&mut file).map_err(fail)?;
            if arrived != length || digest[..] != head[16..] {
                return Err(format!("{name}: {arrived} of {length} bytes, or other bytes"));
            }
            if place.exists() {
                return Err(format!("{} is there already", place.display()));
            }
            std::fs::rename(&path, &place).map_err(fail)?;
            let hex = hex(&digest);
            Ok(format!("{}: {length} bytes of host {}, SHA-256 {hex}", place.display(), from.0))
        })();
        if finished.is_err() {
            // What has arrived is of no use; that it cannot be removed changes nothing.
            let _ = std::fs::remove_file(&path);
        }
        finished
    }
}

/// Length and SHA-256 of a file.
fn digest(file: &mut File) -> std::io::Result<(u64, [u8; 32])> {
    Ok(digest_until(file, &AtomicBool::new(false))?.expect("nothing stops it"))
}

/// The same; nothing if `stop` is set before the end.
fn digest_until(file: &mut File, stop: &AtomicBool) -> std::io::Result<Option<(u64, [u8; 32])>> {
    file.seek(SeekFrom::Start(0))?;
    let mut hash = Sha256::new();
    let mut length = 0;
    while !stop.load(Ordering::Relaxed) {
        let part = std::io::copy(&mut (&*file).take(8 * CHUNK_BYTES as u64), &mut hash)?;
        length += part;
        if part == 0 {
            return Ok(Some((length, hash.finalize().into())));
        }
    }
    Ok(None)
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file that is being sent.
pub struct Transfer {
    file: File,
    name: String,
    number: u64,
    length: u64,
    digest: [u8; 32],
    next: u64,
    open: HashSet<MessageId>,
    /// The end was sent.
    ended: bool,
}

impl Transfer {
    /// Reads a file's length and hash; nothing if `stop` is set before the end.
    pub fn open(path: &Path, stop: &AtomicBool) -> Result<Option<Transfer>, Fault> {
        let place = path.display().to_string();
        let fail = |error: std::io::Error| Fault::new(error).placed(&place);
        // A device or a pipe may have no end, and cannot be read twice.
        if !std::fs::metadata(path).map_err(fail)?.is_file() {
            return Err(Fault::new(expected("a regular file")).placed(&place));
        }
        let mut file = File::open(path).map_err(fail)?;
        let Some((length, digest)) = digest_until(&mut file, stop).map_err(fail)? else {
            return Ok(None);
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| Fault::new(expected("a file")).placed(&place))?;
        let number = u64::from_be_bytes(digest[..8].try_into().expect("eight bytes"));
        let (open, ended, next) = (HashSet::new(), false, 0);
        Ok(Some(Transfer { file, name, number, length, digest, next, open, ended }))
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Sends what may be sent now.
    pub fn fill<I: PacketIo, C: Clock>(
        &mut self,
        endpoint: &mut Endpoint<I, C>,
        to: HostId,
    ) -> Result<(), Fault> {
        let all = self.next >= self.length && self.next > 0;
        let message = if !all && self.open.len() < CHUNKS_MOST {
            self.chunk()?
        } else if all && self.open.is_empty() && !self.ended {
            let mut bytes = vec![END];
            bytes.extend_from_slice(&self.number.to_be_bytes());
            bytes.extend_from_slice(&self.length.to_be_bytes());
            bytes.extend_from_slice(&self.digest);
            bytes.extend_from_slice(self.name.as_bytes());
            bytes
        } else {
            return Ok(());
        };
        let advance = message.len() - 17;
        match endpoint.request(to, message.into()) {
            Ok(id) => {
                self.open.insert(id);
                match all {
                    true => self.ended = true,
                    // An empty file has one chunk, too.
                    false => self.next += (advance as u64).max(1),
                }
                Ok(())
            }
            Err(SendError::WouldBlock) => Ok(()),
            Err(error) => Err(Fault::new(error)),
        }
    }

    fn chunk(&mut self) -> Result<Vec<u8>, Fault> {
        let mut bytes = vec![CHUNK];
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.next.to_be_bytes());
        self.file.seek(SeekFrom::Start(self.next)).map_err(Fault::new)?;
        let mut part = (&self.file).take(CHUNK_BYTES as u64);
        part.read_to_end(&mut bytes).map_err(Fault::new)?;
        Ok(bytes)
    }

    /// Takes in what has happened. Returns the SHA-256 that both ends have, or what has gone wrong,
    /// when the transfer is over.
    pub fn take(&mut self, event: Event) -> Option<Result<String, String>> {
        match event {
            Event::Received(Received { purpose: Purpose::Reply(id), body, .. }) => {
                if !self.open.remove(&id) {
                    return None;
                }
                if body[..] != *DONE {
                    return Some(Err(String::from_utf8_lossy(&body).into_owned()));
                }
                (self.ended && self.open.is_empty()).then(|| Ok(hex(&self.digest)))
            }
            Event::Failed(_, why) => Some(Err(why.to_string())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_dataplane::{Mem, SharedClock, Testbed};
    use incast_fabric::{LinkDefaults, parse};
    use incast_transport::{Rate, Span};
    use incast_world::for_messages;
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::sync::Arc;

    /// Sends a file over two links with losses and returns what the sender and the server say.
    fn transfer(bytes: &[u8], into: &Path) -> (Result<String, String>, Vec<String>) {
        let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
        let links = LinkDefaults { rate, propagation, loss: 0.001 };
        let fabric = Arc::new(parse("star:2", links).unwrap());
        let ren = incast_protocols::find("ren").unwrap();
        let setup = || for_messages(&fabric, ren, &[]).unwrap();
        let wires = Rc::new(RefCell::new(Mem::new(&fabric, setup().framing)));
        let clocks = SharedClock::of(3);
        let mut client = Endpoint::new(wires.clone(), clocks[0].clone(), setup(), HostId(0));
        let mut host = Endpoint::new(wires.clone(), clocks[1].clone(), setup(), HostId(1));
        let mut switch = Testbed::part(setup(), wires.clone(), clocks[2].clone(), &[2]);
        let source = tempfile::tempdir().unwrap();
        let path = source.path().join("data.bin");
        std::fs::write(&path, bytes).unwrap();
        let mut transfer = Transfer::open(&path, &AtomicBool::new(false)).unwrap().unwrap();
        let (mut server, mut said) = (Server::new(into), vec![]);
        loop {
            transfer.fill(&mut client, HostId(1)).unwrap();
            switch.turn();
            if let Some(Event::Received(received)) = host.poll() {
                said.extend(server.take(&mut host, &received));
            }
            if let Some(outcome) = client.poll().and_then(|event| transfer.take(event)) {
                return (outcome, said);
            }
        }
    }

    #[test]
    fn what_has_no_end_is_refused_and_reading_can_be_stopped() {
        let stop = AtomicBool::new(false);
        let fault = Transfer::open(Path::new("/dev/zero"), &stop).err().expect("it is refused");
        assert_eq!(fault.to_string(), "/dev/zero: expected a regular file");
        let folder = tempfile::tempdir().unwrap();
        assert!(Transfer::open(folder.path(), &stop).is_err());
        let path = folder.path().join("data.bin");
        std::fs::write(&path, [7; 100]).unwrap();
        stop.store(true, Ordering::Relaxed);
        assert!(Transfer::open(&path, &stop).unwrap().is_none());
    }

    #[test]
    fn a_file_arrives_with_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        for length in [0, 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 12_345] {
            let bytes: Vec<u8> = (0..length).map(|at| (at * 31 + at / 257) as u8).collect();
            let (outcome, said) = transfer(&bytes, folder.path());
            let hash = outcome.unwrap();
            let arrived = folder.path().join("data.bin");
            assert!(std::fs::read(&arrived).unwrap() == bytes);
            assert!(said.len() == 1 && said[0].contains(&hash), "{said:?}");
            // A second file of that name is refused, and leaves nothing.
            let (outcome, _) = transfer(&bytes, folder.path());
            assert!(outcome.unwrap_err().contains("is there already"));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            std::fs::remove_file(&arrived).unwrap();
        }
        // Part of a file that a server had when it was killed is in nobody's way.
        let bytes = vec![7; 2_000];
        let number = u64::from_be_bytes(Sha256::digest(&bytes)[..8].try_into().unwrap());
        let part = folder.path().join(format!(".incast-0-{number:x}.part"));
        std::fs::write(&part, vec![1; 9_000]).unwrap();
        transfer(&bytes, folder.path()).0.unwrap();
        assert!(std::fs::read(folder.path().join("data.bin")).unwrap() == bytes && !part.exists());
    }
}
