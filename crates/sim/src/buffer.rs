//! What switches hold: shared buffers, and priority-based flow control.

use crate::network::Network;
use incast_fabric::Fabric;
use incast_transport::PacketRef;
use incast_world::{Buffers, Ingress, Standstill, SwitchBuffer};

/// What the switches of a partition hold.
pub(crate) struct Books {
    /// Number of the first switch.
    first: u32,
    /// By switch.
    switches: Vec<SwitchBuffer>,
    /// There is anything to book.
    pub booked: bool,
    /// Links are paused.
    pub pauses: bool,
    /// Where links may come to wait for each other: who waits for whom.
    standstill: Option<Standstill>,
    /// The circle that was found.
    pub deadlock: Vec<(u32, u8)>,
}

impl Books {
    pub fn new(rules: &Buffers, fabric: &Fabric) -> Books {
        let switches = fabric.hosts()..fabric.nodes();
        let buffer = |node| SwitchBuffer::new(rules, fabric.ports_of(incast_fabric::NodeId(node)));
        Books {
            first: fabric.hosts(),
            switches: switches.map(buffer).collect(),
            booked: rules.any(),
            pauses: rules.pfc.is_some(),
            standstill: rules.standstill(),
            deadlock: vec![],
        }
    }

    /// What the link into `port` of switch `node` holds there.
    pub fn link(&mut self, node: u32, port: u32) -> &mut Ingress {
        self.switches[(node - self.first) as usize].link(port)
    }

    /// Whether links may come to wait for each other.
    #[inline]
    pub fn may_stand_still(&self) -> bool {
        self.standstill.is_some()
    }

    /// The open classes of a port are these now.
    pub fn open(&mut self, port: u32, open: u8) {
        if let Some(standstill) = &mut self.standstill {
            standstill.open(port, open);
        }
    }

    /// At the end of an instant: whether links wait for each other for ever since then.
    #[cold]
    pub fn is_standing_still(&mut self, rules: &Buffers, fabric: &Fabric) -> bool {
        if let (Some(standstill), Some(pfc)) = (&mut self.standstill, &rules.pfc) {
            let below = |port: u32, class| match fabric.ports()[port as usize].node.0 {
                host if host < self.first => 0,
                node => self.switches[(node - self.first) as usize].below(port, class),
            };
            if let Some(circle) = standstill.find(fabric, pfc, below) {
                self.deadlock = circle;
            }
        }
        !self.deadlock.is_empty()
    }
}

impl Network {
    /// Whether the switch has room for the packet; books it if so.
    #[inline]
    pub fn admit(&mut self, port: u32, packet: PacketRef) -> bool {
        !self.books.booked || self.book(port, packet)
    }

    fn book(&mut self, port: u32, packet: PacketRef) -> bool {
        let node = self.node_of(port);
        let Books { switches, standstill, first, .. } = &mut self.books;
        let switch = &mut switches[(node - *first) as usize];
        let (rules, packets) = (&self.transit.common.buffers, &mut self.transit.packets);
        let (fits, announces) = switch.admit(rules, standstill.as_mut(), port, packets, packet);
        self.announce(announces);
        fits
    }

    /// Gives a packet's share of a switch's buffers back.
    #[inline]
    pub fn release(&mut self, port: u32, packet: PacketRef) {
        if self.books.booked {
            self.release_booked(port, packet);
        }
    }

    fn release_booked(&mut self, port: u32, packet: PacketRef) {
        let node = self.node_of(port);
        let Books { switches, standstill, first, .. } = &mut self.books;
        let switch = &mut switches[(node - *first) as usize];
        let stamps = self.transit.packets.stamps_mut(packet);
        let rules = &self.transit.common.buffers;
        let announces = switch.release(rules, standstill.as_mut(), port, stamps);
        self.announce(announces);
    }

    /// A pause frame has to leave by the port before anything else.
    #[inline]
    fn announce(&mut self, port: Option<u32>) {
        if let Some(port) = port {
            let egress = &mut self.egress[port as usize];
            egress.transmitter.announce(self.transit.agenda.now);
            egress.kick(&mut self.transit.agenda, port);
        }
    }
}
