//! One control of the common sender, call by call.

use crate::MSS;
use incast_endpoint::sender::{Ack, Arriving, Control, Loss, Message, Outbound, Progress};
use incast_transport::{Extension, Packet, Span, Time};

/// The ACK of one full segment, of which nothing else is said.
pub fn plain_ack(extension: &Extension) -> Ack<'_> {
    Ack {
        bytes: MSS,
        sacked: 0,
        echo: 0,
        ece: false,
        nack: false,
        mark: 0,
        nibble: 0,
        window: 0,
        rtt: None,
        limited: true,
        extension,
        informed: Time::ZERO,
        path: 0,
    }
}

/// A flow that has been going on for a while.
pub fn progress(now: Time, rtt: Option<Span>) -> Progress {
    Progress {
        now,
        acknowledged: 1_000_000,
        sent: 2_000_000,
        size: 1 << 40,
        pipe: 1_000_000,
        smoothed_rtt: rtt,
        recovering: false,
    }
}

/// A data packet that is about to leave.
pub fn outbound(offset: u64, payload: u16) -> Outbound {
    Outbound {
        offset,
        payload,
        retransmit: false,
        mark: 0,
        nibble: 0,
        window: 0,
        extension: Extension::None,
        more: false,
    }
}

/// A packet of byte 0 that comes to the receiving half for the first time.
pub fn arriving<'a>(now: Time, packet: &'a Packet, extension: &'a Extension) -> Arriving<'a> {
    Arriving { now, offset: 0, packet, extension, informed: Time::ZERO, new: true }
}

/// A control, called as the sender would call it for an endless flow that is in flight as far as
/// its window allows.
pub struct ControlDriver<C: Control> {
    /// What is driven.
    pub control: C,
    /// The present.
    pub now: Time,
    /// Bytes acknowledged so far.
    pub acknowledged: u64,
    /// Bytes in flight; whole segments of the window if not said.
    pub pipe: Option<u64>,
    /// Whether ACKs come during recovery.
    pub recovering: bool,
    /// Whether the window holds the flow back.
    pub limited: bool,
    /// The round trip that ACKs measure.
    pub rtt: Option<Span>,
    /// Payload bytes of a full segment.
    pub mss: u64,
}

impl<C: Control> ControlDriver<C> {
    /// At the beginning of the run.
    pub fn new(control: C) -> ControlDriver<C> {
        ControlDriver {
            control,
            now: Time::ZERO,
            acknowledged: 0,
            pipe: None,
            recovering: false,
            limited: true,
            rtt: None,
            mss: MSS,
        }
    }

    /// How the flow stands.
    pub fn progress(&self) -> Progress {
        let pipe = self.pipe.unwrap_or_else(|| self.control.window() / self.mss * self.mss);
        Progress {
            now: self.now,
            acknowledged: self.acknowledged,
            sent: self.acknowledged + pipe,
            size: u64::MAX,
            pipe,
            smoothed_rtt: None,
            recovering: self.recovering,
        }
    }

    /// The ACK of the next segment, with or without the echo of a mark.
    pub fn ack(&mut self, ece: bool) {
        let echo = self.acknowledged;
        self.acknowledged += self.mss;
        self.ack_with(Ack { echo, ece, ..plain_ack(&Extension::None) });
    }

    /// An ACK that says this; the round trip and whether the window holds the flow back are the
    /// driver's.
    pub fn ack_with(&mut self, ack: Ack<'_>) {
        let progress = self.progress();
        self.control.on_ack(&Ack { rtt: self.rtt, limited: self.limited, ..ack }, &progress);
    }

    /// A packet that acknowledges nothing comes, with information of this instant.
    pub fn message(&mut self, packet: &Packet) {
        let progress = self.progress();
        let (extension, informed) = (&Extension::None, self.now);
        self.control.on_message(&Message { packet, extension, informed }, &progress);
    }

    /// Something was lost.
    pub fn lose(&mut self, loss: Loss) {
        let progress = self.progress();
        self.control.on_loss(loss, &progress);
    }

    /// A packet from byte `offset` on leaves; what the control wrote into it.
    pub fn send(&mut self, offset: u64, payload: u16) -> Outbound {
        let mut packet = outbound(offset, payload);
        let progress = self.progress();
        self.control.on_send(&mut packet, &progress);
        packet
    }

    /// Lets time pass, with the timers that fall due.
    pub fn pass(&mut self, span: Span) {
        let end = self.now + span;
        while self.control.deadline() <= end {
            self.now = self.control.deadline();
            let progress = self.progress();
            self.control.on_deadline(&progress);
            assert!(self.control.deadline() > self.now, "a timer in the past");
        }
        self.now = end;
    }
}
