//! Time series of ports: what a link carried, by interval.

use incast_experiment::{Monitor, Plan, Scenario, execute};

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
            let (wire, rate) = (run.wire_bytes(at), run.ports[at].rate);
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
