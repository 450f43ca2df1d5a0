//! Why policies cannot be joined.

use incast_transport::TransportId;
use std::fmt;

/// What would make the joining possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Remedy {
    /// Nothing but other policies.
    #[default]
    None,
    /// Queues for each transport.
    Separate,
    /// Fewer classes, or common queues.
    FewerQueues,
}

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
    /// What would resolve it.
    pub remedy: Remedy,
}

impl PolicyConflict {
    pub(crate) fn new(
        first: TransportId,
        second: TransportId,
        key: impl Into<String>,
        problem: impl Into<String>,
    ) -> PolicyConflict {
        let (key, problem) = (key.into(), problem.into());
        PolicyConflict { first, second, key, problem, remedy: Remedy::None }
    }

    pub(crate) fn fixed_by(self, remedy: Remedy) -> PolicyConflict {
        PolicyConflict { remedy, ..self }
    }
}

impl fmt::Display for PolicyConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port policy of transport {}", self.first.0)?;
        if self.second != self.first {
            write!(f, " beside transport {}", self.second.0)?;
        }
        write!(f, ": {}: {}", self.key, self.problem)?;
        match self.remedy {
            Remedy::None => Ok(()),
            Remedy::Separate => f.write_str("; join them separately"),
            Remedy::FewerQueues => f.write_str("; join them in shared queues, or have fewer"),
        }
    }
}

impl std::error::Error for PolicyConflict {}
