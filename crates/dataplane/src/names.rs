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

#[cfg(test)]
mod tests;

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
/// Most flows that were given up and of which what still comes is ignored.
const BARRED_MOST: usize = 4_096;

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
    /// Flows that arrived here and were given up, and when something last came of them.
    barred: HashMap<Name, u64>,
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
            barred: HashMap::new(),
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

    /// Flows that have not ended.
    pub fn unfinished(&self) -> impl Iterator<Item = FlowId> + '_ {
        self.flows.iter().filter(|(_, known)| !known.finished).map(|(flow, _)| *flow)
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
        let (opened, heard, mine) = (now, now, true);
        self.add(Known { name, transport, mine, opened, heard, finished: false })
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
        if self.is_barred(name, now) {
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

    /// A flow is given up. Of one that arrives here what still comes is ignored, until nothing has come for
    /// [`Bounds::stall`]: taken for a new flow, its packets would be acknowledged, and with those that were before
    /// its source would believe that all is there.
    pub fn bar(&mut self, flow: FlowId, now: u64) {
        let known = self.flows.get(&flow).filter(|known| !known.mine && !known.finished).copied();
        self.forget(flow);
        let Some(Known { name, .. }) = known else { return };
        let stall = self.bounds.stall;
        if self.barred.len() >= BARRED_MOST {
            self.barred.retain(|_, heard| Time(*heard).saturating_add(stall).0 > now);
        }
        if self.barred.len() < BARRED_MOST {
            self.barred.insert(name, now);
        }
    }

    /// Whether packets of this name are those of a flow that was given up; its source goes on.
    fn is_barred(&mut self, name: Name, now: u64) -> bool {
        let Some(heard) = self.barred.get_mut(&name) else { return false };
        let goes_on = Time(*heard).saturating_add(self.bounds.stall).0 > now;
        *heard = now;
        if !goes_on {
            self.barred.remove(&name);
        }
        goes_on
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
            self.bar(flow, now);
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
