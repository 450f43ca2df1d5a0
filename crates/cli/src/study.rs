//! `incast study`.

use crate::arguments::Study as Options;
use crate::process::Ended;
use crate::progress::LINE;
use crate::session::{on_signal, width};
use crate::values::{counted, duration};
use crate::warnings::check_threads;
use incast_experiment::{Fault, Monitor, World};
use incast_measure::Told;
use incast_study::{
    Driver, DriverOptions, Estimate, Joined, MOST_POINTS, Outcome, Points, Progress,
};
use incast_study::{Store, Study, estimate, join, run_local, told};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Most failed points that are printed.
const SHOWN: usize = 10;

pub fn study(options: Options) -> Result<Ended, Fault> {
    let Some(given) = &options.study else { return joined(&options) };
    let file = match given.is_dir() {
        true => given.join("study.toml"),
        false => given.clone(),
    };
    let most = if options.yes { usize::MAX } else { MOST_POINTS };
    let study = Arc::new(Study::load_up_to(&file, &options.set, most)?);
    let dir = match (&options.out, given.is_dir()) {
        (Some(out), _) => out.clone(),
        (None, true) => given.clone(),
        (None, false) => Path::new("results").join(format!("study-{}", study.name())),
    };
    let threads = check_threads(World::Sim.threads(options.threads));
    let before = Store::existing(&dir, &study)?;
    let kept = before.as_ref().map(Store::hashes).transpose()?.unwrap_or_default();
    if !study.points().iter().all(|point| kept.contains(&point.hash)) {
        study.check()?;
    }
    if options.dry_run {
        forecast(&study, &estimate(&study, before.as_ref(), threads)?, threads, &dir);
        return Ok(Ended::Done);
    }
    let store = Arc::new(Store::open(&dir, &study)?);
    let retry_failed = options.retry_failed;
    let options = DriverOptions { retry_failed };
    let mut driver = Driver::new(study.clone(), store.clone(), options)?;
    let monitor = stoppable(&dir);
    let begun = driver.progress();
    if !driver.done() {
        let kept = match begun.done {
            0 => String::new(),
            done => format!(", {done} of them done before"),
        };
        let (name, points) = (study.name(), counted(begun.points, "point"));
        let threads = counted(threads, "thread");
        say!("{name}: {points}{kept}; {threads}; {}", dir.display());
    }
    let ran = shown(&mut driver, |driver, told| run_local(driver, threads, &monitor, told));
    // What is done is kept, whatever stopped the rest.
    let outcome = driver.finish();
    ran?;
    let outcome = outcome?;
    if outcome.progress.done > outcome.progress.failed {
        table(&study, &store)?;
    }
    finish(&study, &outcome, &dir, monitor.stopped())
}

/// Prints what the points say: warnings, tables with intervals over seeds, a sentence.
fn table(study: &Study, store: &Store) -> Result<(), Fault> {
    let Told { warnings, tables, headline } = told(study, store, width())?;
    warnings.iter().for_each(|warning| say!("warning: {warning}"));
    tables.iter().for_each(|table| say!("{table}"));
    if !headline.is_empty() {
        say!("{headline}");
    }
    Ok(())
}

/// Joins folders.
fn joined(options: &Options) -> Result<Ended, Fault> {
    let Joined { study, store, added, same } = join(&options.join, options.out.as_deref())?;
    let all = store.hashes()?.len();
    let left = study.points().iter().filter(|point| !store.has(&point.hash)).count();
    say!(
        "{all} rows, {added} of them new here, {same} in several folders: {}",
        store.dir().display()
    );
    if left > 0 {
        say!("{left} points are in no folder; incast study {} runs them", store.dir().display());
    }
    Ok(Ended::Done)
}

/// A monitor that Ctrl-C stops. A second Ctrl-C ends the program at once.
pub fn stoppable(dir: &Path) -> Arc<Monitor> {
    let monitor = Arc::new(Monitor::default());
    let (shared, dir): (_, PathBuf) = (monitor.clone(), dir.into());
    on_signal(move || {
        if shared.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping; what is done is in {}", dir.display());
    });
    monitor
}

/// Runs while showing progress: a bar on a terminal, else a line now and then.
pub fn shown<T>(
    driver: &mut Driver<Points>,
    work: impl FnOnce(&mut Driver<Points>, &mut dyn FnMut(&Progress)) -> T,
) -> T {
    let mut bar = Bar::new("points");
    let result = work(driver, &mut |progress| bar.tell(progress));
    bar.close();
    result
}

/// Shows progress: a bar on a terminal, else a line now and then.
pub struct Bar {
    /// What progress is counted in.
    things: &'static str,
    bar: Option<ProgressBar>,
    last: Instant,
}

impl Bar {
    /// Nothing has been done yet.
    pub fn new(things: &'static str) -> Bar {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:32} {msg}");
            ProgressBar::new(1).with_style(style.expect("the template is valid"))
        });
        Bar { things, bar, last: Instant::now() }
    }

    /// So much has been done.
    pub fn tell(&mut self, progress: &Progress) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(progress.points as u64);
                bar.set_position(progress.done as u64);
                bar.set_message(line(progress, self.things));
            }
            None if self.last.elapsed() >= LINE => {
                self.last = Instant::now();
                eprintln!("{}", line(progress, self.things));
            }
            None => {}
        }
    }

    /// Prints something while the bar is away.
    pub fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes it.
    pub fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn line(progress: &Progress, things: &str) -> String {
    let Progress { points, done, failed, running, flows, left, .. } = progress;
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    let left =
        left.map_or("...".to_string(), |left| format!("{} left", duration(left.as_secs_f64())));
    format!("{done}/{points} {things}{failed}, {running} running, {flows} flows done, {left}")
}

/// A size for people: `12 MB`.
fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e9 => format!("{:.0} MB", (b / 1e6).ceil()),
        b => format!("{:.1} GB", b / 1e9),
    }
}

/// Prints what a study will cost.
fn forecast(study: &Study, estimate: &Estimate, threads: usize, dir: &Path) {
    let Estimate { points, to_run, cpu_seconds, wall_seconds, memory, disk } = *estimate;
    let least = if study.repeat().is_some() { "at least " } else { "" };
    let points = counted(points, "point");
    say!("{}: {least}{points}, {to_run} to be run, in {}", study.name(), dir.display());
    say!("CPU time: about {}", duration(cpu_seconds));
    let threads = counted(threads, "thread");
    say!("wall-clock time: about {} with {threads}", duration(wall_seconds));
    let free =
        incast_study::available().map_or(String::new(), |free| format!(" of {} free", size(free)));
    say!("memory: about {}{free}", size(memory));
    say!("disk: about {}", size(disk));
}

/// Prints how it ended, and what to open next.
fn finish(study: &Study, outcome: &Outcome, dir: &Path, stopped: bool) -> Result<Ended, Fault> {
    let Progress { points, done, kept, .. } = outcome.progress;
    for one in outcome.failed.iter().take(SHOWN) {
        eprintln!("error: {}: {}", one.point, one.why);
    }
    if outcome.failed.len() > SHOWN {
        eprintln!("error: and {} more failed points", outcome.failed.len() - SHOWN);
    }
    if !outcome.failed.is_empty() {
        eprintln!("error: --retry-failed runs failed points again");
    }
    for one in outcome.not_run.iter().take(SHOWN) {
        eprintln!("error: not run: {}: {}", one.point, one.why);
    }
    say!("{done} of {points} points, {} of them run now: {}", done - kept, dir.display());
    say!("report with the curves: {}", dir.join("study.html").display());
    let shown = dir.display();
    let mut next = vec![format!("`incast.load(\"{shown}\")` in Python")];
    if study.repeat().is_none() {
        let more = 2 * study.seeds().len().max(2);
        next.insert(
            0,
            format!("`incast study {shown} --set study.seeds={more}` for narrower intervals"),
        );
    }
    say!("next: {}", next.join(", "));
    Ok(match (stopped, outcome.failed.is_empty() && outcome.not_run.is_empty()) {
        (true, _) => Ended::Interrupted,
        (false, true) => Ended::Done,
        (false, false) => Ended::Failed,
    })
}
