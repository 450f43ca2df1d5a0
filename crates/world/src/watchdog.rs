//! Storms of pause frames, and the watchdog of a switch port that ends them: a class that the other end has paused for
//! long is declared stuck, and its packets are dropped, or sent in spite of the pause, until it has not been paused
//! for a while. As that of SONiC, but by the time of the pause alone.

use crate::pfc::{Buffers, Stuck, WatchdogRules};
use incast_transport::{Classes, HostId, Time};

/// A NIC that pauses its link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Storm {
    /// Whose.
    pub host: HostId,
    /// From when on.
    pub from: Time,
    /// Until when; [`Time::NEVER`] if for good.
    pub until: Time,
    /// Which classes.
    pub classes: Classes,
}

/// What the watchdog of a port knows.
#[derive(Clone, Debug)]
pub struct Watchdog {
    rules: WatchdogRules,
    lossless: u8,
    /// Classes that the other end of the link lets the port send.
    heard: u8,
    /// Since when.
    since: [u64; 8],
    stuck: u8,
}

impl Watchdog {
    /// That of a port at which nothing is paused, if switches have one.
    pub fn of(rules: &Buffers) -> Option<Watchdog> {
        let pfc = rules.pfc.as_ref()?;
        let (lossless, since) = (pfc.lossless.0, [0; 8]);
        Some(Watchdog { rules: pfc.watchdog?, lossless, heard: u8::MAX, since, stuck: 0 })
    }

    /// The classes that the other end lets the port send.
    pub fn heard(&self) -> u8 {
        self.heard
    }

    /// The classes that the port may send.
    pub fn open(&self) -> u8 {
        match self.rules.action {
            Stuck::Drop => self.heard,
            Stuck::Forward => self.heard | self.stuck,
        }
    }

    /// The classes whose packets are dropped.
    pub fn drops(&self) -> u8 {
        match self.rules.action {
            Stuck::Drop => self.stuck,
            Stuck::Forward => 0,
        }
    }

    /// The other end lets the port send these classes from `now` on. What it may send then.
    pub fn hear(&mut self, now: u64, open: u8) -> u8 {
        for class in (0..8).filter(|class| (self.heard ^ open) >> class & 1 != 0) {
            self.since[class] = now;
        }
        self.heard = open;
        self.open()
    }

    /// When a class gets stuck or recovers next, if nothing is heard until then.
    pub fn deadline(&self) -> u64 {
        let due = |class: usize| {
            let (open, stuck) = (self.heard >> class & 1 != 0, self.stuck >> class & 1 != 0);
            let wait = match (open, stuck) {
                (false, false) if self.lossless >> class & 1 != 0 => self.rules.detect,
                (true, true) => self.rules.restore,
                _ => return u64::MAX,
            };
            self.since[class].saturating_add(wait.0)
        };
        (0..8).map(due).min().unwrap_or(u64::MAX)
    }

    /// Its deadline has come: the classes that are stuck from now on and were not before.
    pub fn expire(&mut self, now: u64) -> u8 {
        let mut newly = 0;
        for class in 0..8 {
            let (bit, age) = (1u8 << class, now - self.since[class]);
            match (self.heard & bit != 0, self.stuck & bit != 0) {
                (false, false) if self.lossless & bit != 0 && age >= self.rules.detect.0 => {
                    newly |= bit;
                }
                (true, true) if age >= self.rules.restore.0 => self.stuck &= !bit,
                _ => {}
            }
        }
        self.stuck |= newly;
        newly
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Span;

    fn watchdog(action: Stuck) -> Watchdog {
        let rules = WatchdogRules { detect: Span(100), restore: Span(30), action };
        Watchdog { rules, lossless: 0b110, heard: u8::MAX, since: [0; 8], stuck: 0 }
    }

    /// Paused at 50, stuck at 150, released at 200, as before at 230; a pause in between counts anew.
    #[test]
    fn a_class_is_stuck_from_detect_until_restore() {
        let mut dog = watchdog(Stuck::Drop);
        assert_eq!(dog.deadline(), u64::MAX);
        assert_eq!(dog.hear(50, !0b10), !0b10);
        assert_eq!((dog.deadline(), dog.drops()), (150, 0));
        assert_eq!((dog.expire(150), dog.drops()), (0b10, 0b10));
        assert_eq!(dog.deadline(), u64::MAX, "for as long as it is paused");
        dog.hear(200, u8::MAX);
        assert_eq!((dog.deadline(), dog.drops()), (230, 0b10));
        dog.hear(210, !0b10);
        dog.hear(220, u8::MAX);
        assert_eq!(dog.deadline(), 250);
        assert_eq!((dog.expire(250), dog.drops(), dog.deadline()), (0, 0, u64::MAX));
    }

    /// Classes that may be dropped are not watched, and short pauses are none of its business.
    #[test]
    fn only_long_pauses_of_lossless_classes_count() {
        let mut dog = watchdog(Stuck::Drop);
        dog.hear(0, !0b1000);
        assert_eq!(dog.deadline(), u64::MAX);
        dog.hear(10, !0b1100);
        assert_eq!(dog.deadline(), 110);
        dog.hear(109, !0b1000);
        assert_eq!((dog.deadline(), dog.expire(110)), (u64::MAX, 0));
    }

    #[test]
    fn a_stuck_class_may_be_sent_in_spite_of_the_pause() {
        let mut dog = watchdog(Stuck::Forward);
        assert_eq!(dog.hear(0, !0b110), !0b110);
        dog.expire(100);
        assert_eq!((dog.open(), dog.drops(), dog.heard()), (u8::MAX, 0, !0b110));
        assert_eq!(dog.hear(120, !0b100), u8::MAX);
        assert_eq!((dog.deadline(), dog.expire(150)), (150, 0));
        assert_eq!(dog.hear(160, !0b110), !0b010, "class 1 is watched anew");
    }
}
