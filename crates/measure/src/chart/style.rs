//! One look for all charts.

use crate::number::{significant, size, time_unit};

/// Colours of lines: the palette of Okabe and Ito, distinct for colour-blind readers too, without
/// its yellow, which is too pale for a line.
pub const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

/// The colour of a line; they repeat after seven, then with another marker.
pub(super) fn colour(line: usize) -> &'static str {
    COLOURS[line % COLOURS.len()]
}

/// Decides the colour of a name. Chosen so that transports that are often compared have colours of their own.
const SEED: u32 = 42_093;

/// The colour that a name has where it can, by its FNV-1a hash. The explorer computes the same.
fn own(name: &str) -> usize {
    let hash =
        name.bytes().fold(SEED, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    ((hash >> 16) ^ hash) as usize % COLOURS.len()
}

/// The looks of lines of these names: a transport has the same colour in every chart. A name whose colour another has
/// before it takes the next that is free; after a full turn, the same with another marker.
pub fn looks<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let mut taken: Vec<usize> = Vec::new();
    for name in names {
        let turn = taken.len() / COLOURS.len() * COLOURS.len();
        let all = (0..COLOURS.len()).map(|by| turn + (own(name) + by) % COLOURS.len());
        let free = all.into_iter().find(|look| !taken.contains(look));
        taken.push(free.expect("a turn has a look for each of its lines"));
    }
    taken
}

/// Number of the marker of a line, of seven. After a full turn of colours they are shifted, so that no pair repeats for long.
pub(super) fn marker(line: usize) -> usize {
    (line + line / COLOURS.len()) % COLOURS.len()
}

/// The family of all texts.
pub(super) const FAMILY: &str = "system-ui, Segoe UI, Helvetica, Arial, sans-serif";

/// Powers of ten from the one below `low` to the one above `high` (both positive), at least two.
pub(crate) fn decades(low: f64, high: f64) -> Vec<f64> {
    let first = low.log10().floor() as i32;
    let last = (high.log10().ceil() as i32).max(first + 1);
    (first..=last).map(|power| 10f64.powi(power)).collect()
}

/// Least and largest of positive values.
fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::MAX, f64::min).max(1e-3);
    (low, values.iter().copied().fold(low, f64::max))
}

/// Ticks of a logarithmic axis of bytes.
pub(crate) fn size_ticks(sizes: &[f64]) -> Vec<(f64, String)> {
    let (low, high) = range(sizes);
    decades(low, high).into_iter().map(|at| (at, size(at))).collect()
}

/// Ticks of a logarithmic axis of times.
pub(crate) fn time_ticks(times_ns: &[f64]) -> Vec<(f64, String)> {
    let (low, high) = range(times_ns);
    let steps: &[f64] = if high / low > 2e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let text = |ns: f64| {
        // 1000 ns reads better as 1 µs.
        let (unit, length) = time_unit(ns * 2.0);
        (ns, format!("{} {unit}", significant(ns / length)))
    };
    let all = decades(low, high).into_iter();
    all.flat_map(|decade| steps.iter().map(move |step| decade * step)).map(text).collect()
}

/// Steps within a decade, from the coarsest on.
const STEPS: [&[f64]; 5] = [
    &[1.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
    &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    &[1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.12, 1.15, 1.2, 2.0, 5.0],
];

/// Ticks of a logarithmic axis of ratios. The coarsest steps of which at least four lie within the range: 1, 10, 100 over a
/// wide one, 1, 2, 5, 10, and so on.
pub fn ratio_ticks(values: &[f64]) -> Vec<(f64, String)> {
    let (low, high) = range(values);
    let ticks = |steps: &&[f64]| -> Vec<f64> {
        let all = decades(low, high).into_iter();
        all.flat_map(|decade| steps.iter().map(move |step| decade * step)).collect()
    };
    let shown = |ticks: &Vec<f64>| ticks.iter().filter(|at| (low..=high).contains(*at)).count();
    let mut all = STEPS.iter().map(ticks);
    let finest = ticks(&STEPS[STEPS.len() - 1]);
    let chosen = all.find(|ticks| shown(ticks) >= 4).unwrap_or(finest);
    chosen.into_iter().map(|at| (at, significant(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_ticks_whatever_the_range() {
        let shown = |low: f64, high: f64| -> Vec<String> {
            let ticks = ratio_ticks(&[low, high]).into_iter();
            ticks.filter(|(at, _)| (low..=high).contains(at)).map(|(_, text)| text).collect()
        };
        assert_eq!(shown(1.0, 5000.0), ["1", "10", "100", "1000"]);
        assert_eq!(shown(1.0, 20.0), ["1", "2", "5", "10", "20"]);
        assert_eq!(shown(1.0, 3.5), ["1", "1.5", "2", "3"]);
        assert_eq!(shown(1.0, 1.4), ["1", "1.1", "1.2", "1.3", "1.4"]);
        assert!(shown(1.0, 1.06).len() >= 4);
    }
}
