//! All flows into one host: replies at once, and one pacer of pulls for all of them.

use super::headers::{Ack, Complete, Data, Nack, Pull};
use incast_endpoint::flow_table::{FlowSet, FlowTable};
use incast_endpoint::queue::Queue;
use incast_endpoint::receiver_driven::{Arrival, Arrivals};
use incast_transport::{Env, FlowId, Header, HostId, PacketRef, Span, Time};

/// A packet that this host is about to send for a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Its flow.
    pub flow: FlowId,
    /// The flow's source.
    pub to: HostId,
    /// ACK, NACK or PULL.
    pub header: Header,
    /// When its feedback was current.
    pub informed: Time,
}

/// The receiving side of one flow.
struct Inbound {
    src: HostId,
    arrivals: Arrivals,
    /// Offset of the newest packet, by which 32-bit offsets are widened.
    offset: u64,
    /// Number of the last pull sent.
    pulls: u32,
    /// Pulls that wait for the pacer.
    owed: u32,
    /// When the newest packet arrived.
    heard: Time,
}

/// The receiving side of a host.
pub struct Receivers {
    flows: FlowTable<Inbound>,
    finished: FlowSet,
    replies: Queue<Reply>,
    /// Flows with owed pulls, in round-robin order. May name flows that have finished.
    ready: Queue<FlowId>,
    /// Pulls owed by all flows.
    owed: u64,
    /// From when on the next pull may be sent.
    next_pull: Time,
    /// Time between pulls.
    spacing: Span,
}

impl Receivers {
    /// No flows yet; pulls at least `spacing` apart.
    pub fn new(spacing: Span) -> Receivers {
        Receivers {
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            replies: Queue::new(),
            ready: Queue::new(),
            owed: 0,
            next_pull: Time::ZERO,
            spacing,
        }
    }

    /// Flows that are being received.
    pub fn open_flows(&self) -> usize {
        self.flows.len()
    }

    /// The next reply to send.
    #[inline]
    pub fn take(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }

    /// Whether a reply waits.
    pub fn replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// A data packet or its header arrived.
    pub fn on_data(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = env.packets[packet];
        let Some(Data { packet: seq, offset, last, .. }) = Data::read(&content.header) else {
            return;
        };
        let id = content.flow;
        if self.finished.contains(id) {
            return self.reply_late(env.now, id, content.src, seq);
        }
        let slot = match self.flows.slot_of(id) {
            Some(slot) => slot,
            None => self.flows.insert(id, Inbound::new(content.src)),
        };
        let flow = self.flows.at_mut(slot);
        flow.heard = env.now;
        // Without its payload it is as good as trimmed, whoever has cut it off.
        if content.is_data() {
            match flow.arrivals.insert(seq, last) {
                Arrival::New => {
                    let offset = flow.widen(offset);
                    env.probe.delivered(id, seq, offset, content.payload as u32);
                    if flow.arrivals.complete() {
                        env.probe.completed(id);
                        return self.finish(env.now, id, seq);
                    }
                }
                Arrival::Duplicate => {}
                Arrival::Outside => return,
            }
        }
        let present = flow.has(seq);
        self.reply(env.now, slot, id, seq, present);
    }

    /// Replies a packet, with a pull if the pacer allows one now; otherwise one is owed.
    fn reply(&mut self, now: Time, slot: u32, id: FlowId, seq: u32, present: bool) {
        let flow = self.flows.at_mut(slot);
        let pulls = self.owed == 0 && now >= self.next_pull;
        if pulls {
            // As the authors' simulator: a free pacer lets the reply itself pull.
            flow.pulls = flow.pulls.wrapping_add(1);
            self.next_pull = now + self.spacing;
        } else {
            if self.owed == 0 {
                self.next_pull = self.next_pull.max(now);
            }
            if flow.owed == 0 {
                self.ready.push_back(id);
            }
            flow.owed += 1;
            self.owed += 1;
        }
        let cumulative = flow.arrivals.lowest_missing();
        let (packet, pull) = (seq, flow.pulls);
        let header = match present {
            true => Ack { packet, cumulative, pull, pulls }.into(),
            false => Nack { packet, cumulative, pull, pulls }.into(),
        };
        self.replies.push_back(Reply { flow: id, to: flow.src, header, informed: now });
    }

    /// Everything has arrived: the flow's pulls are no longer wanted.
    fn finish(&mut self, now: Time, id: FlowId, seq: u32) {
        let src = self.remove(id).expect("it has just received").src;
        self.finished.insert(id, now);
        self.reply_late(now, id, src, seq);
    }

    /// Forgets a flow.
    pub fn abandon(&mut self, id: FlowId) {
        self.remove(id);
    }

    /// Takes a flow out, and the pulls it is owed.
    fn remove(&mut self, id: FlowId) -> Option<Inbound> {
        let flow = self.flows.remove(id)?;
        self.owed -= flow.owed as u64;
        if self.owed == 0 {
            self.ready.clear();
        }
        Some(flow)
    }

    /// Repeats the Complete packet to the source of a finished flow.
    fn reply_late(&mut self, now: Time, flow: FlowId, to: HostId, seq: u32) {
        let header = Complete { packet: seq, next: seq.saturating_add(1) }.into();
        self.replies.push_back(Reply { flow, to, header, informed: now });
    }

    /// When the pacer sends the next pull.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.owed == 0 { Time::NEVER } else { self.next_pull }
    }

    /// Sends the pull that is due, of the flow whose turn it is.
    pub fn on_timer(&mut self, now: Time) {
        if self.owed == 0 || now < self.next_pull {
            return;
        }
        // A world that calls late gets its rate back, but never a burst.
        self.next_pull += self.spacing;
        if self.next_pull <= now {
            self.next_pull = now + self.spacing;
        }
        loop {
            let id = self.ready.pop_front().expect("an owed pull has its turn");
            let Some(flow) = self.flows.get_mut(id) else { continue };
            flow.owed -= 1;
            flow.pulls = flow.pulls.wrapping_add(1);
            if flow.owed > 0 {
                self.ready.push_back(id);
            }
            self.owed -= 1;
            let cumulative = flow.arrivals.lowest_missing();
            let header = Pull { cumulative, number: flow.pulls }.into();
            let (to, informed) = (flow.src, flow.heard);
            self.replies.push_back(Reply { flow: id, to, header, informed });
            return;
        }
    }
}

impl Inbound {
    fn new(src: HostId) -> Inbound {
        Inbound { src, arrivals: Arrivals::new(), offset: 0, pulls: 0, owed: 0, heard: Time::ZERO }
    }

    /// Whether the packet arrived untrimmed.
    fn has(&self, seq: u32) -> bool {
        seq < self.arrivals.end() && self.arrivals.hole_from(seq) != Some(seq)
    }

    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    fn widen(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}
