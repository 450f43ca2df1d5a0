//! An explanation as text.

use crate::control::ControlPoint;
use crate::explanation::{Explanation, PartFacts};
use crate::verdict::{ended, in_front, shares};
pub use crate::words::{bytes, percent, time};
use std::fmt::Write;

/// Rows shown of a longer list.
const ROWS: usize = 8;
/// Characters of the longest bar.
const BAR: f64 = 30.0;
/// Characters of a line of prose.
const WIDTH: usize = 100;

/// Breaks prose into lines.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            lines.push('\n');
            column = 0;
        }
        if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines
}

/// The whole explanation.
pub fn text(all: &Explanation) -> String {
    let mut out = String::new();
    let mut say = |line: String| {
        out += &line;
        out.push('\n');
    };
    all.verdict.iter().for_each(|sentence| say(wrapped(sentence)));
    parts(all).into_iter().for_each(&mut say);
    hops(all).into_iter().for_each(&mut say);
    waits(all).into_iter().for_each(&mut say);
    events(all).into_iter().for_each(&mut say);
    control(all).into_iter().for_each(&mut say);
    if !all.notes.is_empty() {
        say(String::new());
    }
    all.notes.iter().for_each(|note| say(wrapped(&format!("note: {note}"))));
    out
}

fn parts(all: &Explanation) -> Vec<String> {
    let mut lines = vec![];
    let Some(fct) = all.flow.fct_ps else { return lines };
    lines.push(format!("\nWhere the time went (adds up to {fct} ps):"));
    lines.extend(bars(&all.parts));
    lines
}

/// A bar for each part, one after the other.
pub(crate) fn bars(parts: &[PartFacts]) -> Vec<String> {
    let mut done = 0.0;
    let bar = |part: &PartFacts| {
        let before = " ".repeat((done * BAR) as usize);
        done += part.share;
        let bar = "#".repeat(((part.share * BAR) as usize).max(1));
        let (name, share) = (part.name, percent(part.share));
        format!("  {name:<17} {:>10} {share:>7}  {before}{bar}", time(part.ps))
    };
    parts.iter().filter(|part| part.ps > 0).map(bar).collect()
}

fn hops(all: &Explanation) -> Vec<String> {
    let mut lines = vec![];
    if all.hops.is_empty() {
        return lines;
    }
    lines.push(format!("\nThe packet that completed it went {}:", all.way()));
    for hop in &all.hops {
        let worst = all.worst_port.as_ref().is_some_and(|(port, _)| *port == hop.port);
        let (mark, worst) =
            (if hop.marked { ", marked" } else { "" }, if worst { "  <- worst port" } else { "" });
        let found = hop.queue_bytes.map_or(String::new(), bytes_found);
        let waited = time(hop.waited_ps);
        lines.push(format!("  {:<22} waited {waited:>9}{found}{mark}{worst}", hop.port));
        if hop.waited_ps > 0 {
            lines.push(format!("    behind {}", in_front(&hop.fronts, all.flow.id)));
        }
    }
    lines
}

fn bytes_found(found: u64) -> String {
    format!(", found {} queued", bytes(found))
}

fn waits(all: &Explanation) -> Vec<String> {
    let waited: Vec<_> = all.waits.iter().filter(|wait| wait.waited_ps > 0).collect();
    if waited.is_empty() || all.flow.packets <= 1 {
        return vec![];
    }
    let title = "\nAll its data packets together waited (a sum: these waits overlap in time):";
    let mut lines = vec![title.to_string()];
    for wait in waited.iter().take(ROWS) {
        lines.push(format!(
            "  {:<22} {:>9} in {} packets, at most {}, {} marked",
            wait.port,
            time(wait.waited_ps),
            wait.packets,
            time(wait.longest_ps),
            wait.marks
        ));
        lines.push(format!("    behind {}", shares(&wait.fronts, all.flow.id)));
    }
    lines
}

fn events(all: &Explanation) -> Vec<String> {
    let mut lines = vec![];
    if !all.losses.is_empty() {
        lines.push(format!("\nLosses ({}):", all.losses.len()));
    }
    for loss in all.losses.iter().take(ROWS) {
        let again = if loss.retransmission { " (a retransmission)" } else { "" };
        let queue =
            loss.queue_bytes.map_or(String::new(), |queue| format!(", queue {}", bytes(queue)));
        let (after, packet, number) = (time(loss.after_ps), loss.packet, loss.number);
        lines.push(format!(
            "  after {after:>9}: {packet} {number}{again} {} at {}{queue}",
            loss.how, loss.port
        ));
    }
    if all.losses.len() > ROWS {
        lines.push(format!("  and {} more", all.losses.len() - ROWS));
    }
    if !all.silences.is_empty() {
        lines.push("\nThe source sent no data for a base RTT or more:".into());
    }
    for one in all.silences.iter().take(ROWS) {
        let (after, long) = (time(one.after_ps), time(one.ps));
        let again = if one.retransmission { ", then a retransmission" } else { "" };
        let until = ended(&one.ended_by);
        lines.push(format!("  after {after:>9} for {long:>9}, until {until}{again}"));
    }
    if all.silences.len() > ROWS {
        lines.push(format!("  and {} more", all.silences.len() - ROWS));
    }
    lines
}

fn control(all: &Explanation) -> Vec<String> {
    // What comes after its completion, such as the last ACK, explains nothing.
    let within = |point: &&ControlPoint| all.flow.fct_ps.is_none_or(|fct| point.after_ps <= fct);
    let points: Vec<&ControlPoint> = all.control.iter().filter(within).collect();
    if points.len() < 2 {
        return vec![];
    }
    let step = points.len().div_ceil(2 * ROWS);
    let shown = points.iter().enumerate().filter(|(at, point)| {
        at % step == 0 || *at + 1 == points.len() || point.event == "timeout"
    });
    let shown: Vec<&&ControlPoint> = shown.take(3 * ROWS).map(|(_, point)| point).collect();
    let count = match points.len() {
        all if all > shown.len() => format!("{} of {all} events", shown.len()),
        all => format!("{all} events"),
    };
    let mut lines = vec![format!("\nWhat its congestion control knew and did ({count}):")];
    let line =
        |point: &&ControlPoint| format!("  after {:>9}: {}", time(point.after_ps), state(point));
    lines.extend(shown.into_iter().map(line));
    lines
}

/// The state at a decision, in words.
fn state(point: &ControlPoint) -> String {
    let mut text = format!("{:<8}", point.event);
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            write!(text, "  {name} {value}").expect("a string takes all");
        }
    };
    add("information", point.age_ps.map(|age| format!("{} old", time(age))));
    add("window", point.window_bytes.map(bytes));
    add("rate", point.rate_bps.map(|rate| format!("{:.3} Gb/s", rate as f64 / 1e9)));
    add("in flight", point.in_flight_bytes.map(bytes));
    add("credits", point.credits.map(|credits| credits.to_string()));
    text
}
