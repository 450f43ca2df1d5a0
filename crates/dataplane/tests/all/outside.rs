//! Links whose frames come from outside, for all that the nodes know.

use incast_dataplane::{Arrival, Buffer, Departure, Mem, PacketIo};
use incast_transport::Time;

/// Frames of which nobody knows before they are there.
pub struct Outside(pub Mem);

impl PacketIo for Outside {
    type Frame = Buffer;
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Buffer>>,
    ) -> usize {
        self.0.rx_burst(port, now, most, into)
    }
    fn alloc(&mut self, length: usize) -> Option<Buffer> {
        self.0.alloc(length)
    }
    fn free(&mut self, frame: Buffer) {
        self.0.free(frame)
    }
    fn stage(&mut self, port: u32, frame: Buffer, departure: Departure) -> Result<(), Buffer> {
        self.0.stage(port, frame, departure)
    }
    fn flush(&mut self, port: u32) -> usize {
        self.0.flush(port)
    }
    fn room(&mut self, port: u32) -> usize {
        self.0.room(port)
    }
    fn due(&mut self, _port: u32) -> Time {
        Time::NEVER
    }
    fn is_external(&self, _port: u32) -> bool {
        true
    }
    fn held(&self) -> usize {
        self.0.held()
    }
}
