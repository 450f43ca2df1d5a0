//! Progress bar of a run, on a terminal only.

use incast_experiment::Monitor;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs `work` while showing the monitor's numbers.
pub fn shown<T>(label: &str, flows: u64, monitor: &Arc<Monitor>, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let done = Arc::new(AtomicBool::new(false));
    let bar = ProgressBar::new(flows.max(1));
    let style = ProgressStyle::with_template("{prefix:>8} {bar:24} {msg}");
    bar.set_style(style.expect("the template is valid"));
    bar.set_prefix(label.to_string());
    let shower = {
        let (done, monitor, bar) = (done.clone(), monitor.clone(), bar.clone());
        std::thread::spawn(move || {
            let start = Instant::now();
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(100));
                show(&bar, &monitor, flows, start.elapsed().as_secs_f64());
            }
        })
    };
    let result = work();
    done.store(true, Ordering::Relaxed);
    // The thread only sleeps and prints; its failure would not affect results.
    let _ = shower.join();
    bar.finish_and_clear();
    result
}

fn show(bar: &ProgressBar, monitor: &Monitor, flows: u64, elapsed: f64) {
    let now_ms = monitor.now.load(Ordering::Relaxed) as f64 / 1e9;
    let completed = monitor.completed.load(Ordering::Relaxed);
    let hops = monitor.hops.load(Ordering::Relaxed) as f64;
    let share = completed as f64 / flows.max(1) as f64;
    let left = match share {
        share if share > 0.02 => format!("{:.0} s left", elapsed * (1.0 - share) / share),
        _ => "...".to_string(),
    };
    bar.set_position(completed);
    bar.set_message(format!(
        "{now_ms:.3} ms simulated, {completed}/{flows} flows, {:.1} M packet-hops/s, {left}",
        hops / elapsed / 1e6
    ));
}
