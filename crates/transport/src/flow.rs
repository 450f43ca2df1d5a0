//! Flows and their segmentation into packets.

use incast_units::Time;
use incast_wire::{FlowId, HostId};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The segmentation of a flow into packets.
#[derive(Clone, Debug)]
pub enum Segments {
    /// Payloads of this many bytes; the last one may be shorter.
    Uniform(u16),
    /// The end of each packet, in bytes from the start of the flow, given by the workload.
    Table(Arc<[u64]>),
}

impl Segments {
    /// The segments of a flow of `size` bytes with those above `most` payload bytes (at least 1)
    /// split, for transports whose packets carry an extension.
    pub fn at_most(&self, most: u16, size: u64) -> Segments {
        assert!(most > 0, "a packet has a payload");
        match self {
            Segments::Uniform(mss) => Segments::Uniform((*mss).min(most)),
            Segments::Table(ends) => {
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let fits = |(from, to): (u64, &u64)| to - from <= most as u64;
                if starts.zip(ends.iter()).all(fits) {
                    return self.clone();
                }
                let mut cut = Vec::with_capacity(ends.len() * 2);
                let mut from = 0;
                for &end in ends.iter() {
                    while end - from > most as u64 {
                        from += most as u64;
                        cut.push(from);
                    }
                    cut.push(end);
                    from = end;
                }
                debug_assert_eq!(cut.last(), Some(&size));
                Segments::Table(cut.into())
            }
        }
    }
}

/// A flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its number in the run.
    pub id: FlowId,
    /// Sending host.
    pub src: HostId,
    /// Receiving host.
    pub dst: HostId,
    /// Bytes to deliver, at least 1.
    pub size: u64,
    /// When it was opened.
    pub start: Time,
    /// Its segmentation into packets.
    pub segments: Segments,
    /// Packets that its source may send before it hears from the destination, if not as many as its
    /// transport lets it: the first burst of a receiver-driven transport, the initial window of
    /// another. Only for transports with [`takes_burst`](crate::Transport::takes_burst).
    pub burst: Option<u32>,
    /// The connection on which it is a message, if it is one; else it has one of its own. Only for transports
    /// with [`keeps_connections`](crate::Transport::keeps_connections).
    pub connection: Option<Connection>,
}

/// The number of a connection, on which flows from one host to another follow each other: the bytes of each behind
/// those of the one that was opened before it. Windows, rates and measured times are the connection's and live on
/// from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(NonZeroU32);

impl Connection {
    /// The one of this place, counted from 0.
    pub fn new(place: u32) -> Connection {
        Connection(NonZeroU32::MIN.saturating_add(place))
    }

    /// Its place.
    pub fn place(self) -> u32 {
        self.0.get() - 1
    }
}

impl Flow {
    /// Number of packets.
    pub fn packets(&self) -> u32 {
        let count = match &self.segments {
            Segments::Uniform(mss) => self.size.div_ceil(*mss as u64),
            Segments::Table(ends) => ends.len() as u64,
        };
        u32::try_from(count).expect("a flow has fewer than 2^32 packets")
    }

    /// First byte of packet `seq`.
    #[inline]
    pub fn offset(&self, seq: u32) -> u64 {
        match &self.segments {
            Segments::Uniform(mss) => seq as u64 * *mss as u64,
            Segments::Table(ends) if seq == 0 || ends.is_empty() => 0,
            Segments::Table(ends) => ends[seq as usize - 1],
        }
    }

    /// Payload bytes of packet `seq`.
    #[inline]
    pub fn payload(&self, seq: u32) -> u16 {
        let from = self.offset(seq);
        let to = match &self.segments {
            Segments::Uniform(mss) => (from + *mss as u64).min(self.size),
            Segments::Table(ends) => ends[seq as usize],
        };
        (to - from) as u16
    }

    /// First byte and payload bytes of packet `seq`; `None` if the flow has no such packet.
    #[inline]
    pub fn place(&self, seq: u32) -> Option<(u64, u16)> {
        let exists = match &self.segments {
            Segments::Uniform(mss) => (seq as u64 * *mss as u64) < self.size,
            Segments::Table(ends) => (seq as usize) < ends.len(),
        };
        exists.then(|| (self.offset(seq), self.payload(seq)))
    }

    /// The end of the packet that starts at byte `from`, at most the flow's size.
    #[inline]
    pub fn segment_end(&self, from: u64) -> u64 {
        match &self.segments {
            Segments::Uniform(mss) => {
                let mss = *mss as u64;
                ((from / mss + 1) * mss).min(self.size)
            }
            Segments::Table(ends) => ends[ends.partition_point(|&end| end <= from)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_cut_to_what_fits() {
        let cut = |segments: Segments| {
            let flow = Flow {
                id: FlowId(0),
                src: HostId(0),
                dst: HostId(1),
                size: 3_000,
                start: Time::ZERO,
                segments: segments.at_most(1_444, 3_000),
                burst: None,
                connection: None,
            };
            (0..flow.packets()).map(|seq| flow.payload(seq)).collect::<Vec<u16>>()
        };
        assert_eq!(cut(Segments::Uniform(1_460)), [1_444, 1_444, 112]);
        assert_eq!(cut(Segments::Uniform(1_000)), [1_000; 3]);
        let table = |ends: &[u64]| Segments::Table(ends.into());
        assert_eq!(cut(table(&[100, 1_560, 3_000])), [100, 1_444, 16, 1_440]);
        assert_eq!(cut(table(&[3_000])), [1_444, 1_444, 112]);
        assert_eq!(cut(table(&[1_444, 2_888, 3_000])), [1_444, 1_444, 112]);
    }
}
