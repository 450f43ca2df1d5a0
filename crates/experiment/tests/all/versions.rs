//! Results that change without a new version of results would leave kept tables that no longer say
//! what a run gives.

use incast_experiment::scenario::Preset;
use incast_experiment::{Scenario, VERSIONS};
use incast_protocols::CATALOGUE;
use std::collections::BTreeMap;
use std::path::Path;

/// What is known of the results of an engine or transport: its version, then default values and
/// hashes of records.
type Scope = (u32, Vec<String>);

/// Defaults of the scenario's keys.
fn engine() -> Vec<String> {
    let keys = Scenario::all_keys();
    let line = |key: &incast_experiment::scenario::Key| {
        let kind = key.kind.map_or(String::new(), |kind| format!("{kind} "));
        match &key.default {
            Preset::Value(value) => Some(format!("{kind}{} = {value}", key.path)),
            Preset::Nothing => Some(format!("{kind}{} is absent", key.path)),
            Preset::Required | Preset::Words(_) => None,
        }
    };
    keys.iter().filter_map(line).collect()
}

/// What only the data plane has: the rules of its clocks. Under the virtual clock its results are the
/// simulator's, to which `incast-dataplane` holds them packet by packet.
fn dataplane() -> Vec<String> {
    use incast_dataplane::{CREDIT, STALL};
    vec![format!("a gap is a stall from {STALL} on"), format!("a stall counts {CREDIT}")]
}

/// Defaults of a transport's parameters, and the hashes of its records.
fn transport(at: usize, records: &str) -> Vec<String> {
    let name = CATALOGUE[at].info().name;
    let parameters = CATALOGUE[at].parameters();
    let defaults = parameters.iter().map(|doc| format!("{} = {}", doc.name, doc.default));
    let own = records.lines().filter_map(|line| line.strip_prefix(&format!("{name} ")));
    defaults.chain(own.map(|line| format!("record {line}"))).collect()
}

fn now(records: &str) -> BTreeMap<String, Scope> {
    let transports = CATALOGUE.iter().enumerate().map(|(at, entry)| {
        let name = entry.info().name;
        (name.to_string(), (VERSIONS.transports[name], transport(at, records)))
    });
    let others = [
        ("dataplane".to_string(), (VERSIONS.dataplane, dataplane())),
        ("engine".to_string(), (VERSIONS.engine, engine())),
    ];
    transports.chain(others).collect()
}

/// `[scope version]`, then its lines.
fn text(all: &BTreeMap<String, Scope>) -> String {
    let one = |(name, (version, lines)): (&String, &Scope)| {
        format!("[{name} {version}]\n{}\n", lines.join("\n"))
    };
    all.iter().map(one).collect()
}

fn parse(text: &str) -> BTreeMap<String, Scope> {
    let mut all = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(head) => {
                let (scope, version) = head.rsplit_once(' ').expect("a scope has a version");
                name = scope.to_string();
                all.insert(name.clone(), (version.parse().expect("a number"), vec![]));
            }
            None => all.get_mut(&name).expect("a scope comes first").1.push(line.to_string()),
        }
    }
    all
}

/// Scopes whose results changed under the same version, with what is gone. New keys and new records
/// change nothing that was.
fn unversioned(then: &BTreeMap<String, Scope>, now: &BTreeMap<String, Scope>) -> Vec<String> {
    let engine = |all: &BTreeMap<String, Scope>| all.get("engine").map(|scope| scope.0);
    let mut wrong = vec![];
    for (name, (version, lines)) in then {
        let Some((new, present)) = now.get(name) else { continue };
        if new != version || engine(then) != engine(now) {
            continue;
        }
        let gone = lines.iter().filter(|line| !present.contains(line));
        wrong.extend(gone.map(|line| format!("{name}: {line}")));
    }
    wrong
}

/// `UPDATE_VERSIONS=1` accepts what changed under new versions.
#[test]
fn results_change_only_with_a_version() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let records = std::fs::read_to_string(tests.join("records.txt")).expect("records are there");
    let (place, now) = (tests.join("versions.txt"), now(&records));
    let then = parse(&std::fs::read_to_string(&place).unwrap_or_default());
    let wrong = unversioned(&then, &now);
    assert!(
        wrong.is_empty(),
        "raise the version in results-versions.toml: kept tables must be made again\n{wrong:#?}"
    );
    if std::env::var_os("UPDATE_VERSIONS").is_some() {
        std::fs::write(&place, text(&now)).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&place).unwrap_or_default();
    let hint = "UPDATE_VERSIONS=1 cargo test -p incast-experiment --test all versions::";
    assert!(known == text(&now), "versions.txt is not up to date: {hint}");
}

#[test]
fn a_changed_record_or_default_needs_a_version_and_a_new_key_does_not() {
    let then = parse("[engine 1]\na = 1\n[ren 1]\nb = 2\nrecord x 00\n[trd 1]\nrecord y 01\n");
    let with = |text: &str| unversioned(&then, &parse(text));
    assert_eq!(with(&text(&then)), Vec::<String>::new());
    let more = "[engine 1]\na = 1\nc = 3\n[ren 1]\nb = 2\nrecord x 00\n[trd 1]\nrecord y 01\n";
    assert_eq!(with(more), Vec::<String>::new());
    let moved = "[engine 1]\na = 1\n[ren 1]\nb = 2\nrecord x ff\n[trd 1]\nrecord y 01\n";
    assert_eq!(with(moved), ["ren: record x 00"]);
    assert_eq!(with(&moved.replace("[ren 1]", "[ren 2]")), Vec::<String>::new());
    let default = moved.replace("ff", "00").replace("a = 1", "a = 2");
    assert_eq!(with(&default), ["engine: a = 1"]);
    assert_eq!(with(&default.replace("[engine 1]", "[engine 2]")), Vec::<String>::new());
}
