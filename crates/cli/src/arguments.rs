//! The command line.

use crate::values::{buffer, positive, rate, set, size, time, whole};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A data-center transport laboratory.
#[derive(Parser)]
#[command(name = "incast", version, about, long_about = None)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compare all transports on a small fabric, in under a minute
    #[command(after_help = "Example:\n  incast demo")]
    Demo(Output),
    /// Run a scenario, or files of other tools
    #[command(after_help = "Examples:\n  incast run scenario.toml --set run.seed=7\n  \
        incast run --topology fat.topo --flows perm.cm --transport ndp")]
    Run(Run),
    /// Compare transports on identical arrivals
    #[command(after_help = "Example:\n  incast compare --transports ren,dctcp \
        --topology leaf-spine:8x8x8 --rate 40Gbps --workload web_search --load 0.6 --flows 2000")]
    Compare(Box<Compare>),
    /// List transports, workloads, topologies and experiments
    #[command(after_help = "Example:\n  incast list --json")]
    List(List),
    /// Re-run figures of the papers and judge the results against them
    #[command(after_help = "Examples:\n  incast reproduce ren/fig3 --quick\n  \
        incast reproduce amrt\n  incast reproduce --all --quick --json")]
    Reproduce(Reproduce),
    /// Measure the engine's speed against a bare event kernel
    #[command(after_help = "Example:\n  incast bench --threads 2 --json")]
    Bench(Bench),
}

/// Where results go.
#[derive(Args, Clone, Default)]
pub struct Output {
    /// Folder for the results; a fresh numbered one below `results` if not given
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in --out
    #[arg(long)]
    pub force: bool,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub threads: Option<usize>,
}

#[derive(Args)]
pub struct Run {
    /// Scenario file
    #[arg(required_unless_present = "topology", conflicts_with_all = ["topology", "flows", "transport"])]
    pub scenario: Option<PathBuf>,
    /// Topology file of another tool (HPCC, htsim .topo), recognised by content
    #[arg(long, value_name = "FILE", requires = "flows")]
    pub topology: Option<PathBuf>,
    /// Flow file (HPCC, htsim .cm, YAPS, CSV), recognised by content
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub flows: Option<PathBuf>,
    /// Transport for --flows
    #[arg(long, value_name = "NAME", default_value = "dctcp")]
    pub transport: String,
    /// Override a key: transport.parameters.ren.rule=gap
    #[arg(long, value_name = "KEY=VALUE", value_parser = set)]
    pub set: Vec<String>,
    /// Seed of everything random
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct Compare {
    /// Transports, separated by commas
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "ren,amrt,ndp,phost,trd,dctcp"
    )]
    pub transports: Vec<String>,
    /// Topology
    #[arg(long, value_name = "SPEC", default_value = "leaf-spine:8x8x8")]
    pub topology: String,
    /// Rate of links
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "RATE",
        value_parser = rate,
        default_value = "40Gbps"
    )]
    pub rate: String,
    /// One-way propagation of a link
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "TIME",
        value_parser = time,
        default_value = "1us"
    )]
    pub propagation: String,
    /// Host capacity over uplink capacity of an edge switch
    #[arg(long, allow_hyphen_values = true, value_name = "RATIO", value_parser = positive)]
    pub oversubscription: Option<f64>,
    /// Buffer of a switch port, in bytes or packets; REN's study has 128KiB
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "SIZE",
        value_parser = buffer,
        default_value = "128KiB"
    )]
    pub buffer: String,
    /// One buffer of this size per switch instead, with dynamic threshold alpha = 1
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size)]
    pub shared_buffer: Option<String>,
    /// Pause links (802.1Qbb) instead of dropping packets; `--buffer` is then a link's share
    #[arg(long)]
    pub pfc: bool,
    /// Flow sizes: a name of `incast list`, or a file
    #[arg(long, value_name = "NAME", default_value = "web_search")]
    pub workload: String,
    /// Load, as defined in the manifest
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "SHARE",
        value_parser = positive,
        default_value_t = 0.6
    )]
    pub load: f64,
    /// Number of flows
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = whole::<u32>,
        default_value_t = 2000
    )]
    pub flows: u32,
    /// Add an incast: this many senders, 64 KB each, to host 0 after 100 us
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u32>)]
    pub incast: Option<u32>,
    /// Load balancing of all transports instead of each one's own
    #[arg(long, value_name = "NAME")]
    pub lb: Option<String>,
    /// Links charge IP bytes only, as in ns-2-style figures
    #[arg(long)]
    pub no_l2_overhead: bool,
    /// Parameter of a transport: ren.rule=gap; or any key of a scenario: run.until=10ms
    #[arg(long, value_name = "KEY=VALUE", value_parser = set)]
    pub set: Vec<String>,
    /// Seed of everything random
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        value_parser = whole::<u64>,
        default_value_t = 1
    )]
    pub seed: u64,
    /// Capture these ports (leaf0->spine1, a number, all) as pcapng
    #[arg(long, value_name = "PORTS", value_delimiter = ',')]
    pub pcap: Vec<String>,
    /// Write CSV beside Parquet
    #[arg(long)]
    pub csv: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct List {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Reproduce {
    /// PAPER/FIGURE or PAPER
    #[arg(value_name = "EXPERIMENT", required_unless_present = "all")]
    pub name: Option<String>,
    /// All experiments
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// Fewer flows and one seed
    #[arg(long)]
    pub quick: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Seed of everything random
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct Bench {
    /// Threads of each case
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        value_parser = whole::<usize>,
        default_value_t = 1
    )]
    pub threads: usize,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub case: Option<String>,
    /// Runs of each case; medians are shown
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        value_parser = whole::<usize>,
        default_value_t = 3
    )]
    pub runs: usize,
}
