//! What the user wrote and we could not accept.

use std::fmt;

/// One thing in a file or a setting that cannot be accepted: where it stands, what it says and
/// what would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError {
    /// The file (or table) as the caller named it; `None` when a setting is at fault.
    pub file: Option<String>,
    /// The line in `file`, counted from 1; `None` when the whole file is at fault.
    pub line: Option<usize>,
    /// The column, keyword or setting at fault.
    pub key: String,
    /// The text found there; empty when it is missing.
    pub value: String,
    /// What would be accepted, and the nearest valid name where there is one.
    pub accepted: String,
}

impl WorkloadError {
    /// An error about the setting `key`, which no file line can be blamed for.
    pub(crate) fn setting(
        key: &str,
        value: impl fmt::Display,
        accepted: impl Into<String>,
    ) -> WorkloadError {
        WorkloadError {
            file: None,
            line: None,
            key: key.to_string(),
            value: value.to_string(),
            accepted: accepted.into(),
        }
    }

    /// An error about `key` in line `line` of `file`.
    pub(crate) fn line(
        file: &str,
        line: usize,
        key: &str,
        value: impl fmt::Display,
        accepted: impl Into<String>,
    ) -> WorkloadError {
        WorkloadError {
            file: Some(file.to_string()),
            line: Some(line),
            ..WorkloadError::setting(key, value, accepted)
        }
    }

    /// An error about `file` as a whole.
    pub(crate) fn file(
        file: &str,
        key: &str,
        value: impl fmt::Display,
        accepted: impl Into<String>,
    ) -> WorkloadError {
        WorkloadError {
            file: Some(file.to_string()),
            ..WorkloadError::setting(key, value, accepted)
        }
    }
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            _ => {}
        }
        if self.value.is_empty() {
            write!(f, "{} is missing: expected {}", self.key, self.accepted)
        } else {
            write!(f, "{} = `{}`: expected {}", self.key, self.value, self.accepted)
        }
    }
}

impl std::error::Error for WorkloadError {}

/// `accepted` for a name that is not in `candidates`: the nearest one, then all of them.
pub(crate) fn one_of<'a>(name: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> String {
    let list = candidates.clone().collect::<Vec<_>>().join(", ");
    let nearest = candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 2);
    match nearest {
        Some((_, candidate)) => format!("one of {list}; did you mean `{candidate}`?"),
        None => format!("one of {list}"),
    }
}
