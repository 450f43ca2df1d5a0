//! Clocks that follow a counter, here one of our own making: nothing depends on this machine.

use crate::common::{BothWorlds, of, trial};
use crate::outside::Outside;
use incast_dataplane::{
    Bounds, CREDIT, Clock, Counter, Idle, Mem, PacketIo, Ran, RealTime, Refusal, Rule, STALL,
    Testbed,
};
use incast_testkit::{Trial, at, flow};
use incast_transport::*;
use incast_world::Monitor;

/// A counter that advances by `step` with each reading, and by `stall` with each `every`th.
#[derive(Clone, Debug)]
struct Steps {
    now: u64,
    step: u64,
    stall: u64,
    every: u64,
    readings: u64,
}

impl Steps {
    fn new(step: Span) -> Steps {
        Steps { now: 0, step: step.0, stall: 0, every: u64::MAX, readings: 0 }
    }

    fn stalling(step: Span, stall: Span, every: u64) -> Steps {
        Steps { stall: stall.0, every, ..Steps::new(step) }
    }
}

impl Counter for Steps {
    fn read(&mut self) -> u64 {
        self.readings += 1;
        self.now += self.step;
        if self.readings.is_multiple_of(self.every) {
            self.now += self.stall;
        }
        self.now
    }

    fn sleep(&mut self, wait: Span) {
        self.now += wait.0 + Span::from_us(50).0;
    }
}

/// A flow alone at 1 Gb/s over 8 us per link, as in REN's testbed.
fn lone(name: &'static str) -> Trial<'static> {
    let mut scenario = trial(&[name], "dumbbell:1x1", Span::from_us(8), Limit::Bytes(128 << 10));
    scenario.fabric =
        incast_testkit::fabric("dumbbell:1x1", Rate::from_gbps(1), Span::from_us(8)).into();
    scenario.flows = vec![of(name, flow(0, 0, 1, 2_000_000, Time::ZERO))];
    scenario.options.until = Time::ZERO + Span::from_ms(100);
    scenario.options.capture = (0..scenario.fabric.ports().len() as u32).collect();
    scenario
}

fn ran(scenario: &Trial<'static>, counter: Steps, rule: Rule) -> Ran<Mem> {
    let io = Mem::new(&scenario.fabric, Framing::ETHERNET);
    let clock = RealTime::on(counter, rule, Idle::Spin);
    Testbed::with(scenario.setup(), io, clock).run_timed(&Monitor::default())
}

#[test]
fn a_paced_run_is_the_virtual_run_at_any_pace() {
    for name in ["ren", "ndp", "amrt"] {
        let scenario = lone(name);
        let (exact, packets) = scenario.same_in_both_worlds();
        assert!(exact.complete && packets.len() > 4_000, "{name}");
        // A quick machine, one that stalls for 1 ms now and then, and one that is too slow.
        let quick = Steps::new(Span::from_ns(20));
        let stalling = Steps::stalling(Span::from_ns(20), Span::from_ms(1), 1_000);
        let slow = Steps::new(Span::from_us(20));
        let mut lags = vec![];
        for counter in [quick, stalling, slow] {
            let Ran { record, captured, fidelity, .. } = ran(&scenario, counter, Rule::Paced);
            assert!(record == exact && captured == packets, "{name}: another run");
            let fidelity = fidelity.expect("it follows real time");
            assert_eq!(fidelity.lateness.count(), exact.events, "{name}");
            assert_eq!(fidelity.lateness(1000), Span::ZERO, "{name}");
            assert_eq!(fidelity.packets, exact.packet_hops, "{name}");
            let pace = fidelity.pace;
            assert!(pace.wall >= pace.run && pace.lag_most >= pace.lag(), "{name}: {pace:?}");
            lags.push((pace.stalls, pace.lag_most));
        }
        let [(none, least), (some, stall), (all, most)] = lags[..] else { panic!("three") };
        assert!(none == 0 && least <= Span::from_ns(20), "{name}: {least}");
        assert!(some > 0 && stall >= Span::from_us(900) && stall < Span::from_ms(5), "{stall}");
        assert!(all > 4_000 && most > Span::from_ms(20), "{name}: {most}");
    }
}

/// A stall of 100 us in each 300 us is more than the base RTT: on the raw counter packets are late by
/// it, on the compensated one they are not.
#[test]
fn a_compensated_clock_leaves_stalls_out() {
    let scenario = lone("ren");
    let (exact, _) = incast_dataplane::run_virtual(scenario.setup());
    let took = |record: &RunRecord| record.flows[0].completed.expect("complete").0 as f64;
    let base_rtt = Span::from_us(87);
    let counter = || Steps::stalling(Span::from_ns(20), Span::from_us(100), 10_000);
    let compensated = ran(&scenario, counter(), Rule::Compensated);
    let fidelity = compensated.fidelity.expect("it follows real time");
    let slower = took(&compensated.record) / took(&exact);
    assert!((0.999..1.005).contains(&slower), "{slower}");
    assert!(fidelity.pace.stalled_share() > 0.3, "{:?}", fidelity.pace);
    assert!(fidelity.pace.lag() > Span::from_ms(5) && fidelity.pace.longest_stall > STALL);
    assert!(fidelity.lateness(999) <= CREDIT * 2, "{}", fidelity.lateness(999));
    assert_eq!(fidelity.refusals(base_rtt, Bounds::default()), []);

    let raw = ran(&scenario, counter(), Rule::Tsc);
    let fidelity = raw.fidelity.expect("it follows real time");
    assert!(raw.record.complete);
    assert_eq!(fidelity.pace.lag(), Span::ZERO);
    assert!(fidelity.pace.stalled_share() > 0.3);
    let refused = fidelity.refusals(base_rtt, Bounds::default());
    assert!(matches!(refused[..], [Refusal::Late { .. }]), "{refused:?}");
}

/// Nothing is due, and yet a run ends at `until`; and one that is overtaken by its clock, too.
#[test]
fn a_run_ends_by_the_clock() {
    let mut scenario = lone("dctcp");
    scenario.options.until = Time::ZERO + Span::from_ms(1);
    for step in [Span::from_ns(20), Span::from_us(3), Span::from_ms(3)] {
        let Ran { record, fidelity, .. } = ran(&scenario, Steps::new(step), Rule::Tsc);
        assert_eq!((record.ended, record.complete), (scenario.options.until, false));
        let wall = fidelity.expect("it follows real time").pace.wall;
        assert!(wall <= Span::from_ms(1) + step * 2, "{step}: {wall}");
    }
    scenario.flows.clear();
    let Ran { record, .. } = ran(&scenario, Steps::new(Span::from_ns(20)), Rule::Tsc);
    assert!(record.ended <= scenario.options.until);
}

/// Nodes whose frames come from outside are looked at in every pass, sleep after one in which
/// nothing happened, and stop at `until`, although nothing is ever known to be due.
#[test]
fn what_comes_from_outside_is_polled_until_the_end() {
    let mut scenario = lone("dctcp");
    let run = |scenario: &Trial<'static>| {
        let io = Outside(Mem::new(&scenario.fabric, Framing::ETHERNET));
        let counter = Steps::new(Span::from_ns(100));
        let clock = RealTime::on(counter, Rule::Tsc, Idle::Sleep(Span::from_us(1)));
        Testbed::with(scenario.setup(), io, clock).run_timed(&Monitor::default())
    };
    let Ran { record, fidelity, io, .. } = run(&scenario);
    assert!(record.complete && record.ended < scenario.options.until, "{}", record.ended);
    assert_eq!(io.held(), 0);
    let fidelity = fidelity.expect("it follows real time");
    // Each sleep of 1 us takes 51 us.
    let late = fidelity.lateness(999);
    assert!(late > Span::from_us(40) && late < Span::from_us(60), "{late}");
    scenario.flows[0].flow.start = at(200_000);
    let Ran { record, fidelity, .. } = run(&scenario);
    assert_eq!((record.ended, record.complete), (scenario.options.until, false));
    let wall = fidelity.expect("it follows real time").pace.wall;
    assert!(wall >= Span::from_ms(100) && wall <= Span::from_us(100_100), "{wall}");
}

#[test]
fn a_gap_beyond_the_limit_is_credited_in_part() {
    let known = [
        (Rule::Compensated, Span::from_us(4), Span::from_us(4), 0),
        (Rule::Compensated, STALL, STALL, 0),
        (Rule::Compensated, Span::from_us(6), CREDIT, 1),
        (Rule::Compensated, Span::from_ms(9), CREDIT, 1),
        (Rule::Tsc, Span::from_ms(9), Span::from_ms(9), 1),
    ];
    for (rule, gap, credit, stalls) in known {
        let mut clock = RealTime::on(Steps::new(gap), rule, Idle::Poll);
        let first = clock.now();
        assert_eq!(clock.now().since(first), credit, "{rule:?} {gap}");
        let pace = clock.pace().expect("it follows real time");
        assert_eq!((pace.wall, pace.stalls), (gap * 2, stalls));
        assert_eq!(pace.stalled, if stalls > 0 { gap } else { Span::ZERO });
    }
}

#[test]
fn idle_methods_give_the_core_up_or_do_not() {
    let step = Span::from_ns(100);
    // Until what is due, but not for long at a time.
    let mut clock = RealTime::on(Steps::new(step), Rule::Tsc, Idle::Spin);
    clock.now();
    clock.idle(Time(10_000_000));
    assert_eq!(clock.now(), Time(10_000_000) + step);
    clock.idle(Time::NEVER);
    assert!(clock.now() <= Time(10_000_000) + Span::from_ms(1) + step * 3);
    // One reading.
    let mut clock = RealTime::on(Steps::new(step), Rule::Tsc, Idle::Poll);
    clock.now();
    clock.idle(Time::NEVER);
    assert_eq!(clock.now(), Time(3 * step.0));
    // 1 us, which takes 51 us here. What the thread wanted to sleep is no stall.
    for (due, slept) in [(Time::NEVER, Span::from_us(51)), (Time(500_000), Span::from_ns(50_300))] {
        let idle = Idle::Sleep(Span::from_us(1));
        let mut clock = RealTime::on(Steps::new(step), Rule::Tsc, idle);
        clock.now();
        clock.idle(due);
        let pace = clock.pace().expect("it follows real time");
        assert_eq!(pace.wall, slept + step * 3, "{due}");
        // What a system may add to a sleep is none either.
        assert!((pace.longest_stall, pace.stalls) == (Span::ZERO, 0), "{pace:?}");
    }
    // What comes on top of that is.
    let late = Steps::stalling(step, Span::from_us(200), 3);
    let mut clock = RealTime::on(late, Rule::Tsc, Idle::Sleep(Span::from_us(1)));
    clock.now();
    clock.idle(Time::NEVER);
    let pace = clock.pace().expect("it follows real time");
    let lost = Span::from_us(50 + 200 - 100) + step;
    assert!((pace.longest_stall, pace.stalls) == (lost, 1), "{pace:?}");
    let long = Idle::Sleep(Span::from_ms(1));
    let mut clock = RealTime::on(Steps::new(step), Rule::Compensated, long);
    let first = clock.now();
    clock.idle(Time::NEVER);
    // 1 ms as wanted; the 50 us more are a stall.
    let wanted = Span::from_ms(1) + CREDIT;
    assert_eq!(clock.now().since(first), step + wanted + step);
}
