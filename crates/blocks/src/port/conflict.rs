//! Why policies cannot be joined.

use incast_transport::TransportId;
use std::fmt;

/// What cannot be done, and for whom. `first` and `second` are the same when a policy contradicts
/// itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyConflict {
    /// A transport concerned.
    pub first: TransportId,
    /// The other one.
    pub second: TransportId,
    /// What of the policies is concerned, such as `classes[1].schedule`.
    pub key: String,
    /// What is wrong and what would be possible.
    pub problem: String,
}

impl PolicyConflict {
    pub(crate) fn new(
        first: TransportId,
        second: TransportId,
        key: impl Into<String>,
        problem: impl Into<String>,
    ) -> PolicyConflict {
        PolicyConflict { first, second, key: key.into(), problem: problem.into() }
    }
}

impl fmt::Display for PolicyConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port policy of transport {}", self.first.0)?;
        if self.second != self.first {
            write!(f, " beside transport {}", self.second.0)?;
        }
        write!(f, ": {}: {}", self.key, self.problem)
    }
}

impl std::error::Error for PolicyConflict {}
