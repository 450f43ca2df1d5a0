//! What is wrong with a program.

use incast_units::fault::{Fault, Problem};
use std::fmt;

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file as a whole.
    File,
    /// In this line, counted from 1.
    Line(u32),
    /// In a rank.
    Rank(u32),
    /// At a node of a rank, counted from 0.
    Node(u32, u32),
}

/// A program that cannot be read or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// The file, as named by the caller.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong there, and what was expected.
    pub problem: Problem,
}

impl ProgramError {
    pub(crate) fn new(file: &str, place: Place, problem: impl Into<Problem>) -> ProgramError {
        ProgramError { file: file.to_string(), place, problem: problem.into() }
    }

    /// The file, with the place in it.
    pub fn location(&self) -> String {
        let file = &self.file;
        match self.place {
            Place::File => file.clone(),
            Place::Line(line) => format!("{file}:{line}"),
            Place::Rank(rank) => format!("{file}: rank {rank}"),
            Place::Node(rank, node) => format!("{file}: rank {rank}, node {node}"),
        }
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location(), self.problem.sentence())
    }
}

impl std::error::Error for ProgramError {}

impl From<ProgramError> for Fault {
    fn from(error: ProgramError) -> Fault {
        match error.place {
            Place::Line(line) => Fault::new(error.problem).on_line(error.file, line as usize),
            _ => {
                let place = error.location();
                Fault::new(error.problem).placed(place)
            }
        }
    }
}
