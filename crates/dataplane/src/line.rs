//! The sending side of a link: its virtual schedule, its losses and its records.

use crate::node::Medium;
use crate::{Departure, PacketIo};
use incast_fabric::PortSpec;
use incast_transport::{Bytes, Classes, Header, PacketPool, PacketRef, Random, Rate, Time};
use incast_wire::encode_headers;
use incast_world::{Captured, Ingress, Options, PortSeries, heed, purpose};

pub(crate) struct Line {
    pub port: u32,
    pub rate: Rate,
    peer: u32,
    /// Our port as the peer's failures know it.
    pub reverse: u32,
    propagation: u64,
    loss: f64,
    captured: bool,
    /// End of the present or last transmission.
    pub busy_until: u64,
    /// Charged bytes sent.
    pub sent: u64,
    /// Classes the peer lets us send.
    pub open: u8,
    /// With PFC: what the switch holds of what came by this link.
    pub link: Ingress,
    /// The ring had no room when a packet could have left.
    pub held: bool,
    /// The port's random stream.
    pub random: Random,
    pub series: PortSeries,
}

impl Line {
    pub fn new(port: u32, spec: &PortSpec, options: &Options) -> Line {
        Line {
            port,
            rate: spec.rate,
            peer: spec.peer.0,
            reverse: spec.reverse.0,
            propagation: spec.propagation.0,
            loss: spec.loss,
            captured: options.capture.contains(&port),
            busy_until: 0,
            sent: 0,
            open: u8::MAX,
            link: Ingress::default(),
            held: false,
            random: Random::new(options.seed, port, purpose::PORT),
            series: PortSeries::new(options.interval),
        }
    }

    /// How long a packet occupies the line; rounded up.
    pub fn tx(&self, charged: u32) -> u64 {
        self.rate.tx_time(Bytes(charged as u64)).0
    }

    /// Classes that may be sent.
    pub fn open(&self) -> Classes {
        Classes(self.open)
    }

    /// If the packet is a pause frame: opens and closes classes, and tells whether one opened.
    pub fn heed(&mut self, now: u64, header: &Header) -> Option<bool> {
        let open = heed(self.open, header)?;
        let opened = open & !self.open != 0;
        self.open = open;
        self.series.set_open(now, open);
        Some(opened)
    }

    /// Whether the ring has room for a packet; remembers it if not.
    pub fn has_room<I: PacketIo>(&mut self, medium: &Medium<I>) -> bool {
        self.held = medium.io.room(self.port) == 0;
        !self.held
    }

    /// Whether the line was held up and is no longer.
    pub fn is_released<I: PacketIo>(&mut self, medium: &Medium<I>) -> bool {
        self.held && self.has_room(medium)
    }

    /// Sends a packet that begins transmission at `start` and leaves `backlog` bytes behind.
    pub fn send<I: PacketIo>(
        &mut self,
        medium: &mut Medium<I>,
        pool: &mut PacketPool,
        packet: PacketRef,
        start: u64,
        backlog: u64,
    ) {
        let charged = pool.charged(packet);
        self.busy_until = start + self.tx(charged);
        let release = self.busy_until + self.propagation;
        self.sent += charged as u64;
        self.series.sent(start, charged, backlog);
        medium.tally.hops += 1;
        let (content, extension) = (pool[packet], *pool.extension(packet));
        if self.captured {
            let at = Time(start);
            medium.tally.captures.push(Captured {
                at,
                port: self.port,
                packet: content,
                extension,
            });
        }
        let control = matches!(content.header, Header::Pause { .. });
        if self.loss > 0.0 && !control && self.random.chance(self.loss) {
            medium.tally.link_losses += 1;
        } else {
            let length = content.ip_bytes() as usize;
            let frame = Departure { start: Time(start), release: Time(release), length };
            let sent = medium.io.tx_burst(self.port, &[frame], &mut |_, bytes| {
                let headers = encode_headers(&content, &extension, bytes);
                bytes[headers..].fill(0);
            });
            // A backend that promised room and then has none loses the packet.
            medium.tally.link_losses += (sent == 0) as u64;
            medium.tally.released.push((release, self.peer));
        }
        pool.free(packet);
    }
}
