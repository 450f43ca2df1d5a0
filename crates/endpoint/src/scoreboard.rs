//! Which segments of a flow are in flight, have arrived or are lost (RFC 6675).
//!
//! Segments are numbered from 0. Everything from the first unacknowledged to the next new one has
//! a place in a ring. Without loss an acknowledgement costs one step; the scans for loss and for
//! retransmission pass over each segment once.

use incast_transport::{Span, Time};

/// A segment is lost when this many later ones have arrived (RFC 6675, DupThresh).
pub const REORDERING: usize = 3;

const SACKED: u8 = 1;
/// Marked lost, not sent again since.
const LOST: u8 = 2;
/// Sent more than once.
const RESENT: u8 = 4;
const FIRST_PLACES: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Place {
    sent: Time,
    length: u16,
    state: u8,
}

/// The state of all segments in flight.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    ring: Vec<Place>,
    first: u32,
    next: u32,
    pipe: u64,
    lost: u32,
    /// One more than the numbers of the latest segments that arrived selectively, falling.
    highest: [u32; REORDERING],
    /// Segments below were looked at for loss.
    scanned: u32,
    /// No segment below waits to be sent again.
    resend_from: u32,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Scoreboard::starting_at(0)
    }
}

impl Scoreboard {
    /// Nothing in flight; all segments below `first` have been acknowledged.
    pub fn starting_at(first: u32) -> Scoreboard {
        let blank = Place { sent: Time::ZERO, length: 0, state: 0 };
        Scoreboard {
            ring: vec![blank; FIRST_PLACES],
            first,
            next: first,
            pipe: 0,
            lost: 0,
            highest: [0; REORDERING],
            scanned: first,
            resend_from: first,
        }
    }

    /// First segment not acknowledged.
    #[inline]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Next segment never sent.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Payload bytes in flight: sent, not arrived as far as known, not lost.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Segments lost and not sent again yet.
    #[inline]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Whether anything awaits acknowledgement.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    #[inline]
    fn place(&mut self, segment: u32) -> &mut Place {
        let mask = self.ring.len() - 1;
        &mut self.ring[segment as usize & mask]
    }

    /// The next new segment leaves, with `length` payload bytes.
    #[inline]
    pub fn send(&mut self, now: Time, length: u16) -> u32 {
        if (self.next - self.first) as usize == self.ring.len() {
            self.grow();
        }
        let segment = self.next;
        *self.place(segment) = Place { sent: now, length, state: 0 };
        self.next += 1;
        self.pipe += length as u64;
        segment
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.ring.clone();
        self.ring.resize(old.len() * 2, old[0]);
        for segment in self.first..self.next {
            *self.place(segment) = old[segment as usize & (old.len() - 1)];
        }
    }

    /// The lowest lost segment, if any. It stays lost until [`resend`](Scoreboard::resend).
    #[inline]
    pub fn next_lost(&mut self) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        self.resend_from = self.resend_from.max(self.first);
        while self.place(self.resend_from).state & LOST == 0 {
            self.resend_from += 1;
            assert!(self.resend_from < self.next, "a lost segment is in the ring");
        }
        Some(self.resend_from)
    }

    /// The lowest lost segment leaves again. Panics when nothing is lost.
    pub fn resend(&mut self, now: Time) -> u32 {
        let segment = self.next_lost().expect("something is lost");
        let place = self.place(segment);
        place.state = (place.state & !LOST) | RESENT;
        place.sent = now;
        let length = place.length;
        self.lost -= 1;
        self.pipe += length as u64;
        segment
    }

    /// How long ago a segment was sent; `None` when it is not in flight, has arrived, or was sent
    /// more than once, so that an ACK does not say which copy it acknowledges (Karn).
    #[inline]
    pub fn age(&mut self, segment: u32, now: Time) -> Option<Span> {
        if segment < self.first || segment >= self.next {
            return None;
        }
        let place = self.place(segment);
        (place.state & (SACKED | RESENT) == 0).then(|| now.since(place.sent))
    }

    /// How long ago the first unacknowledged segment was sent again; `None` if it was not.
    #[inline]
    pub fn copy_age(&mut self, now: Time) -> Option<Span> {
        if self.is_empty() {
            return None;
        }
        let place = self.place(self.first);
        (place.state & RESENT != 0).then(|| now.since(place.sent))
    }

    /// All segments below `to` are acknowledged; returns their bytes. Panics when some were never
    /// sent.
    #[inline]
    pub fn acknowledge(&mut self, to: u32) -> u64 {
        assert!(to <= self.next, "acknowledged beyond what was sent");
        let mut bytes = 0;
        while self.first < to {
            let Place { length, state, .. } = *self.place(self.first);
            bytes += length as u64;
            if state & LOST != 0 {
                self.lost -= 1;
            } else if state & SACKED == 0 {
                self.pipe -= length as u64;
            }
            self.first += 1;
        }
        debug_assert!(
            !self.is_empty() || (self.pipe, self.lost) == (0, 0),
            "bytes or losses of no segment"
        );
        bytes
    }

    /// A segment has arrived out of order; returns its bytes if that is news.
    pub fn sack(&mut self, segment: u32) -> u64 {
        if segment < self.first || segment >= self.next {
            return 0;
        }
        let place = self.place(segment);
        let Place { length, state, .. } = *place;
        if state & SACKED != 0 {
            return 0;
        }
        place.state = (state & !LOST) | SACKED;
        if state & LOST != 0 {
            self.lost -= 1;
        } else {
            self.pipe -= length as u64;
        }
        let mut number = segment + 1;
        for high in &mut self.highest {
            if number > *high {
                std::mem::swap(&mut number, high);
            }
        }
        length as u64
    }

    /// Marks as lost what has [`REORDERING`] arrived segments behind it and was sent once;
    /// returns how many are lost that were not before.
    pub fn detect(&mut self) -> u32 {
        let frontier = self.highest[REORDERING - 1].saturating_sub(1);
        let before = self.lost;
        let mut segment = self.scanned.max(self.first);
        while segment < frontier {
            self.lose_if(segment, SACKED | LOST | RESENT);
            segment += 1;
        }
        self.scanned = self.scanned.max(frontier);
        debug_assert!(self.lost <= self.next - self.first, "more is lost than was sent");
        self.lost - before
    }

    /// Marks the first unacknowledged segment lost if it was sent once and has not arrived;
    /// returns whether it did.
    pub fn lose_first(&mut self) -> bool {
        !self.is_empty() && self.lose_if(self.first, SACKED | LOST | RESENT)
    }

    /// Marks as lost everything that has not arrived, sent again or not.
    pub fn lose_all(&mut self) {
        for segment in self.first..self.next {
            self.lose_if(segment, SACKED | LOST);
        }
        self.scanned = self.next;
    }

    fn lose_if(&mut self, segment: u32, without: u8) -> bool {
        let place = self.place(segment);
        let Place { length, state, .. } = *place;
        if state & without != 0 {
            return false;
        }
        place.state |= LOST;
        self.lost += 1;
        self.pipe -= length as u64;
        self.resend_from = self.resend_from.min(segment);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;

    fn board(sent: u32) -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..sent).for_each(|_| {
            board.send(Time::ZERO, 100);
        });
        board
    }

    #[test]
    fn three_later_arrivals_make_a_loss() {
        let mut board = board(10);
        board.sack(3);
        board.sack(4);
        assert_eq!(board.detect(), 0, "reordering by two is no loss");
        board.sack(6);
        assert_eq!(board.detect(), 3);
        assert_eq!((board.pipe(), board.lost()), (400, 3));
        assert_eq!(board.resend(Time::ZERO), 0);
        assert_eq!(board.resend(Time::ZERO), 1);
        board.sack(2);
        assert_eq!(board.next_lost(), None, "what arrived after all is not sent again");
        assert_eq!(board.detect(), 0, "what was sent again is not lost by the same arrivals");
        board.sack(7);
        assert_eq!(board.detect(), 0);
        board.sack(9);
        assert_eq!(board.detect(), 1);
        assert_eq!(board.next_lost(), Some(5));
    }

    #[test]
    fn a_timeout_loses_copies_too_but_not_arrivals() {
        let mut board = board(5);
        board.sack(2);
        board.lose_first();
        board.resend(Time::ZERO);
        board.lose_all();
        assert_eq!((board.pipe(), board.lost()), (0, 4));
        let order: Vec<u32> = (0..4).map(|_| board.resend(Time::ZERO)).collect();
        assert_eq!(order, [0, 1, 3, 4]);
        assert_eq!(board.acknowledge(5), 500);
        assert_eq!((board.pipe(), board.lost(), board.is_empty()), (0, 0, true));
    }

    #[test]
    fn ages_follow_karn() {
        let mut board = board(2);
        let now = Time::ZERO + Span::from_us(7);
        assert_eq!(board.age(1, now), Some(Span::from_us(7)));
        board.lose_first();
        board.resend(now);
        assert_eq!(board.age(0, now), None);
        assert_eq!(board.age(2, now), None);
        board.sack(1);
        assert_eq!(board.age(1, now), None);
    }

    #[test]
    fn counts_agree_with_a_plain_recount() {
        for seed in 0..40 {
            let mut random = Random::new(seed, 1, 2);
            let mut board = Scoreboard::default();
            for _ in 0..3_000 {
                match random.below(12) {
                    0..=4 => {
                        board.send(Time::ZERO, 1 + random.below(1_460) as u16);
                    }
                    5 => {
                        let to = board.first
                            + random.below((board.next - board.first + 1) as u64) as u32;
                        board.acknowledge(to);
                    }
                    6..=8 => {
                        board.sack(board.first + random.below(40) as u32);
                        board.detect();
                    }
                    9 if board.next_lost().is_some() => {
                        board.resend(Time::ZERO);
                    }
                    10 => {
                        board.lose_first();
                    }
                    11 if random.below(20) == 0 => board.lose_all(),
                    _ => {}
                }
                let places: Vec<Place> =
                    (board.first..board.next).map(|s| *board.place(s)).collect();
                let lost = places.iter().filter(|p| p.state & LOST != 0).count();
                let flying = places.iter().filter(|p| p.state & (LOST | SACKED) == 0);
                assert_eq!(board.lost as usize, lost);
                assert_eq!(board.pipe, flying.map(|p| p.length as u64).sum::<u64>());
                let lowest = places.iter().position(|p| p.state & LOST != 0);
                assert_eq!(board.next_lost(), lowest.map(|at| board.first + at as u32));
            }
        }
    }
}
