//! `incast testbed`: networks of the data plane.

use crate::Ended;
use crate::arguments::Run;
use crate::compare::run_in;
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
}

pub fn testbed(command: Command) -> Result<Ended, Fault> {
    match command {
        Command::Run(options) => run_in(Some(World::DataPlane), *options),
    }
}
