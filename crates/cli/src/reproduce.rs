//! `incast reproduce` and `incast bench`.

use crate::arguments::{Bench, Reproduce};
use crate::process::Ended;
use crate::session::on_signal;
use crate::study::Bar;
use crate::warnings::check_threads;
use incast_experiment::bench::{self, Measurement};
use incast_experiment::fault::wrong;
use incast_experiment::{Fault, Monitor};
use incast_measure::ResultsFolder;
use incast_reproduce as experiments;
use incast_reproduce::{Reproduction, Store};
use incast_study::Progress;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Where a results folder has its tables, if no other folder keeps them.
const TABLES: &str = "tables";

pub fn reproduce(options: Reproduce) -> Result<Ended, Fault> {
    let name = options.name.clone().unwrap_or_else(|| "all".into());
    let run = options.flags.run()?;
    let requested = experiments::Options {
        quick: options.quick,
        seed: options.flags.has("--seed").then_some(run.seed),
        threads: check_threads(run.world.threads(run.threads.0)),
        assuming: options.assuming.clone(),
        runs: options.runs.clone(),
        keep: options.keep.clone(),
        from_kept: options.from_kept,
        retry_failed: options.retry_failed,
        clock: options.clock,
    };
    experiments::check(&name, &requested)?;
    match options.from_kept || (options.keep.is_some() && options.output.out.is_none()) {
        true => in_tables(&name, &options, &requested),
        false => in_folder(&name, &options, requested),
    }
}

/// Runs what has no table, or nothing; writes nothing but tables.
fn in_tables(
    name: &str,
    options: &Reproduce,
    requested: &experiments::Options,
) -> Result<Ended, Fault> {
    let monitor = Arc::new(Monitor::default());
    if let Some(keep) = options.keep.clone().filter(|_| !options.from_kept) {
        stop_on_signal(&monitor, format!("the tables so far are in {}", keep.display()));
    }
    let reproduction = Reproduction::of(name, requested, None)?;
    let mut console = Console::new(None, options);
    let verdicts = reproduction.run(&monitor, &mut console)?;
    console.bar.close();
    match options.json {
        true => say!("{}", as_json(&verdicts)),
        false => totals(&verdicts),
    }
    if let Some(place) = &options.pages {
        let kept = experiments::kept_folder(options.keep.as_deref())?;
        write_pages(place, &Store::at(&kept))?;
    }
    Ok(console.ended(&monitor))
}

/// Runs into a results folder.
fn in_folder(
    name: &str,
    options: &Reproduce,
    mut requested: experiments::Options,
) -> Result<Ended, Fault> {
    let label = format!("reproduce-{}", name.replace('/', "-"));
    let (out, force, json) = (options.output.out.as_deref(), options.output.force, options.json);
    let folder = ResultsFolder::create(out, force, Path::new("results"), &label)?;
    // A reproduction can take hours: an interruption keeps verdicts and tables, marked incomplete.
    let manifest = serde_json::json!({ "experiment": name, "quick": options.quick });
    incast_measure::write_manifest(folder.path(), &manifest, false)?;
    if !options.quick {
        requested.keep.get_or_insert(folder.path().join(TABLES));
    }
    let monitor = Arc::new(Monitor::default());
    let mut said = format!("the verdicts so far are in {}", folder.path().display());
    if let Some(keep) = &requested.keep {
        said += &format!("; `incast reproduce {name} --keep {}` goes on", keep.display());
    }
    stop_on_signal(&monitor, said);
    if options.quick && !json {
        say!("a smoke test: small runs of one seed; what they cannot decide is not judged\n");
    }
    let reproduction = Reproduction::of(name, &requested, Some(folder.path()))?;
    let mut console = Console::new(Some(&folder), options);
    let verdicts = reproduction.run(&monitor, &mut console)?;
    console.bar.close();
    let text = write_verdicts(&folder, &verdicts)?;
    if json {
        say!("{text}");
    } else {
        totals(&verdicts);
    }
    let ended = console.ended(&monitor);
    if matches!(ended, Ended::Interrupted) {
        return Ok(ended);
    }
    incast_measure::write_manifest(folder.path(), &manifest, true)?;
    let place = folder.finish()?;
    if !json {
        say!("results: {}", place.display());
    }
    Ok(ended)
}

/// Stops at Ctrl-C, and says what there is; a second one ends the program at once.
fn stop_on_signal(monitor: &Arc<Monitor>, said: String) {
    let shared = monitor.clone();
    on_signal(move || {
        if shared.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping; {said}");
    });
}

/// Writes the replication pages.
fn write_pages(place: &Path, store: &Store) -> Result<(), Fault> {
    std::fs::create_dir_all(place)
        .map_err(|error| Fault::new(error).placed(place.display().to_string()))?;
    for page in experiments::pages(store)? {
        incast_measure::write_atomic(&place.join(&page.name), page.text.as_bytes())?;
    }
    eprintln!("pages: {}", place.display());
    Ok(())
}

/// What is reported while a reproduction runs.
struct Console<'a> {
    folder: Option<&'a ResultsFolder>,
    json: bool,
    so_far: Vec<experiments::Verdict>,
    bar: Bar,
    failed: bool,
    /// The clock of the runs in real time that are made.
    clock: Option<&'static str>,
}

impl<'a> Console<'a> {
    fn new(folder: Option<&'a ResultsFolder>, options: &Reproduce) -> Console<'a> {
        let clock = options.clock.map(|clock| clock.name());
        let (json, bar) = (options.json, Bar::new("runs"));
        Console { folder, json, so_far: vec![], bar, failed: false, clock }
    }

    /// Whether a run in real time that was asked for is not accepted.
    fn refused(&self) -> bool {
        let real = self.so_far.iter().flat_map(|verdict| &verdict.sets);
        let mut real = real.flat_map(|set| &set.real_time);
        real.any(|one| Some(one.clock.as_str()) == self.clock && !one.refused.is_empty())
    }

    /// How it ended.
    fn ended(&self, monitor: &Monitor) -> Ended {
        match (monitor.stopped(), self.failed) {
            (true, _) => Ended::Interrupted,
            (false, true) => Ended::Failed,
            (false, false) if self.refused() => Ended::Refused,
            (false, false) => Ended::Done,
        }
    }
}

impl experiments::Watch for Console<'_> {
    fn verdict(&mut self, verdict: &experiments::Verdict) {
        self.so_far.push(verdict.clone());
        if let Some(folder) = self.folder {
            // A persistent write error is reported by the final write.
            let _ = write_verdicts(folder, &self.so_far);
        }
        if !self.json {
            self.bar.aside(|| print(verdict));
        }
    }

    fn note(&mut self, text: &str) {
        self.bar.aside(|| eprintln!("{text}"));
    }

    fn progress(&mut self, progress: &Progress) {
        self.failed = progress.failed + progress.not_run > 0;
        self.bar.tell(progress);
    }
}

/// How many claims got which verdict in each set.
fn totals(verdicts: &[experiments::Verdict]) {
    let mut sets: Vec<&str> = vec![];
    for one in verdicts.iter().flat_map(|verdict| &verdict.sets) {
        if !sets.contains(&one.set.as_str()) {
            sets.push(&one.set);
        }
    }
    for set in sets {
        let all = || verdicts.iter().flat_map(|one| &one.sets).filter(|one| one.set == set);
        let mut words: Vec<experiments::Word> = all().map(|one| one.verdict).collect();
        words.sort_unstable();
        words.dedup();
        let of = |word| format!("{} {word}", all().filter(|one| one.verdict == word).count());
        let counts: Vec<String> = words.into_iter().map(of).collect();
        say!("{set}: {} claims: {}", all().count(), counts.join(", "));
    }
}

fn print(verdict: &experiments::Verdict) {
    let experiments::Verdict { experiment, claim, accepted, sentence, deviation, .. } = verdict;
    say!("{experiment}: {claim}\n    {sentence}");
    for one in &verdict.sets {
        say!("    {:<24} {:<24} {}", one.set, one.verdict.text(), one.measured);
        if let Some(other) = &one.dataplane {
            let equal = if other.equal { " (all runs equal)" } else { "" };
            let (word, measured) = (other.verdict.text(), &other.measured);
            say!("    {:<24} {word:<24} {measured}{equal}", "  in the data plane");
        }
        for other in &one.real_time {
            let name = format!("  in real time, {}", other.clock);
            let word = other.verdict.map_or("refused", |word| word.text());
            say!("    {name:<24} {word:<24} {}", other.said());
        }
    }
    say!("    {:<24} {accepted}", "accepted");
    if !deviation.is_empty() {
        say!("    {deviation}");
    }
}

fn as_json(verdicts: &[experiments::Verdict]) -> String {
    serde_json::to_string_pretty(verdicts).expect("plain data becomes JSON")
}

/// Writes the verdicts and returns what was written.
fn write_verdicts(
    folder: &ResultsFolder,
    verdicts: &[experiments::Verdict],
) -> Result<String, Fault> {
    let text = as_json(verdicts);
    folder.write("verdicts.json", text.as_bytes())?;
    Ok(text)
}

pub fn bench(options: Bench) -> Result<Ended, Fault> {
    if options.runs == 0 {
        return Err(Fault::new(wrong("--runs 0").expected("1 or more")));
    }
    if options.threads == 0 {
        return Err(Fault::new(wrong("--threads 0").expected("1 or more")));
    }
    let threads = check_threads(options.threads);
    let requested = bench::Options { threads, case: options.case.clone(), runs: options.runs };
    let json = options.json;
    let so_far: Arc<Mutex<Vec<Measurement>>> = Arc::default();
    let shared = so_far.clone();
    on_signal(move || {
        let so_far = shared.lock().expect("no panic");
        if json {
            say!("{}", serde_json::to_string_pretty(&*so_far).expect("plain data becomes JSON"));
        }
        eprintln!("\nstopped after {} cases", so_far.len());
        std::process::exit(130);
    });
    if !json {
        say!(
            "{:<12} {:<8} {:>7} {:>12} {:>10} {:>8} {:>8} {:>9} {:>7}",
            "case",
            "transport",
            "threads",
            "packet-hops",
            "events/hop",
            "wall s",
            "cpu s",
            "RSS MiB",
            "share"
        );
    }
    let all = bench::run(&requested, |one| {
        so_far.lock().expect("no panic").push(one.clone());
        if !json {
            row(one);
        }
    })?;
    // A signal after this point has no effect.
    let _held = so_far.lock().expect("no panic");
    if json {
        say!("{}", serde_json::to_string_pretty(&all).expect("plain data becomes JSON"));
    }
    Ok(Ended::Done)
}

fn row(one: &Measurement) {
    say!(
        "{:<12} {:<8} {:>8} {:>12} {:>10.3} {:>8.3} {:>8.3} {:>9.1} {:>7.3}",
        one.case,
        one.transport,
        one.threads,
        one.packet_hops,
        one.events as f64 / one.packet_hops as f64,
        one.wall_s,
        one.cpu_s,
        one.peak_rss_bytes as f64 / 1_048_576.0,
        one.share
    );
}
