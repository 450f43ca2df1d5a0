//! Nothing arrives any more: a receiver's timer sends a request (REN A6), at growing intervals. A
//! world that calls late gives true instants, so a shaper or a gap does not notice.

use crate::*;

const STALL: Span = Span::from_us(30);

/// Grants each packet; without any for a while, requests the first missing one.
struct Receiver {
    outbox: Outbox,
    missing: u32,
    wait: Span,
    due: Time,
}

impl Receiver {
    fn grant(&mut self, request: u32, flags: u8) {
        let header = Header::Grant { seq: 0, request, tag: 0, flags };
        self.outbox.push(packet(header, 0, 0));
    }
}

impl Host for Receiver {
    fn open(&mut self, _env: &mut Env<'_>, _flow: &Flow) {}
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        if env.packets[packet].header.data_key() == self.missing {
            self.missing += 1;
        }
        self.wait = STALL;
        self.due = env.now + self.wait;
        self.grant(0, 0);
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
    fn deadline(&self) -> Time {
        self.due
    }
    fn wake(&mut self, env: &mut Env<'_>) {
        if env.now < self.due {
            return;
        }
        self.grant(self.missing, data_flag::REQUEST);
        self.wait = Span((self.wait.0 * 2).min(16 * STALL.0));
        self.due = env.now + self.wait;
    }
    fn open_flows(&self) -> usize {
        1
    }
}

#[test]
fn a_stalled_receiver_requests_the_hole_at_growing_intervals() {
    let mut harness = Harness::new();
    let (outbox, due) = (Outbox::default(), Time::NEVER);
    let mut receiver = Receiver { outbox, missing: 0, wait: STALL, due };
    for seq in [0, 2] {
        let packet = harness.packets.create(data(seq, 0));
        harness.receive(&mut receiver, Time::ZERO, packet);
        assert!(harness.transmit(&mut receiver, Time::ZERO, Classes::ALL).is_some());
    }
    let mut requests = vec![];
    for _ in 0..6 {
        let now = receiver.deadline();
        receiver.wake(&mut harness.env(Time(now.0 - 1), HostId(0)));
        assert!(harness.transmit(&mut receiver, now, Classes::ALL).is_none(), "it was early");
        receiver.wake(&mut harness.env(now, HostId(0)));
        assert!(receiver.deadline() > now);
        receiver.wake(&mut harness.env(now, HostId(0)));
        let grant = harness.transmit(&mut receiver, now, Classes::CONTROL).expect("a request");
        assert!(harness.transmit(&mut receiver, now, Classes::ALL).is_none(), "once");
        let Header::Grant { request, flags, .. } = harness.packets[grant].header else { panic!() };
        assert_eq!((request, flags), (1, data_flag::REQUEST));
        requests.push(now.0 / STALL.0);
    }
    assert_eq!(requests, [1, 3, 7, 15, 31, 47]);
}

/// Notes the idle gap before each packet.
struct Gaps(std::sync::Arc<std::sync::Mutex<Vec<Option<u64>>>>);

impl Marker for Gaps {
    fn on_dequeue(&mut self, _: &mut PacketPool, _: PacketRef, view: &View) -> bool {
        self.0.lock().unwrap().push(view.idle.map(|idle| idle.0));
        false
    }
    fn sees(&self) -> (bool, bool) {
        (false, true)
    }
}

/// The world was held up and makes four calls in a row, each with the instant at which it was due.
#[test]
fn late_calls_with_true_instants_show_the_true_gaps() {
    let gaps = std::sync::Arc::default();
    let marker = Gaps(std::sync::Arc::clone(&gaps));
    let (mut harness, mut port) =
        (Harness::new(), port(&[fifo(9), fifo(9)], vec![Box::new(marker)]));
    let starts = [0, FULL.0, 2 * FULL.0 + 5, 9 * FULL.0];
    for start in starts {
        let packet = harness.packets.create(data(0, 0));
        harness.enqueue(&mut *port, Time(start), packet);
        harness.next(&mut *port, Time(start));
    }
    let expected = [None, Some(0), Some(5), Some(6 * FULL.0 - 5)];
    assert_eq!(*gaps.lock().unwrap(), expected);
}
