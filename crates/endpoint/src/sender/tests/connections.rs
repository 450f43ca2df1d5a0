//! Messages that follow each other on one connection.

use super::controls::*;
use crate::sender::{Options, Reliability};
use incast_transport::*;

const END: Time = Time(100_000_000_000_000);
const DELAY: Span = Span(5_000_000);

fn tcp() -> Options {
    Options::tcp(ID, Span::from_ms(10))
}

fn always() -> Script {
    Box::new(|_, _| Impairment::NONE)
}

/// How long a full packet takes on a link.
fn packet() -> Span {
    Rate::from_gbps(10).tx_time(Bytes(u64::from(Framing::ETHERNET.charged_packet(MSS as u16, 0))))
}

fn ack() -> Span {
    Rate::from_gbps(10).tx_time(Bytes(84))
}

/// A message of so many full packets on the only connection from host 0 to host 1.
fn message(id: u32, packets: u64, at: Time) -> Flow {
    Flow { connection: Some(Connection::new(0)), ..flow(id, 0, 1, packets * MSS, at) }
}

fn parts(network: &Pair, flow: u32) -> Parts {
    let outcome = network.probe.outcomes().iter().find(|one| one.flow == FlowId(flow));
    outcome.expect("it is complete").parts
}

/// The window that the first message leaves lets the second one out at once; on a connection of its own it begins with
/// two packets and waits for their ACKs.
#[test]
fn a_window_lives_on_from_one_message_to_the_next() {
    let later = Time::ZERO + Span::from_us(200);
    let took = |first: Flow, second: Flow| {
        let (mut network, _) = pair(2 * MSS, tcp(), always());
        network.add(first);
        network.add(second);
        network.settle(END);
        network.assert_complete();
        let since = |flow: u32, start| network.completed(flow).unwrap().since(start);
        (since(0, Time::ZERO), since(1, later), parts(&network, 1))
    };
    // Two packets, of which the ACKs make the window four; then the rest leaves without a pause.
    let round = packet() + DELAY + ack() + DELAY;
    let fresh = |packets: u64| round + packet() * (packets - 2) + DELAY;
    let (one, two, own) = took(message(0, 6, Time::ZERO), message(1, 4, later));
    assert_eq!(one, fresh(6));
    assert_eq!(two, packet() * 4 + DELAY);
    assert_eq!(own.blocked.iter().sum::<u64>(), 0);
    assert_eq!((own.nic_own, own.nic_other), ((packet() * 3).0, 0));

    let (one, two, own) = took(flow(0, 0, 1, 6 * MSS, Time::ZERO), flow(1, 0, 1, 4 * MSS, later));
    assert_eq!((one, two), (fresh(6), fresh(4)));
    assert!(own.blocked[Reason::Window as usize] > 0);
}

/// The bytes of a message leave behind those of the one before, in one window; its wait for them is one for the NIC.
#[test]
fn messages_leave_one_behind_the_other() {
    let (mut network, _) = pair(100 * MSS, tcp(), always());
    network.add(message(0, 4, Time::ZERO));
    network.add(message(1, 3, Time::ZERO));
    network.settle(END);
    network.assert_complete();
    let order: Vec<u32> = network.sent_on(0).map(|sent| sent.packet.flow.0).collect();
    assert_eq!(order, [0, 0, 0, 0, 1, 1, 1]);
    let ends = [0, 1].map(|flow| network.completed(flow).unwrap().since(Time::ZERO));
    assert_eq!(ends, [packet() * 4 + DELAY, packet() * 7 + DELAY]);
    let own = parts(&network, 1);
    assert_eq!((own.nic_own, own.nic_other), ((packet() * 2).0, (packet() * 4).0));
    assert_eq!(own.blocked.iter().sum::<u64>(), 0);
}

/// A window that is full holds back all messages of a connection, and each one's time says so.
#[test]
fn a_full_window_is_the_wait_of_all_messages() {
    let (mut network, _) = pair(2 * MSS, tcp(), always());
    network.add(message(0, 2, Time::ZERO));
    network.add(message(1, 1, Time::ZERO));
    network.settle(END);
    // The second packet fills the window when it begins to leave; the first ACK lets the third one out.
    let wait = DELAY + ack() + DELAY;
    let own = parts(&network, 1);
    assert_eq!(own.blocked[Reason::Window as usize], wait.0);
    assert_eq!(own.nic_other, packet().0);
    assert_eq!(network.completed(1).unwrap().since(Time::ZERO), packet() * 2 + wait + DELAY);
}

/// What is lost at the end of a message is found by the ACKs of the next one, whatever finds losses.
#[test]
fn the_next_message_tells_that_the_end_of_one_is_lost() {
    let again = Span::from_us(500);
    for reliability in [Reliability::Sack, Reliability::NewReno, Reliability::GoBackN { again }] {
        let mut lost = 0;
        let script: Script = Box::new(move |packet, _| {
            let hit = packet.is_data() && packet.flow == FlowId(0) && packet.header.data_key() > 0;
            lost += u32::from(hit);
            if hit && lost == 1 { Impairment::LOST } else { Impairment::NONE }
        });
        let (mut network, events) = pair(20 * MSS, Options { reliability, ..tcp() }, script);
        network.add(message(0, 2, Time::ZERO));
        network.add(message(1, 8, Time::ZERO));
        network.settle(END);
        network.assert_complete();
        let timeouts: u32 = network.probe.senders().iter().map(|one| one.timeouts).sum();
        assert_eq!(timeouts, 0, "{reliability:?}");
        let losses = events.lock().unwrap().iter().filter(|t| matches!(t, Event::Loss(_))).count();
        assert_eq!(losses, 1, "{reliability:?}");
        assert!(network.completed(0) > network.completed(1).map(|_| Time::ZERO + DELAY * 2));
        assert!(parts(&network, 0).recovery > 0);
    }
}

fn survives(seed: u64, options: Options) {
    let mut random = Random::new(seed, 0, 9);
    let loss = [0.0, 0.01, 0.05, 0.2][seed as usize % 4];
    let (mut network, _) = pair(10 * MSS, options, chaos(seed, loss));
    for id in 0..24 {
        let connection = random.below(4) as u32;
        let ends =
            flow(id, connection % 2, 1 - connection % 2, 1 + random.below(60_000), network.now);
        // Some have one of their own.
        let connection = random.chance(0.8).then(|| Connection::new(connection));
        network.open(&Flow { connection, ..ends });
        let until = network.now + Span::from_ns(random.below(40_000));
        network.run(until);
    }
    network.settle(Time::ZERO + Span::from_secs(3_000));
    network.assert_complete();
}

#[test]
fn connections_survive_faults() {
    let again = Span::from_us(500);
    for reliability in [Reliability::Sack, Reliability::NewReno, Reliability::GoBackN { again }] {
        (0..60).for_each(|seed| survives(seed, Options { reliability, ..tcp() }));
    }
}

/// A message that the world gives up holds nothing, and those behind it go on.
#[test]
fn a_message_can_be_given_up() {
    let (mut network, _) = pair(2 * MSS, tcp(), always());
    network.add(message(0, 20, Time::ZERO));
    network.add(message(1, 5, Time::ZERO));
    network.run(Time::ZERO + Span::from_us(30));
    for host in [0, 1] {
        network.call(host, |host, env| host.abandon(env, FlowId(0)));
    }
    network.run(Time::ZERO + Span::from_ms(100));
    assert!(network.completed(1).is_some());
    assert_eq!(network.hosts[0].open_flows(), 0);
}

/// An ACK of what was not sent changes nothing, whatever message it names.
#[test]
fn acknowledgements_of_what_was_not_sent_are_ignored() {
    use crate::sender::views::Ack;
    let (mut network, _) = pair(2 * MSS, tcp(), always());
    let all = [message(0, 6, Time::ZERO), message(1, 6, Time::ZERO)];
    all.iter().for_each(|one| network.open(one));
    network.run(Time::ZERO + Span::from_us(1));
    for (flow, cumulative, complete) in [(0, 5, false), (0, 6, true), (1, 1, false), (1, 6, true)] {
        let cumulative = cumulative * MSS as u32;
        let ack = Ack { acked: 0, cumulative, complete, ..Ack::default() };
        let (from, to) = (HostId(1), HostId(0));
        let forged = Packet::header_only(ID, FlowId(flow), from, to, 1, ack);
        network.call(0, |host, env| {
            let packet = env.packets.create(forged);
            host.receive(env, packet);
            env.packets.free(packet);
        });
    }
    network.settle(END);
    network.assert_complete();
    assert_eq!(network.probe.senders()[0].retransmits + network.probe.senders()[1].retransmits, 0);
}
