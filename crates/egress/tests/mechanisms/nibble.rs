//! The smallest value of a path, four bits a packet over three packets (DECN §III-C).

use crate::*;

/// A hop's part of Algorithm 1: the latched value and how far the unit has come.
struct Nibbles {
    code: u16,
    place: u8,
    mine: bool,
}

impl Marker for Nibbles {
    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, _view: &View) -> bool {
        let content = &mut packets[packet];
        if content.mark == 1 {
            (self.place, self.mine) = (0, false);
        }
        if self.place == 3 {
            return false;
        }
        let Header::Segment { nibble, .. } = &mut content.header else { return false };
        let own = (self.code >> (8 - 4 * self.place)) as u8 & 0xF;
        if !self.mine && own > *nibble {
            self.place = 3;
            return false;
        }
        self.mine |= own < *nibble;
        *nibble = own;
        self.place += 1;
        self.mine
    }

    fn sees(&self) -> (bool, bool) {
        (true, false)
    }
}

/// The code of a difference of rates in Mb/s, offset binary.
fn code(difference: i32) -> u16 {
    (difference + 2048) as u16
}

/// What the three packets of a unit carry behind each hop.
fn path(differences: &[i32]) -> Vec<[u8; 3]> {
    let mut harness = Harness::new();
    let unit: Vec<PacketRef> = (0..3)
        .map(|index| {
            let (window, flags) = (0, 0);
            let seq = index * 1460;
            let header = Header::Segment { seq, ack: 0, window, nibble: 0xF, flags };
            let mark = (index == 0) as u8;
            harness.packets.create(Packet { mark, ..packet(header, 1, 1460) })
        })
        .collect();
    let mut behind = vec![];
    for &difference in differences {
        let marker = Nibbles { code: code(difference), place: 3, mine: false };
        let mut hop = port(&[fifo(9), fifo(9)], vec![Box::new(marker)]);
        for &packet in &unit {
            harness.enqueue(&mut *hop, Time::ZERO, packet);
        }
        assert_eq!(harness.drain(&mut *hop, Time::ZERO), unit);
        let nibble = |packet: &PacketRef| match harness.packets[*packet].header {
            Header::Segment { nibble, .. } => nibble,
            _ => unreachable!(),
        };
        behind.push([nibble(&unit[0]), nibble(&unit[1]), nibble(&unit[2])]);
        assert_eq!(harness.packets.charged(unit[0]), 1538);
    }
    behind
}

/// The paper's figure 7: +300, +400 and +100 Mb/s.
#[test]
fn the_paths_of_the_paper_give_the_codes_of_the_paper() {
    assert_eq!(path(&[300, 400, 100]), [[9, 2, 0xC], [9, 2, 0xC], [8, 6, 4]]);
}

#[test]
fn any_path_gives_its_smallest_value() {
    let values = [-2048, -500, -1, 0, 1, 100, 300, 400, 2047];
    for a in values {
        for b in values {
            for c in values {
                let [high, middle, low] = path(&[a, b, c])[2].map(u16::from);
                assert_eq!(high << 8 | middle << 4 | low, code(a.min(b).min(c)), "{a} {b} {c}");
            }
        }
    }
}
