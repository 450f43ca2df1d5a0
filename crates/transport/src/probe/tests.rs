use super::*;
use incast_wire::{Header, HostId, TransportId};

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
