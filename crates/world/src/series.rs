//! Time series of ports and flows in a bounded number of intervals: when there are too many,
//! neighbours are joined and the interval doubles.

use incast_transport::{Bin, Header, Pauses, PortRecord, Span};

/// Most intervals kept.
const MOST: usize = 512;

/// A port's series: the interval in progress, in one cache line, and the rest.
#[repr(C, align(64))]
pub struct PortSeries {
    /// Integral of the backlog over this interval so far.
    area: u128,
    end: u64,
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
    marks: u64,
    rare: Bin,
    bins: Vec<Bin>,
    /// There once a pause frame has arrived or left.
    pauses: Option<Box<PauseSeries>>,
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
    /// Nothing yet, in intervals of `interval`.
    pub fn new(interval: Span) -> PortSeries {
        let width = interval.0.max(1);
        PortSeries {
            area: 0,
            end: width,
            since: 0,
            backlog: 0,
            backlog_max: 0,
            sent_bytes: 0,
            sent_packets: 0,
            rest: Rest { width, ..Rest::default() },
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
        now >= self.end
    }

    /// The port's markers have marked `marks` packets so far. To be set before anything happens
    /// after the interval's end.
    #[cold]
    pub fn set_marks(&mut self, marks: u64) {
        self.rest.rare.marks = (marks - self.rest.marks) as u32;
    }

    #[inline]
    fn bring_to(&mut self, now: u64) {
        if now >= self.end {
            self.roll(now);
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

    #[inline(never)]
    fn roll(&mut self, now: u64) {
        while now >= self.end {
            self.area += self.backlog as u128 * (self.end - self.since) as u128;
            self.since = self.end;
            if let Some(pauses) = &mut self.rest.pauses {
                self.rest.rare.paused += pauses.bring_to(self.end);
                pauses.bins.push(std::mem::take(&mut pauses.present));
            }
            let bin = self.bin();
            self.rest.marks += bin.marks as u64;
            self.rest.bins.push(bin);
            self.rest.rare = Bin::default();
            (self.area, self.sent_bytes, self.sent_packets) = (0, 0, 0);
            self.backlog_max = self.backlog;
            self.end = self.end.saturating_add(self.rest.width);
            if self.rest.bins.len() == MOST {
                self.double();
            }
        }
    }

    fn double(&mut self) {
        join_pairs(&mut self.rest.bins, |a, b| a.join(b));
        if let Some(pauses) = &mut self.rest.pauses {
            join_pairs(&mut pauses.bins, |a, b| a.join(b));
        }
        self.rest.width *= 2;
        self.end = (self.rest.bins.len() as u64 + 1).saturating_mul(self.rest.width);
    }

    /// Width of the intervals now.
    pub fn width(&self) -> u64 {
        self.rest.width
    }

    /// Ends the series of `port` at `now` with intervals of `width`, a power of two times the
    /// present one.
    pub fn finish(mut self, port: u32, now: u64, width: u64) -> PortRecord {
        // A port at which nothing happens any more has no intervals for it.
        if self.backlog > 0 || self.rest.pauses.is_some() {
            self.bring_to(now.max(self.since));
        }
        if let Some(pauses) = &mut self.rest.pauses {
            self.rest.rare.paused += pauses.bring_to(self.since);
            pauses.bins.push(pauses.present);
        }
        let last = self.bin();
        let Rest { width: mut own, mut bins, pauses, .. } = self.rest;
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
        PortRecord { port, total, bins, total_pauses, pauses }
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

    #[test]
    fn area_and_maximum_survive_doubling() {
        let mut series = PortSeries::new(Span(10));
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
        let mut series = PortSeries::new(Span(10));
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
        let quiet = PortSeries::new(Span(10)).finish(0, 60_000, 640);
        assert!(quiet.pauses.is_empty());
    }

    /// The end of an interval may lie beyond the last instant there is.
    #[test]
    fn intervals_reach_to_the_end_of_time() {
        let last = u64::MAX - 1;
        let mut series = PortSeries::new(Span(1_000_000));
        series.set_backlog(1_000, 7);
        series.set_backlog(last, 0);
        let width = series.width();
        let record = series.finish(0, last, width);
        assert_eq!(record.total.backlog_area, 7 * (last - 1_000) as u128);
        assert!(record.bins.len() <= MOST);
    }

    #[test]
    fn a_port_without_traffic_takes_no_memory_for_it() {
        let idle = PortSeries::new(Span(10)).finish(0, 60_000, 640);
        assert_eq!((idle.bins.capacity(), idle.total), (0, Bin::default()));
        let mut early = PortSeries::new(Span(10));
        early.set_backlog(25, 100);
        early.sent(34, 100, 0);
        let record = early.finish(0, 60_000, 10);
        assert_eq!(record.bins.len(), 4);
        assert_eq!((record.total.sent_bytes, record.total.backlog_area), (100, 900));
    }

    #[test]
    fn flow_bytes_are_conserved() {
        let mut flow = FlowBytes::new(Span(3));
        (0..10_000u64).for_each(|i| flow.add(i * 5, i));
        let width = flow.width() * 2;
        assert_eq!(flow.finish(width).iter().sum::<u64>(), (0..10_000).sum());
    }
}
