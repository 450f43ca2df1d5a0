//! What can be wrong with a topology that a user wrote.

use std::fmt;

/// Why a topology could not be built, with the file and line when it came from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// The file, if the topology was read from one.
    pub file: Option<String>,
    /// The line in that file, counted from 1.
    pub line: Option<u32>,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Fewer than two hosts: no host to send to.
    TooFewHosts(u32),
    /// A host without a link, by name.
    UnlinkedHost(String),
    /// A host with a second link, by name.
    SecondHostLink(String),
    /// Two hosts linked directly, by name.
    HostToHost(String, String),
    /// Some node cannot be reached from another, by name.
    Disconnected(String, String),
    /// A link of rate zero between the two.
    ZeroRate(String, String),
    /// A link from a node to itself.
    SelfLink(String),
    /// A second link between the two that was not declared as a bundle.
    DuplicateLink(String, String),
    /// A loss probability outside 0..1, as written.
    BadLoss(String),
    /// A node that does not exist, and what does.
    UnknownNode(String, String),
    /// No link between the two.
    NoSuchLink(String, String),
    /// More of something than the limit.
    TooLarge(String),
    /// Text that does not say a topology; the message names the value and the accepted form.
    Malformed(String),
}

impl TopologyError {
    /// An error without a place.
    pub fn new(problem: Problem) -> TopologyError {
        TopologyError { file: None, line: None, problem }
    }

    pub(crate) fn malformed(message: impl Into<String>) -> TopologyError {
        TopologyError::new(Problem::Malformed(message.into()))
    }

    /// The same error, placed in a file and, unless it already has one, at a line.
    pub(crate) fn at(mut self, file: &str, line: Option<u32>) -> TopologyError {
        self.file = Some(file.to_string());
        self.line = self.line.or(line);
        self
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: {}", self.problem),
            (Some(file), None) => write!(f, "{file}: {}", self.problem),
            (None, Some(line)) => write!(f, "line {line}: {}", self.problem),
            (None, None) => write!(f, "{}", self.problem),
        }
    }
}
impl std::error::Error for TopologyError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::TooFewHosts(hosts) => {
                write!(f, "a fabric needs at least 2 hosts, this one has {hosts}")
            }
            Problem::UnlinkedHost(host) => write!(f, "{host} has no link; a host has exactly one"),
            Problem::SecondHostLink(host) => {
                write!(f, "{host} has a second link; a host has exactly one, to its switch")
            }
            Problem::HostToHost(a, b) => {
                write!(f, "{a} and {b} are hosts linked directly; put a switch between them")
            }
            Problem::Disconnected(a, b) => write!(f, "there is no path from {a} to {b}"),
            Problem::ZeroRate(a, b) => {
                write!(f, "the link {a} - {b} has rate 0; a rate is at least 1bps")
            }
            Problem::SelfLink(node) => write!(f, "{node} is linked to itself"),
            Problem::DuplicateLink(a, b) => {
                write!(f, "the link {a} - {b} is given twice")
            }
            Problem::BadLoss(loss) => {
                write!(f, "loss probability {loss}: expected 0 to less than 1")
            }
            Problem::UnknownNode(name, known) => write!(f, "no node `{name}`; {known}"),
            Problem::NoSuchLink(a, b) => write!(f, "there is no link {a} - {b}"),
            Problem::TooLarge(what) => write!(f, "too large: {what}"),
            Problem::Malformed(message) => f.write_str(message),
        }
    }
}

/// The nearest of `names`, if it is near enough to be a slip of the pen.
pub(crate) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| (strsim::damerau_levenshtein(text, name), name));
    scored.filter(|(distance, name)| distance * 2 <= name.len()).min().map(|(_, name)| name)
}
