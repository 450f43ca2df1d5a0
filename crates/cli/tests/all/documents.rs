//! What the program says about itself: completions, manual pages, checks, and the example scenarios.

use clap::Command as CommandLine;
use incast_experiment::Scenario;
use incast_experiment::scenario::Traffic;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn incast(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    command.current_dir(folder).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every command below this one with its full name, such as `incast-testbed-run`.
fn commands(line: &CommandLine, name: &str) -> Vec<(String, CommandLine)> {
    let own = line.get_subcommands().flat_map(|below| {
        let name = format!("{name}-{}", below.get_name());
        commands(below, &name).into_iter().chain([(name, below.clone())])
    });
    own.collect()
}

fn flags(command: &CommandLine) -> Vec<&str> {
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    shown.filter_map(clap::Arg::get_long).collect()
}

#[test]
fn completions_know_every_command_and_flag() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = commands(&incast_cli::command_line(), "incast");
    assert!(all.len() > 15, "{}", all.len());
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = incast(folder.path(), &["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let script = text(&output.stdout);
        let words: std::collections::BTreeSet<&str> =
            script.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).collect();
        for (name, command) in &all {
            let own = command.get_name();
            assert!(words.contains(own), "{shell}: no command `{name}`");
            for flag in flags(command) {
                // Fish writes `-l force`.
                let known = words.contains(flag) || words.contains(format!("--{flag}").as_str());
                assert!(known, "{shell}: `{name}` has no --{flag}");
            }
        }
    }
    let wrong = incast(folder.path(), &["completions", "bsh"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("bash"), "{}", text(&wrong.stderr));
}

/// Bash itself reads the file, and offers commands, flags and values of flags.
#[test]
fn bash_completes_with_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = incast(folder.path(), &["completions", "bash"]).stdout;
    std::fs::write(folder.path().join("incast.bash"), script).expect("written");
    let complete = |words: &str| {
        let mut last = words.split(' ').rev();
        let (current, before) = (last.next().expect("a word"), last.next().expect("a word"));
        let ask = format!(
            "source ./incast.bash && complete -p incast >/dev/null && COMP_WORDS=({words}) && \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && _incast incast {current} {before} && \
             echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        let output = bash.current_dir(folder.path()).args(["-c", &ask]).output().expect("bash");
        assert!(output.status.success(), "{words}: {}", text(&output.stderr));
        text(&output.stdout).trim().to_string()
    };
    assert_eq!(complete("incast comp"), "compare completions");
    assert_eq!(complete("incast testbed pe"), "perf");
    assert_eq!(complete("incast compare --over"), "--oversubscription");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = incast(folder.path(), &["man", "share/man1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let place = folder.path().join("share/man1");
    let page = |name: &str| {
        let page = std::fs::read_to_string(place.join(format!("{name}.1")));
        page.unwrap_or_else(|_| panic!("no page of {name}"))
    };
    let top = page("incast");
    let all = commands(&incast_cli::command_line(), "incast");
    for (name, command) in &all {
        let page = page(name);
        assert!(page.starts_with(".ie") && page.contains(&format!(".TH {name} 1")), "{name}");
        for flag in flags(command) {
            assert!(page.contains(&flag.replace('-', "\\-")), "{name}: no --{flag}");
        }
        if name.matches('-').count() == 1 {
            assert!(top.contains(&name.replace('-', "\\-")), "incast.1 does not name {name}");
        }
    }
    // A file stands where the folder should be.
    std::fs::write(folder.path().join("file"), "").expect("written");
    let refused = incast(folder.path(), &["man", "file"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("file: could not be written"));
}

/// Several files: a line each, every error, and the exit code of an error.
#[test]
fn a_check_of_several_files_says_what_each_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    let scenario = "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ren\", \"dcqcn\"]\n\
         [[traffic]]\nkind = \"incast\"\nreceiver = 1\nsize = \"1KB\"\n";
    write("a.toml", scenario);
    write("b.toml", &format!("{scenario}[study]\nseeds = 3\n"));
    write("wrong.toml", &scenario.replace("star", "strr"));
    write("worse.toml", &scenario.replace("1KB", "1XB"));
    let check = |arguments: &[&str]| incast(folder.path(), &[&["check"], arguments].concat());
    let good = check(&["a.toml", "b.toml"]);
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stderr));
    assert_eq!(
        text(&good.stdout),
        "a.toml: 2 runs (ren, dcqcn), 4 hosts, 3 flows, 1 warning\n\
         b.toml: study of 6 points (ren, dcqcn)\n"
    );
    assert!(text(&good.stderr).starts_with("warning: a.toml: designed for lossless fabrics"));
    let set = check(&["a.toml", "b.toml", "--set", "transport.names=[\"ren\"]"]);
    assert!(text(&set.stdout).contains("1 run (ren)"), "{}", text(&set.stdout));
    assert!(text(&set.stdout).contains("3 points (ren)"), "{}", text(&set.stdout));
    let bad = check(&["wrong.toml", "a.toml", "worse.toml"]);
    let said = text(&bad.stderr);
    assert_eq!(bad.status.code(), Some(2), "{said}");
    assert!(
        said.contains("error: wrong.toml:2: ") && said.contains("error: worse.toml:8: "),
        "{said}"
    );
    assert!(text(&bad.stdout).starts_with("a.toml: 2 runs"), "{}", text(&bad.stdout));
    assert_eq!(check(&[]).status.code(), Some(2));
}

/// The files of a folder that end so, in order.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let own = |path: &PathBuf| path.to_string_lossy().ends_with(end);
    let mut all: Vec<PathBuf> = all.map(|entry| entry.path()).filter(own).collect();
    all.sort();
    all
}

fn examples() -> Vec<(PathBuf, String)> {
    let all = files(&root().join("examples/scenarios"), ".toml");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        (path, text)
    };
    all.into_iter().map(read).collect()
}

/// Each example runs as its file says, from the top of the repository, and has told the reader first
/// what it shows.
#[test]
fn every_example_scenario_runs() {
    let out = tempfile::tempdir().expect("a folder");
    let left = Mutex::new(examples());
    assert!(left.lock().expect("fresh").len() > 25);
    let run = |path: &Path, scenario: &str| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let words: String = scenario.lines().take_while(|line| line.starts_with('#')).collect();
        assert!(words.contains("Look at "), "{name} does not say what to look at");
        let command = if scenario.contains("\n[study]\n") { "study" } else { "run" };
        let place = out.path().join(&name);
        let (file, place) = (path.to_string_lossy(), place.to_string_lossy());
        let output = incast(&root(), &[command, &file, "--out", &place]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("no example failed").pop();
                    let Some((path, scenario)) = next else { return };
                    run(&path, &scenario);
                }
            });
        }
    });
}

/// A kind of traffic, a topology, a section or a named choice of the declarations without an example.
#[test]
fn every_kind_and_section_has_an_example() {
    let all: Vec<String> = examples().into_iter().map(|(_, scenario)| scenario).collect();
    let any = |words: &str| all.iter().any(|scenario| scenario.contains(words));
    for kind in Traffic::KINDS {
        assert!(any(&format!("\nkind = \"{kind}\"\n")), "no example of traffic `{kind}`");
    }
    for shape in incast_fabric::SHAPES {
        assert!(any(&format!("\ntopology = \"{}:", shape.name)), "no example of `{}`", shape.name);
    }
    for key in Scenario::all_keys().iter().filter(|key| key.expects.contains("a section")) {
        let written = any(&format!("[{}]", key.path))
            || key.path.rsplit_once('.').is_some_and(|(_, name)| any(&format!("\n{name} = {{")));
        assert!(written, "no example of [{}]", key.path);
    }
    // What changes how a network behaves, beside sections.
    for key in [
        "forwarding",
        "oversubscription",
        "mtu",
        "file",
        "paths",
        "routing",
        "join",
        "burst",
        "pcap",
        "world",
    ] {
        assert!(any(&format!("\n{key} = ")), "no example of `{key}`");
    }
    for key in ["vary", "variants", "repeat_until"] {
        assert!(any(&format!("\n[study.{key}]\n")), "no example of [study.{key}]");
    }
}

/// A page of the reference is what the program says; `UPDATE_DOCS=1` writes it.
#[track_caller]
fn generated(name: &str, page: &str) {
    let path = root().join("docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, page).expect("writable");
        return;
    }
    let kept = std::fs::read_to_string(path).expect("the page");
    assert!(
        kept == page,
        "UPDATE_DOCS=1 cargo test -p incast-cli --test all documents:: renews docs/{name}"
    );
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Every kind of warning has its own name, a sentence and an answer, and is in the page.
#[test]
fn the_page_of_warnings_is_that_of_the_program() {
    let mut page = String::from(
        "# Warnings\n\n<!-- generated from the program: UPDATE_DOCS=1 cargo test -p incast-cli --test \
         all documents:: renews it -->\n\nWhat the program says without ending: the results are there, but should \
         not be trusted without a look. In the\nsentences `{names}` stand \
         for values. The names do not change; scripts can go by them (`manifest.json`: \
         [results](results.md)).\n",
    );
    let mut names = std::collections::BTreeSet::new();
    for group in incast_cli::warnings::all() {
        page += &format!("\n## {}\n\n{}\n", group.title, group.place);
        for kind in group.kinds {
            assert!(names.insert(kind.name), "`{}` twice", kind.name);
            assert!(!kind.says.is_empty() && !kind.means.is_empty() && !kind.remedy.is_empty());
            let (says, means) = (cell(kind.says), cell(kind.means));
            page += &format!(
                "\n### {}\n\n    {says}\n\n{means}\n\n**Remedy:** {}\n",
                kind.name,
                cell(kind.remedy)
            );
        }
    }
    assert!(names.len() > 25);
    generated("warnings.md", &page);
}

/// An argument of a command: how it is written, what it means, its default.
#[derive(Clone, PartialEq)]
struct Row {
    written: String,
    means: String,
    default: String,
}

fn rows(command: &CommandLine) -> Vec<Row> {
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let row = |argument: &clap::Arg| {
        let values = argument.get_value_names().unwrap_or_default();
        let takes = argument.get_action().takes_values();
        let values: Vec<&str> = values.iter().map(|name| name.as_str()).collect();
        let values = if takes { values.join(" ") } else { String::new() };
        let written = match argument.get_long() {
            Some(long) => format!("--{long} {values}"),
            None => values,
        };
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let (means, told) = help.split_once(" [default: ").unwrap_or((&help, ""));
        let own: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let own = if takes { own.join(" ") } else { String::new() };
        let default = if told.is_empty() { own } else { told.trim_end_matches(']').into() };
        Row { written: written.trim().into(), means: cell(means), default }
    };
    shown.map(row).collect()
}

/// One command: what it does, how it is called, its arguments, its examples. What `shared` has is named alone.
fn section(name: &str, command: &CommandLine, shared: &[Row]) -> String {
    let words = name.replace('-', " ");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!("\n## {words}\n\n{about}.\n\n    {words}");
    for argument in command.get_positionals() {
        let value = argument.get_value_names().map_or("", |names| names[0].as_str());
        let many = argument.get_num_args().is_some_and(|range| range.max_values() > 1);
        let shown = format!("{value}{}", if many { "..." } else { "" });
        let shown = if argument.is_required_set() { shown } else { format!("[{shown}]") };
        page += &format!(" {shown}");
    }
    page += if command.has_subcommands() { " COMMAND\n" } else { " [OPTIONS]\n" };
    let known = |row: &Row| shared.iter().any(|one| is_same(one, row));
    let (also, own): (Vec<Row>, Vec<Row>) = rows(command).into_iter().partition(known);
    page += &arguments(&own);
    let also: Vec<String> = also
        .iter()
        .map(|row| match row.default.as_str() {
            "" => format!("`{}`", row.written),
            default => format!("`{}` [default: {default}]", row.written),
        })
        .collect();
    if !also.is_empty() {
        page += &format!("\n[Also](#options-of-several-commands): {}.\n", also.join(", "));
    }
    if let Some(after) = command.get_after_help() {
        let mut lines = after.to_string();
        // `Example:` becomes a paragraph, what is indented below it code.
        lines = lines.replace(":\n  ", ":\n\n    ").replace("\n  incast", "\n    incast");
        page += &format!("\n{}\n", lines.trim_end());
    }
    page
}

fn is_same(one: &Row, other: &Row) -> bool {
    (&one.written, &one.means) == (&other.written, &other.means)
}

/// Arguments as a table; nothing if there are none.
fn arguments(rows: &[Row]) -> String {
    let line = |row: &Row| match row.default.as_str() {
        "" => format!("| `{}` | {} |\n", row.written, row.means),
        default => format!("| `{}` | {} [default: {default}] |\n", row.written, row.means),
    };
    match rows {
        [] => String::new(),
        rows => {
            let lines: String = rows.iter().map(line).collect();
            format!("\n| argument | meaning |\n|---|---|\n{lines}")
        }
    }
}

/// Fewest commands with an argument that is described once.
const SEVERAL: usize = 3;

#[test]
fn every_command_is_in_the_reference() {
    let line = incast_cli::command_line();
    let mut page = String::from(
        "# Commands\n\n<!-- generated from the program: UPDATE_DOCS=1 cargo test -p incast-cli --test \
         all documents:: renews it -->\n\n`incast COMMAND --help` says the same. Exit codes: 0 success; 1 a run \
         failed or results could not be written; 2 invalid\ninput; 3 a run in real time was refused; 130 \
         interrupted. `incast completions SHELL` and `incast man DIR` give completions and\nmanual pages.\n",
    );
    let all: Vec<Row> = commands(&line, "incast").iter().flat_map(|(_, one)| rows(one)).collect();
    let mut shared: Vec<Row> = vec![];
    for row in &all {
        let count = all.iter().filter(|one| is_same(one, row)).count();
        if count >= SEVERAL && !shared.iter().any(|one| is_same(one, row)) {
            shared.push(Row { default: String::new(), ..row.clone() });
        }
    }
    assert!((5..40).contains(&shared.len()), "{}", shared.len());
    page += &format!("\n## Options of several commands\n{}", arguments(&shared));
    for below in line.get_subcommands() {
        let name = format!("incast-{}", below.get_name());
        page += &section(&name, below, &shared);
        let mut own = commands(below, &name);
        own.sort_by(|a, b| a.0.cmp(&b.0));
        own.iter().for_each(|(name, command)| page += &section(name, command, &shared));
    }
    generated("commands.md", &page);
}

/// docs/studies.md lists the classes whose flows have numbers of their own: all that there are.
#[test]
fn each_class_of_flows_has_its_numbers() {
    let names = incast_workload::FlowClass::ALL.map(incast_workload::FlowClass::name);
    assert_eq!(incast_measure::CLASSES, names);
    let page = std::fs::read_to_string(root().join("docs/studies.md")).expect("the page");
    let missing: Vec<&str> =
        names.into_iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], |all| all)
}

/// Which transports are asked for and not there, and why.
const ABSENT: &str = "
A transport is built from its paper and from the simulator code of its authors, against which numbers can be held. There is none in
public for Falcon (a specification and hardware) and SRD (a paper and hardware), and BBRv3 is public as code of the Linux kernel, for
paths of milliseconds, not in a simulator: they are not built. STrack's simulator (csg-htsim, `strack.cpp`) is unfinished - its window
is set to its increase instead of growing by it, constants are marked as guesses - and is not built either. Of Ultra Ethernet `uec` is the transport. Its link layer, with
retransmission on each link and credits between neighbours instead of pauses, is not built: links lose packets as `fabric.loss` says,
and a lossless fabric is one with `fabric.pfc`.
";

#[test]
fn every_transport_is_in_the_reference() {
    let all = incast_cli::catalogue(None).expect("the list");
    let mut page = String::from(
        "# Transports, workloads, topologies\n\n<!-- generated from the program: UPDATE_DOCS=1 cargo test -p \
         incast-cli --test all documents:: renews it -->\n\n`incast list NAME` has a transport's parameters with \
         their sources, and what differs from its paper; the site has a page for\neach. Parameters are set in \
         `[transport.parameters.ren]` of a scenario or by `--set transport.parameters.ren.rule=gap`. How to add\na \
         transport: [tutorial](tutorials/add-a-transport.md).\n\n## Transports\n\n<!-- transports -->\n\n\
         | transport | kind | what switches do | paper |\n|---|---|---|---|\n",
    );
    let transports = list(&all, "transports");
    assert!(transports.len() > 20);
    for one in transports {
        let [name, kind, switches, paper] =
            ["name", "kind", "switch_support", "paper"].map(|key| cell(of(one, key)));
        page += &format!(
            "| [{name}](../crates/protocols/src/{name}/README.md) | {kind} | {switches} | {paper} |\n"
        );
    }
    page += ABSENT;
    page += "\n## Topologies\n\n| topology | |\n|---|---|\n";
    for one in list(&all, "topologies") {
        page += &format!("| `{}` | {} |\n", of(one, "form"), cell(of(one, "title")));
    }
    page +=
        "\n## Workloads\n\n| workload | flow sizes | mean, bytes | source |\n|---|---|---|---|\n";
    for one in list(&all, "workloads") {
        let mean = one["mean_bytes"].as_f64().expect("a number");
        let [name, title, source] = ["name", "title", "source"].map(|key| cell(of(one, key)));
        page += &format!("| `{name}` | {title} | {mean:.0} | {source} |\n");
    }
    generated("transports.md", &page);
}

/// A block of code of a page: its language (empty if it has none) and text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let (mut all, mut fenced, mut below): (Vec<(String, String)>, bool, bool) =
        (vec![], false, false);
    for line in page.lines() {
        if let Some(head) = line.trim_start().strip_prefix("```") {
            fenced = !fenced;
            below = false;
            if fenced {
                all.push((head.split(' ').next().unwrap_or("").into(), String::new()));
            }
        } else if fenced {
            let (_, block) = all.last_mut().expect("it has begun");
            *block += &format!("{line}\n");
        } else if let Some(code) = line.strip_prefix("    ") {
            if !below {
                all.push((String::new(), String::new()));
            }
            below = true;
            let (_, block) = all.last_mut().expect("it has begun");
            *block += &format!("{code}\n");
        } else if !line.is_empty() {
            below = false;
        } else if below {
            let (_, block) = all.last_mut().expect("it has begun");
            *block += "\n";
        }
    }
    all
}

/// The pages that people read, by their path in the repository.
fn pages() -> Vec<(String, String)> {
    let root = root();
    let folders = [
        "",
        "docs",
        "docs/from",
        "docs/howto",
        "docs/tutorials",
        "examples/scenarios",
        "experiments",
    ];
    let all = folders.iter().flat_map(|folder| files(&root.join(folder), ".md"));
    let own = all.filter(|path| !path.ends_with("CHANGELOG.md"));
    own.map(|path| {
        let text = std::fs::read_to_string(&path).expect("readable");
        (path.strip_prefix(&root).expect("below").to_string_lossy().into_owned(), text)
    })
    .collect()
}

/// The words of a command as a shell sees them, up to a comment, a pipe, a redirection or an ampersand.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) =
        (vec![], None, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ', None) => all.extend(word.take()),
            ('#' | '|' | '>' | '&', None) if word.is_none() => return all,
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

/// Every command on every page is one that the program takes.
#[test]
fn commands_on_pages_are_accepted_by_the_command_line() {
    let mut checked = 0;
    for (page, text) in pages() {
        for (_, block) in blocks(&text) {
            let block = block.replace("\\\n", " ");
            for line in block.lines().map(|line| line.trim().trim_start_matches("$ ")) {
                if !line.starts_with("incast ") {
                    continue;
                }
                let words = words(line);
                if words[..] == ["incast"] || line.ends_with("COMMAND") || line.ends_with(']') {
                    continue;
                }
                let read = incast_cli::command_line().try_get_matches_from(&words);
                let fault = read.err().map(|error| error.to_string()).unwrap_or_default();
                assert!(fault.is_empty(), "{page}: {line}\n{fault}");
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "only {checked} commands on pages");
}

/// TOML on pages is valid: whole scenarios as they are, fragments in a scenario that has the rest.
#[test]
fn scenarios_on_pages_pass_the_check() {
    const REST: [(&str, &str); 3] = [
        ("fabric", "[fabric]\ntopology = \"leaf-spine:8x8x8\"\n"),
        ("transport", "[transport]\nnames = [\"ren\", \"dctcp\"]\n"),
        ("traffic", "[[traffic]]\nkind = \"permutation\"\nsize = \"9KB\"\n"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let mut names = vec![];
    for (page, text) in pages() {
        let head = |line: &str| line.starts_with('[') && line.trim_end().ends_with(']');
        let of_keys = |block: &str| {
            let first = block.lines().find(|line| head(line)).unwrap_or("");
            let name = first.trim_start_matches('[');
            ["fabric", "transport", "traffic", "run", "output", "study", "dataplane"]
                .iter()
                .any(|section| name.starts_with(section))
        };
        for (_, block) in blocks(&text).into_iter().filter(|(language, block)| {
            language == "toml" || (language.is_empty() && of_keys(block))
        }) {
            let mut whole = block.clone();
            for (section, rest) in REST {
                let own = |line: &str| {
                    line.trim_start_matches('[').trim_end().trim_end_matches(']') == section
                };
                if !block.lines().any(|line| head(line) && own(line)) {
                    whole = format!("{whole}\n{rest}");
                }
            }
            let name = format!("{}-{}.toml", page.replace('/', "-"), names.len());
            std::fs::write(folder.path().join(&name), &whole).expect("written");
            // Files that a page names lie beside its own.
            names.push((page.clone(), name, whole));
        }
    }
    assert!(names.len() > 12, "only {} scenarios on pages", names.len());
    for (page, name, whole) in names {
        let output = incast(folder.path(), &["check", &name]);
        let said = text(&output.stderr);
        let elsewhere = said.contains("could not read: No such file");
        assert!(output.status.code() == Some(0) || elsewhere, "{page}: {said}\n{whole}");
    }
}
