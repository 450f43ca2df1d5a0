//! What a person wrote wrongly, said in one message.

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
    incast_measure::FolderError,
    incast_blocks::port::PolicyConflict,
);

/// The name that was probably meant, as `; did you mean ...?`, or nothing.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let scored = names.into_iter().map(|name| (strsim::damerau_levenshtein(text, name), name));
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
