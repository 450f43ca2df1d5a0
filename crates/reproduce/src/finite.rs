//! What is said of finite runs from an empty network: which are made, and the verdict in two parts, order and size.

use incast_experiment::fault::expected;
use incast_experiment::{Fault, nearest};
use serde::{Deserialize, Serialize};

/// `[as_run]` of `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finite {
    /// Numbers of flows of a run, in order.
    pub flows: Vec<u64>,
    /// The figure's runs that are made so.
    pub runs: Vec<String>,
    /// In which assumption sets: those of the figure, and those of its paper.
    pub sets: Vec<String>,
}

impl Finite {
    /// Refuses what does not exist.
    ///
    /// # Errors
    /// That, with what there is.
    pub fn check(&self, runs: &[String]) -> Result<(), Fault> {
        let ascend = self.flows.windows(2).all(|pair| pair[0] < pair[1]);
        if self.flows.is_empty() || self.flows[0] == 0 || !ascend {
            let accepted = expected("numbers of flows from the least to the most");
            return Err(Fault::value("as_run.flows", format!("{:?}", self.flows), accepted));
        }
        match self.runs.iter().find(|name| !runs.contains(name)) {
            None => Ok(()),
            Some(other) => {
                let near = nearest(other, runs.iter().map(String::as_str));
                let accepted = expected(format!("some of {}", runs.join(", ")));
                Err(Fault::value("as_run.runs", other, accepted.meant(near)))
            }
        }
    }
}

/// Who is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Order {
    /// The paper's one, at every length.
    #[serde(rename = "at every N")]
    Every,
    /// At the least number of flows, but not at the most.
    #[serde(rename = "in short runs only")]
    Short,
    /// At the most, but not at the least.
    #[serde(rename = "in long runs only")]
    Long,
    /// At some lengths, otherwise.
    #[serde(rename = "at some N only")]
    Some,
    /// At none, and at one or more it is the other.
    #[serde(rename = "never")]
    Never,
    /// At none is it decided: too few seeds or flows.
    #[serde(rename = "cannot be judged")]
    Undecided,
}

impl Order {
    /// Of lengths at which the paper's order holds, is reversed, or is undecided.
    pub(super) fn of(decided: &[Option<bool>]) -> Order {
        let holds = |at: Option<&Option<bool>>| at == Some(&Some(true));
        let (short, long) = (holds(decided.first()), holds(decided.last()));
        match () {
            () if !decided.is_empty() && decided.iter().all(|one| *one == Some(true)) => {
                Order::Every
            }
            () if short && !long => Order::Short,
            () if long && !short => Order::Long,
            () if decided.contains(&Some(true)) => Order::Some,
            () if decided.contains(&Some(false)) => Order::Never,
            () => Order::Undecided,
        }
    }

    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Order::Every => "at every N",
            Order::Short => "in short runs only",
            Order::Long => "in long runs only",
            Order::Some => "at some N only",
            Order::Never => "never",
            Order::Undecided => "cannot be judged",
        }
    }
}

/// How large the difference is, beside the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Size {
    /// Between half and twice the paper's.
    #[serde(rename = "the paper's")]
    Within,
    /// Less than half of it.
    #[serde(rename = "smaller")]
    Smaller,
    /// More than twice it.
    #[serde(rename = "larger")]
    Larger,
    /// The interval reaches across a border.
    #[serde(rename = "undecided")]
    Undecided,
}

impl Size {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Size::Within => "the paper's",
            Size::Smaller => "smaller",
            Size::Larger => "larger",
            Size::Undecided => "undecided",
        }
    }
}

/// What runs of one length gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Length {
    /// Flows of a run.
    pub flows: u64,
    /// One number over the other.
    pub value: f64,
    /// Half width of its interval.
    pub half_width: Option<f64>,
    /// The same as it is printed.
    pub measured: String,
    /// Whether the paper's order holds; null: undecided.
    pub holds: Option<bool>,
    /// The size, of a claim with a printed ratio.
    pub size: Option<Size>,
    /// The improvement over the paper's.
    pub share: Option<f64>,
    /// Transports of which arrivals and departures never balance: a label, not a veto.
    pub unbalanced: Vec<String>,
}

/// Verdict on a claim as it was run, in one assumption set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InFinite {
    /// `as_published`.
    pub set: String,
    /// At which lengths the order holds.
    pub order: Order,
    /// Each length that has run.
    pub lengths: Vec<Length>,
}

impl InFinite {
    /// The size at the longest length at which the paper's order holds.
    pub fn size(&self) -> Option<(Size, &Length)> {
        let longest = self.lengths.iter().rev().find(|one| one.holds == Some(true))?;
        Some((longest.size?, longest))
    }

    /// The order in words; of one length, at which.
    pub fn order_text(&self) -> String {
        match &self.lengths[..] {
            [only] if self.order == Order::Every => {
                format!("at N = {}, no other has run", only.flows)
            }
            _ => self.order.text().into(),
        }
    }

    /// The size in words, with how many times the paper's it is.
    pub fn size_text(&self) -> String {
        match self.size() {
            None => String::new(),
            Some((size, at)) => {
                let share = at.share.map_or(String::new(), |share| {
                    format!(" ({share:.2} of it at N = {})", at.flows)
                });
                format!("{}{share}", size.text())
            }
        }
    }

    /// What was seen at each length.
    pub fn measured(&self) -> String {
        self.listed(|length| match length.unbalanced.is_empty() {
            true => String::new(),
            false => format!(" (no balance: {})", length.unbalanced.join(", ")),
        })
    }

    /// The same with a label of each.
    pub fn listed(&self, label: impl Fn(&Length) -> String) -> String {
        let one = |at: &Length| format!("{}: {}{}", at.flows, at.measured, label(at));
        self.lengths.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}
