//! Payloads are cut off, headers overtake and are acknowledged, and return to their source when not
//! even they fit (NDP).

use crate::*;

/// Sends what it is given, then what returns bounced or refused.
#[derive(Default)]
struct Sender {
    outbox: Outbox,
    bounces: u32,
}

impl Host for Sender {
    quiet!();
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = env.packets[packet];
        let seq = match content.header {
            Header::Nack { seq, .. } => seq,
            Header::Data { seq, .. } if content.has(flag::BOUNCED) => {
                self.bounces += 1;
                seq
            }
            other => panic!("{other:?}"),
        };
        self.outbox.push(Packet { flags: flag::RETRANSMIT, ..data(seq, 0) });
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
}

/// Records what arrives; requests trimmed packets again.
#[derive(Default)]
struct Receiver {
    outbox: Outbox,
    order: Vec<(u32, bool)>,
}

impl Host for Receiver {
    quiet!();
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = env.packets[packet];
        let (seq, trimmed) = (content.header.data_key(), content.has(flag::TRIMMED));
        self.order.push((seq, trimmed));
        if trimmed {
            let header = Header::Nack { seq, cumulative: 0, number: 0, flags: 0 };
            self.outbox.push(crate::packet(header, 0, 0));
        }
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.outbox.transmit(env, open)
    }
}

#[test]
fn every_packet_arrives_trimmed_bounced_or_whole_and_in_the_end_whole() {
    let weighted = |weight| ClassPolicy { schedule: Schedule::Weighted(weight), ..fifo(8) };
    let discipline = Discipline::Trim { headers: 0, tail: 0.5, bounce: true };
    let headers = ClassPolicy { limit: Limit::Bytes(3 * 84), ..weighted(10) };
    let classes = [headers, ClassPolicy { discipline, ..weighted(1) }];
    let (mut harness, mut port) = (Harness::new(), port(&classes, vec![]));
    let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
    (0..20).for_each(|seq| sender.outbox.push(data(seq, 0)));
    let mut whole = vec![];
    for round in 0.. {
        assert!(round < 4, "twenty packets need three rounds of eight");
        let mut bounced = vec![];
        while let Some(packet) = harness.transmit(&mut sender, Time::ZERO, Classes::ALL) {
            let verdict = harness.enqueue(&mut *port, Time::ZERO, packet);
            let displaced = verdict.displaced.into_iter();
            for (packet, fate) in displaced.chain([(packet, verdict.arriving)]) {
                match fate {
                    Fate::Bounced => bounced.push(packet),
                    Fate::Dropped => panic!("nothing is lost without a trace"),
                    Fate::Queued | Fate::Trimmed => {}
                }
            }
        }
        for packet in bounced {
            // The world returns it to its source.
            let content = &mut harness.packets[packet];
            content.flags |= flag::BOUNCED;
            std::mem::swap(&mut content.src, &mut content.dst);
            harness.receive(&mut sender, Time::ZERO, packet);
        }
        for packet in harness.drain(&mut *port, Time::ZERO) {
            harness.receive(&mut receiver, Time::ZERO, packet);
        }
        if round == 0 {
            // Ten to one in bytes: a data packet pays for 183 headers, so one at most goes first.
            let last = receiver.order.iter().rposition(|&(_, trimmed)| trimmed);
            assert!(last.is_some_and(|last| last <= 3), "{:?}", receiver.order);
            assert_eq!(sender.bounces, 20 - 8 - 3);
        }
        while let Some(reply) = harness.transmit(&mut receiver, Time::ZERO, Classes::CONTROL) {
            harness.receive(&mut sender, Time::ZERO, reply);
        }
        let arrived = receiver.order.drain(..).filter(|&(_, trimmed)| !trimmed);
        whole.extend(arrived.map(|(seq, _)| seq));
        if whole.len() == 20 {
            break;
        }
    }
    whole.sort();
    assert_eq!(whole, (0..20).collect::<Vec<_>>());
    assert_eq!(harness.packets.alive(), 0);
}
