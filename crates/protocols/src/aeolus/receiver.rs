//! Destinations: acknowledge unscheduled packets and probes, and tell when a first round is over.

use crate::homa::{Receivers, control};
use incast_endpoint::first_round::views::{Ack, Probe, ProbeAck};
use incast_endpoint::outbox::Outbox;
use incast_transport::{FlowId, HostId, Span, Time};
use std::collections::VecDeque;

/// Probes that have arrived, until what they tell is certain.
pub struct Probed {
    grace: Span,
    /// When, whose, and how many unscheduled packets were sent. All wait equally long.
    waiting: VecDeque<(Time, FlowId, u32)>,
}

impl Probed {
    /// None yet.
    pub fn new(grace: Span) -> Probed {
        Probed { grace, waiting: VecDeque::new() }
    }

    /// An unscheduled packet arrived, and its receiver has seen it.
    pub fn data(
        &self,
        receivers: &Receivers,
        outbox: &mut Outbox,
        flow: FlowId,
        src: HostId,
        seq: u32,
        now: Time,
    ) {
        // A message that is complete was answered with its finish.
        if let Some(cumulative) = receivers.lowest_missing(flow) {
            outbox.push(control(flow, src, Ack { packet: seq, cumulative }, now));
        }
    }

    /// A probe of a message arrived from its source.
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

    /// When the next of them is certain.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |&(at, ..)| at)
    }

    /// What is missing of first rounds is lost.
    pub fn wake(&mut self, receivers: &mut Receivers, outbox: &mut Outbox, now: Time) {
        while self.deadline() <= now {
            let Some((_, flow, sent)) = self.waiting.pop_front() else { return };
            receivers.blind_over(flow, sent, now, outbox);
        }
    }
}
