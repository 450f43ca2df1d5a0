//! An explanation as a page of its own: no script, no request, readable in print, in grey and on a
//! phone.

use crate::difference::{Difference, signed};
use crate::explanation::{Explanation, PartFacts};
use crate::fronts::FrontFacts;
use crate::picture::svg;
use crate::verdict::{in_front, shares};
use crate::words::{bytes, percent, size, time};
use std::fmt::Write;

const STYLE: &str = "body{font:16px/1.45 system-ui,sans-serif;max-width:54rem;margin:1rem auto;padding:0 1rem;\
color:#111;background:#fff}h1{font-size:1.35rem}h2{font-size:1.1rem;margin-top:1.6rem}\
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{padding:.2rem .5rem .2rem 0;text-align:left;\
vertical-align:top;border-bottom:1px solid #ddd}td.n{text-align:right;white-space:nowrap}\
td.bar{width:45%;min-width:6rem}td.bar div{height:1rem;border:1px solid #111;background:#77aadd}\
td.bar div.wait{background:repeating-linear-gradient(45deg,#ddaa33,#ddaa33 4px,#fff 4px,#fff 7px)}\
td.bar div.lost{background:repeating-linear-gradient(90deg,#bb5566,#bb5566 3px,#fff 3px,#fff 5px)}\
.mix{display:flex;contain:inline-size;min-width:8rem;height:1.1rem;border:1px solid #111}.mix div{border-right:1px solid #111;overflow:hidden;\
font-size:.75rem;line-height:1.1rem;overflow-wrap:normal}.mix i{display:inline-block;width:0}\
.mix span{white-space:nowrap}p.key{font-size:.85rem}.note{border-left:4px solid #111;\
padding-left:.6rem}svg{width:100%;height:auto}.wide{overflow-x:auto}@media print{body{max-width:none;margin:0}\
h2{break-after:avoid}tr,svg,.note{break-inside:avoid}}";

/// Narrow screens, and dark ones.
const SCREENS: &str = "p,td,th,h1{overflow-wrap:anywhere}td small{overflow-wrap:anywhere}\
@media(max-width:40rem){body{padding:0 .6rem}h1{font-size:1.15rem}table{font-size:.82rem}\
td.bar{width:34%;min-width:4rem}td.n{white-space:normal;min-width:3.6rem}svg text{font-size:20px}}\
@media(prefers-color-scheme:dark){:root{color-scheme:dark}body{color:#e8e8e8;background:#16191c}\
th,td{border-color:#444}.note{border-color:#e8e8e8}td.bar div,.mix,.mix div{border-color:#9a9a9a}\
.mix div{color:#111}}";

/// Colours that differ in lightness too, for flows in front in order of their share.
const SHADES: [&str; 5] = ["#ddaa33", "#77aadd", "#eeeeee", "#bbcc77", "#cc99bb"];

/// Text as HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A sentence: what stands between backticks is code.
pub(crate) fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    });
    parts.collect()
}

pub(crate) fn head(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}{SCREENS}</style></head><body>\n<h1>{title}</h1>\n"
    )
}

/// The page of some explanations.
pub fn html(all: &[Explanation]) -> String {
    let title = match all {
        [one] => format!("Why flow {} took as long as it did ({})", one.flow.id, one.run),
        _ => format!("Why {} flows took as long as they did", all.len()),
    };
    let mut out = head(&title);
    for one in all {
        if all.len() > 1 {
            let _ = writeln!(out, "<h1>Flow {}</h1>", one.flow.id);
        }
        out += &body(one);
    }
    out + "</body></html>\n"
}

/// The page of a difference.
pub fn html_of_difference(all: &Difference) -> String {
    let (a, b) = (escape(&all.a.run), escape(&all.b.run));
    let mut out =
        head(&format!("Flow {} with {} and with {}", all.a.flow.id, all.a.run, all.b.run));
    for sentence in &all.verdict {
        let _ = writeln!(out, "<p>{}</p>", prose(sentence));
    }
    let _ = writeln!(
        out,
        "<div class=\"wide\"><table><tr><th>part</th><th>{a}</th><th>{b}</th><th>difference</th></tr>"
    );
    for part in all.parts.iter().filter(|part| part.a_ps > 0 || part.b_ps > 0) {
        let _ = writeln!(
            out,
            "<tr><td>{}<br><small>{}</small></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td></tr>",
            part.name,
            escape(part.meaning),
            time(part.a_ps),
            time(part.b_ps),
            signed(part.more_ps)
        );
    }
    out += "</table></div>\n";
    for (name, one) in [(&a, &all.a), (&b, &all.b)] {
        let _ = writeln!(out, "<h1>With {name}</h1>");
        out += &body(one);
    }
    out + "</body></html>\n"
}

fn body(all: &Explanation) -> String {
    let mut out = String::new();
    for sentence in &all.verdict {
        let _ = writeln!(out, "<p>{}</p>", prose(sentence));
    }
    for note in &all.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", prose(note));
    }
    if let Some(fct) = all.flow.fct_ps {
        let says = format!("The parts add up to {fct} ps, as the columns of `flows.parquet`.");
        out += &waterfall("Where the time went", &says, &all.parts);
    }
    out += &path(all);
    if let Some(picture) = svg(all) {
        out += "<h2>Over time</h2>\n";
        out += &picture;
        out += "\n<p class=\"key\">Crosses: lost packets. Dashed: a retransmission timer expired. Hatched: the \
                source sent no data for a base RTT or more.</p>\n";
    }
    out += &lists(all);
    out
}

/// A bar for each part, one after the other, under a heading.
pub(crate) fn waterfall(title: &str, says: &str, parts: &[PartFacts]) -> String {
    let mut out = format!("<h2>{title}</h2>\n<p class=\"key\">{}</p>\n<table>\n", prose(says));
    let mut before = 0.0;
    for part in parts.iter().filter(|part| part.ps > 0) {
        let kind = match part.name {
            "recovery" => "lost",
            name if name.starts_with("queue")
                || name.starts_with("blocked")
                || name == "nic_other" =>
            {
                "wait"
            }
            _ => "",
        };
        let left = (before * 100.0_f64).min(99.0);
        let wide = (part.share * 100.0).max(0.6).min(100.0 - left);
        before += part.share;
        let _ = writeln!(
            out,
            "<tr><td>{}<br><small>{}</small></td><td class=\"bar\"><div class=\"{kind}\" \
             style=\"margin-left:{left:.2}%;width:{wide:.2}%\"></div></td><td class=\"n\">{}<br>{}</td></tr>",
            part.name,
            escape(part.meaning),
            time(part.ps),
            percent(part.share)
        );
    }
    out += "</table>\n<p class=\"key\">Plain: sending and the way. Slanted: waiting. Upright: recovery from \
            losses.</p>\n";
    out
}

/// A wait as a bar divided by who was in front. A label is shown whole or not at all: where it has no
/// room it wraps into a second line, which is cut off.
fn mix(fronts: &[FrontFacts], own: u32) -> String {
    let mut sorted: Vec<&FrontFacts> = fronts.iter().filter(|front| front.ps > 0).collect();
    sorted.sort_by_key(|front| std::cmp::Reverse(front.ps));
    let total: u64 = sorted.iter().map(|front| front.ps).sum();
    let mut out = String::from("<div class=\"mix\">");
    for (at, front) in sorted.iter().enumerate() {
        let name = match front.flow {
            Some(flow) if flow == own => "own".to_string(),
            Some(flow) => format!("{flow}"),
            None => front.why.to_string(),
        };
        let share = 100.0 * front.ps as f64 / total.max(1) as f64;
        let _ = write!(
            out,
            "<div style=\"width:{share:.2}%;background:{}\" title=\"{name}: {}\"><i></i> \
             <span>{name}</span></div>",
            SHADES[at % SHADES.len()],
            time(front.ps)
        );
    }
    out + "</div>"
}

fn path(all: &Explanation) -> String {
    if all.hops.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<h2>Who was in front of its last packet</h2>\n<p class=\"key\">{}</p>\n<table>\n",
        escape(&all.way())
    );
    for hop in &all.hops {
        let worst = all.worst_port.as_ref().is_some_and(|(port, _)| *port == hop.port);
        let found =
            hop.queue_bytes.map_or(String::new(), |found| format!("found {} queued", bytes(found)));
        let (bar, behind) = match hop.waited_ps {
            0 => (String::new(), String::new()),
            _ => (
                mix(&hop.fronts, all.flow.id),
                format!(
                    "<br><small>behind {}</small>",
                    escape(&in_front(&hop.fronts, all.flow.id))
                ),
            ),
        };
        let _ = writeln!(
            out,
            "<tr><td>{}{}<br><small>{found}{}</small></td><td class=\"bar\">{bar}{behind}</td>\
             <td class=\"n\">{}</td></tr>",
            escape(&hop.port),
            if worst { " <b>(worst)</b>" } else { "" },
            if hop.marked { ", marked" } else { "" },
            time(hop.waited_ps)
        );
    }
    out + "</table>\n<p class=\"key\">Numbers in bars are flows.</p>\n"
}

fn lists(all: &Explanation) -> String {
    let mut out = String::new();
    let waits: Vec<_> = all.waits.iter().filter(|wait| wait.waited_ps > 0).collect();
    if !waits.is_empty() && all.flow.packets > 1 {
        out += "<h2>All its packets together</h2>\n<p class=\"key\">The sum of their waits, which overlap in \
                time: two packets that wait for 1 µs at once have waited for 2 µs.</p>\n<table>\n";
        for wait in waits.iter().take(12) {
            let _ = writeln!(
                out,
                "<tr><td>{}<br><small>{} packets, {} marked</small></td><td class=\"bar\">{}\
                 <br><small>behind {}</small></td><td class=\"n\">{}<br>at most {}</td></tr>",
                escape(&wait.port),
                wait.packets,
                wait.marks,
                mix(&wait.fronts, all.flow.id),
                escape(&shares(&wait.fronts, all.flow.id)),
                time(wait.waited_ps),
                time(wait.longest_ps)
            );
        }
        out += "</table>\n";
    }
    if !all.losses.is_empty() {
        let _ = writeln!(out, "<h2>Losses ({})</h2>\n<table>", all.losses.len());
        for loss in all.losses.iter().take(40) {
            let queue =
                loss.queue_bytes.map_or(String::new(), |queue| format!("queue {}", bytes(queue)));
            let _ = writeln!(
                out,
                "<tr><td class=\"n\">{}</td><td>{} {}{}</td><td>{} at {}</td><td>{queue}</td></tr>",
                time(loss.after_ps),
                loss.packet,
                loss.number,
                if loss.retransmission { " (again)" } else { "" },
                loss.how,
                escape(&loss.port)
            );
        }
        out += "</table>\n";
    }
    if !all.others.is_empty() {
        out += "<h2>The other flows</h2>\n<div class=\"wide\"><table><tr><th>flow</th><th>from, to</th>\
                <th class=\"n\">size</th><th>transport</th><th class=\"n\">started</th></tr>\n";
        for flow in all.others.iter().take(40) {
            let start = flow.start_ps.map_or(String::new(), time);
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{} to {}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{start}</td></tr>",
                flow.id,
                flow.src,
                flow.dst,
                size(flow.size_bytes),
                escape(&flow.transport)
            );
        }
        out += "</table></div>\n";
    }
    out
}
