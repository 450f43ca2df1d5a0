//! Several testbeds in one thread that share a backend and a virtual clock, as several processes
//! share a wire and real time.

use crate::{Arrival, Clock, Departure, PacketIo};
use incast_transport::Time;
use std::cell::RefCell;
use std::rc::Rc;

/// A backend that several testbeds use, each its own ports.
impl<I: PacketIo> PacketIo for Rc<RefCell<I>> {
    type Frame = I::Frame;

    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<I::Frame>>,
    ) -> usize {
        self.borrow_mut().rx_burst(port, now, most, into)
    }

    fn alloc(&mut self, length: usize) -> Option<I::Frame> {
        self.borrow_mut().alloc(length)
    }

    fn free(&mut self, frame: I::Frame) {
        self.borrow_mut().free(frame);
    }

    fn stage(&mut self, port: u32, frame: I::Frame, departure: Departure) -> Result<(), I::Frame> {
        self.borrow_mut().stage(port, frame, departure)
    }

    fn flush(&mut self, port: u32) -> usize {
        self.borrow_mut().flush(port)
    }

    fn room(&mut self, port: u32) -> usize {
        self.borrow_mut().room(port)
    }

    fn due(&mut self, port: u32) -> Time {
        self.borrow_mut().due(port)
    }

    fn is_external(&self, port: u32) -> bool {
        self.borrow().is_external(port)
    }

    fn keeps_trails(&self) -> bool {
        self.borrow().keeps_trails()
    }

    fn held(&self) -> usize {
        self.borrow().held()
    }
}

/// A virtual clock for several testbeds: it jumps to what is due next when all of them are idle.
///
/// The testbeds are polled in turn; none may be left out, or time stands still.
#[derive(Clone, Debug)]
pub struct SharedClock {
    all: Rc<RefCell<All>>,
    /// Which of them this is.
    place: usize,
}

#[derive(Debug, Default)]
struct All {
    now: u64,
    members: Vec<Member>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// What is due next, while it is idle.
    idle: Option<u64>,
    /// It has read the time and not been idle since: there may be work.
    reads: bool,
}

impl SharedClock {
    /// A clock for `count` testbeds, one each.
    pub fn of(count: usize) -> Vec<SharedClock> {
        let member = Member { idle: None, reads: false };
        let all = Rc::new(RefCell::new(All { now: 0, members: vec![member; count] }));
        (0..count).map(|place| SharedClock { all: all.clone(), place }).collect()
    }
}

impl Clock for SharedClock {
    fn now(&mut self) -> Time {
        let mut all = self.all.borrow_mut();
        if all.members[self.place].reads {
            // It has worked since it last read the time: others may have something to do now.
            all.members.iter_mut().for_each(|member| member.idle = None);
        }
        all.members[self.place].reads = true;
        Time(all.now)
    }

    fn idle(&mut self, due: Time) {
        let mut all = self.all.borrow_mut();
        all.members[self.place] = Member { idle: Some(due.0), reads: false };
        let next = all
            .members
            .iter()
            .map(|member| member.idle)
            .try_fold(u64::MAX, |least, idle| idle.map(|due| least.min(due)));
        if let Some(next) = next.filter(|next| *next != u64::MAX) {
            all.now = all.now.max(next);
            all.members.iter_mut().for_each(|member| member.idle = None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_when_all_are_idle() {
        let mut clocks = SharedClock::of(2);
        let [a, b] = &mut clocks[..] else { panic!("two") };
        a.now();
        a.idle(Time(50));
        assert_eq!(b.now(), Time(0), "the other has not looked yet");
        // It works, and looks again: its work may concern the first.
        b.now();
        b.idle(Time(70));
        assert_eq!(a.now(), Time(0));
        a.idle(Time(60));
        assert_eq!((a.now(), b.now()), (Time(60), Time(60)));
        a.idle(Time::NEVER);
        b.idle(Time::NEVER);
        assert_eq!(a.now(), Time(60), "nothing is due");
    }
}
