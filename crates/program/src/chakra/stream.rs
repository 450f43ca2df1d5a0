//! The messages of a file, one after the other: a varint with its length before each. Plain, or packed by gzip.

use flate2::read::MultiGzDecoder;
use prost::Message;
use std::io::{self, BufRead, BufReader, Read};

/// Largest message: a node has a few hundred bytes.
const MOST_BYTES: u64 = 1 << 26;

/// A file whose messages are read when they are asked for, so that one at a time is in memory.
pub(super) struct Stream<R> {
    source: Source<R>,
    bytes: Vec<u8>,
}

enum Source<R> {
    Plain(BufReader<R>),
    Packed(Box<BufReader<MultiGzDecoder<BufReader<R>>>>),
}

impl<R: Read> Stream<R> {
    pub fn new(source: R) -> Result<Stream<R>, String> {
        let mut plain = BufReader::new(source);
        let packed = plain.fill_buf().map_err(unread)?.starts_with(&[0x1f, 0x8b]);
        let source = match packed {
            true => Source::Packed(Box::new(BufReader::new(MultiGzDecoder::new(plain)))),
            false => Source::Plain(plain),
        };
        Ok(Stream { source, bytes: vec![] })
    }

    fn source(&mut self) -> &mut dyn BufRead {
        match &mut self.source {
            Source::Plain(source) => source,
            Source::Packed(source) => source,
        }
    }

    /// The next message; none at the end of the file.
    pub fn next<M: Message + Default>(&mut self) -> Result<Option<M>, String> {
        let Some(length) = self.length()? else { return Ok(None) };
        if length > MOST_BYTES {
            return Err(format!("has {length} bytes: expected at most {MOST_BYTES}"));
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let read = self.source().take(length).read_to_end(&mut bytes).map_err(unread)?;
        if (read as u64) < length {
            return Err(format!("has {length} bytes, of which the file has {read}: it is cut off"));
        }
        let message =
            M::decode(bytes.as_slice()).map_err(|error| format!("is damaged: {error}"))?;
        self.bytes = bytes;
        Ok(Some(message))
    }

    fn length(&mut self) -> Result<Option<u64>, String> {
        let mut length = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            if self.source().read(&mut byte).map_err(unread)? == 0 {
                return match shift {
                    0 => Ok(None),
                    _ => Err("has no length: the file is cut off".into()),
                };
            }
            length |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(Some(length));
            }
        }
        Err("has a length of more than ten bytes: expected a varint".into())
    }
}

fn unread(error: io::Error) -> String {
    format!("could not be read: {error}")
}
