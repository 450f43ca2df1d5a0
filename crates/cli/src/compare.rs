//! `incast demo`, `incast run` and `incast compare`: commands that build a scenario.

use crate::arguments::{Compare, Demo, Run};
use crate::prepare::{self, Prepared, Source};
use crate::process::Ended;
use crate::session::{run_plan, stoppable};
use incast_experiment::{Fault, World};

pub fn demo(options: Demo) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let Prepared { plan, label } = prepare::demo_with(&options.flags)?;
    run_plan(&plan, &label, &options.output, &monitor)
}

pub fn run(options: Run) -> Result<Ended, Fault> {
    run_in(None, options)
}

/// Runs a scenario, in this world if it is given.
pub fn run_in(world: Option<World>, options: Run) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let Run { scenario, flags, set, allow_changed_files, output } = options;
    let source = scenario.map_or(Source::Flags, Source::File);
    let Prepared { plan, label } =
        prepare::run_with(source, world, &flags, &set, allow_changed_files)?;
    run_plan(&plan, &label, &output, &monitor)
}

pub fn compare(options: Compare) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let Prepared { plan, label } = prepare::compare_with(&options.flags, &options.set)?;
    run_plan(&plan, &label, &options.output, &monitor)
}
