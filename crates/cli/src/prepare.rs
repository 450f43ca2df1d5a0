//! From what a user gives to a plan: a command's presets, flags, a scenario, overrides.

use crate::arguments::{OfCompare, OfDemo, OfRun};
use crate::flags::Flags;
use incast_experiment::fault::wrong;
use incast_experiment::fault::{expected, one_of};
use incast_experiment::scenario::{Draft, Incast, Node, Traffic};
use incast_experiment::{Fault, Inputs, Plan, Recorded, Scenario, World, output};
use incast_measure::Warning;
use incast_measure::folder::MANIFEST;
use incast_study::Study;
use incast_transport::{Bytes, Notice, Span};
use incast_workload::Start;
use std::path::{Path, PathBuf};

/// The scenario of the demo.
const DEMO: &str = include_str!("demo.toml");

/// A plan, and what its results are called.
pub struct Prepared {
    /// The plan.
    pub plan: Plan,
    /// Name of its results folder, after the number.
    pub label: String,
}

/// Where the scenario of `incast run` comes from.
pub enum Source {
    /// From flags alone.
    Flags,
    /// A scenario file, a manifest, or a results folder.
    File(PathBuf),
    /// Values that have been read already.
    Draft(Box<Draft>),
}

/// The plan of `incast demo`; flags are `--name` with their values.
///
/// # Errors
/// What is wrong with the flags.
pub fn demo(flags: &[(String, Node)]) -> Result<Prepared, Fault> {
    demo_with(&Flags::<OfDemo>::given(flags)?)
}

/// The plan of `incast compare`; `sets` are `key=value`.
///
/// # Errors
/// What is wrong with flags and overrides.
pub fn compare(flags: &[(String, Node)], sets: &[String]) -> Result<Prepared, Fault> {
    compare_with(&Flags::<OfCompare>::given(flags)?, sets)
}

/// The plan of `incast run`; `sets` are `key=value`. Without `allow_changed_files`, a run whose input
/// files have changed is not repeated.
///
/// # Errors
/// What is wrong with the scenario, flags and overrides.
pub fn run(
    source: Source,
    flags: &[(String, Node)],
    sets: &[String],
    allow_changed_files: bool,
) -> Result<Prepared, Fault> {
    run_with(source, None, &Flags::<OfRun>::given(flags)?, sets, allow_changed_files)
}

pub(crate) fn demo_with(flags: &Flags<OfDemo>) -> Result<Prepared, Fault> {
    let mut draft = Draft::preset(DEMO);
    flags.apply(&mut draft);
    let plan = planned(&draft, draft.scenario()?, Inputs::default())?;
    Ok(Prepared { plan, label: "demo".into() })
}

/// The scenario of `incast compare` before it is planned, for a study.
///
/// # Errors
/// What is wrong with flags and overrides.
pub fn compare_draft(flags: &[(String, Node)], sets: &[String]) -> Result<Draft, Fault> {
    drafted(&Flags::<OfCompare>::given(flags)?, sets)
}

fn drafted(flags: &Flags<OfCompare>, sets: &[String]) -> Result<Draft, Fault> {
    let mut draft = Flags::<OfCompare>::presets();
    let recurring = flags.has(PERIOD);
    if flags.has("--incast") {
        let receiver = INCAST.receiver.filter(|_| !recurring);
        draft.add(&Traffic::Incast(Incast { receiver, ..INCAST }));
    } else if let Some(name) = [PERIOD, "--incast-size"].into_iter().find(|name| flags.has(name)) {
        return Err(Fault::at(name, expected("`--incast`, the number of senders, too")));
    }
    flags.apply(&mut draft);
    for set in sets {
        draft.set(&expand(set), set)?;
    }
    if recurring {
        last_as_others(&mut draft)?;
    }
    Ok(draft)
}

/// The flag of recurring incasts.
const PERIOD: &str = "--incast-period";

/// Lets incasts begin as long as other flows start, unless a key says how many there are.
fn last_as_others(draft: &mut Draft) -> Result<(), Fault> {
    let mut scenario = draft.scenario()?;
    let incasts = |one: &Traffic| matches!(one, Traffic::Incast(_));
    let Some(at) = scenario.traffic.iter().position(incasts) else { return Ok(()) };
    let Traffic::Incast(own) = scenario.traffic.remove(at) else { return Ok(()) };
    if own.count.is_some() || own.lasts.is_some() {
        return Ok(());
    }
    let plan = Plan::read(scenario, Inputs::default()).map_err(|fault| draft.placed(fault))?;
    let starts = plan.traffic.flows.iter().filter_map(|flow| match flow.start {
        Start::At(time) => Some(time.0),
        _ => None,
    });
    // Whole nanoseconds, and one incast at least.
    let lasts = starts.max().unwrap_or(0).saturating_sub(own.at.0) / 1000;
    draft.set(&format!("traffic.{at}.lasts={}ns", lasts.max(1)), PERIOD)
}

pub(crate) fn compare_with(flags: &Flags<OfCompare>, sets: &[String]) -> Result<Prepared, Fault> {
    let draft = drafted(flags, sets)?;
    let mut scenario = draft.scenario()?;
    if scenario.title.is_empty() {
        scenario.title = title(&scenario);
    }
    let plan = planned(&draft, scenario, Inputs::default())?;
    Ok(Prepared { plan, label: "compare".into() })
}

/// A scenario with flags and overrides, in `world` if it is given.
pub(crate) fn run_with(
    source: Source,
    world: Option<World>,
    flags: &Flags<OfRun>,
    sets: &[String],
    allow_changed_files: bool,
) -> Result<Prepared, Fault> {
    let (file, Loaded { mut draft, mut warnings, inputs }) = match source {
        Source::Flags => (None, Loaded::of(Flags::<OfRun>::presets())),
        Source::Draft(draft) => (None, Loaded::of(*draft)),
        Source::File(path) => {
            let read = loaded(&path, allow_changed_files)?;
            (Some(path), read)
        }
    };
    if let Some(world) = world {
        let set = format!("run.world={}", world.name());
        draft.set(&set, &set)?;
    }
    flags.apply(&mut draft);
    let draft = draft.sets(sets)?;
    let mut plan = planned(&draft, draft.scenario()?, inputs)?;
    warnings.append(&mut plan.warnings);
    plan.warnings = warnings;
    let label = match &file {
        Some(path) => label(path),
        None => plan.cases[0].label.clone(),
    };
    Ok(Prepared { plan, label })
}

/// A valid file of `incast check`.
pub(crate) enum Checked {
    /// One scenario, with its warnings.
    Scenario(Box<Plan>),
    /// A study.
    Study(Box<Study>),
}

/// A scenario, a study, or a manifest, resolved without running it.
pub(crate) fn checked(path: &Path, sets: &[String]) -> Result<Checked, Fault> {
    let study = path.join("study.toml");
    let path = if study.is_file() { &study } else { path };
    let Loaded { draft, mut warnings, inputs } = loaded(path, false)?;
    let draft = draft.sets(sets)?;
    if draft.written("study").is_some() {
        let study = Study::load_up_to(path, sets, usize::MAX)?;
        study.check()?;
        return Ok(Checked::Study(Box::new(study)));
    }
    let mut plan = planned(&draft, draft.scenario()?, inputs)?;
    warnings.append(&mut plan.warnings);
    plan.warnings = warnings;
    Ok(Checked::Scenario(Box::new(plan)))
}

/// Label of results: the name of the scenario file, or of the repeated results.
fn label(path: &Path) -> String {
    let manifest = path.file_name().is_some_and(|name| name == MANIFEST);
    let named = if manifest { path.parent().unwrap_or(path) } else { path };
    let stem = named.file_stem().map_or("run".into(), |stem| stem.to_string_lossy());
    // The number of the repeated results is dropped: new results get their own.
    let (number, rest) = stem.split_once('-').unwrap_or(("", &stem));
    let numbered = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    if numbered { rest.to_string() } else { stem.into_owned() }
}

/// A scenario that has been read, with what there is to say of it, and its input files.
struct Loaded {
    draft: Draft,
    warnings: Vec<Warning>,
    inputs: Inputs,
}

impl Loaded {
    /// A scenario whose input files are where it says.
    fn of(draft: Draft) -> Loaded {
        Loaded { draft, warnings: vec![], inputs: Inputs::default() }
    }
}

/// Reads a scenario, or that of a manifest, whose input files are the copies in its folder. A file without
/// copy has to be unchanged. With `changed`, files are taken as they are now, with a warning.
fn loaded(path: &Path, changed: bool) -> Result<Loaded, Fault> {
    let Some(manifest) = Recorded::load(path)? else { return Ok(Loaded::of(Draft::load(path)?)) };
    let known = |notices: &[Notice]| notices.iter().map(Warning::known).collect::<Vec<_>>();
    let mut warnings: Vec<Warning> = manifest.warning().iter().map(Warning::known).collect();
    if changed {
        let notices: Vec<Notice> =
            manifest.changed_files_now().iter().map(Recorded::changed_file).collect();
        warnings.extend(known(&notices));
        return Ok(Loaded { inputs: manifest.inputs_now(), draft: manifest.draft, warnings });
    }
    if let Some(fault) = manifest.changed_files().into_iter().next() {
        let problem = format!("{fault}; use `--allow-changed-files` to run anyway");
        return Err(Fault::new(problem));
    }
    warnings.extend(known(&manifest.kept_instead()));
    Ok(Loaded { inputs: manifest.inputs(), draft: manifest.draft, warnings })
}

/// Traffic added by `--incast`; the flag sets the number of senders.
const INCAST: Incast = Incast {
    receiver: Some(0),
    receivers: None,
    from: None,
    senders: None,
    fan_in: None,
    size: Bytes::from_kb(64),
    request: None,
    at: Span::from_us(100),
    period: None,
    rate: None,
    load: None,
    count: None,
    lasts: None,
    burst: None,
    priority: None,
    jitter: Span::ZERO,
};

/// `ren.rule=gap` is short for `transport.parameters.ren.rule=gap`.
fn expand(set: &str) -> String {
    let first = set.split(['.', '=']).next().unwrap_or("");
    if Scenario::begins_with(first) { set.into() } else { format!("transport.parameters.{set}") }
}

/// Resolves a scenario; errors are reported with the place of the invalid key.
fn planned(draft: &Draft, scenario: Scenario, inputs: Inputs) -> Result<Plan, Fault> {
    let mut plan = Plan::read(scenario, inputs).map_err(|fault| draft.placed(fault))?;
    output::check(&plan).map_err(|fault| draft.placed(fault))?;
    plan.inputs.files.extend(draft.file.clone());
    check_effect(&plan, draft)?;
    Ok(plan)
}

/// Refuses parameters of transports that are not in the run, and options of the data plane in the
/// simulator: they would have no effect.
fn check_effect(plan: &Plan, draft: &Draft) -> Result<(), Fault> {
    if let (World::Sim, Some(key)) = (plan.scenario.run.world, draft.overridden("dataplane")) {
        let problem = wrong("no effect in the simulator")
            .expected("`--world dataplane` too, or `incast testbed run`");
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
            let known = one_of(name, names.iter().copied());
            let problem = known.in_part(&format!("`{name}` is not in this run"));
            return Err(Fault::new(problem).placed(format!("--set {}", set.written)));
        }
    }
    Ok(())
}

/// Default title of a comparison.
fn title(scenario: &Scenario) -> String {
    match (&scenario.fabric.topology, scenario.traffic.first()) {
        (Some(topology), Some(Traffic::Poisson(own))) => {
            let senders = scenario.traffic.iter().find_map(|one| match one {
                Traffic::Incast(own) => own.senders,
                _ => None,
            });
            let incasts =
                senders.map_or(String::new(), |count| format!(" and incasts of {count} flows"));
            format!("{} at load {}{incasts} on {topology}", own.workload, own.load)
        }
        _ => String::new(),
    }
}
