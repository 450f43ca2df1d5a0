//! A paused class stops a host and a port, and nothing else (PFC, below DCQCN, HPCC and TIMELY).

use crate::*;

#[derive(Default)]
struct Sender {
    outbox: Outbox,
}

impl Host for Sender {
    quiet!();
    fn receive(&mut self, _env: &mut Env<'_>, _packet: PacketRef) {}
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
}

#[test]
fn notifications_pass_while_data_is_paused() {
    let (mut harness, mut port) = (Harness::new(), port(&[fifo(9), fifo(9)], vec![]));
    let mut sender = Sender::default();
    let notification = Header::Ack { seq: 7, cumulative: 0, number: 0, flags: 0 };
    sender.outbox.push(data(0, 0));
    sender.outbox.push(packet(notification, 0, 0));
    let paused = Classes(!0b10);
    let first = harness.transmit(&mut sender, Time::ZERO, paused).expect("control is open");
    assert_eq!(harness.packets[first].class, 0);
    assert!(harness.transmit(&mut sender, Time::ZERO, paused).is_none());
    let second =
        harness.transmit(&mut sender, Time::ZERO, Classes::ALL).expect("the pause is over");
    // The same at a switch port.
    harness.enqueue(&mut *port, Time::ZERO, second);
    harness.enqueue(&mut *port, Time::ZERO, first);
    let mut env = harness.port_env(Time::ZERO);
    assert_eq!(port.dequeue(&mut env, paused), Dequeue::Packet(first));
    assert_eq!(port.dequeue(&mut env, paused), Dequeue::Empty);
    assert_eq!(port.data_backlog().packets, 1);
    assert_eq!(port.dequeue(&mut env, Classes::ALL), Dequeue::Packet(second));
}
