//! Hosts, updated lazily: an arrival or a timer triggers every update that is due.

use crate::egress::tx_time;
use crate::mark;
use crate::network::Network;
use incast_transport::{Classes, FlowId, PacketRef, Time};
use incast_world::{
    EndHost, FlowSetup, HostIo, Impaired, Inward, NEVER, NicParts, Records, copied,
};

/// A host; the data used per packet comes first.
#[repr(C, align(64))]
pub(crate) struct HostState {
    /// The two earliest scheduled timer events, in order. With two, a late timeout is not
    /// rescheduled whenever an early pacing timer has fired.
    timers: [u64; 2],
    pub end: EndHost,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::size_of::<Option<HostState>>() == 192);

impl HostIo for Network {
    #[inline]
    fn records(&mut self) -> Records<'_> {
        let transit = &mut self.transit;
        Records {
            probe: &mut transit.probe,
            packets: &mut transit.packets,
            deliveries: &mut transit.deliveries,
        }
    }

    #[inline]
    fn nic(&mut self, port: u32) -> NicParts<'_> {
        NicParts {
            packets: &mut self.transit.packets,
            random: &mut self.bodies[port as usize].random,
            series: &mut self.egress[port as usize].series,
        }
    }

    #[inline]
    fn open(&self, port: u32) -> Classes {
        Classes(self.egress[port as usize].transmitter.open)
    }

    #[inline]
    fn tx(&self, port: u32, charged: u32) -> u64 {
        let byte_ps = self.egress[port as usize].byte_ps;
        tx_time(&self.transit.common.fabric, port, byte_ps, charged as u16)
    }

    #[inline]
    fn send(&mut self, port: u32, packet: PacketRef, start: u64, backlog: u64) {
        self.send_by(port, packet, start, backlog);
    }
}

impl HostState {
    pub fn new(end: EndHost) -> HostState {
        HostState { timers: [NEVER; 2], end }
    }

    /// Runs the host's timers and transmissions before `until`.
    #[inline]
    pub fn advance(&mut self, net: &mut Network, until: u64) {
        self.end.advance(net, until);
    }

    /// Starts a flow.
    pub fn open(&mut self, net: &mut Network, setup: &FlowSetup) {
        let now = net.now();
        self.advance(net, now);
        self.end.open(net, now, setup);
        self.rearm(net);
    }

    /// Forgets a flow.
    pub fn abandon(&mut self, net: &mut Network, flow: FlowId) {
        let now = net.now();
        self.advance(net, now);
        self.end.abandon(net, now, flow);
        self.rearm(net);
    }

    /// Receives a packet.
    #[inline]
    pub fn arrive(&mut self, net: &mut Network, packet: PacketRef) {
        if net.impaired && (self.impair(net, packet) || self.takes_in(net, packet)) {
            return;
        }
        let now = net.now();
        self.advance(net, now);
        self.end.receive(net, now, packet);
        self.rearm(net);
    }

    /// Drops, delays or duplicates the packet; true if it does not arrive now.
    #[cold]
    fn impair(&mut self, net: &mut Network, packet: PacketRef) -> bool {
        let transit = &mut net.transit;
        let host = self.end.id();
        if !net.ended.is_empty() && net.ended.contains(&(host.0, transit.packets[packet].flow)) {
            transit.packets.free(packet);
            return true;
        }
        if transit.common.faults == Default::default() {
            return false;
        }
        let meta = transit.packets.meta_mut(packet);
        if std::mem::replace(&mut meta.mark, 0) & mark::IMPAIRED != 0 {
            return false;
        }
        let reverse = net.egress[meta.link as usize].reverse;
        let Impaired { lost, late, again } = self.end.impair(&transit.common.faults);
        if lost {
            transit.lose_on_link(packet);
            return true;
        }
        let copy =
            again.map(|after| (after, copied(&mut transit.probe, &mut transit.packets, packet)));
        for (after, packet) in copy.into_iter().chain(late.map(|after| (after, packet))) {
            transit.packets.meta_mut(packet).mark = mark::IMPAIRED;
            transit.agenda.schedule_arrival(transit.agenda.now + after, reverse, packet);
        }
        late.is_some()
    }

    /// The NIC of a host that is not ideal takes the packet in; false if it is.
    #[cold]
    fn takes_in(&mut self, net: &mut Network, packet: PacketRef) -> bool {
        let common = &net.transit.common;
        let Some(model) = &common.hosts else { return false };
        let (host, now) = (self.end.id().0, Time(net.now()));
        let inward = net.inward.entry(host);
        inward.or_insert_with(|| Inward::new(model, common.seed, host)).arrive(now, packet);
        self.hands_up(net);
        true
    }

    /// The NIC of a host that is not ideal hands what is due to the transports.
    #[cold]
    fn hands_up(&mut self, net: &mut Network) {
        let (host, now) = (self.end.id(), net.now());
        let mut handed = false;
        while let Some(inward) = net.inward.get_mut(&host.0)
            && let Some((arrived, packet)) = inward.next(Time(now))
        {
            let packets = &mut net.transit.packets;
            packets.stamps_mut(packet).wait(self.end.port(), 0, now - arrived.0);
            inward.read(packets, packet, arrived, Time(now));
            if !net.ended.is_empty() && net.ended.contains(&(host.0, packets[packet].flow)) {
                packets.free(packet);
                continue;
            }
            self.advance(net, now);
            self.end.receive(net, now, packet);
            handed = true;
        }
        let Some(inward) = net.inward.get_mut(&host.0) else { return };
        let next = inward.due();
        if inward.armed <= Time(now) || next < inward.armed {
            inward.armed = next;
            if next < Time::NEVER {
                net.transit.agenda.schedule_host(next.0, host.0);
            }
        }
        // Otherwise the host was not brought to this instant: what it waits for may be over.
        if handed {
            self.rearm(net);
        }
    }

    /// Runs the host's expired timer.
    pub fn timer(&mut self, net: &mut Network) {
        let now = net.now();
        if net.impaired {
            self.hands_up(net);
        }
        if self.timers[0] == now {
            self.timers = [self.timers[1], NEVER];
        }
        self.advance(net, now);
        self.end.run_timers(net, now);
        self.rearm(net);
    }

    /// Lets the NIC look what is due.
    pub fn look(&mut self, net: &mut Network) {
        self.advance(net, net.now());
        self.resume(net);
    }

    /// Lets the NIC request packets again after a class has opened.
    pub fn resume(&mut self, net: &mut Network) {
        self.end.want(net.now());
        self.rearm(net);
    }

    /// Schedules the next update of the host.
    #[inline(always)]
    pub fn rearm(&mut self, net: &mut Network) {
        let transit = &mut net.transit;
        let now = transit.agenda.now;
        let (wanted, busy_until) = (self.end.wanted(), self.end.busy_until());
        let (due, port) = (wanted.max(busy_until), self.end.port());
        let asks_later = wanted != NEVER
            && due > now
            && (wanted > busy_until || net.egress[port as usize].eager);
        let deadline = self.end.deadline().min(if asks_later { due } else { NEVER });
        if deadline < self.timers[0] {
            self.timers = [deadline, self.timers[0]];
            transit.agenda.schedule_host(deadline, self.end.id().0);
        }
        if wanted == NEVER || asks_later {
            return;
        }
        let egress = &mut net.egress[port as usize];
        if busy_until <= now {
            egress.kick(&mut transit.agenda, port);
        } else if !egress.armed {
            egress.arm(&mut transit.packets);
        }
    }
}
