//! Points are run once, rows survive, and one failure is not the end.

use crate::support::{SCENARIO, run, study};
use incast_experiment::Monitor;
use incast_study::{Driver, DriverOptions, Row, Store, Study, Times, run_bytes, run_local};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Every row without what it took.
fn rows(dir: &Path) -> BTreeMap<String, Row> {
    let all = Store::read(dir).unwrap().rows().unwrap();
    all.into_iter().map(|(hash, row)| (hash, Row { times: Times::default(), ..row })).collect()
}

/// Points that a run of this study makes, of how many.
fn made(section: &str, dir: &Path) -> (usize, usize) {
    let progress = run(&study(section), dir, 2).progress;
    assert_eq!((progress.done, progress.failed, progress.not_run), (progress.points, 0, 0));
    (progress.done - progress.kept, progress.points)
}

#[test]
fn adding_a_seed_a_load_or_a_transport_runs_only_the_new() {
    let dir = tempfile::tempdir().unwrap();
    let text = |seeds: u32, loads: &str, more: &str| {
        format!("[study]\nseeds = {seeds}\n[study.vary]\n\"traffic.0.load\" = [{loads}]\n{more}")
    };
    assert_eq!(made(&text(1, "0.2, 0.4", ""), dir.path()), (4, 4));
    let before = rows(dir.path());
    assert_eq!(made(&text(1, "0.2, 0.4", ""), dir.path()), (0, 4));
    assert_eq!(made(&text(2, "0.2, 0.4", ""), dir.path()), (4, 8));
    assert_eq!(made(&text(2, "0.2, 0.4, 0.6", ""), dir.path()), (4, 12));
    let variant = "[study.variants]\n\"ren: gap\" = { transport = \"ren\", rule = \"gap\" }\n";
    assert_eq!(made(&text(2, "0.2, 0.4, 0.6", variant), dir.path()), (6, 18));
    let after = rows(dir.path());
    assert!(before.iter().all(|(hash, row)| after.get(hash) == Some(row)), "kept rows stay");
    // The folder alone is enough to go on.
    let store = Store::read(dir.path()).unwrap();
    let again = Arc::new(store.study().unwrap());
    assert_eq!(run(&again, dir.path(), 1).progress.kept, 18);
}

#[test]
fn rows_do_not_depend_on_where_and_in_how_many_threads_they_are_made() {
    let own = study("[study.vary]\n\"traffic.0.load\" = [0.2, 0.4]\n");
    let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    run(&own, one.path(), 1);
    run(&own, two.path(), 3);
    assert_eq!(rows(one.path()), rows(two.path()));
    // A worker that has nothing but bytes.
    let third = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(third.path(), &own).unwrap());
    let mut driver = Driver::new(own.clone(), store, DriverOptions::default()).unwrap();
    while let Some(work) = driver.next_work().unwrap() {
        let answer = run_bytes(&work.point.to_bytes(), 1, &Monitor::default());
        driver.take(work.ticket, &answer).unwrap();
    }
    assert!(driver.done());
    assert_eq!(rows(one.path()), rows(third.path()));
    assert_eq!(rows(one.path()).len(), 4);
}

#[test]
fn two_processes_share_a_store_and_run_each_point_once() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\nseeds = 4\n[study.vary]\n\"traffic.0.load\" = [0.2, 0.3, 0.4]\n");
    // Locks are of open files, so that two stores in a process meet as two processes do.
    let both = std::thread::scope(|scope| {
        let start = || scope.spawn(|| run(&own, dir.path(), 2).progress);
        [start(), start()].map(|one| one.join().unwrap())
    });
    assert!(both.iter().all(|one| one.points == 24 && one.done == 24), "{both:?}");
    assert_eq!(both.iter().map(|one| one.done - one.kept).sum::<usize>(), 24, "{both:?}");
    assert_eq!(rows(dir.path()).len(), 24);
    let claims = std::fs::read_dir(dir.path().join("claims")).unwrap().count();
    assert_eq!(claims, 0, "claims are given back");
}

#[test]
fn a_failed_point_is_a_row_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let section = "[study.vary]\n\"transport.parameters.ren.rule\" = [\"gap\", \"gaps\"]\n";
    let outcome = run(&study(section), dir.path(), 2);
    // DCTCP has one run for both values.
    assert_eq!(
        (outcome.progress.points, outcome.progress.done, outcome.progress.failed),
        (3, 3, 1)
    );
    let [failed] = outcome.failed.as_slice() else { panic!("{:?}", outcome.failed) };
    assert_eq!(failed.point, "transport.parameters.ren.rule=gaps, ren, seed 1");
    assert!(failed.why.contains("Expected one of budget, gap"), "{}", failed.why);
    let errors = rows(dir.path()).into_values().filter(|row| row.error.is_some());
    assert_eq!(errors.count(), 1);
    // It is not run again unless that is asked for.
    let again = |retry_failed: bool| {
        let own = study(section);
        let store = Arc::new(Store::open(dir.path(), &own).unwrap());
        let mut driver = Driver::new(own, store, DriverOptions { retry_failed }).unwrap();
        let waits = !driver.done();
        run_local(&mut driver, 1, &Arc::new(Monitor::default()), &mut |_| ()).unwrap();
        // Whoever continues the study hears of it, each time.
        assert_eq!(driver.finish().unwrap().failed, outcome.failed);
        waits
    };
    assert_eq!([again(false), again(true), again(false)], [false, true, false]);
}

#[test]
fn a_worker_that_dies_again_and_again_leaves_its_point_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\n");
    let store = Arc::new(Store::open(dir.path(), &own).unwrap());
    let mut driver = Driver::new(own.clone(), store, DriverOptions::default()).unwrap();
    let mut handed_out = 0;
    while let Some(work) = driver.next_work().unwrap() {
        handed_out += 1;
        let answer = run_bytes(&work.point.to_bytes(), 1, &Monitor::default());
        match (work.point.label.as_str(), handed_out) {
            ("ren", 1) => driver.lost(work.ticket, "the worker died"),
            ("ren", 4) => driver.take(work.ticket, b"nonsense").unwrap(),
            ("ren", _) => driver.take(work.ticket, b"").unwrap(),
            // The row of another point is none.
            (_, 2) => driver.take(work.ticket, &answer).unwrap(),
            _ => unreachable!("DCTCP is done"),
        }
    }
    let outcome = driver.finish().unwrap();
    assert_eq!((outcome.progress.done, outcome.progress.not_run, handed_out), (1, 1, 4));
    assert!(outcome.not_run[0].why.contains("(3 times)"), "{:?}", outcome.not_run);
    assert_eq!(rows(dir.path()).len(), 1, "not run is not failed");
    let later = run(&own, dir.path(), 1).progress;
    assert_eq!((later.done, later.kept), (2, 1));
}

#[test]
fn a_worker_of_another_version_is_refused_and_its_point_waits() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\n");
    let store = Arc::new(Store::open(dir.path(), &own).unwrap());
    let mut driver = Driver::new(own, store, DriverOptions::default()).unwrap();
    let work = driver.next_work().unwrap().unwrap();
    let bytes = String::from_utf8(work.point.to_bytes()).unwrap();
    let other = bytes.replace(&work.point.hash, &"0".repeat(64));
    let answer = run_bytes(other.as_bytes(), 1, &Monitor::default());
    let said = driver.take(work.ticket, &answer).unwrap_err().to_string();
    assert!(said.contains("a worker refused a point") && said.contains("same version"), "{said}");
    assert_eq!(driver.next_work().unwrap().unwrap().point.hash, work.point.hash);
}

#[test]
fn seeds_are_added_until_every_transport_is_known_well_enough() {
    let dir = tempfile::tempdir().unwrap();
    let until = |width: &str| {
        let repeat = "[study.repeat_until]\nmetric = \"slowdown_mean\"\nleast = 3\nmost = 7\n";
        let vary = "[study.vary]\n\"traffic.0.load\" = [0.1, 0.6]\n";
        study(&format!("{vary}{repeat}half_width = \"{width}\"\n"))
    };
    let own = until("10%");
    let ran = run(&own, dir.path(), 2).progress;
    assert_eq!(ran.done, ran.points);
    let store = Store::read(dir.path()).unwrap();
    let points = own.points_in(&store).unwrap();
    assert_eq!(points.len(), ran.points);
    let all = store.rows().unwrap();
    for combination in [0, 1] {
        let of = |series: usize| {
            let own =
                points.iter().filter(|one| one.combination == combination && one.series == series);
            let value =
                |hash: &String| all[hash].summary.as_ref()?.all.slowdown.map(|one| one.mean);
            own.map(|point| (point.seed, value(&point.hash).unwrap())).collect::<Vec<_>>()
        };
        let both = [of(0), of(1)];
        let count = both[0].len();
        assert_eq!(count, both[1].len(), "every transport has the same seeds");
        let met = |values: &[(u64, f64)]| {
            let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
            own.repeat().unwrap().half_width.met(&values)
        };
        assert!(count == 7 || both.iter().all(|values| met(values)), "{both:?}");
        if count > 3 {
            assert!(!both.iter().all(|values| met(&values[..count - 1])), "one less would do");
        }
    }
    // A resumed study has the same points and runs nothing; one that is stricter runs more.
    let again = run(&own, dir.path(), 1).progress;
    assert_eq!((again.points, again.kept), (ran.points, ran.points));
    let stricter = run(&until("0.001%"), dir.path(), 2).progress;
    assert_eq!((stricter.points, stricter.kept), (2 * 2 * 7, ran.points));
}

#[test]
fn an_interrupted_study_keeps_what_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\nseeds = 6\n");
    let store = Arc::new(Store::open(dir.path(), &own).unwrap());
    let mut driver = Driver::new(own.clone(), store, DriverOptions::default()).unwrap();
    let monitor = Arc::new(Monitor::default());
    let mut stop = |progress: &incast_study::Progress| {
        if progress.done >= 2 {
            monitor.stop.store(true, Ordering::Relaxed);
        }
    };
    run_local(&mut driver, 1, &monitor, &mut stop).unwrap();
    let kept = driver.finish().unwrap().progress.done;
    assert!((2..12).contains(&kept), "{kept}");
    assert_eq!(rows(dir.path()).len(), kept);
    assert_eq!(run(&own, dir.path(), 2).progress.kept, kept);
}

#[test]
fn a_folder_that_is_not_the_studys_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\n");
    let refused =
        |dir: &Path, study: &Study| Store::open(dir, study).map(drop).unwrap_err().to_string();
    std::fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
    assert!(refused(dir.path(), &own).contains("not the folder of a study, and not empty"));
    std::fs::remove_file(dir.path().join("thesis.txt")).unwrap();
    run(&own, dir.path(), 2);
    // Another scenario has no point in common.
    let text = format!("{}[study]\n", SCENARIO.replace("star:5", "star:6"));
    let other = Study::parse(&text, "other.toml", &[]).unwrap();
    let said = refused(dir.path(), &other);
    assert!(
        said.contains("another study") && said.contains("2 rows") && said.contains("--out"),
        "{said}"
    );
    assert!(said.contains("they differ in fabric.topology:"), "{said}");
    // Whoever only looks is told the same.
    assert_eq!(Store::existing(dir.path(), &other).unwrap_err().to_string(), said);
    assert!(Store::existing(&dir.path().join("none"), &own).unwrap().is_none());
    // Nor has one of another version of results.
    let label = dir.path().join("store.json");
    let text = std::fs::read_to_string(&label).unwrap();
    std::fs::write(&label, text.replace("\"engine\": 1", "\"engine\": 0")).unwrap();
    let said = refused(dir.path(), &own);
    assert!(said.contains("version 0") && said.contains("--out"), "{said}");
    std::fs::write(&label, text.replace("\"format\": 1", "\"format\": 99")).unwrap();
    assert!(refused(dir.path(), &own).contains("layout 99"));
}

#[test]
fn input_files_go_with_the_study_and_with_its_points() {
    let [work, dir] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let flows = work.path().join("flows.csv");
    std::fs::write(&flows, "src,dst,size_bytes,start_ns\n0,1,20000,0\n2,1,30000,0\n").unwrap();
    let text = format!(
        "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ren\"]\n[[traffic]]\nkind = \"file\"\n\
         file = \"{}\"\n[study.vary]\n\"fabric.rate\" = [\"10Gbps\", \"40Gbps\"]\n",
        flows.display()
    );
    let own = Arc::new(Study::parse(&text, "x.toml", &[]).unwrap());
    run(&own, dir.path(), 1);
    // The original is gone; the folder has been handed over.
    std::fs::remove_file(&flows).unwrap();
    let moved = work.path().join("moved");
    std::fs::rename(dir.path(), &moved).unwrap();
    let again = Arc::new(Store::read(&moved).unwrap().study().unwrap());
    let hashes =
        |study: &Study| study.points().iter().map(|one| one.hash.clone()).collect::<Vec<_>>();
    assert_eq!(hashes(&own), hashes(&again));
    let first = &own.points()[0];
    let row =
        Row::from_bytes(&std::fs::read(moved.join(format!("rows/{}.json", first.hash))).unwrap());
    let fresh = incast_study::run_point(&again.points()[0], 1, &Monitor::default()).unwrap();
    assert_eq!(fresh.summary, row.unwrap().summary);
}

#[test]
fn progress_counts_the_flows_of_points_that_are_run() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\nseeds = 2\n");
    let flows = || {
        let store = Arc::new(Store::open(dir.path(), &own).unwrap());
        let mut driver = Driver::new(own.clone(), store, DriverOptions::default()).unwrap();
        let mut seen = vec![0];
        run_local(&mut driver, 1, &Arc::new(Monitor::default()), &mut |one| seen.push(one.flows))
            .unwrap();
        assert!(seen.is_sorted(), "{seen:?}");
        seen.pop().unwrap()
    };
    assert_eq!(flows(), 4 * 40);
    assert_eq!(flows(), 0, "rows that were there before took no time");
}

#[test]
fn reports_of_all_points_are_kept_if_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\nreports = true\n");
    run(&own, dir.path(), 2);
    assert_eq!(own.points().len(), 2);
    for point in own.points() {
        let place = dir.path().join("reports").join(&point.hash);
        let report = std::fs::read_to_string(place.join("report.html")).unwrap();
        assert!(report.contains(&point.name()), "the report says which point it is of");
        for file in ["manifest.json", "flows.parquet"] {
            assert!(
                place.join(file).is_file() || place.join(&point.label).join(file).is_file(),
                "{file}"
            );
        }
    }
    let [without, with] = [study("[study]\n"), own].map(|one| one.points()[0].hash.clone());
    assert_eq!(without, with, "files are no part of what a row is");
}

/// Marks of processes whose rows may not be on disk.
fn marks(dir: &Path) -> usize {
    let names = std::fs::read_dir(dir.join("claims")).unwrap().map(|one| one.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("unsynced-")).count()
}

/// What a loss of power leaves of rows that were not yet on disk: nothing, a part, a hole.
#[test]
fn rows_that_are_not_whole_are_run_again() {
    let [whole, torn] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let own = study("[study]\nseeds = 4\n");
    run(&own, whole.path(), 2);
    run(&own, torn.path(), 2);
    let place = |at: usize| torn.path().join(format!("rows/{}.json", own.points()[at].hash));
    let content = std::fs::read(place(1)).unwrap();
    std::fs::write(place(0), "").unwrap();
    std::fs::write(place(1), &content[..content.len() - 1]).unwrap();
    let mut hole = std::fs::read(place(2)).unwrap();
    hole[1000..1512].fill(0);
    std::fs::write(place(2), hole).unwrap();
    // The row of another point.
    std::fs::write(place(3), std::fs::read(place(4)).unwrap()).unwrap();
    // Whoever reads them says so.
    let store = Store::read(torn.path()).unwrap();
    let said = store.rows().unwrap_err().to_string();
    assert!(
        said.contains("not a row of a study") && said.contains("runs its point again"),
        "{said}"
    );
    assert_eq!(marks(torn.path()), 0, "a study that has ended has all of its rows on disk");
    std::fs::write(torn.path().join("claims/unsynced-1-1"), "").unwrap();
    let resumed = run(&own, torn.path(), 2).progress;
    assert_eq!((resumed.done, resumed.kept), (8, 4));
    assert_eq!(rows(whole.path()), rows(torn.path()));
    assert_eq!(marks(torn.path()), 0);
}

#[test]
fn rows_of_a_process_that_goes_on_are_not_its_successors() {
    let dir = tempfile::tempdir().unwrap();
    let own = study("[study]\nseeds = 2\n");
    let first = Store::open(dir.path(), &own).unwrap();
    let row = incast_study::run_point(&own.points()[0], 1, &Monitor::default()).unwrap();
    first.add(&row).unwrap();
    assert_eq!(marks(dir.path()), 1);
    // Another process sees the row, and that somebody takes care of it.
    let second = Store::open(dir.path(), &own).unwrap();
    assert_eq!((second.rows().unwrap().len(), marks(dir.path())), (1, 1));
    first.sync().unwrap();
    assert_eq!(marks(dir.path()), 0);
    first.add(&row).unwrap();
    assert_eq!(marks(dir.path()), 1);
    drop(first);
    assert_eq!(marks(dir.path()), 0);
}

/// Where the child processes of the next tests work.
const CHILD: &str = "INCAST_STUDY_CHILD";

const LONG: &str = "[study]\nseeds = 5\n[study.vary]\n\"traffic.0.load\" = [0.2, 0.4, 0.6, 0.8]\n\
    \"traffic.0.flows\" = [150]\n";

/// Runs the long study if a test has started this process for it, and says how many rows it made, or
/// what went wrong.
#[test]
fn as_a_child_process() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let own = study(LONG);
    let store = Arc::new(Store::open(Path::new(&dir), &own).unwrap());
    let mut driver = Driver::new(own, store, DriverOptions::default()).unwrap();
    let ran = run_local(&mut driver, 2, &Arc::new(Monitor::default()), &mut |_| ());
    match ran.and_then(|()| driver.finish()) {
        Ok(outcome) => eprintln!("made {}", outcome.progress.done - outcome.progress.kept),
        Err(fault) => {
            eprintln!("fault {fault}");
            std::process::exit(3);
        }
    }
}

/// This test program as a child that runs the long study.
fn child(dir: &Path) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "running::as_a_child_process", "--nocapture"]);
    child.env(CHILD, dir).stdout(Stdio::null()).stderr(Stdio::piped());
    child
}

/// The words after `what` in what a child said.
fn said(child: std::process::Child, what: &str) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(what));
    line.unwrap_or_else(|| panic!("{text}")).trim().to_string()
}

#[test]
fn two_spawned_processes_share_a_store_and_make_each_row_once() {
    let dir = tempfile::tempdir().unwrap();
    let both = [child(dir.path()).spawn().unwrap(), child(dir.path()).spawn().unwrap()];
    let made = both.map(|one| said(one, "made").parse::<usize>().unwrap());
    assert!(made.iter().all(|made| *made > 0), "{made:?}");
    assert_eq!(made.iter().sum::<usize>(), 40, "{made:?}");
    assert_eq!(rows(dir.path()).len(), 40);
    let again = said(child(dir.path()).spawn().unwrap(), "made");
    assert_eq!(again, "0");
}

/// A disk that takes no more, here files that may not grow, costs the points in flight.
#[test]
#[cfg(unix)]
fn a_full_disk_costs_the_points_in_flight() {
    let [whole, full] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    run(&study(LONG), whole.path(), 2);
    // Some rows are there.
    let some = study(&LONG.replace("0.2, 0.4, 0.6, 0.8", "0.2, 0.4"));
    run(&some, full.path(), 2);
    Store::open(full.path(), &study(LONG)).unwrap();
    let before = rows(full.path());
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh"]);
    let own = child(full.path());
    limited.arg(own.get_program()).args(own.get_args()).env(CHILD, full.path());
    let why = said(limited.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap(), "fault");
    assert!(why.contains("rows") && why.contains("File too large"), "{why}");
    assert_eq!(rows(full.path()), before, "what was there is whole, and nothing else is");
    let half = std::fs::read_dir(full.path().join("rows")).unwrap();
    let names = half.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| name.ends_with(".json")), "nothing half-written is left");
    // With room again it goes on.
    let resumed = run(&study(LONG), full.path(), 2).progress;
    assert_eq!((resumed.done, resumed.kept), (40, before.len()));
    let table = |dir: &Path| std::fs::read(dir.join("study.parquet")).unwrap();
    assert_eq!(table(whole.path()), table(full.path()));
}

/// Killed five times at moments that fall anywhere, then resumed: the same rows and table.
#[test]
fn a_study_survives_being_killed() {
    let [whole, killed] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    run(&study(LONG), whole.path(), 2);
    let mut kept = vec![];
    for _ in 0..5 {
        let mut child = child(killed.path()).stderr(Stdio::null()).spawn().unwrap();
        // Each child is killed a little after it has kept rows of its own, in the middle of others.
        let before = kept.last().copied().unwrap_or(0);
        let rows = || Store::read(killed.path()).map_or(0, |store| store.hashes().unwrap().len());
        while rows() < before + 3 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // The moment is another one in each run of this test.
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_micros() % 5_000;
        std::thread::sleep(Duration::from_micros(moment.into()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(marks(killed.path()), 1, "the next one looks at all rows");
        kept.push(rows());
    }
    assert!(kept.windows(2).all(|two| two[0] < two[1]) && kept[4] < 40, "{kept:?}");
    let resumed = run(&study(LONG), killed.path(), 2).progress;
    assert_eq!((resumed.done, resumed.kept), (40, kept[4]));
    assert_eq!(rows(whole.path()), rows(killed.path()));
    let table = |dir: &Path| std::fs::read(dir.join("study.parquet")).unwrap();
    assert_eq!(table(whole.path()), table(killed.path()));
}
