//! Congestion control and switch by direct calls.

use super::*;
use incast_endpoint::sender::{Control, Message, Progress};
use incast_testkit::{Harness, at, plain_ack, progress, segment, switch_port};
use incast_transport::telemetry::{Gauge, empty_stack, written};
use incast_transport::{
    Backlog, Decision, Extension, FabricSite, Header, HostId, IntRecord, Packet, PacketRef,
    PortView, Span, SwitchHook, SwitchSite, Time, Transport, tcp_flag,
};

const RATE: Rate = Rate::from_gbps(10);
const FAST: Rate = Rate::from_gbps(100);
const RTT: Span = Span::from_us(16);
const BDP: f64 = 20_000.0;
const STEP: f64 = 10.0;

fn site() -> Arc<FabricSite> {
    let fabric = switch_port(RATE, RTT).fabric;
    Arc::new(FabricSite { rates: Arc::new([RATE, FAST]), hops: 4, ..(*fabric).clone() })
}

fn ready() -> Ready<Params> {
    let params = Params { quantise_int: false, ..Params::default() };
    Ready { params, derived: (), fabric: site() }
}

fn control() -> FastTune {
    control_of(ready().params)
}

fn control_of(params: Params) -> FastTune {
    FastTune::new(Arc::new(terms(&Ready { params, ..ready() }, RATE)))
}

fn record(rate: Rate, now: Time, sent: u64, queued: u64) -> IntRecord {
    Gauge::new(&site().rates, rate, true).record(now, sent, queued)
}

fn stack(of: &[IntRecord]) -> Extension {
    let mut stack = empty_stack(0);
    let Extension::Int { count, records } = &mut stack else { unreachable!() };
    records[..of.len()].copy_from_slice(of);
    *count = of.len() as u8;
    stack
}

/// The receiver's ACK; everything below `acknowledged` has arrived, below `sent` was sent.
fn host(control: &mut FastTune, now: Time, of: &[IntRecord], acknowledged: u64, sent: u64) {
    let extension = stack(of);
    let progress = Progress { acknowledged, sent, ..progress(now, None) };
    control.on_ack(&plain_ack(&extension), &progress);
}

fn switch(control: &mut FastTune, now: Time, of: &[IntRecord]) {
    let (extension, packet) = (stack(of), segment(ID, 1, 1_460, 0));
    let message = Message { packet: &packet, extension: &extension, informed: now };
    let progress = Progress { acknowledged: 0, sent: 20_000, ..progress(now, None) };
    control.on_message(&message, &progress);
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "{a}, not {b}");
}

// -- the congestion control -----------------------------------------------------------------------

#[test]
fn a_flow_starts_with_one_rtt_at_line_rate() {
    let control = control();
    assert_eq!(control.state(), (BDP, BDP, 0.95));
    assert_eq!((control.window(), control.pacing()), (BDP as u64, None));
}

#[test]
fn t_is_given_and_windows_may_exceed_it() {
    // T = 8 us as printed: 10 KB at 10 Gb/s, and half the step.
    let eight = Params { base_rtt: Some(Span::from_us(8)), ..ready().params };
    assert_eq!(control_of(eight).state(), (BDP / 2.0, BDP / 2.0, 0.95));
    // A link half used for an RTT: U falls to 1/2, so W = 0.95 x BDP x 2 + 10 B without a cap.
    let after = |cap_window| {
        let mut control = control_of(Params { cap_window, ..ready().params });
        host(&mut control, at(20), &[record(RATE, at(18), 0, 0)], 1, 20_000);
        host(&mut control, at(36), &[record(RATE, at(34), 10_000, 0)], 20_001, 40_000);
        control
    };
    assert_eq!(after(true).state().0, BDP);
    let free = after(false);
    near(free.state().2, 0.5);
    near(free.state().0, 1.9 * (0.95 * BDP / 0.95 + STEP) + STEP);
    assert_eq!(free.pacing(), None, "no faster than the link");
    // However long nothing is sent, it stays a number and falls again.
    let mut idle = free;
    for step in 0..2_000u64 {
        let now = 36 + 16 * (step + 1);
        host(
            &mut idle,
            at(now),
            &[record(RATE, at(now - 2), 10_000, 0)],
            40_001 + step,
            50_000 + step,
        );
    }
    assert!(idle.state().0.is_finite() && idle.state().0 > BDP);
}

#[test]
fn the_first_sample_of_a_link_counts_by_its_queue() {
    // Without a queue the utilisation is unknown.
    let mut quiet = control();
    switch(&mut quiet, at(10), &[record(RATE, at(8), 9_000, 0)]);
    assert_eq!(quiet.state(), (BDP, BDP, 0.95));
    // An RTT of bytes waits: the link is busy and has as much again to send.
    let mut busy = control();
    switch(&mut busy, at(10), &[record(RATE, at(8), 9_000, 20_000)]);
    near(busy.state().2, 2.0);
    near(busy.state().0, 0.95 * BDP / 2.0 + STEP);
}

#[test]
fn one_ack_of_a_switch_changes_the_reference() {
    let mut control = control();
    switch(&mut control, at(10), &[record(RATE, at(8), 0, 20_000)]);
    let (window, reference, _) = control.state();
    assert_eq!(window, reference);
    switch(&mut control, at(12), &[record(RATE, at(10), 2_500, 30_000)]);
    assert!(control.decided());
    assert_eq!(control.state().1, reference, "only once");
    assert!(control.state().0 < window, "the window follows all the same");
    // The first ACK of the receiver does so too, whatever it acknowledges; then once a round.
    let sample = |us: u64| record(RATE, at(us - 2), (us - 10) * 1_250, 5_000);
    host(&mut control, at(20), &[sample(20)], 1_460, 20_000);
    let first = control.state();
    assert!(first.0 == first.1 && first.1 != reference);
    host(&mut control, at(21), &[sample(21)], 20_000, 21_000);
    assert_eq!(control.state().1, first.1, "not more than what was sent");
    host(&mut control, at(22), &[sample(22)], 20_001, 22_000);
    assert_ne!(control.state().1, first.1);
}

#[test]
fn hops_are_counted_from_the_sender() {
    let mut control = control();
    // All three switches, the farthest first; then the first two, and the first alone.
    host(
        &mut control,
        at(20),
        &[record(RATE, at(14), 0, 0), record(FAST, at(16), 0, 0), record(FAST, at(18), 0, 0)],
        1,
        20_000,
    );
    switch(
        &mut control,
        at(22),
        &[record(FAST, at(18), 12_500, 0), record(FAST, at(20), 25_000, 0)],
    );
    // The second sent half, the first all of what it could in 2 us: weights 2/16.
    near(control.state().2, 0.875 * 0.95 + 0.125);
    switch(&mut control, at(24), &[record(FAST, at(22), 37_500, 0)]);
    near(control.state().2, 0.875 * (0.875 * 0.95 + 0.125) + 0.125 * 0.5);
    // The third was last seen at 14 us.
    host(
        &mut control,
        at(26),
        &[
            record(RATE, at(22), 10_000, 0),
            record(FAST, at(24), 12_500, 0),
            record(FAST, at(24), 37_500, 0),
        ],
        2,
        20_000,
    );
    let before = 0.875 * (0.875 * 0.95 + 0.125) + 0.125 * 0.5;
    near(control.state().2, 0.5 * before + 0.5);
}

#[test]
fn an_overtaken_sample_is_ignored() {
    let mut control = control();
    host(&mut control, at(20), &[record(RATE, at(18), 5_000, 0)], 1, 20_000);
    let before = control.state();
    host(&mut control, at(21), &[record(RATE, at(16), 2_500, 90_000)], 2, 20_000);
    assert_eq!(control.state().2, before.2);
    // The next sample is not compared with it.
    host(&mut control, at(24), &[record(RATE, at(20), 7_500, 0)], 3, 20_000);
    near(control.state().2, 0.875 * before.2 + 0.125);
}

#[test]
fn after_a_long_pause_samples_restart() {
    let mut control = control();
    host(&mut control, at(20), &[record(RATE, at(18), 5_000, 0)], 1, 20_000);
    host(&mut control, at(17_020), &[record(RATE, at(17_018), 9_000, 0)], 2, 20_000);
    near(control.state().2, 0.95);
}

#[test]
fn windows_are_multiplied_up_and_down_within_their_bounds() {
    let mut control = control();
    let (mut sent, mut bytes, mut now) = (20_000, 0, 20);
    host(&mut control, at(now), &[record(RATE, at(now), 0, 0)], 1, sent);
    for (share, queued, bound) in [(1.0, 1_000_000, 200.0), (0.001, 0, BDP)] {
        for _ in 0..60 {
            (now, bytes) = (now + 16, bytes + (20_000.0 * share) as u64);
            let (before, reference, _) = control.state();
            let sample = record(RATE, at(now), bytes, queued);
            host(&mut control, at(now), &[sample], sent + 1, sent + 20_000);
            sent += 20_000;
            let (window, _, utilisation) = control.state();
            let plain = reference / (utilisation / 0.95) + STEP;
            near(window, plain.clamp(200.0, BDP));
            assert!(window <= before || share < 0.95);
        }
        assert_eq!(control.state().0, bound);
    }
}

#[test]
fn other_packets_do_not_change_the_window() {
    let mut control = control();
    host(&mut control, at(20), &[], 1, 20_000);
    assert!(!control.decided());
    let (extension, mut packet) = (stack(&[record(RATE, at(8), 0, 90_000)]), segment(ID, 1, 0, 0));
    packet.header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags: tcp_flag::FIN };
    let message = Message { packet: &packet, extension: &extension, informed: at(8) };
    control.on_message(&message, &progress(at(9), None));
    assert!(!control.decided() && control.state().0 == BDP);
}

// -- the switch -----------------------------------------------------------------------------------

struct Rig {
    harness: Harness,
    now: Time,
}

impl Rig {
    fn new() -> Rig {
        Rig { harness: Harness::new(), now: at(100) }
    }

    /// Passes a packet through a switch where `data` leads to the receiver and `back` to the sender.
    fn pass(
        &mut self,
        hook: &mut SwitchAcks,
        packet: PacketRef,
        [data, back]: [PortView; 2],
    ) -> Decision {
        let to_receiver = self.harness.packets[packet].is_data();
        let (back, egress) = if to_receiver { (back, data) } else { (data, back) };
        let mut env = self.harness.switch_env(self.now, back, egress);
        let decision = hook.forward(&mut env, packet);
        assert!(!decision.drop && decision.follow.is_none());
        decision
    }

    fn data(&mut self, flow: u32, seq: u32) -> PacketRef {
        self.harness.packets.create(segment(ID, flow, seq, 1_460))
    }

    fn host_ack(&mut self, flow: u32, flags: u8) -> PacketRef {
        let header = Header::Segment { seq: 0, ack: 1_460, window: 0, nibble: 0, flags };
        let (src, dst, class) = (HostId(1), HostId(0), 0);
        let packet = Packet { header, src, dst, class, ..segment(ID, flow, 0, 0) };
        let packet = self.harness.packets.create(packet);
        self.harness.packets.extend(packet, empty_stack(0));
        packet
    }
}

fn hook() -> SwitchAcks {
    SwitchAcks::new(&ready().params, &SwitchSite { node: 9, ports: 4, fabric: site() })
}

fn view(port: u32, rate: Rate, packets: u32, sent: u64) -> PortView {
    let data = Backlog { bytes: 1_538 * packets as u64, packets };
    PortView { port, rate, data, all: data, sent }
}

#[test]
fn a_switch_acknowledges_until_an_ack_has_passed() {
    let (mut rig, mut hook) = (Rig::new(), hook());
    let ports = [view(1, FAST, 10, 4_000), view(2, RATE, 3, 9_000)];
    for seq in 0..4 {
        let packet = rig.data(7, seq * 1_460);
        let ack = rig.pass(&mut hook, packet, ports).reply.expect("each packet gets an ACK");
        let content = rig.harness.packets[ack];
        assert_eq!((content.src, content.dst, content.class), (HostId(1), HostId(0), 0));
        let Header::Segment { seq: echo, ack: 0, flags: 0, .. } = content.header else { panic!() };
        assert_eq!(echo, seq * 1_460);
        // The port by which the data leaves, before the packet itself waits there.
        assert_eq!(
            written(rig.harness.packets.extension(ack)),
            [record(FAST, rig.now, 4_000, 15_380)]
        );
        assert_eq!(rig.harness.packets.charged(ack), 40 + 10 + 38);
        assert_eq!(rig.harness.packets.stamps(ack).informed, rig.now.0);
        assert_eq!(rig.harness.packets.charged(packet), 1_538, "data stays as long as it was");
    }
    let ack = rig.host_ack(7, tcp_flag::ACK);
    assert!(rig.pass(&mut hook, ack, ports).reply.is_none());
    let packet = rig.data(7, 9);
    assert!(rig.pass(&mut hook, packet, ports).reply.is_none(), "no switch ACK from now on");
    let packet = rig.data(8, 0);
    assert!(rig.pass(&mut hook, packet, ports).reply.is_some(), "other flows are not");
}

#[test]
fn acks_of_farther_switches_suppress_own_acks_and_get_records() {
    let mut rig = Rig::new();
    let mut hooks = [hook(), hook(), hook()];
    let ports = |hop: u32| [view(hop, FAST, hop, hop as u64 * 1_000), view(9, RATE, 40, 77)];
    let packet = rig.data(7, 0);
    let far: Vec<PacketRef> = (0..3)
        .map(|hop| rig.pass(&mut hooks[hop], packet, ports(hop as u32)).reply.unwrap())
        .collect();
    // The ACK of the third switch passes the second and the first.
    rig.now += Span::from_us(2);
    rig.pass(&mut hooks[1], far[2], ports(1));
    rig.now += Span::from_us(2);
    rig.pass(&mut hooks[0], far[2], ports(0));
    let expected = [
        record(FAST, at(100), 2_000, 2 * 1_538),
        record(FAST, at(102), 1_000, 1_538),
        record(FAST, at(104), 0, 0),
    ];
    assert_eq!(written(rig.harness.packets.extension(far[2])), expected, "farthest first");
    assert_eq!(rig.harness.packets.charged(far[2]), 40 + 26 + 38);
    assert_eq!(
        rig.harness.packets.stamps(far[2]).informed,
        at(102).0,
        "as old as its records on average"
    );
    let packet = rig.data(7, 1_460);
    let acks = [0, 1, 2].map(|hop| rig.pass(&mut hooks[hop], packet, ports(0)).reply.is_some());
    assert_eq!(acks, [false, false, true]);
}

#[test]
fn a_switch_removes_finished_and_idle_flows() {
    let (mut rig, mut hook) = (Rig::new(), hook());
    let ports = [view(1, RATE, 0, 0), view(2, RATE, 0, 0)];
    let packet = rig.data(1, 0);
    rig.pass(&mut hook, packet, ports);
    let ack = rig.host_ack(1, tcp_flag::ACK);
    rig.pass(&mut hook, ack, ports);
    assert_eq!(hook.entries(), 1);
    let last = rig.host_ack(1, tcp_flag::ACK | tcp_flag::FIN);
    rig.pass(&mut hook, last, ports);
    assert_eq!(hook.entries(), 0);
    for flow in 0..50 {
        let packet = rig.data(100 + flow, 0);
        rig.pass(&mut hook, packet, ports);
    }
    // Half a millisecond later ten of them go on; a millisecond after the start only they are left.
    rig.now += Span::from_us(500);
    for flow in 0..10 {
        let packet = rig.data(100 + flow, 1);
        rig.pass(&mut hook, packet, ports);
    }
    rig.now += Span::from_us(501);
    let packet = rig.data(999, 0);
    rig.pass(&mut hook, packet, ports);
    assert_eq!(hook.entries(), 11);
    rig.now += Span::from_ms(5);
    let packet = rig.data(998, 0);
    rig.pass(&mut hook, packet, ports);
    assert_eq!(hook.entries(), 1);
}

#[test]
fn a_switch_keeps_at_most_its_limit_of_flows() {
    let params = Params { switch_flows: 8, ..Params::default() };
    let mut hook = SwitchAcks::new(&params, &SwitchSite { node: 9, ports: 4, fabric: site() });
    let mut rig = Rig::new();
    let ports = [view(1, RATE, 0, 0), view(2, RATE, 0, 0)];
    for flow in 0..1_000 {
        let packet = rig.data(flow % 100, 0);
        assert!(rig.pass(&mut hook, packet, ports).reply.is_some());
        assert!(hook.entries() <= 8);
        rig.now += Span::from_ns(100);
    }
}

// -- invalid input --------------------------------------------------------------------------------

#[test]
fn a_path_deeper_than_the_stack_is_refused() {
    let deep = Arc::new(FabricSite { hops: 10, ..(*site()).clone() });
    let text = ENTRY.configure(&[], deep).map(|_| ()).unwrap_err().to_string();
    assert!(text.starts_with("int_hops = `auto`: the longest path has 9"), "{text}");
    assert!(ENTRY.info().symmetric_paths);
}
