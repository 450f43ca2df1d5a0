//! One host for tests, called by hand: packets in, packets out.

use crate::ndp::test_world::{configured, fabric, host_site};
use incast_transport::{
    Classes, Env, FabricSite, Flow, FlowId, Framing, Header, Host, HostClock, HostId, Packet,
    PacketPool, Probe, Random, Rate, Span, Time, Transport, data_flag,
};
use std::sync::Arc;

pub(crate) const RATE: Rate = Rate::from_gbps(10);
pub(crate) const MSS: u64 = 1460;
/// A full packet at 10 Gb/s.
pub(crate) const SLOT: Span = Span(1_230_400);

pub(crate) fn slots(n: u64) -> Time {
    Time::ZERO + SLOT * n
}

/// A fabric whose round trip is eight packets.
pub(crate) fn eight() -> Arc<FabricSite> {
    let fabric = fabric(4, RATE, SLOT * 8);
    assert_eq!(fabric.bdp_packets(RATE), 8);
    fabric
}

/// Host 1; its peers have the numbers that calls say, 2 if they do not.
pub(crate) struct Bench {
    pub host: Box<dyn Host>,
    packets: PacketPool,
    pub probe: Probe,
    random: Random,
}

impl Bench {
    pub fn new(transport: &dyn Transport, settings: &[(&str, &str)]) -> Bench {
        let fabric = eight();
        Bench {
            host: configured(transport, settings, &fabric).host(&host_site(1, &fabric)),
            packets: PacketPool::new(Framing::ETHERNET),
            probe: Probe::new(64, true),
            random: Random::new(0, 0, 0),
        }
    }

    fn call<T>(&mut self, now: Time, f: impl FnOnce(&mut dyn Host, &mut Env<'_>) -> T) -> T {
        self.probe.enter(now, HostClock::default());
        let mut env = Env {
            now,
            host: HostId(1),
            random: &mut self.random,
            probe: &mut self.probe,
            packets: &mut self.packets,
        };
        f(&mut *self.host, &mut env)
    }

    pub fn open(&mut self, now: Time, flow: &Flow) {
        self.call(now, |host, env| {
            env.probe.opened(flow.id);
            host.open(env, flow);
        });
    }

    pub fn receive(&mut self, now: Time, src: u32, flow: u32, header: Header, payload: u16) {
        self.call(now, |host, env| {
            let packet = env.packets.create(Packet {
                header,
                src: HostId(src),
                dst: HostId(1),
                flow: FlowId(flow),
                payload,
                path: 0,
                mark: 0,
                class: 0,
                transport: incast_transport::TransportId(0),
                flags: 0,
                extension: 0,
            });
            let mut stamps = *env.packets.stamps(packet);
            (stamps.started, stamps.departed, stamps.own) = (now.0, now.0, 0);
            (stamps.blocked, stamps.waited) = Default::default();
            env.probe.arriving(&stamps, env.packets.meta(packet));
            host.receive(env, packet);
            env.packets.free(packet);
        });
    }

    /// Data of a message of so many packets; `flags` beside LAST.
    pub fn data(&mut self, now: Time, src: u32, flow: u32, seq: u32, packets: u32, flags: u8) {
        let last = if seq + 1 == packets { data_flag::LAST } else { 0 };
        let offset = seq * MSS as u32;
        let header = Header::Data { seq, offset, tag: packets, flags: flags | last };
        self.receive(now, src, flow, header, MSS as u16);
    }

    pub fn grant(&mut self, now: Time, flow: u32, granted: u32, class: u32) {
        let header = Header::Grant { seq: granted, request: 0, tag: class, flags: 0 };
        self.receive(now, 2, flow, header, 0);
    }

    pub fn resend(&mut self, now: Time, flow: u32, first: u32, packets: u32, class: u32) {
        self.receive(now, 2, flow, Header::Resend { first, packets, class, flags: 0 }, 0);
    }

    pub fn finish(&mut self, now: Time, flow: u32) {
        let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
        self.receive(now, 2, flow, header, 0);
    }

    pub fn transmit_if(&mut self, now: Time, open: Classes) -> Option<Packet> {
        self.call(now, |host, env| {
            let packet = host.transmit(env, open)?;
            let content = env.packets[packet];
            env.packets.free(packet);
            Some(content)
        })
    }

    pub fn transmit(&mut self, now: Time) -> Option<Packet> {
        self.transmit_if(now, Classes::ALL)
    }

    /// Everything that leaves at this instant.
    pub fn drain(&mut self, now: Time) -> Vec<Packet> {
        std::iter::from_fn(|| self.transmit(now)).collect()
    }

    /// The next packet as (flow, packet number, class), if it is data.
    pub fn sends(&mut self, now: Time) -> Option<(u32, u32, u8)> {
        let packet = self.transmit(now).filter(|packet| packet.is_data())?;
        Some((packet.flow.0, packet.header.data_key(), packet.class))
    }

    /// The grants that leave at this instant: flow, packets granted, class.
    pub fn grants(&mut self, now: Time) -> Vec<(u32, u32, u32)> {
        grants(&self.drain(now))
    }

    /// Wakes the host if it is time while its NIC is paused; nothing can leave.
    pub fn wake_paused(&mut self, now: Time) {
        self.call(now, |host, env| host.wake(env));
        assert!(self.host.deadline() > now, "a timer in the past");
    }

    /// Wakes the host at its deadlines until `until`; what it sends, and when.
    pub fn run(&mut self, until: Time) -> Vec<(Time, Packet)> {
        let mut sent = vec![];
        while self.host.deadline() <= until {
            let now = self.host.deadline();
            self.call(now, |host, env| host.wake(env));
            assert!(self.host.deadline() > now, "a timer in the past");
            while let Some(packet) = self.transmit(now) {
                sent.push((now, packet));
            }
        }
        sent
    }
}

/// The grants among packets: flow, packets granted, class.
pub(crate) fn grants(packets: &[Packet]) -> Vec<(u32, u32, u32)> {
    let grant = |packet: &Packet| match packet.header {
        Header::Grant { seq, tag, .. } => Some((packet.flow.0, seq, tag)),
        _ => None,
    };
    packets.iter().filter_map(grant).collect()
}

/// The requests to send again among packets: flow, first packet, how many.
pub(crate) fn resends(packets: &[(Time, Packet)]) -> Vec<(Time, u32, u32, u32)> {
    let resend = |&(at, packet): &(Time, Packet)| match packet.header {
        Header::Resend { first, packets, .. } => Some((at, packet.flow.0, first, packets)),
        _ => None,
    };
    packets.iter().filter_map(resend).collect()
}
