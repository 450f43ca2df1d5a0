//! Short flows' packets push those of long ones out of a full port; a token for a missing packet
//! is the recovery (pHost).

use crate::*;

/// Sends one packet for each token, in the class of its flow.
#[derive(Default)]
struct Sender {
    outbox: Outbox,
}

impl Host for Sender {
    quiet!();
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { flow, header: Header::Token { seq, remaining, .. }, .. } = env.packets[packet]
        else {
            panic!()
        };
        let class = if remaining <= 8 { 1 } else { 2 };
        self.outbox.push(Packet { flow, class, ..data(seq, 0) });
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
}

fn token(harness: &mut Harness, flow: u32, seq: u32, remaining: u32) -> PacketRef {
    let header = Header::Token { seq, remaining, number: seq, flags: 0 };
    harness.packets.create(Packet { flow: FlowId(flow), ..packet(header, 0, 0) })
}

/// 36 864 B hold 23 full packets, whatever their classes.
#[test]
fn a_long_flow_is_pushed_out_and_requested_again() {
    let class =
        ClassPolicy { discipline: Discipline::PushOut, ..ClassPolicy::fifo(Limit::Bytes(36_864)) };
    let (mut harness, mut port) = (Harness::new(), port(&[class; 3], vec![]));
    let mut sender = Sender::default();
    for seq in 0..24 {
        let token = token(&mut harness, 0, seq, 100);
        harness.receive(&mut sender, Time::ZERO, token);
    }
    for seq in 0..3 {
        let token = token(&mut harness, 1, seq, 3);
        harness.receive(&mut sender, Time::ZERO, token);
    }
    let mut lost = vec![];
    while let Some(packet) = harness.transmit(&mut sender, Time::ZERO, Classes::ALL) {
        let verdict = harness.enqueue(&mut *port, Time::ZERO, packet);
        let arriving = Some((packet, verdict.arriving));
        for (packet, fate) in verdict.displaced.into_iter().chain(arriving) {
            if fate == Fate::Dropped {
                lost.push((
                    harness.packets[packet].flow.0,
                    harness.packets[packet].header.data_key(),
                ));
                harness.packets.free(packet);
            }
        }
    }
    // The last long packet found no room; three more were displaced by the short flow, last come
    // first.
    assert_eq!(lost, [(0, 23), (0, 22), (0, 21), (0, 20)]);
    assert_eq!(port.backlog(), Backlog { bytes: 23 * 1538, packets: 23 });
    for (_, seq) in lost {
        let token = token(&mut harness, 0, seq, 4);
        harness.receive(&mut sender, Time::ZERO, token);
    }
    let first = harness.next(&mut *port, Time::ZERO);
    assert_eq!((harness.packets[first].flow.0, harness.packets[first].class), (1, 1));
    let again = harness.transmit(&mut sender, Time::ZERO, Classes::ALL).expect("a token came");
    assert_eq!(harness.packets[again].class, 1, "it has become a short one");
    assert_eq!(harness.enqueue(&mut *port, Time::ZERO, again), Verdict::only(Fate::Queued));
}
