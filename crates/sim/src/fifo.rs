//! Queues of ports that compute departures on arrival (`Port::in_order`). One event takes a packet
//! from one port to the next. Transmissions since the last update are accounted for at the next
//! one.

use incast_transport::{Backlog, Port};
use incast_world::PortSeries;
use std::collections::VecDeque;

/// The lengths of the packets queued at one port: one cache line, and more only if several are
/// queued. Packets leave back to back, so the lengths determine the departure times.
#[repr(C, align(64))]
pub(crate) struct Fifo {
    /// When the first one starts transmission; `u64::MAX` if the queue is empty.
    next: u64,
    /// Charged bytes accepted so far.
    accepted: u64,
    /// Charged bytes of the transmissions accounted for.
    pub sent: u64,
    packets: u32,
    /// Charged bytes of the first one.
    first: u16,
    /// Charged bytes of the following ones.
    behind: VecDeque<u16>,
}

const _: () = assert!(std::mem::size_of::<Fifo>() == 64);

impl Fifo {
    pub fn new() -> Fifo {
        let behind = VecDeque::new();
        Fifo { next: u64::MAX, accepted: 0, sent: 0, packets: 0, first: 0, behind }
    }

    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { bytes: self.accepted - self.sent, packets: self.packets }
    }

    /// When the first queued packet starts transmission; `None` if none is queued.
    #[inline]
    pub fn next(&self) -> Option<u64> {
        (self.packets > 0).then_some(self.next)
    }

    /// Adds a packet whose transmission starts at `start`, after all before it.
    #[inline]
    pub fn push(&mut self, start: u64, charged: u16) {
        self.accepted += charged as u64;
        if self.packets == 0 {
            (self.next, self.first) = (start, charged);
        } else {
            self.behind.push_back(charged);
        }
        self.packets += 1;
    }

    /// Accounts for the transmissions that start before `until` and returns their number. `tx` is
    /// the transmission time of charged bytes.
    #[inline]
    pub fn drain(
        &mut self,
        until: u64,
        tx: impl Fn(u16) -> u64,
        handler: &dyn Port,
        series: &mut PortSeries,
    ) -> u64 {
        let before = self.packets;
        while self.next < until {
            let (start, charged) = (self.next, self.first);
            self.packets -= 1;
            self.sent += charged as u64;
            self.next = match self.behind.pop_front() {
                Some(behind) => {
                    self.first = behind;
                    start + tx(charged)
                }
                None => u64::MAX,
            };
            if series.over(start) {
                series.set_marks(handler.marks());
            }
            series.sent(start, charged as u32, self.accepted - self.sent);
        }
        (before - self.packets) as u64
    }
}
