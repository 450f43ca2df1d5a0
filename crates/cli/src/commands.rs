//! The commands of the command line.

use crate::arguments::*;
use clap::{Parser, Subcommand};

/// A data-center transport laboratory.
#[derive(Parser)]
#[command(name = "incast", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compare six transports on a small fabric, in under a minute
    #[command(after_help = "Example:\n  incast demo")]
    Demo(Demo),
    /// Run a scenario or input files of other tools, or repeat a run from its results
    #[command(after_help = "Examples:\n  incast run scenario.toml --set run.seed=7\n  \
        incast run results/0001-scenario\n  \
        incast run --topology fat.topo --flows perm.cm --transport ndp")]
    Run(Box<Run>),
    /// Check scenarios and studies without running them; one scenario is printed with all defaults
    #[command(
        after_help = "Examples:\n  incast check scenario.toml\n  incast check *.toml --set run.seed=7\n\n\
        Exit code: 0 if all files are valid, else 2"
    )]
    Check(Check),
    /// Compare transports on identical arrivals
    #[command(after_help = "Example:\n  incast compare --transports ren,dctcp \
        --topology leaf-spine:8x8x8 --rate 40Gbps --workload web_search --load 0.6 --flows 2000")]
    Compare(Box<Compare>),
    /// Run a scenario at many points: load, parameters, variants, seeds; a second call continues
    #[command(after_help = "Examples:\n  incast study load.toml --dry-run\n  \
        incast study load.toml --out results/load\n  incast study results/study-load\n  \
        incast study --join results/here results/there --out results/all")]
    Study(Study),
    /// Say why a flow was slow: repeat its run with a trace, and show where the time went
    #[command(
        after_help = "Examples:\n  incast explain results/0001-demo --transport dctcp --slowest 3\n  \
        incast explain results/0002-run --flow 7 --html why.html\n  \
        incast explain results/0001-demo --flow 7 --between dctcp ren\n  \
        incast explain results/0003-run --iteration 2 --html step.html"
    )]
    Explain(Box<Explain>),
    /// Open results in a browser: the fabric over time, flows, queues, and why a flow was slow
    #[command(after_help = "Examples:\n  incast explore results/0001-demo\n  \
        incast explore results/0001-before results/0002-after --no-open")]
    Explore(Explore),
    /// Write results as the files of another simulator, for scripts that read those
    #[command(
        after_help = "Examples:\n  incast export results/0001-demo --transport dctcp --as hpcc\n  \
        incast export results/0002-run --as htsim --out matrices"
    )]
    Export(Export),
    /// Find the highest value of a key at which a condition holds: for every transport of a file
    #[command(
        after_help = "Example:\n  incast search load.toml --key traffic.0.load --from 0.3 --to 0.95 \\\n    \
        --until 'slowdown_p99 < 5'"
    )]
    Search(Search),
    /// List transports, workloads, topologies and experiments; or show one of them
    #[command(after_help = "Examples:\n  incast list\n  incast list ren\n  incast list --json")]
    List(List),
    /// Reproduce figures of the papers and compare the results with them
    #[command(after_help = "Examples:\n  incast reproduce ren/fig3 --quick\n  \
        incast reproduce amrt --assuming as_compared\n  \
        incast reproduce ren/fig16 --keep experiments\n  \
        incast reproduce --all --from-kept")]
    Reproduce(Box<Reproduce>),
    /// Measure the engine's speed relative to a bare event kernel
    #[command(after_help = "Example:\n  incast bench --threads 2 --json")]
    Bench(Bench),
    /// Run networks in the data plane: hosts and switches that exchange encoded frames
    Testbed(crate::testbed::Testbed),
    /// Tell which parts of the data plane work on this machine, and how to fix the rest
    #[command(after_help = "Examples:\n  incast doctor\n  incast doctor --tier rings --json\n\n\
        Exit code: 0 if memory, rings, namespaces and tshark work (with --tier: if that one does), else 1")]
    Doctor(crate::doctor::Doctor),
    /// Print the completions of a shell
    #[command(after_help = "Examples:\n  \
        incast completions bash > ~/.local/share/bash-completion/completions/incast\n  \
        incast completions zsh > ~/.zfunc/_incast\n  \
        incast completions fish > ~/.config/fish/completions/incast.fish")]
    Completions(Completions),
    /// Write the manual pages, one per command
    #[command(after_help = "Example:\n  incast man ~/.local/share/man/man1")]
    Man(Man),
}
