//! Time series of ports and flows in a bounded number of intervals: when there are too many,
//! neighbours are joined and the interval doubles.

use incast_transport::{Bin, Span};

/// Most intervals kept.
const MOST: usize = 512;

/// A port's series.
pub struct PortSeries {
    width: u64,
    end: u64,
    bin: Bin,
    bins: Vec<Bin>,
    /// Backlog since `since`, for the area.
    backlog: u64,
    since: u64,
}

impl PortSeries {
    pub fn new(interval: Span) -> PortSeries {
        let width = interval.0.max(1);
        PortSeries { width, end: width, bin: Bin::default(), bins: vec![], backlog: 0, since: 0 }
    }

    /// The present interval, brought up to `now`; the backlog has been the same since the last
    /// call.
    #[inline]
    pub fn at(&mut self, now: u64) -> &mut Bin {
        if now >= self.end {
            self.roll(now);
        }
        self.bin.backlog_area += self.backlog as u128 * (now - self.since) as u128;
        self.since = now;
        &mut self.bin
    }

    /// The backlog from now on.
    #[inline]
    pub fn set_backlog(&mut self, bytes: u64) {
        self.backlog = bytes;
        self.bin.backlog_max = self.bin.backlog_max.max(bytes);
    }

    #[inline(never)]
    fn roll(&mut self, now: u64) {
        while now >= self.end {
            self.bin.backlog_area += self.backlog as u128 * (self.end - self.since) as u128;
            self.since = self.end;
            let fresh = Bin { backlog_max: self.backlog, ..Bin::default() };
            self.bins.push(std::mem::replace(&mut self.bin, fresh));
            self.end += self.width;
            if self.bins.len() == MOST {
                self.double();
            }
        }
    }

    fn double(&mut self) {
        join_pairs(&mut self.bins, |a, b| a.join(b));
        self.width *= 2;
        self.end = (self.bins.len() as u64 + 1) * self.width;
    }

    /// Width of the intervals now.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Ends the series at `now` with intervals of `width`, a power of two times the present one.
    pub fn finish(mut self, now: u64, width: u64) -> Vec<Bin> {
        self.at(now);
        self.bins.push(self.bin);
        while self.width < width {
            join_pairs(&mut self.bins, |a, b| a.join(b));
            self.width *= 2;
        }
        self.bins
    }
}

/// A flow's delivered bytes.
pub struct FlowBytes {
    width: u64,
    bins: Vec<u64>,
}

impl FlowBytes {
    pub fn new(interval: Span) -> FlowBytes {
        FlowBytes { width: interval.0.max(1), bins: vec![] }
    }

    pub fn add(&mut self, now: u64, bytes: u64) {
        while now / self.width >= MOST as u64 {
            join_pairs(&mut self.bins, |a, b| *a += b);
            self.width *= 2;
        }
        let index = (now / self.width) as usize;
        if self.bins.len() <= index {
            self.bins.resize(index + 1, 0);
        }
        self.bins[index] += bytes;
    }

    pub fn width(&self) -> u64 {
        self.width
    }

    pub fn finish(mut self, width: u64) -> Vec<u64> {
        while self.width < width {
            join_pairs(&mut self.bins, |a, b| *a += b);
            self.width *= 2;
        }
        self.bins
    }
}

fn join_pairs<T: Copy>(bins: &mut Vec<T>, join: impl Fn(&mut T, &T)) {
    let joined = bins.len().div_ceil(2);
    for i in 0..joined {
        bins[i] = bins[2 * i];
        if 2 * i + 1 < bins.len() {
            let second = bins[2 * i + 1];
            join(&mut bins[i], &second);
        }
    }
    bins.truncate(joined);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_and_maximum_survive_doubling() {
        let mut series = PortSeries::new(Span(10));
        let mut area = 0u128;
        let mut backlog = 0u64;
        for step in 0..20_000u64 {
            let now = step * 7;
            let bin = series.at(now);
            bin.sent_packets += 1;
            backlog = step % 13;
            series.set_backlog(backlog);
            area += backlog as u128 * 7;
        }
        let end = 20_000 * 7;
        let width = series.width();
        let bins = series.finish(end, width * 4);
        let _ = backlog;
        assert_eq!(bins.iter().map(|b| b.backlog_area).sum::<u128>(), area);
        assert_eq!(bins.iter().map(|b| b.sent_packets as u64).sum::<u64>(), 20_000);
        assert!(bins.iter().all(|b| b.backlog_max == 12));
        assert!(bins.len() <= MOST / 4 + 1);
    }

    #[test]
    fn flow_bytes_are_conserved() {
        let mut flow = FlowBytes::new(Span(3));
        (0..10_000u64).for_each(|i| flow.add(i * 5, i));
        let width = flow.width() * 2;
        assert_eq!(flow.finish(width).iter().sum::<u64>(), (0..10_000).sum());
    }
}
