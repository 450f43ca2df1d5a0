//! Time series of ports: what a link carried, by interval.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::Run;
use incast_transport::{PortRecord, Span, Time};

/// In intervals of 1 us, less than a packet of 1538 B takes at 10 Gb/s: no link carries more than it
/// can, and all that was sent is counted, but for what the end of the run cut off.
#[test]
fn no_interval_of_a_port_has_more_than_the_link_can_carry() {
    for name in ["dctcp", "ren", "ndp"] {
        let text = format!(
            "[fabric]\ntopology = \"star:5\"\nrate = \"10Gbps\"\n[transport]\nnames = [\"{name}\"]\n\
             [[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"60KB\"\n[run]\ninterval = \"1us\"\n"
        );
        let plan = Scenario::parse(&text, "a test", &[]).and_then(Plan::new).expect("a plan");
        let (run, _) =
            execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("it runs");
        let mut crowded = 0;
        for (at, port) in run.record.ports.iter().enumerate() {
            let (wire, rate) = (run.wire_bytes(at, run.intervals()), run.ports[at].rate);
            for (index, bytes) in wire.iter().enumerate() {
                let room = rate.0 as u128 * run.interval(index).1.0 as u128;
                let bits = |bytes: u64| bytes as u128 * 8_000_000_000_000;
                assert!(bits(*bytes) <= room, "{name}: port {at}, interval {index}");
                crowded += (bits(run.bin(at, index).sent_bytes) > room) as u32;
            }
            let (sent, carried) = (port.total.sent_bytes, wire.iter().sum::<u64>());
            assert!(carried <= sent && sent - carried <= 1_538, "{name} {at}: {sent}, {carried}");
        }
        assert!(crowded > 0, "{name}: nothing to move");
    }
}

/// An incast of 600 KB from four hosts that begins at `at`, in intervals of 10 us.
fn incast_at(at: &str) -> Run {
    let text = format!(
        "[fabric]\ntopology = \"star:5\"\nrate = \"10Gbps\"\n[transport]\nnames = [\"dctcp\"]\n\
         [[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"600KB\"\nat = \"{at}\"\n\
         [run]\nwatch = 4\ninterval = \"10us\"\n"
    );
    let plan = Scenario::parse(&text, "a test", &[]).and_then(Plan::new).expect("a plan");
    execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("it runs").0
}

/// What starts late has the intervals of what starts at once.
#[test]
fn series_begin_where_traffic_begins() {
    let (at_once, late) = (incast_at("0s"), incast_at("1024ms"));
    let begin = Time::ZERO + Span::from_ms(1024);
    assert_eq!((at_once.record.series_start, late.record.series_start), (Time::ZERO, begin));
    assert_eq!(at_once.record.interval, late.record.interval);
    assert!(late.intervals().abs_diff(at_once.intervals()) < 10, "{}", late.intervals());
    assert_eq!(late.interval(3).0.since(begin), at_once.interval(3).0.since(Time::ZERO));
    let (ports, moved) = (&at_once.record.ports, &late.record.ports);
    for (port, moved) in ports.iter().zip(moved) {
        // Packets that arrive at one instant may be served in another order.
        let sent = |port: &PortRecord| (port.bins[0].sent_packets, port.total.sent_bytes);
        assert_eq!(sent(port), sent(moved));
        let p99 = |backlogs: &incast_transport::Histogram| backlogs.percentile(990).unwrap_or(0);
        let (p99, moved) = (p99(&port.backlogs), p99(&moved.backlogs));
        assert!(p99.abs_diff(moved) * 10 <= p99, "time-weighted p99 of the queue: {p99}, {moved}");
    }
    let longest = moved.iter().map(|port| port.backlogs.percentile(990).unwrap_or(0)).max();
    assert!(longest > Some(10_000), "the second before is not counted: {longest:?}");
}

/// A start in the middle of 512 intervals: the series begin with them, in ports and in flows alike.
#[test]
fn series_begin_with_a_multiple_of_512_intervals() {
    let late = incast_at("1s");
    let start = Span::from_us(998_400);
    assert_eq!(late.record.series_start, Time::ZERO + start);
    assert_eq!(late.record.interval, Span::from_us(10));
    let first = (Span::from_ms(1_000) - start).0 / Span::from_us(10).0;
    for series in &late.record.series {
        assert_eq!(series.delivered.iter().sum::<u64>(), 600_000);
        let idle = series.delivered.iter().take_while(|bytes| **bytes == 0).count() as u64;
        assert!(
            (first..first + 5).contains(&idle),
            "{idle} intervals before, {first} of them idle"
        );
    }
    let port = late.record.ports.iter().max_by_key(|port| port.total.sent_bytes).expect("ports");
    let idle = port.bins.iter().take_while(|bin| bin.sent_packets == 0).count() as u64;
    assert!((first..first + 5).contains(&idle), "{idle} intervals of a port before");
    assert_eq!(late.interval(first as usize).0, Time::ZERO + Span::from_ms(1_000));
}
