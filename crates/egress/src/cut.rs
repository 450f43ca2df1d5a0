//! Marks and notes of ports that cut payloads off.

use crate::red::Red;
use incast_transport::{
    ClassPolicy, Discipline, Ecn, Header, Limit, Marker, Packet, PacketPool, PacketRef, Random,
    View, data_flag, flag,
};

/// Sets CE on data as its transmission begins, by what waits behind it. A header or control is not marked. Headers may be told that
/// they have lost their payload before the last hop.
pub struct CutMarker {
    red: Option<Red>,
    notes: bool,
    random: Random,
}

/// The classes of a port that keeps headers and control before data: `queue` bytes of data with the packet in transmission, of which
/// one takes `packet`, and twice that of control. Data that does not fit is cut, or dropped without `cuts`; of two that do not
/// fit it is by a coin the one that comes or the last one of the queue.
pub fn classes(queue: u64, packet: u64, cuts: bool) -> Vec<ClassPolicy> {
    let discipline = match cuts {
        true => Discipline::Trim { headers: 0, tail: 0.5, bounce: false },
        false => Discipline::DropTail,
    };
    // The packet in transmission does not wait at a port of ours.
    let waits = Limit::Bytes(queue - packet);
    let data = ClassPolicy { discipline, ..ClassPolicy::fifo(waits) };
    vec![ClassPolicy::fifo(Limit::Bytes(2 * queue)), data]
}

impl CutMarker {
    /// A marker for one port; `notes`: whether headers whose payload it cut off are told so.
    pub fn new(red: Option<Red>, notes: bool) -> CutMarker {
        CutMarker { red, notes, random: Random::new(0, 0, 0) }
    }
}

/// Notes in a header that the switch which cut its payload off is not the last one.
#[cold]
fn cut_early(packet: &mut Packet) {
    if let Header::Data { flags, .. } = &mut packet.header {
        *flags |= data_flag::BURST_END;
    }
}

impl Marker for CutMarker {
    fn begin(&mut self, random: &mut Random) {
        self.random = Random::new(random.next_u64(), 0, 0);
    }

    #[inline]
    fn on_dequeue(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        let packet = &mut packets[handle];
        if view.own && packet.has(flag::TRIMMED) && self.notes {
            cut_early(packet);
        }
        let capable = packet.mark == Ecn::Ect0 as u8 || packet.mark == Ecn::Ect1 as u8;
        if !view.own || !capable || !packet.is_data() {
            return false;
        }
        let probability = self.red.map_or(0.0, |red| red.at(view.data.bytes));
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
        Some(Limit::Bytes(self.red?.min.0.saturating_add(1)))
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
