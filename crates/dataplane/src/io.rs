//! Packet I/O as nodes see it.

use incast_transport::{Stamps, Time};

/// A packet's path so far, for the records: where its time went and how old its information is. No
/// transport, port or hook sees it, so nothing that happens depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trail {
    /// Its times.
    pub stamps: Stamps,
    /// Picoseconds spent in serialisation so far, stopping at the largest value.
    pub serialised: u32,
}

/// A frame that has arrived: an IPv4 packet, possibly padded.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// When it was due. On a link that is emulated this is its release; on a wire, the time at
    /// which it was read.
    pub at: Time,
    /// When its last bit is here: later than `at` where a switch sees its first bytes early.
    pub complete: Time,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What was handed over with it, if the backend keeps that.
    pub trail: Option<&'a Trail>,
}

/// A frame that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When its first bit leaves.
    pub start: Time,
    /// When the other end handles it: with its last bit, or with its first bytes at a switch that
    /// cuts through. A backend that emulates the link hands the frame over no earlier.
    pub release: Time,
    /// When its last bit reaches the other end.
    pub complete: Time,
    /// Bytes of the IPv4 packet.
    pub length: usize,
    /// To be handed over with it, where the link is emulated within one process.
    pub trail: Trail,
}

/// Bursts of frames in and out of the ports of this process' nodes. Ports are numbered as in the
/// [`Fabric`](incast_fabric::Fabric); a link's two ends have a port each.
pub trait PacketIo {
    /// Takes at most `most` frames off `port` that have arrived by `now`, in their order, and lends
    /// each to `take`. Returns how many.
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        take: &mut dyn FnMut(Arrival<'_>),
    ) -> usize;

    /// Sends frames by `port`; `write` is called with each one's index and as many bytes as it is
    /// long, their contents undefined, and fills them all. Returns how many were taken, from the
    /// front; for the others `write` was not called.
    fn tx_burst(
        &mut self,
        port: u32,
        frames: &[Departure],
        write: &mut dyn FnMut(usize, &mut [u8]),
    ) -> usize;

    /// Whether frames arrive with the [`Trail`] they left with. Without it records have no
    /// breakdown of flow completion times and no age of information.
    fn keeps_trails(&self) -> bool {
        false
    }

    /// How many frames `port` has room for.
    fn room(&self, port: u32) -> usize;

    /// When the next frame is due at `port`; [`Time::NEVER`] if none is in flight, and
    /// [`Time::ZERO`] if that cannot be known because frames come from outside the process.
    fn due(&self, port: u32) -> Time;
}
