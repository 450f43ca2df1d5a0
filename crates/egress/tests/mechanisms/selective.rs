//! First-round packets are dropped early, a probe finds them missing, and they come again as
//! scheduled ones that use the entire buffer (Aeolus).

use crate::*;

const BURST: u32 = 10;

/// Sends a burst and a probe; sends again, scheduled, what the ACK of the probe lacks.
struct Sender {
    outbox: Outbox,
    acked: [bool; BURST as usize],
}

impl Sender {
    fn new() -> Sender {
        let mut outbox = Outbox::default();
        (0..BURST).for_each(|seq| outbox.push(data(seq, data_flag::UNSCHEDULED)));
        let probe = Header::Announce { packets: BURST, bytes_low: 0, bytes_high: 0, flags: 0 };
        outbox.push(packet(probe, 1, 0));
        Sender { outbox, acked: [false; BURST as usize] }
    }
}

impl Host for Sender {
    quiet!();
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Header::Ack { seq, .. } = env.packets[packet].header else { panic!() };
        if seq < BURST {
            self.acked[seq as usize] = true;
            return;
        }
        for lost in (0..BURST).filter(|&seq| !self.acked[seq as usize]) {
            self.outbox.push(data(lost, 0));
        }
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
}

/// Acknowledges each packet, and the probe as packet [`BURST`].
#[derive(Default)]
struct Receiver {
    outbox: Outbox,
    received: Vec<u32>,
}

impl Host for Receiver {
    quiet!();
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = env.packets[packet];
        let seq = if content.is_data() { content.header.data_key() } else { BURST };
        self.received.push(seq);
        let header = Header::Ack { seq, cumulative: 0, number: 0, flags: 0 };
        self.outbox.push(crate::packet(header, 0, 0));
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
}

/// One round: all of the sender's packets at once into the port, then ACKs back. Returns drops.
fn round(
    harness: &mut Harness,
    sender: &mut Sender,
    port: &mut dyn Port,
    receiver: &mut Receiver,
) -> u32 {
    let mut dropped = 0;
    while let Some(packet) = harness.transmit(sender, Time::ZERO, Classes::ALL) {
        if harness.enqueue(port, Time::ZERO, packet).arriving == Fate::Dropped {
            harness.packets.free(packet);
            dropped += 1;
        }
    }
    for packet in harness.drain(port, Time::ZERO) {
        harness.receive(receiver, Time::ZERO, packet);
    }
    while let Some(ack) = harness.transmit(receiver, Time::ZERO, Classes::ALL) {
        harness.receive(sender, Time::ZERO, ack);
    }
    dropped
}

#[test]
fn the_probe_survives_and_everything_lost_comes_again() {
    let discipline = Discipline::Selective { threshold: Limit::Packets(4), alone: false };
    let classes = [fifo(9), ClassPolicy { discipline, ..fifo(20) }];
    let (mut harness, mut port) = (Harness::new(), port(&classes, vec![]));
    let (mut sender, mut receiver) = (Sender::new(), Receiver::default());
    assert_eq!(round(&mut harness, &mut sender, &mut *port, &mut receiver), 6);
    assert_eq!(receiver.received, [0, 1, 2, 3, BURST]);
    // Six scheduled packets: more than the threshold, and none is lost.
    assert_eq!(round(&mut harness, &mut sender, &mut *port, &mut receiver), 0);
    assert_eq!(receiver.received[5..], [4, 5, 6, 7, 8, 9]);
    assert_eq!(harness.packets.alive(), 0);
}
