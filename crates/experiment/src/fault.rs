//! What a person wrote wrongly, said in one message.

use incast_measure::FolderError;
use std::fmt;

/// A message for the person who wrote the input: file, key, value and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Fault {}

impl Fault {
    /// From anything that prints.
    pub fn new(text: impl fmt::Display) -> Fault {
        Fault(text.to_string())
    }
}

macro_rules! from_display {
    ($($ty:ty),* $(,)?) => {$(
        impl From<$ty> for Fault {
            fn from(error: $ty) -> Fault { Fault(error.to_string()) }
        }
    )*};
}
from_display!(
    incast_fabric::TopologyError,
    incast_workload::WorkloadError,
    incast_blocks::port::PolicyConflict,
);

/// Why a command did not do what it was asked: whose fault it is decides the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The input is wrong; another input helps.
    Input(Fault),
    /// The input is in order, but the run failed or its results could not be written.
    Failed(Fault),
}

impl Trouble {
    /// Standard output could not be written.
    pub fn output(error: std::io::Error) -> Trouble {
        Trouble::Failed(Fault(format!("could not write to standard output: {error}")))
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble::Input(fault)
    }
}

impl From<FolderError> for Trouble {
    fn from(error: FolderError) -> Trouble {
        let fault = Fault::new(&error);
        match error {
            FolderError::Exists { .. } | FolderError::NotResults { .. } => Trouble::Input(fault),
            FolderError::Io { .. } => Trouble::Failed(fault),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Input(fault) | Trouble::Failed(fault) => fault.fmt(f),
        }
    }
}
impl std::error::Error for Trouble {}

/// The name that was probably meant, as `; did you mean ...?`, or nothing. Case does not count.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let text = text.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&text, &name.to_lowercase());
    let scored = names.into_iter().map(|name| (distance(name), name));
    match scored.min() {
        Some((distance, name)) if distance <= 2.max(name.len() / 3) => {
            format!("; did you mean `{name}`?")
        }
        _ => String::new(),
    }
}

impl From<incast_transport::ParameterError> for Fault {
    fn from(error: incast_transport::ParameterError) -> Fault {
        let hint = if error.known.contains(&error.key.as_str()) {
            String::new()
        } else {
            nearest(&error.key, error.known.iter().copied())
        };
        Fault(format!("{error}{hint}"))
    }
}
