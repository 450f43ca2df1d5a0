//! In-band telemetry: records that ports write, and the load computed from two records of a port
//! (HPCC §3.1 and Algorithm 1).
//!
//! The fields of a record are narrow: the rate is an index into a list shared by hosts and
//! switches, the time counts nanoseconds modulo 2^24, bytes are in units. Faster ports use larger
//! units, as in the simulator of HPCC's authors: the multiple is the rate over 25 Gb/s, rounded
//! down, at least 1. Counters of sent bytes take at least 21 ms to wrap, so differences modulo
//! their width are exact if two records are less than 8.4 ms apart.

use crate::{Extension, IntRecord};
use incast_units::{Rate, Span, Time};
use std::sync::Arc;

/// Units of [`IntRecord::sent`] and [`IntRecord::queued`] up to 50 Gb/s, in bytes.
const SENT_UNIT: u64 = 128;
const QUEUED_UNIT: u64 = 80;
const UNIT_RATE: Rate = Rate::from_gbps(25);
/// Width of the counters.
const TIME_MASK: u32 = (1 << 24) - 1;
const SENT_MASK: u32 = (1 << 20) - 1;
/// Largest time between two records; beyond it they cannot be distinguished from reordered ones.
pub const HORIZON: Span = Span::from_us(8_388);
/// Largest number of rates in the list, for a code of four bits; code 0 is none.
pub const MAX_RATES: usize = 15;

#[inline]
fn multiple(rate: Rate) -> u64 {
    (rate.0 / UNIT_RATE.0).max(1)
}

/// The telemetry writer of one port.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    rate_code: u8,
    multiple: u64,
    exact: bool,
}

impl Gauge {
    /// The writer of a port of `rate`, which is one of at most [`MAX_RATES`] `rates`. With `exact`
    /// its records keep the remainders that do not fit the wire's units.
    pub fn new(rates: &[Rate], rate: Rate, exact: bool) -> Gauge {
        assert!(rates.len() <= MAX_RATES, "{} rates do not fit a code of four bits", rates.len());
        let place = rates.iter().position(|known| *known == rate);
        let rate_code = 1 + place.expect("the port's rate is one of the fabric's") as u8;
        Gauge { rate_code, multiple: multiple(rate), exact }
    }

    /// The record at `now`, with `sent` bytes sent and `queued` bytes queued. The queue length
    /// saturates at the largest value of its field.
    #[inline]
    pub fn record(&self, now: Time, sent: u64, queued: u64) -> IntRecord {
        let (sent_unit, queued_unit) = (SENT_UNIT * self.multiple, QUEUED_UNIT * self.multiple);
        let whole = (queued / queued_unit).min(u16::MAX as u64);
        let rest = (queued - whole * queued_unit).min(queued_unit - 1);
        IntRecord {
            rate_code: self.rate_code,
            timestamp: (now.0 / 1_000) as u32 & TIME_MASK,
            sent: (sent / sent_unit) as u32 & SENT_MASK,
            queued: whole as u16,
            sent_rest: if self.exact { (sent % sent_unit) as u16 } else { 0 },
            queued_rest: if self.exact { rest as u16 } else { 0 },
        }
    }
}

/// A stack of `reserved` unwritten records. Writing into these keeps the packet's length.
#[inline]
pub fn empty_stack(reserved: u8) -> Extension {
    Extension::Int { count: reserved, records: Default::default() }
}

/// The written records of a stack.
#[inline]
pub fn written(extension: &Extension) -> &[IntRecord] {
    let Extension::Int { count, records } = extension else { return &[] };
    let records = &records[..*count as usize];
    let end = records.iter().position(|record| record.rate_code == 0);
    &records[..end.unwrap_or(records.len())]
}

/// The load of a port between two records.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Rate of the port's link.
    pub rate: Rate,
    /// Time between the records in whole nanoseconds, above 0.
    pub elapsed: Span,
    /// Charged bytes sent in this time.
    pub sent: u64,
    /// Bytes queued when the earlier record was written.
    pub queued_before: u64,
    /// Bytes queued when the later one was.
    pub queued_after: u64,
}

impl Interval {
    /// The smaller of the two queue lengths, in bytes.
    #[inline]
    pub fn queued(&self) -> u64 {
        self.queued_before.min(self.queued_after)
    }

    /// Normalised power (PowerTCP §3): rate of arrivals over the link's, at least `floor`, times
    /// bytes at the link in a base RTT over its BDP. A busy link without a queue is at 1.
    #[inline]
    pub fn power(&self, base_rtt: Span, floor: f64) -> f64 {
        let bytes = self.rate.0 as f64 / 8e12;
        let grown = self.queued_after as f64 - self.queued_before as f64;
        let arrived = (self.sent as f64 + grown) / (self.elapsed.0 as f64 * bytes);
        arrived.max(floor) * (1.0 + self.queued_after as f64 / (base_rtt.0 as f64 * bytes))
    }

    /// Normalised bytes in flight (Algorithm 1, line 6): queue length over the BDP for `base_rtt`,
    /// plus throughput over the link rate. A busy link without a queue is at 1.
    #[inline]
    pub fn utilisation(&self, base_rtt: Span) -> f64 {
        let bytes = self.rate.0 as f64 / 8e12;
        let sent = self.sent as f64 / (self.elapsed.0 as f64 * bytes);
        self.queued() as f64 / (base_rtt.0 as f64 * bytes) + sent
    }
}

/// Interprets records with the list of rates.
#[derive(Clone, Debug)]
pub struct Reader {
    rates: Arc<[Rate]>,
}

impl Reader {
    /// A reader for ports of these rates.
    pub fn new(rates: Arc<[Rate]>) -> Reader {
        Reader { rates }
    }

    /// The rate of a record's port; `None` for an unknown code.
    #[inline]
    pub fn rate(&self, record: &IntRecord) -> Option<Rate> {
        self.rates.get((record.rate_code as usize).checked_sub(1)?).copied()
    }

    /// Bytes queued at a port of `rate`.
    #[inline]
    pub fn queued(&self, record: &IntRecord, rate: Rate) -> u64 {
        record.queued as u64 * QUEUED_UNIT * multiple(rate) + record.queued_rest as u64
    }

    /// The interval between two records; `None` if their rates differ or they are out of order.
    #[inline]
    pub fn between(&self, earlier: &IntRecord, later: &IntRecord) -> Option<Interval> {
        let rate = self.rate(later)?;
        let elapsed = later.timestamp.wrapping_sub(earlier.timestamp) & TIME_MASK;
        if earlier.rate_code != later.rate_code || elapsed == 0 || elapsed > TIME_MASK / 2 {
            return None;
        }
        let unit = SENT_UNIT * multiple(rate);
        let whole = (later.sent.wrapping_sub(earlier.sent) & SENT_MASK) as u64 * unit;
        // The later remainder may be smaller; then at least one unit lies between them.
        let sent = (whole + later.sent_rest as u64).saturating_sub(earlier.sent_rest as u64);
        let queued_before = self.queued(earlier, rate);
        let queued_after = self.queued(later, rate);
        let elapsed = Span::from_ns(elapsed as u64);
        Some(Interval { rate, elapsed, sent, queued_before, queued_after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_us(16);

    fn rates() -> Arc<[Rate]> {
        Arc::new([10, 100, 400].map(Rate::from_gbps))
    }

    fn at_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }

    fn gauge(gbps: u64, exact: bool) -> Gauge {
        Gauge::new(&rates(), Rate::from_gbps(gbps), exact)
    }

    #[test]
    fn a_busy_link_is_at_one_and_an_idle_one_at_zero() {
        let reader = Reader::new(rates());
        for (gbps, exact) in [(10, true), (10, false), (100, false), (400, true)] {
            let gauge = gauge(gbps, exact);
            let per_ns = gbps as f64 / 8.0;
            let earlier = gauge.record(at_ns(5_000), 1_000_000, 0);
            let later = gauge.record(at_ns(15_000), 1_000_000 + (1e4 * per_ns) as u64, 0);
            let busy = reader.between(&earlier, &later).unwrap();
            assert_eq!(busy.elapsed, Span::from_us(10));
            // A unit is 128 B per 25 Gb/s: 1 % of the link's capacity in 10 us.
            let u = busy.utilisation(RTT);
            assert!((u - 1.0).abs() <= if exact { 1e-9 } else { 0.011 }, "{gbps}: {u}");
            let still = gauge.record(at_ns(15_000), 1_000_000, 0);
            assert_eq!(reader.between(&earlier, &still).unwrap().utilisation(RTT), 0.0);
        }
    }

    #[test]
    fn utilisation_uses_the_smaller_queue_over_the_bdp() {
        let reader = Reader::new(rates());
        let gauge = gauge(10, true);
        // The BDP is 20,000 B at 16 us.
        let earlier = gauge.record(at_ns(0), 0, 30_000);
        let later = gauge.record(at_ns(1_000), 625, 10_000);
        let interval = reader.between(&earlier, &later).unwrap();
        assert_eq!((interval.sent, interval.queued()), (625, 10_000));
        assert!((interval.utilisation(RTT) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn power_is_the_rate_of_arrivals_times_what_is_there() {
        let reader = Reader::new(rates());
        let gauge = gauge(10, true);
        // In a base RTT the link takes 20,000 B. What has arrived of that, and the queue after it.
        for (before, sent, after, power) in [
            (0, 20_000, 0, 1.0),
            (0, 20_000, 20_000, 4.0),
            (20_000, 20_000, 0, 0.5),
            (20_000, 20_000, 10_000, 0.5 * 1.5),
            (0, 10_000, 0, 0.5),
            (0, 0, 0, 0.5),
        ] {
            let earlier = gauge.record(at_ns(0), 0, before);
            let later = gauge.record(at_ns(16_000), sent, after);
            let interval = reader.between(&earlier, &later).unwrap();
            assert!((interval.power(RTT, 0.5) - power).abs() < 1e-9, "{interval:?}");
        }
        let still = reader.between(&gauge.record(at_ns(0), 9, 0), &gauge.record(at_ns(9), 9, 0));
        assert_eq!(still.unwrap().power(RTT, 0.0), 0.0);
    }

    #[test]
    fn differences_survive_counter_wraps() {
        let reader = Reader::new(rates());
        for exact in [false, true] {
            let gauge = gauge(100, exact);
            let (sent, unit) = (512 * (1 << 20) - 512, 512);
            let earlier = gauge.record(Time(16_777_000_000), sent, 0);
            let later = gauge.record(Time(16_779_000_000), sent + 3 * unit, 0);
            assert!(later.sent < earlier.sent && later.timestamp < earlier.timestamp);
            let interval = reader.between(&earlier, &later).unwrap();
            assert_eq!((interval.elapsed, interval.sent), (Span::from_us(2), 3 * unit));
        }
    }

    #[test]
    fn exact_records_keep_remainders() {
        let reader = Reader::new(rates());
        for (exact, sent, queued) in [(false, 1_536, 1_520), (true, 1_538, 1_538)] {
            let gauge = gauge(10, exact);
            let first = gauge.record(at_ns(0), 255, 1_538);
            let second = gauge.record(at_ns(1_230), 255 + 1_538, 1_538);
            let interval = reader.between(&first, &second).unwrap();
            assert_eq!(
                (interval.sent, interval.queued()),
                (if exact { sent } else { 1_664 }, queued)
            );
        }
    }

    #[test]
    fn queue_lengths_saturate() {
        let reader = Reader::new(rates());
        for exact in [false, true] {
            let record = gauge(10, exact).record(at_ns(1), 0, 1 << 40);
            let queued = reader.queued(&record, Rate::from_gbps(10));
            assert!((5_242_800..5_242_880).contains(&queued), "{queued}");
        }
    }

    #[test]
    fn records_out_of_order_or_of_other_ports_are_rejected() {
        let reader = Reader::new(rates());
        let (slow, fast) = (gauge(10, false), gauge(100, false));
        let (early, late) = (slow.record(at_ns(100), 0, 0), slow.record(at_ns(200), 0, 0));
        assert!(reader.between(&early, &late).is_some());
        assert!(reader.between(&late, &early).is_none());
        assert!(reader.between(&early, &early).is_none());
        assert!(reader.between(&early, &fast.record(at_ns(200), 0, 0)).is_none());
        let odd = IntRecord { rate_code: 9, ..late };
        assert!(reader.rate(&odd).is_none() && reader.rate(&IntRecord::default()).is_none());
        assert!(reader.between(&IntRecord { rate_code: 9, ..early }, &odd).is_none());
    }
}
