//! Scenarios are read as they are written, and what they must not say is refused.

use crate::support;
use incast_experiment::scenario::{Traffic, keys_markdown};
use incast_experiment::{Plan, Scenario};
use proptest::prelude::*;
use std::path::PathBuf;

proptest! {
    #[test]
    fn any_scenario_is_read_as_it_is_written(scenario in support::any_scenario()) {
        let toml = scenario.to_toml();
        let read = Scenario::parse(&toml, "written", &[]);
        prop_assert_eq!(read.as_ref(), Ok(&scenario), "{}", toml);
        let read: Scenario = toml::from_str(&toml).expect("what was read above");
        prop_assert_eq!(&read, &scenario, "{}", toml);
        let json = serde_json::to_string(&scenario).expect("a scenario becomes JSON");
        let read: Scenario = serde_json::from_str(&json).expect(&json);
        prop_assert_eq!(read, scenario, "{}", json);
    }
}

const HEAD: &str = "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ren\"]\n[[traffic]]\n";

/// What is said of a scenario with this traffic and these overrides.
fn said(traffic: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let read = Scenario::parse(&format!("{HEAD}{traffic}"), "z.toml", &sets);
    read.and_then(|scenario| scenario.check_ranges()).err().map_or(String::new(), |f| f.to_string())
}

/// Every kind with the keys that it needs, and with each key of each other kind.
#[test]
fn keys_of_another_kind_are_refused() {
    let least = [
        ("poisson", "workload = \"web_search\"\nload = 0.5\nflows = 9"),
        ("closed_loop", "workload = \"web_search\"\nactive = 2\nflows = 9"),
        ("permutation", "size = \"1KB\""),
        ("all_to_all", "size = \"1KB\""),
        ("incast", "receiver = 0\nsize = \"1KB\""),
        ("requests", "to = \"0\"\nfrom = \"1\"\nsize = \"1KB\""),
        ("many_to_many", "from = \"0\"\nto = \"1\"\nto_second = \"2\"\nsize = \"1KB\""),
        ("long", "from = \"0\"\nto = \"1\"\nsize = \"1KB\""),
        ("burst", "from = \"0\"\nreceiver = 1\nsize = \"1KB\""),
        ("collective", "collective = \"broadcast\"\nsize = \"1KB\""),
        ("program", "file = \"x.goal\""),
        ("file", "file = \"flows\""),
    ];
    assert_eq!(least.map(|one| one.0), Traffic::KINDS, "a kind is missing here");
    let keys = Scenario::all_keys();
    let (mut accepted, mut refused) = (0, 0);
    for (kind, least) in least {
        let text = format!("kind = \"{kind}\"\n{least}\n");
        assert_eq!(said(&text, &[]), "", "{kind}");
        for key in keys.iter().filter(|key| key.kind.is_some()) {
            let name = key.path.rsplit('.').next().expect("a name");
            if keys.iter().any(|one| one.kind == Some(kind) && one.path == key.path) {
                accepted += 1;
                continue;
            }
            let message = said(&format!("{text}{name} = 7\n"), &[]);
            let line = 7 + least.lines().count();
            let begin = format!(
                "z.toml:{line}: traffic.0.{name}: no such key of kind `{kind}`: `{name}` is a key of "
            );
            assert!(message.starts_with(&begin), "{message}");
            assert!(message.contains("xpected one of "), "{message}");
            let set = format!("traffic.0.{name}=7");
            let message = said(&text, &[&set]);
            assert!(message.starts_with(&format!("--set {set}: no such key of kind")), "{message}");
            refused += 1;
        }
    }
    assert!(accepted > 30 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn wrong_values_are_reported_where_they_were_written() {
    let long = "kind = \"long\"\nfrom = \"0\"\nto = \"1\"\nsize = \"1KB\"\n";
    for (traffic, sets, words) in [
        (
            "kind = \"lnog\"\n",
            &[][..],
            "z.toml:6: traffic.0.kind = `lnog`: did you mean `long`? Expected one of poisson",
        ),
        ("size = \"1KB\"\n", &[], "z.toml:5: traffic.0: [[traffic]] needs the key `kind`"),
        (
            "kind = \"long\"\nfrom = \"0\"\n",
            &[],
            "z.toml:5: traffic.0: kind `long` needs the key `to`",
        ),
        (
            "kind = \"long\"\nfrom = 3.5\n",
            &[],
            "z.toml:7: traffic.0.from = `3.5`: expected hosts such as",
        ),
        (
            "kind = \"long\"\nfrom = \"7-3\"\n",
            &[],
            "z.toml:7: traffic.0.from = `7-3`: expected hosts",
        ),
        ("kind = \"long\"\nfrmo = \"0\"\n", &[], "did you mean `from`?"),
        (long, &["run.warmup=7"], "--set run.warmup=7: expected 0 to less than 1"),
        (long, &["run.warmup=seven"], "--set run.warmup=seven: expected a number"),
        (
            long,
            &["run.sede=7"],
            "--set run.sede=7: no such key of [run]: did you mean `seed`? Expected one of seed",
        ),
        (long, &["rnu.seed=7"], "--set rnu.seed=7: no such key of a scenario"),
        (long, &["uec.rto=1ms"], "did you mean `transport.parameters.uec`?"),
        (long, &["transport.uec.rto=1ms"], "did you mean `transport.parameters.uec`?"),
        (
            long,
            &["transport.routing=ecpm"],
            "--set transport.routing=ecpm: did you mean `ecmp`? Expected one of ecmp",
        ),
        (long, &["transport.join=shard"], "did you mean `shared`?"),
        (long, &["fabric.rate=0bps"], "--set fabric.rate=0bps: expected a rate above 0"),
        (long, &["fabric.pfc={ classes = [9] }"], "fabric.pfc.classes = `9`: expected 0 to 7"),
        (long, &["traffic.3.size=1KB"], "no such key: expected traffic.0"),
        (long, &["traffic.x.size=1KB"], "no such key: expected traffic.0"),
        (long, &["run.seed=-1"], "--set run.seed=-1: negative"),
        (long, &["run=7"], "--set run=7: expected the keys of [run]"),
    ] {
        let message = said(traffic, sets);
        assert!(message.contains(words), "`{words}` is not in: {message}");
    }
    let twice = format!("{HEAD}kind = \"long\"\nkind = \"long\"\n");
    let message = Scenario::parse(&twice, "z.toml", &[]).expect_err("twice").to_string();
    assert!(message.starts_with("z.toml:7: kind = \"long\": duplicate key"), "{message}");
}

#[test]
fn hosts_may_be_numbers() {
    let of = |from: &str| {
        let text = format!("{HEAD}kind = \"long\"\nfrom = {from}\nto = 1\nsize = \"1KB\"\n");
        Scenario::parse(&text, "z.toml", &[]).map_err(|fault| fault.to_string())
    };
    assert_eq!(of("3"), of("\"3\""));
    assert_eq!(of("[0, 2, 3]"), of("\"0,2-3\""));
    for wrong in ["-3", "[]", "[1, true]", "[3, 99999999999]"] {
        assert!(of(wrong).expect_err(wrong).contains("expected hosts such as"), "{wrong}");
    }
}

/// What only the plan can find is reported with its key, the accepted values and the nearest name.
#[test]
fn wrong_values_of_a_plan_are_reported_with_their_key() {
    let poisson = "kind = \"poisson\"\nworkload = \"web_search\"\nload = 0.5\nflows = 10\n";
    for (set, words) in [
        ("fabric.topology=star:1", "fabric.topology: `star:1`: 1 is below the minimum of 2"),
        ("fabric.topology=star:4000000000", "its 8000000000 ports take"),
        ("fabric.topology=strr:4", "fabric.topology: `strr:4`: no topology `strr`"),
        ("fabric.topology=strr:4", "did you mean `star`?"),
        ("traffic.0.workload=web_serch", "did you mean `web_search`?"),
        (
            "traffic.0.workload=none.csv",
            "traffic.0.workload = `none.csv`: none.csv: could not read",
        ),
        (
            "transport.parameters.ren.brust=9",
            "no such parameter: did you mean `burst`? Expected one of ",
        ),
    ] {
        let text = format!("{HEAD}{poisson}");
        let plan = Scenario::parse(&text, "z.toml", &[set.to_string()]).and_then(Plan::new);
        let message = plan.err().map(|fault| fault.to_string()).unwrap_or_default();
        assert!(message.contains(words), "`{words}` is not in: {message}");
    }
}

/// All numbers of 64 bits can be a seed, also those beyond TOML's integers.
#[test]
fn every_seed_can_be_written() {
    for seed in [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
        let text = format!("{HEAD}kind = \"permutation\"\nsize = \"1KB\"\n");
        let sets = [format!("run.seed={seed}")];
        let scenario = Scenario::parse(&text, "z.toml", &sets).expect("a scenario");
        assert_eq!(scenario.run.seed, seed);
        let again = Scenario::parse(&scenario.to_toml(), "again", &[]).expect("a scenario");
        assert_eq!(again, scenario);
    }
}

const BEGIN: &str = "--test all scenario:: renews them -->\n";
const END: &str = "\n<!-- end of keys -->";

#[test]
fn every_key_is_in_the_page() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md");
    let text = std::fs::read_to_string(&page).expect("docs/scenario.md");
    let begin = text.find(BEGIN).expect("the marker before the tables") + BEGIN.len();
    let end = text.find(END).expect("the marker after the tables");
    let tables = keys_markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let renewed = format!("{}{tables}{}", &text[..begin], &text[end..]);
        std::fs::write(page, renewed).expect("writable");
        return;
    }
    assert_eq!(&text[begin..end], tables, "UPDATE_DOCS=1 renews the tables");
}
