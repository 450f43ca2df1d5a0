//! Experiments that are judged in both worlds.

use super::tests::{address, change, repository, reproduce};
use super::*;
use incast_experiment::scenario::Clock;
use incast_measure::measured::MeasuredValue;

struct Silent;

impl Watch for Silent {
    fn verdict(&mut self, _: &Verdict) {}
    fn note(&mut self, _: &str) {}
}

/// What the verdict would be if nothing had been run in real time.
fn without_real_time(mut verdict: Verdict) -> Verdict {
    let said = real_time::beside(&verdict.sets);
    verdict.sentence = verdict.sentence.strip_suffix(&said).expect("it is at the end").into();
    verdict.sets.iter_mut().for_each(|set| set.real_time.clear());
    verdict
}

/// The papers' testbeds: each run gives the same in the data plane, to the last bit, and kept
/// tables of both worlds are judged alike.
#[test]
fn testbeds_are_judged_in_both_worlds() {
    let both = Experiment::all().unwrap().into_iter().filter(Experiment::in_dataplane);
    let names: Vec<String> = both.map(|experiment| experiment.name).collect();
    let testbeds = ["amrt/fig11", "amrt/fig9", "decn/fig8", "decn/fig9"];
    let ren = ["ren/fig11", "ren/fig12", "ren/fig3"];
    assert_eq!(names, [&testbeds[..], &ren].concat());
    let folder = tempfile::tempdir().unwrap();
    let keep = Some(folder.path().to_path_buf());
    let options = Options { keep, threads: 1, ..Options::default() };
    let kept = Options { from_kept: true, ..options.clone() };
    for name in ["amrt/fig9", "decn/fig8"] {
        let none = reproduce(name, &kept, &mut Silent, None).unwrap();
        assert!(none.iter().all(|one| one.sets[0].dataplane.is_none()), "{none:#?}");
        let made = reproduce(name, &options, &mut Silent, None).unwrap();
        for one in &made {
            let seen = |one: &InSet| InDataPlane {
                measured: one.measured.clone(),
                verdict: one.verdict,
                equal: true,
            };
            let agrees = |one: &InSet| one.dataplane == Some(seen(one));
            assert!(one.sets.iter().all(agrees), "{one:#?}");
            assert!(one.sentence.ends_with(" The data plane gives the same."), "{one:#?}");
        }
        assert_eq!(reproduce(name, &kept, &mut Silent, None).unwrap(), made);
        let keep = Some(repository());
        let ours = reproduce(name, &Options { keep, ..kept.clone() }, &mut Silent, None).unwrap();
        assert!(ours.iter().all(|one| !one.sets[0].real_time.is_empty()), "{ours:#?}");
        let ours: Vec<Verdict> = ours.into_iter().map(without_real_time).collect();
        assert_eq!(ours, made, "the kept tables of {name} are not what it gives now");
    }
    // A table of the data plane with another number: said so.
    let amrt = address("amrt/fig9", "dataplane/as_published", "run", "amrt");
    change(folder.path(), &amrt, |table| {
        let late = |id: &str| id.starts_with("flow_gbps") && id.contains("8ms");
        let seen = table.row.iter_mut().find(|(id, _)| late(id)).expect("a rate");
        *seen.1 = MeasuredValue { value: Some(0.1), ..MeasuredValue::default() };
    });
    let read = reproduce("amrt/fig9", &kept, &mut Silent, None).unwrap();
    let words = " In the data plane, as published does not hold (0.1 Gb/s).";
    assert!(read.iter().any(|one| one.sentence.ends_with(words)), "{read:#?}");
    assert!(read.iter().all(|one| one.sets[0].dataplane.as_ref().is_some_and(|own| !own.equal)));
}

/// Tables of both worlds in the repository are of the scenarios that would be run now.
#[test]
fn kept_tables_of_testbeds_are_of_their_scenarios() {
    struct Told(Vec<String>);
    impl Watch for Told {
        fn verdict(&mut self, _: &Verdict) {}
        fn note(&mut self, text: &str) {
            self.0.push(text.to_string());
        }
    }
    let options = Options { keep: Some(repository()), from_kept: true, ..Options::default() };
    for experiment in Experiment::all().unwrap().into_iter().filter(Experiment::in_dataplane) {
        let mut told = Told(vec![]);
        let name = &experiment.name;
        let read = reproduce(name, &options, &mut told, None).unwrap();
        assert_eq!(told.0, Vec::<String>::new(), "{name}");
        assert!(read.iter().all(|one| one.sets[0].dataplane.is_some()), "{name}: {read:#?}");
    }
}

/// Only a clock that follows real time, and only where there are such runs.
#[test]
fn a_clock_is_for_testbeds() {
    let options = Options { clock: Some(Clock::Paced), ..Options::default() };
    let fault = Reproduction::of("ren/fig16", &options, None).err().unwrap().to_string();
    assert!(fault.contains("--clock") && fault.contains("amrt/fig9"), "{fault}");
    assert!(Reproduction::of("ren", &options, None).is_ok());
}

/// Runs in real time are those of 1 Gb/s, and of the clock that is asked for.
#[test]
fn runs_in_real_time_have_links_that_it_carries() {
    let clock = Some(Clock::Compensated);
    let options = Options { clock, seed: Some(7), ..Options::default() };
    let planned = Reproduction::of("ren/fig11", &options, None).unwrap();
    let mut runs = planned.runs_of("real-time/compensated/as_published");
    runs.dedup();
    assert_eq!(runs, ["bursts1-1gbps", "bursts2-1gbps", "bursts3-1gbps", "bursts4-1gbps"]);
    assert_eq!(planned.runs_of("real-time/paced/as_published"), Vec::<String>::new());
    assert_eq!(planned.runs_of("dataplane/as_published").len(), 8 * 5);
}

/// Whatever the scheduler does, a paced run is the virtual one, and any other is judged or refused;
/// both are kept with what real time did, and judged alike from their tables.
#[test]
fn a_run_in_real_time_is_judged_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Some(folder.path().to_path_buf());
    let kept = Options { keep, from_kept: true, threads: 1, ..Options::default() };
    for clock in [Clock::Paced, Clock::Compensated] {
        let options = Options { from_kept: false, clock: Some(clock), ..kept.clone() };
        let made = reproduce("amrt/fig9", &options, &mut Silent, None).unwrap();
        for one in &made {
            for set in &one.sets {
                let own = set.real_time.iter().find(|own| own.clock == clock.name()).unwrap();
                assert_eq!(own.verdict.is_none(), !own.refused.is_empty(), "{one:#?}");
                if clock == Clock::Paced {
                    assert!(own.equal && own.verdict == Some(set.verdict), "{one:#?}");
                    assert_eq!(own.apart.map_or(0.0, |apart| apart.most()), 0.0, "{one:#?}");
                }
            }
            let clock = format!(" In real time, {}: ", clock.name());
            assert!(one.sentence.contains(&clock), "{}", one.sentence);
        }
        assert_eq!(reproduce("amrt/fig9", &kept, &mut Silent, None).unwrap(), made);
        let set = format!("real-time/{}/as_published", clock.name());
        let amrt = address("amrt/fig9", &set, "run", "amrt");
        let table = Store::at(folder.path()).table(&amrt).unwrap().expect("it was kept");
        assert!(table.fidelity.contains_key("fidelity stalled_share"), "{table:?}");
    }
}

/// A refused run is kept with its reason, not judged, and made again only if that is asked for.
#[test]
fn a_refused_run_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Some(folder.path().to_path_buf());
    let clock = Some(Clock::Compensated);
    let options = Options { keep, clock, threads: 1, ..Options::default() };
    reproduce("amrt/fig9", &options, &mut Silent, None).unwrap();
    let trd = address("amrt/fig9", "real-time/compensated/as_published", "run", "trd");
    let why = "12 packets were sent, and 10 under the virtual clock";
    change(folder.path(), &trd, |table| table.refused = Some(why.into()));
    let read = reproduce("amrt/fig9", &options, &mut Silent, None).unwrap();
    let refused = |one: &&Verdict| one.sets[0].real_time[0].refused.contains(why);
    let trd: Vec<&Verdict> = read.iter().filter(refused).collect();
    assert!(!trd.is_empty() && trd.len() < read.len(), "{read:#?}");
    for one in trd {
        assert_eq!(one.sets[0].real_time[0].verdict, None);
        let words = "refused (trd: p99.9 lateness ";
        assert!(one.sentence.contains(words), "{}", one.sentence);
    }
    let again = Options { retry_failed: true, ..options };
    let again = Reproduction::of("amrt/fig9", &again, None).unwrap();
    assert!(!again.driver().unwrap().done());
}
