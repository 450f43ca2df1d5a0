//! A network with a key, and a stranger on its links.

use bytes::Bytes;
use incast_dataplane::endpoint::{Endpoint, Event, Failure};
use incast_dataplane::{
    Arrival, Buffer, Departure, Frame, Identity, Key, Keyed, Meeting, Mem, Neighbour, PacketIo,
    SharedClock, TRAILER, Testbed,
};
use incast_fabric::{Fabric, LinkDefaults, parse};
use incast_transport::{Framing, HostId, Rate, Span, Time};
use incast_world::for_messages;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Links on which somebody listens, and that may carry nothing.
struct Links {
    mem: Mem,
    down: BTreeSet<u32>,
    /// Frames that left, by port.
    seen: Vec<(u32, Vec<u8>)>,
}

#[derive(Clone)]
struct Wire(Rc<RefCell<Links>>);

impl PacketIo for Wire {
    type Frame = Buffer;
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Buffer>>,
    ) -> usize {
        self.0.borrow_mut().mem.rx_burst(port, now, most, into)
    }
    fn alloc(&mut self, length: usize) -> Option<Buffer> {
        self.0.borrow_mut().mem.alloc(length)
    }
    fn free(&mut self, frame: Buffer) {
        self.0.borrow_mut().mem.free(frame)
    }
    fn stage(&mut self, port: u32, frame: Buffer, departure: Departure) -> Result<(), Buffer> {
        let mut links = self.0.borrow_mut();
        links.seen.push((port, frame.bytes().to_vec()));
        if links.down.contains(&port) {
            links.mem.free(frame);
            return Ok(());
        }
        links.mem.stage(port, frame, departure)
    }
    fn flush(&mut self, port: u32) -> usize {
        self.0.borrow_mut().mem.flush(port)
    }
    fn room(&mut self, port: u32) -> usize {
        self.0.borrow_mut().mem.room(port)
    }
    fn due(&mut self, port: u32) -> Time {
        self.0.borrow_mut().mem.due(port)
    }
    fn held(&self) -> usize {
        self.0.borrow().mem.held()
    }
}

fn star() -> Arc<Fabric> {
    let (rate, propagation) = (Rate::from_gbps(1), Span::from_us(5));
    Arc::new(parse("star:2", LinkDefaults { rate, propagation, loss: 0.0 }).unwrap())
}

fn links(fabric: &Fabric) -> Wire {
    let mem = Mem::new(fabric, Framing::ETHERNET);
    Wire(Rc::new(RefCell::new(Links { mem, down: BTreeSet::new(), seen: vec![] })))
}

fn key(byte: u8) -> Key {
    Key::new(&[byte; 32]).unwrap()
}

/// The ports of a node of the star, each with the other end of its link.
fn ends(fabric: &Fabric, node: u32) -> Vec<(u32, u32)> {
    let ports = fabric.ports_of(incast_fabric::NodeId(node));
    ports.map(|port| (port, fabric.ports()[port as usize].reverse.0)).collect()
}

/// Two hosts and a switch, over anything.
struct Net<I: PacketIo> {
    sides: Vec<Endpoint<I, SharedClock>>,
    switch: Testbed<I, SharedClock>,
    arrived: Vec<Bytes>,
    told: Vec<Event>,
}

impl<I: PacketIo> Net<I> {
    fn new(fabric: &Arc<Fabric>, transport: &str, io: impl Fn(u32) -> I) -> Net<I> {
        let entry = incast_protocols::find(transport).unwrap();
        let setup = || for_messages(fabric, entry, &[]).unwrap();
        let mut clocks = SharedClock::of(3).into_iter();
        let mut clock = || clocks.next().unwrap();
        let sides = (0..2).map(|id| Endpoint::new(io(id), clock(), setup(), HostId(id))).collect();
        let switch = Testbed::part(setup(), io(2), clock(), &[2]);
        Net { sides, switch, arrived: vec![], told: vec![] }
    }

    /// Sends a message from host 0 to host 1, and turns until host 0 has been told of it.
    fn send(&mut self, body: Bytes) -> &Event {
        self.sides[0].send(HostId(1), body).unwrap();
        let told = self.told.len();
        for _ in 0..10_000_000 {
            self.switch.turn();
            match self.sides[1].poll() {
                Some(Event::Received(received)) => self.arrived.push(received.body),
                other => assert_eq!(other, None),
            }
            self.told.extend(self.sides[0].poll());
            if self.told.len() > told {
                return &self.told[told];
            }
        }
        panic!("nothing happens");
    }
}

fn keyed(fabric: &Arc<Fabric>, wire: &Wire, byte: u8) -> impl Fn(u32) -> Keyed<Wire> {
    let (fabric, wire) = (fabric.clone(), wire.clone());
    move |node| Keyed::new(wire.clone(), key(byte), &ends(&fabric, node))
}

/// Frames that the switch sent to host 0 while a message of ours went to host 1: what acknowledges it.
fn recorded(fabric: &Arc<Fabric>, transport: &str, byte: Option<u8>) -> Vec<Vec<u8>> {
    let wire = links(fabric);
    match byte {
        Some(byte) => send_two(&mut Net::new(fabric, transport, keyed(fabric, &wire, byte))),
        None => send_two(&mut Net::new(fabric, transport, |_| wire.clone())),
    }
    let to_host = fabric.ports()[fabric.host_port(0).0 as usize].reverse.0;
    let links = wire.0.borrow();
    links.seen.iter().filter(|(port, _)| *port == to_host).map(|(_, frame)| frame.clone()).collect()
}

fn message(byte: u8) -> Bytes {
    vec![byte; 10_000].into()
}

fn send_two<I: PacketIo>(net: &mut Net<I>) {
    for byte in 1..=2 {
        assert!(matches!(net.send(message(byte)), Event::Sent(_)));
    }
}

/// One message arrives. Then the link from host 0 carries nothing, and a stranger lets host 0 hear what acknowledged
/// the second message in another run: whether host 0 is made to believe it.
fn believes<I: PacketIo>(
    net: &mut Net<I>,
    fabric: &Fabric,
    wire: &Wire,
    forged: &[Vec<u8>],
) -> bool {
    assert!(matches!(net.send(message(1)), Event::Sent(_)));
    let port = fabric.host_port(0).0;
    wire.0.borrow_mut().down.insert(port);
    let now = net.sides[0].now();
    for (at, frame) in forged.iter().enumerate() {
        let due = now + Span::from_us(300 + at as u64);
        assert!(wire.0.borrow_mut().mem.inject(port, due, frame));
    }
    let believes = match net.send(message(2)) {
        Event::Sent(_) => true,
        Event::Failed(_, Failure::Silent) => false,
        other => panic!("{other:?}"),
    };
    assert_eq!(net.arrived, [message(1)], "the second never arrives");
    believes
}

/// Without a key a stranger ends a flow; with one, whatever it says is not heard: frames without a key, of another
/// key, and those that it recorded of an earlier run.
#[test]
fn a_stranger_cannot_end_a_flow() {
    let fabric = star();
    for transport in ["dctcp", "ndp"] {
        let plain = recorded(&fabric, transport, None);
        let wire = links(&fabric);
        let mut open = Net::new(&fabric, transport, |_| wire.clone());
        assert!(believes(&mut open, &fabric, &wire, &plain), "{transport}: the attack works");
        let (other, earlier) =
            (recorded(&fabric, transport, Some(2)), recorded(&fabric, transport, Some(1)));
        // A tag of the right length on frames of this very run's flows, and frames cut and lengthened.
        let tagged = plain.iter().map(|frame| [&frame[..], &[0; TRAILER]].concat()).collect();
        let cut = earlier.iter().map(|frame| frame[..frame.len() - 1].to_vec()).collect();
        for (what, forged) in [
            ("plain", plain),
            ("other", other),
            ("earlier", earlier),
            ("tagged", tagged),
            ("cut", cut),
        ] {
            let wire = links(&fabric);
            let mut net = Net::new(&fabric, transport, keyed(&fabric, &wire, 1));
            assert!(
                !believes(&mut net, &fabric, &wire, &forged),
                "{transport}: {what} is believed"
            );
            assert!(!forged.is_empty(), "{what}");
        }
    }
}

/// Frames of the run itself, sent again or back, are not heard twice; messages arrive whole.
#[test]
fn what_is_repeated_is_not_heard() {
    let fabric = star();
    for transport in ["dctcp", "ndp", "ren"] {
        let wire = links(&fabric);
        let mut net = Net::new(&fabric, transport, keyed(&fabric, &wire, 1));
        for round in 0..20u8 {
            assert!(matches!(net.send(message(round)), Event::Sent(_)), "{transport}");
            let seen = std::mem::take(&mut wire.0.borrow_mut().seen);
            let due = net.sides[0].now();
            for (port, frame) in seen {
                let peer = fabric.ports()[port as usize].reverse.0;
                for to in [peer, port] {
                    wire.0.borrow_mut().mem.inject(to, due, &frame);
                }
            }
        }
        let sent: Vec<Bytes> = (0..20).map(message).collect();
        assert_eq!(net.arrived, sent, "{transport}");
    }
}

/// Any flipped bit of a frame is noticed, whatever it is of.
#[test]
fn a_changed_frame_is_refused() {
    let fabric = star();
    let wire = links(&fabric);
    let (host, switch) =
        (fabric.host_port(0).0, fabric.ports()[fabric.host_port(0).0 as usize].reverse.0);
    let io = keyed(&fabric, &wire, 1);
    let (mut from, mut to) = (io(0), io(2));
    let mut bytes = vec![7; 60];
    bytes[2..4].copy_from_slice(&60u16.to_be_bytes());
    let at = Time::ZERO;
    let mut send = |bytes: &[u8]| {
        let mut frame = from.alloc(bytes.len()).unwrap();
        frame.bytes_mut().copy_from_slice(bytes);
        let departure = Departure { start: at, release: at, complete: at };
        assert!(from.stage(host, frame, departure).is_ok());
        from.flush(host);
    };
    send(&bytes);
    let mut heard = vec![];
    wire.0.borrow_mut().mem.rx_burst(switch, at, 32, &mut heard);
    let good = heard.pop().unwrap().frame;
    let good = good.bytes().to_vec();
    assert_eq!(good.len(), bytes.len() + TRAILER);
    let mut refused = 0;
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        wire.0.borrow_mut().mem.inject(switch, at, &bad);
        assert_eq!(to.rx_burst(switch, at, 32, &mut heard), 0, "bit {bit}");
        refused += 1;
        assert_eq!(to.refused(switch), refused);
    }
    // Padding behind it, as a NIC adds it, is none of it.
    let padded = [&good[..], &[0; 9]].concat();
    wire.0.borrow_mut().mem.inject(switch, at, &padded);
    assert_eq!(to.rx_burst(switch, at, 32, &mut heard), 1);
    assert_eq!(heard.pop().unwrap().frame.bytes(), bytes);
    assert!(Key::new(&[1; 15]).is_none());
}

/// A stranger's hellos are not heard: neither one that would be met, nor one that would end the meeting.
#[test]
fn a_stranger_cannot_join() {
    let fabric = star();
    let identity = |name: &str, process| Identity {
        name: name.into(),
        version: "1".into(),
        scenario: 7,
        process,
    };
    let host = fabric.host_port(0).0;
    let switch = fabric.ports()[host as usize].reverse.0;
    let meeting = |who: Identity, port, peer, name: &str| {
        Meeting::new(who, vec![Neighbour { port, peer, name: name.into() }])
    };
    let wire = links(&fabric);
    let mut at_switch = keyed(&fabric, &wire, 1)(2);
    let mut waits = meeting(identity("leaf0", 1), switch, host, "host0");
    // Without the key, as the host and as a second switch; with another key.
    meeting(identity("host0", 2), host, switch, "leaf0").say(&mut wire.clone());
    meeting(identity("leaf0", 3), host, switch, "leaf0").say(&mut wire.clone());
    meeting(identity("host0", 4), host, switch, "leaf0").say(&mut keyed(&fabric, &wire, 2)(0));
    waits.hear(&mut at_switch).unwrap();
    assert!(waits.missing().unwrap().starts_with("nothing is heard of host0"));
    assert_eq!(at_switch.refused(switch), 3);
    // With the key it is met.
    let mut at_host = keyed(&fabric, &wire, 1)(0);
    let mut joins = meeting(identity("host0", 5), host, switch, "leaf0");
    for _ in 0..3 {
        joins.say(&mut at_host);
        waits.hear(&mut at_switch).unwrap();
        waits.say(&mut at_switch);
        joins.hear(&mut at_host).unwrap();
    }
    assert!(waits.is_over() && joins.is_over());
}
