//! Verdicts on claims.

use crate::band::Word;
use crate::finite::InFinite;
use incast_measure::measured::Apart;
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

/// What is said of a claim by runs in real time under one clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InRealTime {
    /// `paced`, `compensated` or `tsc`.
    pub clock: String,
    /// What was seen, in the paper's unit; empty if a run is refused.
    pub measured: String,
    /// The verdict; none if a run is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Word>,
    /// Whether the claim's runs gave the same numbers as under the virtual clock, to the last bit.
    pub equal: bool,
    /// How far the values behind the claim's number are from those under the virtual clock: of its
    /// run that is farthest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
    /// Why a run is refused; empty if none is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub refused: String,
    /// The same in a few words.
    #[serde(skip)]
    pub(crate) brief: String,
}

/// Verdict on a claim in one assumption set.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What the paper prints; empty if it prints nothing.
    pub paper: String,
    /// What is accepted.
    pub accepted: String,
    /// What was seen.
    pub measured: String,
    /// The verdict.
    pub word: Word,
}

impl Judgement {
    /// The end of `measured` that says of how many seeds a number is, where some are missing.
    pub(crate) fn of_some_seeds(&self) -> &str {
        let start = self.measured.rfind(" (").filter(|_| self.measured.ends_with(SOME_SEEDS));
        start.map_or("", |start| &self.measured[start..])
    }
}

/// How `measured` ends there.
pub(crate) const SOME_SEEDS: &str = " seeds)";
