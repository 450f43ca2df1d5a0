//! The highest value of a key at which a condition holds, by bisection.
//!
//! The key is assumed to be monotone: where the condition holds at a value it holds below it. At
//! each value that is tried, every seed gives a value of the metric; their mean and 95 % interval
//! say whether the condition holds, and whether that is sure. Three bisections share their points:
//! of the mean, of what surely holds and of what does not surely fail. So the answer comes with an
//! interval.

use crate::driver::{Driver, DriverOptions, Outcome};
use crate::points::Points;
use crate::store::Store;
use crate::study::Study;
use incast_experiment::Fault;
use incast_experiment::fault::expected;
use incast_experiment::scenario::{Node, Value};
use incast_measure::statistics::{confidence, mean};
use incast_measure::{Number, number};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most steps between the ends of a search.
const MOST_STEPS: f64 = 1e6;

/// One comparison of a condition.
#[derive(Clone, Debug)]
struct Term {
    number: &'static Number,
    /// Whether values below the limit are wanted.
    below: bool,
    /// Whether the limit itself is.
    equal: bool,
    limit: f64,
}

/// What is to hold: `slowdown_p99 < 5`, or several such terms joined by `and`.
#[derive(Clone, Debug)]
pub struct Condition {
    text: String,
    terms: Vec<Term>,
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What is not one, with what is expected.
    pub fn parse(text: &str) -> Result<Condition, Fault> {
        let terms = text.split(" and ").map(|term| Term::parse(text, term));
        Ok(Condition { text: text.into(), terms: terms.collect::<Result<_, Fault>>()? })
    }
}

impl Term {
    fn parse(whole: &str, text: &str) -> Result<Term, Fault> {
        let form = || {
            let accepted = "a metric, one of < <= > >=, and a number, such as `slowdown_p99 < 5`; \
                            join several with `and`";
            Fault::value("until", whole, expected(accepted))
        };
        let at = text.find(['<', '>']).ok_or_else(form)?;
        let (name, rest) = text.split_at(at);
        let below = rest.starts_with('<');
        let equal = rest[1..].starts_with('=');
        let limit = rest[1 + usize::from(equal)..]
            .trim()
            .parse()
            .ok()
            .filter(|limit: &f64| limit.is_finite());
        let number = number(name.trim()).map_err(|fault| fault.of("until"))?;
        Ok(Term { number, below, equal, limit: limit.ok_or_else(form)? })
    }

    fn holds(&self, value: f64) -> bool {
        (self.equal && value == self.limit)
            || if self.below { value < self.limit } else { value > self.limit }
    }
}

/// What the seeds of one value say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The condition holds for every value of the 95 % interval.
    Holds,
    /// It holds for the mean.
    LikelyHolds,
    /// It does not hold for the mean.
    LikelyFails,
    /// It holds for no value of the 95 % interval.
    Fails,
}

/// A value that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// The value of the key.
    pub value: f64,
    /// What its seeds say.
    pub verdict: Verdict,
    /// How many seeds.
    pub seeds: usize,
    /// How many of them failed or have no such number, and so fail the condition.
    pub failed: usize,
    /// Of each term of the condition: mean over the other seeds, and half width of the 95 % interval.
    pub values: Vec<Option<(f64, Option<f64>)>>,
}

/// How a search of one series ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// The condition holds up to this value.
    UpTo {
        /// The highest value, to the tolerance, at which it holds for the mean.
        value: f64,
        /// The highest value at which it surely holds; none if it surely holds nowhere.
        low: Option<f64>,
        /// The lowest value at which it surely fails; none if it surely fails nowhere.
        high: Option<f64>,
    },
    /// It holds at the upper end of the range.
    Everywhere,
    /// It does not hold at the lower end of the range.
    Nowhere,
}

/// The answer for one series.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The transport or variant.
    pub label: String,
    /// What was found.
    pub found: Found,
    /// Two values, the first below the second, of which the first surely fails and the second surely
    /// holds: then the condition is not monotone, and the answer is one of several.
    pub not_monotone: Option<(f64, f64)>,
    /// Every value that was tried, ascending.
    pub tried: Vec<Tried>,
}

/// Values between two ends, a tolerance apart.
#[derive(Clone, Debug, PartialEq)]
struct Grid {
    from: f64,
    to: f64,
    step: f64,
    steps: usize,
    /// Unit of a quantity, such as `us`; empty for numbers.
    unit: String,
    whole: bool,
}

impl Grid {
    fn of(from: &str, to: &str, tolerance: Option<&str>) -> Result<Grid, Fault> {
        let read = |key: &str, text: &str| {
            let text = text.trim();
            let at = text
                .find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E'))
                .unwrap_or(text.len());
            let (number, unit) = text.split_at(at);
            let number = number.trim().parse().ok().filter(|number: &f64| number.is_finite());
            let problem = expected("a number, or a number with its unit, such as 10us");
            number
                .map(|number| (number, unit.to_string()))
                .ok_or_else(|| Fault::value(key, text, problem))
        };
        let ((low, unit), (high, same)) = (read("from", from)?, read("to", to)?);
        if unit != same {
            return Err(Fault::value("to", to, expected(format!("the unit of `from`, `{unit}`"))));
        }
        if low >= high {
            return Err(Fault::value("to", to, expected(format!("more than `from`, {from}"))));
        }
        let whole =
            low.fract() == 0.0 && high.fract() == 0.0 && !from.contains('.') && !to.contains('.');
        let step = match tolerance {
            None => round_step((high - low) / 50.0, whole),
            Some(text) => match read("tolerance", text)? {
                (step, own) if step > 0.0 && (own == unit || own.is_empty()) => step,
                _ => {
                    return Err(Fault::value(
                        "tolerance",
                        text,
                        expected(format!(
                            "a positive number, in the unit of `from`{}",
                            if unit.is_empty() { String::new() } else { format!(", {unit}") }
                        )),
                    ));
                }
            },
        };
        let steps = ((high - low) / step - 1e-9).ceil();
        if steps > MOST_STEPS {
            return Err(Fault::value(
                "tolerance",
                step,
                expected(format!("at least {}", (high - low) / MOST_STEPS)),
            ));
        }
        let whole = whole && step.fract() == 0.0;
        Ok(Grid { from: low, to: high, step, steps: steps as usize, unit, whole })
    }

    /// The value at a place; both ends are values.
    fn value(&self, at: usize) -> f64 {
        if at >= self.steps {
            return self.to;
        }
        // Without the noise of binary fractions: 0.35 and not 0.35000000000000003.
        let value = self.from + self.step * at as f64;
        format!("{value:.12}").parse().expect("digits")
    }

    fn node(&self, at: usize) -> Node {
        let value = self.value(at);
        match (self.unit.as_str(), self.whole) {
            ("", true) => Value::Whole(value as i128).into(),
            ("", false) => Value::Number(value).into(),
            (unit, _) => Node::text(format!("{value}{unit}")),
        }
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is not above a length.
fn round_step(length: f64, whole: bool) -> f64 {
    let power = 10f64.powf(length.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step <= length * (1.0 + 1e-9)).unwrap_or(power);
    let step: f64 = format!("{step:.12}").parse().expect("digits");
    if whole { step.max(1.0) } else { step }
}

/// Values of the metrics of one seed; `None` if the point failed.
type Values = Option<Vec<Option<f64>>>;

/// What is needed before a search can go on: seeds at a place.
#[derive(Debug, PartialEq)]
struct Need {
    at: usize,
    seeds: Vec<u64>,
}

/// A search for the highest value of a key at which a condition holds.
#[derive(Clone, Debug)]
pub struct Search {
    key: String,
    condition: Condition,
    grid: Grid,
    /// Seeds of every value, then those that are added while it is not sure.
    seeds: Vec<u64>,
    least: usize,
}

impl Search {
    /// A search of a study: it has the study's seeds, or with `repeat_until` as many as its `least`
    /// and, where the condition is not sure, up to its `most`. `from` and `to` are numbers or
    /// quantities of one unit; without `tolerance` it is a round number near a fiftieth of the range.
    ///
    /// # Errors
    /// A key, a condition or a range that does not fit.
    pub fn new(
        study: &Study,
        key: &str,
        from: &str,
        to: &str,
        until: &str,
        tolerance: Option<&str>,
    ) -> Result<Search, Fault> {
        let grid = Grid::of(from, to, tolerance)?;
        let condition = Condition::parse(until)?;
        let mut seeds = study.seeds().to_vec();
        let least = seeds.len();
        if let Some(repeat) = study.repeat() {
            let more = least as u64..repeat.most.into();
            let first = seeds[0];
            seeds.extend(more.map(|more| first.wrapping_add(more)));
        }
        let search = Search { key: key.into(), condition, grid, seeds, least };
        for at in [0, search.grid.steps] {
            // Says what is wrong with the key or its values before anything runs.
            study.point(0, &[(search.key.clone(), search.grid.node(at))], search.seeds[0])?;
        }
        Ok(search)
    }

    /// The key as it is searched, with its unit.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Unit of the values; empty for numbers.
    pub fn unit(&self) -> &str {
        &self.grid.unit
    }

    /// The condition as it was written.
    pub fn until(&self) -> &str {
        &self.condition.text
    }

    /// Distance of the values that are tried.
    pub fn tolerance(&self) -> f64 {
        self.grid.step
    }

    /// Searches for every series of the study. `run` drives points to their end, on whatever executor;
    /// all that is tried is kept in the store, so the same search again runs nothing. None if `run`
    /// left points without a row: it was interrupted, or lost its workers.
    ///
    /// # Errors
    /// What `run` says; a row that cannot be read.
    pub fn answer(
        &self,
        study: &Arc<Study>,
        store: &Arc<Store>,
        run: &mut dyn FnMut(Driver<Points>) -> Result<Outcome, Fault>,
    ) -> Result<Option<Vec<Answer>>, Fault> {
        let mut known: Vec<BTreeMap<(usize, u64), Values>> =
            vec![BTreeMap::new(); study.series().len()];
        loop {
            let (mut answers, mut wanted, mut points) = (vec![], vec![], vec![]);
            for (series, own) in study.series().iter().enumerate() {
                match self.step(&own.label, &known[series]) {
                    Ok(answer) => answers.push(answer),
                    Err(Need { at, seeds }) => {
                        for seed in seeds {
                            let point = study.point(
                                series,
                                &[(self.key.clone(), self.grid.node(at))],
                                seed,
                            )?;
                            wanted.push((series, at, seed, point.hash.clone()));
                            points.push(point);
                        }
                    }
                }
            }
            if points.is_empty() {
                return Ok(Some(answers));
            }
            let driver =
                Driver::of_points(study.clone(), store.clone(), points, DriverOptions::default())?;
            run(driver)?;
            for (series, at, seed, hash) in wanted {
                let Some(row) = store.row(&hash)? else { return Ok(None) };
                let values = row.summary.map(|summary| {
                    self.condition.terms.iter().map(|term| term.number.of(&summary)).collect()
                });
                known[series].insert((at, seed), values);
            }
        }
    }

    /// The answer from what is known, or what is needed next.
    fn step(&self, label: &str, known: &BTreeMap<(usize, u64), Values>) -> Result<Answer, Need> {
        let last = self.grid.steps;
        let verdict = |at: usize| self.tried(at, known).map(|tried| tried.verdict);
        let (first, end) = (verdict(0)?, verdict(last)?);
        let likely = |verdict: Verdict| matches!(verdict, Verdict::Holds | Verdict::LikelyHolds);
        let found = if likely(end) {
            Found::Everywhere
        } else if !likely(first) {
            Found::Nowhere
        } else {
            // Starts from the places that are known already, so that it asks for few more.
            let edge = |holds: &dyn Fn(Verdict) -> bool, mut low: usize, mut high: usize| {
                for at in known.keys().map(|(at, _)| *at) {
                    let Ok(own) = verdict(at) else { continue };
                    if low < at && at < high {
                        *(if holds(own) { &mut low } else { &mut high }) = at;
                    }
                }
                bisect(low, high, &|at| verdict(at).map(holds))
            };
            let middle = edge(&likely, 0, last)?;
            let value = |at: usize| self.grid.value(at);
            let low = match first {
                Verdict::Holds => {
                    Some(value(edge(&|verdict| verdict == Verdict::Holds, 0, middle + 1)?))
                }
                _ => None,
            };
            let high = match end {
                Verdict::Fails => {
                    Some(value(edge(&|verdict| verdict != Verdict::Fails, middle, last)? + 1))
                }
                _ => None,
            };
            Found::UpTo { value: value(middle), low, high }
        };
        let places: std::collections::BTreeSet<usize> = known.keys().map(|(at, _)| *at).collect();
        let tried =
            places.into_iter().filter_map(|at| self.tried(at, known).ok()).collect::<Vec<Tried>>();
        let fails = tried.iter().find(|one| one.verdict == Verdict::Fails).map(|one| one.value);
        let holds =
            tried.iter().rev().find(|one| one.verdict == Verdict::Holds).map(|one| one.value);
        let not_monotone = fails.zip(holds).filter(|(fails, holds)| fails < holds);
        Ok(Answer { label: label.into(), found, not_monotone, tried })
    }

    /// What the seeds of a place say; more of them are needed while that is not sure.
    fn tried(&self, at: usize, known: &BTreeMap<(usize, u64), Values>) -> Result<Tried, Need> {
        let mut count = self.least;
        loop {
            let seeds = &self.seeds[..count];
            let missing: Vec<u64> =
                seeds.iter().copied().filter(|seed| !known.contains_key(&(at, *seed))).collect();
            if !missing.is_empty() {
                return Err(Need { at, seeds: missing });
            }
            let tried = self.judge(at, seeds.iter().map(|seed| &known[&(at, *seed)]));
            if matches!(tried.verdict, Verdict::Holds | Verdict::Fails) || count == self.seeds.len()
            {
                return Ok(tried);
            }
            count += 1;
        }
    }

    fn judge<'a>(&self, at: usize, seeds: impl Iterator<Item = &'a Values> + Clone) -> Tried {
        let terms = self.condition.terms.len();
        let of = |term: usize| {
            seeds.clone().filter_map(move |values| values.as_ref()?[term]).collect::<Vec<f64>>()
        };
        let whole =
            |values: &&Values| values.as_ref().is_some_and(|all| all.iter().all(Option::is_some));
        let (count, complete) = (seeds.clone().count(), seeds.clone().filter(whole).count());
        // A seed without the number is one in which nothing completed, say: it is no evidence that
        // the condition holds.
        let mut verdict = if complete == count { Verdict::Holds } else { Verdict::Fails };
        let mut values = vec![];
        for (at, term) in self.condition.terms.iter().enumerate().take(terms) {
            let samples = of(at);
            let Some(mean) = mean(&samples) else {
                values.push(None);
                continue;
            };
            let half_width = confidence(&samples).map(|interval| interval.half_width);
            values.push(Some((mean, half_width)));
            let width = half_width.unwrap_or(0.0);
            let ends = [mean - width, mean + width].map(|value| term.holds(value));
            let own = match (term.holds(mean), ends) {
                (true, [true, true]) => Verdict::Holds,
                (false, [false, false]) => Verdict::Fails,
                (true, _) => Verdict::LikelyHolds,
                (false, _) => Verdict::LikelyFails,
            };
            verdict = worse(verdict, own);
        }
        Tried {
            value: self.grid.value(at),
            verdict,
            seeds: count,
            failed: count - complete,
            values,
        }
    }
}

/// The verdict of two terms that both have to hold.
fn worse(a: Verdict, b: Verdict) -> Verdict {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Holds => 0,
        Verdict::LikelyHolds => 1,
        Verdict::LikelyFails => 2,
        Verdict::Fails => 3,
    };
    if rank(a) >= rank(b) { a } else { b }
}

/// The last place at which a condition holds that holds at `low` and, as far as is known, not at
/// `high`.
fn bisect(
    mut low: usize,
    mut high: usize,
    holds: &dyn Fn(usize) -> Result<bool, Need>,
) -> Result<usize, Need> {
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

#[cfg(test)]
mod tests;
