//! Runs in real time: what claims say of them, and how they compare with the virtual clock.

use super::claim::Claim;
use super::judged::Results;
use super::sets::{REAL_TIME, verb};
use super::table::{EXACT, LATENESS, PACKETS, RUN, STALLED, WALL, id};
use super::verdict::{InRealTime, InSet, Judgement};
use incast_experiment::scenario::Clock;
use incast_measure::measured::{Apart, MOST, Measured, Wanted};
use std::collections::BTreeMap;

/// What runs in real time say of a claim: an entry for each clock under which all its runs were
/// made.
pub fn judge(claim: &Claim, results: &Results) -> Vec<InRealTime> {
    let Some(exact) = results.dataplane.as_deref() else { return vec![] };
    let of = |(clock, own): &(Clock, Results)| {
        let needed = claim.needed(own.default_run());
        let is_there =
            |run: &(String, String)| own.has(&run.0, &run.1) || own.refused.contains_key(run);
        if !needed.iter().all(is_there) {
            return None;
        }
        let refused = needed.iter().find_map(|run| Some((run, own.refused.get(run)?)));
        if let Some(((run, name), why)) = refused {
            return Some(InRealTime {
                clock: clock.name().into(),
                measured: String::new(),
                verdict: None,
                equal: false,
                apart: None,
                refused: format!("{name} ({run}): {why}"),
                brief: brief(name, own.fidelity.get(&(run.clone(), name.clone()))),
            });
        }
        let Judgement { measured, word, .. } = claim.judge(own);
        Some(InRealTime {
            clock: clock.name().into(),
            measured,
            verdict: Some(word),
            equal: exact.equals_in(own, &needed),
            apart: apart(claim, own, exact),
            refused: String::new(),
            brief: String::new(),
        })
    };
    results.real_time.iter().filter_map(of).collect()
}

/// How far the values of the claim's runs are from those of the same runs under the virtual clock.
fn apart(claim: &Claim, own: &Results, exact: &Results) -> Option<Apart> {
    let id = Wanted::Each(claim.measure.clone()).id();
    let values = |results: &Results, run: &(String, String)| {
        let by_seed = results.of(&run.0, &run.1, &id);
        let mut all: Vec<f64> = by_seed.values().flat_map(|seen| seen.list.clone()).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    };
    let of = |run: &(String, String)| {
        Apart::between(&values(own, run), &values(exact, run), claim.measure.kind)
    };
    let farther = |a: &Apart, b: &Apart| {
        let by = |one: &Apart| (!one.alike(), one.most().max(one.distance));
        by(a).partial_cmp(&by(b)).unwrap_or(std::cmp::Ordering::Equal)
    };
    claim.needed(own.default_run()).iter().filter_map(of).max_by(farther)
}

/// What real time says beside the simulator: nothing, or a sentence per clock.
pub fn beside(sets: &[InSet]) -> String {
    let of_clock = |clock: Clock| {
        let name = clock.name();
        let all: Vec<(&str, String)> = sets
            .iter()
            .flat_map(|set| set.real_time.iter().map(move |one| (set.set.as_str(), one)))
            .filter(|(_, one)| one.clock == name)
            .map(|(set, one)| (set, one.words()))
            .collect();
        if all.is_empty() {
            return None;
        }
        let same = all.len() == sets.len() && all.iter().all(|(_, words)| *words == all[0].1);
        let words = match same {
            true => all[0].1.clone(),
            false => {
                let of =
                    |(set, words): &(&str, String)| format!("{}: {words}", set.replace('_', " "));
                all.iter().map(of).collect::<Vec<_>>().join("; ")
            }
        };
        Some(format!(" In real time, {name}: {words}."))
    };
    REAL_TIME.into_iter().filter_map(of_clock).collect()
}

impl InRealTime {
    /// What was seen and how it compares with the virtual clock, or why a run is refused.
    pub fn said(&self) -> String {
        match (&self.apart, self.verdict) {
            (_, None) => self.refused.clone(),
            (_, Some(_)) if self.equal => format!("{} (equal runs)", self.measured),
            (Some(apart), _) => format!("{}, {}", self.measured, words(apart)),
            (None, _) => self.measured.clone(),
        }
    }

    /// In a sentence.
    fn words(&self) -> String {
        let Some(verdict) = self.verdict else { return format!("refused ({})", self.brief) };
        if self.equal {
            return "the same".into();
        }
        let seen = format!("{} ({})", verb(verdict), self.measured);
        match &self.apart {
            None => seen,
            Some(apart) => format!("{seen}, {}", words(apart)),
        }
    }
}

/// How far values are apart in a sentence, each difference in percent.
fn words(apart: &Apart) -> String {
    let quantiles = match apart.most() <= MOST {
        true if apart.most() == 0.0 => {
            format!("p50, p90, p99 of {} as under the virtual clock", apart.of)
        }
        true => format!(
            "p50, p90, p99 of {} within {} of the virtual clock's",
            apart.of,
            share(apart.most())
        ),
        false => format!(
            "p50 {:+.1} %, p90 {:+.1} %, p99 {:+.1} % of {} beside the virtual clock's",
            100.0 * apart.p50,
            100.0 * apart.p90,
            100.0 * apart.p99,
            apart.of
        ),
    };
    match apart.distance <= apart.most_distance {
        true => quantiles,
        false => format!("{quantiles}, K-S distance {:.2}", apart.distance),
    }
}

/// A share in percent, rounded up so that it is a bound.
fn share(share: f64) -> String {
    format!("{:.1} %", (1000.0 * share - 1e-9).ceil().max(0.0) / 10.0)
}

/// By what a refused run of a transport was off.
fn brief(transport: &str, by_seed: Option<&BTreeMap<u64, Measured>>) -> String {
    let mut off = Faithful::default();
    by_seed.into_iter().flat_map(BTreeMap::values).for_each(|row| off.join(Faithful::of(row)));
    format!(
        "{transport}: p99.9 lateness {:.1} % of the base RTT, {:+.1} % packets",
        100.0 * off.lateness,
        100.0 * off.packets
    )
}

/// How faithful runs of one transport under one clock were, over its runs.
#[derive(Debug, Default, PartialEq)]
pub struct Faithful {
    /// Runs.
    pub runs: usize,
    /// How many of them are refused.
    pub refused: usize,
    /// The longest real time over the time of the run.
    pub wall: f64,
    /// The largest share of real time in which the program did not run.
    pub stalled: f64,
    /// The largest 99.9th percentile of the lateness, as a share of the base RTT.
    pub lateness: f64,
    /// The largest difference of the packets from the virtual run's, as a share with its sign.
    pub packets: f64,
}

impl Faithful {
    /// One run that was accepted, from its numbers.
    fn of(row: &Measured) -> Faithful {
        let number = |name| row.get(&id(name)).and_then(|seen| seen.value);
        let over = |own: Option<f64>, base: Option<f64>| {
            own.zip(base).map(|(own, base)| own / base.max(1.0))
        };
        Faithful {
            runs: 1,
            refused: 0,
            wall: over(number(WALL), number(RUN)).unwrap_or(0.0),
            stalled: number(STALLED).unwrap_or(0.0),
            lateness: number(LATENESS).unwrap_or(0.0),
            packets: over(number(PACKETS), number(EXACT)).map_or(0.0, |share| share - 1.0),
        }
    }

    /// Adds other runs.
    pub fn join(&mut self, other: Faithful) {
        self.runs += other.runs;
        self.refused += other.refused;
        self.wall = self.wall.max(other.wall);
        self.stalled = self.stalled.max(other.stalled);
        self.lateness = self.lateness.max(other.lateness);
        if other.packets.abs() > self.packets.abs() {
            self.packets = other.packets;
        }
    }
}

/// How faithful the runs of each transport were.
pub fn faithful(results: &Results) -> BTreeMap<String, Faithful> {
    let mut all: BTreeMap<String, Faithful> = BTreeMap::new();
    for (key, by_seed) in &results.fidelity {
        let of = all.entry(key.1.clone()).or_default();
        for row in by_seed.values() {
            let refused = usize::from(results.refused.contains_key(key));
            of.join(Faithful { refused, ..Faithful::of(row) });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::band::Word;
    use super::super::table::KeptTable;
    use super::*;
    use incast_experiment::scenario::Clock::{Compensated, Paced};
    use incast_measure::Fidelity;
    use incast_measure::measured::MeasuredValue;

    const CLAIM: &str = "text = \"short queue\"\nours = true\ntransport = \"ren\"\n\
        measure = { kind = \"backlog_mean_packets\", port = \"a->b\" }\n\
        unit = \"packets\"\nmax = 2\nbecause = \"of the test\"\n";

    /// A run whose intervals have these backlogs.
    fn table(backlogs: &[f64], refused: &[&str]) -> KeptTable {
        let claim: Claim = toml::from_str(CLAIM).unwrap();
        let mean = backlogs.iter().sum::<f64>() / backlogs.len() as f64;
        let number = MeasuredValue { value: Some(mean), ..MeasuredValue::default() };
        let each = MeasuredValue { list: backlogs.to_vec(), ..MeasuredValue::default() };
        let row = Measured::from([
            (claim.measure.id(), number),
            (claim.each("run", "run").unwrap().id(), each),
        ]);
        let refused = refused.iter().map(|why| why.to_string()).collect();
        let fidelity = Fidelity {
            wall_ns: 3e9,
            run_ns: 2e9,
            stalled_share: 0.25,
            lateness_p999_rtts: 0.04,
            packets: 101,
            virtual_packets: Some(100),
            refused,
            ..Fidelity::default()
        };
        KeptTable::of("00".into(), 1, row).in_real_time(&fidelity)
    }

    fn results(backlogs: &[f64], refused: &[&str]) -> Results {
        let mut results = Results::new("run".into(), 1, false);
        results.add_table("run", "ren", 1, &table(backlogs, refused));
        results
    }

    /// What a claim of runs with these backlogs says: under the virtual clock, then by clock.
    fn said(exact: &[f64], real: Vec<(Clock, Results)>) -> (Vec<InRealTime>, String) {
        let mut all = results(exact, &[]);
        all.dataplane = Some(Box::new(results(exact, &[])));
        all.real_time = real;
        let judged = judge(&toml::from_str(CLAIM).unwrap(), &all);
        let set = InSet {
            set: "as_published".into(),
            measured: String::new(),
            verdict: Word::Matches,
            dataplane: None,
            real_time: judged.clone(),
        };
        let words = beside(&[set]);
        (judged, words)
    }

    const EXACT: [f64; 4] = [1.0, 1.0, 1.0, 2.0];

    #[test]
    fn equal_runs_are_the_same_and_others_are_judged() {
        let near = results(&[1.0, 1.02, 1.02, 2.0], &[]);
        let (judged, words) =
            said(&EXACT, vec![(Paced, results(&EXACT, &[])), (Compensated, near)]);
        assert!(judged[0].equal && !judged[1].equal);
        assert_eq!(judged[1].verdict, Some(Word::Matches));
        assert_eq!(
            words,
            " In real time, paced: the same. In real time, compensated: holds (1.26 packets), p50, p90, p99 \
             of intervals within 2.0 % of the virtual clock's."
        );
    }

    #[test]
    fn a_distribution_that_is_another_is_said_to_be() {
        let far = results(&[4.0, 4.0, 4.0, 8.0], &[]);
        let (judged, words) = said(&EXACT, vec![(Compensated, far)]);
        assert_eq!(judged[0].verdict, Some(Word::Differs));
        assert_eq!(judged[0].apart.unwrap().distance, 1.0);
        assert_eq!(
            words,
            " In real time, compensated: does not hold (5 packets), p50 +300.0 %, p90 +300.0 %, \
             p99 +300.0 % of intervals beside the virtual clock's, K-S distance 1.00."
        );
    }

    /// A refused run is not judged, whatever it gave; one that was not made is not mentioned.
    #[test]
    fn a_refused_run_gives_its_reason_instead_of_a_verdict() {
        let refused = results(&EXACT, &["too late", "too many packets"]);
        let (judged, words) = said(&EXACT, vec![(Compensated, refused)]);
        assert_eq!((judged[0].verdict, judged[0].measured.as_str()), (None, ""));
        assert_eq!(judged[0].refused, "ren (run): too late; too many packets");
        assert_eq!(
            words,
            " In real time, compensated: refused (ren: p99.9 lateness 4.0 % of the base RTT, +1.0 % packets)."
        );
        let none = Results::new("run".into(), 1, false);
        assert_eq!(said(&EXACT, vec![(Compensated, none)]), (vec![], String::new()));
    }

    #[test]
    fn sets_that_differ_are_named() {
        let near = results(&EXACT, &[]);
        let (judged, _) = said(&EXACT, vec![(Paced, near)]);
        let set = |name: &str, real_time: Vec<InRealTime>| InSet {
            set: name.into(),
            measured: String::new(),
            verdict: Word::Matches,
            dataplane: None,
            real_time,
        };
        let sets = [set("as_published", judged.clone()), set("as_compared", vec![])];
        assert_eq!(beside(&sets), " In real time, paced: as published: the same.");
        let sets = [set("as_published", judged.clone()), set("as_compared", judged)];
        assert_eq!(beside(&sets), " In real time, paced: the same.");
    }

    #[test]
    fn the_largest_number_of_several_runs_is_shown() {
        let mut own = results(&EXACT, &[]);
        own.add_table("other", "ren", 1, &table(&EXACT, &["too late"]));
        let all = faithful(&own);
        let ren = &all["ren"];
        assert_eq!((ren.runs, ren.refused, ren.wall), (2, 1, 1.5));
        assert_eq!((ren.stalled, ren.lateness), (0.25, 0.04));
        assert!((ren.packets - 0.01).abs() < 1e-12);
    }
}
