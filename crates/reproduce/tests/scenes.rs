//! The scenes of the laboratory: their text says what their scenario gives.
//!
//! `explorer/scenes/NAME/scene.toml` names its numbers as `[[fact]]`s, and the text refers to them as
//! `{name}`. What it says without a number is a `[[claim]]`: the words, and a number with its bounds
//! that makes them true. `given` lists the words of definitions. Here every scenario runs, each fact
//! has to say what was measured, with the digits that it has, each claim has to hold, and every
//! sentence has to have one of the three.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::Run;
use incast_reproduce::Measure;
use incast_transport::{Bin, Span};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// `scene.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scene {
    title: String,
    summary: String,
    ask: String,
    text: String,
    watch: Vec<String>,
    question: String,
    answer: String,
    given: Vec<String>,
    view: View,
    #[serde(default)]
    case: Vec<Case>,
    #[serde(default)]
    r#try: Vec<Case>,
    fact: Vec<Fact>,
    claim: Vec<Claim>,
}

/// What the page shows at first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct View {
    port: String,
    #[serde(default)]
    ports: Vec<String>,
    #[serde(default)]
    flows: Vec<usize>,
    transport: String,
    speed: String,
}

/// The scenario with some keys changed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    set: Vec<String>,
}

/// A number of the text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    name: String,
    says: String,
    case: Option<String>,
    transport: Option<String>,
    measure: Option<Measure>,
    own: Option<Own>,
    /// A place in the manifest, as a JSON pointer.
    key: Option<String>,
    /// Whether it is the border of another fact's window.
    #[serde(default)]
    constant: bool,
}

/// What the text says without a number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    /// The words, as they stand in the text.
    says: Vec<String>,
    case: Option<String>,
    transport: Option<String>,
    measure: Option<Measure>,
    own: Option<Own>,
    least: Option<f64>,
    most: Option<f64>,
}

/// Numbers that claims about papers do not need. Where several ports are meant, `leaf->spine` is every
/// port from a node whose name begins with `leaf` to one whose name begins with `spine`.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Own {
    SlowestUs,
    FastestUs,
    IdealUs {
        flow: usize,
    },
    BaseRttUs,
    /// Share of the slowest flow's completion time that is recovery from losses.
    RecoveryOfSlowest,
    /// Flows that lost longer than this to recovery from losses.
    Waiting {
        over: String,
    },
    /// Flows that were complete at an instant.
    FinishedBy {
        at: String,
    },
    /// Packets that the port has marked.
    Marks {
        port: String,
    },
    /// Share of the time that the least used of the ports transmits.
    LeastUse {
        port: String,
        from: String,
        to: String,
    },
    /// The same of the most used one.
    MostUse {
        port: String,
        from: String,
        to: String,
    },
    /// Charged bytes that the ports sent together.
    SentMb {
        port: String,
    },
    /// Those of the port that sent least.
    LeastSentMb {
        port: String,
    },
    /// Those of the port that sent most.
    MostSentMb {
        port: String,
    },
    /// Mean backlog of the port in the interval in which it is smallest.
    LeastQueueKb {
        port: String,
        from: String,
        to: String,
    },
    /// When the port was paused first, if that pause lasted to the end of its interval.
    FirstPauseUs {
        port: String,
    },
    /// How many of the ports were paused.
    PausedPorts {
        port: String,
    },
    /// Completion of the last of these flows.
    LastEndUs {
        flows: Vec<usize>,
    },
    /// From `from` to the end of the first interval of an RTT in which the port is used for 95 % or
    /// more all the time.
    FullAfterUs {
        port: String,
        from: String,
    },
    /// Time in which the port was paused.
    PausedUs {
        port: String,
    },
    /// Time that the port needs for the mean backlog between two instants.
    WaitUs {
        port: String,
        from: String,
        to: String,
    },
    /// Time that the port needs for all flows to its host.
    DrainUs {
        port: String,
    },
    /// Time that the links of the ports need together for the payload of all flows.
    FairUs {
        port: String,
    },
    /// Payload for a host.
    ReceivedKb {
        host: u32,
    },
    /// Payload that a transport delivered over the length of the run.
    CarriedGbps {
        carrier: String,
    },
}

fn span(text: &str) -> Span {
    text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn port(run: &Run, name: &str) -> usize {
    let found = run.ports.iter().position(|port| port.name == name);
    found.unwrap_or_else(|| panic!("there is no port {name}"))
}

/// Ports of a name, or whose ends' names begin so.
fn ports(run: &Run, wanted: &str) -> Vec<usize> {
    let (from, to) = wanted.split_once("->").expect("a port");
    let fits = |name: &str| {
        let (a, b) = name.split_once("->").expect("a port");
        name == wanted || a.starts_with(from) && b.starts_with(to)
    };
    let found: Vec<usize> = (0..run.ports.len()).filter(|at| fits(&run.ports[*at].name)).collect();
    assert!(!found.is_empty(), "there is no port {wanted}");
    found
}

/// Charged megabytes that each of some ports sent.
fn sent(run: &Run, wanted: &str) -> Vec<f64> {
    let all = ports(run, wanted).into_iter();
    all.map(|port| run.record.ports[port].total.sent_bytes as f64 / 1e6).collect()
}

/// The intervals of a port between two instants.
fn inside<'a>(
    run: &'a Run,
    name: &str,
    from: &str,
    to: &str,
) -> impl Iterator<Item = (u64, u64, Bin)> + use<'a> {
    let (from, to) = (span(from).0, span(to).0);
    bins(run, name).filter(move |bin| bin.0 >= from && bin.0 + bin.1 <= to)
}

/// Share of the time between two instants in which each of some ports transmits.
fn uses(run: &Run, wanted: &str, from: &str, to: &str) -> Vec<f64> {
    let one = |port: usize| {
        let all = inside(run, &run.ports[port].name, from, to);
        let add = |(bytes, time), (_, width, bin): (u64, u64, Bin)| {
            (bytes + bin.sent_bytes, time + width)
        };
        let (bytes, time) = all.fold((0, 0), add);
        bytes as f64 * 8e12 / run.ports[port].rate.0 as f64 / time as f64
    };
    ports(run, wanted).into_iter().map(one).collect()
}

fn least(all: impl IntoIterator<Item = f64>) -> f64 {
    all.into_iter().min_by(f64::total_cmp).expect("one or more")
}

fn most(all: impl IntoIterator<Item = f64>) -> f64 {
    all.into_iter().max_by(f64::total_cmp).expect("one or more")
}

/// Microseconds that the port needs for some charged bytes.
fn transmission(run: &Run, name: &str, bytes: f64) -> f64 {
    bytes * 8e6 / run.ports[port(run, name)].rate.0 as f64
}

/// The intervals of a port: start, length, values.
fn bins<'a>(run: &'a Run, name: &str) -> impl Iterator<Item = (u64, u64, Bin)> + use<'a> {
    let port = port(run, name);
    (0..run.intervals()).map(move |index| {
        let (start, width) = run.interval(index);
        (start.0, width.0, run.bin(port, index))
    })
}

/// Completed flows with their completion times in ps, fastest first.
fn times(run: &Run) -> Vec<(u64, usize)> {
    let done = (0..run.flows.len()).filter_map(|flow| Some((run.fct(flow)?.0, flow)));
    let mut all: Vec<_> = done.collect();
    all.sort_unstable();
    all
}

fn full_after(run: &Run, name: &str, from: u64) -> f64 {
    let rate = run.ports[port(run, name)].rate.0 as f64;
    let full = |(_, width, bin): &(u64, u64, Bin)| {
        bin.sent_bytes as f64 * 8e12 / *width as f64 / rate >= 0.95
    };
    let after: Vec<_> = bins(run, name).filter(|bin| bin.0 >= from).collect();
    let (_, width, _) = after[0];
    let rtt = run.base_rtt.0.div_ceil(width) as usize;
    let at = after.windows(rtt).find(|bins| bins.iter().all(full)).expect("it fills");
    (at[0].0 + at[0].1 - from) as f64 / 1e6
}

fn wait(run: &Run, name: &str, from: u64, to: u64) -> f64 {
    let inside = bins(run, name).filter(|bin| bin.0 >= from && bin.0 + bin.1 <= to);
    let (area, time) = inside.fold((0.0, 0.0), |(area, time), (_, width, bin)| {
        (area + bin.backlog_area as f64, time + width as f64)
    });
    transmission(run, name, area / time)
}

fn drain(run: &Run, name: &str) -> f64 {
    let host: u32 = name.rsplit("host").next().unwrap().parse().unwrap();
    let charged = |size: u64| size + size.div_ceil(1460) * 78;
    let to = run.flows.iter().filter(|flow| flow.dst == host);
    transmission(run, name, to.map(|flow| charged(flow.size_bytes)).sum::<u64>() as f64)
}

fn carried(run: &Run, carrier: &str) -> f64 {
    let of = run.transports.iter().position(|name| name == carrier).unwrap();
    let all = run.flows.iter().zip(&run.record.flows);
    let its = all.filter(|(meta, _)| meta.transport as usize == of);
    let bytes: u64 = its.map(|(_, record)| record.delivered).sum();
    bytes as f64 * 8e3 / run.record.ended.0 as f64
}

impl Own {
    fn of(&self, run: &Run) -> f64 {
        match self {
            Own::SlowestUs => times(run).last().unwrap().0 as f64 / 1e6,
            Own::FastestUs => times(run)[0].0 as f64 / 1e6,
            Own::IdealUs { flow } => run.flows[*flow].ideal_fct.0 as f64 / 1e6,
            Own::BaseRttUs => run.base_rtt.0 as f64 / 1e6,
            Own::RecoveryOfSlowest => {
                let (fct, flow) = *times(run).last().unwrap();
                run.record.flows[flow].parts.unwrap().recovery as f64 / fct as f64
            }
            Own::Waiting { over } => {
                let parts = run.record.flows.iter().filter_map(|flow| flow.parts);
                parts.filter(|parts| parts.recovery > span(over).0).count() as f64
            }
            Own::FinishedBy { at } => {
                let done = run.record.flows.iter().filter_map(|flow| flow.completed);
                done.filter(|end| end.0 <= span(at).0).count() as f64
            }
            Own::Marks { port: name } => run.record.ports[port(run, name)].total.marks as f64,
            Own::LeastUse { port, from, to } => least(uses(run, port, from, to)),
            Own::MostUse { port, from, to } => most(uses(run, port, from, to)),
            Own::SentMb { port } => sent(run, port).iter().sum(),
            Own::LeastSentMb { port } => least(sent(run, port)),
            Own::MostSentMb { port } => most(sent(run, port)),
            Own::LeastQueueKb { port, from, to } => {
                let mean =
                    |(_, width, bin): (u64, u64, Bin)| bin.backlog_area as f64 / width as f64 / 1e3;
                least(inside(run, port, from, to).map(mean))
            }
            Own::FirstPauseUs { port } => {
                let first = bins(run, port).find(|(_, _, bin)| bin.paused > 0);
                let (start, width, bin) = first.expect("it is paused");
                (start + width - bin.paused) as f64 / 1e6
            }
            Own::PausedPorts { port } => {
                let paused = |port: &&usize| run.record.ports[**port].total.paused > 0;
                ports(run, port).iter().filter(paused).count() as f64
            }
            Own::LastEndUs { flows } => {
                let ends = flows.iter().map(|flow| run.record.flows[*flow].completed.unwrap().0);
                ends.max().unwrap() as f64 / 1e6
            }
            Own::FullAfterUs { port, from } => full_after(run, port, span(from).0),
            Own::PausedUs { port: name } => {
                run.record.ports[port(run, name)].total.paused as f64 / 1e6
            }
            Own::WaitUs { port, from, to } => wait(run, port, span(from).0, span(to).0),
            Own::DrainUs { port } => drain(run, port),
            Own::FairUs { port } => {
                let rate: u64 = ports(run, port).iter().map(|at| run.ports[*at].rate.0).sum();
                let bytes: u64 = run.flows.iter().map(|flow| flow.size_bytes).sum();
                bytes as f64 * 8e6 / rate as f64
            }
            Own::ReceivedKb { host } => {
                let to = run.flows.iter().filter(|flow| flow.dst == *host);
                to.map(|flow| flow.size_bytes as f64).sum::<f64>() / 1e3
            }
            Own::CarriedGbps { carrier } => carried(run, carrier),
        }
    }

    /// The unit that its name ends in.
    fn unit(&self) -> &'static str {
        match self {
            Own::RecoveryOfSlowest
            | Own::Waiting { .. }
            | Own::FinishedBy { .. }
            | Own::Marks { .. }
            | Own::LeastUse { .. }
            | Own::MostUse { .. }
            | Own::PausedPorts { .. } => "",
            Own::SentMb { .. } | Own::LeastSentMb { .. } | Own::MostSentMb { .. } => "MB",
            Own::ReceivedKb { .. } | Own::LeastQueueKb { .. } => "KB",
            Own::CarriedGbps { .. } => "Gb/s",
            _ => "us",
        }
    }
}

/// From a measure's unit to the unit of the text.
fn factor(from: &str, to: &str) -> f64 {
    match (from, to) {
        (a, b) if a == b => 1.0,
        (_, "") => 1.0,
        ("us", "µs") => 1.0,
        ("us", "ms") => 1e-3,
        ("", "%") => 100.0,
        _ => panic!("{from} is not printed as {to}"),
    }
}

/// The runs of a scene, made when first asked for.
struct Runs<'a> {
    text: String,
    cases: BTreeMap<&'a str, &'a [String]>,
    made: BTreeMap<String, Vec<(String, Run)>>,
}

impl Runs<'_> {
    fn plan(&self, case: &str) -> Plan {
        let set = *self.cases.get(case).unwrap_or_else(|| panic!("there is no case {case}"));
        let scenario = Scenario::parse(&self.text, "scenario.toml", set);
        scenario.and_then(Plan::new).unwrap_or_else(|fault| panic!("{case}: {fault}"))
    }

    fn of(&mut self, case: &str) -> &[(String, Run)] {
        if !self.made.contains_key(case) {
            let plan = self.plan(case);
            let runs = plan.cases.iter().map(|case| {
                let run = execute(&plan, case, vec![], 1, &Monitor::default());
                (case.label.clone(), run.unwrap_or_else(|fault| panic!("{fault}")).0)
            });
            let runs = runs.collect();
            self.made.insert(case.to_string(), runs);
        }
        &self.made[case]
    }

    /// The run that a number is of: of its case, or the scene's first; of its transport, or the first.
    fn run(&mut self, case: Option<&str>, transport: Option<&str>, first: &str) -> &Run {
        let case = case.unwrap_or(first);
        let runs = self.of(case);
        let Some(wanted) = transport else { return &runs[0].1 };
        let found = runs.iter().find(|(label, _)| label == wanted);
        &found.unwrap_or_else(|| panic!("{case}: no run of {wanted}")).1
    }
}

/// A number of a run, and its unit.
fn number(measure: Option<&Measure>, own: Option<&Own>, run: &Run) -> (f64, &'static str) {
    match (measure, own) {
        (Some(measure), None) => {
            (measure.of(run).unwrap_or_else(|| panic!("no {}", measure.id())), measure.kind.unit())
        }
        (None, Some(own)) => (own.of(run), own.unit()),
        _ => panic!("expected a measure or an own number"),
    }
}

/// What a fact should say.
fn measured(fact: &Fact, run: &Run) -> String {
    if let Some(key) = &fact.key {
        let manifest = serde_json::json!(run.manifest);
        let value = manifest.pointer(key).unwrap_or_else(|| panic!("no {key} in the manifest"));
        return value.as_str().map_or_else(|| value.to_string(), str::to_string);
    }
    let (value, unit) = number(fact.measure.as_ref(), fact.own.as_ref(), run);
    let (digits, shown) = fact.says.split_once(' ').unwrap_or((&fact.says, ""));
    let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    format!("{:.decimals$} {shown}", value * factor(unit, shown)).trim_end().to_string()
}

impl Claim {
    /// What is wrong with it in a run.
    fn wrong(&self, run: &Run) -> Option<String> {
        assert!(self.least.or(self.most).is_some(), "{:?}: expected bounds", self.says);
        let (value, _) = number(self.measure.as_ref(), self.own.as_ref(), run);
        let (least, most) =
            (self.least.unwrap_or(f64::NEG_INFINITY), self.most.unwrap_or(f64::INFINITY));
        let holds = (least..=most).contains(&value);
        (!holds).then(|| format!("{:?}: expected {least} to {most}, is {value}", self.says))
    }
}

/// Sentences that have neither a fact nor words of a claim or a definition; sources in parentheses
/// apart.
fn unfounded<'a>(text: &'a str, phrases: &[&str]) -> Vec<&'a str> {
    let sentences = text.split(". ").flat_map(|part| part.split("? ")).map(str::trim);
    let founded = |one: &str| {
        one.contains('{') || one.starts_with('(') || phrases.iter().any(|own| one.contains(own))
    };
    sentences.filter(|one| !one.is_empty() && !founded(one)).collect()
}

/// The `{names}` of a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).map(|rest| rest.split_once('}').expect("a closing brace").0)
}

/// No number with a unit stands in the text by itself, where nothing would hold it.
fn only_facts(text: &str) {
    let units =
        ["us", "µs", "ms", "s", "%", "KB", "MB", "KiB", "Gb/s", "packets", "hosts", "flows"];
    let parts = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    let outside = parts.collect::<Vec<_>>().join("#");
    let words: Vec<&str> = outside.split_whitespace().collect();
    for two in words.windows(2) {
        let number = two[0].chars().all(|c| c.is_ascii_digit() || c == '.');
        let word = two[1].trim_end_matches([',', '.', ';', ':', ')']);
        assert!(!(number && units.contains(&word)), "`{} {word}` is not a fact", two[0]);
    }
}

/// Facts that do not say what is measured.
fn wrong(path: &Path) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    let scene: Scene = toml::from_str(&read("scene.toml")).unwrap();
    let texts = || {
        let head =
            [&scene.title, &scene.summary, &scene.ask, &scene.text, &scene.question, &scene.answer];
        head.into_iter().chain(&scene.watch)
    };
    let used: BTreeSet<&str> = texts().flat_map(|text| names(text)).collect();
    let known: BTreeSet<&str> = scene.fact.iter().map(|fact| fact.name.as_str()).collect();
    assert_eq!(used, known, "{path:?}: facts, and names in the text");
    for text in texts() {
        assert!(!text.is_empty());
        only_facts(text);
    }
    let claimed = scene.claim.iter().flat_map(|claim| &claim.says).chain(&scene.given);
    let phrases: Vec<&str> = claimed.map(String::as_str).collect();
    for phrase in &phrases {
        assert!(texts().any(|text| text.contains(phrase)), "{path:?}: nobody says `{phrase}`");
    }
    let asserting = [&scene.summary, &scene.text, &scene.answer];
    let asserting = asserting.into_iter().chain(&scene.watch);
    let bare: Vec<&str> = asserting.flat_map(|text| unfounded(text, &phrases)).collect();
    assert!(bare.is_empty(), "{path:?}: neither tested nor given: {bare:#?}");
    let alone = [Case { name: String::new(), set: vec![] }];
    let cases: &[Case] = if scene.case.is_empty() { &alone } else { &scene.case };
    let all = cases.iter().chain(&scene.r#try);
    let sets = all.map(|case| (case.name.as_str(), case.set.as_slice())).collect();
    let mut runs = Runs { text: read("scenario.toml"), cases: sets, made: BTreeMap::new() };
    for case in &scene.r#try {
        runs.plan(&case.name);
    }
    for case in cases {
        let mut all = runs.of(&case.name).iter();
        let run = all.find(|(label, _)| *label == scene.view.transport);
        let run = &run.unwrap_or_else(|| panic!("no run of {}", scene.view.transport)).1;
        scene.view.ports.iter().chain([&scene.view.port]).for_each(|name| {
            port(run, name);
        });
        assert!(scene.view.flows.iter().all(|flow| *flow < run.flows.len()));
        assert!(span(&scene.view.speed).0 > 0);
        assert!(run.manifest.fabric.hosts <= 128);
    }
    let facts = scene.fact.iter().filter(|fact| !fact.constant);
    let differs = facts.filter_map(|fact| {
        let run = runs.run(fact.case.as_deref(), fact.transport.as_deref(), &cases[0].name);
        let should = measured(fact, run);
        let is = format!("{path:?}: {} says {}, is {should}", fact.name, fact.says);
        (should != fact.says).then_some(is)
    });
    let mut all: Vec<String> = differs.collect();
    all.extend(scene.claim.iter().filter_map(|claim| {
        let run = runs.run(claim.case.as_deref(), claim.transport.as_deref(), &cases[0].name);
        Some(format!("{path:?}: {}", claim.wrong(run)?))
    }));
    all
}

/// Every fact, claim and sentence of every scene.
#[test]
fn scenes_say_what_their_scenarios_give() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../explorer/scenes");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    all.sort();
    assert_eq!(all.len(), 11);
    let wrong: Vec<String> = all.iter().flat_map(|path| wrong(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A number with a unit that is no fact is refused.
#[test]
#[should_panic(expected = "`12 ms` is not a fact")]
fn a_bare_number_is_refused() {
    only_facts("it takes {long}, or 12 ms, with a window of 10.");
}

/// A sentence that nothing holds is found.
#[test]
fn a_sentence_without_ground_is_found() {
    let text = "It takes {long}. Queues are lines of packets. It rains? (REN, Figure 1.)";
    assert_eq!(unfounded(text, &["lines of packets"]), ["It rains"]);
}
