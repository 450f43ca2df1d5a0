//! Lays out the folder of a new transport from `crates/protocols/template`: `make transport NAME=x`.
//! It compiles, conforms and marks as it is; the algorithm of the paper is added afterwards.

use incast_protocols::CATALOGUE;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

const FILES: [&str; 7] =
    ["mod.rs", "params.rs", "sender.rs", "headers.rs", "deviations.rs", "tests.rs", "README.md"];

/// Words that cannot name a module, or that would hide a crate.
const RESERVED: &str = "abstract alloc as async await become box break const continue core crate do \
    dyn else enum extern false final fn for gen if impl in let loop macro match mod move mut \
    override priv pub ref return self static std struct super template trait true try type typeof \
    union unsafe unsized use virtual where while yield";

fn main() -> ExitCode {
    let protocols = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: Vec<String> = env::args().skip(1).collect();
    let made = match &names[..] {
        [name] => lay_out(protocols, name).map(|number| (name, number)),
        _ => Err("one name is expected: make transport NAME=x".into()),
    };
    match made {
        Ok((name, number)) => {
            println!("{}", next_steps(name, number));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn next_steps(name: &str, number: u8) -> String {
    format!(
        "crates/protocols/src/{name} is transport {number} on the wire and in the catalogue.\n\
         Its own tests:       cargo test -p incast-protocols --lib {name}::\n\
         Those of all:        cargo test -p incast-protocols --tests\n\
         Run it:              cargo run --release -p incast-cli -- compare --transports \
         {name},dctcp\n\
         To keep it:          docs/tutorials/add-a-transport.md, step 5\n\
         CONTRIBUTING.md, \"Add a transport\", says what to write into which file."
    )
}

/// Version of the results of each transport, beside `protocols`.
const VERSIONS: &str = "../experiment/results-versions.toml";

/// Makes `src/NAME` below `protocols`, its lines in the catalogue and the first version of its
/// results; the number it has on the wire.
///
/// # Errors
/// An invalid or taken name, without writing; files that cannot be read or written.
fn lay_out(protocols: &Path, name: &str) -> Result<u8, String> {
    let folder = protocols.join("src").join(name);
    check(name, folder.exists())?;
    let number = free_number()?;
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| said(path, &error));
    let lib = protocols.join("src/lib.rs");
    let catalogue = catalogue_with(&read(&lib)?, name)?;
    let versions = protocols.join(VERSIONS);
    let listed = versions_with(&read(&versions)?, name)?;
    let mut files = vec![];
    for file in FILES {
        let template = read(&protocols.join("template").join(file))?;
        let collides = words(&template).contains(&*type_name(name));
        if collides && type_name(name) != "Template" {
            let hint = "a type of this name is used there already";
            return Err(refused(name, &format!("`{}` in {file}: {hint}", type_name(name))));
        }
        files.push((folder.join(file), filled(&template, name, number)));
    }
    let write = |path: &Path, text: &str| fs::write(path, text).map_err(|error| said(path, &error));
    fs::create_dir_all(&folder).map_err(|error| said(&folder, &error))?;
    files.iter().try_for_each(|(path, text)| write(path, text))?;
    write(&lib, &catalogue)?;
    write(&versions, &listed)?;
    Ok(number)
}

fn said(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn refused(name: &str, problem: &str) -> String {
    format!("NAME = `{name}`: {problem}")
}

/// Whether a transport can have this name.
fn check(name: &str, exists: bool) -> Result<(), String> {
    let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    let ends = name.ends_with('_') || name.contains("__");
    if !letters || !begins || ends || !(2..=24).contains(&name.len()) {
        let accepted =
            "expected 2 to 24 of a-z, 0-9 and single _, a letter first, such as `my_dctcp`";
        return Err(refused(name, accepted));
    }
    if RESERVED.split_whitespace().any(|word| word == name) {
        return Err(refused(name, "a word of the language or of the template; choose another"));
    }
    if exists || CATALOGUE.iter().any(|entry| entry.info().name == name) {
        let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.info().name).collect();
        return Err(refused(name, &format!("taken, as are {}", names.join(", "))));
    }
    Ok(())
}

/// The lowest number that no transport has, with or without the top bit: whoever sets it later,
/// because the ECN bits hold a code of its own, is offered it too.
fn free_number() -> Result<u8, String> {
    let taken: BTreeSet<u8> = CATALOGUE.iter().map(|entry| entry.info().id.0 & 0x7F).collect();
    // The template has 127.
    (1..127).find(|number| !taken.contains(number)).ok_or("all 126 numbers are taken".into())
}

/// `my_dctcp` is `MyDctcp`.
fn type_name(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(word).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// A file of the template as that of the new transport.
fn filled(template: &str, name: &str, number: u8) -> String {
    template
        .replace("TransportId(127)", &format!("TransportId({number})"))
        .replace("Template", &type_name(name))
        .replace("template", name)
}

/// `lib.rs` with the new transport, both lists in order.
fn catalogue_with(lib: &str, name: &str) -> Result<String, String> {
    let module = |line: &str| line.strip_prefix("pub mod ")?.strip_suffix(';').map(String::from);
    let entry = |line: &str| line.strip_prefix("    &")?.strip_suffix("::ENTRY,").map(String::from);
    let lib = with(lib, name, module, &format!("pub mod {name};"));
    let lib = lib.and_then(|lib| with(&lib, name, entry, &format!("    &{name}::ENTRY,")));
    lib.ok_or("src/lib.rs has no list of modules and entries".into())
}

/// The versions of results with the first one of a new transport.
fn versions_with(text: &str, name: &str) -> Result<String, String> {
    let (head, list) = text.split_once("[transports]\n").ok_or("no list of versions")?;
    let entry = |line: &str| Some(line.split_once(" = ")?.0.to_string());
    let list = with(list, name, entry, &format!("{name} = 1")).ok_or("no versions")?;
    Ok(format!("{head}[transports]\n{list}"))
}

/// `text` with `line` in front of the first line of a list, as `of` reads it, that is of a later
/// name, or behind the last one.
fn with(text: &str, name: &str, of: fn(&str) -> Option<String>, line: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let list = lines.iter().enumerate().filter_map(|(at, line)| Some((at, of(line)?)));
    let list: Vec<(usize, String)> = list.collect();
    let later = list.iter().find(|(_, other)| other.as_str() > name).map(|(at, _)| *at);
    let at = later.or(list.last().map(|(at, _)| at + 1))?;
    let all = [&lines[..at], &[line], &lines[at..]].concat();
    Some(all.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// The crate's sources in a folder of their own, and where they are in it.
    fn copy() -> (tempfile::TempDir, PathBuf) {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("protocols");
        for part in ["src", "template", "../experiment"] {
            fs::create_dir_all(place.join(part)).expect("a folder");
        }
        let templates = FILES.iter().map(|file| Path::new("template").join(file));
        for file in templates.chain(["src/lib.rs", VERSIONS].map(PathBuf::from)) {
            fs::copy(here.join(&file), place.join(&file)).expect("a copy");
        }
        (folder, place)
    }

    fn page(name: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::read_to_string(root.join(name)).expect("the page")
    }

    /// What the pages tell a reader to do with the new folder: the lines to change are in it, the key
    /// that is tried is one of its parameters, and the tests that are named exist.
    #[test]
    fn the_pages_fit_what_is_laid_out() {
        let (_folder, place) = copy();
        lay_out(&place, "my_dctcp").expect("a new name");
        let file = place.join("src/my_dctcp/params.rs");
        let mut params = fs::read_to_string(&file).expect("laid out");
        let contributing = page("CONTRIBUTING.md");
        let (_, diff) = contributing
            .split_once("@@ crates/protocols/src/my_dctcp/params.rs\n")
            .expect("a diff");
        let diff = diff.split("\n\n").next().expect("its lines");
        let mut old = String::new();
        for line in diff.lines().map(|line| line.trim_start_matches("    ")) {
            match line.split_at(1) {
                ("-", line) => old += &format!("{line}\n"),
                ("+", _) if old.is_empty() => {}
                ("+", _) => {
                    // What the lines begin with; they may be cut in the middle of a line.
                    let old = std::mem::take(&mut old);
                    let known = params.contains(old.trim_end());
                    assert!(known, "not in params.rs:\n{old}");
                    params = params.replacen(old.trim_end(), "", 1);
                }
                _ => panic!("{line}"),
            }
        }
        assert!(!params.contains("decrease: f64") && !params.contains("mark_threshold: "));
        let tutorial = page("docs/tutorials/add-a-transport.md");
        let (_, tried) = tutorial.split_once("--set my_dctcp.").expect("a parameter is tried");
        let key = tried.split('=').next().expect("a key");
        assert!(page("crates/protocols/template/params.rs").contains(&format!("        {key}: ")));
        for text in [&contributing, &tutorial] {
            // Pages break lines within commands.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for line in text.split("cargo test -p ").skip(1) {
                let words: Vec<&str> = line.split([' ', '`']).collect();
                let krate = words[0].trim_start_matches("incast-");
                if krate == "CRATE" {
                    continue;
                }
                let root =
                    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("tests");
                let there = |name: &str| {
                    let place = |end| root.join(format!("{name}{end}")).exists();
                    assert!(place("") || place(".rs"), "{krate}: no test {name}");
                };
                if let Some(at) = words.iter().position(|word| *word == "--test") {
                    there(words[at + 1]);
                    let filters = words[at + 2..].iter().skip_while(|word| **word == "--");
                    let named = filters.map_while(|word| word.strip_suffix("::"));
                    named.for_each(|module| there(&format!("{}/{module}", words[at + 1])));
                }
            }
        }
    }

    #[test]
    fn a_folder_is_laid_out_and_stands_in_the_catalogue() {
        let (_folder, place) = copy();
        let number = lay_out(&place, "my_dctcp").expect("a new name");
        assert!(CATALOGUE.iter().all(|entry| entry.info().id.0 & 0x7F != number));
        let read = |file: &str| fs::read_to_string(place.join(file)).expect("it is there");
        let lib = read("src/lib.rs");
        assert!(read(VERSIONS).contains("\nmlcp = 1\nmy_dctcp = 1\nndp = 1\n"));
        let all: Vec<&str> = lib.lines().filter(|line| line.contains("my_dctcp")).collect();
        assert_eq!(all, ["pub mod my_dctcp;", "    &my_dctcp::ENTRY,"]);
        let at = |line: &str| lib.lines().position(|other| other == line).expect("a line");
        assert_eq!(at("pub mod mlcp;") + 1, at("pub mod my_dctcp;"));
        assert_eq!(at("    &my_dctcp::ENTRY,") + 1, at("    &ndp::ENTRY,"));
        let entry = read("src/my_dctcp/mod.rs");
        for line in [
            format!("pub const ID: TransportId = TransportId({number});"),
            "        name: \"my_dctcp\",".into(),
            "        title: \"MyDctcp\",".into(),
        ] {
            assert!(entry.lines().any(|other| other == line), "{line}");
        }
        for file in FILES {
            let text = read(&format!("src/my_dctcp/{file}"));
            assert!(!text.to_lowercase().contains("template"), "{file} names the template");
        }
        let again = lay_out(&place, "my_dctcp").expect_err("taken now");
        assert!(again.contains("NAME = `my_dctcp`: taken"), "{again}");
    }

    #[test]
    fn the_first_and_the_last_name_find_their_places() {
        let lib = "pub mod b;\npub mod d;\n\n    &b::ENTRY,\n    &d::ENTRY,\n];\n";
        for (name, order) in
            [("a", ["a", "b", "d"]), ("c", ["b", "c", "d"]), ("e", ["b", "d", "e"])]
        {
            let mods = order.map(|name| format!("pub mod {name};\n")).concat();
            let entries = order.map(|name| format!("    &{name}::ENTRY,\n")).concat();
            assert_eq!(catalogue_with(lib, name), Ok(format!("{mods}\n{entries}];\n")));
        }
    }

    #[test]
    fn bad_and_taken_names_are_refused_without_writing() {
        let (_folder, place) = copy();
        for (name, problem) in [
            ("Ren", "expected 2 to 24"),
            ("2fast", "expected 2 to 24"),
            ("a", "expected 2 to 24"),
            ("", "expected 2 to 24"),
            ("../x", "expected 2 to 24"),
            ("my__own", "expected 2 to 24"),
            ("ren", "taken, as are aeolus"),
            ("match", "a word of the language"),
            ("template", "a word of the language or of the template"),
            ("options", "`Options` in mod.rs: a type of this name"),
        ] {
            let refused = lay_out(&place, name).expect_err(name);
            assert!(refused.starts_with(&format!("NAME = `{name}`: {problem}")), "{refused}");
        }
        assert_eq!(fs::read_dir(place.join("src")).expect("a folder").count(), 1);
    }
}
