//! What senders make of the telemetry that ACKs bring back (HPCC §3, PowerTCP §3): records are compared
//! with those of the ACK before, and windows are what a rate carries in a base RTT.

use incast_transport::telemetry::{HORIZON, Interval, Reader};
use incast_transport::{INT_HOPS, IntRecord, Rate, Span, Time};

/// The records of the ACK before.
#[derive(Clone, Debug, Default)]
pub struct Previous {
    /// From the sender on.
    last: [IntRecord; INT_HOPS],
    hops: u8,
    /// When that ACK arrived.
    heard: Time,
}

impl Previous {
    /// Whether records that arrive now are of the same path, and soon enough to tell how long ago those
    /// before were written.
    #[inline]
    pub fn compares(&self, records: &[IntRecord], now: Time) -> bool {
        records.len() == self.hops as usize && now.since(self.heard) < HORIZON
    }

    /// What happened at each hop since, where something did.
    #[inline]
    pub fn intervals<'a>(
        &'a self,
        reader: &'a Reader,
        records: &'a [IntRecord],
    ) -> impl Iterator<Item = Interval> + 'a {
        self.last.iter().zip(records).filter_map(|(before, after)| reader.between(before, after))
    }

    /// These are the records of the ACK that arrives now.
    #[inline]
    pub fn remember(&mut self, now: Time, records: &[IntRecord]) {
        self.heard = now;
        self.last[..records.len()].copy_from_slice(records);
        self.hops = records.len() as u8;
    }
}

/// The records of the ACK before on each path, for packets that take several: those of different ports tell
/// nothing of each other.
#[derive(Clone, Debug)]
pub struct PathRecords {
    first: Previous,
    /// Of paths 1 and more, as far as they were heard of.
    others: Vec<Previous>,
    paths: u32,
}

impl PathRecords {
    /// Nothing was heard of any of so many paths, at least one.
    pub fn new(paths: u32) -> PathRecords {
        PathRecords { first: Previous::default(), others: vec![], paths }
    }

    /// Those of one path.
    #[inline]
    pub fn of(&mut self, path: u16) -> &mut Previous {
        // A forged packet can name any path.
        match path as u32 % self.paths {
            0 => &mut self.first,
            one => {
                let place = one as usize - 1;
                if place >= self.others.len() {
                    self.others.resize_with(place + 1, Previous::default);
                }
                &mut self.others[place]
            }
        }
    }
}

/// Bytes that `rate` carries in `base_rtt`.
pub fn carried(rate: Rate, base_rtt: Span) -> f64 {
    rate.0 as f64 * base_rtt.as_secs_f64() / 8.0
}

/// The rate of a window that leaves in `base_rtt`; none to keep to from `most` bytes on.
#[inline]
pub fn pacing(window: f64, most: f64, base_rtt: Span) -> Option<Rate> {
    let rate = window * 8.0 / base_rtt.as_secs_f64();
    (window < most).then_some(Rate((rate as u64).max(1)))
}
