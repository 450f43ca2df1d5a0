//! What a scenario cannot ask of the transports of 2022 to 2026 and of load balancing: each refused with key, value and range.

use incast_experiment::{Plan, Scenario};

const TEXT: &str = "[fabric]\ntopology = \"leaf-spine:2x2x2\"\nrate = \"10Gbps\"\n[transport]\nnames = [\"uec\"]\n\
                    [[traffic]]\nkind = \"permutation\"\nsize = \"100KB\"\n";

/// Why a transport with these settings is refused.
fn refused(transport: &str, sets: &[&str]) -> String {
    let name = format!("transport.names=[\"{transport}\"]");
    let sets: Vec<String> = [&name[..]].iter().chain(sets).map(ToString::to_string).collect();
    let planned = Scenario::parse(TEXT, "a test", &sets).and_then(Plan::new);
    planned.map(|_| ()).expect_err(&sets.join(" ")).to_string()
}

#[test]
fn what_does_not_fit_is_refused_with_key_value_and_range() {
    for (transport, sets, parts) in [
        (
            "uec",
            &["transport.parameters.uec.entropies=0"][..],
            &["entropies", "0", "a power of two, 1 to 32768"][..],
        ),
        (
            "eqds",
            &["transport.parameters.eqds.entropies=0"],
            &["entropies", "0", "a power of two, 1 to 32768"],
        ),
        (
            "swift",
            &[
                "transport.parameters.swift.reliability=unordered",
                "transport.parameters.swift.entropies=0",
            ],
            &["entropies", "0", "a power of two, 1 to 32768"],
        ),
        (
            "dctcp",
            &["transport.balance.entropies=0"],
            &["transport.balance.entropies", "0", "1 to 65535"],
        ),
        (
            "uec",
            &["transport.routing=drill", "transport.balance.samples=3"],
            &["transport.balance.samples", "3", "expected 1 to 2"],
        ),
        ("uec", &["transport.balance.samples=0"], &["transport.balance.samples", "0", "1 to 64"]),
        // Headers have room for eight records; paths of this fabric have three switches.
        (
            "powertcp",
            &["transport.parameters.powertcp.int_hops=9"],
            &["int_hops", "9", "auto, or 1 to 8"],
        ),
        (
            "powertcp",
            &["transport.parameters.powertcp.int_hops=2"],
            &["int_hops", "2", "expected 3 to 8"],
        ),
        // SIRD's classes are its own: control and unscheduled packets first.
        (
            "sird",
            &["fabric.queues=[1]"],
            &["fabric.queues", "[1]", "sird", "expected no `queues`, or transports among"],
        ),
        (
            "dcpim",
            &["transport.parameters.dcpim.channels=255", "transport.parameters.dcpim.rounds=1"],
            &["channels", "255", "expected at most"],
        ),
        (
            "dcpim",
            &["transport.parameters.dcpim.control_rtt=10ns"],
            &["control_rtt", "10ns", "expected at least"],
        ),
        (
            "uec",
            &["transport.routing=plb"],
            &["transport.routing", "plb", "those that do are dctcp, swift"],
        ),
        (
            "uec",
            &["transport.routing=hashed"],
            &["transport.routing", "hashed", "expected one of ecmp"],
        ),
        (
            "uec",
            &["fabric.topology=fat-tree:4", "transport.routing=conga"],
            &["transport.routing", "conga", "leaves and spines"],
        ),
        ("uec", &["transport.routings.uec=paths"], &["transport", "paths"]),
        // A full queue cuts packets, so no loss is to be guessed.
        (
            "uec",
            &["transport.parameters.uec.sleek=true"],
            &["sleek", "true", "false with trimming = true"],
        ),
        (
            "uec",
            &["transport.parameters.uec.data_queue=100B"],
            &["data_queue", "100B", "two full packets"],
        ),
        ("bolt", &["transport.parameters.bolt.window=1B"], &["window", "1B", "expected"]),
        ("pfabric", &["transport.parameters.pfabric.buffer=100B"], &["buffer", "100B", "expected"]),
        ("sird", &["transport.parameters.sird.bdp=100B"], &["bdp", "100B", "a full packet"]),
        (
            "swift",
            &["transport.parameters.swift.min_window=1000"],
            &["min_window", "1000", "expected"],
        ),
    ] {
        let told = refused(transport, sets);
        for part in parts {
            assert!(told.contains(part), "{sets:?}: {part} is not in: {told}");
        }
    }
}
