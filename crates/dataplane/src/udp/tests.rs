//! Stations on an Ethernet in memory, and frames that are hostile.

use super::*;
use crate::mem::Buffer;
use arp::{ARP, KEPT};
use ethernet::NOBODY;
use incast_wire::{
    Extension, FlowId, Header, HostId, Packet as Sent, TransportId, checksum, decode, encode,
};
use proptest::prelude::*;

const A: Mac = [2, 0, 0, 0, 0, 0xA];
const B: Mac = [2, 0, 0, 0, 0, 0xB];
const ROUTER: Mac = [2, 0, 0, 0, 0, 0xC];
const MS: u64 = 1_000_000;

fn ip(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn addresses(own: &str, peer: &str, gateway: Option<&str>) -> Addresses {
    let (own, prefix) = own.split_once('/').unwrap();
    let (own, peer, gateway) = (ip(own), ip(peer), gateway.map(ip));
    Addresses { own, prefix: prefix.parse().unwrap(), gateway, peer, port: UDP_PORT }
}

fn near(own: &str, peer: &str, mac: Mac) -> Station {
    Station::new(addresses(own, peer, None), mac, true, true)
}

fn buffer(bytes: &[u8]) -> Buffer {
    let mut frame = Buffer::default();
    frame.begin(bytes.len());
    frame.bytes_mut().copy_from_slice(bytes);
    frame
}

/// A packet of the given ECN bits and payload.
fn packet(mark: u8, payload: u16) -> Vec<u8> {
    let header = Header::Data { seq: 7, offset: 700, tag: 3, flags: 0 };
    let sent = Sent::header_only(TransportId(1), FlowId(5), HostId(0), HostId(1), 1, header);
    let mut bytes = vec![];
    encode(&Sent { payload, mark, ..sent }, &Extension::None, &mut bytes);
    bytes
}

/// An Ethernet on which stations are, by name of who sent; every frame reaches all others.
fn exchange(stations: &mut [Station], from: u64, until: u64) -> Vec<Vec<u8>> {
    let mut seen = vec![];
    let mut now = from;
    while now < until {
        for one in 0..stations.len() {
            while let Some(frame) = stations[one].poll(now) {
                for other in (0..stations.len()).filter(|other| *other != one) {
                    assert_ne!(stations[other].take(&mut buffer(&frame), now), Came::Packet);
                }
                seen.push(frame.to_vec());
            }
        }
        now += MS;
    }
    seen
}

#[test]
fn stations_find_each_other_and_packets_arrive_as_they_were() {
    let mut two = [near("10.1.0.2/24", "10.1.0.3", A), near("10.1.0.3/24", "10.1.0.2", B)];
    assert!(!two[0].wrap(&mut buffer(&packet(2, 10))), "nobody is known yet");
    let seen = exchange(&mut two, 1, 1_000 * MS);
    assert!(seen.iter().all(|frame| frame[12..14] == ARP && frame.len() == ARP_BYTES));
    // Three questions for the own address each, one for the other's, an answer.
    assert!((8..=10).contains(&seen.len()), "{}", seen.len());
    assert_eq!((two[0].obstacle(), two[1].obstacle()), (None, None));
    for payload in [0, 1, 2, 777, 1_432] {
        let inner = packet(2, payload);
        let mut frame = buffer(&inner);
        assert!(two[0].wrap(&mut frame));
        let bytes = frame.bytes().to_vec();
        assert_eq!(bytes.len(), 14 + ENCAPSULATION + inner.len());
        assert_eq!((&bytes[..6], &bytes[6..12]), (&B[..], &A[..]));
        assert_eq!((checksum(&bytes[14..34]), bytes[20] & 0x40), (0, 0x40), "do not fragment");
        // It goes through a frame that Ethernet has padded.
        let mut frame = buffer(&[&bytes[..], &[0; 18]].concat());
        assert_eq!(two[1].take(&mut frame, 2_000 * MS), Came::Packet);
        assert_eq!(frame.bytes(), inner);
        // To another machine, from another one, or to another port.
        let mut other = near("10.1.0.4/24", "10.1.0.2", [9; 6]);
        assert_eq!(other.take(&mut buffer(&bytes), 1), Came::Foreign);
        let mut other = near("10.1.0.3/24", "10.1.0.4", B);
        assert_eq!(other.take(&mut buffer(&bytes), 1), Came::Foreign);
    }
}

/// The sum of the datagram as RFC 768 says, word by word.
#[test]
fn the_datagram_has_the_sum_of_its_standard() {
    let mut two = [near("10.1.0.2/24", "10.1.0.3", A), near("10.1.0.3/24", "10.1.0.2", B)];
    exchange(&mut two, 1, 500 * MS);
    for payload in 0..40 {
        let mut frame = buffer(&packet(0, payload));
        assert!(two[0].wrap(&mut frame));
        let udp = frame.bytes()[34..].to_vec();
        let pseudo = [&[10, 1, 0, 2, 10, 1, 0, 3, 0, 17][..], &(udp.len() as u16).to_be_bytes()];
        let all = [pseudo.concat(), udp.clone()].concat();
        let sum = all.chunks(2).fold(0u32, |sum, word| {
            sum + u32::from(word[0]) * 256 + u32::from(*word.get(1).unwrap_or(&0))
        });
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "payload {payload}");
        // A wrong bit anywhere in it is noticed; none at all is accepted, as IPv4 allows.
        for bit in 0..8 * udp.len() {
            let mut bytes = frame.bytes().to_vec();
            bytes[34 + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(two[1].take(&mut buffer(&bytes), 1), Came::Foreign, "bit {bit}");
        }
        let mut bytes = frame.bytes().to_vec();
        bytes[40..42].fill(0);
        assert_eq!(two[1].take(&mut buffer(&bytes), 1), Came::Packet);
    }
}

/// Marks a datagram as a router does.
fn marked(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[15] |= CE;
    bytes[24..26].fill(0);
    let sum = checksum(&bytes[14..34]);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn marks_of_the_network_reach_transports_that_understand_them() {
    let mut two = [near("10.1.0.2/24", "10.1.0.3", A), near("10.1.0.3/24", "10.1.0.2", B)];
    exchange(&mut two, 1, 500 * MS);
    let mut frame = buffer(&packet(2, 100));
    assert!(two[0].wrap(&mut frame));
    assert_eq!(frame.bytes()[15], 2, "the datagram may be marked");
    let mut frame = buffer(&marked(frame.bytes()));
    assert_eq!(two[1].take(&mut frame, 1), Came::Packet);
    assert_eq!(decode(frame.bytes()).unwrap().0.mark, CE);
    // A packet that may not be marked, and was.
    let mut frame = buffer(&packet(0, 100));
    assert!(two[0].wrap(&mut frame));
    assert_eq!(two[1].take(&mut buffer(&marked(frame.bytes())), 1), Came::Foreign);
    // A transport with a code of its own: it stays inside, and what the network writes is nothing to it.
    for station in &mut two {
        station.marks = false;
    }
    let mut frame = buffer(&packet(1, 100));
    assert!(two[0].wrap(&mut frame));
    assert_eq!(frame.bytes()[15], 0);
    let mut frame = buffer(&marked(frame.bytes()));
    assert_eq!(two[1].take(&mut frame, 1), Came::Packet);
    assert_eq!(decode(frame.bytes()).unwrap().0.mark, 1);
}

#[test]
fn a_neighbour_that_is_elsewhere_is_reached_by_the_gateway() {
    let gateway = Some("10.1.0.1");
    let mut station = Station::new(addresses("10.1.0.2/24", "10.2.0.2", gateway), A, true, true);
    let mut now = 0;
    let question = loop {
        if let Some(frame) = station.poll(now)
            && let Some(packet) = Packet::read(&frame)
            && packet.from.1 == ip("10.1.0.2")
        {
            break packet;
        }
        now += MS;
    };
    assert_eq!((question.answers, question.to.1), (false, ip("10.1.0.1")));
    let obstacle = station.obstacle().unwrap();
    assert!(!obstacle.ends && obstacle.says.starts_with("the gateway 10.1.0.1 has not answered 1"));
    let answer = Packet { answers: true, from: (ROUTER, ip("10.1.0.1")), to: question.from };
    assert_eq!(station.take(&mut buffer(&answer.frame(A)), now), Came::Noted);
    let mut frame = buffer(&packet(0, 10));
    assert!(station.wrap(&mut frame));
    assert_eq!(&frame.bytes()[..6], &ROUTER, "by way of the router");
    assert_eq!(frame.bytes()[30..34], [10, 2, 0, 2], "to the other end");
}

#[test]
fn an_answer_is_kept_asked_for_again_and_forgotten() {
    let mut two = [near("10.1.0.2/24", "10.1.0.3", A), near("10.1.0.3/24", "10.1.0.2", B)];
    exchange(&mut two, 1, 500 * MS);
    let [one, _] = &mut two;
    let knows = |station: &Station| station.wrap(&mut buffer(&packet(0, 1)));
    // Packets of the other end are as good as answers.
    let busy = KEPT - MS;
    let mut frame = buffer(&packet(0, 1));
    let other = near("10.1.0.3/24", "10.1.0.2", B);
    let ends = Ends { macs: (B, A), ips: (other.addresses.own, one.addresses.own), port: UDP_PORT };
    assert!(frame.grow_front(HEAD));
    datagram::write(frame.bytes_mut(), &ends, 0);
    assert_eq!(one.take(&mut frame, busy), Came::Packet);
    let questions = |station: &mut Station, from: u64, until: u64| {
        let mut all = vec![];
        for now in (from..until).step_by(MS as usize) {
            all.extend(std::iter::from_fn(|| station.poll(now)).map(|frame| (now, frame)));
        }
        all
    };
    assert_eq!(questions(one, busy, busy + KEPT), []);
    // Silence: both questions to it, both to all, and it is forgotten, which is told once.
    let asked = questions(one, busy + KEPT, busy + KEPT + 5_500 * MS);
    let to: Vec<u8> = asked.iter().map(|(_, frame)| frame[0]).collect();
    assert_eq!(to, [2, 2, 2, 255, 255, 255]);
    assert!(knows(one) && one.take_note().is_none());
    let more = questions(one, busy + KEPT + 5_500 * MS, busy + KEPT + 20_000 * MS);
    assert!(!knows(one) && (14..=20).contains(&more.len()), "{}", more.len());
    assert_eq!(one.take_note().unwrap(), "10.1.0.3 no longer answers ARP: nothing is sent");
    assert_eq!(one.take_note(), None);
    // It comes again, by another interface.
    let again =
        Packet { answers: false, from: (ROUTER, ip("10.1.0.3")), to: (NOBODY, ip("10.1.0.2")) };
    assert_eq!(one.take(&mut buffer(&again.frame([0xFF; 6])), 90_000 * MS), Came::Noted);
    assert!(knows(one));
    let answer = Packet::read(&one.poll(90_000 * MS).expect("it was asked")).unwrap();
    assert!(answer.answers && answer.from == (A, ip("10.1.0.2")) && answer.to.0 == ROUTER);
}

#[test]
fn an_address_that_another_machine_has_is_noticed() {
    // Both start at once, or one has it for long.
    for late in [0, 5_000 * MS] {
        let mut both = [near("10.1.0.2/24", "10.1.0.9", A), near("10.1.0.2/24", "10.1.0.9", B)];
        if late > 0 {
            let mut alone = [near("10.1.0.2/24", "10.1.0.9", A)];
            exchange(&mut alone, 1, late);
            let [first] = alone;
            both[0] = first;
        }
        exchange(&mut both, late + 1, late + 300 * MS);
        let obstacle = both[1].obstacle().unwrap();
        let says = "the machine with the Ethernet address 02:00:00:00:00:0a has 10.1.0.2 too: give one \
                    of them another address";
        assert!(obstacle.ends && obstacle.says == says, "{obstacle:?}");
    }
}

/// What a router says of a datagram, with the first eight bytes of what it carried.
fn refusal(by: &str, to: &str, code: u8, mtu: u16, sent: &[u8]) -> Vec<u8> {
    let mut icmp = vec![3, code, 0, 0, 0, 0, (mtu >> 8) as u8, mtu as u8];
    icmp.extend_from_slice(&sent[14..14 + 28]);
    let sum = checksum(&icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut ip_header = vec![0x45, 0, 0, (20 + icmp.len()) as u8, 0, 0, 0, 0, 64, 1, 0, 0];
    ip_header.extend_from_slice(&ip(by).octets());
    ip_header.extend_from_slice(&ip(to).octets());
    let sum = checksum(&ip_header);
    ip_header[10..12].copy_from_slice(&sum.to_be_bytes());
    [&A[..], &ROUTER, &[8, 0], &ip_header, &icmp].concat()
}

#[test]
fn what_routers_say_is_told() {
    let mut two = [near("10.1.0.2/24", "10.1.0.3", A), near("10.1.0.3/24", "10.1.0.2", B)];
    exchange(&mut two, 1, 500 * MS);
    let mut frame = buffer(&packet(0, 1_400));
    assert!(two[0].wrap(&mut frame));
    let sent = frame.bytes().to_vec();
    let [one, other] = &mut two;
    let said = |station: &mut Station, code, mtu| {
        let frame = refusal("10.1.0.1", "10.1.0.2", code, mtu, &sent);
        assert_eq!(station.take(&mut buffer(&frame), 1), Came::Noted);
        (station.obstacle().unwrap().says, station.take_note())
    };
    let (says, note) = said(one, TOO_LONG, 1_400);
    assert_eq!(
        says,
        "10.1.0.1 says that packets to 10.1.0.3 may have 1400 bytes: set fabric.mtu to 1372 or less at every node"
    );
    assert_eq!(note, Some(says));
    assert_eq!(said(one, TOO_LONG, 1_400).1, None, "once");
    assert!(said(one, 1, 0).0.ends_with("10.1.0.3 cannot be reached"));
    assert!(said(one, 3, 0).0.ends_with("no program has UDP port 49253"));
    // The other end is there after all.
    let mut frame = buffer(&packet(0, 1));
    assert!(other.wrap(&mut frame));
    assert_eq!(one.take(&mut frame, 1), Came::Packet);
    assert_eq!(one.obstacle(), None);
    // About a datagram of somebody else.
    let foreign = refusal("10.1.0.1", "10.1.0.3", 1, 0, &sent);
    assert_eq!(other.take(&mut buffer(&foreign), 1), Came::Foreign);
}

#[test]
fn addresses_that_do_not_go_together_are_refused() {
    let wrong = |own: &str, peer: &str, gateway: Option<&str>| {
        let (key, expected) = addresses(own, peer, gateway).check().unwrap_err();
        format!("{key}: {expected}")
    };
    assert!(addresses("10.1.0.2/24", "10.1.0.3", None).check().is_ok());
    assert!(addresses("10.1.0.2/24", "10.2.0.3", Some("10.1.0.1")).check().is_ok());
    assert!(addresses("10.1.0.2/31", "10.1.0.3", None).check().is_ok(), "RFC 3021");
    assert!(addresses("10.1.0.2/0", "192.0.2.1", None).check().is_ok());
    assert!(
        wrong("10.1.0.2/24", "10.2.0.3", None).starts_with("gateway: the router of 10.1.0.2/24")
    );
    assert!(wrong("10.1.0.2/24", "10.2.0.3", Some("10.2.0.1")).contains("in 10.1.0.2/24"));
    assert!(wrong("10.1.0.2/32", "10.1.0.3", None).starts_with("gateway: "));
    assert!(wrong("10.1.0.2/24", "10.1.0.2", None).starts_with("peer: "));
    assert!(wrong("10.1.0.2/24", "10.1.0.255", None).contains("10.1.0.255 is none"));
    assert!(wrong("10.1.0.0/24", "10.1.0.3", None).starts_with("ip: the address of one machine"));
    for peer in ["0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255"] {
        assert!(wrong("10.1.0.2/0", peer, None).starts_with("peer: the address of one"), "{peer}");
    }
}

proptest! {
    /// Whatever comes is taken in, a packet of the other end is whole, and memory stays bounded.
    #[test]
    fn hostile_frames_do_no_harm(
        frames in prop::collection::vec((0usize..5, prop::collection::vec(any::<u8>(), 0..160),
            prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)), 1..40),
    ) {
        let mut two = [near("10.1.0.2/24", "10.1.0.3", A), near("10.1.0.3/24", "10.1.0.2", B)];
        exchange(&mut two, 1, 500 * MS);
        let mut now = 500 * MS;
        for (kind, bytes, changes) in frames {
            let mut inner = buffer(&packet(2, bytes.len() as u16));
            prop_assert!(two[1].wrap(&mut inner));
            let good = inner.bytes().to_vec();
            let mut frame = match kind {
                0 => bytes.clone(),
                1 => [&A[..], &B, &ARP, &bytes].concat(),
                2 => [&A[..], &B, &[8, 0, 0x45], &bytes].concat(),
                3 => refusal("10.1.0.1", "10.1.0.2", 4, 600, &good),
                _ => good.clone(),
            };
            for (at, value) in &changes {
                if !frame.is_empty() {
                    let at = at.index(frame.len());
                    frame[at] = *value;
                }
            }
            let mut came = buffer(&frame);
            if two[0].take(&mut came, now) == Came::Packet {
                prop_assert!(came.bytes().len() >= 20 && came.bytes()[0] == 0x45);
                prop_assert!([253, 254].contains(&came.bytes()[9]));
            }
            for _ in 0..4 {
                two[0].poll(now);
            }
            prop_assert!(two[0].notes.len() <= NOTES_MOST);
            now += MS;
        }
    }

    /// A frame of any length that is cut anywhere is no packet, and none of a padded length is longer than it was.
    #[test]
    fn cut_frames_are_noticed(payload in 0u16..200, cut in any::<prop::sample::Index>()) {
        let mut two = [near("10.1.0.2/24", "10.1.0.3", A), near("10.1.0.3/24", "10.1.0.2", B)];
        exchange(&mut two, 1, 500 * MS);
        let mut frame = buffer(&packet(2, payload));
        prop_assert!(two[1].wrap(&mut frame));
        let length = cut.index(frame.bytes().len());
        let mut frame = buffer(&frame.bytes()[..length]);
        prop_assert_eq!(two[0].take(&mut frame, 1), Came::Foreign);
    }
}
