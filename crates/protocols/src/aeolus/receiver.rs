//! Destinations: acknowledge unscheduled packets and probes, and end first rounds.

use crate::homa::{Receivers, control};
use incast_endpoint::first_round::views::{Ack, Probe, ProbeAck};
use incast_endpoint::outbox::Outbox;
use incast_transport::{FlowId, HostId, Span, Time};
use std::collections::VecDeque;

/// Probes that have arrived and whose grace time is not over.
pub struct Probed {
    grace: Span,
    /// End of the grace time, flow, and number of unscheduled packets sent. The grace time is the
    /// same for all, so the queue is sorted.
    waiting: VecDeque<(Time, FlowId, u32)>,
}

impl Probed {
    /// An empty queue.
    pub fn new(grace: Span) -> Probed {
        Probed { grace, waiting: VecDeque::new() }
    }

    /// Acknowledges an unscheduled packet that Homa's receiver has already handled.
    pub fn data(
        &self,
        receivers: &Receivers,
        outbox: &mut Outbox,
        flow: FlowId,
        src: HostId,
        seq: u32,
        now: Time,
    ) {
        // A complete message was acknowledged by its `Finish`.
        if let Some(cumulative) = receivers.lowest_missing(flow) {
            outbox.push(control(flow, src, Ack { packet: seq, cumulative }, now));
        }
    }

    /// Handles the arrival of a probe.
    pub fn probe(
        &mut self,
        receivers: &mut Receivers,
        outbox: &mut Outbox,
        flow: FlowId,
        src: HostId,
        Probe { packets, sent }: Probe,
        now: Time,
    ) {
        if !receivers.announced(flow, src, packets, now, outbox) {
            return;
        }
        let cumulative = receivers.lowest_missing(flow).expect("it was announced");
        outbox.push(control(flow, src, ProbeAck { sent, cumulative }, now));
        if self.grace == Span::ZERO {
            return receivers.blind_over(flow, sent, now, outbox);
        }
        self.waiting.push_back((now.saturating_add(self.grace), flow, sent));
    }

    /// The end of the earliest grace time.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |&(at, ..)| at)
    }

    /// Ends first rounds whose grace time is over: their missing packets are lost.
    pub fn wake(&mut self, receivers: &mut Receivers, outbox: &mut Outbox, now: Time) {
        while self.deadline() <= now {
            let Some((_, flow, sent)) = self.waiting.pop_front() else { return };
            receivers.blind_over(flow, sent, now, outbox);
        }
    }
}
