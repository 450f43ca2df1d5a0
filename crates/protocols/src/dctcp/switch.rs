//! Marking above a threshold of the instantaneous queue.

use super::params::Threshold;
use incast_transport::{Bytes, Ecn, Marker, PacketPool, PacketRef, PortSite, View};

/// Sets CE on ECN-capable packets that find a queue of at least K (DCTCP §3.1). It marks whatever
/// uses the ECN bits as RFC 3168 says; transports with a code of their own have the top bit of
/// their number set and are left alone.
pub struct ThresholdMarker {
    packets: u32,
    bytes: u64,
}

impl ThresholdMarker {
    /// A marker for one port.
    pub fn new(threshold: Threshold, site: &PortSite) -> ThresholdMarker {
        match threshold.resolve(site) {
            Threshold::Packets(packets) => ThresholdMarker { packets, bytes: u64::MAX },
            Threshold::Bytes(Bytes(bytes)) => ThresholdMarker { packets: u32::MAX, bytes },
            Threshold::Auto => unreachable!("auto was resolved"),
        }
    }
}

impl Marker for ThresholdMarker {
    #[inline]
    fn on_enqueue(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        let packet = &mut packets[handle];
        let capable = packet.mark == Ecn::Ect0 as u8 || packet.mark == Ecn::Ect1 as u8;
        if packet.transport.0 & 0x80 != 0 || !capable {
            return false;
        }
        let full = view.data.bytes >= self.bytes || view.data.packets >= self.packets;
        if full {
            packet.mark = Ecn::Ce as u8;
        }
        // Marked or not, this is how old the receiver's knowledge will be.
        packets.stamps_mut(handle).informed = view.now.0;
        full
    }

    fn sees(&self) -> (bool, bool) {
        (true, false)
    }

    fn timed(&self) -> bool {
        false
    }
}
