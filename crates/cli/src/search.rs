//! `incast search`.

use crate::arguments::Search as Options;
use crate::process::Ended;
use crate::study::{shown, stoppable};
use crate::warnings::check_threads;
use crate::warnings::{SEARCH_WITH_FAILED_RUNS, warn};
use incast_experiment::{Draft, Fault, World};
use incast_measure::write_atomic;
use incast_study::{Answer, Found, Search, Store, Study, run_local};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seeds of a search whose file names none: fewer give no interval that says much.
const SEEDS: u32 = 3;

pub fn search(options: Options) -> Result<Ended, Fault> {
    let mut sets = options.set.clone();
    let named = |sets: &[String]| {
        sets.iter()
            .any(|set| set.starts_with("study.seeds=") || set.starts_with("study.repeat_until"))
    };
    match options.seeds {
        Some(seeds) => sets.push(format!("study.seeds={seeds}")),
        None => {
            let draft = Draft::load(&options.file)?.sets(&sets)?;
            let written = |key: &str| draft.written(key).is_some();
            if !written("study.seeds") && !written("study.repeat_until") && !named(&sets) {
                sets.push(format!("study.seeds={SEEDS}"));
            }
        }
    }
    let study = Arc::new(Study::load(&options.file, &sets)?);
    let Options { key, from, to, until, tolerance, .. } = &options;
    let search =
        Search::new(&study, key, from, to, until, tolerance.as_deref()).map_err(flagged)?;
    let dir = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("results").join(format!("study-{}", study.name())));
    let store = Arc::new(Store::open(&dir, &study)?);
    let threads = check_threads(World::Sim.threads(options.threads));
    let monitor = stoppable(&dir);
    let mut ran = 0;
    let answers = search.answer(&study, &store, &mut |mut driver| {
        shown(&mut driver, |driver, told| run_local(driver, threads, &monitor, told))?;
        let outcome = driver.outcome();
        ran += outcome.progress.done - outcome.progress.kept;
        Ok(outcome)
    })?;
    let Some(answers) = answers else {
        if monitor.stopped() {
            return Ok(Ended::Interrupted);
        }
        return Err(Fault::new("points were not run; the same search again runs them"));
    };
    let text = serde_json::to_string_pretty(&json!({
        "key": key, "from": from, "to": to, "until": until, "tolerance": search.tolerance(),
        "answers": answers,
    }));
    write_atomic(
        &dir.join("search.json"),
        (text.expect("plain data becomes JSON") + "\n").as_bytes(),
    )?;
    print(&search, &answers, ran, &dir);
    let failed = answers.iter().flat_map(|answer| &answer.tried).any(|tried| tried.failed > 0);
    if failed {
        warn(&SEARCH_WITH_FAILED_RUNS, &[("file", &dir.join("search.json").display())]);
    }
    Ok(Ended::Done)
}

/// The names of flags for keys that only flags have.
fn flagged(fault: Fault) -> Fault {
    match fault.key() {
        Some("from") => fault.called("--from"),
        Some("to") => fault.called("--to"),
        Some("tolerance") => fault.called("--tolerance"),
        Some("until") => fault.called("--until"),
        _ => fault,
    }
}

fn print(search: &Search, answers: &[Answer], ran: usize, dir: &Path) {
    let unit = search.unit();
    say!("highest {} with {} (to {}{unit}):", search.key(), search.until(), search.tolerance());
    let width = answers.iter().map(|answer| answer.label.chars().count()).max().unwrap_or(0);
    for answer in answers {
        let least = answer.tried.first().map_or(0.0, |tried| tried.value);
        let most = answer.tried.last().map_or(0.0, |tried| tried.value);
        let text = match answer.found {
            Found::Everywhere => format!("at least {most}{unit}: it holds at the upper end"),
            Found::Nowhere => format!("less than {least}{unit}: it fails at the lower end"),
            Found::UpTo { value, low, high } => {
                let low = low.map_or("not sure anywhere".to_string(), |low| {
                    format!("surely up to {low}{unit}")
                });
                let high = high.map_or("never surely not".to_string(), |high| {
                    format!("surely not from {high}{unit}")
                });
                format!("{value}{unit}  ({low}, {high}; 95 %)")
            }
        };
        say!("  {:width$}  {text}", answer.label);
        if let Some((fails, holds)) = answer.not_monotone {
            say!(
                "  {:width$}  not monotone: it surely fails at {fails}{unit} and surely holds at {holds}{unit}; there are several answers",
                ""
            );
        }
    }
    let tried: usize =
        answers.iter().flat_map(|answer| &answer.tried).map(|tried| tried.seeds).sum();
    say!("{tried} points, {ran} of them run now: {}", dir.join("search.json").display());
}
