//! A study: the same scenario with varied keys, under several transports and seeds; what it gave as
//! a table, as figures and as a page.

mod columns;
mod curves;
mod facets;
mod finding;
mod page;
mod paper;
mod sizes;
mod told;

pub use columns::{key_unit, study_columns_markdown, study_frame, times_frame};
pub use curves::Shown;
pub use facets::{difference_within, mean_within};
pub(crate) use finding::Finding;
pub use page::{study_figures, write_study_page};
pub use paper::PaperTable;
pub use told::Told;

use crate::SlowdownHistogram;
use std::collections::BTreeMap;

/// The value of a varied key at a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Text; a quantity with its unit, such as `10us`, or a name.
    Text(String),
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::Number(number) => write!(f, "{number}"),
            Setting::Flag(flag) => write!(f, "{flag}"),
            Setting::Text(text) => write!(f, "{text}"),
        }
    }
}

/// One point under one transport.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// What decides its result, as a hash.
    pub hash: String,
    /// Which of [`StudyResults::series`] it belongs to.
    pub series: usize,
    /// Its transport.
    pub transport: String,
    /// Its seed.
    pub seed: u64,
    /// The values of [`StudyResults::keys`].
    pub values: Vec<Setting>,
    /// Why it failed, if it did; then it has no numbers.
    pub error: Option<String>,
    /// What a user should know before trusting it.
    pub warnings: Vec<String>,
    /// Its [numbers](crate::numbers()) by name; what does not exist is absent.
    pub numbers: BTreeMap<String, f64>,
    /// Slowdown by size of the flow.
    pub slowdown: SlowdownHistogram,
    /// What it took.
    pub times: RowTimes,
}

/// What a row took to compute: differs from machine to machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowTimes {
    /// Seconds of wall-clock time.
    pub wall_seconds: Option<f64>,
    /// Seconds of CPU time.
    pub cpu_seconds: Option<f64>,
}

/// The results of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyResults {
    /// Its title.
    pub title: String,
    /// The resolved study as text, for the page.
    pub resolved: String,
    /// The varied keys, in order.
    pub keys: Vec<String>,
    /// Their titles; a key without one is shown as it is.
    pub titles: Vec<String>,
    /// Labels of transports and variants, in order.
    pub series: Vec<String>,
    /// The series with which others are compared; the first if none is named.
    pub baseline: Option<String>,
    /// The metric of its own, such as that of `repeat_until`; figures start with it.
    pub metric: Option<String>,
    /// How many rows it has when it is complete.
    pub points: usize,
    /// The rows there are, in order of the study.
    pub rows: Vec<StudyRow>,
}

impl StudyRow {
    /// A number of a row that did not fail.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// The value of a key as it is shown.
    pub(crate) fn setting(&self, key: usize) -> String {
        self.values.get(key).map_or(String::new(), Setting::to_string)
    }
}

impl StudyResults {
    /// The title of a varied key.
    pub(crate) fn title_of(&self, key: usize) -> &str {
        self.titles.get(key).unwrap_or(&self.keys[key])
    }

    /// The series with which others are compared.
    pub(crate) fn baseline(&self) -> usize {
        let named = self.baseline.as_ref();
        named.and_then(|name| self.series.iter().position(|one| one == name)).unwrap_or(0)
    }

    /// The look of each series in all figures.
    pub(crate) fn looks(&self) -> Vec<usize> {
        crate::chart::looks(self.series.iter().map(String::as_str))
    }

    /// Rows with numbers.
    pub(crate) fn done(&self) -> impl Iterator<Item = &StudyRow> {
        self.rows.iter().filter(|row| row.error.is_none())
    }
}
