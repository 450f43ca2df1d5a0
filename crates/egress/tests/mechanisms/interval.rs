//! A port that measures its load once per interval and writes it into all packets (XCP, RCP, VCP,
//! MLCP).

use crate::*;

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

fn segment(harness: &mut Harness, window: u16) -> PacketRef {
    let header = Header::Segment { seq: 0, ack: 0, window, nibble: 0, flags: 0 };
    harness.packets.create(packet(header, 1, 1460))
}

fn wake(harness: &mut Harness, port: &mut dyn Port) {
    let now = port.deadline();
    port.wake(&mut harness.port_env(now));
}

fn carried(harness: &mut Harness, port: &mut dyn Port) -> u16 {
    let packet = harness.next(port, Time(0));
    match harness.packets[packet].header {
        Header::Segment { window, .. } => window,
        _ => unreachable!(),
    }
}

#[test]
fn the_load_counts_refused_packets_and_the_queue_and_only_grows_along_a_path() {
    let marker = Load { offered: 0, load: 0, due: Time::ZERO };
    let (mut harness, mut port) =
        (Harness::new(), port(&[fifo(1), fifo(10)], vec![Box::new(marker)]));
    // 125 000 B fit into an interval. 40 packets are offered, 30 of them find no room.
    for _ in 0..40 {
        let packet = segment(&mut harness, 0);
        harness.enqueue(&mut *port, Time::ZERO, packet);
    }
    assert!(port.deadline().0 < INTERVAL.0 && port.deadline().0 > 0, "a random phase");
    assert_eq!(carried(&mut harness, &mut *port), 0, "no interval is over");
    let due = port.deadline();
    wake(&mut harness, &mut *port);
    assert_eq!(port.deadline(), due + INTERVAL);
    let load = (100u64 * (40 * 1538 + 9 * 1538 / 2) / 125_000) as u16;
    assert_eq!(carried(&mut harness, &mut *port), load);
    // A packet that saw more upstream keeps it; one that saw less does not.
    harness.drain(&mut *port, Time::ZERO);
    for (window, expected) in [(load + 1, load + 1), (load - 1, load)] {
        let packet = segment(&mut harness, window);
        harness.enqueue(&mut *port, Time::ZERO, packet);
        assert_eq!(carried(&mut harness, &mut *port), expected);
    }
    // An idle interval brings the load down.
    wake(&mut harness, &mut *port);
    wake(&mut harness, &mut *port);
    let packet = segment(&mut harness, 0);
    harness.enqueue(&mut *port, Time::ZERO, packet);
    assert_eq!(carried(&mut harness, &mut *port), 0);
}
