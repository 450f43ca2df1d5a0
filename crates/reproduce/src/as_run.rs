//! Claims judged as papers run them: a finite run from an empty network, all flows counted, at several
//! lengths. The verdict has two parts: the order, at which lengths, and the size.

use super::Options;
use super::band::{Band, Printed, Unit};
use super::claim::Claim;
use super::expected::Experiment;
use super::finite::{InFinite, Length, Order, Size};
use super::judged::Results;
use super::sets::{self, Set};
use incast_measure::measured::{Estimate, quotient};

/// Whether runs of a set are asked for by `--assuming`: by `as_run`, `as_run/1000`, or its whole name.
pub fn is_asked(set: &str, options: &Options) -> bool {
    let by = |name: &String| {
        set.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !options.quick && (options.assuming.is_empty() || options.assuming.iter().any(by))
}

/// What the runs of a set gave, by the number of flows.
pub type ByLength = Vec<(u64, Results)>;

/// Two numbers that a claim compares.
struct Compared<'a> {
    own: &'a str,
    base: &'a str,
    /// Whether the first is to be the larger.
    more: bool,
    unit: Unit,
    /// The printed ratio.
    paper: Option<f64>,
}

impl Compared<'_> {
    /// What a claim compares, if it is two transports in one run.
    fn of(claim: &Claim) -> Option<Compared<'_>> {
        if !claim.among.is_empty() || claim.over_run.is_some() || claim.trace.is_some() {
            return None;
        }
        if let Some([own, base]) = claim.order.as_deref() {
            return Some(Compared {
                own,
                base,
                more: false,
                unit: Unit::PercentLower,
                paper: None,
            });
        }
        let (own, base) = (claim.transport.as_deref()?, claim.over.as_deref()?);
        let unit = Unit::named(&claim.unit);
        let (more, paper) = match (claim.paper, claim.min, claim.max) {
            (Some(Printed::One(number)), None, None) => {
                let ratio = unit.measured(number);
                (ratio > 1.0, Some(ratio))
            }
            (None, None, Some(most)) if most <= 1.0 => (false, None),
            (None, Some(least), None) if least >= 1.0 => (true, None),
            _ => return None,
        };
        let unit = if unit == Unit::Ratio { Unit::PercentLower } else { unit };
        Some(Compared { own, base, more, unit, paper })
    }

    /// Whether the paper's order holds: the whole interval is on one side of 1.
    fn holds(&self, found: &Estimate) -> Option<bool> {
        let width = found.half_width?;
        let (low, high) = (found.value - width, found.value + width);
        match () {
            () if low > 1.0 => Some(self.more),
            () if high < 1.0 => Some(!self.more),
            () => None,
        }
    }

    fn size(&self, found: &Estimate, band: &Band) -> (Option<Size>, Option<f64>) {
        let Some(paper) = self.paper else { return (None, None) };
        let share = (found.value - 1.0) / (paper - 1.0);
        let width = found.half_width.unwrap_or(0.0) / (paper - 1.0).abs();
        let size = match () {
            () if band.accepts(found.value, found.half_width) => Size::Within,
            () if share + width < 0.5 => Size::Smaller,
            () if share - width > 2.0 => Size::Larger,
            () => Size::Undecided,
        };
        (Some(size), Some(share))
    }
}

/// Whether a claim says that the first of two numbers is the larger.
pub fn says_more(claim: &Claim) -> bool {
    Compared::of(claim).is_some_and(|compared| compared.more)
}

/// Judges a claim by the finite runs of a set; `None` if it compares no two transports, or none has run.
pub fn judge(claim: &Claim, set: &Set, runs: &ByLength) -> Option<InFinite> {
    let compared = Compared::of(claim)?;
    let id = claim.measure.id();
    let of_length = |(flows, results): &(u64, Results)| {
        let run = claim.run.as_deref().unwrap_or(results.default_run());
        let (own, base) = (results.of(run, compared.own, &id), results.of(run, compared.base, &id));
        let found = quotient(&own, &base)?;
        let (size, share) = compared.size(&found, &claim.band());
        let both = [compared.own, compared.base].into_iter();
        let unbalanced = both.filter(|name| results.never_balances(run, name));
        Some(Length {
            flows: *flows,
            value: found.value,
            half_width: found.half_width,
            measured: compared.unit.shown(found.value, found.half_width),
            holds: compared.holds(&found),
            size,
            share,
            unbalanced: unbalanced.map(str::to_string).collect(),
        })
    };
    let lengths: Vec<Length> = runs.iter().filter_map(of_length).collect();
    let decided: Vec<Option<bool>> = lengths.iter().map(|one| one.holds).collect();
    let set = set.name.clone();
    (!lengths.is_empty()).then(|| InFinite { set, order: Order::of(&decided), lengths })
}

/// What finite runs say of a claim, by set; nothing if its run is not among them.
pub fn of_claim(
    experiment: &Experiment,
    claim: &Claim,
    results: &[(Set, ByLength)],
) -> Vec<InFinite> {
    let Some(finite) = &experiment.expected.as_run else { return vec![] };
    let needed = claim.runs(&experiment.default_run());
    let here = needed.iter().all(|run| finite.runs.contains(run));
    let judged = results.iter().filter(|_| here);
    judged.filter_map(|(set, runs)| judge(claim, set, runs)).collect()
}

/// The verdicts of all sets as one sentence: the order, and the size; nothing of none.
pub fn sentence(judged: &[InFinite]) -> String {
    if judged.is_empty() {
        return String::new();
    }
    let one = |own: &InFinite| {
        let size = match own.size() {
            None => String::new(),
            Some((size, _)) => format!(", size {}", size.text()),
        };
        let longest = own
            .lengths
            .last()
            .map_or(String::new(), |at| format!(" ({} at N = {})", at.measured, at.flows));
        format!("{} {}{size}{longest}", sets::title(&own.set), own.order_text())
    };
    let all: Vec<String> = judged.iter().map(one).collect();
    format!(" As run: {}.", all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::finite::Finite;
    use super::*;
    use incast_measure::measured::{BALANCE, MeasuredValue};

    const PRINTED: &str = "text = 't'\nmeasure.kind = 'fct_mean_us'\nrun = 'x'\ntransport = 'a'\n\
                           over = 'b'\npaper = 40\nunit = '% lower'\n";

    fn judged(text: &str, lengths: &[(u64, [f64; 3])]) -> InFinite {
        let claim: Claim = toml::from_str(text).unwrap();
        let id = claim.measure.id();
        let seen = |value| MeasuredValue { value: Some(value), ..MeasuredValue::default() };
        let of = |(flows, ratios): &(u64, [f64; 3])| {
            let mut results = Results::new("x".into(), 3, false);
            for (seed, ratio) in ratios.iter().enumerate() {
                // Seeds differ far more than the transports do: only pairs decide.
                let base = 100.0 * (1 + 10 * seed) as f64;
                let row = |value| [(id.clone(), seen(value)), (BALANCE.into(), seen(0.0))].into();
                results.add("x", "a", seed as u64, row(base * ratio));
                results.add("x", "b", seed as u64, row(base));
            }
            (*flows, results)
        };
        let runs: ByLength = lengths.iter().map(of).collect();
        judge(&claim, &Set::published(), &runs).unwrap()
    }

    #[test]
    fn the_order_is_that_of_every_length() {
        let (better, worse, open) = ([0.6, 0.61, 0.62], [1.2, 1.21, 1.22], [0.7, 1.0, 1.3]);
        let order = |lengths: &[[f64; 3]]| {
            let all: Vec<_> = (1..).map(|n| n * 1000).zip(lengths.iter().copied()).collect();
            judged(PRINTED, &all).order
        };
        assert_eq!(order(&[better, better]), Order::Every);
        assert_eq!(order(&[better, open]), Order::Short);
        assert_eq!(order(&[better, worse]), Order::Short);
        assert_eq!(order(&[open, better]), Order::Long);
        assert_eq!(order(&[open, better, worse]), Order::Some);
        assert_eq!(order(&[worse, open]), Order::Never);
        assert_eq!(order(&[open, open]), Order::Undecided);
    }

    /// Neither the interval's crossing a border of size nor the lack of balance takes the order away.
    #[test]
    fn order_and_size_are_apart() {
        let own = judged(PRINTED, &[(1000, [0.6, 0.61, 0.62]), (3000, [0.79, 0.8, 0.81])]);
        assert_eq!((own.order, own.size().unwrap().0), (Order::Every, Size::Undecided));
        assert_eq!(own.lengths[0].size, Some(Size::Within));
        let text = "1000: 39.0 ± 2.5 % lower (no balance: a, b); 3000: ";
        assert!(own.measured().starts_with(text), "{}", own.measured());
        let small = judged(PRINTED, &[(1000, [0.9, 0.901, 0.902])]);
        assert_eq!(small.size_text(), "smaller (0.25 of it at N = 1000)");
        let none = judged(PRINTED, &[(1000, [1.1, 1.101, 1.102])]);
        assert_eq!((none.order, none.size()), (Order::Never, None));
        let large = judged(&PRINTED.replace("40", "5"), &[(1000, [0.6, 0.61, 0.62])]);
        assert_eq!(large.size().unwrap().0, Size::Larger);
        let more = PRINTED.replace("% lower", "% higher");
        let more = judged(&more, &[(1000, [1.4, 1.41, 1.42])]);
        assert_eq!((more.order, more.size().unwrap().0), (Order::Every, Size::Within));
        let order = "text = 't'\nmeasure.kind = 'fct_mean_us'\nrun = 'x'\norder = ['a', 'b']\n";
        let order = judged(order, &[(1000, [0.6, 0.61, 0.62])]);
        assert_eq!((order.order, order.size_text().as_str()), (Order::Every, ""));
    }

    #[test]
    fn what_compares_no_two_transports_is_not_judged() {
        for text in [
            PRINTED.replace("over = 'b'\npaper = 40", "min = 1\nbecause = 'b'"),
            PRINTED.replace("run = 'x'", "among = ['x']"),
            PRINTED.replace("paper = 40", "min = 0.67\nmax = 1.5\nbecause = 'b'"),
        ] {
            let claim: Claim = toml::from_str(&text).unwrap();
            assert!(Compared::of(&claim).is_none(), "{text}");
        }
    }

    #[test]
    fn lengths_and_runs_are_checked() {
        let said = |flows: &[u64], run: &str| {
            let finite = Finite { flows: flows.to_vec(), runs: vec![run.into()], sets: vec![] };
            finite.check(&["0.7".into()]).map_err(|one| one.to_string())
        };
        assert_eq!(said(&[1000, 3000], "0.7"), Ok(()));
        for flows in [&[][..], &[0], &[3000, 1000]] {
            assert!(said(flows, "0.7").unwrap_err().contains("as_run.flows"));
        }
        let run = said(&[1], "07").unwrap_err();
        assert!(run.contains("as_run.runs") && run.contains("mean `0.7`"), "{run}");
    }

    #[test]
    fn sets_are_asked_for_by_their_beginning() {
        let asked = |assuming: &[&str]| {
            let assuming = assuming.iter().map(|name| name.to_string()).collect();
            let options = Options { assuming, ..Options::default() };
            is_asked("as_run/1000/as_written", &options)
        };
        assert!(asked(&[]) && asked(&["as_run"]) && asked(&["as_run/1000"]));
        assert!(asked(&["as_run/1000/as_written"]));
        assert!(!asked(&["as_written"]) && !asked(&["as_run/100"]) && !asked(&["as_compared"]));
    }
}
