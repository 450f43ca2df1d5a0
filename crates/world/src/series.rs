//! Time series of ports and flows in a bounded number of intervals: when there are too many,
//! neighbours are joined and the interval doubles.

use crate::Options;
use crate::trace::Writer;
use incast_transport::{
    Bin, Bytes, EventKind, Header, Histogram, PacketPool, PacketRef, Pauses, Place, PortRecord,
    Rate, Span, Time, TraceEvent, Traced,
};

/// Most intervals kept.
pub(crate) const MOST: usize = 512;

/// Where time series with intervals of `interval` begin if the first flow starts at `first`: `first`
/// rounded down to a multiple of 512 intervals, the most that are kept. Series of a run whose first
/// flow starts within the first 512 intervals begin at 0.
pub fn series_start(first: Time, interval: Span) -> Time {
    let kept = interval.0.max(1).saturating_mul(MOST as u64);
    Time(first.0 / kept * kept)
}

/// A port's series: the interval in progress, in one cache line, and the rest.
#[repr(C, align(64))]
pub struct PortSeries {
    /// Integral of the backlog over this interval so far, modulo 2^64.
    area: u64,
    /// End of the interval.
    end: u64,
    /// When a sample of the backlog is due. While there is none, samples are left for later.
    sample: u64,
    /// The backlog has been the same since then.
    since: u64,
    backlog: u64,
    backlog_max: u64,
    sent_bytes: u64,
    sent_packets: u32,
    rest: Rest,
}

const _: () = assert!(std::mem::offset_of!(PortSeries, rest) == 64);

/// What is rarely touched.
#[derive(Default)]
struct Rest {
    width: u64,
    /// Start of the first interval.
    start: u64,
    /// How often `area` has passed 2^64.
    area_high: u64,
    samples: Samples,
    marks: u64,
    rare: Bin,
    bins: Vec<Bin>,
    /// Sums over the intervals that have ended.
    total: Bin,
    /// There once a pause frame has arrived or left.
    pauses: Option<Box<PauseSeries>>,
    /// What a trace keeps of drops and pauses, and whether of drops.
    watch: Option<Box<(Writer, bool)>>,
}

/// Bytes that a port sends from one sample of its backlog to the next on average: 16 full packets.
/// A queue that is longer than that changes little in between.
const SAMPLE_BYTES: u64 = 16 * 1538;

/// The backlog at random instants, one in each of equal stretches of time: the share of the samples
/// that find a backlog estimates the share of the time. A packet that does not wait costs nothing for it:
/// samples that find nothing are counted once something waits, all at once.
#[derive(Default)]
struct Samples {
    /// Length of a stretch.
    spacing: u64,
    /// The stretch of the next sample that is not taken.
    index: u64,
    seen: Histogram,
}

impl Samples {
    fn new(rate: Rate) -> Samples {
        Samples { spacing: rate.tx_time(Bytes(SAMPLE_BYTES)).0.max(1), ..Samples::default() }
    }

    /// When the sample of a stretch is due: the same at all ports of a rate, in both worlds.
    fn instant(&self, index: u64) -> u64 {
        let mut mixed = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let within = ((mixed as u128 * self.spacing as u128) >> 64) as u64;
        index.saturating_mul(self.spacing).saturating_add(within)
    }

    /// The first stretch whose sample is due after `now`, when that of `self.index` is not.
    fn after(&self, now: u64) -> u64 {
        let following = self.index + 1;
        if self.instant(following) > now {
            return following;
        }
        let last = now / self.spacing;
        last + (self.instant(last) <= now) as u64
    }

    /// Takes the samples that are due until `now`, when the next one is due at `next`: the backlog was
    /// nothing until `since`, as far as they are not taken, and `backlog` since. Returns when the next one
    /// is due.
    fn bring_to(&mut self, next: u64, since: u64, now: u64, backlog: u64) -> u64 {
        let mut next = next;
        for (until, backlog) in [(since, 0), (now, backlog)] {
            if next <= until {
                let end = self.after(until);
                self.seen.add_many(backlog, end - self.index);
                (self.index, next) = (end, self.instant(end));
            }
        }
        next
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
            end: width,
            sample: samples.instant(0),
            since: 0,
            backlog: 0,
            backlog_max: 0,
            sent_bytes: 0,
            sent_packets: 0,
            rest: Rest { width, samples, ..Rest::default() },
        }
    }

    /// With the first interval at `start`; what happens before counts there.
    pub fn starting(mut self, start: Time) -> PortSeries {
        self.rest.start = start.0;
        self.end = start.0.saturating_add(self.rest.width);
        // The first sample is that of the first stretch that begins then or later.
        let samples = &mut self.rest.samples;
        samples.index = start.0.div_ceil(samples.spacing);
        self.sample = samples.instant(samples.index);
        self
    }

    /// With what the trace of a run keeps of `port` that only its record knows.
    pub fn traced(mut self, options: &Options, port: u32) -> PortSeries {
        let place = Place { port, host: false };
        self.rest.watch = options
            .trace
            .as_ref()
            .map(|log| Box::new((Writer::new(log, place), log.filter().selects_place(place))));
        self
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

    /// A packet was dropped.
    pub fn dropped(&mut self, now: u64, packets: &PacketPool, packet: PacketRef) {
        let credit = matches!(packets[packet].header, Header::Credit { .. });
        if self.rest.watch.is_some() {
            self.note_drop(now, packets, packet);
        }
        let rare = self.rare(now);
        rare.drops += !credit as u32;
        rare.credit_drops += credit as u32;
    }

    #[cold]
    fn note_drop(&mut self, now: u64, packets: &PacketPool, packet: PacketRef) {
        let Some((writer, _)) = self.rest.watch.as_deref_mut().filter(|watch| watch.1) else {
            return;
        };
        let content = &packets[packet];
        if writer.selects(content.flow) {
            let (bytes, departed) = (packets.charged(packet), packets.stamps(packet).departed);
            let place = writer.place;
            let event = TraceEvent::new(Time(now), place, EventKind::Dropped, Some(content.flow));
            let packet = Some(Traced::of(content, bytes, departed));
            writer.write(TraceEvent { packet, queue: Some(self.backlog), ..event });
        }
    }

    /// From now on these classes are open, as the other end of the link requests.
    pub fn set_open(&mut self, now: u64, open: u8) {
        let pauses = self.pauses(now);
        let paused = pauses.bring_to(now);
        let before = std::mem::replace(&mut pauses.closed, !open);
        self.rest.rare.paused += paused;
        if let Some((writer, _)) = self.rest.watch.as_deref_mut() {
            let changed = |class: &u8| (before ^ !open) >> class & 1 != 0;
            for class in (0..8).filter(changed) {
                let resumed = open >> class & 1 != 0;
                let kind = if resumed { EventKind::Resumed } else { EventKind::Paused };
                let event = TraceEvent::new(Time(now), writer.place, kind, None);
                let queue = Some(self.backlog);
                writer.write(TraceEvent { class: Some(class), queue, ..event });
            }
        }
    }

    /// A pause frame begins transmission.
    pub fn pause_frame(&mut self, now: u64, frame: &Header) {
        if let Header::Pause { classes, paused, .. } = *frame {
            let present = &mut self.pauses(now).present;
            present.pause_frames += (classes & paused != 0) as u32;
            present.resume_frames += (classes & !paused != 0) as u32;
        }
    }

    /// So many classes are stuck from `now` on.
    pub fn stuck(&mut self, now: u64, classes: u32) {
        self.pauses(now).present.storms += classes;
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
        // At the instant at which a packet came nothing has waited yet.
        let waited = now >= self.sample && self.backlog > 0 && now > self.since;
        if now >= self.end || waited {
            self.pass(now);
        }
        self.extend(now);
    }

    /// The backlog has been the same until `now`.
    #[inline]
    fn extend(&mut self, now: u64) {
        let added = self.backlog as u128 * (now - self.since) as u128;
        let (area, carry) = self.area.overflowing_add(added as u64);
        let high = (added >> 64) as u64 + carry as u64;
        if high > 0 {
            self.overflow(high);
        }
        (self.area, self.since) = (area, now);
    }

    #[cold]
    fn overflow(&mut self, times: u64) {
        self.rest.area_high += times;
    }

    /// The interval in progress as a bin.
    fn bin(&self) -> Bin {
        Bin {
            sent_bytes: self.sent_bytes,
            sent_packets: self.sent_packets,
            backlog_max: self.backlog_max,
            backlog_area: (self.rest.area_high as u128) << 64 | self.area as u128,
            ..self.rest.rare
        }
    }

    /// Takes the samples and ends the intervals that are due; the backlog has been the same since
    /// the last change.
    #[inline(never)]
    fn pass(&mut self, now: u64) {
        if self.backlog > 0 {
            self.take_samples(now);
        }
        while now >= self.end {
            let end = self.end;
            self.extend(end);
            if let Some(pauses) = &mut self.rest.pauses {
                self.rest.rare.paused += pauses.bring_to(end);
                pauses.bins.push(std::mem::take(&mut pauses.present));
            }
            let bin = self.bin();
            self.rest.marks += bin.marks as u64;
            self.rest.total.join(&bin);
            self.rest.bins.push(bin);
            self.rest.rare = Bin::default();
            (self.area, self.rest.area_high, self.sent_bytes, self.sent_packets) = (0, 0, 0, 0);
            self.backlog_max = self.backlog;
            self.end = end.saturating_add(self.rest.width);
            if self.rest.bins.len() == MOST {
                self.double();
            }
        }
    }

    fn take_samples(&mut self, now: u64) {
        let samples = &mut self.rest.samples;
        self.sample = samples.bring_to(self.sample, self.since, now, self.backlog);
    }

    fn double(&mut self) {
        join_pairs(&mut self.rest.bins, |a, b| a.join(b));
        if let Some(pauses) = &mut self.rest.pauses {
            join_pairs(&mut pauses.bins, |a, b| a.join(b));
        }
        self.rest.width *= 2;
        let length = (self.rest.bins.len() as u64 + 1).saturating_mul(self.rest.width);
        self.end = self.rest.start.saturating_add(length);
    }

    /// Sums since the start of the run, without marks of the interval in progress; `now` is no earlier
    /// than what happened last.
    pub fn so_far(&self, now: u64) -> Bin {
        let mut total = self.rest.total;
        total.join(&self.bin());
        let since = self.rest.pauses.as_ref().filter(|pauses| pauses.closed != 0);
        total.paused += since.map_or(0, |pauses| now.saturating_sub(pauses.since));
        total
    }

    /// Bytes that wait, without the packet in transmission.
    pub fn backlog(&self) -> u64 {
        self.backlog
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
            self.take_samples(now);
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
    start: u64,
    width: u64,
    bins: Vec<u64>,
}

impl FlowBytes {
    /// Nothing yet, in intervals of `interval` from `start` on.
    pub fn new(start: Time, interval: Span) -> FlowBytes {
        FlowBytes { start: start.0, width: interval.0.max(1), bins: vec![] }
    }

    /// `bytes` were delivered at `now`.
    pub fn add(&mut self, now: u64, bytes: u64) {
        let now = now.saturating_sub(self.start);
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
mod tests;
