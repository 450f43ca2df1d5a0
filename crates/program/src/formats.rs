//! The formats of files that hold a whole program.

use crate::error::{Place, ProgramError};
use crate::goal::read_goal;
use crate::graph::Program;
use crate::simai::{Workload, is_simai};

struct Format {
    recognises: fn(&[u8]) -> bool,
    read: fn(&str, &[u8]) -> Result<Program, ProgramError>,
}

/// In this order; the last one takes all that no other does.
const FORMATS: &[Format] = &[
    Format { recognises: is_simai, read: read_simai },
    Format { recognises: |_| true, read: read_goal },
];

/// Reads a program from the bytes of a file, whose format is recognised by content: a workload of SimAI, or GOAL. `file` is its
/// name in errors.
///
/// # Errors
/// What is wrong in the file, with its line or its rank and node.
pub fn read_program(file: &str, bytes: &[u8]) -> Result<Program, ProgramError> {
    let format = FORMATS.iter().find(|format| (format.recognises)(bytes));
    (format.expect("the last one takes all").read)(file, bytes)
}

fn read_simai(file: &str, bytes: &[u8]) -> Result<Program, ProgramError> {
    let text = text(file, bytes)?;
    Workload::read(file, text)?.program()
}

/// The bytes of a file as text.
fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, ProgramError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
        let problem = format!("the byte 0x{:02x} is no text", bytes[good.len()]);
        ProgramError::new(file, Place::Line(line), problem)
    })
}
