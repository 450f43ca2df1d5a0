//! What few NICs do: send through a port of their own, which shapes or marks; fall silent, or pause their links.

use super::{EndHost, HostIo, MOST_CALLS, NEVER, NicParts, Records, Standing, depart};
use crate::arbiter::pull;
use crate::fates::{drop_or_trim, with_displaced};
use incast_transport::{
    Backlog, Classes, Dequeue, Env, Fate, FlowId, Header, HostId, Packet, PacketRef, PortEnv,
    Stamps, Time, TransportId, Verdict, flag,
};

impl EndHost {
    /// The NIC, which has a port of its own, is free at `start`: polls for a packet and sends it.
    pub(super) fn transmit_shaped<W: HostIo>(&mut self, world: &mut W, start: u64) {
        let series = world.nic(self.port).series;
        if let Some(nic) = &self.nic
            && series.over(start)
        {
            series.set_marks(nic.marks());
        }
        if self.clear && self.transmit_through(world, start) {
            return;
        }
        let packet = self.pull_shaped(world, start);
        self.refresh_deadline();
        let backlog = self.nic.as_ref().map_or(Backlog::default(), |nic| nic.backlog());
        self.clear = self.passes && backlog.packets == 0;
        let packet = match packet {
            Ok(packet) => packet,
            Err(again) => {
                self.wanted = again;
                return;
            }
        };
        let charged = world.records().packets.charged(packet);
        let tx = world.tx(self.port, charged);
        let Records { probe, packets, .. } = world.records();
        let content = &packets[packet];
        if content.is_data() {
            probe.occupies(content.flow, tx, content.has(flag::RETRANSMIT));
        }
        self.occupy(start, tx);
        world.send(self.port, packet, start, backlog.bytes);
    }

    /// The same where the NIC's port only marks and nothing waits: a packet passes it on its way to
    /// the link. False if several control packets wait there now.
    fn transmit_through<W: HostIo>(&mut self, world: &mut W, start: u64) -> bool {
        let open = world.open(self.port);
        let Some(packet) = self.pull_from(world, start, |_| open) else {
            self.refresh_deadline();
            self.wanted = NEVER;
            return true;
        };
        let control = |open: Classes| Classes(open.0 & Classes::CONTROL.0);
        let is_data = world.records().packets[packet].class > 0;
        if !is_data && let Some(next) = self.pull_from(world, start, |_| control(open)) {
            for packet in [packet, next] {
                self.enqueue_at_nic(world, packet, start);
            }
            return false;
        }
        let NicParts { packets, random, series } = world.nic(self.port);
        packets.meta_mut(packet).tier = 0;
        let nic = self.nic.as_mut().expect("a NIC that marks");
        let waited = nic.pass(&mut PortEnv { now: Time(start), random, packets }, packet);
        series.set_backlog(start, waited);
        debug_assert_eq!(
            self.pull_from(world, start, |_| control(open)),
            None,
            "control leaves before data, and none is made of sending data"
        );
        self.refresh_deadline();
        let charged = world.records().packets.charged(packet);
        let tx = world.tx(self.port, charged);
        depart(world, &mut self.paths, packet, start, tx);
        self.occupy(start, tx);
        self.rest_if_idle();
        world.send(self.port, packet, start, 0);
        true
    }

    /// Asks the transports for a packet of these classes.
    #[inline]
    fn pull_from<W: HostIo>(
        &mut self,
        world: &mut W,
        start: u64,
        open: impl Fn(TransportId) -> Classes,
    ) -> Option<PacketRef> {
        let Records { probe, packets, .. } = world.records();
        probe.enter(Time(start), self.clock);
        let mut env = env!(self, probe, packets, start);
        pull(&mut self.transports, &mut self.turn, &mut env, open)
    }

    /// Asks the transports for what the NIC's port wants.
    fn pull<W: HostIo>(&mut self, world: &mut W, start: u64, open: Classes) -> Option<PacketRef> {
        let Records { probe, packets, .. } = world.records();
        probe.enter(Time(start), self.clock);
        let nic = self.nic.as_ref().expect("a shaped NIC");
        let mut env = env!(self, probe, packets, start);
        let wanted = |transport| Classes(open.0 & nic.wants(transport).0);
        pull(&mut self.transports, &mut self.turn, &mut env, wanted)
    }

    /// A NIC with a port of its own: packets go through it, and it may hold some classes back. The
    /// error is when to poll again.
    fn pull_shaped<W: HostIo>(&mut self, world: &mut W, start: u64) -> Result<PacketRef, u64> {
        let open = world.open(self.port);
        let control = Classes(open.0 & Classes::CONTROL.0);
        for _ in 0..MOST_CALLS {
            // What control there is by now waits in the port before the port chooses.
            let packet = match self.pull(world, start, control) {
                Some(packet) => packet,
                None => match self.nic_chooses(world, start, open) {
                    Dequeue::Packet(packet) => return Ok(packet),
                    Dequeue::NotBefore(Time(again)) => {
                        self.pull(world, start, open).ok_or(again)?
                    }
                    Dequeue::Empty => self.pull(world, start, open).ok_or(NEVER)?,
                },
            };
            self.enqueue_at_nic(world, packet, start);
        }
        self.fills(world, start, open);
        Err(NEVER)
    }

    /// The flow of the next packet is taken for the one that fills the NIC.
    #[cold]
    fn fills<W: HostIo>(&mut self, world: &mut W, start: u64, open: Classes) {
        let packet = self.pull(world, start, open);
        let flow = packet.map(|packet| world.records().packets[packet].flow);
        if let Some(packet) = packet {
            self.enqueue_at_nic(world, packet, start);
        }
        self.stand_still(world, start, Standing::Fills, flow);
    }

    /// A packet waits in the NIC's port.
    fn enqueue_at_nic<W: HostIo>(&mut self, world: &mut W, packet: PacketRef, start: u64) {
        depart(world, &mut self.paths, packet, start, 0);
        let NicParts { packets, random, series } = world.nic(self.port);
        packets.meta_mut(packet).tier = 0;
        let nic = self.nic.as_mut().expect("a shaped NIC");
        let verdict = nic.enqueue(&mut PortEnv { now: Time(start), random, packets }, packet);
        series.set_backlog(start, nic.backlog().bytes);
        settle_at_source(world, self.port, packet, verdict, start);
    }

    fn nic_chooses<W: HostIo>(&mut self, world: &mut W, start: u64, open: Classes) -> Dequeue {
        let NicParts { packets, random, .. } = world.nic(self.port);
        let nic = self.nic.as_mut().expect("a shaped NIC");
        nic.dequeue(&mut PortEnv { now: Time(start), random, packets }, open)
    }

    /// The NIC is free at `start`, when something rare is due. Whether it sends nothing else then.
    #[cold]
    pub(super) fn transmit_rarely<W: HostIo>(&mut self, world: &mut W, start: u64) -> bool {
        let rare = self.rare.as_mut().expect("something is due");
        if start >= rare.silent_from.0 {
            self.wanted = NEVER;
            return true;
        }
        let Some((_, classes, paused)) = rare.pauses.pop() else { return false };
        self.rare_from = rare.due().0;
        let quanta = if paused == 0 { 0 } else { u16::MAX };
        let header = Header::Pause { classes, paused, quanta, spare_low: 0, spare: 0 };
        let (own, none) = (self.host, HostId(0));
        let frame = Packet::header_only(TransportId(0), FlowId(0), own, none, 0, header);
        let NicParts { packets, series, .. } = world.nic(self.port);
        series.pause_frame(start, &header);
        let packet = packets.create(frame);
        *packets.stamps_mut(packet) = Stamps::default();
        let meta = packets.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(start), 0);
        let charged = packets.charged(packet);
        let tx = world.tx(self.port, charged);
        self.occupy(start, tx);
        let backlog = self.nic.as_ref().map_or(0, |nic| nic.backlog().bytes);
        world.send(self.port, packet, start, backlog);
        true
    }
}

/// What became of packets at a NIC's own port. They are still at their source: there is no way
/// back, and what would be bounced is dropped.
fn settle_at_source<W: HostIo>(
    world: &mut W,
    port: u32,
    packet: PacketRef,
    verdict: Verdict,
    at: u64,
) {
    with_displaced(world, port, packet, verdict, at, |world, packet, fate| {
        let fate = if fate == Fate::Bounced { Fate::Dropped } else { fate };
        drop_or_trim(world, port, packet, fate, at);
    });
}
