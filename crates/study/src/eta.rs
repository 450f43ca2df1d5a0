//! How long the rest of a study will take.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a point costs: by series and combination, from the points that are done.
#[derive(Clone, Debug, Default)]
pub struct Eta {
    done: BTreeMap<(usize, usize), Mean>,
    of_series: BTreeMap<usize, Mean>,
    of_combination: BTreeMap<usize, Mean>,
    all: Mean,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl Eta {
    /// A point took so long, from when it was handed out to when it came back.
    pub fn took(&mut self, series: usize, combination: usize, time: Duration) {
        let seconds = time.as_secs_f64();
        self.done.entry((series, combination)).or_default().add(seconds);
        self.of_series.entry(series).or_default().add(seconds);
        self.of_combination.entry(combination).or_default().add(seconds);
        self.all.add(seconds);
    }

    /// Seconds that a point will take: as others of its series and combination; else as its
    /// combination under other series, corrected by how the series compares with all; else as its
    /// series; else as all. None before the first point is done.
    pub fn cost(&self, series: usize, combination: usize) -> Option<f64> {
        let all = self.all.get()?;
        let own = self.done.get(&(series, combination)).and_then(|mean| mean.get());
        let mean =
            |map: &BTreeMap<usize, Mean>, at: usize| map.get(&at).and_then(|mean| mean.get());
        let (by_series, by_combination) =
            (mean(&self.of_series, series), mean(&self.of_combination, combination));
        Some(own.unwrap_or(match (by_series, by_combination) {
            (Some(series), Some(combination)) if all > 0.0 => series * combination / all,
            (Some(one), _) | (None, Some(one)) => one,
            (None, None) => all,
        }))
    }

    /// Time until all is done, if `waiting` points (series, combination) and those `running`, each
    /// for so long already, share `width` places. None before the first point is done.
    pub fn left(
        &self,
        waiting: impl Iterator<Item = (usize, usize)>,
        running: impl Iterator<Item = (usize, usize, Duration)>,
        width: usize,
    ) -> Option<Duration> {
        self.all.get()?;
        let cost = |series, combination| self.cost(series, combination).unwrap_or(0.0);
        let rest = |(series, combination, since): (usize, usize, Duration)| {
            (cost(series, combination) - since.as_secs_f64()).max(0.0)
        };
        let (mut sum, mut longest) = (0.0, 0.0f64);
        for one in running.map(rest) {
            sum += one;
            longest = longest.max(one);
        }
        for one in waiting.map(|(series, combination)| cost(series, combination)) {
            sum += one;
            longest = longest.max(one);
        }
        Some(Duration::from_secs_f64((sum / width.max(1) as f64).max(longest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A study on a clock of its own: points cost `series factor x combination factor` seconds and
    /// run in two places. Once each series and combination has been seen, the forecast is right.
    #[test]
    fn the_forecast_is_right_once_each_kind_has_been_seen() {
        let cost = |series: usize, combination: usize| {
            [10.0, 20.0, 40.0][series] * [1.0, 1.5, 2.0, 3.0][combination]
        };
        let mut waiting: Vec<(usize, usize)> = vec![];
        for _seed in 0..3 {
            waiting.extend(
                (0..4).flat_map(|combination| (0..3).map(move |series| (series, combination))),
            );
        }
        waiting.reverse();
        let (mut eta, mut now, mut running) = (Eta::default(), 0.0f64, vec![]);
        let mut forecasts = vec![];
        while !waiting.is_empty() || !running.is_empty() {
            while running.len() < 2 {
                let Some((series, combination)) = waiting.pop() else { break };
                running.push((series, combination, now));
            }
            let left = eta.left(
                waiting.iter().copied(),
                running.iter().map(|(s, c, since)| (*s, *c, Duration::from_secs_f64(now - since))),
                2,
            );
            forecasts.push((now, left.map(|left| left.as_secs_f64())));
            let end = |(s, c, since): &(usize, usize, f64)| since + cost(*s, *c);
            let next =
                (0..running.len()).min_by(|a, b| end(&running[*a]).total_cmp(&end(&running[*b])));
            let (series, combination, since) = running.remove(next.expect("some run"));
            now = since + cost(series, combination);
            eta.took(series, combination, Duration::from_secs_f64(now - since));
        }
        assert_eq!(forecasts[0].1, None, "nothing is known before the first point is done");
        let total = now;
        for (at, left) in &forecasts[13..] {
            let (left, real) = (left.expect("points are done"), total - at);
            let most = 0.15 * total;
            assert!(
                (left - real).abs() < most,
                "at {at}: {left} s forecast, {real} s real, of {total}"
            );
        }
    }

    #[test]
    fn a_point_that_overruns_its_forecast_leaves_nothing_negative() {
        let mut eta = Eta::default();
        eta.took(0, 0, Duration::from_secs(1));
        let running = [(0, 0, Duration::from_secs(9))];
        let left = eta.left(std::iter::empty(), running.into_iter(), 2);
        assert_eq!(left, Some(Duration::ZERO));
    }
}
