//! `incast reproduce` and `incast bench`.

use crate::Ended;
use crate::arguments::{Bench, Reproduce};
use crate::session::on_signal;
use incast_experiment::bench::{self, Measurement};
use incast_experiment::{Fault, nearest, reproduce as experiments};
use incast_measure::ResultsFolder;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub fn reproduce(options: Reproduce) -> Result<Ended, Fault> {
    let name = options.name.clone().unwrap_or_else(|| "all".into());
    let run = options.flags.run()?;
    let requested = experiments::Options {
        quick: options.quick,
        seed: options.flags.has("--seed").then_some(run.seed),
        threads: run.world.threads(run.threads.0),
    };
    check(&name)?;
    let label = format!("reproduce-{}", name.replace('/', "-"));
    let out = options.output.out.as_deref();
    let folder = ResultsFolder::create(out, options.output.force, Path::new("results"), &label)?;
    let json = options.json;
    // A reproduction can take hours: an interruption keeps the verdicts so far, marked incomplete.
    let manifest = serde_json::json!({ "experiment": name, "quick": options.quick });
    let place = folder.path().join("manifest.json");
    incast_measure::write_manifest(&place, &manifest, false)?;
    let so_far = verdicts_for(folder.path(), json);
    let verdicts = experiments::reproduce(
        &name,
        &requested,
        |verdict| {
            let mut so_far = so_far.lock().expect("no panic");
            so_far.push(verdict.clone());
            // A persistent write error is reported by the final write.
            let _ = write_verdicts(&folder, &so_far);
            if !json {
                print(verdict);
            }
        },
        Some(folder.path()),
    )?;
    // A signal after this point has no effect.
    let _held = so_far.lock().expect("no panic");
    let text = write_verdicts(&folder, &verdicts)?;
    incast_measure::write_manifest(&place, &manifest, true)?;
    let place = folder.finish()?;
    if json {
        say!("{text}");
    } else {
        let of = |kind: &str| verdicts.iter().filter(|v| v.verdict == kind).count();
        say!(
            "{} claims: {} match, {} differ, {} cannot be judged; results: {}",
            verdicts.len(),
            of("matches"),
            of("differs"),
            of("cannot be judged"),
            place.display()
        );
    }
    Ok(Ended::Done)
}

/// An empty list of verdicts. A signal ends the program and prints where they are.
fn verdicts_for(folder: &Path, json: bool) -> Arc<Mutex<Vec<experiments::Verdict>>> {
    let all: Arc<Mutex<Vec<experiments::Verdict>>> = Arc::default();
    let (shared, folder) = (all.clone(), folder.to_path_buf());
    on_signal(move || {
        let so_far = shared.lock().expect("no panic");
        if json {
            say!("{}", as_json(&so_far));
        }
        eprintln!("\nstopped; the {} verdicts so far are in {}", so_far.len(), folder.display());
        std::process::exit(130);
    });
    all
}

fn print(verdict: &experiments::Verdict) {
    say!(
        "{:<18} {}: {}\n    expected {}, measured {}{}",
        verdict.verdict,
        verdict.experiment,
        verdict.claim,
        verdict.expected,
        verdict.measured,
        match verdict.deviation.as_str() {
            "" => String::new(),
            text => format!("\n    {text}"),
        }
    );
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

/// Refuses an unknown name before anything is created.
fn check(name: &str) -> Result<(), Fault> {
    let known = experiments::names();
    let fits = |one: &str| one == name || one.split('/').next() == Some(name);
    if name == "all" || known.iter().any(|(one, _)| fits(one)) {
        return Ok(());
    }
    let hint = nearest(name, known.iter().map(|(one, _)| one.as_str()));
    Err(Fault::new(format!("no experiment `{name}`; `incast list` shows all{hint}")))
}

pub fn bench(options: Bench) -> Result<Ended, Fault> {
    if options.runs == 0 {
        return Err(Fault::new("--runs 0: expected 1 or more"));
    }
    if options.threads == 0 {
        return Err(Fault::new("--threads 0: expected 1 or more"));
    }
    let requested =
        bench::Options { threads: options.threads, case: options.case.clone(), runs: options.runs };
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
