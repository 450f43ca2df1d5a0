//! Marking above a threshold of the instantaneous queue.

use super::ID;
use super::params::Threshold;
use incast_transport::{
    Bytes, Ecn, Marker, PacketPool, PacketRef, PortSite, TransportId, TransportSet, View,
};

/// Sets CE on DCTCP's ECN-capable packets that find a queue of at least K (DCTCP §3.1), whoever
/// else waits there. It can adopt the packets of others.
#[repr(align(64))]
pub struct ThresholdMarker {
    transports: TransportSet,
    packets: u32,
    bytes: u64,
}

impl ThresholdMarker {
    /// A marker for one port.
    pub fn new(threshold: Threshold, site: &PortSite) -> ThresholdMarker {
        let (packets, bytes) = match threshold.resolve(site) {
            Threshold::Packets(packets) => (packets, u64::MAX),
            Threshold::Bytes(Bytes(bytes)) => (u32::MAX, bytes),
            Threshold::Auto => unreachable!("auto was resolved"),
        };
        ThresholdMarker { transports: TransportSet::of(&[ID]), packets, bytes }
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
