//! A flow: what a host is asked to deliver.

use incast_units::Time;
use incast_wire::{FlowId, HostId};
use std::sync::Arc;

/// How a flow is cut into packets.
#[derive(Clone, Debug)]
pub enum Segments {
    /// Full payloads of this many bytes, the last one shorter.
    Uniform(u16),
    /// Where each packet ends, in bytes from the start of the flow; the workload prescribes it.
    Table(Arc<[u64]>),
}

/// A flow as its source learns of it.
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
    /// How it is cut into packets.
    pub segments: Segments,
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

    /// Where the packet that starts at byte `from` ends; the size at the latest.
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
