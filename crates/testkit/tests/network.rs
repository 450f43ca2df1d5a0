//! What the small network and the driver promise, with the least host there is.

use incast_testkit::*;
use incast_transport::*;
use std::collections::{BTreeSet, VecDeque};

const ID: TransportId = TransportId(99);
const DELAY: Span = Span::from_us(5);

/// Sends its flows' packets at line rate, and notes what comes. What is lost stays lost.
#[derive(Default)]
struct Blind {
    waiting: VecDeque<Packet>,
    seen: BTreeSet<u32>,
    bytes: u64,
    expected: u64,
    due: Option<Time>,
    /// Says that it is idle whatever waits.
    lies: bool,
}

impl Host for Blind {
    fn open(&mut self, _env: &mut Env<'_>, flow: &Flow) {
        for seq in 0..flow.packets() {
            let (src, dst, flow_id) = (flow.src, flow.dst, flow.id);
            let payload = flow.payload(seq);
            self.waiting.push_back(Packet { src, dst, flow: flow_id, payload, ..data(ID, seq, 0) });
        }
    }
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { header, flow, payload, .. } = env.packets[packet];
        let seq = header.data_key();
        if payload == 0 || !self.seen.insert(seq) {
            return;
        }
        self.bytes += payload as u64;
        env.probe.delivered(flow, seq, seq as u64 * MSS, payload as u32);
        if self.bytes == self.expected {
            env.probe.completed(flow);
        }
    }
    fn transmit(&mut self, env: &mut Env<'_>, _open: Classes) -> Option<PacketRef> {
        self.waiting.pop_front().map(|packet| env.packets.create(packet))
    }
    fn idle(&self) -> bool {
        self.lies
    }
    fn deadline(&self) -> Time {
        self.due.unwrap_or(Time::NEVER)
    }
    fn wake(&mut self, _env: &mut Env<'_>) {}
    fn open_flows(&self) -> usize {
        0
    }
}

/// Two hosts at 10 Gb/s, the second of which expects so many bytes.
fn pair(expected: u64) -> Network<Blind> {
    let mut network = Network::new(Framing::ETHERNET, 1);
    for expected in [0, expected] {
        let host = Blind { expected, ..Blind::default() };
        network.add_host(Box::new(host), Rate::from_gbps(10), DELAY);
    }
    network
}

fn send(network: &mut Network<Blind>, packets: u64) {
    network.add(flow(0, 0, 1, packets * MSS, Time::ZERO));
    network.settle(at(1_000));
}

#[test]
fn packets_alone_take_the_time_of_the_link() {
    let mut network = pair(3 * MSS);
    send(&mut network, 3);
    network.assert_complete();
    assert_eq!(network.completed(0), Some(Time::ZERO + FULL * 3 + DELAY));
    let at: Vec<Time> = network.sent_on(0).map(|sent| sent.at).collect();
    assert_eq!(at, [0, 1, 2].map(|n| Time::ZERO + FULL * n));
}

#[test]
fn each_impairment_does_what_it_says() {
    let arrival = Time::ZERO + FULL + DELAY;
    let ecn = Ecn::Ce as u8;
    let trimmed = Impairment { trimmed: true, ..Impairment::NONE };
    let bounced = Impairment { bounced: true, ..trimmed };
    // When the first of two packets arrived, who received it, its payload, mark and flags.
    let whole = |at, mark| (at, 1, MSS as u16, mark, 0);
    for (impairment, expected) in [
        (Impairment::NONE, vec![whole(arrival, 0)]),
        (Impairment::LOST, vec![]),
        (Impairment::MARKED, vec![whole(arrival, ecn)]),
        (Impairment::late(us(9)), vec![whole(arrival + us(9), 0)]),
        (Impairment::twice(us(9)), vec![whole(arrival, 0), whole(arrival + us(9), 0)]),
        (trimmed, vec![(arrival, 1, 0, 0, flag::TRIMMED)]),
        (bounced, vec![(arrival, 0, 0, 0, flag::TRIMMED | flag::BOUNCED)]),
    ] {
        let mut network = pair(FOREVER);
        network.impair_all(Impairments::scripted(move |_, sent| match sent {
            0 => impairment,
            _ => Impairment::NONE,
        }));
        send(&mut network, 2);
        let first = network.received.iter().filter(|seen| seen.packet.header.data_key() == 0);
        let outcome = |seen: &Received| {
            let Packet { payload, mark, flags, .. } = seen.packet;
            (seen.at, seen.host, payload, mark, flags)
        };
        assert_eq!(first.map(outcome).collect::<Vec<_>>(), expected, "{impairment:?}");
        assert_eq!(network.packets.alive(), 0);
        assert_eq!(network.sent[0].impairment, impairment);
    }
}

/// What a model does to a thousand packets of data.
fn drawn(probabilities: Probabilities, seed: u64) -> Vec<Impairment> {
    let mut model = Impairments::random(probabilities, seed);
    (0..1_000).map(|sent| model.next(&data(ID, 0, 0), sent)).collect()
}

#[test]
fn a_seed_gives_the_same_impairments_and_another_seed_others() {
    let some = Probabilities { mark: 0.1, ..Probabilities::each(0.1, us(9)) };
    assert_eq!(drawn(some, 1), drawn(some, 1));
    assert_ne!(drawn(some, 1), drawn(some, 2));
}

#[test]
fn each_probability_is_kept_and_shifts_no_other() {
    let latest = us(9);
    let each = Probabilities { mark: 0.3, bounce: 0.5, ..Probabilities::each(0.3, latest) };
    let all = drawn(each, 7);
    let none = Probabilities { latest, ..Probabilities::default() };
    type Kind = fn(&Impairment) -> bool;
    let cases: [(Probabilities, Kind); 5] = [
        (Probabilities { loss: 0.3, ..none }, |one| one.lost),
        (Probabilities { duplicate: 0.3, ..none }, |one| one.copy.is_some()),
        (Probabilities { late: 0.3, ..none }, |one| one.late > Span::ZERO),
        (Probabilities { mark: 0.3, ..none }, |one| one.mark.is_some()),
        (Probabilities { trim: 0.3, ..none }, |one| one.trimmed),
    ];
    for (alone, kind) in cases {
        let count = all.iter().filter(|one| kind(one)).count();
        assert!((250..350).contains(&count), "{alone:?}: {count}");
        let own = drawn(alone, 7);
        assert!(own.iter().zip(&all).all(|(own, all)| kind(own) == kind(all)), "{alone:?}");
        assert!(own.iter().all(|one| kind(one) || *one == Impairment::NONE), "{alone:?}");
    }
    assert!(all.iter().all(|one| one.late <= latest && one.copy.is_none_or(|by| by <= latest)));
    let trimmed = all.iter().filter(|one| one.trimmed);
    let bounced = trimmed.clone().filter(|one| one.bounced).count();
    assert!((trimmed.count() / 3..).contains(&bounced), "half of them");
    let marks: BTreeSet<_> = all.iter().filter_map(|one| one.mark).collect();
    assert_eq!(marks.len(), 4, "corrupted marks take every value");
    // Headers have no payload to lose.
    let header = packet(ID, Header::Grant { seq: 0, request: 0, tag: 0, flags: 0 });
    let mut model = Impairments::random(Probabilities { trim: 1.0, bounce: 1.0, ..none }, 1);
    assert_eq!(model.next(&header, 0), Impairment::NONE);
}

#[test]
fn a_link_may_have_impairments_of_its_own() {
    let mut network = pair(FOREVER);
    network.impair(1, Impairments::losing(|_| true));
    network.add(flow(0, 0, 1, 2 * MSS, Time::ZERO));
    network.add(flow(1, 1, 0, 2 * MSS, Time::ZERO));
    network.settle(at(1_000));
    assert_eq!(network.received.iter().map(|seen| seen.host).collect::<Vec<_>>(), [1, 1]);
}

/// A queue of packets, first in first out, of so many at the most, that lets one go each 10 us.
struct Slow {
    queue: VecDeque<PacketRef>,
    most: usize,
    next: Time,
}

impl Port for Slow {
    fn enqueue(&mut self, _env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict {
        if self.queue.len() == self.most {
            return Verdict::only(Fate::Dropped);
        }
        self.queue.push_back(packet);
        Verdict::only(Fate::Queued)
    }
    fn dequeue(&mut self, env: &mut PortEnv<'_>, _open: Classes) -> Dequeue {
        if env.now < self.next {
            return Dequeue::NotBefore(self.next);
        }
        let Some(packet) = self.queue.pop_front() else { return Dequeue::Empty };
        self.next = env.now + us(10);
        Dequeue::Packet(packet)
    }
    fn backlog(&self) -> Backlog {
        Backlog { bytes: 0, packets: self.queue.len() as u32 }
    }
}

#[test]
fn ports_on_a_path_hold_packets_back_and_drop_them() {
    let mut network = pair(FOREVER);
    let port = Slow { queue: VecDeque::new(), most: 2, next: Time::ZERO };
    let link = network.add_port(Box::new(port), Rate::from_gbps(10), Span::ZERO);
    network.path(0, 1, &[link]);
    send(&mut network, 6);
    let first = Time::ZERO + FULL + DELAY;
    let left: Vec<Time> = network.sent_on(link).map(|sent| sent.at).collect();
    assert_eq!(left, [first, first + us(10), first + us(20)]);
    assert_eq!(network.dropped_at(link).count(), 3);
    assert_eq!((network.most_waiting[link], network.packets.alive()), (1, 0));
}

#[test]
fn the_parts_of_a_completion_time_add_up_over_losses_copies_and_ports() {
    // The probe asserts it; the first packet is lost behind the port, and its copy comes last.
    let mut network = pair(2 * MSS);
    let port = Slow { queue: VecDeque::new(), most: 9, next: Time::ZERO };
    let link = network.add_port(Box::new(port), Rate::from_gbps(10), Span::ZERO);
    network.path(0, 1, &[link]);
    let mut first = true;
    network.impair(
        link,
        Impairments::scripted(move |_, _| match std::mem::take(&mut first) {
            true => Impairment { copy: Some(us(50)), ..Impairment::LOST },
            false => Impairment::NONE,
        }),
    );
    send(&mut network, 2);
    network.assert_complete();
    assert_eq!(network.sent_on(link).filter(|sent| sent.impairment.lost).count(), 1);
    let end = Time::ZERO + FULL + DELAY + FULL + us(50);
    assert_eq!(network.completed(0), Some(end));
    assert_eq!(network.probe.outcomes()[0].parts.total(), end.0);
}

#[test]
#[should_panic(expected = "bytes delivered")]
fn a_missing_byte_is_found() {
    let mut network = pair(MSS);
    network.impair_all(Impairments::losing(|packet| packet.header.data_key() == 1));
    send(&mut network, 2);
    network.assert_complete();
}

#[test]
#[should_panic(expected = "not finished")]
fn what_does_not_end_in_time_is_found() {
    let mut network = pair(FOREVER);
    network.add(flow(0, 0, 1, 2_000 * MSS, Time::ZERO));
    network.settle(at(100));
}

#[test]
#[should_panic(expected = "a timer in the past")]
fn a_timer_that_stays_is_found() {
    let mut network = pair(FOREVER);
    network.hosts[0].due = Some(at(3));
    network.run(at(10));
}

#[test]
#[should_panic(expected = "an idle host sent")]
fn a_host_that_is_not_idle_is_found() {
    let mut driver = Driver::new(Blind { lies: true, ..Blind::default() }, 0);
    driver.open(Time::ZERO, &flow(0, 0, 1, MSS, Time::ZERO));
    driver.transmit(Time::ZERO);
}

#[test]
#[should_panic(expected = "is closed")]
fn a_packet_of_a_closed_class_is_found() {
    let mut driver = Driver::new(Blind::default(), 0);
    driver.open(Time::ZERO, &flow(0, 0, 1, MSS, Time::ZERO));
    driver.transmit_if(Time::ZERO, Classes::CONTROL);
}
