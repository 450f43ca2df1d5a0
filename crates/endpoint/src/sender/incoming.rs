//! The receiving half of one flow: reassembly and ACKs.

use super::control::{AckFields, Arriving, Feedback, Notification, Options, Reliability};
use super::cuts::unwrap;
use super::views::{Ack, GoBack, OpenAck};
use crate::reassembly::{Arrival, Reassembly};
use incast_transport::{Header, HostId, Time};

/// The kinds of reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Ack,
    /// Of the packet that completes the flow, or of a later copy.
    LastAck,
    GoBack,
    OpenAck,
}

/// A reply that waits for the NIC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub form: Form,
    pub fields: AckFields,
    /// First byte of the packet acknowledged.
    pub seq: u32,
    pub cumulative: u32,
    pub informed: Time,
}

impl Reply {
    #[inline]
    pub fn header(&self) -> Header {
        let Reply { form, fields, seq: acked, cumulative, .. } = *self;
        let AckFields { ece: marked, window, nibble, .. } = fields;
        match form {
            Form::GoBack => GoBack { acked, cumulative, marked }.into(),
            Form::OpenAck => OpenAck { acked, cumulative, window, nibble }.into(),
            Form::Ack | Form::LastAck => {
                let complete = form == Form::LastAck;
                Ack { acked, cumulative, window, nibble, marked, complete }.into()
            }
        }
    }
}

/// What a data packet leads to.
pub(super) struct Received {
    /// The payload is new.
    pub new: bool,
    /// It was the last that was missing.
    pub complete: bool,
    /// The ACK of earlier packets, which may wait no longer.
    pub flushed: Option<Reply>,
    /// The reply to this packet.
    pub reply: Option<Reply>,
    pub notification: Option<Notification>,
}

/// The receiving half of one flow.
pub(super) struct Incoming<F> {
    pub source: HostId,
    feedback: F,
    bytes: Reassembly,
    /// Where the flow ends, once its last packet was seen.
    end: Option<u64>,
    /// What was requested again, and when.
    requested: Option<(u64, Time)>,
    /// Packets received since the last ACK, and the ACK they wait for.
    pending: u8,
    pub delayed: Option<Reply>,
    pub delayed_until: Time,
    pub armed: Time,
}

impl<F: Feedback> Incoming<F> {
    pub fn new(source: HostId, feedback: F) -> Incoming<F> {
        Incoming {
            source,
            feedback,
            bytes: Reassembly::new(),
            end: None,
            requested: None,
            pending: 0,
            delayed: None,
            delayed_until: Time::NEVER,
            armed: Time::NEVER,
        }
    }

    /// As if the bytes below `next` had arrived already.
    #[cfg(test)]
    pub fn skip_to(&mut self, next: u64) {
        self.bytes = Reassembly::starting_at(next);
    }

    /// The byte that the packet's sequence number stands for.
    #[inline]
    pub fn offset_of(&self, seq: u32) -> u64 {
        unwrap(seq, self.bytes.next())
    }

    /// A data packet with this sequence number arrived; `last` says that it is the flow's last.
    /// Whether its payload is new is for this half to say.
    #[inline]
    pub fn receive(
        &mut self,
        mut arriving: Arriving<'_>,
        seq: u32,
        last: bool,
        options: &Options,
    ) -> Received {
        let Arriving { now, offset, informed, .. } = arriving;
        let to = offset + arriving.packet.payload as u64;
        let go_back = matches!(options.reliability, Reliability::GoBackN { .. });
        let beyond = offset > self.bytes.next();
        let arrival = match go_back && beyond {
            true => Arrival::Beyond,
            false => self.bytes.insert(offset, to),
        };
        if last {
            self.end = Some(to);
        }
        let new = arrival != Arrival::Duplicate && !(go_back && beyond);
        let complete = new && self.end == Some(self.bytes.next());
        arriving.new = new;
        // The reply is written where it stays: it has room for telemetry and is long.
        let form = if complete { Form::LastAck } else { Form::Ack };
        let blank = Some(self.reply(form, seq));
        let (flushed, notification) = (None, None);
        let mut received = Received { new, complete, flushed, reply: blank, notification };
        let Some(reply) = &mut received.reply else { unreachable!("set above") };
        received.notification = self.feedback.on_data(&arriving, &mut reply.fields);
        reply.informed = reply.fields.informed.unwrap_or(informed);
        if let Reliability::GoBackN { again } = options.reliability {
            if beyond {
                let next = self.bytes.next();
                let recently = |(byte, at): (u64, Time)| byte == next && now.since(at) < again;
                if self.requested.is_some_and(recently) {
                    received.reply = None;
                } else {
                    self.requested = Some((next, now));
                    reply.form = Form::GoBack;
                }
                return received;
            }
        } else if options.reliability == Reliability::Sack && self.bytes.has_holes() {
            reply.fields.extension = reply.fields.extension.with_sack(&self.bytes.sack());
        }
        if options.delayed_ack.is_some() {
            let prompt = complete || arrival != Arrival::InOrder { filled: false };
            let prompt = prompt || self.bytes.has_holes();
            let reply = *reply;
            self.delay(now, reply, prompt, &mut received, options);
        }
        received
    }

    /// A reply without fields.
    #[inline]
    fn reply(&self, form: Form, seq: u32) -> Reply {
        let (fields, cumulative) = (AckFields::default(), self.bytes.next() as u32);
        Reply { form, fields, seq, cumulative, informed: Time::ZERO }
    }

    /// RFC 8257 §3.2: a change of the mark is acknowledged at once, after the packets before it.
    fn delay(
        &mut self,
        now: Time,
        mut reply: Reply,
        prompt: bool,
        received: &mut Received,
        options: &Options,
    ) {
        let rule = options.delayed_ack.expect("acknowledgements are delayed");
        match self.delayed.take() {
            Some(waiting) if waiting.fields.ece != reply.fields.ece => {
                received.flushed = Some(waiting);
                self.pending = 0;
            }
            Some(waiting) => {
                self.feedback.join(&waiting.fields, &mut reply.fields);
                received.reply = Some(reply);
            }
            None => {}
        }
        self.pending += 1;
        if prompt || self.pending >= rule.count {
            self.pending = 0;
            self.delayed_until = Time::NEVER;
            return;
        }
        if self.pending == 1 {
            self.delayed_until = now.saturating_add(rule.timeout);
        }
        self.delayed = Some(reply);
        received.reply = None;
    }

    /// The wait for another packet is over.
    pub fn delay_over(&mut self) -> Option<Reply> {
        self.pending = 0;
        self.delayed_until = Time::NEVER;
        self.delayed.take()
    }

    /// A request arrived.
    pub fn request(&mut self, arriving: &Arriving<'_>, seq: u32) -> Reply {
        let mut reply = self.reply(Form::OpenAck, seq);
        self.feedback.on_request(arriving, &mut reply.fields);
        reply.informed = reply.fields.informed.unwrap_or(arriving.informed);
        reply
    }
}
