//! The table of crates in ARCHITECTURE.md is what Cargo sees.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Dependencies = BTreeMap<String, BTreeSet<String>>;

/// The crate's name without the prefix that all have.
fn short(name: &str) -> Option<String> {
    name.strip_prefix("incast-").map(str::to_string)
}

/// Normal and optional dependencies between crates of `crates/`, as Cargo sees them.
fn from_cargo(root: &Path) -> Dependencies {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let text = |value: &Value| value.as_str().expect("text").to_string();
    packages
        .iter()
        .filter(|package| text(&package["manifest_path"]).contains("/crates/"))
        .map(|package| {
            let all = package["dependencies"].as_array().expect("a list of dependencies");
            let normal = all.iter().filter(|dependency| dependency["kind"].is_null());
            let own = normal.filter_map(|dependency| short(&text(&dependency["name"]))).collect();
            (short(&text(&package["name"])).expect("the prefix of all crates"), own)
        })
        .collect()
}

/// The rows of the table, in order: crate and dependencies.
fn from_page(page: &str) -> Vec<(String, BTreeSet<String>)> {
    let rows = page.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [name, _, needs] = cells[..] else { panic!("three cells: {row}") };
            let needs = needs.split(',').map(str::trim).filter(|needed| *needed != "-");
            (name.trim_matches('`').to_string(), needs.map(str::to_string).collect())
        })
        .collect()
}

fn page_and_root() -> (String, std::path::PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    (page, root)
}

#[test]
fn the_table_of_crates_lists_the_dependencies_that_cargo_sees() {
    let (page, root) = page_and_root();
    let written: Dependencies = from_page(&page).into_iter().collect();
    let real = from_cargo(&root);
    for (name, needs) in &real {
        let row =
            written.get(name).unwrap_or_else(|| panic!("ARCHITECTURE.md has no row `{name}`"));
        assert_eq!(row, needs, "the row `{name}` of ARCHITECTURE.md against Cargo.toml");
    }
    let unknown: Vec<_> = written.keys().filter(|name| !real.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "rows of ARCHITECTURE.md without a crate: {unknown:?}");
}

#[test]
fn a_crate_depends_only_on_crates_above_it_in_the_table() {
    let (page, _) = page_and_root();
    let mut above = BTreeSet::new();
    for (name, needs) in from_page(&page) {
        let below: Vec<_> = needs.difference(&above).collect();
        assert!(below.is_empty(), "`{name}` depends on {below:?}, which come later in the table");
        above.insert(name);
    }
    assert!(above.len() > 10);
}
