use super::*;
use crate::{Parts, Random, Reason};
use incast_wire::{Header, HostId, TransportId, tcp_flag};
use std::collections::BTreeMap;

fn packet(flow: u32, payload: u16, extension: u8) -> Packet {
    Packet {
        header: Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags: 0 },
        src: HostId(0),
        dst: HostId(1),
        flow: FlowId(flow),
        payload,
        path: 0,
        mark: 0,
        class: 0,
        transport: TransportId(0),
        flags: 0,
        extension,
    }
}

#[test]
fn overhead_is_control_packets_and_extensions_of_data() {
    let mut probe = Probe::new(2, false);
    probe.received(&packet(1, 1460, 0), 1538);
    probe.received(&packet(1, 1444, 16), 1538);
    probe.received(&packet(1, 0, 0), 84);
    probe.received(&packet(1, 0, 26), 104);
    let trace = &probe.senders()[1];
    assert_eq!((trace.control_packets, trace.control_bytes), (2, 188));
    assert_eq!(probe.extension_bytes(FlowId(1)), 16);
    let other = (probe.senders()[0].control_bytes, probe.extension_bytes(FlowId(0)));
    assert_eq!(other, (0, 0));
}

#[test]
fn packets_that_arrive_behind_later_ones_are_counted_once() {
    let mut probe = Probe::new(2, false);
    let mut arrive = |number| {
        probe.arrives(&packet(1, 1460, 0), &Stamps { number, ..Stamps::default() });
    };
    // Numbers that are not known, those of copies, and a packet that carries a gap.
    [0, COPY, COPY | HAS_GAP].into_iter().for_each(&mut arrive);
    [1, 3, 2, 7, 4 | HAS_GAP, 5, 8, 6].into_iter().for_each(&mut arrive);
    assert_eq!(probe.reordering(FlowId(1)), Some(Reordering { packets: 4, distance: 3 }));
    assert_eq!(probe.reordering(FlowId(0)), None);
}

#[test]
fn ages_are_counted_by_transport() {
    let mut probe = Probe::new(3, false);
    probe.group([0, 2, 2].into_iter());
    probe.enter(Time(1000), HostClock::default());
    for (flow, informed) in [(0, 900), (1, 500), (2, 0), (2, 1000), (2, 2000)] {
        probe.decision(FlowId(flow), Time(informed));
    }
    let counts: Vec<u64> = probe.ages().iter().map(Histogram::count).collect();
    assert_eq!(counts, [1, 0, 4]);
    let last = &probe.senders()[2];
    // Information from the future has age 0.
    assert_eq!((last.decisions, last.decision_age, last.decision_age_max), (3, 1000, 1000));
}

#[test]
fn admitted_flows_come_and_go_and_leave_no_entry() {
    let mut probe = Probe::new(2, false);
    let mut ended = vec![];
    for flow in 7..10_007 {
        let flow = FlowId(flow);
        probe.admit(flow, 0, 0);
        probe.enter(Time(flow.0 as u64), HostClock::default());
        assert_eq!(probe.bytes_delivered(flow), 0, "the entry is new");
        probe.delivered(flow, 0, 0, 100);
        assert_eq!(probe.bytes_delivered(flow), 100);
        probe.completed(flow);
        (0..2).for_each(|_| probe.acknowledged(flow));
        probe.take_ended(&mut ended);
        let end = |received| Ended { flow, at: Time(flow.0 as u64), received };
        assert_eq!(ended, [end(true), end(false)]);
        ended.clear();
        (0..2).for_each(|_| probe.dismiss(flow));
    }
    assert_eq!((probe.admitted(), probe.outcomes().len()), (0, 0));
    assert_eq!((probe.senders.len(), probe.receivers.len()), (4, 4));
    assert!(probe.senders().iter().all(|trace| trace.acknowledged.is_none()));
}

#[test]
fn what_is_said_of_unknown_flows_is_not_kept() {
    let mut probe = Probe::new(1, false);
    for flow in [FlowId(1), FlowId(u32::MAX)] {
        probe.delivered(flow, 0, 0, 100);
        (0..2).for_each(|_| probe.completed(flow));
        probe.acknowledged(flow);
        probe.decision(flow, Time::ZERO);
        probe.received(&packet(flow.0, 0, 0), 84);
    }
    assert_eq!((probe.bytes_delivered(FlowId(0)), probe.outcomes().len()), (0, 0));
    let mut ended = vec![];
    probe.take_ended(&mut ended);
    assert_eq!(ended, []);
}

/// Two probes that are told the same: one keeps all recoveries, the other as few as it may.
struct Both {
    probes: [Probe; 2],
    random: Random,
    /// What arrives, or is lost, and when.
    events: BTreeMap<(u64, u32), Event>,
    number: u32,
    compared: u32,
    most: [usize; 2],
}

#[derive(Clone, Copy)]
struct Event {
    packet: Packet,
    stamps: Stamps,
    what: What,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Arrives,
    Lost,
    ControlLost,
}

impl Both {
    fn new(seed: u32) -> Both {
        let probe = |limits| {
            let mut probe = Probe::new(1, false);
            probe.set_patience(50);
            probe.expect([u64::MAX].into_iter());
            probe.opened(FlowId(0));
            probe.limits = limits;
            probe
        };
        let few = Limits { followed: 1, full: 2, most: usize::MAX };
        let all = Limits { followed: usize::MAX, full: usize::MAX, most: usize::MAX };
        Both {
            probes: [probe(few), probe(all)],
            random: Random::new(seed as u64, 1, 2),
            events: BTreeMap::new(),
            number: 0,
            compared: 0,
            most: [0; 2],
        }
    }

    fn enter(&mut self, now: u64) {
        let clock = HostClock { busy: 0, busy_until: now };
        self.probes.iter_mut().for_each(|probe| probe.enter(Time(now), clock));
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.number += 1;
        self.events.insert((at, self.number), event);
    }

    /// A data packet departs on a path of its own: late, lost, cut off and then lost, or twice.
    fn send(&mut self, now: u64, seq: u32, again: bool) {
        self.enter(now);
        let mut packet = packet(0, 1000, 0);
        packet.header = Header::Segment { seq, ack: 0, window: 0, nibble: 0, flags: 0 };
        packet.flags = if again { flag::RETRANSMIT } else { 0 };
        let mut stamps = Stamps::default();
        for probe in &mut self.probes {
            stamps = Stamps::default();
            probe.departs(FlowId(0), 5, again, &mut stamps);
        }
        let delay = match self.random.below(10) {
            0..6 => 100,
            6..9 => 100 + self.random.below(200),
            _ => 100 + self.random.below(5_000),
        };
        let mut event = Event { packet, stamps, what: What::Arrives };
        match self.random.below(20) {
            0..5 => event.what = What::Lost,
            5 => {
                // The payload is lost, then the header.
                self.plan(now + delay / 2, Event { what: What::Lost, ..event });
                event.packet.payload = 0;
                event.packet.flags |= flag::TRIMMED;
                event.stamps.lose();
                event.what = What::Lost;
            }
            6 => {
                let mut copy = event;
                for probe in &mut self.probes {
                    copy = event;
                    probe.doubles(&packet, &mut copy.stamps);
                }
                let late = self.random.below(3_000);
                self.plan(now + delay + late, copy);
            }
            7 => {
                let header = Header::Segment {
                    seq: 0,
                    ack: 0,
                    window: 0,
                    nibble: 0,
                    flags: if again { tcp_flag::ACK } else { 0 },
                };
                let control = Packet { header, payload: 0, flags: 0, ..packet };
                let control = Event { packet: control, what: What::ControlLost, ..event };
                self.plan(now + delay, control);
            }
            _ => {}
        }
        self.plan(now + delay, event);
    }

    /// Whether the packet arrives for the first time.
    fn happens(&mut self, at: u64, event: Event, new: bool) {
        let Event { packet, stamps, what } = event;
        let meta = Meta { serialised: 5, ..crate::pool::NEW };
        self.enter(at);
        for probe in &mut self.probes {
            if what == What::Arrives {
                match probe.arrives(&packet, &stamps) {
                    true => probe.arriving(&packet, &stamps, &meta),
                    false => probe.passing(),
                }
                if new {
                    probe.delivered(FlowId(0), packet.header.data_key(), 0, 1000);
                }
            } else if let Some(loss) = Loss::of(&packet, &meta, at) {
                probe.record_loss(&loss, &stamps);
            }
        }
        if what == What::Arrives {
            let asked =
                |probe: &Probe| -> Parts { flow_losses::before(probe.lossy.first(), &stamps) };
            assert_eq!(asked(&self.probes[0]), asked(&self.probes[1]), "at {at}");
            self.compared += 1;
        }
        for (most, probe) in self.most.iter_mut().zip(&self.probes) {
            *most = (*most).max(probe.lossy.first().map_or(0, FlowLosses::recovered));
        }
    }

    /// A flow of so many packets, each of which is sent until it arrives.
    fn run(&mut self, packets: u32) {
        let (mut now, mut next) = (0, 0);
        let mut missing: BTreeMap<u32, u64> = BTreeMap::new();
        let mut arrived = vec![false; packets as usize];
        while !arrived.iter().all(|arrived| *arrived) || !self.events.is_empty() {
            now += [5, 5, 5, 30, 300][self.random.below(5) as usize];
            while let Some(first) = self.events.first_entry().filter(|first| first.key().0 <= now) {
                let ((at, _), event) = first.remove_entry();
                let key = event.packet.header.data_key();
                let new = event.what == What::Arrives
                    && !std::mem::replace(&mut arrived[key as usize], true);
                self.happens(at, event, new);
            }
            self.enter(now);
            let reason = if self.random.chance(0.5) { Reason::Window } else { Reason::Ready };
            self.probes.iter_mut().for_each(|probe| probe.blocked(FlowId(0), reason));
            // Sometimes what has arrived is sent again as well.
            let overdue = missing.iter().find(|(_, sent)| **sent + 400 <= now).map(|(key, _)| *key);
            match overdue {
                Some(key) if self.random.chance(0.7) => {
                    missing.insert(key, now);
                    self.send(now, key, true);
                }
                _ if next < packets => {
                    missing.insert(next, now);
                    self.send(now, next, false);
                    next += 1;
                }
                _ => {}
            }
            missing.retain(|key, _| !arrived[*key as usize] || self.random.chance(0.05));
        }
    }
}

#[test]
fn what_is_forgotten_of_recoveries_is_never_asked_for() {
    for seed in 0..60 {
        let mut both = Both::new(seed);
        both.run(400);
        let [few, all] = both.most;
        assert!(both.compared >= 400 && all > 100, "{} compared, {all} kept", both.compared);
        assert!(few <= all);
    }
}

#[test]
fn a_flow_that_loses_for_ever_keeps_few_recoveries() {
    let mut both = Both::new(7);
    both.run(20_000);
    let [few, all] = both.most;
    assert!(all > 5_000 && few * 5 < all, "{few} of {all} are kept");
}
