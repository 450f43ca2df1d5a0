//! The sending half of one flow, or of one connection: reliability, window, pacing.

use super::control::{Ack, Admission, Control, Loss, Options, Outbound, Progress, Reliability};
use super::cuts::{Cuts, unwrap};
use super::plb::PathKeeper;
use crate::pacer::Pacer;
use crate::rto::Rto;
use crate::scoreboard::{REORDERING, Scoreboard};
use incast_transport::{Bytes, Extension, Flow, Observed, Random, Time, Timers};

/// Whether a flow may send, and if not, why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gate {
    /// Everything was sent and nothing is known to be lost.
    Empty,
    /// The window is full.
    Window,
    /// Not before this instant.
    Pacing(Time),
    /// Yes.
    Open,
}

/// An acknowledgement as decoded, sequence numbers still modulo 2^32.
pub(super) struct DecodedAck<'a> {
    pub seq: u32,
    pub cumulative: u32,
    pub nack: bool,
    pub ece: bool,
    pub mark: u8,
    pub nibble: u8,
    pub window: u16,
    pub extension: &'a Extension,
    pub informed: Time,
}

/// Ranges in one selective acknowledgement.
const SACK_RANGES: usize = 3;

/// What an ACK says about losses.
struct News {
    /// A copy was acknowledged, but not everything.
    partial: bool,
    /// The same byte is expected as before.
    repeated: bool,
    /// Bytes newly known to have arrived beyond a hole.
    sacked: u64,
    /// A request to go back.
    nack: bool,
}

/// A flow's timers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Timer {
    /// Retransmission.
    Recovery,
    /// The pacer.
    Pace,
    /// The congestion control's own.
    Control,
    /// A delayed acknowledgement, at the receiving half.
    Delay,
}

/// What an alarm was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alarm {
    /// Another one took its place.
    Stale,
    /// The retransmission timer expired.
    Timeout,
    /// Anything else.
    Other,
}

/// The sending half of one flow, or of one connection.
pub(super) struct Outgoing<C, F = Flow> {
    pub flow: F,
    pub control: C,
    packets: u32,
    /// Tells the jitter of its timers from that of others.
    number: u32,
    board: Scoreboard,
    rto: Rto,
    pacer: Pacer,
    /// In fast recovery until the segments below `recover` are acknowledged.
    recovering: bool,
    recover: u32,
    /// Segments that left the network by count of duplicate ACKs only (NewReno).
    duplicates: u32,
    /// The first retransmission of a recovery leaves whatever the window (RFC 6675 §5, 4.3).
    forced: bool,
    /// The window was full when this segment was next.
    limited_until: u32,
    /// Segments of ranges taken in lately.
    ranges: [(u32, u32); SACK_RANGES],
    /// When the retransmission timer was started or restarted.
    timer_base: Time,
    /// Whether the flow is in the ring of those that may send.
    pub queued: bool,
    /// What [`gate`](Outgoing::gate) said last. Nothing happens to a flow without asking it again.
    pub gate: Gate,
    /// Its path, if it may change.
    pub keeper: Option<Box<PathKeeper>>,
    /// The earliest alarm set for each of the first three [`Timer`]s.
    pub armed: [Time; 3],
}

impl<C: Control, F: Cuts> Outgoing<C, F> {
    pub fn new(flow: F, number: u32, control: C, options: &Options) -> Outgoing<C, F> {
        Outgoing {
            packets: flow.segments(),
            number,
            flow,
            control,
            board: Scoreboard::default(),
            rto: Rto::new(options.rto),
            pacer: Pacer::new(),
            recovering: false,
            recover: 0,
            duplicates: 0,
            forced: false,
            limited_until: 0,
            ranges: [(0, 0); SACK_RANGES],
            timer_base: Time::ZERO,
            queued: false,
            gate: Gate::Empty,
            keeper: None,
            armed: [Time::NEVER; 3],
        }
    }

    /// As if the segments below `segment` had been delivered already.
    #[cfg(test)]
    pub fn skip_to(&mut self, segment: u32) {
        self.board = Scoreboard::starting_at(segment);
    }

    /// More was put behind what there is.
    pub fn grow(&mut self) {
        self.packets = self.flow.segments();
    }

    /// Some of it was given up, and all before this byte counts as acknowledged.
    pub fn give_up(&mut self, to: u64) {
        self.packets = self.flow.segments();
        let to = self.segments_below(to);
        if to > self.board.first() {
            self.board.acknowledge(to);
        }
    }

    /// First segment never sent.
    pub fn next(&self) -> u32 {
        self.board.next()
    }

    /// First segment not acknowledged.
    pub fn first(&self) -> u32 {
        self.board.first()
    }

    /// Segments that end at or below byte `to`.
    #[inline]
    fn segments_below(&self, to: u64) -> u32 {
        match to >= self.flow.size() {
            true => self.packets,
            false => self.flow.below(to, self.board.first()),
        }
    }

    /// First byte of a segment; the size for the one after the last.
    #[inline]
    fn start_of(&self, segment: u32) -> u64 {
        self.flow.offset(segment)
    }

    /// Where the flow stands.
    #[inline(always)]
    pub fn progress(&self, now: Time) -> Progress {
        Progress {
            now,
            acknowledged: self.start_of(self.board.first()),
            sent: self.start_of(self.board.next()),
            size: self.flow.size(),
            pipe: self.pipe(),
            smoothed_rtt: self.rto.smoothed(),
            recovering: self.recovering,
        }
    }

    #[inline]
    fn pipe(&self) -> u64 {
        if self.duplicates == 0 {
            return self.board.pipe();
        }
        let departed = self.duplicates as u64 * self.flow.full() as u64;
        self.board.pipe().saturating_sub(departed)
    }

    /// Everything was acknowledged.
    #[inline]
    pub fn done(&self) -> bool {
        self.board.first() == self.packets
    }

    // -- sending -------------------------------------------------------------------------------

    /// Whether a packet may leave now. Takes over the congestion control's pacing rate.
    #[inline]
    pub fn gate(&mut self, now: Time, admission: Admission) -> Gate {
        let lost = self.board.lost() > 0;
        if !lost && self.board.next() == self.packets {
            return Gate::Empty;
        }
        let window = self.control.window();
        let fits = self.forced && lost || self.admits(window, admission);
        if !fits {
            self.limited_until = self.board.next();
            return Gate::Window;
        }
        if let Some(rate) = self.control.pacing() {
            self.pacer.retime(rate);
            if self.pacer.next() > now {
                return Gate::Pacing(self.pacer.next());
            }
        }
        Gate::Open
    }

    /// One packet may always be in flight, or a window below a packet would stop the flow.
    #[inline]
    fn admits(&mut self, window: u64, admission: Admission) -> bool {
        let pipe = self.pipe();
        match admission {
            _ if window == 0 => false,
            _ if pipe == 0 => true,
            Admission::Below => pipe < window,
            Admission::Fits => {
                let segment = self.board.next_lost().unwrap_or(self.board.next());
                pipe + self.flow.payload(segment) as u64 <= window
            }
        }
    }

    /// Takes the next packet: the lowest lost segment, else a new one.
    #[inline]
    pub fn take(&mut self, now: Time, mark: u8) -> Outbound {
        let retransmit = self.board.lost() > 0;
        if self.board.is_empty() {
            self.timer_base = now;
        }
        let (segment, payload) = if retransmit {
            self.forced = false;
            let segment = self.board.resend(now);
            if segment == self.board.first() {
                // The timer covers the copy; the rest of the window waits for it.
                self.timer_base = now;
            }
            (segment, self.flow.payload(segment))
        } else {
            let payload = self.flow.payload(self.board.next());
            (self.board.send(now, payload), payload)
        };
        let mut packet = Outbound {
            offset: self.flow.offset(segment),
            payload,
            retransmit,
            mark,
            nibble: 0,
            window: 0,
            extension: Extension::None,
            more: false,
        };
        self.control.on_send(&mut packet, &self.progress(now));
        packet
    }

    /// The packet taken last is `charged` bytes long on a link, and with `more` not the last of its
    /// burst.
    #[inline]
    pub fn paced(&mut self, now: Time, charged: u32, more: bool) {
        if self.control.pacing().is_some() {
            self.pacer.sent_of_burst(now, Bytes(charged as u64), more);
        }
    }

    // -- ACKs ----------------------------------------------------------------------

    /// Processes an ACK; returns whether it is plausible.
    pub fn acknowledge(&mut self, now: Time, decoded: &DecodedAck<'_>, options: &Options) -> bool {
        let before = self.start_of(self.board.first());
        let cumulative = unwrap(decoded.cumulative, before);
        let echo = unwrap(decoded.seq, before);
        let to = self.segments_below(cumulative);
        if to > self.board.next() || (decoded.nack && cumulative < before) {
            return false;
        }
        let limited = self.board.first() < self.limited_until;
        let echoed = if echo < self.flow.size() { self.segments_below(echo) } else { u32::MAX };
        let rtt = self.board.age(echoed, now);
        if let Some(rtt) = rtt {
            self.rto.sample(rtt);
        }
        // An ACK younger than any RTT is not of the copy but of a late original.
        let repaired = self.board.copy_age(now).is_some_and(|age| age >= self.rto.least());
        let bytes = if to > self.board.first() { self.advance(now, to) } else { 0 };
        let partial = repaired && bytes > 0;
        let sacked = match options.reliability {
            Reliability::Sack => self.sack(echoed, decoded.extension),
            _ => 0,
        };
        let news = News { partial, repeated: cumulative == before, sacked, nack: decoded.nack };
        if self.find_losses(&news, options.reliability) {
            let progress = self.progress(now);
            self.control.on_loss(Loss::Fast, &progress);
        }
        let ack = Ack {
            bytes,
            sacked,
            echo,
            ece: decoded.ece,
            nack: decoded.nack,
            mark: decoded.mark,
            nibble: decoded.nibble,
            window: decoded.window,
            rtt,
            limited,
            extension: decoded.extension,
            informed: decoded.informed,
            path: 0,
        };
        let progress = self.progress(now);
        self.control.on_ack(&ack, &progress);
        true
    }

    /// Segments below `to` are acknowledged.
    #[inline]
    fn advance(&mut self, now: Time, to: u32) -> u64 {
        let segments = to - self.board.first();
        // All but the one that filled the hole had been counted as duplicates.
        self.duplicates = self.duplicates.saturating_sub(segments - 1);
        self.timer_base = now;
        self.rto.progressed();
        self.board.acknowledge(to)
    }

    /// An ACK, which echoed a mark or not, may move the flow to another path.
    #[inline]
    pub fn keep_path(&mut self, now: Time, marked: bool, random: &mut Random) {
        if self.keeper.is_some() {
            let (congested, progress) = (self.control.congested(marked), self.progress(now));
            let Some(keeper) = &mut self.keeper else { return };
            keeper.heard(congested, &progress, random);
        }
    }

    /// Marks what arrived beyond a hole; returns its bytes.
    #[inline]
    fn sack(&mut self, echoed: u32, extension: &Extension) -> u64 {
        let mut bytes = self.board.sack(echoed);
        let near = self.start_of(self.board.first());
        for &(from, to) in extension.sack_ranges() {
            let (from, to) = (unwrap(from, near), unwrap(to, near));
            let past = self.segments_below(to).min(self.board.next());
            let first = self.segments_below(from).max(self.board.first());
            // Ranges repeat from ACK to ACK; only what they grew by is news.
            let known = self.ranges.iter().find(|r| r.0 == first && r.1 <= past);
            for segment in known.map_or(first, |r| r.1)..past {
                bytes += self.board.sack(segment);
            }
            if first < past {
                self.ranges.rotate_right(1);
                self.ranges[0] = (first, past);
            }
        }
        bytes
    }

    /// Loss detection and recovery state; returns whether a recovery begins.
    #[inline]
    fn find_losses(&mut self, news: &News, reliability: Reliability) -> bool {
        if self.recovering && self.board.first() >= self.recover {
            self.recovering = false;
            self.duplicates = 0;
        }
        match reliability {
            Reliability::Sack if news.sacked > 0 => {
                self.board.detect();
            }
            Reliability::NewReno if news.repeated && !self.board.is_empty() => {
                self.duplicates += 1;
                // RFC 6582 §3.2: not again for the same window, nor after a timeout.
                let fresh = self.board.first() >= self.recover && !self.recovering;
                if self.duplicates as usize == REORDERING && fresh {
                    self.board.lose_first();
                }
            }
            Reliability::GoBackN { .. } => {
                if news.nack {
                    self.board.lose_all();
                }
                return news.nack && !self.board.is_empty();
            }
            _ => {}
        }
        if self.recovering {
            if news.partial {
                // The copy arrived and what was sent before the recovery began is still missing:
                // it was lost too (RFC 6582 §3.2).
                let lost = self.board.lose_first();
                self.forced |= lost && reliability == Reliability::NewReno;
            }
            return false;
        }
        // A loss above `recover` that was found while recovering begins the next recovery. After a
        // timeout everything up to `recover` is being sent again anyway.
        if self.board.lost() > 0 && self.board.first() >= self.recover {
            self.recovering = true;
            self.recover = self.board.next();
            self.forced = true;
            return true;
        }
        false
    }

    // -- timers --------------------------------------------------------------------------------

    /// When a timer is due.
    #[inline]
    pub fn due(&self, timer: Timer, timers: &Timers) -> Time {
        match timer {
            Timer::Recovery if self.board.is_empty() => Time::NEVER,
            Timer::Recovery => {
                let which = (self.number as u64) << 8 | u64::from(self.rto.doublings());
                timers.due(self.timer_base, self.rto.timeout(), which)
            }
            Timer::Control => self.control.deadline(),
            Timer::Pace => self.pacer.next(),
            Timer::Delay => Time::NEVER,
        }
    }

    /// The alarm of a timer that was set for `at`.
    #[inline]
    pub fn alarm(&mut self, now: Time, at: Time, timer: Timer, timers: &Timers) -> Alarm {
        if self.armed[timer as usize] != at {
            return Alarm::Stale;
        }
        self.armed[timer as usize] = Time::NEVER;
        if self.due(timer, timers) > now {
            return Alarm::Other;
        }
        match timer {
            Timer::Recovery => {
                self.timeout(now);
                return Alarm::Timeout;
            }
            Timer::Control => {
                let progress = self.progress(now);
                self.control.on_deadline(&progress);
                let next = self.control.deadline();
                assert!(next > now, "the timer of a congestion control moves on");
            }
            Timer::Pace | Timer::Delay => {}
        }
        Alarm::Other
    }

    /// What is to be seen of it.
    pub fn observe(&self, now: Time, timers: &Timers) -> Observed {
        Observed {
            window: Some(self.control.window()).filter(|window| *window < u64::MAX),
            rate: self.control.pacing(),
            in_flight: Some(self.progress(now).pipe),
            timer: Some(self.due(Timer::Recovery, timers)),
            ..Observed::default()
        }
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to 5.7, RFC 6675 §5.1).
    fn timeout(&mut self, now: Time) {
        let progress = self.progress(now);
        self.control.on_loss(Loss::Timeout, &progress);
        self.rto.expired();
        self.board.lose_all();
        self.recovering = false;
        self.recover = self.board.next();
        self.duplicates = 0;
        self.forced = true;
        self.timer_base = now;
    }
}
