//! The receiving side of one flow: what is missing, and for which packet the next token is.

use super::params::Terms;
use incast_endpoint::receiver_driven::Arrivals;
use incast_transport::{FlowId, HostId, Time};

/// The receiving side of one flow.
pub(super) struct Incoming {
    pub id: FlowId,
    pub src: HostId,
    /// Flows that are older come first.
    pub order: u32,
    pub arrivals: Arrivals,
    /// Packets that have arrived, each once.
    pub arrived: u32,
    /// Offset of the packet that came last: headers carry offsets modulo 2^32.
    offset: u64,
    /// Packets of the flow; 0 until it is announced.
    pub packets: u32,
    /// It takes part in matchings.
    pub long: bool,
    /// When a short one does.
    pub downgrade: Time,
    pub armed: Time,
    /// Tokens given so far.
    issued: u32,
    /// One more than the highest number of a token that came back with data.
    seen: u32,
    last_token: Time,
    /// The next token is for the first packet from here on that is missing.
    next: u32,
    /// Every missing packet has a token; no other before.
    pub paused_until: Time,
}

impl Incoming {
    /// Of which a first packet comes.
    pub fn new(id: FlowId, src: HostId, order: u32) -> Incoming {
        Incoming {
            id,
            src,
            order,
            arrivals: Arrivals::new(),
            arrived: 0,
            offset: 0,
            packets: 0,
            long: false,
            downgrade: Time::NEVER,
            armed: Time::NEVER,
            issued: 0,
            seen: 0,
            last_token: Time::ZERO,
            next: 0,
            paused_until: Time::ZERO,
        }
    }

    /// Packets that are missing.
    pub fn remaining(&self) -> u32 {
        self.packets.saturating_sub(self.arrived)
    }

    /// Whether it may be given a token or a channel now.
    pub fn wants(&self, now: Time) -> bool {
        self.long && self.remaining() > 0 && self.paused_until <= now
    }

    /// The number and the packet of a token, if one may be given on so many channels.
    pub fn token(&mut self, now: Time, terms: &Terms, channels: u32) -> Option<(u32, u32)> {
        let window = (terms.token_window as u64 * channels as u64 / terms.channels as u64) as u32;
        if self.issued - self.seen > window {
            if now < self.last_token.saturating_add(terms.window_timeout) {
                return None;
            }
            // They are lost: as if all but a window had come back.
            self.seen = self.issued - window;
        }
        if self.missing_from(self.next).is_none() {
            // What was missing from there on came without a token, or long after its own.
            self.next = 0;
            self.paused_until = self.last_token.saturating_add(terms.resend_timeout);
            if self.paused_until > now {
                return None;
            }
        }
        let packet = self.missing_from(self.next)?;
        let number = self.issued;
        self.issued += 1;
        self.last_token = now;
        self.next = packet + 1;
        if self.missing_from(self.next).is_none() {
            self.next = 0;
            self.paused_until = now.saturating_add(terms.resend_timeout);
        }
        Some((number, packet))
    }

    /// Tokens under way.
    #[cfg(test)]
    pub fn outstanding(&self) -> u32 {
        self.issued - self.seen
    }

    fn missing_from(&self, from: u32) -> Option<u32> {
        let from = from.max(self.arrivals.lowest_missing());
        let missing = self.arrivals.hole_from(from).unwrap_or(from.max(self.arrivals.end()));
        (missing < self.packets).then_some(missing)
    }

    /// A token of this number, modulo 2^24, has come back.
    pub fn came_back(&mut self, number: u32) {
        let behind = self.issued.wrapping_sub(1).wrapping_sub(number) & 0xff_ffff;
        if behind < self.issued {
            self.seen = self.seen.max(self.issued - behind);
        }
    }

    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    pub fn widen(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}
