//! Which points a study has, and what is said of a study that is wrong.

use crate::support::{SCENARIO, study};
use incast_experiment::scenario::Node;
use incast_study::{Point, Store, Study};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Values, label and seed of each point.
fn listed(study: &Study) -> Vec<String> {
    let one = |point: &std::sync::Arc<Point>| {
        let value = |value: &Option<Node>| value.as_ref().map_or("-".into(), Node::to_string);
        let values: Vec<String> = point.values.iter().map(value).collect();
        format!("{} {} {}", values.join(" "), point.label, point.seed)
    };
    study.points().iter().map(one).collect()
}

#[test]
fn every_value_meets_every_transport_and_seed() {
    let own = study(
        "[study]\nseeds = 2\n[study.vary]\n\"traffic.0.load\" = [0.2, 0.4]\n\
         \"fabric.buffer\" = [\"64KiB\", \"128KiB\"]\n",
    );
    assert_eq!(own.keys(), ["traffic.0.load", "fabric.buffer"], "in the order of the file");
    let all = listed(&own);
    assert_eq!(all.len(), 2 * 2 * 2 * 2);
    assert_eq!(all[..3], ["0.2 64KiB ren 1", "0.2 64KiB dctcp 1", "0.2 128KiB ren 1"]);
    assert_eq!(all[8], "0.2 64KiB ren 2");
    // What varies is in the scenario, and nothing else differs.
    let scenario = own.points()[3].scenario();
    assert_eq!(scenario.fabric.buffer.to_string(), "128KiB");
    assert_eq!(scenario.transport.names, ["dctcp"]);
    assert_eq!(own.points()[9].scenario().run.seed, 2);
    assert_eq!(own.points().iter().map(|one| &one.hash).collect::<BTreeSet<_>>().len(), 16);
}

#[test]
fn a_set_reaches_a_key_whose_name_has_dots() {
    let sets = [r#"study.vary."traffic.0.load"=[0.3]"#.to_string()];
    let text = format!("{SCENARIO}[study.vary]\n\"fabric.buffer\" = [\"64KiB\"]\n");
    let own = Study::parse(&text, "a test", &sets).unwrap();
    assert_eq!(own.points().len(), 2);
    assert_eq!(own.keys(), ["traffic.0.load", "fabric.buffer"]);
    assert_eq!(own.points()[0].values[0].as_ref().unwrap().to_string(), "0.3");
    let empty = [r#"study.vary.""=[0.3]"#.to_string()];
    let said = Study::parse(&text, "a test", &empty).unwrap_err().to_string();
    assert!(said.contains("an empty part in the key"), "{said}");
    for (bare, quoted) in [
        ("study.vary.traffic.0.load=[0.3]", r#"`study.vary."traffic.0.load"`"#),
        ("study.vary.traffic.0.load.from=0.3", r#"`study.vary."traffic.0.load".from`"#),
    ] {
        let said = Study::parse(&text, "a test", &[bare.to_string()]).unwrap_err().to_string();
        assert!(said.contains(quoted) && said.contains("--set study.vary.traffic"), "{said}");
    }
}

#[test]
fn keys_advance_together_or_only_where_a_condition_holds() {
    let own = study(
        "[study]\nzip = [[\"fabric.rate\", \"fabric.buffer\"]]\n[study.vary]\n\
         \"fabric.rate\" = [\"10Gbps\", \"40Gbps\"]\n\"fabric.buffer\" = [\"64KiB\", \"256KiB\"]\n\
         \"transport.parameters.ren.rule\" = [\"gap\", \"threshold\"]\n\
         [study.when]\n\"transport.parameters.ren.rule\" = { transport = \"ren\", \"fabric.rate\" = \"10Gbps\" }\n",
    );
    let all = listed(&own);
    let expected = [
        "10Gbps 64KiB gap ren 1",
        "10Gbps 64KiB - dctcp 1",
        "10Gbps 64KiB threshold ren 1",
        "40Gbps 256KiB - ren 1",
        "40Gbps 256KiB - dctcp 1",
    ];
    assert_eq!(all, expected);
    assert_eq!(own.points()[3].combination, own.points()[4].combination);
}

#[test]
fn variants_stand_beside_transports() {
    let own = study(
        "[study]\nbaseline = \"dctcp\"\n[study.variants]\n\
         \"ren: gap\" = { transport = \"ren\", rule = \"gap\" }\n\
         \"dctcp, ecmp, deep\" = { transport = \"dctcp\", routing = \"ecmp\", \"fabric.buffer\" = \"1MB\" }\n",
    );
    assert_eq!(listed(&own), [" ren 1", " dctcp 1", " ren: gap 1", " dctcp, ecmp, deep 1"]);
    assert_eq!(own.baseline(), 1);
    let last = own.points()[3].scenario();
    assert_eq!(last.fabric.buffer.to_string(), "1MB");
    assert!(last.transport.routings.contains_key("dctcp"));
    // A variant that changes nothing is the transport: one row serves both.
    let same = study("[study.variants]\n\"REN\" = { transport = \"ren\" }\n");
    assert_eq!(same.points()[0].hash, same.points()[2].hash);
    // Variants alone are enough.
    let text = SCENARIO.replace("names = [\"ren\", \"dctcp\"]\n", "");
    let text = format!("{text}[study.variants]\n\"REN\" = {{ transport = \"ren\" }}\n");
    assert_eq!(Study::parse(&text, "x", &[]).unwrap().points().len(), 1);
}

#[test]
fn a_study_reads_back_as_it_was_resolved_and_a_point_as_it_travels() {
    let own = study(
        "[study]\nseeds = [3, 9]\n[study.vary]\n\"traffic.0.load\" = { from = 0.1, to = 0.3, step = 0.1 }\n\
         [study.variants]\n\"ren: gap\" = { transport = \"ren\", rule = \"gap\" }\n",
    );
    let again = Study::parse(&own.resolved(&Default::default()), "study.toml", &[]).unwrap();
    let hashes =
        |study: &Study| study.points().iter().map(|one| one.hash.clone()).collect::<Vec<_>>();
    assert_eq!(hashes(&own), hashes(&again));
    assert_eq!(listed(&own), listed(&again));
    for point in own.points() {
        let read = Point::from_bytes(&point.to_bytes()).unwrap();
        assert_eq!((&read.hash, read.name()), (&point.hash, point.name()));
        assert_eq!(read.scenario(), point.scenario());
    }
}

#[test]
fn a_point_of_another_version_is_refused() {
    let own = study("[study]\n");
    let bytes = own.points()[0].to_bytes();
    let text = String::from_utf8(bytes).unwrap().replace(&own.points()[0].hash, &"0".repeat(64));
    let said = Point::from_bytes(text.as_bytes()).unwrap_err().to_string();
    assert!(said.contains("same version of incast on every worker"), "{said}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let vary = |text: &str| format!("[study.vary]\n{text}\n");
    let known = [
        (vary("\"traffic.0.laod\" = [0.1]"), "load.toml:11", "did you mean `load`?"),
        (vary("\"traffic.0.load\" = [\"half\"]"), "load.toml:11", "traffic.0.load = `half`"),
        (vary("\"traffic.0.load\" = [-0.5]"), "load.toml:11", "a number above 0"),
        (vary("\"traffic.7.load\" = [0.5]"), "load.toml:11", "expected traffic.0"),
        (vary("\"traffic.0.load\" = []"), "load.toml:11", "no values"),
        (vary("\"traffic.0.load\" = [0.5, 0.5]"), "load.toml:11", "twice"),
        (vary("\"traffic.0.load\" = { from = 0.1, to = 1, step = 0 }"), "load.toml:11", "never ends"),
        (vary("\"run.seed\" = [1]"), "load.toml:11", "`seeds`"),
        (vary("\"transport.parameters.rne.rule\" = [1]"), "load.toml:11", "did you mean `ren`?"),
        ("[study]\nseed = 3\n".into(), "load.toml:11", "did you mean `seeds`?"),
        ("[study]\nseeds = 0\n".into(), "load.toml:11", "1 to 100000"),
        ("[study]\nseeds = [1, 1]\n".into(), "load.toml:11", "different"),
        ("[study]\nbaseline = \"dtcp\"\n".into(), "load.toml:11", "did you mean `dctcp`?"),
        (
            "[study]\nseeds = 2\nrepeat_until = { metric = \"slowdown_p99\", half_width = \"5%\" }\n".into(),
            "load.toml:11",
            "either `seeds` or `repeat_until`",
        ),
        (
            "[study]\nrepeat_until = { metric = \"slowdwn_p99\", half_width = \"5%\" }\n".into(),
            "load.toml:11",
            "slowdown_p99",
        ),
        (
            "[study]\nzip = [[\"traffic.0.load\", \"fabric.rate\"]]\n[study.vary]\n\
             \"traffic.0.load\" = [0.1, 0.2]\n\"fabric.rate\" = [\"10Gbps\"]\n"
                .into(),
            "load.toml:11",
            "fabric.rate has 1",
        ),
        (
            "[study.when]\n\"fabric.rate\" = { transport = \"ren\" }\n".into(),
            "load.toml:11",
            "no key is varied",
        ),
        (
            "[study.variants]\n\"x\" = { transport = \"ren\", spnd = \"any\" }\n".into(),
            "load.toml:11",
            "did you mean `spend`?",
        ),
        ("[study.variants]\n\"x\" = { spend = \"any\" }\n".into(), "load.toml:11", "`transport`"),
        ("[study.variants]\n\"ren\" = { transport = \"ren\" }\n".into(), "load.toml:11", "names that differ"),
        ("".into(), "load.toml", "there is no [study]"),
        (
            vary("\"traffic.0.flows\" = { from = 1, to = 50001, step = 1 }"),
            "load.toml:10",
            "100002 points: expected at most 100000",
        ),
    ];
    for (section, place, why) in known {
        let text = format!("{SCENARIO}{section}");
        let said =
            Study::parse(&text, "load.toml", &[]).map(|_| ()).expect_err(&section).to_string();
        assert!(said.starts_with(place) && said.contains(why), "{section}{said}");
    }
    // A parameter's value is known to be wrong once the point is planned, before anything runs.
    let own = study("[study.vary]\n\"transport.parameters.ren.rule\" = [\"gap\", \"gaps\"]\n");
    let said = own.check().unwrap_err().to_string();
    assert!(said.starts_with("load.toml:11") && said.contains("`gaps`"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A study has each combination once; it does not matter what else it has.
    #[test]
    fn the_points_are_the_product(loads in 1usize..5, buffers in 1usize..4, seeds in 1u32..4) {
        let loads: Vec<String> = (1..=loads).map(|at| format!("0.{at}")).collect();
        let buffers: Vec<String> = (1..=buffers).map(|at| format!("\"{at}00KB\"")).collect();
        let text = |loads: &[String], seeds: u32| format!(
            "[study]\nseeds = {seeds}\n[study.vary]\n\"traffic.0.load\" = [{}]\n\"fabric.buffer\" = [{}]\n",
            loads.join(", "), buffers.join(", "),
        );
        let own = study(&text(&loads, seeds));
        let hashes: BTreeSet<&str> = own.points().iter().map(|one| one.hash.as_str()).collect();
        prop_assert_eq!(hashes.len(), loads.len() * buffers.len() * 2 * seeds as usize);
        // More loads and seeds leave the points that there are as they are.
        let more: Vec<String> = loads.iter().cloned().chain(["0.9".to_string()]).collect();
        let larger = study(&text(&more, seeds + 1));
        let all: BTreeSet<&str> = larger.points().iter().map(|one| one.hash.as_str()).collect();
        prop_assert!(hashes.is_subset(&all));
        let read = Study::parse(&own.resolved(&Default::default()), "again", &[]).unwrap();
        prop_assert!(read.points().iter().map(|one| &one.hash).eq(own.points().iter().map(|one| &one.hash)));
    }
}

/// A trace of Chakra of one rank: an all-reduce of 800,000 bytes after 300 us, whose bytes are no text.
const TRACE: &[u8] =
    b"\0\n\x08\0\x12\x01n\x18\x048\xac\x02+\x08\x01\x12\x01n\x18\x07(\08\0R\r\n\tcomm_typeH\0\
    R\x0f\n\tcomm_sizeH\x80\xea0";

/// A worker, and whoever goes on with the folder, has the bytes of input files and so the names of points.
#[test]
fn files_that_are_no_text_travel_and_are_kept_as_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    (0..4).for_each(|rank| std::fs::write(path(&format!("t.{rank}.et")), TRACE).unwrap());
    let text = format!(
        "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ndp\"]\n[[traffic]]\nkind = \"program\"\n\
         file = \"{}\"\n[study]\nseeds = 2\n",
        path("t.0.et").display()
    );
    let own = std::sync::Arc::new(Study::parse(&text, "x.toml", &[]).unwrap());
    for point in own.points() {
        let read = Point::from_bytes(&point.to_bytes()).unwrap();
        assert_eq!((&read.hash, read.contents()), (&point.hash, point.contents()));
    }
    Store::open(&path("study"), &own).unwrap();
    (0..4).for_each(|rank| std::fs::remove_file(path(&format!("t.{rank}.et"))).unwrap());
    let again = Study::load(&path("study/study.toml"), &[]).unwrap();
    let hashes =
        |study: &Study| study.points().iter().map(|one| one.hash.clone()).collect::<Vec<_>>();
    assert_eq!(hashes(&again), hashes(&own));
}
