//! The sending side of a link: its virtual schedule, its losses and its records.

use crate::frames::Packets;
use crate::medium::Medium;
use crate::{Departure, Frame, PacketIo, Trail};
use incast_fabric::{Fabric, Forwarding, PortId};
use incast_transport::{Bytes, Header, Packet, PacketRef, Random, Rate, Time};
use incast_world::{BurstLoss, Captured, Options, PortSeries, Transmitter, open_after, purpose};
use std::cell::Cell;

pub(crate) struct Line {
    pub port: u32,
    pub rate: Rate,
    peer: u32,
    /// Our port as the peer's failures know it.
    pub reverse: u32,
    propagation: u64,
    loss: f64,
    /// Its losses come in bursts.
    bursts: Option<BurstLoss>,
    captured: bool,
    /// Charged bytes of a packet that the peer reads before it forwards it, if that is a switch
    /// that cuts through.
    reads: Option<u32>,
    /// When it sends.
    pub transmitter: Transmitter,
    /// Charged bytes of the last packet, and how long it occupied the line: most are as long as
    /// the one before, and a division takes as long as a marker.
    last_tx: Cell<(u32, u64)>,
    /// Charged bytes sent.
    pub sent: u64,
    /// The ring had no room when a packet could have left.
    pub held: bool,
    /// Frames were staged since the last flush, or are still.
    staged: bool,
    /// The port's random stream.
    pub random: Random,
    pub series: PortSeries,
}

impl Line {
    /// The sending side of `port`, whose handler may have deadlines if it is `timed`.
    pub fn new(port: u32, fabric: &Fabric, options: &Options, timed: bool) -> Line {
        let spec = fabric.port(PortId(port));
        let reads = match fabric.forwarding() {
            Forwarding::CutThrough(first) if spec.peer.0 >= fabric.hosts() => Some(first.0 as u32),
            _ => None,
        };
        Line {
            reads,
            port,
            rate: spec.rate,
            peer: spec.peer.0,
            reverse: spec.reverse.0,
            propagation: spec.propagation.0,
            loss: spec.loss,
            bursts: fabric.bursts_of(PortId(port)).map(BurstLoss::new),
            captured: options.capture.contains(&port),
            transmitter: Transmitter::new(spec.tier as u8, timed),
            last_tx: Cell::new((0, 0)),
            sent: 0,
            held: false,
            staged: false,
            random: Random::new(options.seed, port, purpose::PORT),
            series: PortSeries::new(options.interval, spec.rate)
                .starting(options.series_start)
                .traced(options, port),
        }
    }

    /// How long a packet occupies the line; rounded up.
    #[inline]
    pub fn tx(&self, charged: u32) -> u64 {
        let (last, time) = self.last_tx.get();
        if charged == last {
            return time;
        }
        let time = self.rate.tx_time(Bytes(charged as u64)).0;
        self.last_tx.set((charged, time));
        time
    }

    /// If the packet is a pause frame: opens and closes classes, and returns whether one opened.
    /// `marks` is how many packets the port has marked so far.
    pub fn apply_pause<I: PacketIo>(
        &mut self,
        medium: &mut Medium<I>,
        header: &Header,
        marks: impl FnOnce() -> u64,
    ) -> Option<bool> {
        let open = open_after(self.transmitter.open, header)?;
        Some(self.set_open(medium, open, marks()))
    }

    /// The other end of the link lets the port send these classes. Whether one has opened.
    pub fn set_open<I: PacketIo>(&mut self, medium: &mut Medium<I>, open: u8, marks: u64) -> bool {
        let opened = self.transmitter.set_open(&mut self.series, marks, medium.now, open);
        if let Some(detector) = &mut medium.detector {
            detector.set_open(self.port, open);
        }
        opened
    }

    /// The link works again: nothing is paused. `marks` is how many packets the port has marked so
    /// far. Whether a class has opened.
    pub fn reconnect<I: PacketIo>(&mut self, medium: &mut Medium<I>, marks: u64) -> bool {
        let opened = self.transmitter.reconnect(&mut self.series, marks, medium.now);
        if opened && let Some(detector) = &mut medium.detector {
            detector.set_open(self.port, u8::MAX);
        }
        opened
    }

    /// Whether the ring has room for a packet; remembers it if not.
    #[inline]
    pub fn has_room<I: PacketIo>(&mut self, medium: &mut Medium<I>) -> bool {
        self.held = medium.io.room(self.port) == 0;
        !self.held
    }

    /// Whether the line was held up and is no longer.
    pub fn is_released<I: PacketIo>(&mut self, medium: &mut Medium<I>) -> bool {
        self.held && self.has_room(medium)
    }

    /// Whether it keeps its node from sending: the ring has no room, or took not all that is staged.
    pub fn waits(&self) -> bool {
        self.held || self.staged
    }

    /// Hands what was staged to the link.
    pub fn flush<I: PacketIo>(&mut self, medium: &mut Medium<I>) {
        if self.staged {
            self.staged = medium.io.flush(self.port) > 0;
        }
    }

    /// Sends a packet that begins transmission at `start` and leaves `backlog` bytes behind. `fill`
    /// writes the payload of a packet that has come from no frame.
    #[inline]
    pub fn send<I: PacketIo>(
        &mut self,
        medium: &mut Medium<I>,
        packets: &mut Packets<I::Frame>,
        packet: PacketRef,
        start: u64,
        backlog: u64,
        fill: impl FnOnce(&Packet, &mut [u8]),
    ) {
        let (content, meta) = packets.pool.both_mut(packet);
        let charged = meta.charged as u32;
        let control = matches!(content.header, Header::Pause { .. });
        let tx = self.tx(charged);
        self.transmitter.busy_until = start + tx;
        let complete = start + tx + self.propagation;
        self.sent += charged as u64;
        self.series.sent(start, charged, backlog);
        medium.tally.hops += 1;
        meta.link = self.port;
        if packets.stamped {
            meta.serialised = meta.serialised.saturating_add(tx.min(u32::MAX as u64) as u32);
            let waited = start - meta.arrived.0;
            packets.pool.stamps_mut(packet).wait(self.port, self.transmitter.tier, waited);
        }
        if let Some(recorder) = &medium.recorder {
            recorder.note(&mut packets.pool, packet, self.port);
        }
        if self.captured {
            let (at, port, pool) = (Time(start), self.port, &packets.pool);
            let (content, extension) = (pool[packet], *pool.extension(packet));
            medium.tally.captures.push(Captured { at, port, packet: content, extension });
        }
        if !control && self.loses(start) {
            return medium.lose_on_link(packets, packet, complete);
        }
        let release = match self.reads {
            Some(first) if first < charged && !control => complete - tx + self.tx(first),
            _ => complete,
        };
        let (start, complete) = (Time(start), Time(complete));
        let departure = Departure { start, release: Time(release), complete };
        medium.tally.released.push((release, self.peer));
        if self.stage(medium, packets, packet, departure, fill) {
            packets.pool.free(packet);
        } else {
            medium.lose_on_link(packets, packet, start.0);
        }
    }

    /// Whether the link loses a packet that begins transmission at `start`.
    #[inline]
    fn loses(&mut self, start: u64) -> bool {
        match &mut self.bursts {
            Some(bursts) => bursts.loses(&mut self.random, start, self.loss),
            None => self.loss > 0.0 && self.random.chance(self.loss),
        }
    }

    /// Stages a packet's frame. Returns whether there was a frame, and room for it.
    #[inline]
    fn stage<I: PacketIo>(
        &mut self,
        medium: &mut Medium<I>,
        packets: &mut Packets<I::Frame>,
        packet: PacketRef,
        departure: Departure,
        fill: impl FnOnce(&Packet, &mut [u8]),
    ) -> bool {
        let Some(mut frame) = packets.depart(&mut medium.io, packet, fill) else {
            medium.tally.exhausted += 1;
            return false;
        };
        if medium.trails {
            let serialised = packets.pool.meta(packet).serialised;
            let (stamps, taken) = (*packets.pool.stamps(packet), packets.pool.path_taken(packet));
            frame.set_trail(&Trail { stamps, serialised, taken });
        }
        match medium.io.stage(self.port, frame, departure) {
            Ok(()) => self.staged = true,
            // A backend that promised room and then has none loses the packet.
            Err(frame) => {
                medium.io.free(frame);
                return false;
            }
        }
        true
    }
}
