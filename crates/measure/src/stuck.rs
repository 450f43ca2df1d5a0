//! Why a program cannot go on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Ranks that wait for each other, while nothing is on its way that they wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// The file of their program.
    pub file: String,
    /// Ranks that are not done.
    pub ranks: usize,
    /// What they wait for, of the first ones.
    pub waits: Vec<String>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck { file, ranks, waits } = self;
        let plural = if *ranks == 1 { " is" } else { "s are" };
        write!(
            f,
            "{file} cannot go on: {ranks} rank{plural} not done and nothing is on its way; "
        )?;
        f.write_str(&waits.join("; "))
    }
}
