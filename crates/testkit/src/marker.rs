//! One marker, packet by packet.

use incast_transport::{
    Backlog, Bytes, Framing, Marker, Packet, PacketPool, PacketRef, Rate, Span, Time, TransportId,
    View,
};

/// A port as a marker sees it at `now`, with a packet of its own at hand, while `bytes` of data in
/// full packets wait.
pub fn view(now: Time, bytes: u64, rate: Rate) -> View {
    let packets = bytes.div_ceil(Framing::ETHERNET.charged_mtu() as u64) as u32;
    let waiting = Backlog { bytes, packets };
    View { now, data: waiting, all: waiting, idle: None, sent: 0, rate, own: true }
}

/// A marker and packets to pass by it. What it writes as the instant of its information can be told
/// from what a packet brings: packets come with 0.
pub struct MarkerDriver<M: Marker> {
    /// What is driven.
    pub marker: M,
    /// Where the packets live.
    pub packets: PacketPool,
    /// The link's rate.
    pub rate: Rate,
    /// When the transmission before ends, for [`send`](MarkerDriver::send).
    pub now: Time,
    framing: Framing,
    transport: Option<TransportId>,
}

impl<M: Marker> MarkerDriver<M> {
    /// A marker at a link of `rate`.
    pub fn new(marker: M, framing: Framing, rate: Rate) -> MarkerDriver<M> {
        let packets = PacketPool::new(framing);
        MarkerDriver { marker, packets, rate, now: Time::ZERO, framing, transport: None }
    }

    /// The same in the policy of `transport`: packets of others are not its own. Without it, all
    /// packets are.
    pub fn of(self, transport: TransportId) -> MarkerDriver<M> {
        MarkerDriver { transport: Some(transport), ..self }
    }

    fn owns(&self, packet: PacketRef) -> bool {
        self.transport.is_none_or(|own| own == self.packets[packet].transport)
    }

    fn view(&self, now: Time, packet: PacketRef, bytes: u64) -> View {
        View { own: self.owns(packet), ..view(now, bytes, self.rate) }
    }

    /// A packet with old information.
    pub fn create(&mut self, packet: Packet) -> PacketRef {
        let handle = self.packets.create(packet);
        self.packets.stamps_mut(handle).informed = 0;
        handle
    }

    /// A packet is about to wait behind `bytes`; whether it was marked.
    pub fn enqueue(&mut self, now: Time, packet: PacketRef, bytes: u64) -> bool {
        let view = self.view(now, packet, bytes);
        self.marker.on_enqueue(&mut self.packets, packet, &view)
    }

    /// A packet begins transmission while `bytes` wait; whether it was marked.
    pub fn dequeue(&mut self, now: Time, packet: PacketRef, bytes: u64) -> bool {
        let view = self.view(now, packet, bytes);
        self.marker.on_dequeue(&mut self.packets, packet, &view)
    }

    /// A packet found no room.
    pub fn refuse(&mut self, now: Time, packet: PacketRef, bytes: u64) {
        let view = self.view(now, packet, bytes);
        self.marker.on_refused(&self.packets, packet, &view);
    }

    /// A packet comes to an empty port and leaves at once; whether it was marked then.
    pub fn pass(&mut self, now: Time, packet: PacketRef) -> bool {
        self.enqueue(now, packet, 0);
        self.dequeue(now, packet, 0)
    }

    /// A packet begins transmission `gap` after the end of the one before, while `waiting` full
    /// packets wait; whether it was marked.
    pub fn send(&mut self, packet: PacketRef, gap: Span, waiting: u32) -> bool {
        self.now += gap;
        let bytes = waiting as u64 * self.framing.charged_mtu() as u64;
        let data = Backlog { bytes, packets: waiting };
        let view = View {
            now: self.now,
            data,
            all: data,
            idle: Some(gap),
            sent: 0,
            rate: self.rate,
            own: self.owns(packet),
        };
        let marked = self.marker.on_dequeue(&mut self.packets, packet, &view);
        self.now += self.rate.tx_time(Bytes(self.packets.charged(packet) as u64));
        marked
    }
}
