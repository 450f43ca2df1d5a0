//! What a person, a shell and `man` are told about the command line: the groups of `incast --help`, completions, manual pages.

use crate::arguments::{Completions, Man};
use crate::commands::Arguments;
use crate::process::Ended;
use clap::CommandFactory;
use incast_experiment::Fault;
use std::fmt::Write as _;
use std::io::Write;

/// Commands that belong together, and an example of them.
struct Group {
    title: &'static str,
    commands: &'static [&'static str],
    example: &'static str,
}

const GROUPS: [Group; 6] = [
    Group {
        title: "Run",
        commands: &["demo", "compare", "check", "run"],
        example: "incast compare --transports ren,dctcp --topology leaf-spine:8x8x8 --load 0.6 --flows 2000",
    },
    Group {
        title: "Study",
        commands: &["study", "search"],
        example: "incast study examples/scenarios/study.toml",
    },
    Group {
        title: "Understand",
        commands: &["explain", "explore", "list"],
        example: "incast explain results/0001-demo --transport dctcp --slowest 1",
    },
    Group {
        title: "Testbed",
        commands: &["testbed", "doctor"],
        example: "incast testbed run examples/scenarios/testbed.toml",
    },
    Group {
        title: "Papers",
        commands: &["reproduce", "export"],
        example: "incast reproduce ren/fig3 --quick",
    },
    Group {
        title: "Set-up",
        commands: &["completions", "man", "bench"],
        example: "incast man ~/.local/share/man/man1",
    },
];

/// The command line, whose help shows the commands in groups.
pub fn grouped(line: clap::Command) -> clap::Command {
    let style = *line.get_styles().get_header();
    let literal = *line.get_styles().get_literal();
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    for group in &GROUPS {
        let _ = write!(text, "\n{style}{}{style:#}\n", group.title);
        for name in group.commands {
            let about = line.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            // The details are in the help of the command.
            let short = about.split([':', ';']).next().unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<12}{literal:#} {short}");
        }
        let _ = writeln!(text, "  Example: {}", group.example);
    }
    text += "\n{options}\n\n`incast COMMAND --help` has arguments and more examples.";
    line.help_template(text)
}

pub fn completions(options: &Completions) -> Result<Ended, Fault> {
    let mut text = vec![];
    clap_complete::generate(options.shell, &mut command_line(), "incast", &mut text);
    crate::process::printed(std::io::stdout().write_all(&text));
    Ok(Ended::Done)
}

pub fn man(options: &Man) -> Result<Ended, Fault> {
    let folder = &options.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command_line(), folder));
    written.map_err(|error| {
        Fault::unwritten(format!("{}: could not be written: {error}", folder.display()))
    })?;
    say!("{}", folder.join("incast.1").display());
    Ok(Ended::Done)
}

/// The command line: every command with its arguments and help.
pub fn command_line() -> clap::Command {
    grouped(Arguments::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_every_example_is_accepted() {
        let line = command_line();
        let mut named: Vec<&str> =
            GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        let mut all: Vec<&str> = line.get_subcommands().map(clap::Command::get_name).collect();
        named.sort_unstable();
        all.sort_unstable();
        assert_eq!(named, all);
        for group in &GROUPS {
            let words = group.example.split(' ');
            assert!(line.clone().try_get_matches_from(words).is_ok(), "{}", group.example);
        }
    }
}
