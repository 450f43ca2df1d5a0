//! Topology files of other tools, well-formed and not.

use incast_fabric::import::*;
use incast_fabric::*;
use incast_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

/// Switches in the middle of the numbers, so that hosts must be renumbered.
const THREE: &str = "6 2 5\n2 3\n0 2 100Gbps 0.001ms 0\n1 2 25000000000.0 1000ns 0.000000\n\
                     4 3 100Gbps 1us 0\n5 3 100Gbps 1us 1e-3\n2 3 400Gbps 1.5us 0\n";

fn hpcc(text: &str) -> Imported {
    import_hpcc_topology("topo.txt", text).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    import_hpcc_topology("topo.txt", text).expect_err(text).to_string()
}

#[test]
fn hpcc_with_three_integers() {
    let imported = hpcc(THREE);
    assert_eq!(imported.host_ids(), [0, 1, 4, 5]);
    assert_eq!(imported.host_of(4), Some(2));
    assert_eq!((imported.host_of(2), imported.host_of(9)), (None, None));
    assert!(imported.notes.is_empty());
    let fabric = imported.fabric;
    assert_eq!((fabric.hosts(), fabric.nodes(), fabric.name()), (4, 6, "topo.txt"));
    assert_eq!(fabric.host_rate(1), Rate::from_gbps(25));
    assert_eq!(fabric.port(fabric.host_port(3)).loss, 1e-3);
    assert_eq!(fabric.port(fabric.host_port(0)).propagation, Span::from_us(1));
    assert_eq!(fabric.rack_of(3), NodeId(5));
    assert_eq!(fabric.max_rate(), Rate::from_gbps(400));
}

#[test]
fn hpcc_with_four_integers() {
    let four = THREE.replacen("6 2 5", "6 2 2 5", 1);
    assert!(hpcc(&four).notes.is_empty());
    assert_eq!(hpcc(&four).fabric.ports(), hpcc(THREE).fabric.ports());
    assert!(refused(&THREE.replacen("6 2 5", "6 2 3 5", 1)).contains("3 ToRs of 2 switches"));
    let wrong = THREE.replacen("6 2 5", "6 2 1 5", 1);
    assert_eq!(hpcc(&wrong).notes[0].text, "the header says 1 ToRs, 2 switches have hosts");
}

/// Two servers of two GPUs, each with an NVSwitch (4, 5), under one switch (6).
#[test]
fn simai_leaves_nvswitches_out() {
    let text = "7 2 2 1 8 H100\n4 5\n6\n0 4 2400Gbps 25ns 0\n1 4 2400Gbps 25ns 0\n\
                2 5 2400Gbps 25ns 0\n3 5 2400Gbps 25ns 0\n0 6 400Gbps 500ns 0\n\
                1 6 400Gbps 500ns 0\n2 6 400Gbps 500ns 0\n3 6 400Gbps 500ns 0\n";
    assert_eq!(detect(text), Some(TopologyFormat::Hpcc));
    let imported = hpcc(text);
    assert_eq!((imported.fabric.hosts(), imported.fabric.nodes()), (4, 5));
    let told = &imported.notes[0].text;
    assert!(told.contains("2 NVSwitches and their 4 links"));
    let keys = "server = 2, local_rate = \"2400Gbps\" and local_latency = \"50ns\"";
    assert!(told.contains(keys), "{told}");
    // Six whole numbers are a header of somebody else.
    assert!(refused(&text.replacen("H100", "3", 1)).contains("topo.txt:1: a header of six words"));
    assert!(refused(&text.replacen("7 2 2", "7 3 2", 1)).contains("3 GPUs per server: expected"));
    let one_line = text.replacen("4 5\n6\n", "4 5 6\n", 1);
    assert_eq!(hpcc(&one_line).fabric.ports(), imported.fabric.ports());
}

/// Every spelling that ns-3 reads and prints; a delay without a unit is in seconds there.
#[test]
fn rates_and_delays_as_ns3_prints_them() {
    let read = |rate: &str, delay: &str| {
        let written = format!("0 2 {rate} {delay}");
        let imported = hpcc(&THREE.replacen("0 2 100Gbps 0.001ms", &written, 1));
        let port = imported.fabric.port(imported.fabric.host_port(0));
        let said = imported.notes.iter().map(|note| note.text.clone()).collect::<String>();
        (port.rate, port.propagation, said)
    };
    let whole = (Rate::from_gbps(100), Span::from_us(1), String::new());
    for (rate, delay) in [
        ("100Gbps", "0.001ms"),
        ("100000000000bps", "+1000.0ns"),
        ("1e11bps", "1e-6s"),
        ("12.5GBps", "+1e+06ps"),
        ("100Gb/s", "1000000000fs"),
        ("100000000000.0", "1.0000000000000001e-06s"),
    ] {
        assert_eq!(read(rate, delay), whole, "{rate} {delay}");
    }
    let (_, bare, said) = read("100Gbps", "2e-6");
    assert_eq!(bare, Span::from_us(2));
    assert_eq!(
        said,
        "topo.txt: delays without a unit are taken as seconds, as ns-3 does: the longest is 2us"
    );
}

#[test]
fn the_description_at_the_end_is_ignored_with_a_note() {
    let text =
        format!("{THREE}\nFirst line: total node #, switch node #, link #\nsrc0 dst0 rate\n");
    let said = |behind: &str| {
        format!("topo.txt: 5 links are counted in the header and read; {behind} of them links)")
    };
    assert_eq!(hpcc(&text).notes[0].text, said("2 lines behind them, from line 9 on, not (0"));
    // People lower the count.
    let more = hpcc(&format!("{THREE}3 2 400Gbps 1us 0\n"));
    assert_eq!(more.notes[0].text, said("1 line behind them, from line 8 on, not (1"));
    assert_eq!(more.fabric.ports(), hpcc(THREE).fabric.ports());
}

#[test]
fn hpcc_errors_name_file_line_and_expectation() {
    let with = |from: &str, to: &str| refused(&THREE.replacen(from, to, 1));
    for (from, to, message) in [
        ("6 2 5", "6 2", "topo.txt:1: a header of 2 words: expected `<nodes> <switches> <links>`"),
        ("6 2 5", "6 two 5", "topo.txt:1: number of switches `two`: expected 0 to 6"),
        ("6 2 5", "6 0 5", "topo.txt:2: 2 words: expected a link"),
        ("6 2 5", "9999999999 2 5", "topo.txt:1: number of nodes `9999999999`"),
        ("6 2 5", "200000 2 5", "topo.txt:1: 5 links cannot connect 200000 nodes"),
        ("6 2 5", "6 2 6", "topo.txt:7: the file ends here: expected link 6 of the 6"),
        ("2 3\n", "2 2\n", "topo.txt:2: switch id 2 is given twice"),
        ("2 3\n", "2 6\n", "topo.txt:2: node id `6`: expected 0 to 5"),
        ("2 3\n", "2 3 4\n", "topo.txt:2: `4`: the header says 2 switch ids"),
        ("0 2 100Gbps", "0 2 100", "topo.txt:7: the file"),
        ("0 2 100Gbps", "0 2 100Gps", "topo.txt:3: rate `100Gps`: unknown unit"),
        ("0 2 100Gbps", "0 2 0Gbps", "topo.txt:3: the link host 0 - switch 2 has rate 0"),
        ("0 2 100Gbps", "0 2 -5", "topo.txt:3: rate `-5`: a rate cannot be negative"),
        ("0 2 100Gbps", "0 0 100Gbps", "topo.txt:3: host 0 is linked to itself"),
        ("0 2 100Gbps", "0 6 100Gbps", "topo.txt:3: node id `6`"),
        (
            "0 2 100Gbps 0.001ms",
            "0 2 100Gbps 5",
            "topo.txt:3: delay `5`: without a unit it is in s",
        ),
        ("0 2 100Gbps 0.001ms", "0 2 100Gbps 1 us", "topo.txt:3: 6 words: expected a link"),
        ("0 2 100Gbps 0.001ms 0", "0 2 100Gbps 1us", "topo.txt:3: 4 words: expected a link"),
        ("1us 1e-3", "1us 2", "topo.txt:6: loss probability 2: expected 0 to less than 1"),
        ("5 3 100Gbps", "4 2 100Gbps", "topo.txt: host 5 has no link"),
    ] {
        if to == "0 2 100" {
            // A bare number is bits per second: slow, but legal.
            assert_eq!(hpcc(&THREE.replacen(from, to, 1)).fabric.host_rate(0), Rate(100));
            continue;
        }
        assert!(with(from, to).starts_with(message), "{}\n{message}", with(from, to));
    }
    assert!(refused("").contains("expected a header"));
    let apart = "7 3 6\n2 3 6\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n4 3 1Gbps 1us 0\n\
                 5 3 1Gbps 1us 0\n3 6 1Gbps 1us 0\n2 2 1Gbps 1us 0\n";
    assert!(refused(apart).contains("switch 2 is linked to itself"));
    let apart = "6 2 5\n2 3\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n4 3 1Gbps 1us 0\n5 3 1Gbps 1us 0\n";
    assert!(refused(apart).contains("expected link 5"));
}

/// Two lines for the same two switches are two links, which routes take alike.
#[test]
fn parallel_links_are_paths_of_their_own() {
    let text = "6 2 7\n2 3\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n4 3 100Gbps 1us 0\n5 3 100Gbps 1us 0\n\
                2 3 100Gbps 1us 0\n3 2 40Gbps 2us 0\n2 3 100Gbps 1us 0\n";
    let Imported { fabric, notes, .. } = hpcc(text);
    let (a, b) = (NodeId(4), NodeId(5));
    let rates = |ports: Vec<PortId>| -> Vec<Rate> {
        ports.into_iter().map(|port| fabric.port(port).rate).collect()
    };
    let [slow, fast] = [40, 100].map(Rate::from_gbps);
    assert_eq!(rates(fabric.ports_between(a, b)), [fast, slow, fast]);
    assert_eq!(fabric.path_count(0, 3), 3);
    // Both ends of a link agree on its number.
    for port in fabric.ports_between(a, b) {
        let back = fabric.port(port).reverse;
        let place = |ports: Vec<PortId>, own: PortId| ports.iter().position(|one| *one == own);
        assert_eq!(
            place(fabric.ports_between(a, b), port),
            place(fabric.ports_between(b, a), back)
        );
    }
    assert!(notes[0].text.contains("2 links are beside others"), "{}", notes[0].text);
}

/// A ring of four hosts without any switch, as such files are written: each forwards.
#[test]
fn hosts_that_are_linked_to_each_other_forward() {
    let ring =
        "4 0 4\n\n0 1 100Gbps 1us 0\n1 2 100Gbps 1us 0\n2 3 50Gbps 1us 0\n3 0 100Gbps 1us 0\n";
    let Imported { fabric, notes, .. } = hpcc(ring);
    assert_eq!((fabric.hosts(), fabric.nodes()), (4, 8));
    assert!(notes[0].text.contains("4 hosts forward"), "{}", notes[0].text);
    let gbps: Vec<Rate> = (0..4).map(|host| fabric.host_rate(host)).collect();
    assert_eq!(gbps, [200, 200, 150, 150].map(Rate::from_gbps), "as fast as its links together");
    // Two ways to the host opposite, one to a neighbour.
    assert_eq!((fabric.path_count(0, 2), fabric.path_count(0, 1)), (2, 1));
    // A host at the end of a chain has one link, and forwards nothing.
    let chain = "3 0 2\n0 1 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    let chain = hpcc(chain).fabric;
    assert_eq!((chain.hosts(), chain.nodes(), chain.host_rate(0)), (3, 4, Rate::from_gbps(100)));
    // Two hosts and nothing else.
    let pair = hpcc("2 0 1\n0 1 10Gbps 1us 0\n").fabric;
    assert_eq!((pair.hosts(), pair.nodes()), (2, 3));
}

/// BCube(2, 1) as people write it: four hosts with a link to a switch of each of two levels. Nothing in the file says
/// whether they have two NICs or forward.
#[test]
fn hosts_with_several_links_can_forward() {
    let text = "8 4 8\n4 5 6 7\n0 4 10Gbps 1us 0\n1 4 10Gbps 1us 0\n2 5 10Gbps 1us 0\n3 5 10Gbps 1us 0\n\
                0 6 10Gbps 1us 0\n1 7 10Gbps 1us 0\n2 6 10Gbps 1us 0\n3 7 10Gbps 1us 0\n";
    let nics = import::import_text("b.topo", text).unwrap().fabric;
    assert_eq!((nics.hosts(), nics.servers()), (8, 4));
    let Imported { fabric, notes, .. } = import::import_text_with("b.topo", text, true).unwrap();
    assert_eq!((fabric.hosts(), fabric.servers(), fabric.nodes()), (4, 4, 12));
    assert!(notes[0].text.contains("4 hosts forward"), "{}", notes[0].text);
    assert_eq!(fabric.host_rate(0), Rate::from_gbps(20));
    // From host 0 to host 3 by way of host 1 or of host 2.
    assert_eq!((fabric.path_count(0, 1), fabric.path_count(0, 3)), (1, 2));
    let generated = incast_fabric::parse(
        "bcube:2x2",
        LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 },
    );
    let generated = generated.unwrap();
    for (src, dst) in [(0, 1), (0, 2), (0, 3), (1, 2)] {
        assert_eq!(fabric.path_count(src, dst), generated.path_count(src, dst));
    }
}

/// Two hosts with a NIC at each of two ToRs, and one with one NIC; the ToRs meet in a spine.
const DUAL_TOR: &str = "6 3 7\n3 4 5\n0 3 100Gbps 1us 0\n0 4 50Gbps 1us 0\n1 4 100Gbps 1us 0\n1 3 100Gbps 1us 0\n\
                        2 3 25Gbps 1us 0\n3 5 400Gbps 1us 0\n4 5 400Gbps 1us 0\n";

#[test]
fn a_host_with_several_links_is_a_server_with_nics() {
    let imported = hpcc(DUAL_TOR);
    assert_eq!(imported.host_ids(), [0, 1, 2], "flows name servers");
    assert!(
        imported.notes[0].text.contains("2 hosts have several links"),
        "{}",
        imported.notes[0].text
    );
    let fabric = imported.fabric;
    assert_eq!((fabric.hosts(), fabric.servers(), fabric.nodes()), (5, 3, 8));
    assert_eq!([0, 1, 2].map(|server| fabric.nics_of(server)), [0..2, 2..4, 4..5]);
    assert_eq!([0, 1, 2, 3, 4].map(|host| fabric.server_of(host)), [0, 0, 1, 1, 2]);
    // In the order of the lines.
    let rates = [0, 1, 2, 3, 4].map(|host| fabric.host_rate(host));
    assert_eq!(rates, [100, 50, 100, 100, 25].map(Rate::from_gbps));
    let [tor, other] = [NodeId(5), NodeId(6)];
    assert_eq!([0, 1, 2, 3, 4].map(|host| fabric.rack_of(host)), [tor, other, other, tor, tor]);
    let names: Vec<String> = (0..5).map(|host| fabric.node_name(NodeId(host))).collect();
    assert_eq!(
        names,
        ["server0/nic0", "server0/nic1", "server1/nic0", "server1/nic1", "server2/nic0"]
    );
    for (host, name) in names.iter().enumerate() {
        assert_eq!(fabric.node_named(name), Ok(NodeId(host as u32)));
    }
    assert_eq!(fabric.node_named("server2"), Ok(NodeId(4)));
    let again = hpcc(&export_hpcc_topology(&fabric).unwrap()).fabric;
    assert_eq!((again.ports(), again.servers()), (fabric.ports(), 3));
    let said = |name: &str| fabric.node_named(name).unwrap_err().to_string();
    assert_eq!(said("server1"), "no node `server1`: expected server1/nic0 to server1/nic1");
    assert_eq!(
        said("server1/nic2"),
        "no node `server1/nic2`: expected server1/nic0 to server1/nic1"
    );
    assert_eq!(said("server3/nic0"), "no node `server3/nic0`: expected server0 to server2");
    assert!(
        hpcc(THREE).fabric.node_named("server0/nic0").unwrap_err().to_string().contains("one NIC")
    );
}

/// Two planes that only servers join are no error, but have no path between them.
#[test]
fn planes_are_joined_by_servers_alone() {
    let planes =
        "4 2 4\n2 3\n0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n1 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n";
    let fabric = hpcc(planes).fabric;
    assert_eq!((fabric.hosts(), fabric.servers()), (4, 2));
    assert!(fabric.is_reachable(0, 2) && fabric.is_reachable(1, 3));
    assert!(!fabric.is_reachable(0, 3) && !fabric.is_reachable(1, 2));
    assert_eq!((fabric.path_count(0, 2), fabric.path_count(0, 3), fabric.most_paths()), (1, 0, 1));
    assert_eq!(
        fabric.base_rtt(Bytes(1538), Bytes(84)),
        fabric.base_rtt_between(0, 2, Bytes(1538), Bytes(84))
    );
    // A plane that no server joins is apart.
    let apart =
        "5 3 4\n2 3 4\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n0 3 1Gbps 1us 0\n2 2 1Gbps 1us 0\n";
    assert!(refused(apart).contains("linked to itself"));
}

#[test]
fn disconnected_and_unlinked() {
    let apart = "9 4 8\n5 6 7 8\n0 5 1Gbps 1us 0\n1 5 1Gbps 1us 0\n2 6 1Gbps 1us 0\n\
                 3 6 1Gbps 1us 0\n4 7 1Gbps 1us 0\n6 7 1Gbps 1us 0\n6 8 1Gbps 1us 0\n7 8 1Gbps 1us 0\n";
    assert_eq!(refused(apart), "topo.txt: there is no path from host 0 to host 2");
    let lonely = "4 2 3\n2 3\n0 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n3 2 1Gbps 1us 0\n";
    assert_eq!(refused(lonely), "topo.txt: host 1 has no link; a host has exactly one");
}

#[test]
fn the_export_reads_back() {
    let links =
        LinkDefaults { rate: Rate::from_mbps(2500), propagation: Span(1_234_567), loss: 0.125 };
    for spec in ["star:3", "dumbbell:3x2", "parking-lot:2", "leaf-spine:4x3x2", "fat-tree:4"] {
        let fabric = parse(spec, links).unwrap();
        let text = export_hpcc_topology(&fabric).unwrap();
        assert_eq!(detect(&text), Some(TopologyFormat::Hpcc));
        let again = hpcc(&text).fabric;
        let ends = |f: &Fabric| -> Vec<_> {
            let mut all: Vec<_> = f
                .ports()
                .iter()
                .map(|p| (p.node, p.peer, p.rate, p.propagation, p.loss.to_bits(), p.tier))
                .collect();
            all.sort();
            all
        };
        assert_eq!(ends(&again), ends(&fabric), "{spec}");
    }
}

const LEAF_SPINE: &str = "# tiny\nNodes 32\nTiers 2\npodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\n\
    Radix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 4\n\n\
    Tier 1 # spines\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 2000\n\
    Switch_Latency_ns 300\nQueue_Down 150000\n";

const FAT_TREE: &str = "Nodes 432\nTiers 3\nPodsize 36\nTier 0\nDownlink_speed_Gbps 100\n\
    Radix_Down 6\nRadix_Up 6\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\n\
    Radix_Down 6\nRadix_Up 6\nDownlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 100\n\
    Radix_Down 36\nDownlink_Latency_ns 600000\nBundle 3\n";

#[test]
fn htsim_leaf_spine() {
    assert_eq!(detect(LEAF_SPINE), Some(TopologyFormat::HtsimTopo));
    let imported = import_htsim_topo("a.topo", LEAF_SPINE).unwrap();
    let fabric = &imported.fabric;
    assert_eq!((fabric.hosts(), fabric.nodes(), fabric.ports().len()), (32, 38, 2 * (32 + 8)));
    assert_eq!(fabric.uplinks().unwrap().oversubscription, 4.0);
    assert_eq!(imported.queues[1], TierQueues { up: None, down: Some(Bytes(150_000)) });
    // Up: 2 us and the spine's 300 ns; down: 2 us.
    let up = fabric.port(fabric.ports_between(NodeId(32), NodeId(36))[0]);
    assert_eq!(up.propagation, Span::from_ns(2_300));
    assert_eq!(fabric.port(up.reverse).propagation, Span::from_us(2));
    assert_eq!(imported.notes.len(), 1);
    assert!(export_hpcc_topology(fabric).unwrap_err().to_string().contains("by direction"));
}

#[test]
fn htsim_fat_tree_with_bundles() {
    let fabric = import_htsim_topo("b.topo", FAT_TREE).unwrap().fabric;
    // 12 pods of 6 + 6 switches, 12 core switches of 36 ports in bundles of 3.
    assert_eq!((fabric.hosts(), fabric.nodes()), (432, 432 + 72 + 72 + 12));
    assert_eq!(fabric.ports_of(NodeId(432 + 144)).len(), 36);
    assert_eq!(fabric.path_count(0, 431), 6 * 6 * 3);
    assert!(export_hpcc_topology(&fabric).unwrap_err().to_string().contains("bundle"));
}

#[test]
fn htsim_errors_name_file_line_and_expectation() {
    let with = |text: &str, from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        import_htsim_topo("x.topo", &text).expect_err(&text).to_string()
    };
    for (from, to, message) in [
        ("Nodes 32", "Nodes 0", "x.topo:2: nodes 0: expected at least 1"),
        ("Nodes 32\n", "\n", "x.topo:19: nodes is missing"),
        ("Nodes 32", "Nodes 33", "x.topo:4: Podsize 32: two tiers are one pod of 33 nodes"),
        ("Tiers 2", "Tiers 4", "x.topo:3: Tiers 4: expected 2 or 3"),
        ("Tiers 2", "Tiers 3", "x.topo:19: `Tier 2` is missing"),
        ("Tiers 2", "Teirs 2", "x.topo:3: unknown key `Teirs`: did you mean `tiers`?"),
        ("Radix_Up 2", "Radix_Up two", "x.topo:9: Radix_Up `two`: expected a whole number"),
        ("Radix_Up 2", "Radix_Up", "x.topo:9: `Radix_Up`: expected a key and one number"),
        ("Radix_Up 2", "Tiers 2", "x.topo:9: Tiers belongs before `Tier 0`"),
        ("Nodes 32", "Bundle 1", "x.topo:2: Bundle belongs after a `Tier` line"),
        ("Radix_Up 2", "Radix_Down 8", "x.topo:9: Radix_Down again, first on line 8"),
        ("Radix_Up 2\n", "", "x.topo:6: Tier 0 lacks radix_up"),
        ("Radix_Down 4", "Radix_Down 5", "x.topo:16: Tier 1: radix_down 5, but there are 4 leaves"),
        ("Radix_Down 8", "Radix_Down 5", "x.topo:2: Nodes 32 is not a multiple"),
        ("Oversubscribed 4", "Oversubscribed 3", "x.topo:12: Tier 0: 8 links of 100Gbps down"),
        ("Tier 1", "Tier 0", "x.topo:14: Tier 0 again, first on line 6"),
        ("Tier 1", "Tier 7", "x.topo:14: Tier 7: expected 0 to 2"),
    ] {
        assert!(with(LEAF_SPINE, from, to).starts_with(message), "{}", with(LEAF_SPINE, from, to));
    }
    let bundle = with(FAT_TREE, "Bundle 3", "Bundle 4");
    assert!(bundle.contains("Tier 2: radix_down 36, but there are 12 pods"), "{bundle}");
}

/// Whichever line is broken, the message has file, line and what was expected.
#[test]
fn a_broken_line_is_named_whichever_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net");
    for text in [THREE, LEAF_SPINE, FAT_TREE] {
        let said = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        for (at, line) in text.lines().enumerate().filter(|(_, line)| said(line)) {
            let words: Vec<&str> = line.split('#').next().unwrap().split_whitespace().collect();
            let all = |word: &str| vec![word; words.len()].join(" ");
            for change in ["???", "x y", &all("x"), &all("-1"), &all("99999999999999999999999")] {
                let mut lines: Vec<&str> = text.lines().collect();
                lines[at] = change;
                std::fs::write(&path, lines.join("\n") + "\n").expect("writable");
                let found = import_file(&path).expect_err(change).to_string();
                let place = format!("{}:{}: ", path.display(), at + 1);
                assert!(found.starts_with(&place), "`{line}` became `{change}`: {found}");
            }
        }
    }
}

#[test]
fn a_connection_matrix_is_not_a_topology() {
    assert_eq!(detect("Nodes 16\nConnections 1\n0->1 id 1 start 0 size 100\n"), None);
    assert_eq!(detect(""), None);
    assert_eq!(detect("100 0.5\n200 1.0\n"), None);
}

#[test]
fn failure_lines() {
    let parsed = HtsimFailure::parse("failure switch_type AGG switch_id 2 link_id 1").unwrap();
    assert_eq!(parsed, HtsimFailure { tier: Tier::Aggregation, switch: 2, link: 1 });
    let links = LinkDefaults { rate: Rate::from_gbps(1), propagation: Span::ZERO, loss: 0.0 };
    let mut tree = parse("fat-tree:4", links).unwrap();
    parsed.apply(&mut tree, Time(0)).unwrap();
    // Aggregation switch 2 is the first of the second pod: cores 0 and 1.
    let port = *tree.port(tree.failures()[0].port);
    assert_eq!((port.node, port.peer), (NodeId(16 + 8 + 2), NodeId(16 + 16 + 1)));
    assert_eq!(tree.routes_without(&tree.dead_at(Time(0))).next(port.node, 0).len(), 1);
    let error = |line: &str, tree: &mut Fabric| {
        HtsimFailure::parse(line).and_then(|f| f.apply(tree, Time(0))).unwrap_err().to_string()
    };
    let high = error("failure switch_type AGG switch_id 9 link_id 1", &mut tree);
    assert!(high.contains("switch_id 9: Aggregation switches are 0 to 7"), "{high}");
    let high = error("failure switch_type TOR switch_id 0 link_id 2", &mut tree);
    assert!(high.contains("link_id 2: this switch has links 0 to 1"), "{high}");
    assert!(
        error("failure switch_type HOST switch_id 0 link_id 2", &mut tree).contains("TOR|AGG|CORE")
    );
    let mut clos = parse("leaf-spine:2x2x2", links).unwrap();
    parsed_spine(&mut clos);
    assert_eq!(clos.port(clos.failures()[0].port).node, NodeId(4 + 2 + 1));
}

fn parsed_spine(clos: &mut Fabric) {
    let line = "failure switch_type AGG switch_id 1 link_id 0";
    HtsimFailure::parse(line).unwrap().apply(clos, Time(0)).unwrap();
}

proptest! {
    /// Nothing a file says makes an importer panic or allocate without bound.
    #[test]
    fn importers_refuse_noise(text in "[0-9a-zA-Z_. \n#-]{0,300}") {
        let _ = detect(&text);
        let _ = import_hpcc_topology("noise", &text);
        let _ = import_htsim_topo("noise", &text);
    }

    #[test]
    fn importers_survive_edits(
        base in prop::sample::select(vec![THREE, LEAF_SPINE, FAT_TREE]),
        position in any::<prop::sample::Index>(),
        word in prop::sample::select(vec!["0", "1", "-1", "65536", "99999999", "18446744073709551615", "x", "\n", ""]),
    ) {
        let mut words: Vec<&str> = base.split_inclusive([' ', '\n']).collect();
        let at = position.index(words.len());
        let edited = format!("{word}{}", if words[at].ends_with('\n') { "\n" } else { " " });
        words[at] = &edited;
        let text = words.concat();
        let _ = import_hpcc_topology("edited", &text);
        let _ = import_htsim_topo("edited", &text);
    }
}
