//! `incast check`: what is wrong with a scenario or a study, without running it.

use crate::arguments::Check;
use crate::prepare::{Checked, checked};
use crate::process::Ended;
use incast_experiment::{Fault, Plan};
use incast_study::Study;
use std::path::Path;

pub fn check(options: Check) -> Result<Ended, Fault> {
    if let [file] = &options.files[..] {
        return alone(file, &options.set);
    }
    let mut faults = vec![];
    for file in &options.files {
        match checked(file, &options.set) {
            Ok(valid) => say!("{}", line(file, &valid)),
            Err(fault) => faults.push(fault),
        }
    }
    // The last one is printed by the caller, as that of any command.
    let Some(last) = faults.pop() else { return Ok(Ended::Done) };
    faults.iter().for_each(|fault| eprintln!("error: {fault}"));
    Err(last)
}

/// One file: standard output contains only the scenario, so that it can be kept.
fn alone(file: &Path, sets: &[String]) -> Result<Ended, Fault> {
    let valid = checked(file, sets)?;
    if let Checked::Scenario(plan) = &valid {
        say!("{}", plan.resolved(&plan.cases).to_toml().trim_end());
        eprintln!("{}", line(file, &valid));
    } else {
        say!("{}", line(file, &valid));
    }
    Ok(Ended::Done)
}

/// What a valid file describes; warnings go to standard error.
fn line(file: &Path, valid: &Checked) -> String {
    match valid {
        Checked::Scenario(plan) => {
            let warn = |warning| eprintln!("warning: {}: {warning}", file.display());
            plan.warnings.iter().for_each(warn);
            format!("{}: {}", file.display(), scenario(plan))
        }
        Checked::Study(whole) => format!("{}: {}", file.display(), study(whole)),
    }
}

fn scenario(plan: &Plan) -> String {
    let runs: Vec<String> = plan.cases.iter().map(|case| case.title()).collect();
    let warnings = match plan.warnings.len() {
        0 => "no warnings".into(),
        some => count(some, "warning"),
    };
    format!(
        "{} ({}), {} hosts, {}, {warnings}",
        count(runs.len(), "run"),
        runs.join(", "),
        plan.site.hosts,
        count(plan.traffic.flows.len(), "flow"),
    )
}

fn study(study: &Study) -> String {
    let labels: Vec<&str> = study.series().iter().map(|series| series.label.as_str()).collect();
    let least = if study.repeat().is_some() { "at least " } else { "" };
    let points = count(study.points().len(), "point");
    format!("study of {least}{points} ({})", labels.join(", "))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
