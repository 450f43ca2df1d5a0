//! Meetings over rings, and hellos that are damaged.

use super::*;
use crate::Mem;
use incast_fabric::{LinkDefaults, parse};
use incast_transport::{Framing, Rate, Span};

fn identity(name: &str, process: u64) -> Identity {
    Identity { name: name.into(), version: "1.2".into(), scenario: 77, process }
}

fn says(heard: u64, known: bool) -> Says {
    Says { heard, known, ..Says::default() }
}

fn both_speak(io: &mut Mem, host: &mut Meeting, switch: &mut Meeting) {
    host.say(io);
    switch.hear(io).unwrap();
    switch.say(io);
    host.hear(io).unwrap();
}

/// A host and its switch, and the ring between them.
fn pair(change: impl Fn(&mut Identity)) -> (Mem, Meeting, Meeting) {
    let (rate, propagation) = (Rate::from_gbps(1), Span::from_us(1));
    let fabric = parse("star:2", LinkDefaults { rate, propagation, loss: 0.0 }).unwrap();
    let io = Mem::new(&fabric, Framing::ETHERNET);
    let port = fabric.host_port(0).0;
    let peer = fabric.ports()[port as usize].reverse.0;
    let mut host = identity("h0", 5);
    change(&mut host);
    let to_switch = Neighbour { port, name: "s2".into(), peer };
    let to_host = Neighbour { port: peer, name: "h0".into(), peer: port };
    let switch = Meeting::new(identity("s2", 6), vec![to_host]);
    (io, Meeting::new(host, vec![to_switch]), switch)
}

#[test]
fn neighbours_meet_when_each_knows_that_it_is_heard() {
    let (mut io, mut host, mut switch) = pair(|_| {});
    host.say(&mut io);
    switch.hear(&mut io).unwrap();
    assert!(!switch.is_over());
    assert_eq!(switch.missing().unwrap(), "h0 (port 2) does not hear this node");
    assert_eq!(host.missing().unwrap(), "nothing is heard of s2, port 2, at port 0");
    switch.say(&mut io);
    host.hear(&mut io).unwrap();
    assert!(host.is_over() && !switch.is_over());
    host.say(&mut io);
    switch.hear(&mut io).unwrap();
    assert!(switch.is_over() && switch.missing().is_none());
    assert_eq!(io.held(), 0);
}

#[test]
fn a_neighbour_that_returns_is_answered_once() {
    let (mut io, _, switch) = pair(|_| {});
    let (_, mut host, _) = pair(|host| host.process = 99);
    let answer = switch.answer(2, &host.hello(0, says(6_000, true))).expect("it is new");
    assert!(io.inject(0, Time::ZERO, &answer));
    host.hear(&mut io).unwrap();
    assert!(host.is_over(), "it is heard, and hears");
    assert!(switch.answer(2, &host.hello(0, says(6, true))).is_none(), "it knows");
    assert!(host.answer(0, &answer).is_none() && host.answer(0, b"none").is_none());
    // One that does not fit finds out by itself.
    let (_, mut other, _) = pair(|host| host.scenario = 78);
    let answer = switch.answer(2, &other.hello(0, says(0, false))).expect("it is new");
    assert!(io.inject(0, Time::ZERO, &answer));
    assert!(other.hear(&mut io).unwrap_err().contains("another scenario"));
}

#[test]
fn a_neighbour_that_is_started_again_is_met_again() {
    let (mut io, mut host, mut switch) = pair(|_| {});
    switch.say(&mut io);
    host.hear(&mut io).unwrap();
    host.say(&mut io);
    switch.hear(&mut io).unwrap();
    assert!(switch.is_over());
    let (_, again, _) = pair(|host| host.process = 99);
    again.say(&mut io);
    switch.hear(&mut io).unwrap();
    assert_eq!(switch.missing().unwrap(), "h0 (port 2) does not hear this node");
    again.say(&mut io);
    switch.hear(&mut io).unwrap();
    // The first one was not ended.
    host.say(&mut io);
    assert_eq!(switch.hear(&mut io).unwrap_err(), "port 2 of s2: two processes are h0");
}

#[test]
fn a_last_hello_that_is_lost_is_made_good() {
    let (mut io, mut host, mut switch) = pair(|_| {});
    switch.say(&mut io);
    host.hear(&mut io).unwrap();
    host.say(&mut io);
    switch.hear(&mut io).unwrap();
    assert!(switch.is_over() && !host.is_over());
    // The switch runs now. Its last hello does not come; the host repeats its own.
    let answer = switch.answer(2, &host.hello(0, says(6, false))).expect("the host does not know");
    assert!(io.inject(0, Time::ZERO, &answer));
    host.hear(&mut io).unwrap();
    assert!(host.is_over());
    assert!(host.answer(0, &answer).is_none(), "answers are not answered");
    assert!(switch.answer(2, &host.hello(0, says(6, true))).is_none());
}

#[test]
fn round_trips_are_measured_before_a_meeting_is_over() {
    let (mut io, host, switch) = pair(|_| {});
    let (mut host, mut switch) = (host.measuring(2), switch.measuring(2));
    host.say(&mut io);
    let mut rounds = 0;
    while host.measured().is_empty() {
        switch.hear(&mut io).unwrap();
        host.hear(&mut io).unwrap();
        rounds += 1;
        assert!(rounds < 100);
    }
    assert!(!host.is_over(), "another link is not known");
    assert_eq!(host.missing().unwrap(), "the round trips of 1 links are not known");
    // The switch learns of it elsewhere.
    switch.trips.learn("-77:500,");
    (0..2).for_each(|_| both_speak(&mut io, &mut host, &mut switch));
    assert!(host.is_over() && switch.is_over());
    assert_eq!(host.round_trips(), switch.round_trips());
    assert_eq!(host.round_trips()[&77], Span::from_ns(500));
    // One that returns is told by one that runs.
    let (_, again, _) = pair(|host| host.process = 99);
    let mut again = again.measuring(2);
    let answer = switch.answer(2, &again.hello(0, says(6, true))).expect("it asks");
    assert!(io.inject(0, Time::ZERO, &answer));
    again.hear(&mut io).unwrap();
    assert_eq!(again.round_trips(), switch.round_trips());
    assert!(again.is_over());
}

#[test]
fn what_does_not_fit_is_said() {
    let refusal = |change: fn(&mut Identity)| {
        let (mut io, host, mut switch) = pair(change);
        host.say(&mut io);
        switch.hear(&mut io).unwrap_err()
    };
    let other = refusal(|host| host.version = "1.3".into());
    let expected = "h0 runs version 1.3, this is version 1.2: both ends need the same";
    assert_eq!(other, format!("port 2 of s2: {expected}"));
    let other = refusal(|host| host.scenario = 78);
    assert_eq!(other, "port 2 of s2: h0 runs another scenario");
    let other = refusal(|host| host.name = "h1".into());
    assert_eq!(other, "port 2 of s2 leads to port 0 of h1: expected port 0 of h0");
    let other = refusal(|host| host.name = "s2".into());
    assert_eq!(other, "port 2 of s2: another process is s2 too: names are of one each");
    let other = refusal(|host| host.process = 6);
    assert_eq!(other, "port 2 of s2: its own frames come back; the link leads to itself");
}

#[test]
fn what_is_no_hello_is_dropped() {
    let (_, host, _) = pair(|_| {});
    let good = host.hello(0, says(3, false));
    assert!(read(&good).is_some());
    for end in 0..good.len() {
        assert!(read(&good[..end]).is_none());
    }
    for bit in 0..8 * IP_BYTES {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&bad).is_none(), "bit {bit}");
    }
}

/// A flipped bit is no other scenario and no second node of the name, which would end the meeting.
#[test]
fn a_flipped_bit_of_the_text_is_noticed() {
    let (_, host, _) = pair(|_| {});
    let good = host.hello(0, says(3, true));
    for bit in 8 * IP_BYTES..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let same = |hello: Hello| (hello.who, hello.port, hello.heard) == (identity("h0", 5), 0, 3);
        assert!(read(&bad).is_none_or(same), "bit {bit}");
    }
}

/// A damaged hello never ends a meeting: the node goes on to wait, and is met by the next good one.
#[test]
fn a_node_that_gets_damaged_hellos_keeps_waiting() {
    let (mut io, host, mut switch) = pair(|_| {});
    let good = host.hello(0, says(0, false));
    for at in 0..good.len() {
        for bits in [1, 1 << 3, 1 << 5, 1 << 7, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= bits;
            assert!(io.inject(2, Time::ZERO, &bad));
            switch.hear(&mut io).unwrap_or_else(|why| panic!("byte {at}: {why}"));
            // Only a letter of the check sum may be written otherwise.
            let sum = good.iter().rposition(|byte| *byte == b' ').unwrap();
            assert!(read(&bad).is_none() || at > sum && bits == 1 << 5, "byte {at}");
            assert!(switch.missing().is_some(), "byte {at}");
        }
    }
    for _ in 0..2 {
        host.say(&mut io);
        switch.hear(&mut io).unwrap();
    }
    assert!(switch.missing().unwrap().contains("does not hear this node"), "it was heard");
}

/// A node that runs says of each that does not fit once, and goes on.
#[test]
fn a_running_node_tells_of_strangers_once() {
    let (_, _, switch) = pair(|_| {});
    let say = |change: fn(&mut Identity)| {
        let (_, host, _) = pair(change);
        for _ in 0..100 {
            switch.answer(2, &host.hello(0, says(0, false)));
        }
        switch.take_strangers()
    };
    assert_eq!(say(|_| {}), Vec::<String>::new(), "its neighbour may return");
    let told = say(|host| host.version = "1.3".into());
    let expected =
        "port 2 of s2: h0 runs version 1.3, this is version 1.2: both ends need the same";
    assert_eq!(told, [expected]);
    assert_eq!(say(|host| host.version = "1.3".into()), Vec::<String>::new(), "it was told");
    assert_eq!(say(|host| host.scenario = 3), ["port 2 of s2: h0 runs another scenario"]);
    for version in 0..1_000 {
        let (_, host, _) = pair(|host| host.version = format!("9.{version}"));
        switch.answer(2, &host.hello(0, says(0, false)));
    }
    assert_eq!(switch.take_strangers().len(), STRANGERS_MOST - 2, "bounded");
}

/// A link that takes short packets only: the meeting is not over, and says so; where long ones pass it is.
#[test]
fn packets_as_long_as_needed_have_to_pass() {
    let (mut io, host, switch) = pair(|_| {});
    let (mut host, mut switch) = (host.needing(1_500), switch.needing(1_500));
    // Takes what came by a port off it, and puts the short hellos back.
    let narrow = |io: &mut Mem, port: u32| {
        let mut arrived = vec![];
        io.rx_burst(port, Time(u64::MAX), 32, &mut arrived);
        let lengths: Vec<usize> = arrived.iter().map(|one| one.frame.bytes().len()).collect();
        for arrival in arrived {
            let bytes = arrival.frame.bytes().to_vec();
            io.free(arrival.frame);
            assert!(bytes.len() > 1_000 || io.inject(port, Time::ZERO, &bytes));
        }
        lengths
    };
    for _ in 0..3 {
        host.say(&mut io);
        let lengths = narrow(&mut io, 2);
        assert!(lengths.len() == 2 && lengths[0] < 200 && lengths[1] == 1_500, "{lengths:?}");
        switch.hear(&mut io).unwrap();
        switch.say(&mut io);
        host.hear(&mut io).unwrap();
    }
    // The long ones of the switch have come, those of the host have not.
    let told = |way: &str, who: &str| {
        format!(
            "{who} hears this node, but packets of 1500 bytes do not pass {way} there: what is between takes \
             shorter ones (MTU)"
        )
    };
    assert_eq!(host.missing().unwrap(), told("to", "s2 (port 0)"));
    assert_eq!(switch.missing().unwrap(), told("from", "h0 (port 2)"));
    (0..2).for_each(|_| both_speak(&mut io, &mut host, &mut switch));
    assert!(host.is_over() && switch.is_over());
    // One that runs answers a long hello of one that returns: it has come.
    let (_, again, _) = pair(|host| host.process = 99);
    let mut again = again.needing(1_500);
    for fill in [0, 1_500] {
        let answer = switch.answer(2, &again.hello(0, Says { fill, ..says(6, true) }));
        assert_eq!(answer.is_some(), fill > 0, "one that knows is answered no more");
        let answer = answer.unwrap_or_default();
        assert!(io.inject(0, Time::ZERO, &answer) || answer.is_empty());
    }
    again.hear(&mut io).unwrap();
    assert!(again.is_over(), "the answer is as long");
    let answer = switch.answer(2, &again.hello(0, Says { fill: 1_500, ..says(6, true) })).unwrap();
    assert_eq!(answer.len(), 1_500);
    assert!(again.answer(0, &answer).is_none(), "and is not answered");
}
