//! The input files of a run, with hashes of their contents.

use crate::Fault;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// A file that a run has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// File name as given, relative to the current directory.
    pub name: String,
    /// Role: `scenario`, `topology`, `flows`, `paths` or `workload`.
    pub role: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

impl InputFile {
    /// A file of these bytes.
    pub fn of(name: &str, role: &str, bytes: &[u8]) -> InputFile {
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            write!(sha256, "{byte:02x}").expect("a string takes all");
        }
        InputFile { name: name.into(), role: role.into(), sha256 }
    }
}

/// The files read so far, each once.
#[derive(Clone, Debug, Default)]
pub struct Inputs(pub Vec<InputFile>);

impl Inputs {
    /// Reads a text file and remembers it.
    pub fn read(&mut self, name: &str, role: &str) -> Result<String, Fault> {
        let bytes = bytes_of(name)?;
        let file = InputFile::of(name, role, &bytes);
        if !self.0.contains(&file) {
            self.0.push(file);
        }
        text_of(name, bytes)
    }
}

/// Content of a file as bytes.
pub fn bytes_of(name: &str) -> Result<Vec<u8>, Fault> {
    let read = std::fs::read(Path::new(name));
    read.map_err(|error| Fault::new(format!("could not read: {error}")).placed(name))
}

/// Content of a file as text.
pub fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = error.as_bytes()[good.len()];
        let problem = format!("the byte 0x{byte:02x} is not valid text: expected UTF-8");
        Fault::new(problem).placed(format!("{name}:{line}"))
    })
}
