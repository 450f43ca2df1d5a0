//! Marks of ports.

use incast_egress::red::Red;
use incast_transport::{Ecn, Limit, Marker, PacketPool, PacketRef, Random, View};

/// Sets CE on data as its transmission begins, by what waits behind it. A header or control is not marked.
pub struct UecMarker {
    red: Red,
    random: Random,
}

impl UecMarker {
    /// A marker for one port.
    pub fn new(red: Red) -> UecMarker {
        UecMarker { red, random: Random::new(0, 0, 0) }
    }
}

impl Marker for UecMarker {
    fn begin(&mut self, random: &mut Random) {
        self.random = Random::new(random.next_u64(), 0, 0);
    }

    #[inline]
    fn on_dequeue(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        let packet = &packets[handle];
        let capable = packet.mark == Ecn::Ect0 as u8 || packet.mark == Ecn::Ect1 as u8;
        if !view.own || !capable || !packet.is_data() {
            return false;
        }
        let probability = self.red.at(view.data.bytes);
        let marked = probability >= 1.0 || probability > 0.0 && self.random.chance(probability);
        if marked {
            *packets.mark_mut(handle) = Ecn::Ce as u8;
        }
        // Marked or not, this is how old the receiver's knowledge will be.
        packets.stamps_mut(handle).informed = view.now.0;
        marked
    }

    fn sets_ce(&self) -> bool {
        true
    }

    fn marks_from(&self) -> Option<Limit> {
        Some(Limit::Bytes(self.red.min.0.saturating_add(1)))
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
