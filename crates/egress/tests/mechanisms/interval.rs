//! A port that measures its load once an interval and tells all packets (XCP, RCP, VCP, MLCP).

use crate::rig::*;
use incast_transport::*;

const INTERVAL: Span = Span::from_us(100);

/// Writes the load of the last interval, in percent, unless the packet carries a larger one.
struct Load {
    offered: u64,
    load: u16,
    due: Time,
}

impl Load {
    fn offer(&mut self, packets: &PacketPool, packet: PacketRef) {
        self.offered += packets.charged(packet) as u64;
    }
}

impl Marker for Load {
    /// Ports begin at random phases, so that they do not act in step.
    fn begin(&mut self, random: &mut Random) {
        self.due = Time(random.below(INTERVAL.0));
    }

    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, _view: &View) -> bool {
        self.offer(packets, packet);
        false
    }

    fn on_refused(&mut self, packets: &PacketPool, packet: PacketRef, _view: &View) {
        self.offer(packets, packet);
    }

    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, _view: &View) -> bool {
        let Header::Segment { window, .. } = &mut packets[packet].header else { return false };
        *window = self.load.max(*window);
        true
    }

    fn sees(&self) -> (bool, bool) {
        (true, true)
    }

    fn deadline(&self) -> Time {
        self.due
    }

    fn wake(&mut self, now: Time, view: &View) {
        self.due = now + INTERVAL;
        let capacity = view.rate.bytes_in(INTERVAL).0;
        self.load = (100 * (self.offered + view.all.bytes / 2) / capacity) as u16;
        self.offered = 0;
    }
}

fn segment(rig: &mut Rig, window: u16) -> PacketRef {
    let header = Header::Segment { seq: 0, ack: 0, window, nibble: 0, flags: 0 };
    rig.packets.create(packet(header, 1, 1460))
}

fn wake(rig: &mut Rig, port: &mut dyn Port) {
    let now = port.deadline();
    let Rig { packets, random, .. } = rig;
    port.wake(&mut PortEnv { now, random, packets });
}

fn carried(rig: &mut Rig, port: &mut dyn Port) -> u16 {
    let packet = rig.next(port, Time(0));
    match rig.packets[packet].header {
        Header::Segment { window, .. } => window,
        _ => unreachable!(),
    }
}

#[test]
fn the_load_counts_refused_packets_and_the_queue_and_only_grows_along_a_path() {
    let marker = Load { offered: 0, load: 0, due: Time::ZERO };
    let (mut rig, mut port) = (Rig::new(), port(&[fifo(1), fifo(10)], vec![Box::new(marker)]));
    // 125 000 B fit into an interval. 40 packets are offered, 30 of them find no room.
    for _ in 0..40 {
        let packet = segment(&mut rig, 0);
        rig.enqueue(&mut *port, Time::ZERO, packet);
    }
    assert!(port.deadline().0 < INTERVAL.0 && port.deadline().0 > 0, "a random phase");
    assert_eq!(carried(&mut rig, &mut *port), 0, "no interval is over");
    let due = port.deadline();
    wake(&mut rig, &mut *port);
    assert_eq!(port.deadline(), due + INTERVAL);
    let load = (100u64 * (40 * 1538 + 9 * 1538 / 2) / 125_000) as u16;
    assert_eq!(carried(&mut rig, &mut *port), load);
    // A packet that saw more upstream keeps it; one that saw less does not.
    rig.drain(&mut *port, Time::ZERO);
    for (window, expected) in [(load + 1, load + 1), (load - 1, load)] {
        let packet = segment(&mut rig, window);
        rig.enqueue(&mut *port, Time::ZERO, packet);
        assert_eq!(carried(&mut rig, &mut *port), expected);
    }
    // An idle interval brings the load down.
    wake(&mut rig, &mut *port);
    wake(&mut rig, &mut *port);
    let packet = segment(&mut rig, 0);
    rig.enqueue(&mut *port, Time::ZERO, packet);
    assert_eq!(carried(&mut rig, &mut *port), 0);
}
