//! The egress marker (AMRT §4.1): a data packet keeps its mark only if the port was idle before it
//! for at least the transmission time of a full packet.

use super::params::Gap;
use incast_transport::{Bytes, Marker, PacketPool, PacketRef, Span, Time, View};

/// Code in the two ECN bits of an AMRT packet: the source sets the anti-ECN bit, and ports only
/// clear it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Code {
    /// Some port on the path was saturated (on the wire ECT(0)).
    Saturated = 0b10,
    /// Every port had room for one more packet (on the wire CE).
    Room = 0b11,
}

impl Code {
    /// The code in the ECN bits; the unused values count as [`Code::Saturated`].
    #[inline]
    pub fn of(mark: u8) -> Code {
        if mark & 3 == Code::Room as u8 { Code::Room } else { Code::Saturated }
    }
}

/// The marker of a port.
#[derive(Clone, Copy, Debug)]
pub struct GapMarker {
    packet_time: Span,
    after: Gap,
    /// When the transmission of the last data packet ended, of whatever transport.
    data_end: Option<Time>,
}

impl GapMarker {
    /// For a port that sends a full packet in `packet_time`.
    pub fn new(packet_time: Span, after: Gap) -> GapMarker {
        GapMarker { packet_time, after, data_end: None }
    }

    /// The interval of Eq. 1 that ends with this packet; `None` for the first one.
    fn gap(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) -> Option<Span> {
        match self.after {
            Gap::Any => view.idle,
            Gap::Data if packets[packet].is_data() => {
                let end = view.now + view.rate.tx_time(Bytes(packets.charged(packet) as u64));
                // A link that fails gives up what it has queued while a packet is on its way.
                self.data_end.replace(end).map(|before| view.now.since(before))
            }
            Gap::Data => None,
        }
    }
}

impl Marker for GapMarker {
    /// Eq. 2 and 3, with the time since the end of an earlier packet as the interval. Returns
    /// whether the packet leaves marked.
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let gap = self.gap(packets, packet, view);
        let content = &packets[packet];
        if !view.own || !content.is_data() || Code::of(content.mark) != Code::Room {
            return false;
        }
        // A port that never sent counts as idle.
        let room = gap.is_none_or(|gap| gap >= self.packet_time);
        if !room {
            *packets.mark_mut(packet) = Code::Saturated as u8;
        }
        packets.stamps_mut(packet).informed = view.now.0;
        room
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }

    fn timed(&self) -> bool {
        false
    }
}

/// Packets released by a grant of each code (AMRT §4.3).
pub const PACKETS: [u8; 4] = {
    let mut packets = [1; 4];
    packets[Code::Room as usize] = 2;
    packets
};
