//! Each target on its seeds and on mutations of them, the same ones in every run.

use incast_fuzz::{Mutations, TARGETS, target};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Inputs per target, beside the seeds: some seconds for all.
const MUTATIONS: usize = 4_000;

/// How many inputs one of a target counts for: each of `results` is a Parquet file.
fn weight(name: &str) -> usize {
    if name == "results" { 10 } else { 1 }
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let listed = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = listed.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Runs the target on one input; a failure shows the input.
fn check(name: &str, input: &[u8]) {
    let run = catch_unwind(AssertUnwindSafe(|| target(name)(input)));
    if run.is_err() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("failed");
        std::fs::write(&file, input).unwrap();
        let shown = input.escape_ascii();
        panic!("{name} fails on the input in {}:\n{shown}", file.display());
    }
}

fn fuzz(name: &str) {
    let seeds = seeds(name);
    seeds.iter().for_each(|seed| check(name, seed));
    let many = std::env::var("FUZZ_MUTATIONS").ok().and_then(|text| text.parse().ok());
    for input in Mutations::new(&seeds, 1).take(many.unwrap_or(MUTATIONS / weight(name))) {
        check(name, &input);
    }
}

macro_rules! fuzzed {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { fuzz(stringify!($name)); })*

        #[test]
        fn every_target_is_run_here_and_under_libfuzzer() {
            let here = [$(stringify!($name)),*];
            assert_eq!(here.as_slice(), TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
            let manifest = include_str!("../Cargo.toml");
            for name in here {
                assert!(manifest.contains(&format!("name = \"{name}\"")), "no [[bin]] {name}");
            }
        }
    };
}

fuzzed! {
    chakra,
    decode,
    flow_list,
    goal_binary,
    goal_text,
    hpcc_topology,
    htsim_topology,
    manifest,
    matrix,
    packet_table,
    pairs,
    parameters,
    paths,
    quantities,
    results,
    scenario,
    shape,
    simai,
    size_table,
}
