//! The load of a link, measured once per interval (VCP §3.1): what arrives and what waits, by what
//! the link could carry.

use incast_transport::{Span, Time};

/// Default samples of the queue in an interval.
pub const SAMPLES: u64 = 20;
/// An average queue of fewer bytes is none.
const NOTHING: f64 = 1e-3;

/// What is measured, how often.
#[derive(Clone, Copy, Debug)]
pub struct Metering {
    /// Bytes a second that count as full: the target utilisation of the link's rate.
    pub capacity: f64,
    /// Between two values.
    pub interval: Span,
    /// Between two samples of the queue.
    pub sample: Span,
    /// Part of the queue that counts.
    pub queue_weight: f64,
    /// Weight of an interval's mean queue in the average over intervals.
    pub average_weight: f64,
}

/// The meter of one link. Times arrives in order.
#[derive(Clone, Debug)]
pub struct LoadMeter {
    metering: Metering,
    /// When the interval ends, and when the queue is looked at next.
    ends: Time,
    samples_at: Time,
    /// Bytes that arrived in this interval.
    input: u64,
    /// Sum of the queue's samples in it, and their number.
    queue_sum: u64,
    samples: u64,
    /// Average queue in bytes.
    queue: f64,
    load: f64,
    measured: Time,
}

impl LoadMeter {
    /// A meter that has seen nothing; its first interval ends at `first`.
    pub fn new(metering: Metering, first: Time) -> LoadMeter {
        assert!(metering.interval > Span::ZERO && metering.sample > Span::ZERO);
        let samples_at = first;
        LoadMeter {
            metering,
            ends: first,
            samples_at,
            input: 0,
            queue_sum: 0,
            samples: 0,
            queue: 0.0,
            load: 0.0,
            measured: Time::ZERO,
        }
    }

    /// The interval that has not ended yet ends at `first` instead.
    pub fn restart(&mut self, first: Time) {
        (self.ends, self.samples_at) = (first, first);
    }

    /// Between two values.
    pub fn interval(&self) -> Span {
        self.metering.interval
    }

    /// Ends all intervals that are over at `now`; since the last call `backlog` bytes waited.
    #[inline]
    pub fn advance(&mut self, now: Time, backlog: u64) {
        while self.samples_at.min(self.ends) <= now {
            self.sample(self.ends.min(now), backlog);
            if self.ends > now {
                return;
            }
            let empty = self.input == 0 && self.queue_sum == 0 && backlog == 0;
            if empty && self.queue == 0.0 && self.load == 0.0 {
                return self.skip(now);
            }
            self.end_interval();
        }
    }

    /// Looks at the queue until `to`.
    fn sample(&mut self, to: Time, backlog: u64) {
        if self.samples_at <= to {
            let count = to.since(self.samples_at).0 / self.metering.sample.0 + 1;
            self.queue_sum += backlog * count;
            self.samples += count;
            self.samples_at += self.metering.sample * count;
        }
    }

    /// Intervals in which nothing arrives and nothing waits are all alike.
    #[cold]
    fn skip(&mut self, now: Time) {
        let Metering { interval, sample, .. } = self.metering;
        self.ends += interval * (now.since(self.ends).0 / interval.0 + 1);
        self.measured = self.ends - interval;
        self.samples = 0;
        self.samples_at = self.measured + sample;
        self.sample(now, 0);
    }

    fn end_interval(&mut self) {
        let Metering { capacity, interval, sample, queue_weight, average_weight } = self.metering;
        let mean = self.queue_sum as f64 / self.samples.max(1) as f64;
        self.queue += average_weight * (mean - self.queue);
        if self.queue < NOTHING {
            self.queue = 0.0;
        }
        let could = capacity * interval.as_secs_f64();
        self.load = (self.input as f64 + queue_weight * self.queue) / could;
        (self.input, self.queue_sum, self.samples) = (0, 0, 0);
        self.measured = self.ends;
        self.ends += interval;
        self.samples_at = self.measured + sample;
    }

    /// A packet of `bytes` arrived, whosever it is, whether or not there was room for it.
    #[inline]
    pub fn arrives(&mut self, bytes: u32) {
        self.input += bytes as u64;
    }

    /// The load of the last interval; 1 is full.
    #[inline]
    pub fn load(&self) -> f64 {
        self.load
    }

    /// When it was measured.
    #[inline]
    pub fn measured(&self) -> Time {
        self.measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;

    const INTERVAL: Span = Span::from_us(100);

    fn meter() -> LoadMeter {
        let metering = Metering {
            capacity: 1e9,
            interval: INTERVAL,
            sample: INTERVAL / SAMPLES,
            queue_weight: 0.5,
            average_weight: 0.25,
        };
        LoadMeter::new(metering, Time::ZERO + INTERVAL)
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn load_is_input_and_part_of_the_average_queue() {
        let mut meter = meter();
        meter.arrives(60_000);
        meter.arrives(30_000);
        meter.advance(us(99), 0);
        assert_eq!((meter.load(), meter.measured()), (0.0, Time::ZERO));
        meter.advance(us(100), 0);
        assert_eq!((meter.load(), meter.measured()), (0.9, us(100)));
        // 8000 bytes wait for half of the interval: 4000 on average, a quarter of that counts at
        // once, half of which as load.
        meter.advance(us(150), 0);
        meter.advance(us(200), 8_000);
        assert!((meter.load() - 0.005).abs() < 1e-12, "{}", meter.load());
        meter.advance(us(300), 8_000);
        assert!((meter.load() - 0.013_75).abs() < 1e-12, "{}", meter.load());
    }

    #[test]
    fn results_do_not_depend_on_when_it_is_read() {
        let mut random = Random::new(4, 5, 6);
        let (mut patient, mut advanced) = (meter(), meter());
        let mut now = Time::ZERO;
        let mut backlog = 0;
        for _ in 0..500 {
            let scale = [1_000_000, 50_000_000, 4_000_000_000][random.below(3) as usize];
            let next = now + Span(random.below(scale));
            while now < next {
                now = next.min(now + Span(random.below(30_000_000)));
                advanced.advance(now, backlog);
            }
            patient.advance(now, backlog);
            assert_eq!(patient.load().to_bits(), advanced.load().to_bits());
            assert_eq!(patient.measured(), advanced.measured());
            let bytes = random.below(90_000) as u32;
            patient.arrives(bytes);
            advanced.arrives(bytes);
            backlog = random.below(2) * random.below(200_000);
        }
    }
}
