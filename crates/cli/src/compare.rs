//! `incast demo`, `incast run`, `incast check` and `incast compare`: commands that build a scenario.

use crate::Ended;
use crate::arguments::{Check, Compare, Demo, OfCompare, OfRun, Run};
use crate::flags::Flags;
use crate::session::{run_plan, stoppable};
use incast_experiment::scenario::{Draft, Incast, Traffic};
use incast_experiment::{Fault, Manifest, Plan, Scenario, World, nearest, output};
use incast_measure::Warning;
use incast_transport::{Bytes, Span};
use std::path::Path;

/// The scenario of the demo.
const DEMO: &str = include_str!("demo.toml");

pub fn demo(options: Demo) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let mut draft = Draft::preset(DEMO);
    options.flags.apply(&mut draft);
    run_plan(&planned(&draft, draft.scenario()?)?, "demo", &options.output, &monitor)
}

pub fn run(options: Run) -> Result<Ended, Fault> {
    run_in(None, options)
}

/// Runs a scenario, in this world if it is given.
pub fn run_in(world: Option<World>, options: Run) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let (mut draft, mut warnings) = match &options.scenario {
        Some(path) => loaded(path, options.allow_changed_files)?,
        None => (Flags::<OfRun>::presets(), vec![]),
    };
    if let Some(world) = world {
        let set = format!("run.world={}", world.name());
        draft.set(&set, &set)?;
    }
    options.flags.apply(&mut draft);
    let draft = draft.sets(&options.set)?;
    let mut plan = planned(&draft, draft.scenario()?)?;
    warnings.append(&mut plan.warnings);
    plan.warnings = warnings;
    let label = match &options.scenario {
        Some(path) => label(path),
        None => plan.cases[0].label.clone(),
    };
    run_plan(&plan, &label, &options.output, &monitor)
}

pub fn compare(options: Compare) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let mut draft = Flags::<OfCompare>::presets();
    if options.flags.has("--incast") {
        draft.add(&Traffic::Incast(INCAST));
    }
    options.flags.apply(&mut draft);
    for set in &options.set {
        draft.set(&expand(set), set)?;
    }
    let mut scenario = draft.scenario()?;
    if scenario.title.is_empty() {
        scenario.title = title(&scenario);
    }
    run_plan(&planned(&draft, scenario)?, "compare", &options.output, &monitor)
}

/// Label of results: the name of the scenario file, or of the repeated results.
fn label(path: &Path) -> String {
    let manifest = path.file_name().is_some_and(|name| name == "manifest.json");
    let named = if manifest { path.parent().unwrap_or(path) } else { path };
    let stem = named.file_stem().map_or("run".into(), |stem| stem.to_string_lossy());
    // The number of the repeated results is dropped: new results get their own.
    let (number, rest) = stem.split_once('-').unwrap_or(("", &stem));
    let numbered = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    if numbered { rest.to_string() } else { stem.into_owned() }
}

pub fn check(options: Check) -> Result<Ended, Fault> {
    let (draft, warnings) = loaded(&options.scenario, false)?;
    let draft = draft.sets(&options.set)?;
    let plan = planned(&draft, draft.scenario()?)?;
    // Standard output contains only the scenario.
    warnings.iter().chain(&plan.warnings).for_each(|warning| eprintln!("warning: {warning}"));
    say!("{}", plan.resolved(&plan.cases).to_toml().trim_end());
    Ok(Ended::Done)
}

/// Reads a scenario, or that of a manifest whose input files are unchanged, with warnings. With
/// `changed`, changed files are only a warning.
fn loaded(path: &Path, changed: bool) -> Result<(Draft, Vec<Warning>), Fault> {
    let Some(manifest) = Manifest::load(path)? else { return Ok((Draft::load(path)?, vec![])) };
    let about = |about: String| Warning::Configuration { about };
    let mut warnings: Vec<Warning> = manifest.warning().into_iter().map(about).collect();
    for fault in manifest.changed_files() {
        if !changed {
            let problem = format!("{fault}; use `--allow-changed-files` to run anyway");
            return Err(Fault::new(problem));
        }
        warnings.push(about(fault.to_string()));
    }
    Ok((manifest.draft, warnings))
}

/// Traffic added by `--incast`; the flag sets the number of senders.
const INCAST: Incast = Incast {
    receiver: 0,
    from: None,
    senders: None,
    size: Bytes::from_kb(64),
    at: Span::from_us(100),
    burst: None,
};

/// `ren.rule=gap` is short for `transport.parameters.ren.rule=gap`.
fn expand(set: &str) -> String {
    let first = set.split(['.', '=']).next().unwrap_or("");
    if Scenario::begins_with(first) { set.into() } else { format!("transport.parameters.{set}") }
}

/// Resolves a scenario; errors are reported with the place of the invalid key.
fn planned(draft: &Draft, scenario: Scenario) -> Result<Plan, Fault> {
    let mut plan = Plan::new(scenario).map_err(|fault| draft.placed(fault))?;
    output::ports(&plan, &plan.scenario.output.pcap).map_err(|fault| draft.placed(fault))?;
    plan.inputs.0.extend(draft.file.clone());
    check_effect(&plan, draft)?;
    Ok(plan)
}

/// Refuses parameters of transports that are not in the run, and options of the data plane in the
/// simulator: they would have no effect.
fn check_effect(plan: &Plan, draft: &Draft) -> Result<(), Fault> {
    if let (World::Sim, Some(key)) = (plan.scenario.run.world, draft.overridden("dataplane")) {
        let problem =
            "no effect in the simulator: expected `--world dataplane` too, or `incast testbed run`";
        return Err(draft.placed(Fault::at(key, problem)));
    }
    let mut names: Vec<&str> = vec![];
    for transport in plan.cases.iter().flat_map(|case| &case.transports) {
        if !names.contains(&transport.info.name) {
            names.push(transport.info.name);
        }
    }
    for set in draft.overrides() {
        let Some(rest) = set.key.strip_prefix("transport.parameters.") else { continue };
        let name = rest.split('.').next().unwrap_or("");
        if !names.contains(&name) {
            let hint = nearest(name, names.iter().copied());
            let all = names.join(", ");
            let problem = format!("`{name}` is not in this run: expected one of {all}{hint}");
            return Err(Fault::new(problem).placed(format!("--set {}", set.written)));
        }
    }
    Ok(())
}

/// Default title of a comparison.
fn title(scenario: &Scenario) -> String {
    match (&scenario.fabric.topology, scenario.traffic.first()) {
        (Some(topology), Some(Traffic::Poisson(own))) => {
            format!("{} at load {} on {topology}", own.workload, own.load)
        }
        _ => String::new(),
    }
}
