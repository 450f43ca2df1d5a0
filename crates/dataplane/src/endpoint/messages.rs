//! The bytes of messages: what flows lend, and what arrives.

use crate::Payload;
use bytes::Bytes;
use incast_transport::{FlowId, Span};
use std::collections::HashMap;

/// A message of this endpoint. Numbers do not return.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(pub u64);

/// Bounds of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of one message, below 4 GiB. A longer one is not taken, and given up where it arrives.
    pub message: usize,
    /// Bytes that are on their way, heads included. A single message may be longer.
    pub queued: usize,
    /// Messages that are on their way, and requests that wait for their reply.
    pub messages: usize,
    /// Bytes of messages that are arriving. What does not fit is given up; its source is told
    /// nothing and fails.
    pub arriving: usize,
    /// Messages that are arriving.
    pub arrivals: usize,
    /// A message fails if nothing is heard of its destination for so long.
    pub silence: Span,
    /// A message fails if nothing is heard of it for so long, though its destination is alive: it
    /// may have to wait for others. A message that arrives is given up likewise.
    pub stall: Span,
    /// A request fails if its reply does not come for so long after its delivery.
    pub reply: Span,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            message: 64 << 20,
            queued: 16 << 20,
            messages: 1 << 16,
            arriving: 256 << 20,
            arrivals: 1 << 16,
            silence: Span::from_secs(2),
            stall: Span::from_secs(10),
            reply: Span::from_secs(10),
        }
    }
}

/// Bytes in front of every message: version, kind, two spare, the length of the body (4), and a
/// number (8) that says which request this is, or which it answers.
pub(super) const HEAD: usize = 16;
/// First byte of every message.
const VERSION: u8 = 1;

/// What a message is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Message,
    Request,
    Reply,
}

const KINDS: [Kind; 3] = [Kind::Message, Kind::Request, Kind::Reply];

/// The head of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub kind: Kind,
    pub number: u64,
    pub length: u32,
}

impl Head {
    fn write(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        (bytes[0], bytes[1]) = (VERSION, self.kind as u8);
        bytes[4..8].copy_from_slice(&self.length.to_be_bytes());
        bytes[8..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// Reads the head of a message that is complete. `None` if it is none.
    fn read(bytes: &[u8]) -> Option<Head> {
        let (head, body) = bytes.split_first_chunk::<HEAD>()?;
        let kind = *KINDS.get(head[1] as usize)?;
        let length = u32::from_be_bytes(head[4..8].try_into().expect("four bytes"));
        let number = u64::from_be_bytes(head[8..].try_into().expect("eight bytes"));
        let fits = head[0] == VERSION && head[2..4] == [0, 0] && length as usize == body.len();
        fits.then_some(Head { kind, number, length })
    }
}

/// A message that is being sent.
pub(super) struct Outgoing {
    pub id: MessageId,
    pub kind: Kind,
    head: [u8; HEAD],
    body: Bytes,
}

impl Outgoing {
    pub fn new(id: MessageId, kind: Kind, number: u64, body: Bytes) -> Outgoing {
        let length = u32::try_from(body.len()).expect("a message is shorter than 4 GiB");
        Outgoing { id, kind, head: Head { kind, number, length }.write(), body }
    }

    /// Bytes on the wire.
    pub fn size(&self) -> usize {
        HEAD + self.body.len()
    }
}

/// All messages of an endpoint that are on their way.
pub(super) struct Messages {
    limits: Limits,
    pub outgoing: HashMap<FlowId, Outgoing>,
    /// Bytes of them.
    pub queued: usize,
    arriving: HashMap<FlowId, Vec<u8>>,
    /// Bytes of memory for them.
    held: usize,
    /// Flows that bring more than there is room for.
    pub refused: Vec<FlowId>,
    /// The first packet of a message: its head and what follows.
    first: Vec<u8>,
}

impl Messages {
    pub fn new(limits: Limits) -> Messages {
        Messages {
            limits,
            outgoing: HashMap::new(),
            queued: 0,
            arriving: HashMap::new(),
            held: 0,
            refused: vec![],
            first: vec![],
        }
    }

    /// Adds a message that a flow sends.
    pub fn add(&mut self, flow: FlowId, message: Outgoing) {
        self.queued += message.size();
        self.outgoing.insert(flow, message);
    }

    /// Takes a message out that was sent, or will not be.
    pub fn take(&mut self, flow: FlowId) -> Option<Outgoing> {
        let message = self.outgoing.remove(&flow)?;
        self.queued -= message.size();
        Some(message)
    }

    /// A flow has arrived: the head and body of its message. `None` if it is no message.
    pub fn complete(&mut self, flow: FlowId) -> Option<(Head, Bytes)> {
        let bytes = self.discard(flow)?;
        let head = Head::read(&bytes)?;
        Some((head, Bytes::from(bytes).slice(HEAD..)))
    }

    /// Takes out what has arrived of a flow.
    pub fn discard(&mut self, flow: FlowId) -> Option<Vec<u8>> {
        let bytes = self.arriving.remove(&flow)?;
        self.held -= bytes.len();
        Some(bytes)
    }

    /// Messages of which something has arrived, and the memory for them.
    pub fn arriving(&self) -> (usize, usize) {
        (self.arriving.len(), self.held)
    }
}

impl Payload for Messages {
    fn lend(&mut self, flow: FlowId, offset: u64, length: usize) -> &[u8] {
        let Some(message) = self.outgoing.get(&flow) else { return &[] };
        let body = |from: usize, to: usize| {
            let end = message.body.len();
            &message.body[from.min(end)..to.min(end)]
        };
        let from = offset as usize;
        if from >= HEAD {
            return body(from - HEAD, from - HEAD + length);
        }
        self.first.clear();
        self.first.extend_from_slice(&message.head[from..(from + length).min(HEAD)]);
        let rest = length - self.first.len();
        self.first.extend_from_slice(body(0, rest));
        &self.first
    }

    fn deliver(&mut self, flow: FlowId, offset: u64, bytes: &[u8]) {
        let end = offset.saturating_add(bytes.len() as u64);
        let most = (self.limits.message + HEAD) as u64;
        let known = self.arriving.get(&flow).map_or(0, Vec::len);
        let more = (end as usize).saturating_sub(known);
        if end > most || self.held + more > self.limits.arriving {
            self.refused.push(flow);
            return;
        }
        let message = self.arriving.entry(flow).or_default();
        if more > 0 {
            message.resize(end as usize, 0);
            self.held += more;
        }
        message[offset as usize..end as usize].copy_from_slice(bytes);
    }
}

/// The last messages of another host, so that none is delivered twice, however late a copy of its
/// packets comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Number of the newest.
    newest: u32,
    /// Which of the numbers up to the newest have been delivered; bit 0 is the newest.
    seen: u128,
}

impl Window {
    /// Of a host of which nothing was delivered before its message `number`.
    pub fn new(number: u32) -> Window {
        Window { newest: number, seen: 1 }
    }

    /// Whether message `number` is new; notes it. A number far from the newest is that of a host
    /// that has started again.
    pub fn insert(&mut self, number: u32) -> bool {
        // Numbers have 30 bits.
        let ahead = (number.wrapping_sub(self.newest) << 2) as i32 >> 2;
        match ahead {
            1..=127 => {
                self.seen = self.seen << ahead | 1;
                self.newest = number;
                true
            }
            -127..=0 => {
                let bit = 1 << -ahead;
                let new = self.seen & bit == 0;
                self.seen |= bit;
                new
            }
            _ => {
                *self = Window::new(number);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;

    fn body(length: usize) -> Bytes {
        (0..length).map(|at| (at * 7 + at / 251) as u8).collect::<Vec<u8>>().into()
    }

    #[test]
    fn a_message_is_lent_and_put_together_in_any_order() {
        for length in [0, 1, 1_443, 1_444, 1_445, 100_000] {
            let limits = Limits { message: 100_000, ..Limits::default() };
            let mut from = Messages::new(limits);
            let mut to = Messages::new(limits);
            let (there, here) = (FlowId(3), FlowId(9));
            from.add(there, Outgoing::new(MessageId(1), Kind::Request, 77, body(length)));
            let size = from.queued;
            assert_eq!(size, length + HEAD);
            let mut cuts: Vec<usize> = (0..size).step_by(1_460).collect();
            let mut random = Random::new(length as u64, 0, 0);
            (1..cuts.len()).for_each(|at| cuts.swap(at, random.below(at as u64 + 1) as usize));
            for cut in cuts {
                let bytes = from.lend(there, cut as u64, 1_460.min(size - cut)).to_vec();
                to.deliver(here, cut as u64, &bytes);
            }
            let (head, arrived) = to.complete(here).unwrap();
            assert_eq!(head, Head { kind: Kind::Request, number: 77, length: length as u32 });
            assert_eq!(arrived, body(length));
            assert!(from.take(there).is_some());
            assert_eq!((from.queued, to.arriving()), (0, (0, 0)));
        }
    }

    #[test]
    fn what_is_too_long_or_no_message_is_refused() {
        let limits = Limits { message: 1_000, arriving: 2_000, ..Limits::default() };
        let mut messages = Messages::new(limits);
        for offset in [1_017, u64::MAX, 1 << 40] {
            messages.deliver(FlowId(1), offset, &[1]);
        }
        assert_eq!((messages.refused.len(), messages.arriving()), (3, (0, 0)));
        messages.deliver(FlowId(1), 1_015, &[1]);
        messages.deliver(FlowId(2), 983, &[1]);
        assert_eq!(messages.arriving(), (2, 2_000));
        messages.deliver(FlowId(3), 0, &[1]);
        assert_eq!(messages.refused.len(), 4);
        assert!(messages.complete(FlowId(1)).is_none(), "no head");
        messages.deliver(FlowId(4), 0, &[1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert!(messages.complete(FlowId(4)).is_none(), "an unknown kind");
    }

    #[test]
    fn a_message_is_delivered_once() {
        let mut window = Window::new(5);
        assert!([6, 8, 7, 3].iter().all(|number| window.insert(*number)));
        assert!([5, 6, 7, 8, 3].iter().all(|number| !window.insert(*number)));
        assert!(window.insert(100) && !window.insert(5) && window.insert(4));
        // The numbers begin again; the host begins again elsewhere.
        let mut window = Window::new((1 << 30) - 2);
        assert!(window.insert(1) && window.insert((1 << 30) - 1));
        assert!(!window.insert((1 << 30) - 1) && !window.insert(1));
        assert!(window.insert(5_000) && window.insert(1));
    }
}
