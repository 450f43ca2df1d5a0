//! Flows whose story is known.

use crate::run;
use incast_experiment::{Fault, Monitor, Plan, Scenario};
use incast_explain::{Difference, Explanation, Results, Selection, console, page};
use std::path::Path;
use tempfile::TempDir;

fn open(home: &TempDir, transport: Option<&str>) -> Result<Results, Fault> {
    Results::open(&home.path().join("out"), transport)
}

/// Explains a flow of a scenario's only run.
fn explained(text: &str, flow: u32) -> Explanation {
    let home = run(text);
    explain(&open(&home, None).unwrap_or_else(|fault| panic!("{fault}")), flow)
}

fn explain(results: &Results, flow: u32) -> Explanation {
    let monitor = Monitor::default();
    let mut all = results.explain(&[flow], Some(1), &monitor).unwrap_or_else(|f| panic!("{f}"));
    let one = all.explanations.remove(0);
    check(&one);
    one
}

/// What holds of every explanation: exact sums, and agreement with the columns.
fn check(all: &Explanation) {
    assert!(!all.notes.iter().any(|note| note.contains("differ")), "{:?}", all.notes);
    assert_eq!(Some(all.parts.iter().map(|part| part.ps).sum()), all.flow.fct_ps);
    for hop in &all.hops {
        let fronts: u64 = hop.fronts.iter().map(|front| front.ps).sum();
        assert_eq!(fronts, hop.waited_ps, "{hop:?}");
    }
    for wait in &all.waits {
        assert_eq!(wait.fronts.iter().map(|front| front.ps).sum::<u64>(), wait.waited_ps);
    }
    let worst = all.hops.iter().map(|hop| hop.waited_ps).max().unwrap_or(0);
    assert_eq!(worst, all.worst_port.as_ref().map_or(0, |worst| worst.1));
    if all.part("recovery") == 0 {
        let tiers = ["nic", "edge", "aggregation", "core"];
        for tier in tiers {
            let hops = all.hops.iter().filter(|hop| hop.tier == tier);
            assert_eq!(
                hops.map(|hop| hop.waited_ps).sum::<u64>(),
                all.part(&format!("queue_{tier}"))
            );
        }
    }
    assert!(console::text(all).len() > 100);
    let html = page::html(std::slice::from_ref(all));
    assert!(html.contains("</html>") && !html.contains("http:") && !html.contains("https:"));
    let code = all.verdict.iter().any(|sentence| sentence.contains('`'));
    assert!(html.contains("<code>") >= code && !html.contains('`'), "names are set as code");
}

fn says(all: &Explanation, what: &str) {
    assert!(all.verdict.iter().any(|one| one.contains(what)), "{what}: {:#?}", all.verdict);
}

fn star(hosts: u32, transport: &str, more: &str, traffic: &str) -> String {
    format!(
        "[fabric]\ntopology = \"star:{hosts}\"\n{more}[transport]\nnames = [{transport}]\n{traffic}"
    )
}

fn long(from: u32, to: u32, size: &str, start: &str) -> String {
    format!(
        "[[traffic]]\nkind = \"long\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"{size}\"\nat = \"{start}\"\n"
    )
}

/// Two flows of three packets into one port at one instant: the one whose packet leaves last has
/// found the other's packet, and one of its own, in front of it: 1538 bytes each.
#[test]
fn two_flows_into_one_port() {
    let traffic = long(1, 0, "4380B", "0us") + &long(2, 0, "4380B", "0us");
    let text = star(3, "\"trd\"", "rate = \"10Gbps\"\n", &traffic);
    let both = [explained(&text, 0), explained(&text, 1)];
    let mut fronts: Vec<u64> = vec![];
    for one in &both {
        let hop = one.hops.last().unwrap();
        assert_eq!(hop.port, "leaf0->host0");
        fronts.push(hop.fronts.iter().map(|front| front.bytes).sum());
        assert_eq!(hop.waited_ps, fronts.last().unwrap() * 800);
        let other = 1 - one.flow.id;
        let of_other: u64 =
            hop.fronts.iter().filter(|front| front.flow == Some(other)).map(|f| f.bytes).sum();
        assert!(of_other == 1_538 || of_other == 3_076, "{hop:?}");
        says(one, &format!("of flow {other}"));
        assert_eq!(one.others.len(), 1);
    }
    fronts.sort_unstable();
    assert_eq!(fronts, [2 * 1_538, 3 * 1_538]);
}

/// Two packets that wait behind the same two of another flow have waited twice as long, not for twice
/// the bytes: the sum of their waits is given in shares of time.
#[test]
fn a_packet_in_front_of_two_is_no_two_packets() {
    // By hand, 10 Gb/s and 1230.4 ns per packet: flow 1 sends two packets that are at the port of host
    // 0 first; those of flow 0 arrive while the first of them leaves, one packet apart.
    let traffic = long(1, 0, "2920B", "0us") + &long(2, 0, "2920B", "100ns");
    let text = star(3, "\"trd\"", "rate = \"10Gbps\"\n", &traffic);
    let all = explained(&text, 1);
    let [wait] = &all.waits[..] else { panic!("{:?}", all.waits) };
    // Both flows' packets take turns at the port: the first waits for one that is in transmission,
    // the second for that of its own flow and one of the other.
    let other: u64 = wait.fronts.iter().filter(|f| f.flow == Some(0)).map(|f| f.ps).sum();
    let own: u64 = wait.fronts.iter().filter(|f| f.flow == Some(1)).map(|f| f.ps).sum();
    assert_eq!((other + own, wait.packets), (wait.waited_ps, 2));
    let text = console::text(&all);
    let line = text.lines().skip_while(|line| !line.contains("together waited")).nth(2);
    let line = line.expect("what they waited for");
    let share = |ps: u64| format!("for {}", console::percent(ps as f64 / wait.waited_ps as f64));
    assert!(line.contains(&format!("flow 0 {}", share(other))), "{line}");
    assert!(own == 0 || line.contains(&format!("its own packets {}", share(own))), "{line}");
    assert!(!line.contains(" B of"), "{line}");
}

/// A trace that has reached its limit is said to be cut off, with when.
#[test]
fn a_trace_beyond_its_limit_is_announced() {
    let traffic = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"64KB\"\n";
    let text = star(5, "\"dctcp\"", "", traffic) + "[output.trace]\nflows = [2]\nlimit = 50\n";
    let plan = Plan::new(Scenario::parse(&text, "test", &[]).unwrap()).unwrap();
    let monitor = Monitor::default();
    let (run, _) = incast_experiment::execute(&plan, &plan.cases[0], vec![], 1, &monitor).unwrap();
    let all = Explanation::of(&run, 2);
    let note = all.notes.iter().find(|note| note.contains("cut off at 50 events"));
    assert!(note.is_some_and(|note| note.contains("µs into the run")), "{:?}", all.notes);
    assert!(run.warnings().iter().any(|one| one.to_string().contains("cut off at 50 events")));
}

/// 24 flows of 64 KB to one host under DCTCP: some lose the end of their first window and wait for
/// their retransmission timer, 10 ms.
#[test]
fn an_incast_that_waits_for_a_timeout() {
    let traffic = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"64KB\"\n";
    let home = run(&star(25, "\"dctcp\"", "", traffic));
    let results = open(&home, None).unwrap_or_else(|fault| panic!("{fault}"));
    let slowest = Selection { slowest: 1, ..Selection::default() };
    let flow = results.select(&slowest).unwrap_or_else(|fault| panic!("{fault}"))[0];
    let all = explain(&results, flow);
    assert!(all.part("recovery") > 9_000_000_000, "{:?}", all.parts);
    says(&all, "retransmission timeout, not queueing");
    says(&all, "dropped at leaf0->host0");
    let longest = all.silences.iter().max_by_key(|one| one.ps).unwrap();
    assert!(longest.ended_by == "timeout" && longest.retransmission, "{longest:?}");
    assert!((9_000_000_000..11_000_000_000).contains(&longest.ps), "{longest:?}");
    assert!(all.losses.iter().any(|loss| loss.how == "dropped" && loss.packet == "Data"));
    assert!(all.control.iter().any(|point| point.event == "timeout"));
}

/// Three flows fill the port of host 4; PFC pauses the links behind it, and a flow to host 5, whose
/// own port is idle, waits with them.
#[test]
fn an_innocent_flow_behind_a_paused_link() {
    let hot: String = (0..3).map(|from| long(from, 4, "300KB", "0us")).collect();
    let text = format!(
        "[fabric]\ntopology = \"leaf-spine:2x1x4\"\nrate = \"10Gbps\"\nuplink_rate = \"40Gbps\"\n\
         buffer = \"16KiB\"\npfc = {{ allow_cycles = true }}\n[transport]\nnames = [\"dctcp\"]\n{hot}{}",
        long(3, 5, "100KB", "50us")
    );
    let all = explained(&text, 3);
    assert!(all.flow.slowdown.unwrap() > 1.2, "{:?}", all.flow);
    says(&all, "Head-of-line blocking");
    let holders: Vec<_> = all.pauses.iter().flat_map(|pause| &pause.holders).collect();
    let culprit = |flow: u32| flow < 3;
    assert!(
        holders.iter().any(|h| culprit(h.flow) && h.port == "leaf1->host4"),
        "{:#?}",
        all.pauses
    );
    assert!(all.pauses.iter().any(|pause| pause.waited_ps > 0 || pause.paused_ps > 0));
}

/// A receiver that divides its grants among four senders: they wait for grants, and say so.
#[test]
fn flows_held_by_grants() {
    let traffic = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"300KB\"\n";
    let all = explained(&star(5, "\"trd\"", "", traffic), 2);
    assert!(all.part("blocked_grant") > all.flow.fct_ps.unwrap() / 3, "{:?}", all.parts);
    says(&all, "waited for a grant");
    assert!(all.control.iter().any(|point| point.event == "decision" && point.age_ps.is_some()));
    let credit = explained(&star(5, "\"expresspass\"", "", traffic), 2);
    assert!(credit.part("blocked_credit") > 0, "{:?}", credit.parts);
    assert!(credit.control.iter().any(|point| point.rate_bps.is_some()));
}

/// Under Homa a short flow that starts later overtakes the packets of a long one.
#[test]
fn a_short_flow_overtakes_a_long_one() {
    let traffic = long(1, 0, "2MB", "0us") + &long(2, 0, "2MB", "0us") + &long(3, 0, "5KB", "40us");
    let home = run(&star(4, "\"homa\"", "", &traffic));
    let results = open(&home, None).unwrap_or_else(|fault| panic!("{fault}"));
    let overtaken = (0..2).any(|flow| {
        let all = explain(&results, flow);
        let fronts = all.waits.iter().flat_map(|wait| &wait.fronts);
        fronts.into_iter().any(|front| front.why == "overtaken" && front.flow == Some(2))
    });
    assert!(overtaken);
}

/// What comes after the end of a flow is not simulated again, and the flow is the stored one all the same.
#[test]
fn a_run_is_repeated_until_the_flow_has_ended() {
    let traffic = long(1, 0, "9KB", "0us") + &long(2, 0, "20MB", "5us");
    for transport in ["dctcp", "ndp", "expresspass"] {
        let home = run(&star(3, &format!("\"{transport}\""), "", &traffic));
        let results = open(&home, None).unwrap_or_else(|fault| panic!("{fault}"));
        let told = |flow: u32| {
            let all = results.explain(&[flow], Some(1), &Monitor::default());
            all.unwrap_or_else(|fault| panic!("{fault}"))
        };
        let (short, long) = (told(0), told(1));
        assert_eq!(short.explanations[0].notes, Vec::<String>::new(), "{transport}");
        assert_eq!(long.explanations[0].notes, Vec::<String>::new(), "{transport}");
        let [early, late] = [&short, &long].map(|one| one.run.record.ended.0);
        assert!(early * 20 < late, "{transport}: {early} of {late} ps");
        let sent = [&short, &long].map(|one| one.run.record.packet_hops);
        assert!(sent[0] * 20 < sent[1], "{transport}: {sent:?}");
    }
}

/// The parts of the difference add up to the difference of the completion times.
#[test]
fn the_difference_of_two_transports() {
    let traffic = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"64KB\"\n";
    let home = run(&star(25, "\"dctcp\", \"ren\"", "", traffic));
    let fault = open(&home, None).err().expect("two transports").to_string();
    assert!(fault.contains("--transport: dctcp, ren"), "{fault}");
    let fault = open(&home, Some("dctpc")).err().expect("no such transport").to_string();
    assert!(fault.contains("did you mean `dctcp`?"), "{fault}");
    let of = |name| open(&home, Some(name)).unwrap_or_else(|fault| panic!("{fault}"));
    let flow = of("dctcp").select(&Selection::default()).unwrap_or_else(|f| panic!("{f}"))[0];
    let (a, b) = (explain(&of("dctcp"), flow), explain(&of("ren"), flow));
    let times = [a.flow.fct_ps.unwrap() as i64, b.flow.fct_ps.unwrap() as i64];
    let difference = Difference::of(a, b);
    assert_eq!(difference.parts.iter().map(|part| part.more_ps).sum::<i64>(), times[1] - times[0]);
    let text = difference.text();
    assert!(text.contains("recovery: -") && text.contains("with dctcp"), "{text}");
    assert!(page::html_of_difference(&difference).contains("</html>"));
}

/// What is wrong is said with what to do.
#[test]
fn bad_input_is_told() {
    let traffic = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"20KB\"\n";
    let home = run(&star(5, "\"trd\"", "", traffic));
    let out = home.path().join("out");
    let told = |result: Result<Vec<u32>, Fault>, what: &[&str]| {
        let text = result.expect_err("it is refused").to_string();
        what.iter().for_each(|what| assert!(text.contains(what), "{what}: {text}"));
    };
    let pick = |selection: Selection| {
        Results::open(&out, None).and_then(|results| results.select(&selection))
    };
    let flows = Selection { flows: vec![1, 99], ..Selection::default() };
    told(pick(flows), &["--flow = `99`", "expected 0 to 3", "nearest is 3"]);
    told(pick(Selection { slowest: 0, ..Selection::default() }), &["--slowest = `0`", "1 or more"]);
    let sizes = Selection { sizes: Some((1, 2)), ..Selection::default() };
    told(pick(sizes), &["20000 to 20000 bytes"]);
    let absent = |path: &Path| Results::open(path, None).map(|_| vec![]);
    told(absent(home.path()), &["not a results folder", "manifest.json"]);
    let file = out.join("flows.parquet");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    told(absent(&out), &["truncated", "incast run"]);
    std::fs::remove_file(&file).unwrap();
    told(absent(&out), &["no flows.parquet", "incast run"]);
    // Of another version, and not what was stored.
    std::fs::write(&file, whole).unwrap();
    let manifest = out.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let own = format!("\"version\": \"{}\"", incast_experiment::VERSION);
    let other = text.replace(&own, "\"version\": \"0.0.1\"").replace("\"20KB\"", "\"21KB\"");
    assert_ne!(text, other);
    std::fs::write(&manifest, other).unwrap();
    let results = Results::open(&out, None).unwrap_or_else(|fault| panic!("{fault}"));
    let all = results.explain(&[0], Some(1), &Monitor::default()).unwrap_or_else(|f| panic!("{f}"));
    let notes = all.explanations[0].notes.join("\n");
    assert!(notes.contains("0.0.1") && notes.contains("fct_ps"), "{notes}");
}

/// A run in real time is never the same twice.
#[test]
fn a_run_in_real_time_is_not_repeated() {
    let traffic = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"5KB\"\n";
    let home = run(&star(3, "\"trd\"", "", traffic));
    let manifest = home.path().join("out/manifest.json");
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    json["scenario"]["run"]["world"] = "dataplane".into();
    json["scenario"]["run"]["threads"] = 1.into();
    json["scenario"]["dataplane"] = serde_json::json!({ "clock": "compensated" });
    std::fs::write(&manifest, json.to_string()).unwrap();
    let results = open(&home, None).unwrap_or_else(|fault| panic!("{fault}"));
    let fault = results.explain(&[0], Some(1), &Monitor::default()).err().expect("it is refused");
    assert!(fault.to_string().contains("real time"), "{fault}");
}

/// A link fails under NDP: of the packets on it no header comes back, and the timer of 1 ms finds them.
/// The packet that completes a flow takes the other spine.
#[test]
fn a_timer_of_ndp_ends_the_silence_after_a_failure() {
    let text = "[fabric]\ntopology = \"leaf-spine:2x2x4\"\n[[fabric.failures]]\nat = \"100us\"\n\
                a = \"leaf0\"\nb = \"spine1\"\n[transport]\nnames = [\"ndp\"]\n[[traffic]]\n\
                kind = \"permutation\"\nsize = \"1MB\"\n";
    let home = run(text);
    let results = open(&home, None).unwrap_or_else(|fault| panic!("{fault}"));
    let slowest = Selection { slowest: 1, ..Selection::default() };
    let flow = results.select(&slowest).unwrap_or_else(|fault| panic!("{fault}"))[0];
    let all = explain(&results, flow);
    assert!(all.control.iter().any(|point| point.event == "timeout"), "{:?}", all.control);
    assert!(
        !all.verdict.iter().any(|says| says.contains("without a timeout")),
        "{:?}",
        all.verdict
    );
    let longest = all.silences.iter().max_by_key(|one| one.ps).expect("a silence");
    assert!(longest.ended_by == "timeout" && longest.retransmission, "{longest:?}");
    let (way, hosts) = (all.way(), [all.flow.src, all.flow.dst]);
    assert!(way.starts_with(&format!("host{}>leaf", hosts[0])), "{way}");
    assert!(way.ends_with(&format!(">host{}", hosts[1])) && !way.contains("spine1"), "{way}");
}

/// The last packets of a burst are lost under a receiver-driven transport: its receiver's timer asks.
#[test]
fn a_timer_of_the_receiver_ends_a_silence() {
    let traffic = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"20KB\"\n";
    let home = run(&star(9, "\"amrt\"", "", traffic));
    let results = open(&home, None).unwrap_or_else(|fault| panic!("{fault}"));
    let asked = (0..8).map(|flow| explain(&results, flow)).find(|all| {
        let mut silences = all.silences.iter();
        silences.any(|one| one.ended_by == "receiver timeout" && one.retransmission)
    });
    let asked = asked.expect("the end of some burst is lost");
    let ends = asked.control.iter().filter(|point| point.event == "timeout");
    assert!(ends.map(|point| point.end).any(|end| end == "destination"), "{:?}", asked.control);
}
