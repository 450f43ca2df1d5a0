//! One flow in two runs, part by part.

use crate::explanation::Explanation;
use crate::words::{percent, size, time};
use serde::Serialize;

/// A part of the completion time in two runs, picoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartDifference {
    /// Column of `flows.parquet` without `_ps`.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// In the first run.
    pub a_ps: u64,
    /// In the second.
    pub b_ps: u64,
    /// The second less the first.
    pub more_ps: i64,
}

/// The difference of one flow between two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The answer in sentences.
    pub verdict: Vec<String>,
    /// The parts; their differences add up to that of the completion times.
    pub parts: Vec<PartDifference>,
    /// The flow in the first run.
    pub a: Explanation,
    /// The flow in the second run.
    pub b: Explanation,
}

impl Difference {
    /// Between two explanations of a flow of the same number. The notes say if it is not the same
    /// flow otherwise.
    pub fn of(a: Explanation, b: Explanation) -> Difference {
        let parts = a.parts.iter().map(|part| {
            let (a_ps, b_ps) = (part.ps, b.part(part.name));
            let (name, meaning) = (part.name, part.meaning);
            PartDifference { name, meaning, a_ps, b_ps, more_ps: b_ps as i64 - a_ps as i64 }
        });
        let parts: Vec<PartDifference> = match b.parts.is_empty() {
            true => vec![],
            false => parts.collect(),
        };
        let verdict = verdict(&a, &b, &parts);
        Difference { verdict, parts, a, b }
    }

    /// As text, with the difference first.
    pub fn text(&self) -> String {
        let mut text = self.verdict.join("\n") + "\n";
        let (a, b) = (&self.a.run, &self.b.run);
        text += &format!("\n  {:<17} {a:>14} {b:>14} {:>14}\n", "", "difference");
        for part in self.parts.iter().filter(|part| part.a_ps > 0 || part.b_ps > 0) {
            let (name, a, b) = (part.name, time(part.a_ps), time(part.b_ps));
            text += &format!("  {name:<17} {a:>14} {b:>14} {:>14}\n", signed(part.more_ps));
        }
        text
    }
}

/// A difference with its sign.
pub(crate) fn signed(ps: i64) -> String {
    let sign = if ps < 0 { "-" } else { "+" };
    format!("{sign}{}", time(ps.unsigned_abs()))
}

fn verdict(a: &Explanation, b: &Explanation, parts: &[PartDifference]) -> Vec<String> {
    let (one, other) = (&a.flow, &b.flow);
    let mut says = vec![];
    if (one.src, one.dst, one.size_bytes) != (other.src, other.dst, other.size_bytes) {
        says.push(format!(
            "Flow {} is not the same flow in both: {} from host {} to host {} in {}, {} from host {} to \
             host {} in {}.",
            one.id,
            size(one.size_bytes),
            one.src,
            one.dst,
            a.run,
            size(other.size_bytes),
            other.src,
            other.dst,
            b.run
        ));
    }
    let (Some(first), Some(second)) = (one.fct_ps, other.fct_ps) else {
        says.push("The flow did not complete in both runs: there is nothing to compare.".into());
        return says;
    };
    let more = second as i64 - first as i64;
    says.push(format!(
        "Flow {} took {} with {} and {} with {}: {}.",
        one.id,
        time(first),
        a.run,
        time(second),
        b.run,
        signed(more)
    ));
    let mut changed: Vec<&PartDifference> = parts.iter().filter(|part| part.more_ps != 0).collect();
    changed.sort_by_key(|part| std::cmp::Reverse(part.more_ps.unsigned_abs()));
    for part in changed.iter().take(3) {
        let share = part.more_ps.unsigned_abs() as f64 / more.unsigned_abs().max(1) as f64;
        says.push(format!(
            "{}: {} ({} of the difference): {}.",
            part.name,
            signed(part.more_ps),
            percent(share),
            part.meaning
        ));
    }
    says
}
