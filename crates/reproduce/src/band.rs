//! When a measured value confirms a paper's number.
//!
//! A printed ratio x is an improvement d = |1 - x|. Ours matches between d/2 and 2d, has the same
//! order but another size elsewhere on the same side of 1, and differs otherwise. A printed range is
//! accepted from 0.75 times its lower end to 1.25 times its upper end.

use incast_measure::{significant, with_half_width};
use serde::{Deserialize, Serialize};

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Word {
    /// The entire interval is accepted.
    #[serde(rename = "matches")]
    Matches,
    /// The better one is the same, the size of the difference is not accepted.
    #[serde(rename = "same order, other size")]
    SameOrder,
    /// The entire interval is elsewhere.
    #[serde(rename = "differs")]
    Differs,
    /// The interval crosses a border, or the run is too small.
    #[serde(rename = "cannot be judged")]
    CannotBeJudged,
    /// There is no run.
    #[serde(rename = "not run")]
    NotRun,
}

impl Word {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Word::Matches => "matches",
            Word::SameOrder => "same order, other size",
            Word::Differs => "differs",
            Word::CannotBeJudged => "cannot be judged",
            Word::NotRun => "not run",
        }
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.text())
    }
}

/// The number a paper prints, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Printed {
    /// One number.
    One(f64),
    /// From, to.
    Range([f64; 2]),
}

/// How a paper's number relates to the value that is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Percent below another value.
    PercentLower,
    /// Percent missing from the whole.
    PercentLost,
    /// Percent above another value.
    PercentHigher,
    /// Percent of the whole.
    Percent,
    /// A quotient.
    #[default]
    Ratio,
    /// The measured value itself, with its unit.
    Plain(String),
}

impl Unit {
    /// The unit of this name: `% lower`, `% lost`, `% higher`, `%`, `times`, or any other.
    pub fn named(name: &str) -> Unit {
        match name {
            "% lower" => Unit::PercentLower,
            "% lost" => Unit::PercentLost,
            "% higher" => Unit::PercentHigher,
            "%" => Unit::Percent,
            "" | "times" => Unit::Ratio,
            other => Unit::Plain(other.to_string()),
        }
    }

    /// A measured value in this unit.
    pub fn of(&self, value: f64) -> f64 {
        match self {
            Unit::PercentLower | Unit::PercentLost => 100.0 * (1.0 - value),
            Unit::PercentHigher => 100.0 * (value - 1.0),
            Unit::Percent => 100.0 * value,
            Unit::Ratio | Unit::Plain(_) => value,
        }
    }

    /// The measured value behind a number in this unit.
    pub fn measured(&self, number: f64) -> f64 {
        match self {
            Unit::PercentLower | Unit::PercentLost => 1.0 - number / 100.0,
            Unit::PercentHigher => 1.0 + number / 100.0,
            Unit::Percent => number / 100.0,
            Unit::Ratio | Unit::Plain(_) => number,
        }
    }

    /// The half width of an interval in this unit.
    fn width(&self, width: f64) -> f64 {
        match self {
            Unit::Ratio | Unit::Plain(_) => width,
            _ => 100.0 * width,
        }
    }

    fn suffix(&self) -> String {
        match self {
            Unit::PercentLower => " % lower".into(),
            Unit::PercentLost => " % lost".into(),
            Unit::PercentHigher => " % higher".into(),
            Unit::Percent => " %".into(),
            Unit::Ratio => String::new(),
            Unit::Plain(unit) => format!(" {unit}"),
        }
    }

    /// A measured value with the half width of its interval, as it is printed.
    pub fn shown(&self, value: f64, half_width: Option<f64>) -> String {
        if value == f64::INFINITY && matches!(self, Unit::Plain(_)) {
            return "never".into();
        }
        let number = match (self, self.of(value)) {
            // Not a rounding error as a percentage.
            (Unit::Ratio | Unit::Plain(_), number) => number,
            (_, number) if number.abs() < 0.005 => 0.0,
            (_, number) => number,
        };
        let shown = |number: f64| match half_width {
            None => significant(number),
            Some(width) => {
                let (number, width) = with_half_width(number, self.width(width));
                format!("{number} ± {width}")
            }
        };
        match self {
            Unit::PercentLower if number < 0.0 => format!("{} % higher", shown(-number)),
            Unit::PercentHigher if number < 0.0 => format!("{} % lower", shown(-number)),
            _ => format!("{}{}", shown(number), self.suffix()),
        }
    }
}

/// What is accepted of a measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Accepted from here to there.
    accepted: (f64, f64),
    /// The same order from here to there, exclusive; `None` if there is no order.
    same_order: Option<(f64, f64)>,
    unit: Unit,
    paper: Option<Printed>,
}

impl Band {
    /// An explicit interval.
    pub fn explicit(
        min: Option<f64>,
        max: Option<f64>,
        unit: Unit,
        paper: Option<Printed>,
    ) -> Band {
        let accepted = (min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY));
        Band { accepted, same_order: None, unit, paper }
    }

    /// The interval that follows from what a paper prints of a ratio or a range.
    pub fn of(paper: Printed, unit: Unit) -> Band {
        let (least, most) = match paper {
            Printed::One(number) => {
                let ratio = unit.measured(number);
                (1.0 + (ratio - 1.0) / 2.0, 1.0 + (ratio - 1.0) * 2.0)
            }
            Printed::Range([low, high]) => (unit.measured(0.75 * low), unit.measured(1.25 * high)),
        };
        // A border that was computed accepts what lies on it.
        let accepted = (least.min(most) - 1e-9, least.max(most) + 1e-9);
        let same_order = match (least.min(most) >= 1.0, least.max(most) <= 1.0) {
            (true, _) => (1.0, f64::INFINITY),
            (_, true) => (f64::NEG_INFINITY, 1.0),
            _ => accepted,
        };
        Band { accepted, same_order: Some(same_order), unit, paper: Some(paper) }
    }

    /// The paper's number with its unit; empty if it prints none.
    pub fn paper(&self) -> String {
        match self.paper {
            None => String::new(),
            Some(Printed::One(number)) => format!("{}{}", significant(number), self.unit.suffix()),
            Some(Printed::Range([low, high])) => {
                format!("{} to {}{}", significant(low), significant(high), self.unit.suffix())
            }
        }
    }

    /// The accepted interval in the paper's unit.
    pub fn accepted(&self) -> String {
        let (least, most) = self.accepted;
        // Nothing is less than nothing: 2d may exceed 100 %.
        let least = if self.same_order.is_some() { least.max(0.0) } else { least };
        let (a, b) = (self.unit.of(least), self.unit.of(most));
        let (low, high) = (a.min(b), a.max(b));
        let suffix = self.unit.suffix();
        match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("{} to {}{suffix}", significant(low), significant(high)),
            (true, false) => format!("at least {}{suffix}", significant(low)),
            (false, true) => format!("at most {}{suffix}", significant(high)),
            (false, false) => "any value".into(),
        }
    }

    /// A measured value as it is printed.
    pub fn shown(&self, value: f64, half_width: Option<f64>) -> String {
        self.unit.shown(value, half_width)
    }

    /// Whether a whole interval is accepted.
    pub fn accepts(&self, value: f64, half_width: Option<f64>) -> bool {
        let width = half_width.unwrap_or(0.0);
        value - width >= self.accepted.0 && value + width <= self.accepted.1
    }

    /// The word on a value. Without an interval it counts as exact.
    pub fn judge(&self, value: f64, half_width: Option<f64>) -> Word {
        let width = half_width.unwrap_or(0.0);
        let (low, high) = (value - width, value + width);
        let (least, most) = self.accepted;
        if self.accepts(value, half_width) {
            return Word::Matches;
        }
        let outside = high < least || low > most;
        match self.same_order {
            None if outside => Word::Differs,
            Some((from, to)) if outside && low > from && high < to => Word::SameOrder,
            Some((from, to)) if high <= from || low >= to => Word::Differs,
            _ => Word::CannotBeJudged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Word::{CannotBeJudged, Differs, Matches, SameOrder};

    #[test]
    fn a_printed_ratio_accepts_half_to_twice_its_improvement() {
        // 41 % lower: 20.5 to 82 % lower.
        let band = Band::of(Printed::One(41.0), Unit::named("% lower"));
        assert_eq!(
            (band.paper().as_str(), band.accepted().as_str()),
            ("41 % lower", "20.5 to 82 % lower")
        );
        let known = [
            (0.6, None, Matches),
            (0.795, None, Matches),
            (0.18, None, Matches),
            (0.9, None, SameOrder),
            (0.1, None, SameOrder),
            (1.0, None, Differs),
            (1.25, None, Differs),
            (0.6, Some(0.1), Matches),
            (0.9, Some(0.05), SameOrder),
            (0.8, Some(0.05), CannotBeJudged),
            (0.95, Some(0.1), CannotBeJudged),
            (0.6, Some(0.6), CannotBeJudged),
            (1.25, Some(0.2), Differs),
            (f64::NAN, None, CannotBeJudged),
        ];
        for (value, width, word) in known {
            assert_eq!(band.judge(value, width), word, "{value} ± {width:?}");
        }
        assert_eq!(band.shown(0.6, Some(0.05)), "40.0 ± 5.0 % lower");
        assert_eq!(band.shown(1.25, None), "25 % higher");
    }

    #[test]
    fn a_printed_gain_is_judged_alike() {
        let gain = Band::of(Printed::One(16.1), Unit::named("% higher"));
        assert_eq!(gain.accepted(), "8.05 to 32.2 % higher");
        assert_eq!(gain.judge(1.2, None), Matches);
        assert_eq!(gain.judge(1.5, None), SameOrder);
        assert_eq!(gain.judge(0.99, None), Differs);
        let large = Band::of(Printed::One(73.0), Unit::named("% lower"));
        assert_eq!(large.accepted(), "36.5 to 100 % lower");
        assert_eq!(large.judge(0.01, None), Matches);
        let times = Band::of(Printed::One(1.32), Unit::named("times"));
        assert_eq!(times.accepted(), "1.16 to 1.64");
    }

    #[test]
    fn a_printed_range_is_widened_by_a_quarter() {
        let range = Band::of(Printed::Range([20.0, 30.0]), Unit::named("% lost"));
        assert_eq!(range.accepted(), "15 to 37.5 % lost");
        assert_eq!(range.judge(0.75, None), Matches);
        assert_eq!(range.judge(0.47, None), SameOrder, "53 % is not 20 to 30 %");
        assert_eq!(range.judge(1.0, None), Differs);
    }

    #[test]
    fn an_explicit_interval_has_no_order() {
        let band = Band::explicit(Some(0.9), None, Unit::named("Gb/s"), Some(Printed::One(1.0)));
        assert_eq!(
            (band.paper().as_str(), band.accepted().as_str()),
            ("1 Gb/s", "at least 0.9 Gb/s")
        );
        assert_eq!(band.judge(0.9, None), Matches, "equal is enough");
        assert_eq!(band.judge(0.89, None), Differs);
        assert_eq!(band.judge(0.9, Some(0.1)), CannotBeJudged);
        assert_eq!(band.judge(f64::INFINITY, None), Matches);
        assert_eq!(band.judge(f64::NAN, None), CannotBeJudged);
    }
}
