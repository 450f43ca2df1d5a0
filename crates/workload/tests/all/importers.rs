//! Flow files of other tools.

use incast_units::Fault;
use incast_units::{Bytes, Rate, Span, Time};
use incast_workload::*;
use proptest::prelude::*;
use std::ops::Range;

fn message<T>(result: Result<T, Fault>) -> String {
    result.err().expect("refused").to_string()
}

fn flow(src: u32, dst: u32, size: u64, at: u64, class: FlowClass) -> FlowSpec {
    FlowSpec::new(src, dst, size, Start::At(Time(at)), class)
}

const HPCC: &str =
    "3\n10 2 3 100 5000000000 2.000000000\n2 10 3 200 64 2.000001\n10 11 1 100 1 3e0\n";

#[test]
fn hpcc_with_mapped_hosts() {
    // Nodes 2, 10 and 11 are hosts; the others are switches.
    let hosts = HostIds::listed(&[11, 2, 10]);
    let traffic = read_hpcc(HPCC, "flow.txt", &hosts).unwrap();
    let group = |flow: FlowSpec, group: u8| FlowSpec { priority: Some(group), ..flow };
    assert_eq!(
        traffic.flows,
        [
            group(flow(1, 0, 5_000_000_000, 2_000_000_000_000, FlowClass::Background), 3),
            group(flow(0, 1, 64, 2_000_001_000_000, FlowClass::Incast), 3),
            group(flow(1, 2, 1, 3_000_000_000_000, FlowClass::Background), 1),
        ]
    );
    let written = export_hpcc(&traffic, &hosts).unwrap();
    assert_eq!(written, "3\n10 2 3 100 5000000000 2\n2 10 3 200 64 2.000001\n10 11 1 100 1 3\n");
    assert!(export_hpcc(&traffic, &HostIds::same(1)).is_err());
}

/// What a list can say of a flow is written and read again.
#[test]
fn a_written_list_reads_back() {
    let text = "src,dst,size_bytes,start_ns,class,transport,priority,until_ns\n\
                0,1,1000000000000,2.5,long,,2,4000.25\n1,0,5,3,background,ren,,\n";
    let read = read_csv(text, "f.csv", &HostIds::same(2)).unwrap();
    let first = &read.flows[0];
    assert_eq!((first.priority, first.stop), (Some(2), Some(Time(4_000_250))));
    assert_eq!((read.flows[1].priority, read.flows[1].stop), (None, None));
    assert_eq!(export_csv(&read).unwrap(), text);
}

/// ns-3 reads as many flows as the first line counts, and stops.
#[test]
fn the_count_of_hpcc_rules() {
    let text = "2\n0 1 3 100 10000 2\n1 2 3 100 20000 2\n2 3 3 100 30000 2\n\n\n\
                Flows must be in order of their start.\n";
    let read = read_flows(text, "flow.txt", &HostIds::same(4), None).unwrap();
    assert_eq!((read.kind, read.traffic.flows.len()), (WorkloadFormat::HpccFlows, 2));
    let said = &read.traffic.warnings[0].text;
    assert_eq!(
        said,
        "flow.txt: 2 flows are counted in the first line and read; 2 lines behind them, from line 4 on, not"
    );
    let prose = "1\n0 1 3 100 10000 2\n\nA flow\nper line.\nIn order.\n";
    let read = read_flows(prose, "flow.txt", &HostIds::same(4), None).unwrap();
    assert_eq!((read.kind, read.traffic.flows.len()), (WorkloadFormat::HpccFlows, 1));
}

/// The flows of results are flows again, whatever their other columns hold.
#[test]
fn results_of_a_run_are_flows() {
    let text = "flow_id,src,dst,transport,class,size_bytes,start_ps,start_ns,worst_port\n\
                0,0,1,dctcp,incast,1000,5,0.005,leaf0->host1\n\
                1,2,3,dctcp,background,2000,7000,7,leaf0->host3\n\
                2,2,3,dctcp,background,2000,,,\n";
    let read = read_flows(text, "r/flows.csv", &HostIds::same(4), None).unwrap();
    assert_eq!(read.kind, WorkloadFormat::NativeFlows);
    let flows =
        [flow(0, 1, 1000, 5, FlowClass::Incast), flow(2, 3, 2000, 7000, FlowClass::Background)];
    assert_eq!(read.traffic.flows, flows, "without the transport of that run");
    assert!(read.traffic.warnings[0].text.contains("1 flows that had not started are left out"));
    let short = text.replace("size_bytes", "bytes");
    let found = message(read_flows(&short, "r/flows.csv", &HostIds::same(4), None));
    assert!(found.starts_with("r/flows.csv:1: header = `flow_id"), "{found}");
    let own = "flow_id,src,dst,size_bytes,start_ns\n0,0,leaf0->1,5,0\n";
    let found = message(read_flows(own, "f.csv", &HostIds::same(4), None));
    assert!(found.starts_with("f.csv:2: dst = `leaf0->1`"), "an arrow is no matrix: {found}");
}

/// A serial all-to-all, as generators for htsim write it: a warning of a kind comes once.
#[test]
fn a_warning_about_triggers_comes_once_with_a_count() {
    let (mut text, mut triggers) = (String::new(), String::new());
    for host in 0..8u32 {
        let peers: Vec<u32> = (0..8).filter(|peer| *peer != host).collect();
        for (at, pair) in peers.chunks(2).enumerate() {
            let trigger = |at: usize| host as usize * 4 + at;
            let start = match at {
                0 => "start 0".to_string(),
                _ => format!("trigger {}", trigger(at)),
            };
            let fires = if at < 3 {
                format!(" send_done_trigger {}", trigger(at + 1))
            } else {
                String::new()
            };
            for peer in pair {
                text += &format!("{host}->{peer} {start} size 1000{fires}\n");
            }
            if at < 3 {
                triggers += &format!("trigger id {} multishot\n", trigger(at + 1));
            }
        }
    }
    let text = format!("Nodes 8\nConnections 56\nTriggers 24\n{text}{triggers}");
    let read = read_flows(&text, "a2a.cm", &HostIds::same(8), None).unwrap();
    let said: Vec<&str> = read.traffic.warnings.iter().map(|one| one.text.as_str()).collect();
    let [said] = said[..] else { panic!("{said:?}") };
    assert!(said.starts_with("a2a.cm:60: multishot trigger 1 (and 23 others): the k-th"), "{said}");
}

#[test]
fn hpcc_refuses() {
    let cases = [
        ("", "f: number of flows is missing"),
        ("0\n", "f:1: number of flows = `0`"),
        ("x\n0 1 3 100 1 0\n", "f:1: number of flows = `x`"),
        (
            "2\n0 1 3 100 1 0\n",
            "f:1: number of flows = `2`: expected at most 1, the number of lines",
        ),
        ("1\n0 1 3 100 1\n", "f:2: line = `0 1 3 100 1`: expected 6 columns"),
        ("1\n0 9 3 100 1 0\n", "f:2: dst = `9`: expected a host from 0 to 3"),
        ("1\n-1 1 3 100 1 0\n", "f:2: src = `-1`"),
        ("1\n1 1 3 100 1 0\n", "f:2: dst = `1`: expected a host other than the sender"),
        ("1\n0 1 3 100 0 0\n", "f:2: bytes = `0`: expected a whole number from 1 to"),
        ("1\n0 1 3 100 99999999999999999999 0\n", "f:2: bytes = `99999999999999999999`"),
        ("1\n0 1 9 100 1 0\n", "f:2: pg = `9`: expected a whole number from 0 to 7"),
        ("1\n0 1 3 100 1 nan\n", "f:2: start = `nan`"),
        ("1\n0 1 3 100 1 -1\n", "f:2: start = `-1`"),
        ("1\n0 1 3 100 1 1e9\n", "f:2: start = `1e9`"),
        ("2\n0 1 3 100 1 2\n\n# back\n0 1 3 100 1 1\n", "f:5: start = `1`: expected 2s or later"),
    ];
    for (text, expected) in cases {
        let found = message(read_hpcc(text, "f", &HostIds::same(4)));
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
}

const CM: &str = "\
# ring
Nodes 16
Connections 6
Triggers 3
Failures 2
0->13 id 1 start 1000 size 8000000000 send_done_trigger 7
1->13 id 2 msg 4 start 0 size 10 recv_done_trigger 8
2->3 id 3 trigger 7 size 20 send_done_trigger 8 prio 3
4->5 id 4 trigger 8 size 30 recv_done_trigger 9
5->6 id 5 trigger 8 size 40 send_done_trigger 9
6->7 id 6 trigger 9 size 50
trigger id 7 oneshot
trigger id 8 barrier count 2
trigger id 9 multishot
failure switch_type TOR switch_id 0 link_id 3
failure switch_type CORE switch_id 5 link_id 1
";

#[test]
fn htsim_triggers_become_waits() {
    let read = read_htsim(CM, "ring.cm", &HostIds::same(16), None).unwrap();
    assert_eq!(read.nodes, 16);
    let failure = |tier, switch, link, line| Failure { tier, switch, link, line };
    let expected = [failure(SwitchTier::Tor, 0, 3, 15), failure(SwitchTier::Core, 5, 1, 16)];
    assert_eq!(read.failures, expected);
    let traffic = read.traffic;
    traffic.validate(16).unwrap();
    let after = |flows: &[u32]| Start::After { flows: flows.to_vec(), delay: Span::ZERO };
    let starts: Vec<_> = traffic.flows.iter().map(|f| (f.src, f.size, f.start.clone())).collect();
    assert_eq!(
        starts,
        [
            (1, 10, Start::At(Time(0))),
            (0, 8_000_000_000, Start::At(Time(1000))),
            (2, 20, after(&[1])),
            (4, 30, after(&[0, 2])),
            (5, 40, after(&[0, 2])),
            (6, 50, after(&[3])),
        ]
    );
    let said: Vec<&str> = traffic.warnings.iter().map(|notice| notice.text.as_str()).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(said[0].contains("as picoseconds, because all are whole numbers"), "{said:?}");
    assert!(said[1].starts_with("ring.cm:14: multishot trigger 9"), "{said:?}");
    assert!(said[2].contains("`msg` is ignored") && said[3].contains("`prio` is ignored"));
    assert!(message(export_csv(&traffic)).starts_with("flow 2: start = `after other flows`"));
    assert!(export_hpcc(&traffic, &HostIds::same(16)).is_err());
}

#[test]
fn htsim_multishot_keeps_a_window() {
    // Two at a time: each completion starts the next one.
    let text = "Nodes 4\nConnections 4\nTriggers 1\n\
        0->1 id 1 start 0 size 1 send_done_trigger 5\n\
        0->2 id 2 start 0 size 1 send_done_trigger 5\n\
        0->3 id 3 trigger 5 size 1 send_done_trigger 5\n0->1 id 4 trigger 5 size 1\n\
        trigger id 5 multishot\n";
    let traffic = read_htsim(text, "w.cm", &HostIds::same(4), None).unwrap().traffic;
    let after = |flow| Start::After { flows: vec![flow], delay: Span::ZERO };
    assert_eq!((&traffic.flows[2].start, &traffic.flows[3].start), (&after(0), &after(1)));
}

/// Nothing starts after a flow without an end; the file's line is named.
#[test]
fn htsim_triggers_of_endless_flows_are_refused() {
    let text = "Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 0 send_done_trigger 5\n\
        2->3 id 2 trigger 5 size 10\ntrigger id 5 oneshot\n";
    let said = message(read_htsim(text, "e.cm", &HostIds::same(4), None));
    assert!(
        said.starts_with("e.cm:5: trigger = `5`: expected a trigger of connections that end"),
        "{said}"
    );
    assert!(said.contains("the one in line 4 has size 0"), "{said}");
}

/// A fraction means microseconds; whole numbers are picoseconds unless somebody says otherwise.
#[test]
fn the_unit_of_htsims_starts_is_said_or_given() {
    let read = |start: &str, unit| {
        let text =
            format!("Nodes 4\nConnections 2\n0->1 start 0 size 1\n0->2 start {start} size 0\n");
        let read = read_flows(&text, "w.cm", &HostIds::same(4), unit).unwrap().traffic;
        let said: Vec<String> = read.warnings.iter().map(|notice| notice.text.clone()).collect();
        assert_eq!(read.flows[1].size, Bytes::ENDLESS.0, "size 0 has no end");
        (read.flows[1].start.clone(), said.join("; "))
    };
    let at = |ps| Start::At(Time(ps));
    let (start, said) = read("1000000", None);
    assert_eq!(start, at(1_000_000));
    for part in ["w.cm: starts are taken as picoseconds", "the last is at 1us", "at 1s", "\"us\""] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (start, said) = read("100.5", None);
    assert_eq!(start, at(100_500_000));
    assert!(said.contains("as microseconds, because one has a fraction"), "{said}");
    assert!(said.contains("the last is at 100.5us; as picoseconds it would be at 100ps"), "{said}");
    assert_eq!(read("7", Some(StartUnit::Microseconds)), (at(7_000_000), String::new()));
    assert_eq!(read("7", Some(StartUnit::Picoseconds)), (at(7), String::new()));
    assert_eq!(read("0", None), (at(0), String::new()), "zero is zero in any unit");
    let unit = Some(StartUnit::Microseconds);
    let found = message(read_flows("1\n0 1 3 100 1 0\n", "f.txt", &HostIds::same(4), unit));
    assert!(found.starts_with("start_unit = `us`: expected no unit: f.txt is no"), "{found}");
}

#[test]
fn htsim_refuses() {
    let with = |body: &str, connections: u32, triggers: u32| {
        format!("Nodes 8\nConnections {connections}\nTriggers {triggers}\n{body}")
    };
    let cases = [
        ("".to_string(), "c: Nodes is missing"),
        ("Nodes 8\n0->1 start 0 size 1\n".into(), "c: Connections is missing"),
        (
            "Nodes 99\nConnections 1\n".into(),
            "c:1: Nodes = `99`: expected a whole number from 2 to 16",
        ),
        ("Nodes 8\nNodes 8\nConnections 1\n".into(), "c:2: line = `Nodes 8`"),
        (with("0->1 start 0 size 1\n", 2, 0), "c:2: Connections = `2`: expected 1, the number"),
        (with("0->1 start 0 size 1\n", 1, 1), "c:3: Triggers = `1`: expected 0"),
        (
            with("0->1 start 0 size 1\nfailure switch_type TOR switch_id 0 link_id 0\n", 1, 0),
            "c:1: Failures = `0`: expected 1",
        ),
        (
            with("0->1 start 0 size 1\nfailure switch_type LEAF switch_id 0 link_id 0\n", 1, 0),
            "c:5: switch_type = `LEAF`",
        ),
        (with("0->1 start 0 size 1\nfailure TOR 0 0\n", 1, 0), "c:5: failure = `failure TOR 0 0`"),
        (with("0->9 start 0 size 1\n", 1, 0), "c:4: dst = `9`: expected a host from 0 to 7"),
        (with("3->3 start 0 size 1\n", 1, 0), "c:4: dst = `3`: expected a host other"),
        (with("0->1 start 0 size -1\n", 1, 0), "c:4: size = `-1`"),
        (with("0->1 start 0\n", 1, 0), "c:4: size is missing"),
        (with("0->1 size 1\n", 1, 0), "c:4: start is missing"),
        (with("0->1 start 0 trigger 1 size 1\n", 1, 0), "c:4: trigger = `1`: expected either"),
        (
            with("0->1 start 0 start 1 size 1\n", 1, 0),
            "c:4: start = `1`: expected each keyword once",
        ),
        (with("0->1 strat 0 size 1\n", 1, 0), "c:4: keyword = `strat`"),
        (with("0->1 id 1 start 0 size 1\n0->1 id 1 start 0 size 1\n", 2, 0), "c:5: id = `1`"),
        (with("0->1 trigger 4 size 1\n", 1, 0), "c:4: trigger = `4`: expected the id of a trigger"),
        (with("0->1 start 0 size 1 send_done_trigger 4\n", 1, 0), "c:4: send_done_trigger or"),
        (
            with("0->1 trigger 4 size 1\ntrigger id 4 oneshot\n", 1, 1),
            "c:5: oneshot trigger = `4`: expected one connection that fires it, but 0 do",
        ),
        (
            with(
                "0->1 trigger 4 size 1\n0->2 start 0 size 1 send_done_trigger 4\n\
            trigger id 4 barrier count 2\n",
                2,
                1,
            ),
            "c:6: barrier count = `2`: expected 1",
        ),
        (
            with(
                "0->1 trigger 4 size 1\n0->1 trigger 4 size 1\n0->2 start 0 size 1 \
            send_done_trigger 4\ntrigger id 4 multishot\n",
                3,
                1,
            ),
            "c:7: multishot trigger = `4`",
        ),
        (
            with(
                "0->1 trigger 4 size 1 send_done_trigger 5\n0->2 trigger 5 size 1 \
            send_done_trigger 4\ntrigger id 4 oneshot\ntrigger id 5 oneshot\n",
                2,
                2,
            ),
            "c:4: trigger = `4`: expected triggers that do not wait",
        ),
        (
            with("0->1 start 0 size 1\ntrigger id 4 twice\n", 1, 1),
            "c:5: trigger = `trigger id 4 twice`",
        ),
        (
            with("0->1 start 0 size 1\ntrigger id 4 oneshot\ntrigger id 4 oneshot\n", 1, 2),
            "c:6: trigger id = `4`: expected each trigger once",
        ),
        (with("0->1 start 0 size 1\nConections 4\n", 1, 0), "c:5: line = `Conections`"),
    ];
    for (text, expected) in cases {
        let found = message(read_htsim(&text, "c", &HostIds::same(16), None));
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
    let found =
        message(read_htsim(&with("0->1 strat 0 size 1\n", 1, 0), "c", &HostIds::same(16), None));
    assert!(found.contains("did you mean `start`?"), "{found}");
}

#[test]
fn native_lists() {
    let text = "src,dst,size_bytes,start_ns,transport,class\n1,0,10,2.5,,long\n0, 1, 20, 0, ren,\n";
    let traffic = read_csv(text, "f.csv", &HostIds::same(2)).unwrap();
    let named =
        FlowSpec { transport: Some("ren".into()), ..flow(0, 1, 20, 0, FlowClass::Background) };
    assert_eq!(traffic.flows, [named, flow(1, 0, 10, 2500, FlowClass::Long)]);
    let header = "src,dst,size_bytes,start_ns";
    let cases = [
        ("".to_string(), "f: header is missing"),
        ("src,dst,size,start_ns\n".into(), "f:1: header = `src,dst,size,start_ns`"),
        (
            format!("{header},clas\n"),
            "f:1: header = `clas`: did you mean `class`? Expected one of class, transport, priority, until_ns, each once",
        ),
        (format!("{header},class,class\n"), "f:1: header = `class`"),
        (format!("{header}\n"), "f: flows = `0`: expected at least one flow"),
        (format!("{header}\n0,1,5\n"), "f:2: line = `0,1,5`: expected 4 columns"),
        (format!("{header}\n0,1,5,0\n0,2,5,0\n"), "f:3: dst = `2`: expected a host from 0 to 1"),
        (format!("{header}\n1,1,5,0\n"), "f:2: dst = `1`: expected a host other"),
        (format!("{header}\n0,1,0,0\n"), "f:2: size_bytes = `0`"),
        (format!("{header}\n0,1,1.5,0\n"), "f:2: size_bytes = `1.5`"),
        (format!("{header}\n0,1,5,-3\n"), "f:2: start_ns = `-3`"),
        (
            format!("{header},class\n0,1,5,0,incats\n"),
            "f:2: class = `incats`: did you mean `incast`? Expected one of",
        ),
        (
            format!("{header},priority\n0,1,5,0,8\n"),
            "f:2: priority = `8`: expected a whole number from 1",
        ),
        (
            format!("{header},until_ns\n0,1,5,0,9\n"),
            "f:2: until_ns = `9`: expected nothing: only a flow",
        ),
        (
            format!("{header},until_ns\n0,1,1000000000000,9,9\n"),
            "f:2: until_ns = `9`: expected a time after",
        ),
    ];
    for (text, expected) in cases {
        let found = message(read_csv(&text, "f", &HostIds::same(2)));
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
    let comma = traffic.with_transport("a,b");
    assert!(message(export_csv(&comma)).starts_with("transport = `a,b`"));
}

#[test]
fn yaps_traces() {
    let text = "0 1.0 x x 10 x x 3 1\n1 0.5 0 0 1 0 0 0 2\n";
    let traffic = read_yaps(text, "t", &HostIds::same(4)).unwrap();
    let ms = 1_000_000_000;
    let class = FlowClass::Background;
    assert_eq!(
        traffic.flows,
        [flow(0, 2, 1460, 500 * ms, class), flow(3, 1, 14_600, 1000 * ms, class)]
    );
    assert!(message(read_yaps("1 2\n", "t", &HostIds::same(4))).starts_with("t:1: line"));
    assert!(message(read_yaps("", "t", &HostIds::same(4))).starts_with("t: flows is missing"));
    let none = "1 0.5 0 0 0 0 0 0 2\n";
    assert!(message(read_yaps(none, "t", &HostIds::same(4))).starts_with("t:1: size = `0`"));
}

#[test]
fn formats_are_detected_by_content() {
    let cases = [
        ("src,dst,size_bytes,start_ns\n0,1,2,3\n", Some(WorkloadFormat::NativeFlows)),
        (HPCC, Some(WorkloadFormat::HpccFlows)),
        (CM, Some(WorkloadFormat::HtsimConnections)),
        ("1 0.5 0 0 3 0 0 0 2\n", Some(WorkloadFormat::YapsTrace)),
        ("size_bytes,cdf\n1,1\n", Some(WorkloadFormat::NativeSizes)),
        ("0 0\n10 50\n20 100\n", Some(WorkloadFormat::PercentSizes)),
        ("0 0\n10 0.5\n20 1\n", Some(WorkloadFormat::ProbabilitySizes)),
        ("6 1 0\n13 1 0.5\n20 1 1\n", Some(WorkloadFormat::ThreeColumnSizes)),
        ("12.5\n10 0.5\n20 1\n", Some(WorkloadFormat::HomaSizes)),
        ("", None),
        ("# nothing\n", None),
        ("hello\n", None),
        // Topologies belong to the fabric.
        ("6 2 5\n4 5\n0 4 100Gbps 1us 0\n", None),
        ("Nodes 16\nTiers 3\nPodsize 4\n", None),
    ];
    for (text, kind) in cases {
        assert_eq!(detect(text), kind, "{text:?}");
        if kind.is_some() {
            let crlf = text.replace('\n', "\r\n");
            assert_eq!(detect(&format!("# made by hand\r\n\r\n{crlf}")), kind, "{text:?}");
        }
    }
    let hosts = HostIds::same(16);
    assert_eq!(read_flows(CM, "c", &hosts, None).unwrap().failures.len(), 2);
    assert_eq!(read_flows(HPCC, "f", &hosts, None).unwrap().traffic.flows.len(), 3);
    let found = message(read_flows("size_bytes,cdf\n1,1\n", "s", &hosts, None));
    assert!(found.starts_with("s: content = `a size distribution`: expected a flow list"));
    assert!(message(read_flows("", "s", &hosts, None)).starts_with("s: content = `an empty file`"));
    let found = message(read_flows("# x\na b\n", "s", &hosts, None));
    assert!(found.starts_with("s:2: unknown layout = `a b`: expected a flow list"), "{found}");
}

const CSV: &str = "src,dst,size_bytes,start_ns,class\n0,1,1000,0,\n1,2,2000,5.5,long\n2,3,1,7,\n";
const YAPS: &str = "0 1.0 x x 10 x x 3 1\n1 0.5 0 0 1 0 0 0 2\n2 0.7 0 0 9 0 0 1 2\n";
const HPCC_SMALL: &str = "3\n0 1 3 100 5000 0.5\n1 2 3 200 64 0.6\n2 3 3 100 1 0.7\n";
const PERCENT: &str = "0 0\n10 50\n20 60\n30 100\n";
const PROBABILITY: &str = "0 0\n10 0.5\n20 0.75\n30 1\n";
const PACKETS: &str = "6 1 0\n13 1 0.5\n20 1 0.75\n30 1 1\n";
const HOMA: &str = "17.5\n10 0.5\n20 0.75\n30 1\n";
const SIZES_CSV: &str = "size_bytes,cdf\n10,0.5\n20,0.75\n30,1\n";

/// Broken variants of a line. None of them is valid.
fn broken(line: &str) -> Vec<String> {
    let between = if line.contains(',') { "," } else { " " };
    let words: Vec<&str> = line.split(between).collect();
    let mut all = vec!["???".to_string(), "nothing that anyone reads".to_string()];
    all.push(format!("{line}{between}7{between}7{between}7"));
    if words.len() > 2 {
        all.push(words[..2].join(between));
    }
    all.push(vec!["-1"; words.len()].join(between));
    all.push(vec!["x"; words.len()].join(between));
    all.push(vec!["99999999999999999999999"; words.len()].join(between));
    all
}

/// `text` with its `at`-th line replaced.
fn with_line(text: &str, at: usize, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[at] = line;
    lines.join("\n") + "\n"
}

#[test]
fn any_broken_line_is_reported() {
    let hosts = HostIds::same(16);
    for text in [CSV, YAPS, HPCC_SMALL, CM] {
        read_flows(text, "f", &hosts, None).expect("the sample is valid");
        let kind = detect(text);
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            for change in broken(line) {
                let found = message(read_flows(&with_line(text, at, &change), "f", &hosts, None));
                let place = format!("f:{}: ", at + 1);
                let located = found.starts_with(&place) && found.contains("xpected");
                assert!(located, "{kind:?}, `{line}` became `{change}`: {found}");
            }
        }
    }
}

#[test]
fn a_broken_line_of_a_size_table_is_reported() {
    for text in [PERCENT, PROBABILITY, PACKETS, HOMA, SIZES_CSV] {
        SizeTable::parse(text, "f").expect("the sample is valid");
        for (at, line) in text.lines().enumerate() {
            for change in broken(line) {
                let found = message(SizeTable::parse(&with_line(text, at, &change), "f"));
                let located = found.starts_with(&format!("f:{}: ", at + 1));
                assert!(located && found.contains("xpected"), "`{line}` -> `{change}`: {found}");
            }
        }
    }
}

#[test]
fn generated_arrivals_survive_both_formats() {
    let shape = Shape::racks(32, 8, Rate::from_gbps(25), None);
    let sizes = table("hadoop").unwrap();
    let mut traffic = poisson(&shape, sizes, 0.4, 2000, 5, None, WireCost::ETHERNET).unwrap();
    // Files do not say which pattern drew a flow.
    traffic.flows.iter_mut().for_each(|flow| flow.origin = Origin::Pattern);
    traffic.flows.iter_mut().for_each(|flow| flow.priority = Some(2));
    let hosts = HostIds::same(32);
    let csv = read_flows(&export_csv(&traffic).unwrap(), "a.csv", &hosts, None).unwrap();
    assert_eq!((csv.kind, csv.traffic.flows), (WorkloadFormat::NativeFlows, traffic.flows.clone()));
    let hpcc = read_flows(&export_hpcc(&traffic, &hosts).unwrap(), "a.txt", &hosts, None).unwrap();
    assert_eq!((hpcc.kind, hpcc.traffic.flows), (WorkloadFormat::HpccFlows, traffic.flows));
}

/// Sender, steps to the receiver, size, start, class.
type Row = (Range<u32>, Range<u32>, Range<u64>, Range<u64>, Range<usize>);

const ROW: Row = (0..9, 1..9, 1..1 << 53, 0..1 << 63, 0..6);

const WORDS: &str = "(Nodes|[0-9]{1,3}|->|trigger|[ ,.\n#-]|size|start|id|oneshot|\
    src,dst,|size_bytes,cdf|Connections){0,40}";

proptest! {
    #[test]
    fn lists_round_trip(rows in prop::collection::vec(ROW, 1..30)) {
        let flows = rows.iter().map(|&(src, step, size, at, class)| {
            let priority = Some(1 + class as u8);
            FlowSpec { priority, ..flow(src, (src + step) % 9, size, at, FlowClass::ALL[class]) }
        });
        let traffic = Traffic::from_flows(flows.collect(), Vec::new());
        let hosts = HostIds::same(9);
        let csv = read_csv(&export_csv(&traffic).unwrap(), "p", &hosts).unwrap();
        prop_assert_eq!(&csv.flows, &traffic.flows);
        let hpcc = read_hpcc(&export_hpcc(&traffic, &hosts).unwrap(), "p", &hosts).unwrap();
        for (read, written) in hpcc.flows.iter().zip(&traffic.flows) {
            prop_assert_eq!((read.src, read.dst), (written.src, written.dst));
            prop_assert_eq!((read.size, &read.start), (written.size, &written.start));
        }
    }

    /// After any edit of one word the file is valid or the message has file, line and expectation.
    #[test]
    fn an_edited_word_is_reported_with_its_line(
        base in prop::sample::select(vec![CSV, YAPS, HPCC_SMALL, CM]),
        position in any::<prop::sample::Index>(),
        word in "[-0-9a-z.]{0,8}|18446744073709551615|#|1e400|->|Nodes",
    ) {
        let mut words: Vec<String> =
            base.split_inclusive([' ', '\n', ',']).map(str::to_string).collect();
        let at = position.index(words.len());
        let end = words[at].chars().last().expect("not empty");
        words[at] = format!("{word}{end}");
        let text = words.concat();
        if let Err(error) = read_flows(&text, "f", &HostIds::same(16), None) {
            let found = error.to_string();
            // Only missing entries have no line.
            let whole = found.contains("is missing");
            prop_assert!(found.starts_with("f:") && (whole || error.line().is_some()), "{}", found);
            prop_assert!(found.contains("xpected"), "{}", found);
        }
    }

    #[test]
    fn readers_never_panic(text in WORDS) {
        let hosts = HostIds::same(4);
        let _ = read_flows(&text, "x", &hosts, None);
        let _ = read_htsim(&text, "x", &hosts, None);
        let _ = read_csv(&text, "x", &hosts);
        let _ = read_hpcc(&text, "x", &hosts);
        let _ = read_yaps(&text, "x", &hosts);
        let _ = SizeTable::parse(&text, "x");
        let _ = PacketTable::parse(&text, "x");
    }
}
