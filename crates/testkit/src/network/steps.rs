//! What happens in a network at one instant.

use super::{Dropped, Event, Link, Network, Received, Sent};
use crate::Impairment;
use incast_transport::{
    Bytes, Classes, Dequeue, Fate, Flow, Host, Loss, Meta, Packet, PacketRef, PortEnv, Time,
    Verdict, flag,
};

/// How a loss is recorded: at a port, or on a link.
type LossAt = fn(&Packet, &Meta, u64) -> Option<Loss>;

/// As a number of ports: the packet goes no further than the link it is on.
const STRAY: usize = u32::MAX as usize;

impl<H: Host + ?Sized> Network<H> {
    pub(super) fn push(&mut self, at: Time, kind: u8, event: Event) {
        self.count += 1;
        self.events.insert((at, kind, self.count), event);
    }

    /// When something happens next.
    pub(super) fn next(&self) -> Time {
        let event = self.events.first_key_value().map(|(key, _)| key.0);
        let host = self.hosts.iter().map(|host| host.deadline()).min();
        let port = |link: &Link| link.port.as_ref().map(|port| port.deadline());
        let port = self.links.iter().filter_map(port).min();
        let polled = self.links.iter().filter(|link| link.polled);
        let free = polled.map(|link| link.busy_until.max(link.not_before)).min();
        [event, host, port, free].into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    pub(super) fn step(&mut self, now: Time) {
        assert!(now >= self.now, "{now} is in the past");
        self.now = now;
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Event::Arrive { packet, ports } => self.arrive(packet, ports),
                Event::Inject { packet, link } => self.enqueue(link, packet, STRAY),
                Event::Open(flow) => self.opened(flow),
            }
        }
        (0..self.hosts.len()).for_each(|host| self.wake(host));
        for link in &mut self.links {
            if let Some(port) = link.port.as_mut().filter(|port| port.deadline() <= now) {
                port.wake(&mut PortEnv {
                    now,
                    random: &mut link.random,
                    packets: &mut self.packets,
                });
            }
        }
        (0..self.links.len()).for_each(|link| self.send_if_free(link));
    }

    pub(super) fn opened(&mut self, flow: Flow) {
        self.call(flow.src.0 as usize, |host, env| {
            env.probe.opened(flow.id);
            host.open(env, &flow);
        });
        self.links[flow.src.0 as usize].polled = true;
        self.flows.push(flow);
    }

    fn wake(&mut self, host: usize) {
        if self.hosts[host].deadline() > self.now {
            return;
        }
        self.wakes += 1;
        self.call(host, |host, env| host.wake(env));
        let deadline = self.hosts[host].deadline();
        assert!(deadline > self.now, "a timer in the past: {deadline} at {}", self.now);
        self.call(host, |host, env| host.wake(env));
        assert_eq!(self.hosts[host].deadline(), deadline, "waking twice is not waking once");
        self.links[host].polled = true;
    }

    fn arrive(&mut self, packet: PacketRef, ports: usize) {
        let content = self.packets[packet];
        let back = content.has(flag::BOUNCED);
        let (src, dst) = if back { (content.dst, content.src) } else { (content.src, content.dst) };
        let path = self.paths.get(&(src.0, dst.0));
        if let Some(&next) = path.and_then(|path| path.get(ports)) {
            return self.enqueue(next, packet, ports + 1);
        }
        let host = dst.0 as usize;
        self.received.push(Received { at: self.now, host: dst.0, packet: content });
        self.call(host, |host, env| {
            if content.is_data() {
                let (stamps, meta) = (env.packets.stamps(packet), env.packets.meta(packet));
                env.probe.arriving(&content, stamps, meta);
            }
            env.probe.received(&content, env.packets.charged(packet));
            host.receive(env, packet);
            env.packets.free(packet);
        });
        self.links[host].polled = true;
    }

    /// A packet comes to a port, the `ports`-th on its path, or the last if there are so many.
    fn enqueue(&mut self, link: usize, packet: PacketRef, ports: usize) {
        self.packets.meta_mut(packet).arrived = self.now;
        // Where it is on its path, while it waits.
        self.packets.stamps_mut(packet).ingress = ports as u32;
        let Link { port, random, .. } = &mut self.links[link];
        let port = port.as_mut().expect("a port");
        let packets = &mut self.packets;
        let verdict = port.enqueue(&mut PortEnv { now: self.now, random, packets }, packet);
        if let Some((displaced, fate)) = verdict.displaced {
            self.decided(link, displaced, fate);
        }
        self.decided(link, packet, verdict.arriving);
        self.links[link].polled = true;
    }

    /// A port has decided about a packet.
    fn decided(&mut self, link: usize, packet: PacketRef, fate: Fate) {
        if fate != Fate::Queued {
            self.lost(packet, self.now, Loss::at_port);
        }
        match fate {
            Fate::Queued | Fate::Trimmed => {}
            Fate::Dropped => {
                self.dropped.push(Dropped { at: self.now, link, packet: self.packets[packet] });
                self.packets.free(packet);
            }
            Fate::Bounced => {
                self.packets[packet].flags |= flag::BOUNCED;
                self.arrive(packet, 0);
            }
        }
    }

    pub(super) fn send_if_free(&mut self, link: usize) {
        let Link { polled, busy_until, not_before, .. } = self.links[link];
        if polled && busy_until <= self.now && not_before <= self.now {
            self.links[link].polled = false;
            match self.links[link].port {
                Some(_) => self.send_from_port(link),
                None => self.send_from_host(link),
            }
        }
    }

    fn send_from_host(&mut self, link: usize) {
        let idle = self.hosts[link].idle();
        let open = self.open;
        let Some(packet) = self.call(link, |host, env| host.transmit(env, open)) else { return };
        let content = self.packets[packet];
        assert!(!idle, "an idle host sent {content:?}");
        assert!(open.has(content.class), "class {} is closed", content.class);
        let tx = self.links[link].rate.tx_time(Bytes(self.packets.charged(packet) as u64));
        let clock = &mut self.nics[link].clock;
        self.probe.enter(self.now, *clock);
        if content.is_data() {
            let again = content.has(flag::RETRANSMIT);
            self.probe.departs(content.flow, tx.0, again, self.packets.stamps_mut(packet));
        }
        clock.busy += tx.0;
        clock.busy_until = (self.now + tx).0;
        let Link { marking, random, .. } = &mut self.links[link];
        if let Some(port) = marking {
            let mut env = PortEnv { now: self.now, random, packets: &mut self.packets };
            let verdict = port.enqueue(&mut env, packet);
            assert_eq!(verdict, Verdict::only(Fate::Queued), "a NIC drops nothing");
            assert_eq!(port.dequeue(&mut env, Classes::ALL), Dequeue::Packet(packet));
        }
        self.carry(link, packet, 0);
    }

    fn send_from_port(&mut self, link: usize) {
        let Link { port, random, not_before, .. } = &mut self.links[link];
        let port = port.as_mut().expect("a port");
        let mut env = PortEnv { now: self.now, random, packets: &mut self.packets };
        match port.dequeue(&mut env, Classes::ALL) {
            Dequeue::Packet(packet) => {
                let waiting = port.data_backlog().packets;
                self.most_waiting[link] = self.most_waiting[link].max(waiting);
                let waited = self.now.since(self.packets.meta(packet).arrived);
                let stamps = self.packets.stamps_mut(packet);
                stamps.wait(link as u32, 1, waited.0);
                let ports = stamps.ingress;
                self.carry(link, packet, ports as usize);
            }
            Dequeue::NotBefore(at) => {
                assert!(at > self.now);
                *not_before = at;
                self.links[link].polled = true;
            }
            Dequeue::Empty => {}
        }
    }

    /// A packet begins transmission after so many ports.
    fn carry(&mut self, link: usize, packet: PacketRef, ports: usize) {
        let Link { rate, delay, impairments, .. } = self.links[link];
        let (content, extension) = (self.packets[packet], *self.packets.extension(packet));
        let tx = rate.tx_time(Bytes(self.packets.charged(packet) as u64));
        let ends = self.now + tx;
        self.links[link].busy_until = ends;
        self.links[link].polled = true;
        self.packets.meta_mut(packet).serialised += tx.0 as u32;
        let impairment = self.impairments[impairments].next(&content, self.sent.len());
        self.sent.push(Sent { at: self.now, link, packet: content, extension, impairment });
        if ports == STRAY {
            return self.packets.free(packet);
        }
        let Impairment { lost, late, copy, mark, trimmed, bounced } = impairment;
        if let Some(mark) = mark {
            self.packets[packet].mark = mark;
            self.packets.stamps_mut(packet).informed = self.now.0;
        }
        if let Some(later) = copy {
            let copy = self.copy(packet);
            self.push(ends + delay + later, 0, Event::Arrive { packet: copy, ports });
        }
        if lost || (trimmed && content.is_data()) {
            self.lost(packet, ends, Loss::of);
            if lost {
                return self.packets.free(packet);
            }
            self.packets.trim(packet);
            self.packets[packet].flags |= if bounced { flag::BOUNCED } else { 0 };
        }
        let ports = if bounced && content.is_data() { 0 } else { ports };
        self.push(ends + delay + late, 0, Event::Arrive { packet, ports });
    }

    fn copy(&mut self, packet: PacketRef) -> PacketRef {
        let (content, meta) = (self.packets[packet], *self.packets.meta(packet));
        let (extension, mut stamps) =
            (*self.packets.extension(packet), *self.packets.stamps(packet));
        self.probe.doubles(&content, &mut stamps);
        self.packets.put(content, meta, extension, stamps)
    }

    fn lost(&mut self, packet: PacketRef, at: Time, made: LossAt) {
        if let Some(loss) = made(&self.packets[packet], self.packets.meta(packet), at.0) {
            self.probe.record_loss(&loss, self.packets.stamps(packet));
        }
        self.packets.stamps_mut(packet).lose();
    }
}
