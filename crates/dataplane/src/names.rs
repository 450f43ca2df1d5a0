//! Flows that a host opens while it runs: their names on the wire, and their numbers here.
//!
//! A scenario numbers its flows from 0 for all hosts. A flow that is opened later is named by the
//! two hosts and a number of its source: on the wire bit 31 of the flow is set, bit 0 says which of
//! the two hosts is the source (1: the one with the larger address), and the bits between are the
//! source's number for this destination. Each pair of hosts begins at a place of its own, so that
//! switch hooks, which know a flow by its number alone, hardly ever meet the same number twice.
//!
//! A number returns after 2^30 flows between two hosts. A destination remembers a finished flow for
//! [`REMEMBERED`], so that a late copy of a packet is recognised.
//!
//! Transports, probe and payload know a flow by a number that is the host's own: it is given when
//! the flow is opened, or when its first packet arrives, and does not return before 2^32 others.

use crate::payload::bounces;
use incast_transport::{FlowId, Header, Packet, Span, Time, TransportId, flag, tcp_flag};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Set in the wire's number of every flow that is opened at run time.
pub(crate) const RUN_TIME: u32 = 1 << 31;
/// Numbers of a source for one destination.
const NUMBERS: u32 = 1 << 30;
/// How long a destination remembers a flow that is finished. In this time a source's timer has
/// doubled ten times from a millisecond.
pub const REMEMBERED: Span = Span::from_secs(1);
/// Finished flows that are remembered, at most: of more, the oldest are forgotten.
const REMEMBERED_MOST: usize = 1 << 17;

/// When a flow is given up, and how many there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Nothing has been heard of the other host for so long.
    pub silence: Span,
    /// Nothing has been heard of the flow for so long.
    pub stall: Span,
    /// Flows that arrive here at a time.
    pub arriving: usize,
    /// Bytes of a flow.
    pub bytes: u64,
}

/// A flow on the wire: the other host, and the number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Name {
    peer: u32,
    flow: u32,
}

/// A flow that this host sends or receives.
#[derive(Clone, Copy, Debug)]
struct Known {
    name: Name,
    transport: TransportId,
    /// Whether this host is its source.
    mine: bool,
    /// When it was opened, and when it was last heard of; picoseconds.
    opened: u64,
    heard: u64,
    /// It is only remembered.
    finished: bool,
}

/// Whose packet has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// A flow that is known here.
    Known(FlowId),
    /// A flow of which this is the first packet.
    New(FlowId),
    /// A flow of this host that is over, or never was.
    Stale,
    /// A new flow for which there is no room.
    Refused,
}

/// A flow that is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lapsed {
    pub flow: FlowId,
    pub transport: TransportId,
    pub mine: bool,
    /// Nothing was heard of the other host, not only of the flow.
    pub silent: bool,
}

/// All flows of one host that were opened at run time.
pub(crate) struct Names {
    host: u32,
    bounds: Bounds,
    /// Numbers below are those of the scenario's flows.
    first: u32,
    /// The next number here.
    next: u32,
    /// Where the numbers of a pair of hosts begin.
    begin: u32,
    /// Flows opened so far, by destination.
    sent: HashMap<u32, u32>,
    /// When each host was last heard of.
    heard: HashMap<u32, u64>,
    here: HashMap<Name, FlowId>,
    flows: HashMap<FlowId, Known>,
    /// Flows that arrive here and are not finished.
    arriving: usize,
    /// Finished flows, the oldest first.
    finished: VecDeque<(u64, FlowId)>,
    /// When to look after flows that are not finished.
    watch: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Names {
    /// For `host`, in a scenario of `first` flows. `begin` differs from one start of the host to the
    /// next, so that the flows of one do not have the names of those of the other.
    pub fn new(host: u32, first: u32, begin: u32, bounds: Bounds) -> Names {
        Names {
            host,
            bounds,
            first,
            next: first,
            begin,
            sent: HashMap::new(),
            heard: HashMap::new(),
            here: HashMap::new(),
            flows: HashMap::new(),
            arriving: 0,
            finished: VecDeque::new(),
            watch: BinaryHeap::new(),
        }
    }

    /// Whether what a packet claims to carry can be part of a flow whose packets have about `full`
    /// bytes of payload: at least half as many, but for its last.
    pub fn admits(&self, packet: &Packet, full: u16) -> bool {
        let (payload, most) = (packet.payload as u64, self.bounds.bytes);
        match packet.header {
            _ if packet.has(flag::BOUNCED) => bounces(packet),
            _ if payload == 0 => true,
            Header::Segment { seq, .. } => seq as u64 + payload <= most,
            Header::Data { seq, .. } | Header::Credited { seq, .. } => {
                seq as u64 * (full as u64 / 2) <= most
            }
            _ => false,
        }
    }

    /// Flows that are known, finished ones included.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// A number that no flow has here.
    fn number(&mut self) -> FlowId {
        loop {
            let number = FlowId(self.next);
            self.next = if self.next == u32::MAX - 1 { self.first } else { self.next + 1 };
            if !self.flows.contains_key(&number) {
                return number;
            }
        }
    }

    /// Opens a flow to another host.
    pub fn open(&mut self, to: u32, transport: TransportId, now: u64) -> FlowId {
        let start = pair(self.host, to).wrapping_add(self.begin);
        let sent = self.sent.entry(to).or_insert(0);
        let name = loop {
            let number = start.wrapping_add(*sent) % NUMBERS;
            *sent = sent.wrapping_add(1);
            let flow = RUN_TIME | number << 1 | (self.host > to) as u32;
            let name = Name { peer: to, flow };
            if !self.here.contains_key(&name) {
                break name;
            }
        };
        self.add(Known { name, transport, mine: true, opened: now, heard: now, finished: false })
    }

    fn add(&mut self, known: Known) -> FlowId {
        let flow = self.number();
        self.here.insert(known.name, flow);
        self.watch.push(Reverse((self.lapses(&known), flow.0)));
        self.flows.insert(flow, known);
        flow
    }

    /// A packet of a run-time flow has arrived at this host, whose address is one of its two.
    pub fn arrive(&mut self, packet: &Packet, now: u64) -> Found {
        let (src, dst) = (packet.src.0, packet.dst.0);
        let name = Name { peer: if src == self.host { dst } else { src }, flow: packet.flow.0 };
        if let Some(flow) = self.here.get(&name).copied() {
            let known = self.flows.get_mut(&flow).expect("a name belongs to a flow");
            // Only sources send data, and what is sent back returns to them.
            let foreign = if known.mine { packet.is_data() } else { packet.has(flag::BOUNCED) };
            if known.transport != packet.transport || foreign {
                return Found::Stale;
            }
            if !known.mine || answers(packet) {
                known.heard = now;
                self.heard.insert(name.peer, now);
            }
            return Found::Known(flow);
        }
        let larger = name.flow & 1 == 1;
        if larger == (self.host > name.peer) || packet.has(flag::BOUNCED) {
            return Found::Stale;
        }
        if self.arriving >= self.bounds.arriving {
            return Found::Refused;
        }
        self.heard.insert(name.peer, now);
        self.arriving += 1;
        let (transport, opened) = (packet.transport, now);
        Found::New(self.add(Known {
            name,
            transport,
            mine: false,
            opened,
            heard: now,
            finished: false,
        }))
    }

    /// What a flow is called on the wire; `None` if it is forgotten.
    pub fn wire(&self, flow: FlowId) -> Option<FlowId> {
        self.flows.get(&flow).map(|known| FlowId(known.name.flow))
    }

    /// The other host of a flow.
    pub fn peer(&self, flow: FlowId) -> Option<u32> {
        self.flows.get(&flow).map(|known| known.name.peer)
    }

    /// Whether a number is that of a run-time flow of this host.
    #[inline]
    pub fn is_own(&self, flow: FlowId) -> bool {
        flow.0 >= self.first
    }

    /// A flow has ended: one that was sent is forgotten, one that arrived is remembered.
    pub fn finish(&mut self, flow: FlowId, now: u64) {
        let Some(known) = self.flows.get_mut(&flow).filter(|known| !known.finished) else { return };
        if known.mine {
            return self.forget(flow);
        }
        known.finished = true;
        self.arriving -= 1;
        self.finished.push_back((now, flow));
        while self.finished.len() > REMEMBERED_MOST {
            let (_, oldest) = self.finished.pop_front().expect("more than none");
            self.forget(oldest);
        }
    }

    /// Forgets a flow at once.
    pub fn forget(&mut self, flow: FlowId) {
        let Some(known) = self.flows.remove(&flow) else { return };
        self.here.remove(&known.name);
        self.arriving -= (!known.mine && !known.finished) as usize;
    }

    /// When a flow is given up, as far as is known now, and if so, whether the other host is silent.
    fn lapses(&self, known: &Known) -> u64 {
        let (silence, stall) = self.ends(known);
        silence.min(stall)
    }

    fn ends(&self, known: &Known) -> (u64, u64) {
        let peer = self.heard.get(&known.name.peer).copied().unwrap_or(0).max(known.opened);
        let end = |heard: u64, span: Span| Time(heard).saturating_add(span).0;
        (end(peer, self.bounds.silence), end(known.heard, self.bounds.stall))
    }

    /// When to call [`lapsed`](Names::lapsed), at the latest.
    pub fn deadline(&self) -> u64 {
        self.watch.peek().map_or(u64::MAX, |Reverse((at, _))| *at)
    }

    /// The next flow that is given up at `now`; it is forgotten. Forgets finished flows in passing.
    pub fn lapsed(&mut self, now: u64) -> Option<Lapsed> {
        while let Some((at, flow)) = self.finished.front().copied() {
            if Time(at).saturating_add(REMEMBERED).0 > now {
                break;
            }
            self.finished.pop_front();
            self.forget(flow);
        }
        while let Some(Reverse((at, flow))) = self.watch.peek().copied() {
            if at > now {
                break;
            }
            self.watch.pop();
            let flow = FlowId(flow);
            let Some(known) = self.flows.get(&flow).copied().filter(|known| !known.finished) else {
                continue;
            };
            let again = self.lapses(&known);
            if again > now {
                self.watch.push(Reverse((again, flow.0)));
                continue;
            }
            let silent = self.ends(&known).0 <= now;
            self.forget(flow);
            let Known { transport, mine, .. } = known;
            return Some(Lapsed { flow, transport, mine, silent });
        }
        None
    }
}

/// Whether a packet that has come to a flow's source shows that its destination lives. Switches send
/// headers back, and some make packets in the destination's name, which acknowledge nothing.
fn answers(packet: &Packet) -> bool {
    let from_host = match packet.header {
        Header::Segment { flags, .. } => flags & tcp_flag::ACK != 0,
        _ => true,
    };
    from_host && !packet.has(flag::BOUNCED)
}

/// Where the numbers of a pair of hosts begin: apart from those of other pairs.
fn pair(from: u32, to: u32) -> u32 {
    let both = (from as u64) << 32 | to as u64;
    (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::HostId;

    const BOUNDS: Bounds = Bounds {
        silence: Span::from_secs(2),
        stall: Span::from_secs(10),
        arriving: 3,
        bytes: 1_000,
    };
    const DCTCP: TransportId = TransportId(1);

    fn second(at: u64) -> u64 {
        at * 1_000_000_000_000
    }

    fn packet(src: u32, dst: u32, flow: FlowId) -> Packet {
        let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
        Packet::header_only(DCTCP, flow, HostId(src), HostId(dst), 0, header)
    }

    #[test]
    fn both_ends_agree_whose_flow_it_is() {
        let [mut a, mut b] = [3, 8].map(|host| Names::new(host, 5, 7, BOUNDS));
        let (there, back) = (a.open(8, DCTCP, 0), b.open(3, DCTCP, 0));
        assert!(there.0 >= 5 && a.is_own(there) && !a.is_own(FlowId(4)));
        let (there_wire, back_wire) = (a.wire(there).unwrap(), b.wire(back).unwrap());
        assert_ne!(there_wire, back_wire);
        assert!(there_wire.0 & back_wire.0 & RUN_TIME != 0);
        // The data of one and the ACKs of the other have the same addresses.
        let Found::New(arriving) = b.arrive(&packet(3, 8, there_wire), 1) else { panic!() };
        assert_eq!(b.arrive(&packet(3, 8, back_wire), 2), Found::Known(back));
        assert_eq!(a.arrive(&packet(8, 3, there_wire), 3), Found::Known(there));
        assert_eq!((b.wire(arriving), b.peer(arriving)), (Some(there_wire), Some(3)));
        // The source forgets at once, the destination later.
        a.finish(there, 4);
        assert_eq!(a.arrive(&packet(8, 3, there_wire), 5), Found::Stale);
        b.finish(arriving, 4);
        assert_eq!(b.arrive(&packet(3, 8, there_wire), 5), Found::Known(arriving));
        assert_eq!(b.lapsed(second(2)), None);
        let Found::New(again) = b.arrive(&packet(3, 8, there_wire), second(2)) else { panic!() };
        assert_ne!(again, arriving, "numbers do not return");
        // Another transport's packet with that name is none of this flow.
        let other = Packet { transport: TransportId(9), ..packet(3, 8, there_wire) };
        assert_eq!(b.arrive(&other, second(2)), Found::Stale);
    }

    #[test]
    fn silent_hosts_and_stalled_flows_are_given_up() {
        let mut names = Names::new(0, 0, 0, BOUNDS);
        let [one, two] = [1, 1].map(|to| names.open(to, DCTCP, second(1)));
        assert_eq!(names.deadline(), second(3));
        let wire = names.wire(two).unwrap();
        for at in [2, 3, 4, 5, 6, 7, 8, 9, 10] {
            names.arrive(&packet(1, 0, wire), second(at));
            assert_eq!(names.lapsed(second(at)), None);
        }
        // The host is alive, but says nothing of the first.
        let lapsed = Lapsed { flow: one, transport: DCTCP, mine: true, silent: false };
        assert_eq!(names.lapsed(second(11)), Some(lapsed));
        assert_eq!(names.lapsed(second(11)), None);
        let lapsed = Lapsed { flow: two, silent: true, ..lapsed };
        assert_eq!(names.lapsed(second(12)), Some(lapsed));
        assert_eq!((names.len(), names.deadline()), (0, u64::MAX));
    }

    #[test]
    fn what_switches_make_is_no_sign_of_a_destination() {
        let mut names = Names::new(0, 0, 0, BOUNDS);
        let flow = names.open(1, DCTCP, 0);
        let sent_back = Header::Data { seq: 0, offset: 0, tag: 0, flags: 0 };
        let segment = |flags| Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags };
        let from = |header, flags| Packet {
            header,
            flags,
            ..packet(1, 0, FlowId(names.wire(flow).unwrap().0))
        };
        let bounced = from(sent_back, flag::BOUNCED | flag::TRIMMED);
        let (by_switch, ack) = (from(segment(0), 0), from(segment(tcp_flag::ACK), 0));
        for made in [bounced, by_switch] {
            assert_eq!(names.arrive(&made, second(1)), Found::Known(flow));
            assert_eq!(names.ends(&names.flows[&flow]), (second(2), second(10)));
        }
        names.arrive(&ack, second(1));
        assert_eq!(names.ends(&names.flows[&flow]), (second(3), second(11)));
    }

    #[test]
    fn more_flows_than_there_is_room_for_are_refused() {
        let mut names = Names::new(0, 0, 0, BOUNDS);
        let wire = |number: u32| FlowId(RUN_TIME | number << 1 | 1);
        for number in 0..3 {
            assert!(matches!(names.arrive(&packet(1, 0, wire(number)), 0), Found::New(_)));
        }
        assert_eq!(names.arrive(&packet(1, 0, wire(3)), 0), Found::Refused);
        let Found::Known(first) = names.arrive(&packet(1, 0, wire(0)), 0) else { panic!() };
        names.finish(first, 0);
        assert!(matches!(names.arrive(&packet(1, 0, wire(3)), 0), Found::New(_)));
    }

    #[test]
    fn no_flow_is_longer_than_a_message_may_be() {
        let names = Names::new(0, 0, 0, BOUNDS);
        let admits = |header: Header, payload: u16| {
            names.admits(&Packet { header, payload, ..packet(1, 0, FlowId(0)) }, 200)
        };
        let segment = |seq: u32| Header::Segment { seq, ack: 0, window: 0, nibble: 0, flags: 0 };
        assert!(admits(segment(900), 100) && !admits(segment(901), 100));
        assert!(!admits(segment(u32::MAX), 1) && admits(segment(u32::MAX), 0));
        let data = |seq: u32| Header::Data { seq, offset: 0, tag: 0, flags: 0 };
        assert!(admits(data(10), 200) && !admits(data(11), 200) && !admits(data(u32::MAX), 1));
        assert!(!admits(packet(1, 0, FlowId(0)).header, 1), "it carries nothing");
    }

    /// A packet that is sent back comes by its source's address: a host that took one for a flow that
    /// arrives would answer itself.
    #[test]
    fn only_headers_of_own_data_are_sent_back() {
        let mut names = Names::new(3, 0, 0, BOUNDS);
        let header = Header::Data { seq: 0, offset: 0, tag: 0, flags: 0 };
        let back = |flow, header, flags| {
            let flags = flags | flag::BOUNCED;
            Packet { header, flags, ..packet(3, 8, flow) }
        };
        let mine = names.open(8, DCTCP, 0);
        let wire = names.wire(mine).unwrap();
        let bounced = back(wire, header, flag::TRIMMED);
        assert!(names.admits(&bounced, 200));
        assert_eq!(names.arrive(&bounced, 1), Found::Known(mine));
        // Of the other host's flows, known here or not, nothing returns to this one.
        let other = FlowId(RUN_TIME | 5 << 1 | 1);
        assert_eq!(names.arrive(&back(other, header, flag::TRIMMED), 2), Found::Stale);
        assert!(matches!(names.arrive(&packet(8, 3, other), 3), Found::New(_)));
        assert_eq!(names.arrive(&back(other, header, flag::TRIMMED), 4), Found::Stale);
        // A request for credits was never trimmed, nor was a whole packet.
        let request = packet(3, 8, wire).header;
        assert!(!names.admits(&back(wire, request, flag::TRIMMED), 200));
        assert!(!names.admits(&back(wire, header, 0), 200));
    }

    #[test]
    fn a_million_flows_leave_what_the_last_second_had() {
        let [mut a, mut b] = [0, 1].map(|host| Names::new(host, 0, u32::MAX - 9, BOUNDS));
        let mut most = 0;
        for round in 0..1_000_000 {
            let now = round * 20_000_000;
            let flow = a.open(1, DCTCP, now);
            let name = a.wire(flow).unwrap();
            let Found::New(there) = b.arrive(&packet(0, 1, name), now) else { panic!() };
            b.finish(there, now);
            a.finish(flow, now);
            assert_eq!((a.lapsed(now), b.lapsed(now)), (None, None));
            most = most.max(a.len()).max(b.len());
        }
        // 50,000 a second.
        assert!((50_000..=50_002).contains(&most), "{most}");
        assert!(b.here.len() == b.flows.len() && b.finished.len() == b.flows.len());
        assert!(a.watch.len() <= 100_001 && b.watch.len() <= 100_001, "{}", a.watch.len());
    }
}
