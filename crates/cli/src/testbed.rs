//! `incast testbed`: networks of the data plane.

use crate::arguments::Run;
use crate::compare::run_in;
use crate::process::Ended;
use clap::{Args, Subcommand};
use incast_experiment::{Fault, World};

#[derive(Args)]
pub struct Testbed {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a scenario in the data plane: as `incast run --world dataplane`
    #[command(after_help = "Examples:\n  incast testbed run scenario.toml\n  \
        incast testbed run scenario.toml --clock paced\n  \
        incast testbed run results/0001-scenario --clock compensated")]
    Run(Box<Run>),
    /// Run one switch or host of a scenario over interfaces of this machine
    #[cfg(target_os = "linux")]
    #[command(after_help = "Example, the switch of a star of two hosts:\n  \
        incast testbed node star.toml --name leaf0 --port host0=if:veth0 --port host1=if:veth1")]
    Node(crate::node::NodeArgs),
    /// Run every node of a scenario in a network namespace of its own, without privilege
    #[cfg(target_os = "linux")]
    #[command(
        after_help = "Example:\n  incast testbed netns dumbbell.toml --set transport.names='[\"ren\"]'"
    )]
    Netns(crate::netns::Netns),
    /// Be a host of a testbed that answers messages and takes in files
    #[cfg(target_os = "linux")]
    #[command(after_help = "Example:\n  \
        incast testbed serve star.toml --name host1 --port 1=if:eth1 --folder inbox")]
    Serve(crate::apps::Serve),
    /// Send a file to a host that runs `incast testbed serve`
    #[cfg(target_os = "linux")]
    #[command(after_help = "Example:\n  \
        incast testbed send data.bin star.toml --name host0 --port 0=if:eth1 --to host1")]
    Send(crate::apps::SendFile),
    /// Measure the rate and the latency of messages
    #[cfg(target_os = "linux")]
    #[command(after_help = "Examples:\n  incast testbed perf --transport ren\n  \
        incast testbed perf --scenario star.toml --name host0 --port 0=if:eth1 --to host1")]
    Perf(crate::apps::Perf),
    /// Measure what a packet costs the software switch, by stage, with and without markers
    #[command(after_help = "Examples:\n  incast testbed bench\n  \
        incast testbed bench --transport hpcc --size 1500 --backend memory --json")]
    Bench(crate::switch_bench::SwitchBench),
}

pub fn testbed(command: Command) -> Result<Ended, Fault> {
    match command {
        Command::Run(options) => run_in(Some(World::DataPlane), *options),
        #[cfg(target_os = "linux")]
        Command::Node(options) => crate::node::node(options),
        #[cfg(target_os = "linux")]
        Command::Netns(options) => crate::netns::netns(options),
        #[cfg(target_os = "linux")]
        Command::Serve(options) => crate::apps::serve(options),
        #[cfg(target_os = "linux")]
        Command::Send(options) => crate::apps::send(options),
        #[cfg(target_os = "linux")]
        Command::Perf(options) => crate::apps::perf(options),
        Command::Bench(options) => crate::switch_bench::bench(options),
    }
}
