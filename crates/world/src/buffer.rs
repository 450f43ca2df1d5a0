//! What one switch holds, port by port and link by link, and what that announces.

use crate::pfc::Occupancy;
use crate::{Buffers, Charge, DeadlockDetector, Ingress};
use incast_transport::{PacketPool, PacketRef, Stamps};
use std::ops::Range;

/// A switch's memory as its rules ([`Buffers`]) see it.
#[derive(Clone, Debug, Default)]
pub struct SwitchBuffer {
    /// Number of the switch's first port.
    first: u32,
    /// Bytes of the shared buffer in use or set aside.
    used: u64,
    /// Bytes booked by port; with PFC those of classes that are not lossless.
    queued: Vec<u64>,
    /// With PFC: what the link into each port holds here, by the port that leads back.
    links: Vec<Ingress>,
}

impl SwitchBuffer {
    /// The empty memory of the switch with these ports.
    pub fn new(rules: &Buffers, ports: Range<u32>) -> SwitchBuffer {
        let count = ports.len();
        let links = if rules.pfc.is_some() { count } else { 0 };
        SwitchBuffer {
            first: ports.start,
            used: rules.pfc.as_ref().map_or(0, |pfc| pfc.set_aside(ports.start)),
            queued: vec![0; if rules.any() { count } else { 0 }],
            links: vec![Ingress::default(); links],
        }
    }

    /// Whether there is room for a packet that wants to wait at `port`; admits it if so. Also the
    /// port that has to announce a pause, if any.
    pub fn admit(
        &mut self,
        rules: &Buffers,
        detector: Option<&mut DeadlockDetector>,
        port: u32,
        packets: &mut PacketPool,
        packet: PacketRef,
    ) -> (bool, Option<u32>) {
        let of = Charge { class: packets[packet].class, bytes: packets.charged(packet) };
        let stamps = packets.stamps_mut(packet);
        let admit =
            |occupancy: Occupancy<'_>, stamps: &mut Stamps| rules.admit(occupancy, stamps, of);
        let (fits, announces) = self.account(port, stamps, admit);
        if fits
            && let Some(detector) = detector
            && let Some(of) = rules.guarded(stamps)
        {
            detector.enqueue(stamps.ingress, port, of);
        }
        (fits, announces)
    }

    /// Gives a packet's share back. The port that has to announce the end of a pause, if any.
    pub fn release(
        &mut self,
        rules: &Buffers,
        detector: Option<&mut DeadlockDetector>,
        port: u32,
        stamps: &mut Stamps,
    ) -> Option<u32> {
        if let Some(detector) = detector
            && let Some(of) = rules.guarded(stamps)
        {
            detector.dequeue(stamps.ingress, port, of);
        }
        self.account(port, stamps, |occupancy, stamps| rules.release(occupancy, stamps)).1
    }

    /// Does something with what concerns a packet at `port`. Also the port by which the packet came,
    /// if the link there is to be paused or released.
    fn account<T>(
        &mut self,
        port: u32,
        stamps: &mut Stamps,
        what: impl FnOnce(Occupancy<'_>, &mut Stamps) -> T,
    ) -> (T, Option<u32>) {
        let ingress = stamps.ingress;
        let mut link = self.links.get_mut(ingress.wrapping_sub(self.first) as usize);
        let before = link.as_ref().map(|link| link.paused);
        let queued = &mut self.queued[(port - self.first) as usize];
        let occupancy = Occupancy { used: &mut self.used, queued, link: link.as_deref_mut() };
        let result = what(occupancy, stamps);
        let changed = link.map(|link| link.paused) != before;
        (result, changed.then_some(ingress))
    }

    /// With PFC: what the link into `port` holds here.
    pub fn link(&mut self, port: u32) -> &mut Ingress {
        &mut self.links[(port - self.first) as usize]
    }

    /// With PFC: what the link into `port` holds here of a class up to its threshold.
    pub fn below(&self, port: u32, class: u8) -> u64 {
        self.links[(port - self.first) as usize].below(class)
    }
}
