//! GOAL, the format of LogGOPSim and of its descendants: as text, and as a binary file of it.
//!
//! Text: `num_ranks N`, then for each rank in order `rank R {`, a line for each item, and `}`. Items are
//! `[label:] send <n>b to <rank> [tag T] [cpu C] [nic N]`, `recv <n>b from <rank> ...` (rank -1: any, tag -1: any),
//! `calc <ns> [cpu C]`, `a requires b` (a after the end of b) and `a irequires b` (a after its start). Comments are
//! `// ...` and `/* ... */`.

mod binary;
mod text;
mod write;

pub use binary::Binary;
pub use write::{write_binary, write_text};

use crate::error::{Place, ProgramError};
use crate::graph::Program;
use std::io::Cursor;

/// How a binary file begins.
const COOKIE: u64 = 4_223;
/// How one begins that somebody is writing.
const COOKIE_IN_USE: u64 = 2_342;
/// Bytes of a node in a binary file.
const NODE: usize = 39;
/// Bytes of a binary file before its table of ranks, the cookie not counted; of each rank's entry there.
const HEAD: u64 = 6;
const ENTRY: u64 = 16;

/// Reads a program from the bytes of a GOAL file, of either kind. `file` is its name in errors.
///
/// # Errors
/// What is wrong in the file, with its line or its rank and node.
pub fn read_goal(file: &str, bytes: &[u8]) -> Result<Program, ProgramError> {
    // Text has no zero bytes; a cookie, of whatever kind, has six.
    if bytes.get(..8).is_some_and(|head| head.contains(&0)) {
        return Binary::open(file, Cursor::new(bytes))?.read();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text::read(file, text),
        Err(error) => {
            let lines = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
            let problem = format!(
                "the byte 0x{:02x} is neither text nor a binary GOAL file, which begins with {COOKIE}",
                bytes[error.valid_up_to()]
            );
            Err(ProgramError::new(file, Place::Line(lines as u32 + 1), problem))
        }
    }
}

/// Whether a file begins as a binary one of GOAL.
pub fn is_binary_goal(bytes: &[u8]) -> bool {
    let cookies = [COOKIE, COOKIE_IN_USE].map(u64::to_le_bytes);
    cookies.iter().any(|cookie| bytes.starts_with(cookie))
}

#[cfg(test)]
pub(crate) mod tests;
