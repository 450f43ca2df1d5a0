//! Where a flow's time went, with traces made by hand: each cause alone, each pair of causes, and what
//! a loss makes of the others. Times are picoseconds; a packet takes 10 to send and 20 to propagate.

use incast_transport::*;

const TX: u64 = 10;
const PROPAGATION: u64 = 20;
/// Shortest wait that a lost control packet explains.
const PATIENCE: u64 = 60;
const FLOW: FlowId = FlowId(0);
/// More than any trace delivers.
const SIZE: u64 = 1 << 20;

/// One flow, its NIC, and a link behind it.
struct Trace {
    probe: Probe,
    packets: PacketPool,
    clock: HostClock,
    now: u64,
}

fn packet(seq: u32, payload: u16, again: bool) -> Packet {
    let header = Header::Segment { seq, ack: 0, window: 0, nibble: 0, flags: 0 };
    let (src, dst) = (HostId(0), HostId(1));
    let plain = Packet::header_only(TransportId(0), FLOW, src, dst, 1, header);
    Packet { payload, flags: if again { flag::RETRANSMIT } else { 0 }, ..plain }
}

impl Trace {
    /// The flow opens at 0.
    fn new() -> Trace {
        let mut probe = Probe::new(1, false);
        probe.set_patience(PATIENCE);
        probe.expect([SIZE].into_iter());
        probe.opened(FLOW);
        let packets = PacketPool::new(Framing::ETHERNET);
        Trace { probe, packets, clock: HostClock::default(), now: 0 }
    }

    fn enter(&mut self, at: u64) {
        assert!(at >= self.now, "{at} is before {}", self.now);
        self.now = at;
        self.probe.enter(Time(at), self.clock);
    }

    fn blocked(&mut self, at: u64, reason: Reason) {
        self.enter(at);
        self.probe.blocked(FLOW, reason);
    }

    /// The NIC sends a packet of another flow.
    fn other(&mut self, at: u64, tx: u64) {
        assert!(at >= self.clock.busy_until);
        self.clock.busy += tx;
        self.clock.busy_until = at + tx;
    }

    /// The flow sends a packet.
    fn send(&mut self, at: u64, seq: u32, again: bool) -> PacketRef {
        self.enter(at);
        let sent = self.packets.create(packet(seq, 1000, again));
        self.packets.meta_mut(sent).serialised = TX as u32;
        self.probe.departs(FLOW, TX, again, self.packets.stamps_mut(sent));
        self.other(at, TX);
        sent
    }

    /// A packet is lost.
    fn lose(&mut self, at: u64, lost: PacketRef) {
        let loss = Loss::of(&self.packets[lost], self.packets.meta(lost), at);
        self.probe.record_loss(&loss.expect("it is missing"), self.packets.stamps(lost));
        self.packets.stamps_mut(lost).lose();
    }

    /// A grant of the flow is lost.
    fn lose_grant(&mut self, at: u64) {
        let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
        let lost = self.packets.create(Packet { header, ..packet(0, 0, false) });
        self.lose(at, lost);
    }

    /// An ACK of the flow is lost.
    fn lose_ack(&mut self, at: u64) {
        let flags = tcp_flag::ACK;
        let header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags };
        let lost = self.packets.create(Packet { header, ..packet(0, 0, false) });
        self.lose(at, lost);
    }

    /// A packet arrives on time, and for the first time if `new`.
    fn arrive(&mut self, packet: PacketRef, new: bool) {
        let stamps = self.packets.stamps(packet);
        let waited: u64 = stamps.waited.iter().sum();
        self.enter(stamps.departed + TX + PROPAGATION + waited);
        let (stamps, content) = (self.packets.stamps(packet), &self.packets[packet]);
        if self.probe.arrives(content, stamps) {
            self.probe.arriving(content, stamps, self.packets.meta(packet));
        } else {
            self.probe.passing();
        }
        if new {
            self.probe.delivered(FLOW, content.header.data_key(), 0, content.payload.into());
        }
    }

    /// The last packet is sent, arrives on time, and completes the flow.
    fn last(&mut self, at: u64, seq: u32) -> Parts {
        let last = self.send(at, seq, false);
        self.complete(last)
    }

    /// This packet arrives and completes the flow.
    fn complete(&mut self, last: PacketRef) -> Parts {
        self.probe.expect([0].into_iter());
        self.arrive(last, true);
        self.probe.completed(FLOW);
        self.probe.outcomes()[0].parts
    }
}

/// The parts of a flow of one packet that waits for nothing.
fn bare() -> Parts {
    Parts { serialisation: TX, propagation: PROPAGATION, ..Parts::default() }
}

/// A cause of delay at the sender: it acts from an instant on and returns when the flow may go on; and
/// what it adds to the parts.
type Cause = (&'static str, fn(&mut Trace, u64) -> u64, fn(&mut Parts));

fn wait(trace: &mut Trace, at: u64, reason: Reason) -> u64 {
    trace.blocked(at, reason);
    trace.blocked(at + 100, Reason::Ready);
    at + 100
}

/// Packet `seq` is lost 25 after its departure, 15 of them in propagation, and sent again after 300.
fn timeout(trace: &mut Trace, at: u64, seq: u32) -> u64 {
    let lost = trace.send(at, seq, false);
    trace.blocked(at + 5, Reason::Window);
    trace.lose(at + 25, lost);
    trace.blocked(at + 300, Reason::Ready);
    let copy = trace.send(at + 300, seq, true);
    trace.arrive(copy, true);
    trace.now = at + 300;
    at + 310
}

const CAUSES: [Cause; 9] = [
    ("own", |trace, at| (trace.send(at, 7, false), at + 10).1, |parts| parts.nic_own += 10),
    ("other", |trace, at| (trace.other(at, 40), at + 40).1, |parts| parts.nic_other += 40),
    ("ready", |_, at| at + 30, |parts| parts.blocked[0] += 30),
    ("grant", |trace, at| wait(trace, at, Reason::Grant), |parts| parts.blocked[1] += 100),
    ("credit", |trace, at| wait(trace, at, Reason::Credit), |parts| parts.blocked[2] += 100),
    ("window", |trace, at| wait(trace, at, Reason::Window), |parts| parts.blocked[3] += 100),
    ("pacing", |trace, at| wait(trace, at, Reason::Pacing), |parts| parts.blocked[4] += 100),
    (
        "data loss",
        |trace, at| timeout(trace, at, at as u32),
        // From the loss on; before it the packet was on its way. The copy is sent like any packet.
        |parts| {
            parts.serialisation += 10;
            parts.propagation += 15;
            parts.recovery += 275;
            parts.nic_own += 10;
        },
    ),
    (
        "control loss",
        |trace, at| {
            trace.blocked(at, Reason::Grant);
            trace.lose_grant(at + 20);
            trace.blocked(at + 200, Reason::Ready);
            let next = trace.send(at + 200, at as u32, false);
            trace.arrive(next, true);
            trace.now = at + 200;
            at + 210
        },
        |parts| {
            parts.blocked[1] += 20;
            parts.recovery += 180;
            parts.nic_own += 10;
        },
    ),
];

#[test]
fn each_cause_alone_and_each_pair_of_causes() {
    for (name, cause, adds) in CAUSES {
        let mut trace = Trace::new();
        let at = cause(&mut trace, 0);
        let mut expected = bare();
        adds(&mut expected);
        assert_eq!(trace.last(at, 99), expected, "{name}");
    }
    for (first, cause, adds) in CAUSES {
        for (second, then, more) in CAUSES {
            let mut trace = Trace::new();
            let at = cause(&mut trace, 0);
            trace.send(at, 98, false);
            let at = then(&mut trace, at + 10);
            let mut expected = Parts { nic_own: 10, ..bare() };
            adds(&mut expected);
            more(&mut expected);
            assert_eq!(trace.last(at, 99), expected, "{first}, then {second}");
        }
    }
}

#[test]
fn queues_are_those_of_the_last_packet() {
    for tier in 0..TIERS {
        for other in 0..TIERS {
            let mut trace = Trace::new();
            let first = trace.send(0, 0, false);
            trace.packets.stamps_mut(first).waited = [500; TIERS];
            let last = trace.send(10, 1, false);
            trace.packets.stamps_mut(last).waited[tier] += 7;
            trace.packets.stamps_mut(last).waited[other] += 5;
            let mut expected = Parts { nic_own: 10, ..bare() };
            expected.queueing[tier] += 7;
            expected.queueing[other] += 5;
            assert_eq!(trace.complete(last), expected);
        }
    }
}

#[test]
fn a_flow_waits_for_its_reason_even_if_the_nic_is_busy() {
    let mut trace = Trace::new();
    trace.blocked(0, Reason::Grant);
    trace.other(20, 60);
    trace.blocked(50, Reason::Ready);
    let mut expected = Parts { nic_other: 30, ..bare() };
    expected.blocked[Reason::Grant as usize] = 50;
    assert_eq!(trace.last(80, 0), expected);
}

#[test]
fn its_own_transmission_comes_before_its_reason() {
    let mut trace = Trace::new();
    trace.send(0, 0, false);
    trace.blocked(0, Reason::Window);
    trace.blocked(5, Reason::Pacing);
    trace.blocked(40, Reason::Ready);
    let mut expected = Parts { nic_own: 10, ..bare() };
    expected.blocked[Reason::Pacing as usize] = 30;
    assert_eq!(trace.last(40, 1), expected);
}

#[test]
fn a_timeout_is_recovery_whatever_else_the_nic_does_meanwhile() {
    // Another packet completes the flow; the NIC is busy with other flows nearly all the time.
    let mut trace = Trace::new();
    let lost = trace.send(0, 0, false);
    trace.blocked(0, Reason::Window);
    trace.lose(25, lost);
    trace.other(30, 900);
    trace.blocked(600, Reason::Ready);
    let copy = trace.send(930, 0, true);
    trace.blocked(930, Reason::Window);
    trace.arrive(copy, true);
    trace.blocked(980, Reason::Ready);
    let mut expected = Parts { nic_own: 10, recovery: 905, ..bare() };
    expected.serialisation += 10;
    expected.propagation += 15;
    expected.blocked[Reason::Window as usize] = 40;
    assert_eq!(trace.last(980, 1), expected);
}

#[test]
fn what_is_new_after_the_loss_is_not_recovery() {
    // Packets 1 and 2 leave after the loss of packet 0; then nothing until it is sent again.
    let mut trace = Trace::new();
    let lost = trace.send(0, 0, false);
    trace.lose(5, lost);
    let others = [trace.send(10, 1, false), trace.send(20, 2, false)];
    trace.blocked(20, Reason::Window);
    others.into_iter().for_each(|other| trace.arrive(other, true));
    trace.blocked(200, Reason::Ready);
    let copy = trace.send(200, 0, true);
    let expected = Parts { nic_own: 30, recovery: 170, ..bare() };
    assert_eq!(trace.complete(copy), expected);
}

#[test]
fn retransmissions_back_to_back_cost_nothing_but_their_transmission() {
    let mut trace = Trace::new();
    let lost = trace.send(0, 0, false);
    trace.lose(5, lost);
    let mut at = 10;
    for seq in 1..20 {
        let next = trace.send(at, seq, false);
        if seq == 10 {
            let copy = trace.send(at + 10, 0, true);
            trace.arrive(copy, true);
            trace.now = at + 20;
            at += 10;
        }
        at += 10;
        if seq < 5 {
            trace.arrive(next, true);
            trace.now = at;
        }
    }
    assert_eq!(trace.last(at, 20), Parts { nic_own: at, ..bare() });
}

#[test]
fn a_packet_that_is_lost_again_and_again_is_recovered_from_its_first_loss() {
    let mut trace = Trace::new();
    let mut at = 0;
    for wait in [100, 200, 400] {
        let lost = trace.send(at, 0, at > 0);
        trace.blocked(at, Reason::Window);
        trace.lose(at + 30, lost);
        at += wait;
        trace.blocked(at, Reason::Ready);
    }
    let copy = trace.send(at, 0, true);
    let mut expected = Parts { recovery: 670, ..bare() };
    expected.serialisation += 10;
    expected.propagation += 20;
    assert_eq!(trace.complete(copy), expected);
}

#[test]
fn going_back_is_recovery_until_something_new_is_sent() {
    // Packet 0 is lost; 1 and 2 arrive and are thrown away; all three are sent again, then packet 3.
    let mut trace = Trace::new();
    let lost = trace.send(0, 0, false);
    let others = [trace.send(10, 1, false), trace.send(20, 2, false)];
    trace.lose(25, lost);
    trace.blocked(20, Reason::Window);
    others.into_iter().for_each(|other| trace.arrive(other, false));
    trace.blocked(100, Reason::Ready);
    for seq in 0..3 {
        let copy = trace.send(100 + 10 * seq as u64, seq, true);
        trace.arrive(copy, true);
        trace.now = 100 + 10 * seq as u64;
    }
    // Nothing new was sent after 30, and the last copy left at 120 and took 10.
    let expected = Parts { nic_own: 40, recovery: 90, ..bare() };
    assert_eq!(trace.last(130, 3), expected);
}

#[test]
fn a_late_original_is_no_recovery() {
    let mut trace = Trace::new();
    let late = trace.send(0, 0, false);
    trace.packets.stamps_mut(late).waited[1] = 400;
    let copy = trace.send(100, 0, true);
    trace.lose(110, copy);
    let mut expected = bare();
    expected.queueing[1] = 400;
    assert_eq!(trace.complete(late), expected);
}

#[test]
fn a_spurious_retransmission_is_no_recovery() {
    let mut trace = Trace::new();
    let first = trace.send(0, 0, false);
    trace.blocked(0, Reason::Window);
    trace.arrive(first, true);
    let copy = trace.send(200, 0, true);
    trace.arrive(copy, false);
    trace.blocked(230, Reason::Ready);
    let mut expected = Parts { nic_own: 20, ..bare() };
    expected.blocked[Reason::Window as usize] = 210;
    assert_eq!(trace.last(230, 1), expected);
}

#[test]
fn a_lost_ack_and_the_timeout_that_follows_are_recovery() {
    let mut trace = Trace::new();
    let first = trace.send(0, 0, false);
    trace.blocked(0, Reason::Window);
    trace.arrive(first, true);
    trace.lose_ack(40);
    let copy = trace.send(300, 0, true);
    trace.arrive(copy, false);
    trace.blocked(350, Reason::Ready);
    // Sent at 0, lost on its way back at 40; then 260 until the copy, and 40 until its ACK.
    let mut expected = Parts { nic_own: 20, recovery: 260, ..bare() };
    expected.blocked[Reason::Window as usize] = 30 + 40;
    assert_eq!(trace.last(350, 1), expected);
}

#[test]
fn a_timeout_whose_copy_is_lost_is_recovery_even_if_something_new_follows() {
    let mut trace = Trace::new();
    let lost = trace.send(0, 0, false);
    trace.blocked(0, Reason::Window);
    trace.lose(30, lost);
    let copy = trace.send(300, 0, true);
    trace.blocked(300, Reason::Ready);
    let new = trace.send(310, 1, false);
    trace.blocked(310, Reason::Window);
    trace.lose(330, copy);
    trace.arrive(new, true);
    let copy = trace.send(600, 0, true);
    trace.arrive(copy, true);
    trace.blocked(640, Reason::Ready);
    // The first copy at 300; 10 of its own, 10 of the new one, from 320 on the second.
    let (own, recovery) = (10 + 10 + 10, 270 + 280);
    let mut expected = Parts { nic_own: own, recovery, ..bare() };
    // The lost packet took 30, sent at 0 and lost at 30; from 610 to 640 its answer.
    (expected.serialisation, expected.propagation) = (10 + 10, 20 + 20);
    expected.blocked[Reason::Window as usize] = 30;
    assert_eq!(trace.last(640, 2), expected);
}

#[test]
fn an_ack_that_is_lost_after_recoveries_does_not_undo_them() {
    let mut trace = Trace::new();
    let lost = [trace.send(0, 0, false), trace.send(10, 1, false)];
    trace.blocked(10, Reason::Window);
    trace.lose(30, lost[0]);
    trace.lose(40, lost[1]);
    let copy = trace.send(300, 0, true);
    trace.arrive(copy, true);
    trace.lose_ack(360);
    let copy = trace.send(600, 0, true);
    trace.arrive(copy, false);
    let copy = trace.send(700, 1, true);
    trace.arrive(copy, true);
    trace.blocked(740, Reason::Ready);
    // From the loss at 30 to the last copy at 700: nothing new was sent.
    let mut expected = Parts { nic_own: 10, recovery: 670, ..bare() };
    (expected.serialisation, expected.propagation) = (10 + 10, 20 + 20);
    expected.blocked[Reason::Window as usize] = 30;
    assert_eq!(trace.last(740, 2), expected);
}

#[test]
fn a_copy_that_is_lost_after_a_lost_ack_ended_a_wait_too() {
    for new_between in [false, true] {
        let mut trace = Trace::new();
        let first = trace.send(0, 0, false);
        trace.blocked(0, Reason::Window);
        trace.arrive(first, true);
        trace.lose_ack(40);
        let copy = trace.send(300, 0, true);
        if new_between {
            trace.blocked(300, Reason::Ready);
            let new = trace.send(310, 1, false);
            trace.blocked(310, Reason::Window);
            trace.lose(330, copy);
            trace.arrive(new, true);
        } else {
            trace.lose(330, copy);
        }
        let copy = trace.send(600, 0, true);
        trace.arrive(copy, false);
        trace.blocked(650, Reason::Ready);
        // Lost at 40; 260 until the first copy. Then 300 more, or what follows the new packet.
        let (own, recovery) = if new_between { (40, 260 + 280) } else { (20, 260 + 300) };
        let mut expected = Parts { nic_own: own, recovery, ..bare() };
        expected.blocked[Reason::Window as usize] = 30 + 40;
        assert_eq!(trace.last(650, 2), expected, "new packet between: {new_between}");
    }
}

#[test]
fn a_wait_for_a_lost_grant_is_recovery_though_the_packet_that_ends_it_is_lost() {
    let mut trace = Trace::new();
    trace.lose_grant(0);
    trace.blocked(0, Reason::Grant);
    trace.blocked(200, Reason::Ready);
    let lost = trace.send(200, 0, false);
    trace.blocked(200, Reason::Grant);
    trace.lose(230, lost);
    let copy = trace.send(400, 0, true);
    trace.arrive(copy, true);
    trace.blocked(440, Reason::Ready);
    let mut expected = Parts { nic_own: 10, recovery: 200 + 170, ..bare() };
    (expected.serialisation, expected.propagation) = (10 + 10, 20 + 20);
    expected.blocked[Reason::Grant as usize] = 30;
    assert_eq!(trace.last(440, 1), expected);
}

#[test]
fn a_lost_control_packet_explains_one_wait_and_no_short_one() {
    let mut trace = Trace::new();
    trace.lose_grant(0);
    trace.blocked(0, Reason::Grant);
    let mut at = PATIENCE - 1;
    for seq in 0..3 {
        trace.blocked(at, Reason::Ready);
        let sent = trace.send(at, seq, false);
        trace.blocked(at, Reason::Grant);
        trace.arrive(sent, true);
        trace.now = at;
        at += TX + PATIENCE;
    }
    trace.blocked(at, Reason::Ready);
    // The first wait is too short, the second one is explained, the others are waits for grants.
    let mut expected = Parts { nic_own: 30, recovery: PATIENCE, ..bare() };
    expected.blocked[Reason::Grant as usize] = PATIENCE - 1 + 2 * PATIENCE;
    assert_eq!(trace.last(at, 3), expected);
}

#[test]
fn recoveries_add_up_and_the_packet_that_overtakes_them_knows_none() {
    // Two timeouts, then the last packet; but a packet that left before them arrives last.
    let mut trace = Trace::new();
    let slow = trace.send(0, 50, false);
    trace.packets.stamps_mut(slow).waited[2] = 5_000;
    let at = timeout(&mut trace, 10, 1);
    let at = timeout(&mut trace, at, 2);
    let last = trace.send(at, 3, false);
    trace.arrive(last, true);
    let mut expected = bare();
    expected.queueing[2] = 5_000;
    assert_eq!(trace.complete(slow), expected);
}

#[test]
fn each_cause_and_the_queues_of_the_last_packet() {
    for (name, cause, adds) in CAUSES {
        for tier in 0..TIERS {
            let mut trace = Trace::new();
            let at = cause(&mut trace, 0);
            let last = trace.send(at, 99, false);
            trace.packets.stamps_mut(last).waited[tier] = 70;
            let mut expected = bare();
            adds(&mut expected);
            expected.queueing[tier] += 70;
            assert_eq!(trace.complete(last), expected, "{name}, tier {tier}");
        }
    }
}

#[test]
fn what_a_lost_packet_waited_in_queues_before_its_loss_is_queueing() {
    for tier in 0..TIERS {
        let mut trace = Trace::new();
        let lost = trace.send(0, 0, false);
        trace.blocked(0, Reason::Window);
        trace.packets.stamps_mut(lost).waited[tier] = 70;
        trace.lose(95, lost);
        trace.blocked(300, Reason::Ready);
        let copy = trace.send(300, 0, true);
        let mut expected = Parts { recovery: 205, ..bare() };
        expected.serialisation += 10;
        expected.propagation += 15;
        expected.queueing[tier] += 70;
        assert_eq!(trace.complete(copy), expected, "tier {tier}");
    }
}

#[test]
fn recovery_comes_before_whatever_else_the_flow_waits_for_meanwhile() {
    for reason in [Reason::Ready, Reason::Grant, Reason::Credit, Reason::Window, Reason::Pacing] {
        for busy in [false, true] {
            let mut trace = Trace::new();
            let lost = trace.send(0, 0, false);
            trace.blocked(10, reason);
            trace.lose(25, lost);
            if busy {
                trace.other(40, 200);
            }
            trace.blocked(300, Reason::Ready);
            let copy = trace.send(300, 0, true);
            let mut expected = Parts { recovery: 275, ..bare() };
            expected.serialisation += 10;
            expected.propagation += 15;
            assert_eq!(trace.complete(copy), expected, "{reason:?}, other flows: {busy}");
        }
    }
}

#[test]
fn two_losses_that_one_timeout_repairs() {
    let mut trace = Trace::new();
    let lost = [trace.send(0, 0, false), trace.send(10, 1, false)];
    trace.blocked(10, Reason::Window);
    trace.lose(25, lost[0]);
    trace.lose(35, lost[1]);
    trace.blocked(300, Reason::Ready);
    for seq in 0..2 {
        let copy = trace.send(300 + 10 * seq as u64, seq, true);
        trace.arrive(copy, true);
        trace.now = 300 + 10 * seq as u64;
    }
    // The first loss at 25; the second copy departs at 310 and takes 10.
    let mut expected = Parts { nic_own: 10, recovery: 285, ..bare() };
    expected.serialisation += 10;
    expected.propagation += 15;
    assert_eq!(trace.last(320, 2), expected);
}

#[test]
fn a_loss_of_what_was_sent_behind_a_repair_is_a_second_recovery() {
    let mut trace = Trace::new();
    let at = timeout(&mut trace, 0, 0);
    let at = timeout(&mut trace, at, 1);
    // Twice: 25 on the path, 275 until the copy departs, 10 for the copy.
    let mut expected = Parts { nic_own: 20, recovery: 550, ..bare() };
    expected.serialisation += 20;
    expected.propagation += 30;
    assert_eq!(trace.last(at, 2), expected);
}

#[test]
fn a_grant_that_is_lost_during_a_recovery_adds_nothing_to_it() {
    let mut trace = Trace::new();
    let lost = trace.send(0, 0, false);
    trace.blocked(10, Reason::Grant);
    trace.lose(25, lost);
    trace.lose_grant(100);
    trace.blocked(300, Reason::Ready);
    let copy = trace.send(300, 0, true);
    let mut expected = Parts { recovery: 275, ..bare() };
    expected.serialisation += 10;
    expected.propagation += 15;
    assert_eq!(trace.complete(copy), expected);
}

/// What a flow sends into an outage counts as sent, though all of it is lost: rule 3 begins with the
/// end of the last new packet.
#[test]
fn what_is_sent_into_an_outage_is_the_senders_time() {
    let mut trace = Trace::new();
    for seq in 0..10 {
        let at = 50 * seq as u64;
        let lost = trace.send(at, seq, false);
        trace.lose(at + 25, lost);
        trace.blocked(at + 25, Reason::Pacing);
        trace.blocked(at + 50, Reason::Ready);
    }
    for seq in 0..10 {
        let copy = trace.send(800 + 10 * seq as u64, seq, true);
        trace.arrive(copy, true);
        trace.now = 800 + 10 * seq as u64;
    }
    // The last new packet is sent by 460; the last copy departs at 890 and takes 10.
    let mut expected = Parts { nic_own: 100 + 10, recovery: 430, ..bare() };
    expected.blocked[Reason::Pacing as usize] = 9 * 25;
    expected.blocked[Reason::Ready as usize] = 9 * 15;
    assert_eq!(trace.last(900, 10), expected);
}
