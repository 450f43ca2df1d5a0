//! Slowdowns by size as a table: how many flows, and how certain the percentiles are.

use crate::Run;
use crate::figures::{SizeBin, lines};
use crate::number::{escape, significant, size};
use std::collections::BTreeSet;

/// The table behind the figure of the slowdown by size, folded.
pub(super) fn table(runs: &[Run]) -> String {
    let all: Vec<(String, Vec<SizeBin>)> =
        lines(runs).iter().map(|line| (line.name.clone(), line.by_size())).collect();
    let bits: BTreeSet<u32> = all.iter().flat_map(|(_, bins)| bins).map(|bin| bin.bits).collect();
    let mut out = String::from(
        "<details class=\"fold\"><summary>Counts and 95 % intervals of the slowdown by size</summary>\n\
         <div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>flow size</th><th class=\"text\">run</th><th \
         scope=\"col\">flows</th><th scope=\"col\">median</th><th scope=\"col\">95 %</th><th \
         scope=\"col\">p99</th><th scope=\"col\">95 %</th></tr></thead><tbody>\n",
    );
    for bits in bits {
        let from = 2f64.powi(bits as i32 - 1);
        let range = format!("{} to {}", size(from), size(2.0 * from));
        for (name, bins) in &all {
            let Some(bin) = bins.iter().find(|bin| bin.bits == bits) else { continue };
            out += &format!(
                "<tr><th scope=\"row\">{range}</th><td class=\"text\">{}</td><td>{}</td>",
                escape(name),
                bin.count
            );
            for at in [0, 1] {
                let between = bin.slowdown_between[at].map_or("\u{2013}".into(), |(low, high)| {
                    format!("{} to {}", significant(low), significant(high))
                });
                out += &format!("<td>{}</td><td>{between}</td>", significant(bin.slowdown[at]));
            }
            out += "</tr>\n";
        }
    }
    out + "</tbody></table></div>\n<p class=\"caption\">\u{2013}: too few flows for an interval.</p>\
           </details>\n"
}
