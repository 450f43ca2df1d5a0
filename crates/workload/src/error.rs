//! Errors in workload files and settings.

use std::fmt;

/// An invalid entry of a file or an invalid setting, with its location, its value and the accepted
/// values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError {
    /// The file or table, as named by the caller; `None` for a setting.
    pub file: Option<String>,
    /// The line in `file`, from 1; `None` if the error concerns the entire file.
    pub line: Option<usize>,
    /// The column, keyword or setting.
    pub key: String,
    /// The invalid value; empty if it is missing.
    pub value: String,
    /// The accepted values, and the nearest valid name if there is one.
    pub accepted: String,
}

impl WorkloadError {
    /// An error about the setting `key`, without a file.
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

    /// An error about the entire `file`.
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

/// `accepted` for an unknown name: all `candidates`, then the nearest one.
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
