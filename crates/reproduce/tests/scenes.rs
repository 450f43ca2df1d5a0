//! The scenes of the laboratory: every number in their text is what their scenario gives.
//!
//! `explorer/scenes/NAME/scene.toml` names its numbers as `[[fact]]`s, and the text refers to them as
//! `{name}`. Here every scenario runs, and each fact has to say what was measured, with the digits
//! that it has.

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
    text: String,
    watch: Vec<String>,
    question: String,
    answer: String,
    view: View,
    #[serde(default)]
    case: Vec<Case>,
    #[serde(default)]
    r#try: Vec<Case>,
    fact: Vec<Fact>,
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

/// Numbers that claims about papers do not need.
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
            Own::RecoveryOfSlowest => "",
            Own::ReceivedKb { .. } => "KB",
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

    /// The run that a fact is about: of its case, or the scene's first; of its transport, or the
    /// first.
    fn run(&mut self, fact: &Fact, first: &str) -> &Run {
        let case = fact.case.as_deref().unwrap_or(first);
        let runs = self.of(case);
        let Some(wanted) = &fact.transport else { return &runs[0].1 };
        let found = runs.iter().find(|(label, _)| label == wanted);
        &found.unwrap_or_else(|| panic!("{case}: no run of {wanted}")).1
    }
}

/// What a fact should say.
fn measured(fact: &Fact, run: &Run) -> String {
    if let Some(key) = &fact.key {
        let value = run.manifest.pointer(key).unwrap_or_else(|| panic!("no {key} in the manifest"));
        return value.as_str().map_or_else(|| value.to_string(), str::to_string);
    }
    let (value, unit) = match (&fact.measure, &fact.own) {
        (Some(measure), None) => {
            (measure.of(run).unwrap_or_else(|| panic!("no {}", measure.id())), measure.kind.unit())
        }
        (None, Some(own)) => (own.of(run), own.unit()),
        _ => panic!("{}: a fact has a measure or an own one", fact.name),
    };
    let (digits, shown) = fact.says.split_once(' ').unwrap_or((&fact.says, ""));
    let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    format!("{:.decimals$} {shown}", value * factor(unit, shown)).trim_end().to_string()
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
        let head = [&scene.title, &scene.summary, &scene.text, &scene.question, &scene.answer];
        head.into_iter().chain(&scene.watch)
    };
    let used: BTreeSet<&str> = texts().flat_map(|text| names(text)).collect();
    let known: BTreeSet<&str> = scene.fact.iter().map(|fact| fact.name.as_str()).collect();
    assert_eq!(used, known, "{path:?}: facts, and names in the text");
    for text in texts() {
        assert!(!text.is_empty());
        only_facts(text);
    }
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
        assert!(run.manifest["fabric"]["hosts"].as_u64().unwrap() <= 128);
    }
    let facts = scene.fact.iter().filter(|fact| !fact.constant);
    let differs = facts.filter_map(|fact| {
        let should = measured(fact, runs.run(fact, &cases[0].name));
        let is = format!("{path:?}: {} says {}, is {should}", fact.name, fact.says);
        (should != fact.says).then_some(is)
    });
    differs.collect()
}

/// Every fact of every scene.
#[test]
fn scenes_say_what_their_scenarios_give() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../explorer/scenes");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    all.sort();
    assert_eq!(all.len(), 10);
    let wrong: Vec<String> = all.iter().flat_map(|path| wrong(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A number with a unit that is no fact is refused.
#[test]
#[should_panic(expected = "`12 ms` is not a fact")]
fn a_bare_number_is_refused() {
    only_facts("it takes {long}, or 12 ms, with a window of 10.");
}
