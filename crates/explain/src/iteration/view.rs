//! An iteration as text, as a page and as a picture.

use super::{Iteration, RankFacts};
use crate::console::{bars, wrapped};
use crate::page::{escape, head, prose, waterfall};
use crate::words::{percent, size, time};
use std::fmt::Write;

/// Rows of a list in a text.
const ROWS: usize = 16;
/// Ranks of a picture.
const RANKS: usize = 64;

/// As text.
pub(crate) fn text(all: &Iteration) -> String {
    let mut lines: Vec<String> = all.verdict.iter().map(|says| wrapped(says)).collect();
    let sum = all.time() + all.ahead_ps;
    lines.push(format!("\nWhere the critical path goes (adds up to {sum} ps):"));
    lines.extend(bars(&all.parts));
    lines.push("\nMessages of the critical path:".into());
    lines.extend(path(all));
    lines.push("\nWhat the ranks did:".into());
    lines.push(format!(
        "  {:>5} {:>5} {:>9} {:>9} {:>9}  {}",
        "rank", "host", "computing", "sending", "waiting", "longest for"
    ));
    lines.extend(all.by_rank.iter().take(ROWS).map(|one| {
        let (rank, host) = (one.rank, one.host);
        let [computing, sending, waiting] = times(one);
        format!("  {rank:>5} {host:>5} {computing:>9} {sending:>9} {waiting:>9}  {}", whom(one))
    }));
    lines.extend(beyond(all.by_rank.len()));
    if !all.notes.is_empty() {
        lines.push(String::new());
    }
    lines.extend(all.notes.iter().map(|note| wrapped(&format!("note: {note}"))));
    lines.join("\n")
}

/// How many rows are not shown.
fn beyond(count: usize) -> Option<String> {
    (count > ROWS).then(|| format!("  and {} more", count - ROWS))
}

/// The messages of a path; of many those that took longest beyond their ideal time.
fn path(all: &Iteration) -> Vec<String> {
    let mut shown: Vec<_> = all.path.iter().collect();
    if shown.len() > ROWS {
        shown.sort_by_key(|leg| std::cmp::Reverse(leg.excess()));
        shown.truncate(ROWS);
        shown.sort_by_key(|leg| leg.start_ps);
    }
    let line = |leg: &&super::Leg| {
        let place = match leg.port.as_str() {
            "" => String::new(),
            port => format!(", longest at {port}"),
        };
        format!(
            "  at {:>9} rank {} to rank {}: {}, {}, {} (alone {}){place}",
            time(leg.start_ps - all.begin_ps.min(leg.start_ps)),
            leg.from,
            leg.to,
            carried(leg.flow),
            size(leg.size_bytes),
            time(leg.end_ps - leg.start_ps),
            time(leg.ideal_ps)
        )
    };
    let mut lines: Vec<String> = shown.iter().map(line).collect();
    lines.extend(beyond(all.path.len()));
    lines
}

/// What carries a message.
fn carried(flow: Option<u32>) -> String {
    flow.map_or("within the server".into(), |flow| format!("flow {flow}"))
}

/// How long a rank computed, sent and waited.
fn times(one: &RankFacts) -> [String; 3] {
    [one.computing_ps, one.sending_ps, one.waiting_ps]
        .map(|ps| if ps == 0 { "-".into() } else { time(ps) })
}

fn whom(one: &RankFacts) -> String {
    one.waited_for.map_or(String::new(), |(rank, ps)| format!("rank {rank} ({})", time(ps)))
}

/// As a page.
pub(crate) fn html(all: &Iteration) -> String {
    let mut out = head(&format!(
        "Why iteration {} of {} took {} ({})",
        all.iteration,
        match all.program {
            None => format!("the {}", all.kind.replace('_', "-")),
            Some(_) => all.kind.clone(),
        },
        time(all.time()),
        all.run
    ));
    for says in &all.verdict {
        let _ = writeln!(out, "<p>{}</p>", prose(says));
    }
    for note in &all.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", prose(note));
    }
    out += "<h2>What the ranks did</h2>\n<div class=\"wide\">";
    out += &picture(all);
    out += "</div>\n<p class=\"key\">Grey: computing. Blue: sending, from the start of a message to its arrival. Empty: \
            waiting for others, or done. Red: the critical path.</p>\n";
    let sum = all.time() + all.ahead_ps;
    out += &waterfall(
        "Where the critical path goes",
        &format!("The parts add up to {sum} ps, the time of the iteration."),
        &all.parts,
    );
    out += &tables(all);
    out + "</body></html>\n"
}

fn tables(all: &Iteration) -> String {
    let mut out = String::from(
        "<h2>Messages of the critical path</h2>\n<div class=\"wide\"><table><tr><th>at</th><th>ranks</th><th>flow</th>\
         <th>size</th><th>took</th><th>alone</th><th>waited longest at</th></tr>\n",
    );
    for leg in &all.path {
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td>{} to {}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}\
             </td><td class=\"n\">{}</td><td>{}</td></tr>",
            time(leg.start_ps.saturating_sub(all.begin_ps)),
            leg.from,
            leg.to,
            leg.flow.map_or("-".into(), |flow| flow.to_string()),
            size(leg.size_bytes),
            time(leg.end_ps - leg.start_ps),
            time(leg.ideal_ps),
            escape(&leg.port)
        );
    }
    out += "</table></div>\n<h2>Ports of the critical path</h2>\n<p class=\"key\">What the messages whose last packet waited \
            longest there took longer than alone.</p>\n<table>\n";
    for one in &all.ports {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{} messages</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&one.port),
            one.messages,
            time(one.excess_ps),
            percent(one.share)
        );
    }
    out += "</table>\n<h2>Ranks</h2>\n<div class=\"wide\"><table><tr><th>rank</th><th>host</th><th>computing</th><th>sending\
            </th><th>waiting</th><th>longest for</th></tr>\n";
    for one in &all.by_rank {
        let [computing, sending, waiting] = times(one);
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{computing}</td><td class=\"n\">{sending}</td>\
             <td class=\"n\">{waiting}</td><td>{}</td></tr>",
            one.rank,
            one.host,
            whom(one)
        );
    }
    out + "</table></div>\n"
}

/// Sizes of a picture.
struct Frame {
    left: f64,
    wide: f64,
    row: f64,
    top: f64,
    /// The instants at its sides.
    from: u64,
    until: u64,
}

impl Frame {
    fn x(&self, at: u64) -> f64 {
        let at = at.clamp(self.from, self.until) - self.from;
        self.left + self.wide * at as f64 / (self.until - self.from).max(1) as f64
    }

    /// The middle of a row.
    fn y(&self, row: usize) -> f64 {
        self.top + self.row * (row as f64 + 0.5)
    }

    /// A bar in a row, between these shares of its height.
    fn bar(
        &self,
        (row, high, low): (usize, f64, f64),
        (from, until): (u64, u64),
        fill: &str,
        title: &str,
    ) -> String {
        let (left, right) = (self.x(from), self.x(until));
        let room = self.row - 4.0;
        let (top, tall) =
            (self.top + self.row * row as f64 + 2.0 + room * high, room * (low - high));
        let wide = (right - left).max(0.5);
        format!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" fill=\"{fill}\" \
             stroke=\"#111\" stroke-width=\"0.4\"><title>{title}</title></rect>"
        )
    }
}

/// Ranks that a picture shows: all, or of many those of the critical path and the first others.
fn shown(all: &Iteration) -> Vec<usize> {
    let count = all.by_rank.len();
    if count <= RANKS {
        return (0..count).collect();
    }
    let mut ranks: Vec<usize> = vec![];
    for rank in all.path.iter().flat_map(|leg| [leg.from, leg.to]).chain(0..count as u32) {
        if ranks.len() < RANKS && !ranks.contains(&(rank as usize)) {
            ranks.push(rank as usize);
        }
    }
    ranks.sort_unstable();
    ranks
}

/// A timeline by rank with the critical path through it, as SVG.
pub(crate) fn picture(all: &Iteration) -> String {
    let ranks = shown(all);
    let row = if ranks.len() <= 24 { 26.0 } else { 14.0 };
    let (left, wide, top) = (96.0, 880.0, 8.0);
    let from = all.begin_ps.saturating_sub(all.ahead_ps);
    let frame = Frame { left, wide, row, top, from, until: all.end_ps };
    let floor = top + row * ranks.len() as f64;
    let (width, height) = (left + wide + 14.0, floor + 40.0);
    let mut out = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"What each rank did over time, and the critical \
         path\" font-size=\"12\" fill=\"currentColor\" font-family=\"sans-serif\">"
    );
    // Ranks of a program compute and send at the same time.
    let (low, high) = if all.program.is_some() { (0.5, 0.5) } else { (1.0, 0.0) };
    for (place, rank) in ranks.iter().enumerate() {
        let one = &all.by_rank[*rank];
        let (beside, y) = (left - 6.0, frame.y(place) + 4.0);
        let _ = write!(
            out,
            "<text x=\"{beside}\" y=\"{y:.1}\" text-anchor=\"end\">{rank} (host {})</text>",
            one.host
        );
        for &(from, until) in one.computing.iter().filter(|(_, until)| *until > frame.from) {
            let title = format!("rank {rank} computed {}", time(until - from));
            out += &frame.bar((place, 0.0, low), (from, until), "#9a9a9a", &title);
        }
        for own in &one.sending {
            let (to, took) = (own.to, time(own.until_ps - own.from_ps));
            let title = format!("{} to rank {to}: {took}", carried(own.flow));
            let times = (own.from_ps, own.until_ps);
            out += &frame.bar((place, high, 1.0), times, "#77aadd", &title);
        }
    }
    out += &critical(all, &frame, &ranks);
    out += &axis(&frame, floor, ranks.len() < all.by_rank.len());
    out + "</svg>"
}

/// The critical path: along the row of each sender, then down or up to the receiver's.
fn critical(all: &Iteration, frame: &Frame, ranks: &[usize]) -> String {
    let row = |rank: u32| ranks.iter().position(|one| *one == rank as usize);
    let Some(first) = all.path.first() else { return String::new() };
    let mut path = String::new();
    if let Some(own) = row(first.from) {
        let _ = write!(path, "M{:.1} {:.1}", frame.x(frame.from), frame.y(own));
    }
    for leg in &all.path {
        let (Some(from), Some(to)) = (row(leg.from), row(leg.to)) else { continue };
        let (start, end) = (frame.x(leg.start_ps), frame.x(leg.end_ps));
        let _ = write!(path, "L{start:.1} {:.1}L{end:.1} {:.1}", frame.y(from), frame.y(to));
    }
    // A program may compute behind its last message.
    if let Some((last, own)) = all.path.last().and_then(|leg| Some((leg, row(leg.to)?)))
        && last.end_ps < all.end_ps
    {
        let _ = write!(path, "L{:.1} {:.1}", frame.x(all.end_ps), frame.y(own));
    }
    format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"#bb3344\" stroke-width=\"2.5\" stroke-linejoin=\"round\"/>"
    )
}

fn axis(frame: &Frame, floor: f64, partly: bool) -> String {
    let mut out = String::new();
    let span = frame.until - frame.from;
    for step in 0..=4u64 {
        let at = frame.from + (span as u128 * step as u128 / 4) as u64;
        let (x, low, text) = (frame.x(at), floor + 5.0, floor + 19.0);
        let anchor = ["start", "middle", "middle", "middle", "end"][step as usize];
        let label = if step == 0 { "start".to_string() } else { time(at - frame.from) };
        let _ = write!(
            out,
            "<path d=\"M{x:.1} {floor}V{low}\" stroke=\"currentColor\"/><text x=\"{x:.1}\" y=\"{text}\" \
             text-anchor=\"{anchor}\">{label}</text>"
        );
    }
    let right = frame.left + frame.wide;
    let left = frame.left;
    let _ = write!(out, "<path d=\"M{left} {floor}H{right}\" stroke=\"currentColor\"/>");
    if partly {
        let low = floor + 34.0;
        let _ = write!(
            out,
            "<text x=\"{left}\" y=\"{low}\">the ranks of the critical path and some others</text>"
        );
    }
    out
}
