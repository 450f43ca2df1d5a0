//! Packet I/O as nodes see it.

use incast_transport::{Stamps, Time};

/// Bytes that every frame has at least in front of its first byte when it is allocated or received.
/// More than the longest extension grows by within one network, so telemetry is written in place.
pub const HEADROOM: usize = 112;

/// A packet's path so far, for the records: where its time went and how old its information is. No
/// transport, port or hook sees it, so nothing that happens depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trail {
    /// Its times.
    pub stamps: Stamps,
    /// Picoseconds spent in serialisation so far, stopping at the largest value.
    pub serialised: u32,
    /// The number of its path, if the run records paths.
    pub taken: u32,
}

/// A frame that belongs to its holder: an IPv4 packet, possibly padded, in a buffer with room in
/// front. Holders give a frame back with [`PacketIo::stage`] or [`PacketIo::free`]; a frame that is
/// only dropped may be lost to its backend.
pub trait Frame {
    /// Its bytes, from the IPv4 header on.
    fn bytes(&self) -> &[u8];

    /// The same, to change them.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Adds `by` bytes of undefined contents in front. Returns false, and does nothing, if there is
    /// no room for them.
    fn grow_front(&mut self, by: usize) -> bool;

    /// Takes `by` bytes off the front, at most all.
    fn cut_front(&mut self, by: usize);

    /// Leaves the first `length` bytes, at most all.
    fn truncate(&mut self, length: usize);

    /// What came with it on a link within the process; `None` if it has come from elsewhere, or if
    /// the backend keeps no trails.
    fn trail(&self) -> Option<&Trail> {
        None
    }

    /// Sets what travels with it. Without effect if the backend keeps no trails.
    fn set_trail(&mut self, _trail: &Trail) {}
}

/// A frame that has arrived.
#[derive(Debug)]
pub struct Arrival<F> {
    /// When it was due. On a link that is emulated this is its release; on a wire, the time at
    /// which it was read.
    pub at: Time,
    /// When its last bit is here: later than `at` where a switch sees its first bytes early.
    pub complete: Time,
    /// The frame.
    pub frame: F,
}

/// When a frame leaves and arrives.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When its first bit leaves.
    pub start: Time,
    /// When the other end handles it: with its last bit, or with its first bytes at a switch that
    /// cuts through. A backend that emulates the link hands the frame over no earlier; over a real
    /// wire this is ignored.
    pub release: Time,
    /// When its last bit reaches the other end.
    pub complete: Time,
}

/// Bursts of frames in and out of the ports of this process' nodes. Ports are numbered as in the
/// [`Fabric`](incast_fabric::Fabric); a link's two ends have a port each.
///
/// A frame is held either by the backend (free, staged or in flight) or by one node.
pub trait PacketIo {
    /// A frame.
    type Frame: Frame;

    /// Appends at most `most` frames that have arrived at `port` by `now`, in their order. Returns
    /// how many. They belong to the caller.
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Self::Frame>>,
    ) -> usize;

    /// A frame of `length` bytes of undefined contents, without a trail. `None` if no buffer is left
    /// or none is as long.
    fn alloc(&mut self, length: usize) -> Option<Self::Frame>;

    /// Takes a frame back that nobody needs any more.
    fn free(&mut self, frame: Self::Frame);

    /// Takes a frame to send by `port`, with the next [`flush`](PacketIo::flush) at the latest.
    /// Gives it back if there is no room.
    fn stage(
        &mut self,
        port: u32,
        frame: Self::Frame,
        departure: Departure,
    ) -> Result<(), Self::Frame>;

    /// Sends what is staged at `port`. Returns how many frames are still staged because the device
    /// took no more; they stay, and the caller flushes again in its next pass.
    fn flush(&mut self, port: u32) -> usize;

    /// How many frames [`stage`](PacketIo::stage) takes at `port`: the room of the ring or device
    /// less what is staged.
    fn room(&mut self, port: u32) -> usize;

    /// When the next frame is due at `port`, staged ones included; [`Time::NEVER`] if none is in
    /// flight. Of a port that [is fed from outside](PacketIo::is_external), only frames that were
    /// read already count.
    fn due(&mut self, port: u32) -> Time;

    /// Whether frames come to `port` from outside this process, so that [`due`](PacketIo::due)
    /// cannot know of them: each pass then polls its node.
    fn is_external(&self, _port: u32) -> bool {
        false
    }

    /// Whether frames arrive with the [`Trail`] they left with. Without it records have no
    /// breakdown of flow completion times and no age of information.
    fn keeps_trails(&self) -> bool {
        false
    }

    /// Nodes here hold `change` frames more, or fewer: they have come from, or gone to, the nodes of a
    /// backend that was split off this one, or this one off it.
    fn note_crossing(&mut self, _change: isize) {}

    /// Frames that nodes hold: allocated or received, and neither staged nor freed. 0 after a run,
    /// or a frame has leaked.
    fn held(&self) -> usize;
}
