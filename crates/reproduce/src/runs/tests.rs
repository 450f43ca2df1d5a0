use super::*;
use crate::results::{decode, encode};
use crate::sets;
use crate::tests::repository;
use incast_experiment::{Monitor, identity};
use incast_measure::measured::Measured;
use incast_measure::measured::MeasuredValue;
use incast_study::{Job as _, Row, run_bytes, run_point};

/// Tables in the repository are of this program: their scenarios and versions are today's.
#[test]
fn no_kept_table_is_stale() {
    let (store, mut stale, mut kept, mut judged) = (Store::at(&repository()), vec![], 0, 0);
    for experiment in Experiment::all().unwrap() {
        let tables = store.tables(&experiment.name).unwrap();
        kept += tables.len();
        let mut every = experiment.sets().iter().flat_map(sets::in_worlds).collect::<Vec<_>>();
        every.extend(experiment.finite().into_iter().flat_map(|(_, lengths)| lengths));
        let every = every.into_iter().flat_map(|set| {
            experiment.runs_in(&set).into_iter().map(move |run| (set.clone(), run))
        });
        for (set, run) in every {
            let of = |address: &&Address| address.set == set.name && address.run == run;
            for address in tables.keys().filter(of) {
                let Address { transport, seed, .. } = address;
                let mut scenario = experiment.scenario(&run, &set, Some(*seed), false).unwrap();
                let has = scenario.transport.names.contains(transport);
                scenario.transport.names = vec![set.in_place_of(transport).into()];
                let own = has.then(|| identity_of(&scenario).unwrap().0);
                let table = &tables[address];
                if own.as_ref() != Some(&table.identity) || table.error.is_some() {
                    stale.push(address.to_string());
                }
                judged += 1;
            }
        }
    }
    assert!(stale.is_empty(), "made from another scenario or version: {stale:#?}");
    // None is of a set or a run that there is none of.
    assert!(judged == kept && kept > 7000, "{judged} of {kept}");
}

/// Kept results are written as they are, to the byte. Large ones take long to pack.
#[test]
fn kept_results_are_written_as_they_are() {
    let mut files = 0;
    for experiment in Experiment::all().unwrap() {
        let name = &experiment.name;
        let bytes = std::fs::read(repository().join(name).join("results.parquet"));
        let Some(bytes) = bytes.ok().filter(|bytes| bytes.len() < 30_000) else { continue };
        let tables = decode(bytes.clone(), name).unwrap();
        assert!(encode(&tables) == bytes, "{name}");
        files += 1;
    }
    assert!(files > 20, "{files}");
}

/// What names a run without planning it is what names it when it is planned.
#[test]
fn runs_are_named_alike_before_and_after_they_are_planned() {
    for name in ["ren/fig3", "amrt/fig9", "decn/fig8", "ccrp/fig4"] {
        let experiment = Experiment::read(name).unwrap();
        for set in experiment.sets() {
            let run = experiment.runs_in(&set).swap_remove(0);
            let plan = experiment.plan(&run, &set, None, true).unwrap();
            for case in &plan.cases {
                let mut scenario = experiment.scenario(&run, &set, None, true).unwrap();
                scenario.transport.names = vec![case.label.clone()];
                let planned = identity(&plan, case);
                assert_eq!(identity_of(&scenario).unwrap().0, planned, "{name} {}", case.label);
            }
        }
    }
}

/// What a run of a point gave that has no number.
fn empty(point: &Point) -> Measured {
    point.wanted().iter().map(|one| (one.id(), MeasuredValue::default())).collect()
}

/// Sets that change other transports share the table of a run.
#[test]
fn the_same_run_of_two_sets_is_made_once() {
    let keep = tempfile::tempdir().unwrap();
    let options = Options {
        keep: Some(keep.path().into()),
        seed: Some(2),
        assuming: vec!["as_published".into(), "as_compared".into()],
        ..Options::default()
    };
    let both = Reproduction::of("ren/fig16", &options, None).unwrap();
    let about = |point: &Point| &both.about[&point.hash];
    let of = |transport: &str| {
        let ours = |point: &&Arc<Point>| {
            about(point).addresses[0].run == "0.1" && point.transport == transport
        };
        both.points.iter().filter(ours).collect::<Vec<_>>()
    };
    let [dctcp] = of("dctcp")[..] else { panic!("DCTCP is the same in both") };
    let Asked { addresses, identity, .. } = about(dctcp);
    let sets: Vec<&str> = addresses.iter().map(|one| one.set.as_str()).collect();
    assert_eq!(sets, ["as_published", "as_compared"]);
    // pHost has other routes in the other set, so it has another run.
    assert_eq!(of("phost").len(), 2);
    // A table that has been kept for one set is found for the other.
    let table = KeptTable::of(identity.clone(), 1000, empty(dctcp));
    let store = Store::at(keep.path());
    store.keep(&addresses[0], &table).unwrap();
    Reproduction::of("ren/fig16", &options, None).unwrap();
    let other = store.table(&addresses[1]).unwrap();
    assert_eq!(other, Some(table));
}

/// Runs are chosen by name, or by that of all values of the axis; what others gave is still read.
#[test]
fn only_the_runs_that_are_asked_for_are_made() {
    let keep = tempfile::tempdir().unwrap();
    let of = |runs: &[&str]| {
        let runs = runs.iter().map(ToString::to_string).collect();
        let keep = Some(keep.path().to_path_buf());
        Reproduction::of("amrt/fig12", &Options { runs, keep, ..Options::default() }, None)
    };
    let named = |runs: &[&str]| {
        let planned = of(runs).unwrap();
        planned.about.values().map(|own| own.addresses[0].run.clone()).collect::<BTreeSet<_>>()
    };
    assert_eq!(named(&[]).len(), 20);
    assert_eq!(named(&["hadoop-0.3"]).into_iter().collect::<Vec<_>>(), ["hadoop-0.3"]);
    let all: Vec<_> = named(&["hadoop", "web_server-0.1"]).into_iter().collect();
    let along = ["hadoop-0.1", "hadoop-0.3", "hadoop-0.5", "hadoop-0.7"];
    assert_eq!(all, [&along[..], &["web_server-0.1"]].concat());
    let said = of(&["hadop"]).err().unwrap().to_string();
    assert!(
        said.contains("hadoop, web_search") && said.contains("did you mean `hadoop`?"),
        "{said}"
    );
    // A run that was kept is judged with those that are made now.
    let figure = of(&["hadoop"]).unwrap();
    let planned = of(&["web_server"]).unwrap();
    let (other, own) = (&planned.points[0], &planned.about[&planned.points[0].hash]);
    let table = KeptTable::of(own.identity.clone(), 10_000, empty(other));
    Store::at(keep.path()).keep(&own.addresses[0], &table).unwrap();
    let again = of(&["hadoop"]).unwrap();
    assert_eq!(again.points.len(), figure.points.len());
    assert_eq!(again.asked[0].len(), figure.asked[0].len() + 1);
    assert!(again.so_far.made().contains_key(&other.hash));
}

/// A worker that has nothing but bytes makes the same table; one of another version refuses.
#[test]
fn a_run_of_a_figure_travels_as_bytes() {
    let keep = tempfile::tempdir().unwrap();
    let options = Options { keep: Some(keep.path().into()), threads: 1, ..Options::default() };
    let figure = Reproduction::of("ren/fig1", &options, None).unwrap();
    let mut driver = figure.driver().unwrap();
    let mut refused = 0;
    while let Some(work) = driver.next_work().unwrap() {
        let bytes = work.point.to_bytes();
        if refused == 0 {
            let other = String::from_utf8(bytes).unwrap();
            let other = other.replace(&figure.about[&work.point.hash].identity, &"0".repeat(64));
            let answer = run_bytes(other.as_bytes(), 1, &Monitor::default());
            let said = driver.take(work.ticket, &answer).unwrap_err().to_string();
            assert!(said.contains("same version"), "{said}");
            refused += 1;
            continue;
        }
        let answer = run_bytes(&bytes, 1, &Monitor::default());
        driver.take(work.ticket, &answer).unwrap();
        let here = run_point(&work.point, 1, &Monitor::default()).unwrap();
        let here = KeptTable::of_row(&figure.about[&work.point.hash].identity, &here);
        assert!(driver.job().row(&work.point).unwrap().unwrap().error.is_none());
        let there = &figure.so_far.made()[&work.point.hash];
        assert_eq!(format!("{there:?}"), format!("{here:?}"));
    }
    assert!(driver.done() && refused == 1);
}

/// A run that fails is a row; it is run again only if that is asked for.
#[test]
fn a_run_that_fails_is_kept_and_not_judged() {
    let keep = tempfile::tempdir().unwrap();
    let options = Options { keep: Some(keep.path().into()), threads: 1, ..Options::default() };
    let figure = Reproduction::of("ren/fig1", &options, None).unwrap();
    for point in &figure.points {
        let own = &figure.about[&point.hash];
        let row = Row::bare(point, Some("internal error: a queue\nis not empty".into()));
        let table = KeptTable::of_row(&own.identity, &row);
        Store::at(keep.path()).keep(&own.addresses[0], &table).unwrap();
    }
    let mut again = Reproduction::of("ren/fig1", &options, None).unwrap();
    let driver = again.driver().unwrap();
    let progress = driver.progress();
    assert!(driver.done() && progress.failed == progress.points && progress.points > 0);
    assert!(driver.outcome().failed[0].why.ends_with("a queue; is not empty"));
    let verdicts = again.judge(true).unwrap();
    assert!(verdicts.iter().all(|one| one.sets[0].verdict == crate::Word::NotRun));
    let retried = Options { retry_failed: true, ..options };
    let again = Reproduction::of("ren/fig1", &retried, None).unwrap();
    assert!(!again.driver().unwrap().done());
}
