//! Time series of ports and flows in a bounded number of intervals: when there are too many,
//! neighbours are joined and the interval doubles.

use incast_transport::{Bin, Bytes, Header, Histogram, Pauses, PortRecord, Rate, Span};

/// Most intervals kept.
const MOST: usize = 512;

/// A port's series: the interval in progress, in one cache line, and the rest.
#[repr(C, align(64))]
pub struct PortSeries {
    /// Integral of the backlog over this interval so far.
    area: u128,
    /// The interval ends, or a sample of the backlog is due.
    due: u64,
    /// The backlog has been the same since then.
    since: u64,
    backlog: u64,
    backlog_max: u64,
    sent_bytes: u64,
    sent_packets: u32,
    rest: Rest,
}

/// What is rarely touched.
#[derive(Default)]
struct Rest {
    width: u64,
    /// End of the interval.
    end: u64,
    samples: Samples,
    marks: u64,
    rare: Bin,
    bins: Vec<Bin>,
    /// There once a pause frame has arrived or left.
    pauses: Option<Box<PauseSeries>>,
}

/// Bytes that a port sends from one sample of its backlog to the next on average: 16 full packets.
/// A queue that is longer than that changes little in between.
const SAMPLE_BYTES: u64 = 16 * 1538;

/// The backlog at random instants, one in each of equal stretches of time: the share of the samples
/// that find a backlog estimates the share of the time. No packet costs anything for it.
#[derive(Default)]
struct Samples {
    /// Length of a stretch.
    spacing: u64,
    /// The stretch of the next sample.
    index: u64,
    /// When that is.
    next: u64,
    seen: Histogram,
}

impl Samples {
    fn new(rate: Rate) -> Samples {
        let mut samples =
            Samples { spacing: rate.tx_time(Bytes(SAMPLE_BYTES)).0.max(1), ..Samples::default() };
        samples.next = samples.instant(0);
        samples
    }

    /// When the sample of a stretch is due: the same at all ports of a rate, in both worlds.
    fn instant(&self, index: u64) -> u64 {
        let mut mixed = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let within = ((mixed as u128 * self.spacing as u128) >> 64) as u64;
        index.saturating_mul(self.spacing).saturating_add(within)
    }

    /// Takes the samples due until `now`; the backlog was `backlog`.
    fn bring_to(&mut self, now: u64, backlog: u64) {
        if now < self.next {
            return;
        }
        let mut end = self.index + 1;
        let mut next = self.instant(end);
        if next <= now {
            let last = now / self.spacing;
            end = if self.instant(last) <= now { last + 1 } else { last };
            next = self.instant(end);
        }
        self.seen.add_many(backlog, end - self.index);
        (self.index, self.next) = (end, next);
    }
}

/// A port's pauses, in the same intervals.
#[derive(Default)]
struct PauseSeries {
    /// Closed classes.
    closed: u8,
    /// What is closed has been so since then, as far as it is not counted yet.
    since: u64,
    present: Pauses,
    bins: Vec<Pauses>,
}

impl PauseSeries {
    /// Counts until `now`; returns for how long some class was paused.
    fn bring_to(&mut self, now: u64) -> u64 {
        let length = now - std::mem::replace(&mut self.since, now);
        for (class, paused) in self.present.paused.iter_mut().enumerate() {
            *paused += length * (self.closed >> class & 1) as u64;
        }
        if self.closed == 0 { 0 } else { length }
    }
}

impl PortSeries {
    /// Nothing yet, in intervals of `interval`; `rate` is the port's.
    pub fn new(interval: Span, rate: Rate) -> PortSeries {
        let width = interval.0.max(1);
        let samples = Samples::new(rate);
        PortSeries {
            area: 0,
            due: width.min(samples.next),
            since: 0,
            backlog: 0,
            backlog_max: 0,
            sent_bytes: 0,
            sent_packets: 0,
            rest: Rest { width, end: width, samples, ..Rest::default() },
        }
    }

    /// The backlog is `bytes` from `now` on.
    #[inline]
    pub fn set_backlog(&mut self, now: u64, bytes: u64) {
        self.bring_to(now);
        self.backlog = bytes;
        self.backlog_max = self.backlog_max.max(bytes);
    }

    /// A packet begins transmission and leaves `backlog` bytes behind.
    #[inline]
    pub fn sent(&mut self, now: u64, charged: u32, backlog: u64) {
        self.bring_to(now);
        self.backlog = backlog;
        self.sent_bytes += charged as u64;
        self.sent_packets += 1;
    }

    /// The rarely counted part of the present interval.
    pub fn rare(&mut self, now: u64) -> &mut Bin {
        self.bring_to(now);
        &mut self.rest.rare
    }

    /// A packet with this header was dropped.
    pub fn dropped(&mut self, now: u64, header: &Header) {
        let credit = matches!(header, Header::Credit { .. });
        let rare = self.rare(now);
        rare.drops += !credit as u32;
        rare.credit_drops += credit as u32;
    }

    /// From now on these classes are open, as the other end of the link requests.
    pub fn set_open(&mut self, now: u64, open: u8) {
        let pauses = self.pauses(now);
        let paused = pauses.bring_to(now);
        pauses.closed = !open;
        self.rest.rare.paused += paused;
    }

    /// A pause frame begins transmission.
    pub fn pause_frame(&mut self, now: u64, frame: &Header) {
        if let Header::Pause { classes, paused, .. } = *frame {
            let present = &mut self.pauses(now).present;
            present.pause_frames += (classes & paused != 0) as u32;
            present.resume_frames += (classes & !paused != 0) as u32;
        }
    }

    fn pauses(&mut self, now: u64) -> &mut PauseSeries {
        self.bring_to(now);
        let bins = self.rest.bins.len();
        self.rest.pauses.get_or_insert_with(|| {
            let bins = vec![Pauses::default(); bins];
            Box::new(PauseSeries { since: now, bins, ..PauseSeries::default() })
        })
    }

    /// Whether the interval in progress ends by `now`.
    #[inline]
    pub fn over(&self, now: u64) -> bool {
        now >= self.due && now >= self.rest.end
    }

    /// The port's markers have marked `marks` packets so far. To be set before anything happens
    /// after the interval's end.
    #[cold]
    pub fn set_marks(&mut self, marks: u64) {
        self.rest.rare.marks = (marks - self.rest.marks) as u32;
    }

    #[inline]
    fn bring_to(&mut self, now: u64) {
        if now >= self.due {
            self.pass(now);
        }
        self.area += self.backlog as u128 * (now - self.since) as u128;
        self.since = now;
    }

    /// The interval in progress as a bin.
    fn bin(&self) -> Bin {
        Bin {
            sent_bytes: self.sent_bytes,
            sent_packets: self.sent_packets,
            backlog_max: self.backlog_max,
            backlog_area: self.area,
            ..self.rest.rare
        }
    }

    /// Takes the samples and ends the intervals that are due; the backlog has been the same since
    /// the last change.
    #[inline(never)]
    fn pass(&mut self, now: u64) {
        self.rest.samples.bring_to(now, self.backlog);
        while now >= self.rest.end {
            let end = self.rest.end;
            self.area += self.backlog as u128 * (end - self.since) as u128;
            self.since = end;
            if let Some(pauses) = &mut self.rest.pauses {
                self.rest.rare.paused += pauses.bring_to(end);
                pauses.bins.push(std::mem::take(&mut pauses.present));
            }
            let bin = self.bin();
            self.rest.marks += bin.marks as u64;
            self.rest.bins.push(bin);
            self.rest.rare = Bin::default();
            (self.area, self.sent_bytes, self.sent_packets) = (0, 0, 0);
            self.backlog_max = self.backlog;
            self.rest.end = end.saturating_add(self.rest.width);
            if self.rest.bins.len() == MOST {
                self.double();
            }
        }
        self.due = self.rest.end.min(self.rest.samples.next);
    }

    fn double(&mut self) {
        join_pairs(&mut self.rest.bins, |a, b| a.join(b));
        if let Some(pauses) = &mut self.rest.pauses {
            join_pairs(&mut pauses.bins, |a, b| a.join(b));
        }
        self.rest.width *= 2;
        self.rest.end = (self.rest.bins.len() as u64 + 1).saturating_mul(self.rest.width);
    }

    /// Width of the intervals now.
    pub fn width(&self) -> u64 {
        self.rest.width
    }

    /// Ends the series of `port` at `now` with intervals of `width`, a power of two times the
    /// present one.
    pub fn finish(mut self, port: u32, now: u64, width: u64) -> PortRecord {
        let used = self.since > 0 || self.sent_packets > 0 || self.backlog > 0;
        if used {
            self.rest.samples.bring_to(now, self.backlog);
        }
        // A port at which nothing happens any more has no intervals for it.
        if self.backlog > 0 || self.rest.pauses.is_some() {
            self.bring_to(now.max(self.since));
        }
        if let Some(pauses) = &mut self.rest.pauses {
            self.rest.rare.paused += pauses.bring_to(self.since);
            pauses.bins.push(pauses.present);
        }
        let last = self.bin();
        let Rest { width: mut own, mut bins, pauses, samples, .. } = self.rest;
        bins.push(last);
        let mut pauses = pauses.map_or(vec![], |pauses| pauses.bins);
        while own < width {
            join_pairs(&mut bins, |a, b| a.join(b));
            join_pairs(&mut pauses, |a, b| a.join(b));
            own *= 2;
        }
        while pauses.is_empty() && bins.last() == Some(&Bin::default()) {
            bins.pop();
        }
        bins.shrink_to_fit();
        let (mut total, mut total_pauses) = (Bin::default(), Pauses::default());
        bins.iter().for_each(|bin| total.join(bin));
        pauses.iter().for_each(|one| total_pauses.join(one));
        let backlogs = samples.seen;
        PortRecord { port, total, bins, total_pauses, pauses, backlogs }
    }
}

/// A flow's delivered bytes.
pub struct FlowBytes {
    width: u64,
    bins: Vec<u64>,
}

impl FlowBytes {
    /// Nothing yet, in intervals of `interval`.
    pub fn new(interval: Span) -> FlowBytes {
        FlowBytes { width: interval.0.max(1), bins: vec![] }
    }

    /// `bytes` were delivered at `now`.
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

    /// Width of the intervals now.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The series in intervals of `width`, a power of two times the present one.
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

    const RATE: Rate = Rate::from_gbps(40);

    #[test]
    fn area_and_maximum_survive_doubling() {
        let mut series = PortSeries::new(Span(10), RATE);
        let mut area = 0u128;
        let mut backlog = 0u64;
        for step in 0..20_000u64 {
            let now = step * 7;
            backlog = step % 13;
            series.set_backlog(now, backlog);
            series.sent(now, 1, backlog);
            area += backlog as u128 * 7;
        }
        let end = 20_000 * 7;
        let width = series.width();
        let PortRecord { bins, total, .. } = series.finish(3, end, width * 4);
        assert_eq!((total.backlog_area, total.sent_packets), (area, 20_000));
        let _ = backlog;
        assert_eq!(bins.iter().map(|b| b.backlog_area).sum::<u128>(), area);
        assert_eq!(bins.iter().map(|b| b.sent_packets as u64).sum::<u64>(), 20_000);
        assert!(bins.iter().all(|b| b.backlog_max == 12));
        assert!(bins.len() <= MOST / 4 + 1);
    }

    /// Class 2 is closed from 100 to 40,000, class 5 from 30,000 on; frames at 50 and 39,000.
    #[test]
    fn each_class_has_its_pauses_and_doubling_keeps_them() {
        let mut series = PortSeries::new(Span(10), RATE);
        let frame =
            |classes, paused| Header::Pause { classes, paused, quanta: 0, spare_low: 0, spare: 0 };
        series.pause_frame(50, &frame(0b1, 0b1));
        series.set_open(100, !0b100);
        series.set_open(30_000, !0b10_0100);
        series.pause_frame(39_000, &frame(0b11, 0b10));
        series.set_open(40_000, !0b10_0000);
        let width = series.width();
        let PortRecord { bins, total, total_pauses, pauses, .. } =
            series.finish(0, 60_000, width * 2);
        assert_eq!(total_pauses.paused, [0, 0, 39_900, 0, 0, 30_000, 0, 0]);
        assert_eq!((total_pauses.pause_frames, total_pauses.resume_frames), (2, 1));
        assert_eq!(total.paused, 59_900, "some class");
        assert_eq!(pauses.len(), bins.len());
        let mut some = bins.iter().zip(&pauses).skip(1).map(|(bin, one)| (bin.paused, one.paused));
        assert!(some.clone().all(|(any, own)| any <= width * 2 && any >= own[2].max(own[5])));
        assert_eq!(
            some.next_back(),
            Some((60_000 % (width * 2), { [0, 0, 0, 0, 0, 60_000 % (width * 2), 0, 0] }))
        );
        let quiet = PortSeries::new(Span(10), RATE).finish(0, 60_000, 640);
        assert!(quiet.pauses.is_empty());
    }

    /// The end of an interval may lie beyond the last instant there is.
    #[test]
    fn intervals_reach_to_the_end_of_time() {
        let last = u64::MAX - 1;
        let mut series = PortSeries::new(Span(1_000_000), RATE);
        series.set_backlog(1_000, 7);
        series.set_backlog(last, 0);
        let width = series.width();
        let record = series.finish(0, last, width);
        assert_eq!(record.total.backlog_area, 7 * (last - 1_000) as u128);
        assert!(record.bins.len() <= MOST);
    }

    #[test]
    fn a_port_without_traffic_takes_no_memory_for_it() {
        let idle = PortSeries::new(Span(10), RATE).finish(0, 60_000, 640);
        assert_eq!((idle.bins.capacity(), idle.total), (0, Bin::default()));
        let mut early = PortSeries::new(Span(10), RATE);
        early.set_backlog(25, 100);
        early.sent(34, 100, 0);
        let record = early.finish(0, 60_000, 10);
        assert_eq!(record.bins.len(), 4);
        assert_eq!((record.total.sent_bytes, record.total.backlog_area), (100, 900));
    }

    /// However the changes fall, a queue that never changes has it at every instant, and time
    /// without one counts as none. A quarter of the time there are 30,000 bytes.
    #[test]
    fn percentiles_of_the_backlog_are_over_time() {
        let (constant, end) = (30_000, 4_000_000_000u64);
        let mut series = PortSeries::new(Span(10_000_000), RATE);
        series.set_backlog(0, constant);
        let width = series.width();
        let backlogs = series.finish(0, end, width).backlogs;
        // 16 packets of 1538 B take 4,921.6 ns.
        assert_eq!(backlogs.count(), end / 4_921_600 + 1);
        for thousandths in [1, 500, 990, 1000] {
            let seen = backlogs.percentile(thousandths).unwrap();
            assert!(seen <= constant && seen + seen / 16 >= constant, "{seen}");
        }
        let mut series = PortSeries::new(Span(10_000_000), RATE);
        series.set_backlog(end / 2, constant);
        series.sent(end / 4 * 3, 1538, 0);
        let width = series.width();
        let backlogs = series.finish(0, end, width).backlogs;
        assert_eq!(backlogs.percentile(500), Some(0));
        assert_eq!(backlogs.percentile(740), Some(0));
        assert!(backlogs.percentile(760).unwrap() > constant / 17 * 16);
        let idle = PortSeries::new(Span(10), RATE).finish(0, end, 10);
        assert_eq!(idle.backlogs, Histogram::new());
    }

    /// Packets waiting in M/D/1 with utilisation `rho`: P(at most `most`), by Crommelin's formula
    /// for the number in the system, of which one is in service.
    fn md1(rho: f64, most: u32) -> f64 {
        let in_system = |n: u32| -> f64 {
            let term = |k: u32| {
                let (x, j) = (k as f64 * rho, n - k);
                let power = |j: u32| (1..=j).fold(1.0, |all, i| all * x / i as f64);
                let sign = if j.is_multiple_of(2) { 1.0 } else { -1.0 };
                let less = if j == 0 || k == n { 0.0 } else { power(j - 1) };
                sign * x.exp() * (power(j) + less)
            };
            match n {
                0 => 1.0 - rho,
                1 => (1.0 - rho) * (rho.exp() - 1.0),
                _ => (1.0 - rho) * (1..=n).map(term).sum::<f64>(),
            }
        };
        (0..=most + 1).map(in_system).sum()
    }

    /// Packets of 1000 B arrive as a Poisson process and take 200 ns each: between P(fewer) and
    /// P(at most) what a percentile reads there is the percentile, up to the error of the samples.
    #[test]
    fn percentiles_of_the_backlog_are_those_of_an_md1_queue() {
        // Farther out the terms of the formula cancel beyond what a float holds.
        assert!((0.999..1.0).contains(&md1(0.8, 20)) && md1(0.5, 12) > 0.9999, "probabilities");
        for rho in [0.5, 0.8] {
            let mut series = PortSeries::new(Span(10_000_000), RATE);
            let (service, mut random) = (200_000u64, 7u64);
            let mut exponential = || {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let unit = ((random >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
                (-unit.ln() * service as f64 / rho) as u64
            };
            let (mut arrival, mut free, mut waiting, mut now) = (exponential(), 0u64, 0u64, 0u64);
            for _ in 0..1_500_000 {
                // The next departure from the queue, or an arrival.
                let start = if waiting > 0 { free } else { u64::MAX };
                if start <= arrival {
                    waiting -= 1;
                    (now, free) = (start, start + service);
                    series.sent(now, 1000, waiting * 1000);
                } else {
                    now = arrival;
                    arrival += exponential();
                    if free > now {
                        waiting += 1;
                        series.set_backlog(now, waiting * 1000);
                    } else {
                        free = now + service;
                    }
                }
            }
            let width = series.width();
            let backlogs = series.finish(0, now, width).backlogs;
            for (thousandths, error) in [(500, 0.02), (900, 0.015), (990, 0.005)] {
                let seen = backlogs.percentile(thousandths).unwrap().div_ceil(1000) as u32;
                let share = thousandths as f64 / 1e3;
                let fewer = if seen > 0 { md1(rho, seen - 1) } else { 0.0 };
                let most = md1(rho, seen);
                assert!(
                    fewer <= share + error && most >= share - error,
                    "{rho} p{thousandths}: {seen} packets, {fewer} to {most}"
                );
            }
        }
    }

    #[test]
    fn flow_bytes_are_conserved() {
        let mut flow = FlowBytes::new(Span(3));
        (0..10_000u64).for_each(|i| flow.add(i * 5, i));
        let width = flow.width() * 2;
        assert_eq!(flow.finish(width).iter().sum::<u64>(), (0..10_000).sum());
    }
}
