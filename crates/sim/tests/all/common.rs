//! A transport for tests of the engine: line rate, or a fixed window clocked by ACKs.

use incast_fabric::Fabric;
use incast_transport::*;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub static INFO: Info = Info {
    name: "plain",
    id: TransportId(77),
    title: "Plain",
    paper: "none",
    kind: TransportKind::Window,
    switch_support: "none",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    one_path: false,
    ecn: EcnUse::None,
    marks: false,
    made_for_pfc: false,
    feedback_bits: None,
    headers: &[],
    deviations: &[],
};

#[derive(Clone, Copy, Default)]
pub struct Plain {
    /// Largest number of unacknowledged packets. `None` is unlimited, without ACKs.
    pub window: Option<u32>,
    /// Interval between packets.
    pub pace: Span,
    /// The receiver of this flow panics when it is complete.
    pub breaks: Option<FlowId>,
}

struct Sender {
    flow: Flow,
    next: u32,
    acked: u32,
}

struct PlainHost {
    config: Plain,
    senders: Vec<Sender>,
    turn: usize,
    acks: VecDeque<Packet>,
    received: BTreeMap<FlowId, (u64, u64)>,
    not_before: Time,
}

impl PlainHost {
    fn sendable(&self, sender: &Sender) -> bool {
        let window = self.config.window.unwrap_or(u32::MAX);
        sender.next < sender.flow.packets() && sender.next - sender.acked < window
    }
}

impl Host for PlainHost {
    fn open(&mut self, _env: &mut Env<'_>, flow: &Flow) {
        self.senders.push(Sender { flow: flow.clone(), next: 0, acked: 0 });
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let packet = env.packets[packet];
        match packet.header {
            Header::Data { seq, offset, flags, .. } => {
                let state = self.received.entry(packet.flow).or_insert((0, u64::MAX));
                state.0 += packet.payload as u64;
                if flags & data_flag::LAST != 0 {
                    state.1 = offset as u64 + packet.payload as u64;
                }
                let done = state.0 == state.1;
                env.probe.delivered(packet.flow, seq, offset as u64, packet.payload as u32);
                if done {
                    assert_ne!(Some(packet.flow), self.config.breaks, "a bug in a transport");
                    env.probe.completed(packet.flow);
                }
                if self.config.window.is_some() {
                    self.acks.push_back(Packet {
                        header: Header::Ack { seq, cumulative: 0, number: 0, flags: 0 },
                        src: packet.dst,
                        dst: packet.src,
                        payload: 0,
                        class: 0,
                        ..packet
                    });
                }
            }
            Header::Ack { .. } => {
                let sender = self.senders.iter_mut().find(|s| s.flow.id == packet.flow).unwrap();
                sender.acked += 1;
                env.probe.blocked(packet.flow, Reason::Ready);
            }
            _ => unreachable!(),
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if let Some(ack) = self.acks.pop_front() {
            return Some(env.packets.create(ack));
        }
        if env.now < self.not_before || !open.has(1) {
            return None;
        }
        for step in 0..self.senders.len() {
            let index = (self.turn + step) % self.senders.len();
            if !self.sendable(&self.senders[index]) {
                continue;
            }
            self.turn = index + 1;
            let sender = &mut self.senders[index];
            let (seq, flow) = (sender.next, &sender.flow);
            sender.next += 1;
            let last = sender.next == flow.packets();
            let packet = Packet {
                header: Header::Data {
                    seq,
                    offset: flow.offset(seq) as u32,
                    tag: 0,
                    flags: if last { data_flag::LAST } else { 0 },
                },
                src: flow.src,
                dst: flow.dst,
                flow: flow.id,
                payload: flow.payload(seq),
                path: 0,
                mark: 0,
                class: 1,
                transport: INFO.id,
                flags: 0,
                extension: 0,
            };
            let id = flow.id;
            if last {
                let done = self.config.window.is_none();
                if done {
                    self.senders.remove(index);
                }
            } else if !self.sendable(&self.senders[index]) {
                env.probe.blocked(id, Reason::Window);
            }
            if self.config.pace > Span::ZERO {
                self.not_before = env.now + self.config.pace;
            }
            return Some(env.packets.create(packet));
        }
        None
    }

    fn deadline(&self) -> Time {
        let waits = self.config.pace > Span::ZERO && self.senders.iter().any(|s| self.sendable(s));
        if waits { self.not_before } else { Time::NEVER }
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        if self.not_before <= env.now {
            // The NIC requests a packet right after; no timer is needed until then.
            self.not_before = env.now + Span(1);
            self.config.pace = self.config.pace.saturating_sub(Span(0));
        }
    }

    fn open_flows(&self) -> usize {
        self.senders.len()
    }
}

impl Configured for Plain {
    fn host(&self, _site: &HostSite) -> Box<dyn Host> {
        Box::new(PlainHost {
            config: *self,
            senders: vec![],
            turn: 0,
            acks: VecDeque::new(),
            received: BTreeMap::new(),
            not_before: Time::ZERO,
        })
    }
    fn policy(&self, site: &PortSite) -> Policy {
        let data = ClassPolicy::fifo(site.buffer);
        let control = ClassPolicy::fifo(Limit::Unlimited);
        Policy { transport: INFO.id, classes: vec![control, data], markers: vec![] }
    }
    fn resolved(&self) -> Vec<(&'static str, String)> {
        vec![]
    }
    fn unsolicited(&self, _site: &HostSite, packets: u32) -> u32 {
        packets
    }
}

/// The value itself is the configuration; settings are ignored.
impl Transport for Plain {
    fn info(&self) -> &'static Info {
        &INFO
    }
    fn parameters(&self) -> Vec<ParameterDoc> {
        vec![]
    }
    fn configure(
        &self,
        _settings: &[(String, Setting)],
        _fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, Fault> {
        Ok(Arc::new(*self))
    }
}

/// Links of 40 Gb/s and 1 us.
pub fn fabric(spec: &str) -> Fabric {
    incast_testkit::fabric(spec, Rate::from_gbps(40), Span::from_us(1))
}
