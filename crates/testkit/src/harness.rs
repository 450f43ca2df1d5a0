//! What a world lends for the length of one call.

use incast_transport::{
    Classes, Dequeue, Env, Framing, Host, HostClock, HostId, Packet, PacketPool, PacketRef, Port,
    PortEnv, PortView, Probe, Random, SwitchEnv, Time, Verdict,
};

/// Packets, a probe of 1024 flows that logs deliveries, and a random stream. It has no clock: each
/// call says when it is made.
pub struct Harness {
    /// Where packets live.
    pub packets: PacketPool,
    /// Where facts about flows are reported.
    pub probe: Probe,
    /// The stream of whatever is called.
    pub random: Random,
}

impl Harness {
    /// With Ethernet.
    pub fn new() -> Harness {
        Harness::framed(Framing::ETHERNET)
    }

    /// With what links charge.
    pub fn framed(framing: Framing) -> Harness {
        Harness {
            packets: PacketPool::new(framing),
            probe: Probe::new(crate::FLOWS, true),
            random: Random::new(1, 2, 3),
        }
    }

    /// For a call of a host.
    pub fn env(&mut self, now: Time, host: HostId) -> Env<'_> {
        let Harness { packets, probe, random } = self;
        Env { now, host, random, probe, packets }
    }

    /// For a call of a port.
    pub fn port_env(&mut self, now: Time) -> PortEnv<'_> {
        let Harness { packets, random, .. } = self;
        PortEnv { now, random, packets }
    }

    /// For a call of a switch's hook: the packet came by the link whose other direction `back` is
    /// the egress of.
    pub fn switch_env(&mut self, now: Time, back: PortView, egress: PortView) -> SwitchEnv<'_> {
        let Harness { packets, probe, random } = self;
        SwitchEnv { now, random, packets, probe, back, egress }
    }

    /// A host, number 0, receives a packet, which is freed.
    pub fn receive(&mut self, host: &mut dyn Host, now: Time, packet: PacketRef) {
        host.receive(&mut self.env(now, HostId(0)), packet);
        self.packets.free(packet);
    }

    /// The NIC of host 0 takes a packet of an open class.
    pub fn transmit(&mut self, host: &mut dyn Host, now: Time, open: Classes) -> Option<PacketRef> {
        host.transmit(&mut self.env(now, HostId(0)), open)
    }

    /// A packet wants to leave by a port.
    pub fn enqueue(&mut self, port: &mut dyn Port, now: Time, packet: PacketRef) -> Verdict {
        port.enqueue(&mut self.port_env(now), packet)
    }

    /// The link is free.
    pub fn dequeue(&mut self, port: &mut dyn Port, now: Time, open: Classes) -> Dequeue {
        port.dequeue(&mut self.port_env(now), open)
    }

    /// The next packet of any class, which must be there.
    pub fn next(&mut self, port: &mut dyn Port, now: Time) -> PacketRef {
        match self.dequeue(port, now, Classes::ALL) {
            Dequeue::Packet(packet) => packet,
            other => panic!("{other:?} instead of a packet at {now}"),
        }
    }

    /// Everything that leaves a port at one instant.
    pub fn drain(&mut self, port: &mut dyn Port, now: Time) -> Vec<PacketRef> {
        std::iter::from_fn(|| match self.dequeue(port, now, Classes::ALL) {
            Dequeue::Packet(packet) => Some(packet),
            _ => None,
        })
        .collect()
    }

    /// Puts a packet into the pool as if it had left its source at `now`.
    pub fn departed(&mut self, now: Time, packet: Packet) -> PacketRef {
        let handle = self.packets.create(packet);
        let stamps = self.packets.stamps_mut(handle);
        (stamps.started, stamps.departed) = (now.0, now.0);
        (stamps.spent, stamps.waited, stamps.worst) = Default::default();
        handle
    }

    /// Says that a packet is about to be received, for flows that complete on it.
    pub fn arrives(&mut self, now: Time, packet: PacketRef) {
        self.probe.enter(now, HostClock::default());
        let (content, stamps) = (self.packets[packet], self.packets.stamps(packet));
        self.probe.arriving(&content, stamps, self.packets.meta(packet));
    }
}

impl Default for Harness {
    fn default() -> Harness {
        Harness::new()
    }
}
