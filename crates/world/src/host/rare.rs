//! What few NICs do: fall silent, or pause their links for long.

use super::{EndHost, HostIo, NEVER, NicParts};
use crate::Options;
use incast_transport::{FlowId, Header, HostId, Packet, Stamps, Time, TransportId};

/// What the NIC of a host does that few do.
pub(super) struct Rare {
    /// From here on it sends nothing.
    silent_from: u64,
    /// When it sends a pause frame, and its classes and which of them it pauses; the next one last.
    pauses: Vec<(u64, u8, u8)>,
}

impl Rare {
    /// That of a host, if it does anything of it.
    pub fn of(options: &Options, host: u32) -> Option<Rare> {
        let silent = options.silent.iter().filter(|(silent, _)| *silent == host);
        let silent_from = silent.map(|(_, at)| at.0).min().unwrap_or(NEVER);
        let storms = options.storms.iter().filter(|storm| storm.host.0 == host);
        let mut pauses: Vec<_> = storms
            .flat_map(|storm| {
                let classes = storm.classes.0;
                [(storm.from.0, classes, classes), (storm.until.0, classes, 0)]
            })
            .filter(|(at, ..)| *at != Time::NEVER.0)
            .collect();
        pauses.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        let rare = Rare { silent_from, pauses };
        (rare.due() != NEVER).then_some(rare)
    }

    /// When the first of it is due.
    pub fn due(&self) -> u64 {
        self.silent_from.min(self.pauses.last().map_or(NEVER, |(at, ..)| *at))
    }
}

impl EndHost {
    /// The NIC is free at `start`, when something rare is due. Whether it sends nothing else then.
    #[cold]
    pub(super) fn transmit_rarely<W: HostIo>(&mut self, world: &mut W, start: u64) -> bool {
        let rare = self.rare.as_mut().expect("something is due");
        if start >= rare.silent_from {
            self.wanted = NEVER;
            return true;
        }
        let Some((_, classes, paused)) = rare.pauses.pop() else { return false };
        self.rare_from = rare.due();
        let quanta = if paused == 0 { 0 } else { u16::MAX };
        let header = Header::Pause { classes, paused, quanta, spare_low: 0, spare: 0 };
        let (own, none) = (self.host, HostId(0));
        let frame = Packet::header_only(TransportId(0), FlowId(0), own, none, 0, header);
        let NicParts { packets, series, .. } = world.nic(self.port);
        series.pause_frame(start, &header);
        let packet = packets.create(frame);
        *packets.stamps_mut(packet) = Stamps::default();
        let meta = packets.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(start), 0);
        let charged = packets.charged(packet);
        let tx = world.tx(self.port, charged);
        self.occupy(start, tx);
        let backlog = self.nic.as_ref().map_or(0, |nic| nic.backlog().bytes);
        world.send(self.port, packet, start, backlog);
        true
    }
}
