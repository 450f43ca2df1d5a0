//! Who has an IPv4 address on an Ethernet: the packets of ARP (RFC 826), and what a port with one neighbour asks,
//! answers and remembers.
//!
//! Before anything else the port asks for its own address (RFC 5227): whoever answers has it already. Then it asks
//! for the next hop until that answers, keeps the answer for [`KEPT`] after it was last heard of, asks again, and
//! forgets it if nothing comes.

use super::ethernet::{ETHERNET, Mac, NOBODY};
use std::net::Ipv4Addr;

/// Bytes of a frame with an ARP packet, without padding.
pub(super) const ARP_BYTES: usize = ETHERNET + 28;
/// Ethernet's type of ARP.
pub(super) const ARP: [u8; 2] = [0x08, 0x06];
/// Ethernet and IPv4, with addresses of six and four bytes.
const KINDS: [u8; 6] = [0, 1, 0x08, 0, 6, 4];
/// To everybody on the Ethernet.
const ALL: Mac = [0xFF; 6];

const MILLISECOND: u64 = 1_000_000;
/// Questions for the own address, and the time between two.
const PROBES: u32 = 3;
const PROBE_GAP: u64 = 60 * MILLISECOND;
/// Time between two questions for the next hop: doubled from the first to the second.
const ASK_FIRST: u64 = 100 * MILLISECOND;
const ASK_MOST: u64 = 1_000 * MILLISECOND;
/// How long an answer is believed after the next hop was last heard of.
pub(super) const KEPT: u64 = 30_000 * MILLISECOND;
/// Questions to a next hop that was known, at its own address, and then as many to all, before it is forgotten.
const AGAIN: u32 = 3;

/// An ARP packet of IPv4 on Ethernet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    pub answers: bool,
    pub from: (Mac, Ipv4Addr),
    pub to: (Mac, Ipv4Addr),
}

impl Packet {
    /// Reads the packet of a frame.
    pub fn read(frame: &[u8]) -> Option<Packet> {
        let frame: &[u8; ARP_BYTES] = frame.first_chunk()?;
        let (ethernet, arp) = frame.split_at(ETHERNET);
        if ethernet[12..] != ARP || arp[..6] != KINDS {
            return None;
        }
        let answers = match arp[6..8] {
            [0, 1] => false,
            [0, 2] => true,
            _ => return None,
        };
        let who = |at: usize| {
            let mac: Mac = *arp[at..].first_chunk().expect("it is within the packet");
            let ip: [u8; 4] = *arp[at + 6..].first_chunk().expect("it is within the packet");
            (mac, Ipv4Addr::from(ip))
        };
        let packet = Packet { answers, from: who(8), to: who(18) };
        // Nobody speaks for all.
        (packet.from.0[0] & 1 == 0 && packet.from.0 != NOBODY).then_some(packet)
    }

    /// The frame in which it goes to `to`.
    pub fn frame(&self, to: Mac) -> [u8; ARP_BYTES] {
        let mut frame = [0; ARP_BYTES];
        frame[..6].copy_from_slice(&to);
        frame[6..12].copy_from_slice(&self.from.0);
        frame[12..14].copy_from_slice(&ARP);
        frame[14..20].copy_from_slice(&KINDS);
        frame[21] = 1 + self.answers as u8;
        for (at, (mac, ip)) in [(22, self.from), (32, self.to)] {
            frame[at..at + 6].copy_from_slice(&mac);
            frame[at + 6..at + 10].copy_from_slice(&ip.octets());
        }
        frame
    }
}

/// What is known of the next hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// The own address is asked for.
    Probing,
    /// Nothing.
    Nothing,
    /// Its address, last heard of at this time.
    At(Mac, u64),
}

/// What came of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// Nothing to do.
    Noted,
    /// To be answered with this frame.
    Answer([u8; ARP_BYTES]),
    /// Another machine has the own address.
    Duplicate(Mac),
}

/// What a port asks, answers and remembers.
#[derive(Clone, Debug)]
pub(super) struct Resolver {
    own: (Mac, Ipv4Addr),
    next_hop: Ipv4Addr,
    /// Whether it answers for the own address; the kernel does where it has the address too.
    answers: bool,
    known: Known,
    /// Questions since the last answer.
    asked: u32,
    /// When the next one is due.
    due: u64,
}

impl Resolver {
    pub fn new(own: (Mac, Ipv4Addr), next_hop: Ipv4Addr, answers: bool) -> Resolver {
        Resolver { own, next_hop, answers, known: Known::Probing, asked: 0, due: 0 }
    }

    /// The address of the next hop, if it is known.
    pub fn mac(&self) -> Option<Mac> {
        match self.known {
            Known::At(mac, _) => Some(mac),
            Known::Probing | Known::Nothing => None,
        }
    }

    /// Questions that nobody has answered.
    pub fn unanswered(&self) -> u32 {
        if self.known == Known::Probing { 0 } else { self.asked }
    }

    /// When there may be something to ask.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// The next hop has sent something else by `mac`, at `now`.
    #[inline]
    pub fn confirm(&mut self, mac: Mac, now: u64) {
        if let Known::At(known, heard) = &mut self.known
            && *known == mac
        {
            *heard = now;
            (self.asked, self.due) = (0, now + KEPT);
        }
    }

    /// What is to be asked at `now`, if anything; and whether the next hop was forgotten.
    pub fn poll(&mut self, now: u64) -> (Option<[u8; ARP_BYTES]>, bool) {
        if now < self.due {
            return (None, false);
        }
        let mut forgotten = false;
        match self.known {
            Known::Probing if self.asked < PROBES => {
                self.asked += 1;
                self.due = now + PROBE_GAP;
                let from = (self.own.0, Ipv4Addr::UNSPECIFIED);
                let probe = Packet { answers: false, from, to: (NOBODY, self.own.1) };
                return (Some(probe.frame(ALL)), false);
            }
            Known::Probing => (self.known, self.asked) = (Known::Nothing, 0),
            Known::At(..) if self.asked == 2 * AGAIN => {
                (self.known, self.asked, forgotten) = (Known::Nothing, 0, true);
            }
            Known::Nothing | Known::At(..) => {}
        }
        let to = match self.known {
            Known::At(mac, _) if self.asked < AGAIN => mac,
            _ => ALL,
        };
        let wait = match self.known {
            Known::At(..) => ASK_MOST,
            _ => (ASK_FIRST << self.asked.min(4)).min(ASK_MOST),
        };
        (self.asked, self.due) = (self.asked.saturating_add(1), now + wait);
        let question = Packet { answers: false, from: self.own, to: (NOBODY, self.next_hop) };
        (Some(question.frame(to)), forgotten)
    }

    /// Takes in a packet that came at `now`.
    pub fn hear(&mut self, packet: &Packet, now: u64) -> Heard {
        let (mac, ip) = packet.from;
        if mac == self.own.0 {
            return Heard::Noted;
        }
        let probes_own =
            self.known == Known::Probing && ip.is_unspecified() && packet.to.1 == self.own.1;
        if ip == self.own.1 || probes_own && !packet.answers {
            return Heard::Duplicate(mac);
        }
        if ip == self.next_hop && self.known != Known::Probing {
            self.known = Known::At(mac, now);
            (self.asked, self.due) = (0, now + KEPT);
        }
        let wanted = !packet.answers && packet.to.1 == self.own.1;
        if wanted && self.answers && self.known != Known::Probing {
            let answer = Packet { answers: true, from: self.own, to: packet.from };
            return Heard::Answer(answer.frame(mac));
        }
        Heard::Noted
    }
}
