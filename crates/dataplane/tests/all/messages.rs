//! Messages between two hosts over a switch, under the virtual clock.

use bytes::Bytes;
use incast_dataplane::endpoint::{
    Endpoint, Event, Failure, Limits, MessageId, Purpose, REMEMBERED, Received, SendError, Tables,
};
use incast_dataplane::{Clock, Mem, PacketIo, SharedClock, Testbed};
use incast_fabric::{Fabric, LinkDefaults, parse};
use incast_transport::{HostId, Random, Rate, Span, Time, Transport};
use incast_world::for_messages;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

type Wires = Rc<RefCell<Mem>>;
type Side = Endpoint<Wires, SharedClock>;

/// Two hosts and a switch in one thread.
struct Net {
    sides: Vec<Option<Side>>,
    switch: Testbed<Wires, SharedClock>,
    clocks: Vec<SharedClock>,
    wires: Wires,
    fabric: Arc<Fabric>,
    transport: &'static dyn Transport,
    limits: Limits,
    /// Turns in which the switch had something to do.
    carried: u64,
}

impl Net {
    fn new(transport: &str, loss: f64, limits: Limits) -> Net {
        let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
        let fabric = Arc::new(parse("star:2", LinkDefaults { rate, propagation, loss }).unwrap());
        let transport = incast_protocols::find(transport).unwrap();
        let setup = for_messages(&fabric, transport, &[]).unwrap();
        let wires = Rc::new(RefCell::new(Mem::new(&fabric, setup.framing)));
        let clocks = SharedClock::of(3);
        let switch = Testbed::part(setup, wires.clone(), clocks[2].clone(), &[2]);
        let sides = vec![None, None];
        let mut net = Net { sides, switch, clocks, wires, fabric, transport, limits, carried: 0 };
        (0..2).for_each(|host| net.start(host, 0));
        net
    }

    /// Starts a host's endpoint, which is down.
    fn start(&mut self, host: u32, start: u32) {
        let setup = for_messages(&self.fabric, self.transport, &[]).unwrap();
        let (wires, clock) = (self.wires.clone(), self.clocks[host as usize].clone());
        let side = Endpoint::within(self.limits, wires, clock, setup, HostId(host), start);
        self.sides[host as usize] = Some(side);
    }

    fn side(&mut self, host: usize) -> &mut Side {
        self.sides[host].as_mut().expect("it is up")
    }

    /// Polls everything once: what has happened, by host.
    fn turn(&mut self) -> Vec<(usize, Event)> {
        self.carried += self.switch.turn() as u64;
        let mut events = vec![];
        for (host, side) in self.sides.iter_mut().enumerate() {
            match side {
                Some(side) => events.extend(side.poll().map(|event| (host, event))),
                None => {
                    // A host that is down lets time pass.
                    self.clocks[host].now();
                    self.clocks[host].idle(Time::NEVER);
                }
            }
        }
        events
    }

    fn next(&mut self) -> (usize, Event) {
        for _ in 0..10_000_000 {
            let mut events = self.turn();
            assert!(events.len() < 2, "tests look at one event at a time");
            if let Some(event) = events.pop() {
                return event;
            }
        }
        panic!("nothing happens");
    }
}

fn body(random: &mut Random, most: u64) -> Bytes {
    let length = random.below(most + 1);
    (0..length).map(|_| random.next_u64() as u8).collect::<Vec<u8>>().into()
}

/// Requests and replies of random bytes, both ways at a time, with losses, by every transport.
#[test]
fn every_transport_carries_requests_and_replies() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let mut net = Net::new(name, 0.003, Limits::default());
        let mut random = Random::new(7, 7, 7);
        let mut open: HashMap<(usize, MessageId), Bytes> = HashMap::new();
        for round in 0..12 {
            for host in 0..2 {
                let sent = body(&mut random, if round % 3 == 0 { 300_000 } else { 3_000 });
                let to = HostId(1 - host as u32);
                let id = net.side(host).request(to, sent.clone()).unwrap();
                open.insert((host, id), sent);
            }
        }
        let reply = |request: &[u8]| request.iter().rev().copied().collect::<Vec<u8>>();
        let mut turns = 0;
        while !open.is_empty() {
            turns += 1;
            assert!(turns < 20_000_000, "{name}: {} requests without reply", open.len());
            for (host, event) in net.turn() {
                match event {
                    Event::Received(received) => match received.purpose {
                        Purpose::Request(_) => {
                            let own = reply(&received.body);
                            net.side(host).reply(&received, own.into()).unwrap();
                        }
                        Purpose::Reply(to) => {
                            let sent = open.remove(&(host, to)).expect("one reply each");
                            assert!(received.body == reply(&sent), "{name}: bytes differ");
                        }
                        Purpose::Message => panic!("{name}: nobody sent that"),
                    },
                    Event::Failed(id, why) => panic!("{name}: {id:?} {why}"),
                    Event::Sent(_) => {}
                }
            }
        }
        let end = net.side(0).now() + REMEMBERED + REMEMBERED;
        (0..2).for_each(|host| net.side(host).close());
        while net.side(0).now() < end && !(net.side(0).is_idle() && net.side(1).is_idle()) {
            net.turn();
        }
        for host in 0..2 {
            let Tables { outgoing, arriving, probe, requests, .. } = net.side(host).tables();
            assert_eq!((outgoing, arriving, probe, requests), (0, 0, 0, 0), "{name}");
        }
        drop(net.sides);
        let wires = net.wires;
        net.switch.into_io();
        assert_eq!(wires.borrow().held(), 0, "{name}: frames that leaked");
    }
}

/// `count` messages of a few bytes leave tables and memory as large as a hundredth of them.
fn many(count: u64) {
    let limits = Limits { queued: 64 << 10, ..Limits::default() };
    let mut net = Net::new("dctcp", 0.0, limits);
    let (mut sent, mut arrived, mut delivered) = (0, 0, 0);
    let mut most = Tables::default();
    let mut early = None;
    while delivered < count || arrived < count {
        while sent < count {
            let message = Bytes::copy_from_slice(&sent.to_be_bytes());
            match net.side(0).send(HostId(1), message) {
                Ok(_) => sent += 1,
                Err(SendError::WouldBlock) => break,
                Err(error) => panic!("{error}"),
            }
        }
        for (_, event) in net.turn() {
            match event {
                Event::Received(received) => {
                    assert_eq!(received.body.len(), 8);
                    arrived += 1;
                }
                Event::Sent(_) => delivered += 1,
                Event::Failed(id, why) => panic!("{id:?}: {why}"),
            }
        }
        for host in 0..2 {
            let Tables { outgoing, arriving, names, probe, transport, .. } =
                net.side(host).tables();
            most.outgoing = most.outgoing.max(outgoing);
            most.arriving = most.arriving.max(arriving);
            most.names = most.names.max(names);
            most.probe = most.probe.max(probe);
            most.transport = most.transport.max(transport);
        }
        if arrived == count / 10 && early.is_none() {
            early = Some((most, net.wires.borrow().made()));
        }
    }
    let (early, frames) = early.expect("a tenth has arrived");
    let made = net.wires.borrow().made();
    let end = net.side(0).now();
    println!("{count}: {most:?}, {made} frames, at {end}");
    assert!(made <= frames.max(64) * 2);
    for (now, then) in [
        (most.outgoing, early.outgoing),
        (most.arriving, early.arriving),
        (most.probe, early.probe),
        (most.transport, early.transport),
    ] {
        assert!(now <= then.max(64) * 2, "{now} where a tenth of the messages had {then}");
    }
    // Finished flows are remembered for a second, but never more than so many.
    assert!(most.names <= (1 << 17) + 8_192, "{most:?}");
}

#[test]
fn a_hundred_thousand_messages_leave_memory_as_it_is() {
    many(100_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_million_messages_leave_memory_as_it_is() {
    many(1_000_000);
}

#[test]
fn a_peer_that_dies_fails_the_message_in_time_and_may_return() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let mut net = Net::new(name, 0.0, Limits::default());
        let limits = net.limits;
        let first = net.side(0).send(HostId(1), vec![1; 50_000].into()).unwrap();
        let mut seen = [net.next(), net.next()];
        seen.sort_by_key(|(host, _)| *host);
        assert_eq!(seen[0].1, Event::Sent(first), "{name}");
        // It dies in the middle of a message, and another is sent to it.
        let half = net.side(0).send(HostId(1), vec![2; 5_000_000].into()).unwrap();
        (0..40).for_each(|_| assert_eq!(net.turn(), [], "{name}"));
        net.sides[1] = None;
        let died = net.side(0).now();
        let late = net.side(0).request(HostId(1), vec![3; 10].into()).unwrap();
        for _ in 0..2 {
            let (_, event) = net.next();
            let expected = [half, late].map(|id| Event::Failed(id, Failure::Silent));
            assert!(expected.contains(&event), "{name}: {event:?}");
            let waited = net.side(0).now() - died;
            assert!(waited <= limits.silence + Span::from_ms(1), "{name}: {waited}");
        }
        let Tables { outgoing, arriving, names, probe, requests, transport } = net.side(0).tables();
        assert_eq!((outgoing, arriving, names, probe), (0, 0, 0, 0), "{name}");
        assert_eq!((requests, transport), (0, 0), "{name}");
        // It returns, and knows nothing of what was before.
        net.start(1, 77);
        let again = net.side(0).send(HostId(1), vec![4; 20_000].into()).unwrap();
        let back = net.side(1).send(HostId(0), vec![5; 20_000].into()).unwrap();
        // What was on the wire when it died may arrive too.
        let mut missing = vec![(0, again), (1, back)];
        let mut arrived = vec![(0, 5), (1, 4)];
        let mut turns = 0;
        while !missing.is_empty() || !arrived.is_empty() {
            turns += 1;
            assert!(turns < 1_000_000, "{name}: {missing:?} are not sent, {arrived:?} not there");
            for (host, event) in net.turn() {
                match event {
                    Event::Sent(id) => missing.retain(|one| *one != (host, id)),
                    Event::Received(Received { body, .. }) if body.len() == 20_000 => {
                        arrived.retain(|one| *one != (host, body[0]));
                    }
                    Event::Received(_) => {}
                    Event::Failed(id, why) => panic!("{name}: {id:?} {why}"),
                }
            }
        }
    }
}

/// A source that falls silent in the middle of a message. Its destination asks for what is missing,
/// by grants, credits, pulls or tokens, no longer than its limits say; then it has forgotten the
/// message and sends nothing more.
#[test]
fn a_destination_does_not_ask_a_silent_source_for_ever() {
    let silence = Span::from_ms(100);
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let mut net = Net::new(name, 0.0, Limits { silence, ..Limits::default() });
        net.side(0).send(HostId(1), vec![1; 5_000_000].into()).unwrap();
        let begun = |net: &mut Net| net.side(1).tables().arriving > 0;
        for turn in 0.. {
            assert!(turn < 100_000, "{name}: nothing arrives");
            assert_eq!(net.turn(), [], "{name}");
            if begun(&mut net) {
                break;
            }
        }
        net.sides[0] = None;
        let died = net.side(1).now();
        let mut carried = net.carried;
        while net.side(1).tables() != Tables::default() {
            let waited = net.side(1).now() - died;
            assert!(waited <= silence + Span::from_ms(1), "{name}: {:?}", net.side(1).tables());
            assert_eq!(net.turn(), [], "{name}");
        }
        println!("{name}: {} turns until it is forgotten", net.carried - carried);
        // What is on its way arrives; then the wire stays quiet.
        (0..10_000).for_each(|_| assert_eq!(net.turn(), [], "{name}"));
        carried = net.carried;
        (0..10_000).for_each(|_| assert_eq!(net.turn(), [], "{name}"));
        assert_eq!(net.carried, carried, "{name} still asks");
    }
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let limits = Limits { message: 1_000, queued: 2_000, messages: 3, ..Limits::default() };
    let mut net = Net::new("ren", 0.0, limits);
    let side = net.side(0);
    let bytes = |length: usize| Bytes::from(vec![0; length]);
    assert_eq!(side.send(HostId(1), bytes(1_001)), Err(SendError::TooLong { most: 1_000 }));
    for host in [0, 2, u32::MAX] {
        assert_eq!(side.send(HostId(host), bytes(1)), Err(SendError::NoSuchHost));
    }
    side.send(HostId(1), bytes(1_000)).unwrap();
    assert_eq!(side.send(HostId(1), bytes(1_000)), Err(SendError::WouldBlock));
    side.request(HostId(1), bytes(100)).unwrap();
    assert_eq!(side.send(HostId(1), bytes(1)), Err(SendError::WouldBlock), "three at most");
    let (_, Event::Received(first)) = net.next() else { panic!("a message arrives") };
    assert_eq!(net.side(1).reply(&first, bytes(1)), Err(SendError::NotARequest));
    // Nobody answers the request: it fails, in time.
    net.side(0).close();
    assert_eq!(net.side(0).send(HostId(1), bytes(1)), Err(SendError::Closed));
    let mut failed = None;
    while failed.is_none() {
        failed = net.turn().into_iter().find(|(_, event)| matches!(event, Event::Failed(..)));
    }
    assert_eq!(failed, Some((0, Event::Failed(MessageId(1), Failure::NoReply))));
    assert!(net.side(0).is_idle());
    let waited = net.side(0).now() - Time::ZERO;
    assert!(waited < limits.reply + Span::from_ms(1), "{waited}");
}
