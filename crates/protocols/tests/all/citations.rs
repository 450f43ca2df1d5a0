//! Citations have one form, a key and a section (see the last test), and the sections are those of
//! `docs/papers/sections.toml`: code cites no section that is not listed there, and every listed
//! section that specifies behaviour is cited by code.
//!
//! A further section of the same paper may follow: `DCTCP §3.3, §4`, `RFC 6298 §5.4 to §5.7`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const SIGN: char = '\u{a7}';

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    /// Bibliographic reference.
    paper: String,
    /// All sections, for a paper that the program implements.
    #[serde(default)]
    sections: BTreeMap<String, Section>,
    /// Cited sections, for any other source.
    #[serde(default)]
    cited: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    /// Why no code cites it.
    not: Option<String>,
    /// Experiments that reproduce its results.
    #[serde(default)]
    see: Vec<String>,
}

/// A citation, or text that looks like one and has another form.
#[derive(Debug, PartialEq)]
enum Found {
    Citation { line: usize, key: String, section: String },
    Malformed { line: usize, text: String },
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn papers() -> BTreeMap<String, Paper> {
    let text = std::fs::read_to_string(root().join("docs/papers/sections.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// The text without line breaks, indentation, comment markers and string continuations, and the
/// line number of each byte.
fn joined(text: &str) -> (String, Vec<usize>) {
    let (mut whole, mut lines) = (String::new(), vec![]);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start().trim_start_matches(['/', '!']).trim().trim_end_matches('\\');
        whole.push_str(line.trim_end());
        whole.push(' ');
        lines.resize(whole.len(), at + 1);
    }
    (whole, lines)
}

/// Separators between two sections of one paper.
const BETWEEN: [&str; 5] = [", ", " and ", " to ", " or ", "; "];

/// Every citation of a text.
fn citations(text: &str, keys: &BTreeSet<String>) -> Vec<Found> {
    let (text, lines) = joined(text);
    let mut all = vec![];
    let mut before: Option<(usize, String)> = None;
    for (at, sign) in text.match_indices(SIGN) {
        let line = lines[at];
        let behind = &text[at + sign.len()..];
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && !".-".contains(c));
        let section = behind[..end.unwrap_or(behind.len())].trim_end_matches(['.', '-']);
        let same = before.take().filter(|(end, _)| BETWEEN.contains(&&text[*end..at]));
        let key = same.map(|(_, key)| key).or_else(|| {
            let named = text[..at].strip_suffix(' ')?;
            let ends = |key: &&String| {
                let rest = named.strip_suffix(key.as_str());
                rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()))
            };
            keys.iter().find(ends).cloned()
        });
        let Some(key) = key.filter(|_| !section.is_empty()) else {
            let from = text[..at].char_indices().rev().nth(30).map_or(0, |(place, _)| place);
            all.push(Found::Malformed {
                line,
                text: format!("{}{sign}{section}", &text[from..at]),
            });
            continue;
        };
        before = Some((at + sign.len() + section.len(), key.clone()));
        all.push(Found::Citation { line, key, section: section.to_string() });
    }
    all
}

/// The sources and the transports' pages below a folder.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() && name != "target" {
            files(&path, all);
        } else if name.ends_with(".rs") || name == "README.md" {
            all.push(path);
        }
    }
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs") || path.contains("/benches/")
}

/// `3.2` of `3.2.1`, `II` of `II-A`.
fn parents(section: &str) -> impl Iterator<Item = &str> {
    section.match_indices(['.', '-']).map(|(at, _)| &section[..at])
}

#[test]
fn code_and_papers_agree() {
    let papers = papers();
    let keys: BTreeSet<String> = papers.keys().cloned().collect();
    let root = root();
    let mut paths = vec![];
    files(&root.join("crates"), &mut paths);
    paths.sort();
    let mut problems = vec![];
    let (mut cited, mut by_code) = (BTreeSet::new(), BTreeSet::new());
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let path = path.strip_prefix(&root).unwrap().to_string_lossy().to_string();
        for found in citations(&text, &keys) {
            match found {
                Found::Malformed { line, text } => problems.push(format!(
                    "{path}:{line}: `{text}`: expected `KEY {SIGN}SECTION` with a key of \
                     docs/papers/sections.toml"
                )),
                Found::Citation { line, key, section } => {
                    let paper = &papers[&key];
                    let listed =
                        paper.sections.contains_key(&section) || paper.cited.contains(&section);
                    if !listed {
                        problems.push(format!(
                            "{path}:{line}: {key} {SIGN}{section} is not in docs/papers/sections.toml"
                        ));
                    }
                    if path.ends_with(".rs") && !is_test(&path) {
                        let above = parents(&section).map(str::to_string);
                        let own = above.chain([section.clone()]);
                        by_code.extend(own.map(|section| (key.clone(), section)));
                    }
                    cited.insert((key, section));
                }
            }
        }
    }
    for (key, paper) in &papers {
        assert!(!paper.paper.is_empty());
        for (section, about) in &paper.sections {
            let of = format!("{key} {SIGN}{section} ({})", about.title);
            if about.not.is_none() && !by_code.contains(&(key.clone(), section.clone())) {
                problems.push(format!("{of} is cited by no code and gives no reason"));
            }
            for folder in &about.see {
                if !root.join("experiments").join(folder).is_dir() {
                    problems.push(format!("{of}: there is no experiments/{folder}"));
                }
            }
        }
        for section in &paper.cited {
            if !cited.contains(&(key.clone(), section.clone())) {
                problems.push(format!("{key} {SIGN}{section} is listed, but nothing cites it"));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn a_citation_is_read_in_its_one_form() {
    let keys = ["REN", "RFC 6298"].map(str::to_string).into();
    let read = |text: &str| citations(&text.replace('$', &SIGN.to_string()), &keys);
    let of = |line, key: &str, section: &str| Found::Citation {
        line,
        key: key.to_string(),
        section: section.to_string(),
    };
    assert_eq!(read("/// Rounds up (REN $3.2.1)."), [of(1, "REN", "3.2.1")]);
    let two = [of(1, "RFC 6298", "5.4"), of(1, "RFC 6298", "5.7")];
    assert_eq!(read("// RFC 6298 $5.4 to $5.7: it expired."), two);
    assert_eq!(read("a\n    /// as in REN\n    /// $4."), [of(3, "REN", "4")]);
    assert_eq!(read("\"as in REN \\\n   $4\""), [of(2, "REN", "4")]);
    for text in ["($3)", "AREN $3", "REN, $3", "REN $", "REN $3 (also $4)", "SIGCOMM 2018 $3"] {
        assert!(matches!(read(text).last(), Some(Found::Malformed { .. })), "{text}");
    }
}
