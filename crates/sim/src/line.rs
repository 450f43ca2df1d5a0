//! Ports that decide everything about a packet when it comes (`Port::in_order`): its departure is
//! known then, and one event takes it from one port to the next. What began transmission since is
//! accounted for when the port is looked at again.

use incast_transport::{Backlog, Port};
use incast_world::PortSeries;
use std::collections::VecDeque;

/// The packets that wait at one port, without the packets: one cache line, and more only when
/// several wait. They leave without a gap, so their lengths tell when each does.
#[repr(C, align(64))]
pub(crate) struct Line {
    /// When the first of them begins transmission; `u64::MAX` when none waits.
    next: u64,
    /// Charged bytes accepted so far.
    accepted: u64,
    /// Charged bytes of packets that began transmission, as far as accounted for.
    pub sent: u64,
    packets: u32,
    /// Charged bytes of the first that waits.
    first: u16,
    /// Charged bytes of those behind it.
    behind: VecDeque<u16>,
}

const _: () = assert!(std::mem::size_of::<Line>() == 64);

impl Line {
    pub fn new() -> Line {
        let behind = VecDeque::new();
        Line { next: u64::MAX, accepted: 0, sent: 0, packets: 0, first: 0, behind }
    }

    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { bytes: self.accepted - self.sent, packets: self.packets }
    }

    /// A packet waits that begins transmission at `start`, when all before it have left.
    #[inline]
    pub fn join(&mut self, start: u64, charged: u16) {
        self.accepted += charged as u64;
        if self.packets == 0 {
            (self.next, self.first) = (start, charged);
        } else {
            self.behind.push_back(charged);
        }
        self.packets += 1;
    }

    /// Accounts for the transmissions that begin before `until`, each of which takes `tx` of its
    /// charged bytes, and returns how many there were.
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
