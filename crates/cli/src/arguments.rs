//! The command line.

use crate::flags::{Flagged, Flags};
use crate::values::{real_clock, set, sizes, whole};
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use incast_experiment::scenario::{self, Clock};
use std::path::PathBuf;

/// Location of results.
#[derive(Args, Clone, Default)]
pub struct Output {
    /// Folder for the results [default: the next numbered folder in `results`]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in --out
    #[arg(long)]
    pub force: bool,
}

/// Where the results go, and how many of their numbers are printed.
#[derive(Args)]
pub struct Told {
    #[command(flatten)]
    pub folder: Output,
    /// Print all numbers instead of the ten that decide
    #[arg(long)]
    pub all: bool,
}

#[derive(Args)]
pub struct Demo {
    #[command(flatten)]
    pub flags: Flags<OfDemo>,
    #[command(flatten)]
    pub output: Told,
}

pub struct OfDemo;
impl Flagged for OfDemo {
    const COMMAND: scenario::Command = scenario::Command::Demo;
}

#[derive(Args)]
pub struct Run {
    /// Scenario file; or a manifest.json or results folder to repeat its run
    #[arg(required_unless_present = "topology", conflicts_with_all = ["topology", "flows", "program", "transport"])]
    pub scenario: Option<PathBuf>,
    #[command(flatten)]
    pub flags: Flags<OfRun>,
    /// Override a scenario key: transport.parameters.ren.rule=gap
    #[arg(long, value_name = "KEY=VALUE", value_parser = set)]
    pub set: Vec<String>,
    /// Repeat a run even if its input files have changed
    #[arg(long)]
    pub allow_changed_files: bool,
    #[command(flatten)]
    pub output: Told,
}

#[derive(Args)]
pub struct Check {
    /// Scenario file, study, manifest.json or results folder; several print a line each
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Override a key: transport.parameters.ren.rule=gap
    #[arg(long, value_name = "KEY=VALUE", value_parser = set)]
    pub set: Vec<String>,
}

#[derive(Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Args)]
pub struct Man {
    /// Folder for the pages; it is made if it does not exist
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

pub struct OfRun;
impl Flagged for OfRun {
    const COMMAND: scenario::Command = scenario::Command::Run;
    const PRESETS: &'static str = "[transport]\nnames = [\"dctcp\"]\n";

    fn relations(command: clap::Command) -> clap::Command {
        let traffic = clap::ArgGroup::new("traffic").args(["flows", "program"]).multiple(true);
        let command = command.group(traffic).mut_arg("topology", |arg| arg.requires("traffic"));
        let command = command.mut_arg("flows", |arg| arg.requires("topology"));
        command.mut_arg("program", |arg| arg.requires("topology"))
    }
}

#[derive(Args)]
pub struct Compare {
    #[command(flatten)]
    pub flags: Flags<OfCompare>,
    /// Override a parameter of a transport: ren.rule=gap; or a scenario key: run.until=10ms
    #[arg(long, value_name = "KEY=VALUE", value_parser = set)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub output: Told,
}

pub struct OfCompare;
impl Flagged for OfCompare {
    const COMMAND: scenario::Command = scenario::Command::Compare;
    const PRESETS: &'static str = include_str!("compare.toml");
    const SHOWS_DEFAULTS: bool = true;

    fn relations(command: clap::Command) -> clap::Command {
        let of_incast = |command: clap::Command, name| {
            command.mut_arg(name, |arg: clap::Arg| arg.requires("incast"))
        };
        ["incast-period", "incast-size"].into_iter().fold(command, of_incast)
    }
}

#[derive(Args)]
pub struct Study {
    /// Scenario file with [study]; or the folder of a study, to continue it
    #[arg(value_name = "FILE", required_unless_present = "join", conflicts_with = "join")]
    pub study: Option<PathBuf>,
    /// Folder of the study [default: results/study-<file name>; with --join the first folder]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Join folders of one study, with other values, seeds or transports
    #[arg(long, value_name = "DIR", num_args = 2..)]
    pub join: Vec<PathBuf>,
    /// Print the number of points and what they will cost, from a short probe, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Run more than 100000 points
    #[arg(long)]
    pub yes: bool,
    /// Run points again that have failed before
    #[arg(long)]
    pub retry_failed: bool,
    /// Points that run at a time; the last ones get the threads that are left over [default: one per core]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub threads: Option<usize>,
    /// Override a key: run.seed=7 or study.seeds=5
    #[arg(long, value_name = "KEY=VALUE", value_parser = set)]
    pub set: Vec<String>,
}

#[derive(Args)]
pub struct Export {
    /// Results folder of a run or a comparison
    pub results: PathBuf,
    /// The run of this transport
    #[arg(long, value_name = "NAME")]
    pub transport: Option<String>,
    /// hpcc: flow.txt, fct.txt, qlen.txt and, of a run with PFC and a trace, pfc.txt; htsim: flows.cm; goal: a
    /// file for each job, collective and program, by its name
    #[arg(long = "as", value_name = "FORM")]
    pub form: Form,
    /// Folder of the files [default: a folder with the name of the form within the results]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Whose files results are written as.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Those of HPCC's simulator.
    Hpcc,
    /// Those of htsim.
    Htsim,
    /// What the ranks of jobs do.
    Goal,
}

impl Form {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Form::Hpcc => "hpcc",
            Form::Htsim => "htsim",
            Form::Goal => "goal",
        }
    }
}

#[derive(Args)]
pub struct Explain {
    /// Results folder of a run or a comparison
    #[arg(required_unless_present = "between")]
    pub results: Option<PathBuf>,
    /// Flows to explain, by number, separated by commas
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub flow: Vec<u32>,
    /// Explain the flows with the largest slowdown [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "flow", value_parser = whole::<usize>)]
    pub slowest: Option<usize>,
    /// The run of this transport, or its flows in a run of several
    #[arg(long, value_name = "NAME")]
    pub transport: Option<String>,
    /// Only flows of this size, such as 10KB-100KB
    #[arg(long, value_name = "FROM-TO", conflicts_with = "flow", value_parser = sizes)]
    pub size: Option<(u64, u64)>,
    /// Explain this iteration of a collective or program, from 0: its critical path, and what each rank did
    #[arg(long, value_name = "N", conflicts_with_all = ["flow", "slowest", "size", "between"], value_parser = whole::<u32>)]
    pub iteration: Option<u32>,
    /// The collective that the iteration is of, from 0 [default: 0, or the first program]
    #[arg(long, value_name = "N", requires = "iteration", value_parser = whole::<u32>)]
    pub collective: Option<u32>,
    /// The job that the iteration is of, or the file of a program
    #[arg(long, value_name = "NAME", requires = "iteration", conflicts_with = "collective")]
    pub job: Option<String>,
    /// Explain the difference of a flow under two transports, or in two results folders
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub between: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page of its own
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Threads of the repeated run [default: as the run had]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub threads: Option<usize>,
}

#[derive(Args)]
pub struct Explore {
    /// Results folder of a run or a comparison, or two to see them side by side
    #[arg(required = true, num_args = 1..=2)]
    pub results: Vec<PathBuf>,
    /// Port of the server on 127.0.0.1 [default: 7341, or any if that is taken]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Print the address, but start no browser
    #[arg(long)]
    pub no_open: bool,
}

#[derive(Args)]
pub struct Search {
    /// Scenario file; transports, variants and seeds of its [study] are compared [default: 3 seeds]
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The key, such as traffic.0.load; where the condition holds, it holds at lower values too
    #[arg(long, value_name = "KEY")]
    pub key: String,
    /// Lowest value, such as 0.3 or 10us
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub from: String,
    /// Highest value
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub to: String,
    /// What is to hold, such as 'slowdown_p99 < 5'; several joined by `and`
    #[arg(long, value_name = "CONDITION")]
    pub until: String,
    /// Distance of the values that are tried [default: a round number near a fiftieth of the range]
    #[arg(long, value_name = "STEP")]
    pub tolerance: Option<String>,
    /// Number of seeds
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub seeds: Option<u32>,
    /// Folder of the study, where points are kept [default: results/study-<file name>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Points that run at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub threads: Option<usize>,
    /// Override a key: fabric.buffer=1MB
    #[arg(long, value_name = "KEY=VALUE", value_parser = set)]
    pub set: Vec<String>,
}

#[derive(Args)]
pub struct List {
    /// What to show, such as a transport with its parameters and what differs from its paper
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Reproduce {
    /// Experiment, as PAPER/FIGURE or PAPER
    #[arg(value_name = "EXPERIMENT", required_unless_present = "all")]
    pub name: Option<String>,
    /// Run all experiments
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// Smoke test: fewer flows, one seed, one assumption set
    #[arg(long)]
    pub quick: bool,
    /// Assumption sets, such as as_compared, separated by commas [default: all]
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    pub assuming: Vec<String>,
    /// Only these runs of the figure, such as load80, separated by commas; of the others, what has been
    /// kept is judged [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "from_kept")]
    pub runs: Vec<String>,
    /// Keep a table per run in this folder, and run only what is missing or stale there; results of
    /// runs are written only with --out [default: tables in the results folder]
    #[arg(long, visible_alias = "kept", value_name = "DIR", conflicts_with = "quick")]
    pub keep: Option<PathBuf>,
    /// Run again what has failed before, or was refused in real time
    #[arg(long, requires = "keep", conflicts_with = "from_kept")]
    pub retry_failed: bool,
    /// Run the testbeds in real time, too, under this clock, one run at a time: paced, compensated or
    /// tsc. A run that is not accepted is not judged
    #[arg(long, value_name = "NAME", value_parser = real_clock, conflicts_with = "from_kept")]
    pub clock: Option<Clock>,
    /// Judge by kept tables, of --keep or of the clone that this is called in, and run nothing
    #[arg(long, conflicts_with_all = ["quick", "out", "force"])]
    pub from_kept: bool,
    /// Write the replication pages of all papers into this folder
    #[arg(long, value_name = "DIR", requires = "from_kept")]
    pub pages: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: Flags<OfReproduce>,
    #[command(flatten)]
    pub output: Output,
}

pub struct OfReproduce;
impl Flagged for OfReproduce {
    const COMMAND: scenario::Command = scenario::Command::Reproduce;
}

#[derive(Args)]
pub struct Bench {
    /// Threads per case
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        value_parser = whole::<usize>,
        default_value_t = 1
    )]
    pub threads: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Run only cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub case: Option<String>,
    /// Runs per case; the median is shown
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        value_parser = whole::<usize>,
        default_value_t = 3
    )]
    pub runs: usize,
}
