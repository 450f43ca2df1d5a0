//! Lists the experiments' own files for the program: all but their results and what is only to be read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo says it"));
    let root = root.join("../../experiments").canonicalize().expect("a folder of the repository");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = vec![];
    for paper in inside(&root) {
        for entry in inside(&paper) {
            files.extend(if entry.is_dir() { inside(&entry) } else { vec![entry] });
        }
    }
    let mut list = String::from("&[");
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "toml")) {
        let name = path.strip_prefix(&root).expect("it is below").to_str().expect("plain names");
        write!(list, "({name:?}, include_str!({path:?})), ").expect("writing to a string");
    }
    list += "]";
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo says it"));
    std::fs::write(out.join("experiments.rs"), list).expect("cargo's folder can be written");
}

/// What is in a folder, in order; nothing in a file.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort();
    all
}
