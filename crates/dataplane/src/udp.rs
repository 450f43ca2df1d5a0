//! Ports on ordinary networks: each packet goes in a UDP datagram over IPv4, between two configured addresses.
//!
//! A [`Station`] is what such a port knows; whoever owns the port gives it the Ethernet frames that come and asks it
//! for those to send. It finds the Ethernet address of its next hop by ARP, answers questions for its own, finds out
//! whether another machine has that, and hears what routers say of datagrams that they do not take.
//!
//! The ECN bits of packets whose transport uses them as RFC 3168 says are those of their datagrams, too: a switch or
//! router of the network may mark them, and what it marks is marked when it comes (RFC 6040). Those of other
//! transports have codes of their own, which go inside only. The class of a packet goes inside only.

mod arp;
mod datagram;
mod ethernet;
#[cfg(test)]
mod tests;

use crate::{Frame, HELLO, Obstacle};
use arp::{ARP_BYTES, Heard, Packet, Resolver};
use datagram::{Ends, HEAD, IP_BYTES, TOO_LONG, UDP_BYTES};
use ethernet::{ETHERNET, Mac};
use incast_wire::{PROTOCOL, rewrite_mark};
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// The UDP port of both ends, unless another is set: one for private use (RFC 6335).
pub const UDP_PORT: u16 = 49_253;
/// Bytes that a datagram has beside the packet.
pub const ENCAPSULATION: usize = IP_BYTES + UDP_BYTES;
/// Where the protocol stands in an IPv4 header.
const IP_PROTOCOL: usize = 9;
/// "Congestion experienced" (RFC 3168).
const CE: u8 = 3;

/// An Ethernet address as people write it.
fn written(mac: Mac) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// The addresses of a port and of the port at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// Its own.
    pub own: Ipv4Addr,
    /// Bits that all addresses of its network share.
    pub prefix: u8,
    /// The router to other networks.
    pub gateway: Option<Ipv4Addr>,
    /// That of the port at the other end.
    pub peer: Ipv4Addr,
    /// The UDP port of both.
    pub port: u16,
}

impl Addresses {
    /// Who takes what goes to the other end: itself in the same network, otherwise the router.
    pub fn next_hop(&self) -> Ipv4Addr {
        match self.gateway {
            Some(gateway) if !self.is_near(self.peer) => gateway,
            _ => self.peer,
        }
    }

    fn mask(&self) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0)
    }

    /// Whether an address is in the network of this port.
    fn is_near(&self, address: Ipv4Addr) -> bool {
        (address.to_bits() ^ self.own.to_bits()) & self.mask() == 0
    }

    /// Whether a single machine can have an address, as far as this port knows.
    fn is_of_one(&self, address: Ipv4Addr) -> bool {
        let of_all = address.is_unspecified()
            || address.is_broadcast()
            || address.is_multicast()
            || address.is_loopback();
        let host = address.to_bits() & !self.mask();
        let ends_network =
            self.prefix < 31 && self.is_near(address) && (host == 0 || host == !self.mask());
        !of_all && !ends_network
    }

    /// Why they do not go together: which key, and what it should be.
    ///
    /// # Errors
    /// An address is none of a single machine, the router is elsewhere, or there is none where one is needed.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let Addresses { own, prefix, gateway, peer, .. } = *self;
        let one = [("ip", Some(own)), ("peer", Some(peer)), ("gateway", gateway)];
        for (key, address) in one.into_iter().filter_map(|(key, one)| Some((key, one?))) {
            if !self.is_of_one(address) {
                return Err((key, format!("the address of one machine; {address} is none")));
            }
        }
        if own == peer {
            return Err(("peer", "the address of the other end; it is the own one".into()));
        }
        match gateway {
            Some(gateway) if !self.is_near(gateway) => {
                Err(("gateway", format!("an address in {own}/{prefix}, the network of this port")))
            }
            Some(gateway) if gateway == own => {
                Err(("gateway", "the address of a router; it is the own one".into()))
            }
            None if !self.is_near(peer) => Err((
                "gateway",
                format!("the router of {own}/{prefix}: the other end, {peer}, is elsewhere"),
            )),
            _ => Ok(()),
        }
    }
}

/// What came in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// A packet of the other end; the frame is cut to it.
    Packet,
    /// Something about addresses or ways, which has been taken in.
    Noted,
    /// Nothing of this port.
    Foreign,
}

/// What a port on an ordinary network knows. Times are nanoseconds of any clock that does not go back.
#[derive(Debug)]
pub struct Station {
    addresses: Addresses,
    mac: Mac,
    /// Whether the ECN bits of packets are those of RFC 3168.
    marks: bool,
    arp: Resolver,
    answer: Option<[u8; ARP_BYTES]>,
    /// Who has the own address.
    duplicate: Option<Mac>,
    /// What was last said of datagrams that were not delivered, with its code.
    refused: Option<(u8, String)>,
    /// What is to be told once.
    notes: VecDeque<String>,
}

/// Most notes that wait to be told.
const NOTES_MOST: usize = 8;

impl Station {
    /// A port whose interface has the Ethernet address `mac`. `marks`: the ECN bits of packets are those of RFC
    /// 3168. `answers`: nobody else on this machine answers for the port's address.
    pub fn new(addresses: Addresses, mac: [u8; 6], marks: bool, answers: bool) -> Station {
        let arp = Resolver::new((mac, addresses.own), addresses.next_hop(), answers);
        let notes = VecDeque::new();
        let (answer, duplicate, refused) = (None, None, None);
        Station { addresses, mac, marks, arp, answer, duplicate, refused, notes }
    }

    /// Puts a packet into a datagram. Returns false, and does nothing, while the next hop is not known or the
    /// frame has no room.
    pub fn wrap(&self, frame: &mut impl Frame) -> bool {
        let Some(to) = self.arp.mac() else { return false };
        let mark = if self.marks { frame.bytes()[1] & 3 } else { 0 };
        let fits = frame.bytes().len() + ENCAPSULATION <= u16::MAX as usize;
        if !fits || !frame.grow_front(HEAD) {
            return false;
        }
        let Addresses { own, peer, port, .. } = self.addresses;
        let ends = Ends { macs: (self.mac, to), ips: (own, peer), port };
        datagram::write(frame.bytes_mut(), &ends, mark);
        true
    }

    /// Takes in an Ethernet frame that came at `now`.
    pub fn take(&mut self, frame: &mut impl Frame, now: u64) -> Came {
        let bytes = frame.bytes();
        if bytes.len() < ETHERNET {
            return Came::Foreign;
        }
        if bytes[12..ETHERNET] == arp::ARP {
            return self.hear(bytes, now);
        }
        let from: Mac = *bytes[6..].first_chunk().expect("an Ethernet header");
        if bytes[..6] != self.mac {
            return Came::Foreign;
        }
        let Addresses { own, peer, port, .. } = self.addresses;
        let fits = |one: &datagram::Datagram| one.ips == (peer, own) && one.ports == (port, port);
        let Some(datagram) = datagram::read(bytes).filter(fits) else { return self.mind(frame) };
        let packet = &bytes[datagram.contents.clone()];
        let ours = packet.len() >= IP_BYTES
            && packet[0] == 0x45
            && [PROTOCOL, HELLO].contains(&packet[IP_PROTOCOL]);
        // What is marked although it could not be is none of ours (RFC 6040, section 4.2).
        let marked = self.marks && datagram.mark == CE;
        if !ours || marked && packet[1] & 3 == 0 {
            return Came::Foreign;
        }
        self.arp.confirm(from, now);
        // The other end is there now; packets can still be too long.
        self.refused.take_if(|(code, _)| *code != TOO_LONG);
        frame.truncate(datagram.contents.end);
        frame.cut_front(datagram.contents.start);
        if marked {
            rewrite_mark(frame.bytes_mut(), CE);
        }
        Came::Packet
    }

    fn hear(&mut self, frame: &[u8], now: u64) -> Came {
        let Some(packet) = Packet::read(frame) else { return Came::Foreign };
        match self.arp.hear(&packet, now) {
            Heard::Noted => {}
            Heard::Answer(answer) => self.answer = Some(answer),
            Heard::Duplicate(mac) => {
                let fresh = self.duplicate.replace(mac).is_none();
                if fresh {
                    self.note(self.says_duplicate(mac));
                }
            }
        }
        Came::Noted
    }

    /// Takes in what is said of datagrams that were not delivered.
    fn mind(&mut self, frame: &impl Frame) -> Came {
        let Addresses { own, peer, port, .. } = self.addresses;
        let ours = |one: &datagram::Refused| one.ips == (own, peer) && one.port == port;
        let Some(refused) = datagram::read_refusal(frame.bytes()).filter(ours) else {
            return Came::Foreign;
        };
        let by = refused.by;
        let says = match (refused.code, refused.mtu) {
            (TOO_LONG, 0) => {
                format!("{by} says that packets to {peer} are too long for its next network")
            }
            (TOO_LONG, mtu) => format!(
                "{by} says that packets to {peer} may have {mtu} bytes: set fabric.mtu to {} or less at every node",
                (mtu as usize).saturating_sub(ENCAPSULATION)
            ),
            (3, _) => format!("{by} says that no program has UDP port {port}"),
            (9 | 10 | 13, _) => format!("{by} says that it may not forward packets to {peer}"),
            _ => format!("{by} says that {peer} cannot be reached"),
        };
        if self.refused.as_ref().is_none_or(|(_, before)| *before != says) {
            self.note(says.clone());
            self.refused = Some((refused.code, says));
        }
        Came::Noted
    }

    /// An Ethernet frame to send at `now`, if there is one. To be asked again until there is none.
    #[inline]
    pub fn poll(&mut self, now: u64) -> Option<[u8; ARP_BYTES]> {
        if self.answer.is_none() && now < self.arp.due() {
            return None;
        }
        self.answer.take().or_else(|| {
            let (question, forgotten) = self.arp.poll(now);
            if forgotten {
                self.note(format!("{} no longer answers ARP: nothing is sent", self.hop()));
            }
            question
        })
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_MOST {
            self.notes.push_back(note);
        }
    }

    /// What is to be told, once, in the order in which it happened.
    pub fn take_note(&mut self) -> Option<String> {
        self.notes.pop_front()
    }

    /// Who takes what this port sends, in words.
    fn hop(&self) -> String {
        let hop = self.addresses.next_hop();
        if hop == self.addresses.peer { format!("{hop}") } else { format!("the gateway {hop}") }
    }

    fn says_duplicate(&self, mac: Mac) -> String {
        format!(
            "the machine with the Ethernet address {} has {} too: give one of them another address",
            written(mac),
            self.addresses.own
        )
    }

    /// What keeps this port from reaching the other end, as far as it is known.
    pub fn obstacle(&self) -> Option<Obstacle> {
        if let Some(mac) = self.duplicate {
            return Some(Obstacle { says: self.says_duplicate(mac), ends: true });
        }
        if self.arp.mac().is_none() {
            let Addresses { own, prefix, .. } = self.addresses;
            let says = format!(
                "{} has not answered {} questions by ARP: check that it is up, on this Ethernet and in {own}/{prefix}",
                self.hop(),
                self.arp.unanswered(),
            );
            return Some(Obstacle { says, ends: false });
        }
        self.refused.clone().map(|(_, says)| Obstacle { says, ends: false })
    }
}
