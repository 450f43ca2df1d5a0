//! Verdicts on claims.

use crate::as_run::InFinite;
use crate::band::Word;
use crate::real_time::InRealTime;
use serde::Serialize;

/// Verdict on one claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// `ren/fig3`.
    pub experiment: String,
    /// The claim, in our words.
    pub claim: String,
    /// In the paper's words; empty if it is ours.
    pub quote: String,
    /// What the paper prints, in its unit; empty if it prints nothing.
    pub paper: String,
    /// What is accepted, in the same unit.
    pub accepted: String,
    /// What was seen in each assumption set.
    pub sets: Vec<InSet>,
    /// The verdict: one sentence over all sets.
    pub sentence: String,
    /// What to know about the comparison.
    pub deviation: String,
    /// Whether it is one of those by which the paper is known.
    pub headline: bool,
    /// What finite runs from an empty network say, by set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub as_run: Vec<InFinite>,
    /// Whether it is about the paper's equations, and nothing has to run.
    pub equation: bool,
}

/// Verdict on a claim in one assumption set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InSet {
    /// `as_published`.
    pub set: String,
    /// What was seen, in the paper's unit.
    pub measured: String,
    /// `matches`, `same order, other size`, `differs`, `cannot be judged` or `not run`.
    pub verdict: Word,
    /// The same in the data plane, if the experiment is judged there too and the runs were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataplane: Option<InDataPlane>,
    /// The same in real time, by clock, where such runs were made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub real_time: Vec<InRealTime>,
}

impl InSet {
    /// Whether what was seen begins with this text, or why it is not judged does.
    pub(crate) fn says(&self, text: &str) -> bool {
        let why = self.measured.split_once(", but ").is_some_and(|(_, why)| why.starts_with(text));
        why || self.measured.starts_with(text)
    }
}

/// What was seen in the data plane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InDataPlane {
    /// What was seen, in the paper's unit.
    pub measured: String,
    /// The verdict.
    pub verdict: Word,
    /// Whether every run of the experiment in this set gave the same numbers as in the simulator,
    /// to the last bit.
    pub equal: bool,
}
