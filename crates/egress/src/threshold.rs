//! Marking above a threshold of the instantaneous queue.

use incast_transport::{
    Bytes, Ecn, Marker, PacketPool, PacketRef, PortSite, TransportId, TransportSet, View,
    parameter::Value,
};

/// A queue length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threshold {
    /// From the port's rate, the base RTT and the buffer.
    Auto,
    /// In waiting packets, whatever their size.
    Packets(u32),
    /// In waiting charged bytes.
    Bytes(Bytes),
}

impl Value for Threshold {
    fn read(text: &str) -> Result<Threshold, String> {
        if text == "auto" {
            return Ok(Threshold::Auto);
        }
        let packets = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"));
        let read = match packets {
            Some(count) => count.trim().parse().ok().map(Threshold::Packets),
            None => text.parse().ok().map(Threshold::Bytes),
        };
        read.ok_or("expected auto, a size such as `30KB`, or a count such as `65 packets`".into())
    }

    fn show(&self) -> String {
        match self {
            Threshold::Auto => "auto".into(),
            Threshold::Packets(count) => format!("{count} packets"),
            Threshold::Bytes(bytes) => bytes.to_string(),
        }
    }
}

impl Threshold {
    /// What `auto` stands for at a port: the larger of 30 KB (DCTCP §3.4: 20 packets at 1 Gb/s)
    /// and rate x base RTT / 7 (§3.3, Eq. 13) rounded up to a packet, but at most 70 % of the
    /// buffer.
    pub fn resolve(self, site: &PortSite) -> Threshold {
        if self != Threshold::Auto {
            return self;
        }
        let packet = site.fabric.framing.charged_mtu() as u64;
        let theory = site.rate.bytes_in(site.fabric.base_rtt).0.div_ceil(7);
        let wanted = (theory.div_ceil(packet) * packet).max(30_000);
        let buffer = site.buffer.bytes(packet as u32).0;
        Threshold::Bytes(Bytes(wanted.min((buffer as u128 * 7 / 10) as u64)))
    }
}

/// Sets CE on its transport's ECN-capable packets that find a queue of at least K (DCTCP §3.1), whoever
/// else waits there. It can adopt the packets of others.
#[repr(align(64))]
pub struct ThresholdMarker {
    transports: TransportSet,
    packets: u32,
    bytes: u64,
}

impl ThresholdMarker {
    /// A marker of `transport` for one port.
    pub fn new(transport: TransportId, threshold: Threshold, site: &PortSite) -> ThresholdMarker {
        let (packets, bytes) = match threshold.resolve(site) {
            Threshold::Packets(packets) => (packets, u64::MAX),
            Threshold::Bytes(Bytes(bytes)) => (u32::MAX, bytes),
            Threshold::Auto => unreachable!("auto was resolved"),
        };
        ThresholdMarker { transports: TransportSet::of(&[transport]), packets, bytes }
    }
}

impl Marker for ThresholdMarker {
    #[inline]
    fn on_enqueue(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        // Data and answers come mixed, so this is written without branches.
        let packet = &mut packets[handle];
        let capable = (packet.mark == Ecn::Ect0 as u8) | (packet.mark == Ecn::Ect1 as u8);
        let own = self.transports.has(packet.transport) & capable;
        let full = (view.data.bytes >= self.bytes) | (view.data.packets >= self.packets);
        packet.mark = if own & full { Ecn::Ce as u8 } else { packet.mark };
        // Marked or not, this is how old the receiver's knowledge will be.
        let informed = &mut packets.stamps_mut(handle).informed;
        *informed = if own { view.now.0 } else { *informed };
        own & full
    }

    fn adopt(&mut self, transports: &[TransportId]) -> bool {
        self.transports = TransportSet::of(transports);
        true
    }

    fn sees(&self) -> (bool, bool) {
        (true, false)
    }

    fn timed(&self) -> bool {
        false
    }
}
