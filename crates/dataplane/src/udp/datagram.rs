//! Packets inside UDP datagrams (RFC 768) over IPv4 (RFC 791), in Ethernet frames.

use super::ethernet::{ETHERNET, Mac};
use incast_wire::{checksum, checksum_of};
use std::net::Ipv4Addr;
use std::ops::Range;

/// Bytes of an IPv4 header without options.
pub(super) const IP_BYTES: usize = 20;
/// Bytes of a UDP header.
pub(super) const UDP_BYTES: usize = 8;
/// Bytes in front of a packet.
pub(super) const HEAD: usize = ETHERNET + IP_BYTES + UDP_BYTES;
/// Ethernet's type of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];
const UDP: u8 = 17;
const ICMP: u8 = 1;
const TIME_TO_LIVE: u8 = 64;

/// The ends of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ends {
    pub macs: (Mac, Mac),
    /// From, to.
    pub ips: (Ipv4Addr, Ipv4Addr),
    /// Of both ends.
    pub port: u16,
}

/// What of the pseudo header the sum covers (RFC 768).
fn pseudo_header((from, to): (Ipv4Addr, Ipv4Addr), length: usize) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&from.octets());
    bytes[4..8].copy_from_slice(&to.octets());
    bytes[9] = UDP;
    bytes[10..].copy_from_slice(&(length as u16).to_be_bytes());
    bytes
}

/// Writes the headers into the first [`HEAD`] bytes of a frame; the packet is behind them. `mark` are the ECN bits.
pub(super) fn write(frame: &mut [u8], ends: &Ends, mark: u8) {
    let (head, packet) = frame.split_first_chunk_mut::<HEAD>().expect("there is room");
    *head = [0; HEAD];
    let datagram = UDP_BYTES + packet.len();
    head[..6].copy_from_slice(&ends.macs.1);
    head[6..12].copy_from_slice(&ends.macs.0);
    head[12..14].copy_from_slice(&IPV4);
    let (ip, udp) = head[ETHERNET..].split_at_mut(IP_BYTES);
    (ip[0], ip[1]) = (0x45, mark);
    ip[2..4].copy_from_slice(&((IP_BYTES + datagram) as u16).to_be_bytes());
    // Do not fragment.
    (ip[6], ip[8], ip[9]) = (0x40, TIME_TO_LIVE, UDP);
    ip[12..16].copy_from_slice(&ends.ips.0.octets());
    ip[16..20].copy_from_slice(&ends.ips.1.octets());
    let sum = checksum(ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    udp[..2].copy_from_slice(&ends.port.to_be_bytes());
    udp[2..4].copy_from_slice(&ends.port.to_be_bytes());
    udp[4..6].copy_from_slice(&(datagram as u16).to_be_bytes());
    // 0 says that there is no sum.
    let sum = match checksum_of(&[&pseudo_header(ends.ips, datagram), udp, packet]) {
        0 => 0xffff,
        sum => sum,
    };
    udp[6..].copy_from_slice(&sum.to_be_bytes());
}

/// A datagram in a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Datagram {
    pub ips: (Ipv4Addr, Ipv4Addr),
    pub ports: (u16, u16),
    /// The ECN bits.
    pub mark: u8,
    /// Where in the frame its contents are.
    pub contents: Range<usize>,
}

/// An IPv4 packet in a frame, whose header is right: where its contents are, and the bytes of its header.
fn ip_of(frame: &[u8]) -> Option<(Range<usize>, &[u8])> {
    let packet = frame.get(ETHERNET..)?;
    if frame[12..ETHERNET] != IPV4 || packet.len() < IP_BYTES || packet[0] >> 4 != 4 {
        return None;
    }
    let header = 4 * (packet[0] & 15) as usize;
    let length = u16::from_be_bytes([packet[2], packet[3]]) as usize;
    let fits = header >= IP_BYTES && length >= header && length <= packet.len();
    // A part of a packet is none: more of it follows, or came before.
    let whole = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff == 0;
    (fits && whole && checksum(&packet[..header]) == 0)
        .then(|| (ETHERNET + header..ETHERNET + length, &packet[..header]))
}

fn address(bytes: &[u8]) -> Ipv4Addr {
    Ipv4Addr::from(*bytes.first_chunk::<4>().expect("four bytes"))
}

/// Reads the datagram of a frame whose checksums are right.
pub(super) fn read(frame: &[u8]) -> Option<Datagram> {
    let (contents, ip) = ip_of(frame)?;
    let udp = &frame[contents.clone()];
    if ip[9] != UDP || udp.len() < UDP_BYTES {
        return None;
    }
    let half = |at: usize| u16::from_be_bytes([udp[at], udp[at + 1]]);
    let (length, ips) = (half(4) as usize, (address(&ip[12..]), address(&ip[16..])));
    if length < UDP_BYTES || length > udp.len() {
        return None;
    }
    // Without a sum, or with a right one.
    if half(6) != 0 && checksum_of(&[&pseudo_header(ips, length), &udp[..length]]) != 0 {
        return None;
    }
    let contents = contents.start + UDP_BYTES..contents.start + length;
    Some(Datagram { ips, ports: (half(0), half(2)), mark: ip[1] & 3, contents })
}

/// What a router or host says of a datagram that it did not take (RFC 792).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Refused {
    pub by: Ipv4Addr,
    pub code: u8,
    /// Longest packet that the next network takes; 0 if that is not said.
    pub mtu: u16,
    /// Whence and whither the datagram went.
    pub ips: (Ipv4Addr, Ipv4Addr),
    /// To which port.
    pub port: u16,
}

/// Of a datagram that is too long for a network on its way (RFC 1191).
pub(super) const TOO_LONG: u8 = 4;

/// Reads what a frame says of a datagram that could not be delivered.
pub(super) fn read_refusal(frame: &[u8]) -> Option<Refused> {
    let (contents, ip) = ip_of(frame)?;
    let icmp = &frame[contents];
    // Destination unreachable, with the headers of what was sent.
    if ip[9] != ICMP || icmp.len() < 8 || icmp[0] != 3 || checksum(icmp) != 0 {
        return None;
    }
    let sent = &icmp[8..];
    let header = 4 * (*sent.first()? & 15) as usize;
    let udp = sent.get(header..header + 4)?;
    if header < IP_BYTES || sent[9] != UDP {
        return None;
    }
    let mtu = u16::from_be_bytes([icmp[6], icmp[7]]);
    let ips = (address(&sent[12..]), address(&sent[16..]));
    let port = u16::from_be_bytes([udp[2], udp[3]]);
    Some(Refused { by: address(&ip[12..]), code: icmp[1], mtu, ips, port })
}
