//! What can be wrong with a topology that a user wrote.

use incast_units::fault::{self, Fault, expected, wrong};
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
    UnknownNode(String, Box<fault::Problem>),
    /// No link between the two.
    NoSuchLink(String, String),
    /// More of something than the limit.
    TooLarge(String),
    /// Text that does not say a topology: what is wrong with it, and the accepted form.
    Malformed(Box<fault::Problem>),
}

impl TopologyError {
    /// An error without a place.
    pub fn new(problem: Problem) -> TopologyError {
        TopologyError { file: None, line: None, problem }
    }

    pub(crate) fn malformed(message: impl Into<fault::Problem>) -> TopologyError {
        TopologyError::new(Problem::Malformed(Box::new(message.into())))
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
        Fault::from(self.clone()).fmt(f)
    }
}
impl std::error::Error for TopologyError {}

impl From<TopologyError> for Fault {
    fn from(error: TopologyError) -> Fault {
        let fault = Fault::new(error.problem.said());
        match (error.file, error.line) {
            (Some(file), Some(line)) => fault.on_line(file, line as usize),
            (Some(file), None) => fault.placed(file),
            (None, Some(line)) => fault.placed(format!("line {line}")),
            (None, None) => fault,
        }
    }
}

impl Problem {
    fn said(self) -> fault::Problem {
        let what = match self {
            Problem::Malformed(problem) => return *problem,
            Problem::UnknownNode(name, known) => {
                return known.in_part(&format!("no node `{name}`"));
            }
            Problem::BadLoss(loss) => {
                let range = expected("0 to less than 1");
                return range.in_part(&format!("loss probability {loss}"));
            }
            Problem::TooFewHosts(hosts) => {
                format!("a fabric needs at least 2 hosts, this one has {hosts}")
            }
            Problem::UnlinkedHost(host) => format!("{host} has no link; a host has exactly one"),
            Problem::SecondHostLink(host) => {
                format!("{host} has a second link; a host has exactly one, to its switch")
            }
            Problem::HostToHost(a, b) => {
                format!("{a} and {b} are hosts linked directly; put a switch between them")
            }
            Problem::Disconnected(a, b) => format!("there is no path from {a} to {b}"),
            Problem::ZeroRate(a, b) => {
                format!("the link {a} - {b} has rate 0; a rate is at least 1bps")
            }
            Problem::SelfLink(node) => format!("{node} is linked to itself"),
            Problem::DuplicateLink(a, b) => format!("the link {a} - {b} is given twice"),
            Problem::NoSuchLink(a, b) => format!("there is no link {a} - {b}"),
            Problem::TooLarge(what) => format!("too large: {what}"),
        };
        wrong(what)
    }
}
