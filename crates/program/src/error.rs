//! What is wrong with a program.

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
    pub problem: String,
}

impl ProgramError {
    pub(crate) fn new(file: &str, place: Place, problem: impl Into<String>) -> ProgramError {
        ProgramError { file: file.to_string(), place, problem: problem.into() }
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProgramError { file, place, problem } = self;
        match place {
            Place::File => write!(f, "{file}: {problem}"),
            Place::Line(line) => write!(f, "{file}:{line}: {problem}"),
            Place::Rank(rank) => write!(f, "{file}: rank {rank}: {problem}"),
            Place::Node(rank, node) => write!(f, "{file}: rank {rank}, node {node}: {problem}"),
        }
    }
}

impl std::error::Error for ProgramError {}
