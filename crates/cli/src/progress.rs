//! Progress of a run: a bar on a terminal, else a line now and then.

use crate::values::duration;
use incast_experiment::Monitor;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Time between two lines where there is no terminal.
pub const LINE: Duration = Duration::from_secs(10);
/// Time between two changes of a bar.
const BAR: Duration = Duration::from_millis(100);

/// Runs `work` while showing the monitor's numbers.
pub fn shown<T>(label: &str, flows: u64, monitor: &Arc<Monitor>, work: impl FnOnce() -> T) -> T {
    let bar = std::io::stderr().is_terminal().then(|| {
        let style = ProgressStyle::with_template("{prefix:>8} {bar:24} {msg}");
        let bar = ProgressBar::new(flows.max(1)).with_prefix(label.to_string());
        bar.with_style(style.expect("the template is valid"))
    });
    let (end, ended) = mpsc::channel::<()>();
    let shower = {
        let (monitor, label) = (monitor.clone(), label.to_string());
        std::thread::spawn(move || {
            let start = Instant::now();
            let every = if bar.is_some() { BAR } else { LINE };
            while ended.recv_timeout(every) == Err(mpsc::RecvTimeoutError::Timeout) {
                let text = line(&monitor, flows, start.elapsed().as_secs_f64());
                match &bar {
                    Some(bar) => {
                        bar.set_position(monitor.completed.load(Ordering::Relaxed));
                        bar.set_message(text);
                    }
                    None => eprintln!("{label}: {text}"),
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        })
    };
    let result = work();
    drop(end);
    // The thread only waits and prints; its failure would not affect results.
    let _ = shower.join();
    result
}

/// How far a run is after so many seconds, and how long it will take.
fn line(monitor: &Monitor, flows: u64, elapsed: f64) -> String {
    let now_ms = monitor.now.load(Ordering::Relaxed) as f64 / 1e9;
    let completed = monitor.completed.load(Ordering::Relaxed);
    let hops = monitor.hops.load(Ordering::Relaxed) as f64;
    let share = completed as f64 / flows.max(1) as f64;
    let left = match share {
        share if share > 0.02 => format!("{} left", duration(elapsed * (1.0 - share) / share)),
        _ => "...".to_string(),
    };
    format!(
        "{now_ms:.3} ms simulated, {completed} of {flows} flows, {:.1} M packet-hops/s, {left}",
        hops / elapsed / 1e6
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_a_run_is_and_how_long_it_will_take() {
        let monitor = Monitor::default();
        monitor.now.store(2_500_000_000, Ordering::Relaxed);
        monitor.hops.store(30_000_000, Ordering::Relaxed);
        monitor.completed.store(250, Ordering::Relaxed);
        let text = "2.500 ms simulated, 250 of 1000 flows, 3.0 M packet-hops/s, 30 s left";
        assert_eq!(line(&monitor, 1000, 10.0), text);
        // Of the first flows nothing follows.
        monitor.completed.store(20, Ordering::Relaxed);
        assert!(line(&monitor, 1000, 10.0).ends_with("20 of 1000 flows, 3.0 M packet-hops/s, ..."));
        monitor.completed.store(25, Ordering::Relaxed);
        assert!(line(&monitor, 1000, 100.0).ends_with("65 min left"));
    }
}
