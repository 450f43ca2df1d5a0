//! Credits shaped at the receiver's NIC and at a switch, data in the other direction (ExpressPass,
//! CCRP).

use crate::*;

/// Emits credits at a pace of its own.
struct Receiver {
    due: Time,
    gap: Span,
    number: u32,
}

impl Host for Receiver {
    fn open(&mut self, _env: &mut Env<'_>, _flow: &Flow) {}
    fn receive(&mut self, _env: &mut Env<'_>, _packet: PacketRef) {}
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if !open.has(0) || env.now < self.due {
            return None;
        }
        self.due = env.now + self.gap;
        self.number += 1;
        let credit = Header::Credit { number: self.number, stamp: 0, spare: 0, flags: 0 };
        Some(env.packets.create(packet(credit, 0, 0)))
    }
    fn deadline(&self) -> Time {
        self.due
    }
    fn wake(&mut self, _env: &mut Env<'_>) {}
    fn open_flows(&self) -> usize {
        1
    }
}

/// Answers each credit with one packet that echoes its number.
#[derive(Default)]
struct Sender {
    outbox: Outbox,
    seq: u32,
}

impl Host for Sender {
    quiet!();
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Header::Credit { number, .. } = env.packets[packet].header else { panic!() };
        let header = Header::Data { seq: self.seq, offset: 0, tag: number, flags: 0 };
        self.seq += 1;
        self.outbox.push(crate::packet(header, 1, 1460));
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
}

/// The classes of every port and NIC: credits in a small shaped queue, then data.
fn classes() -> [ClassPolicy; 2] {
    let rate = Rate::from_gbps(10).scale(84, 84 + 1538);
    let shaper = Some(Shaper { rate, depth: Bytes(2 * 84) });
    [ClassPolicy { shaper, ..fifo(8) }, fifo(100)]
}

/// Credits come twice as fast as any port lets them pass: half of them are lost, and what they
/// trigger fills the other direction to 1538/1622 = 94.8 % without a queue.
#[test]
fn shaped_credits_fill_the_reverse_path_without_a_queue() {
    let (mut harness, mut sender) = (Harness::new(), Sender::default());
    let gap = Span(FULL.0 / 2);
    let mut receiver = Receiver { due: Time::ZERO, gap, number: 0 };
    let (mut nic, mut switch) = (port(&classes(), vec![]), port(&classes(), vec![]));
    let mut back = port(&classes(), vec![]);
    let (mut dropped, mut arrived, mut free) = (0, 0, Time::ZERO);
    let end = Time(4000 * FULL.0);
    let mut now = Time::ZERO;
    while now < end {
        // A NIC with a shaper takes credits as soon as the host has them.
        if let Some(credit) = harness.transmit(&mut receiver, now, Classes::CONTROL)
            && harness.enqueue(&mut *nic, now, credit).arriving == Fate::Dropped
        {
            harness.packets.free(credit);
            dropped += 1;
        }
        assert!(harness.transmit(&mut receiver, now, Classes(0b10)).is_none());
        if let Dequeue::Packet(credit) = harness.dequeue(&mut *nic, now, Classes::ALL) {
            let fate = harness.enqueue(&mut *switch, now, credit).arriving;
            assert_eq!(fate, Fate::Queued, "one shaped stream passes an equal shaper");
        }
        if let Dequeue::Packet(credit) = harness.dequeue(&mut *switch, now, Classes::ALL) {
            harness.receive(&mut sender, now, credit);
        }
        while let Some(data) = harness.transmit(&mut sender, now, Classes::ALL) {
            assert_eq!(harness.enqueue(&mut *back, now, data).arriving, Fate::Queued);
        }
        assert!(back.data_backlog().packets <= 2);
        if now >= free
            && let Dequeue::Packet(data) = harness.dequeue(&mut *back, now, Classes::ALL)
        {
            free = now + FULL;
            arrived += 1;
            harness.packets.free(data);
        }
        // A sixteenth of a packet time is fine enough.
        now += Span(FULL.0 / 16);
    }
    // Polling costs a sixteenth here and there; never more than the shaper allows.
    assert!((3700..=3795).contains(&arrived), "{arrived}");
    assert!((4000..=4300).contains(&dropped), "{dropped}");
    assert!(harness.packets.alive() <= 2 * 8 + 2);
}
