//! What becomes of packets that do not simply join a port's queue, at switches and NICs alike.

use crate::{OWN, PortSeries};
use incast_transport::{Fate, PacketPool, PacketRef, Verdict, flag};

/// Where packets go that a port does not keep.
pub trait Drops {
    /// Packets, and the record of a port.
    fn packets_and_series(&mut self, port: u32) -> (&mut PacketPool, &mut PortSeries);

    /// Gives back what the packet holds of the buffers of the switch that `port` is of. At a NIC
    /// nothing is held.
    fn give_back(&mut self, port: u32, packet: PacketRef);

    /// A packet, or its payload, is lost at a port at `at`, picoseconds.
    fn note_loss(&mut self, packet: PacketRef, at: u64);

    /// A packet's life ends at `port`. A world that keeps more of it than the pool frees that too.
    #[inline]
    fn free(&mut self, port: u32, packet: PacketRef) {
        self.packets_and_series(port).0.free(packet);
    }
}

/// Calls `settle` with the fate of the arriving packet, and then with that of the displaced one.
pub fn with_displaced<W: Drops>(
    world: &mut W,
    port: u32,
    packet: PacketRef,
    verdict: Verdict,
    at: u64,
    mut settle: impl FnMut(&mut W, PacketRef, Fate),
) {
    settle(world, packet, verdict.arriving);
    if let Some((displaced, fate)) = verdict.displaced {
        let (packets, _) = world.packets_and_series(port);
        let meta = *packets.meta(displaced);
        // It had waited until now.
        let (tier, waited) = (meta.tier as usize, at - meta.arrived.0);
        packets.stamps_mut(displaced).waited[tier] += waited;
        settle(world, displaced, fate);
        if fate == Fate::Trimmed {
            // Its header goes on waiting, which is counted when it leaves.
            world.packets_and_series(port).0.stamps_mut(displaced).waited[tier] -= waited;
        }
    }
}

/// Carries out a fate other than [`Fate::Bounced`].
pub fn drop_or_trim<W: Drops>(world: &mut W, port: u32, packet: PacketRef, fate: Fate, at: u64) {
    match fate {
        Fate::Queued => {}
        Fate::Trimmed => {
            world.packets_and_series(port).1.rare(at).trims += 1;
            world.note_loss(packet, at);
        }
        Fate::Dropped => {
            world.give_back(port, packet);
            drop_packet(world, port, packet, at);
        }
        Fate::Bounced => unreachable!("a packet that is bounced has a reverse path"),
    }
}

/// A packet for which nothing is booked is dropped at `port`.
pub fn drop_packet<W: Drops>(world: &mut W, port: u32, packet: PacketRef, at: u64) {
    let (packets, series) = world.packets_and_series(port);
    series.dropped(at, packets, packet);
    lose(world, port, packet, at);
}

/// A packet is lost at `at`: its life ends, and what it carried is missing.
pub fn lose<W: Drops>(world: &mut W, port: u32, packet: PacketRef, at: u64) {
    world.note_loss(packet, at);
    world.free(port, packet);
}

/// Makes a packet that `port` of a switch sends back ready to return: a header that remembers it.
pub fn turn_back<W: Drops>(world: &mut W, port: u32, packet: PacketRef, at: u64) {
    world.give_back(port, packet);
    world.note_loss(packet, at);
    if world.packets_and_series(port).0[packet].is_data() {
        world.packets_and_series(port).0.trim(packet);
    }
    let (packets, _) = world.packets_and_series(port);
    assert!(!packets[packet].has(flag::BOUNCED), "a packet is bounced once");
    packets[packet].flags |= flag::BOUNCED;
    // It goes back where packets come from: no link may be paused for it.
    packets.stamps_mut(packet).ingress = OWN;
}
