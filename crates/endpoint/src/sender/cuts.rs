//! How what is sent is cut into segments: a flow of its own, or the messages of a connection one behind the other.

use super::{Options, views};
use incast_transport::{Extension, Flow, FlowId, Segments};
use std::collections::VecDeque;

/// The byte that `low` abbreviates, nearest to `near`.
#[inline]
pub(super) fn unwrap(low: u32, near: u64) -> u64 {
    let distance = low.wrapping_sub(near as u32) as i32;
    near.saturating_add_signed(distance as i64)
}

/// The flow with no more than `options` allow in a packet.
pub(super) fn cut(flow: &Flow, options: &Options) -> Flow {
    let segments = flow.segments.at_most(options.max_payload, flow.size);
    Flow { segments, ..flow.clone() }
}

/// Bytes to send, cut into segments that are numbered from 0.
pub(super) trait Cuts {
    /// So many bytes, as far as is known.
    fn size(&self) -> u64;

    /// So many segments, as far as is known.
    fn segments(&self) -> u32;

    /// First byte of a segment; `size` of the one behind the last.
    fn offset(&self, segment: u32) -> u64;

    /// Bytes of a segment.
    fn payload(&self, segment: u32) -> u16;

    /// Bytes of a full segment.
    fn full(&self) -> u16;

    /// Segments that end at or below byte `to`, which lies below `size`. Mostly it is the end of `first` segments or of
    /// one more.
    fn below(&self, to: u64, first: u32) -> u32;

    /// The flow whose packets are being sent.
    fn current(&self) -> &Flow;
}

impl Cuts for Flow {
    #[inline]
    fn size(&self) -> u64 {
        self.size
    }

    fn segments(&self) -> u32 {
        self.packets()
    }

    #[inline]
    fn offset(&self, segment: u32) -> u64 {
        Flow::offset(self, segment).min(self.size)
    }

    #[inline]
    fn payload(&self, segment: u32) -> u16 {
        Flow::payload(self, segment)
    }

    #[inline]
    fn full(&self) -> u16 {
        Flow::payload(self, 0)
    }

    #[inline]
    fn below(&self, to: u64, first: u32) -> u32 {
        match &self.segments {
            // Mostly nothing is divided.
            Segments::Uniform(mss) => match to.wrapping_sub(first as u64 * *mss as u64) {
                0 => first,
                one if one == *mss as u64 => first + 1,
                _ => (to / *mss as u64) as u32,
            },
            Segments::Table(ends) => ends.partition_point(|&end| end <= to) as u32,
        }
    }

    #[inline]
    fn current(&self) -> &Flow {
        self
    }
}

/// A message on a connection.
pub(super) struct Part {
    pub flow: Flow,
    /// Its first segment on the connection, and how many it has.
    first: u32,
    segments: u32,
    /// Its first byte on the connection.
    from: u64,
    /// So many of its bytes have arrived in order, as is known.
    got: u64,
}

impl Part {
    fn segments_end(&self) -> u32 {
        self.first + self.segments
    }

    fn end(&self) -> u64 {
        self.from + self.flow.size
    }

    fn has_arrived(&self) -> bool {
        self.got == self.flow.size
    }
}

/// The messages of a connection, one behind the other. No segment has bytes of two.
#[derive(Default)]
pub(super) struct Stream {
    /// Those of which something is not acknowledged, in order, and at least the latest one.
    parts: VecDeque<Part>,
    full: u16,
    /// The message whose packets were sent last, a place in `parts`.
    sending: usize,
}

/// An ACK of a message, as one of its connection.
#[derive(Debug)]
pub(super) struct Heard {
    /// First byte of the packet that is acknowledged, and the next byte expected, modulo 2^32.
    pub seq: u32,
    pub cumulative: u32,
    /// What the ACK carries, with what has arrived behind a hole of the connection.
    pub extension: Extension,
    /// A message has begun to arrive while some of one before it is missing.
    pub overtakes: bool,
    /// The message has arrived.
    pub complete: bool,
}

impl Stream {
    /// Another message, behind all others.
    pub fn append(&mut self, flow: Flow) {
        let (first, from) = (self.segments(), self.size());
        self.full = self.full.max(Flow::payload(&flow, 0));
        self.parts.push_back(Part { segments: flow.packets(), flow, first, from, got: 0 });
    }

    fn place_of(&self, segment: u32) -> usize {
        self.parts.partition_point(|part| part.segments_end() <= segment)
    }

    /// The message to which a byte belongs that is sent now, and whether the segment that begins there ends it.
    pub fn sends(&mut self, from: u64, payload: u16) -> (&Part, bool) {
        self.sending = self.parts.partition_point(|part| part.end() <= from);
        let part = &self.parts[self.sending];
        (part, from + payload as u64 == part.end())
    }

    /// Messages of which something was never sent, if `next` is the first segment of that kind.
    pub fn unsent(&self, next: u32) -> impl Iterator<Item = FlowId> + '_ {
        self.parts.range(self.place_of(next)..).map(|part| part.flow.id)
    }

    /// How many messages have not arrived, as far as is known.
    pub fn open(&self) -> usize {
        self.parts.iter().filter(|part| !part.has_arrived()).count()
    }

    /// The message that `first`, the first segment that is not acknowledged, is of.
    pub fn oldest(&self, first: u32) -> FlowId {
        let place = self.place_of(first).min(self.parts.len() - 1);
        self.parts[place].flow.id
    }

    /// The world gives a message up, `next` being the first segment never sent: what was sent of it counts as arrived,
    /// the rest is left out.
    pub fn give_up(&mut self, flow: FlowId, next: u32) {
        let mut all = self.parts.iter_mut().skip_while(|part| part.flow.id != flow);
        let Some(part) = all.next() else { return };
        let sent = next.clamp(part.first, part.segments_end()) - part.first;
        let bytes = match sent < part.segments {
            true => Flow::offset(&part.flow, sent),
            false => part.flow.size,
        };
        let (segments, size) = (part.segments - sent, part.flow.size - bytes);
        (part.segments, part.flow.size, part.got) = (sent, bytes, bytes);
        // Of those behind it nothing was sent, if something is left out.
        all.for_each(|part| {
            part.first -= segments;
            part.from -= size;
        });
    }

    /// All before this byte has arrived, as is known.
    pub fn arrived(&self) -> u64 {
        let missing = self.parts.iter().find(|part| !part.has_arrived());
        missing.map_or(self.size(), |part| part.from + part.got)
    }

    /// An ACK of a message has come, `next` being the first segment never sent. None if it is not plausible.
    pub fn hear(
        &mut self,
        flow: FlowId,
        ack: &views::Ack,
        extension: &Extension,
        next: u32,
    ) -> Option<Heard> {
        let place = self.parts.iter().position(|part| part.flow.id == flow)?;
        let part = &mut self.parts[place];
        let near = part.got;
        let (arrived, size) = (unwrap(ack.cumulative, near), part.flow.size);
        // No more arrives than was sent, whatever an ACK says.
        let all_sent = next >= part.segments_end();
        let sent = match all_sent {
            true => size,
            false => Flow::offset(&part.flow, next.saturating_sub(part.first)),
        };
        if arrived > sent {
            return None;
        }
        let got = if ack.complete && all_sent { size } else { near.max(arrived) };
        part.got = got;
        let (from, complete) = (part.from, got == size);
        let of_stream = |low: u32| (from + unwrap(low, near)) as u32;
        let seq = of_stream(ack.acked);
        let cumulative = self.arrived();
        let ahead = from + got > cumulative;
        let before = (ahead && got > 0).then_some((from as u32, (from + got) as u32));
        let own =
            extension.sack_ranges().iter().map(|range| (of_stream(range.0), of_stream(range.1)));
        let mut ranges = [(0, 0); 3];
        let mut count = 0;
        for (place, range) in ranges.iter_mut().zip(before.into_iter().chain(own)) {
            *place = range;
            count += 1;
        }
        let rest =
            if let Extension::Sack { .. } = extension { Extension::None } else { *extension };
        let extension = match count {
            0 => *extension,
            _ => rest.with_sack(&Extension::Sack { count, ranges }),
        };
        let overtakes = ahead && near == 0;
        Some(Heard { seq, cumulative: cumulative as u32, extension, overtakes, complete })
    }

    /// Forgets messages that end below the first segment that is not acknowledged.
    pub fn forget(&mut self, first: u32) {
        while self.parts.len() > 1 && self.parts[0].segments_end() <= first {
            self.parts.pop_front();
            self.sending = self.sending.saturating_sub(1);
        }
    }
}

impl Part {
    /// The byte of the message that is this one of the connection.
    pub fn within(&self, byte: u64) -> u64 {
        byte - self.from
    }
}

impl Cuts for Stream {
    fn size(&self) -> u64 {
        self.parts.back().map_or(0, Part::end)
    }

    fn segments(&self) -> u32 {
        self.parts.back().map_or(0, Part::segments_end)
    }

    fn offset(&self, segment: u32) -> u64 {
        match self.parts.get(self.place_of(segment)) {
            Some(part) => part.from + Flow::offset(&part.flow, segment - part.first),
            None => self.size(),
        }
    }

    fn payload(&self, segment: u32) -> u16 {
        let part = &self.parts[self.place_of(segment)];
        Flow::payload(&part.flow, segment - part.first)
    }

    fn full(&self) -> u16 {
        self.full
    }

    fn below(&self, to: u64, first: u32) -> u32 {
        let place = self.parts.partition_point(|part| part.end() <= to);
        let Some(part) = self.parts.get(place) else { return self.segments() };
        // Of a message that is forgotten all segments are acknowledged.
        let Some(within) = to.checked_sub(part.from) else { return first };
        part.first + Cuts::below(&part.flow, within, first.saturating_sub(part.first))
    }

    fn current(&self) -> &Flow {
        &self.parts[self.sending].flow
    }
}
