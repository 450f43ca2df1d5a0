//! A results folder in memory.

use crate::filling::{Filling, filling};
use crate::lab::{Lab, Progress, run};
use crate::opened::Opened;
use crate::{Trouble, TroubleKind, scenario, shape, warning};
use bytes::Bytes;
use incast_experiment::fault::{expected, wrong};
use incast_experiment::{
    Content, Contents, Fault, Files, InputFile, Inputs, Network, Plan, StoredResults, VERSION,
    changed_since, sources,
};
use incast_explain::{Difference, Repeated, Results};
use incast_fabric::NodeId;
use incast_measure::folder::{MANIFEST, SUMMARY};
use incast_measure::{Number, Outline, Run, TransportShare, Written, files_of, numbers};
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::sync::Arc;

/// Results of one run or of a comparison.
pub struct Folder {
    results: StoredResults,
    runs: Vec<Opened>,
    notes: Vec<String>,
    /// Input files of the scenario that are known.
    inputs: Contents,
    /// The network of all runs, once it has been asked for.
    network: OnceCell<Network>,
}

impl Folder {
    /// Opens the files of a folder, by path. What is in front of the shortest path to a
    /// `manifest.json` is left out.
    ///
    /// # Errors
    /// There is no manifest, it is not that of a run, no run has results, or a file is not whole.
    pub fn new(files: Vec<(String, Bytes)>) -> Result<Folder, Trouble> {
        let results = StoredResults::of(rooted(files)?)?;
        let written = results.runs.iter().filter(|run| run.has_results());
        let runs = written.map(Opened::new).collect::<Result<Vec<Opened>, Trouble>>()?;
        if runs.is_empty() {
            let problem = "the run ended before its results were written, or only a part of the folder was \
                           chosen: choose the whole folder, or repeat the run with `incast run FOLDER`";
            return Err(Trouble::of(TroubleKind::Incomplete, SUMMARY, problem));
        }
        let mut notes = results.notes();
        if results.recorded.warning().is_some() {
            let version = &results.recorded.outline.version;
            let note = format!(
                "written by version {version}, and this page is of {VERSION}: what is stored is shown as it is, \
                 but a repeated run may differ; open it with `incast explore` of that version"
            );
            notes.insert(0, note);
        }
        let (inputs, network) = (Contents::new(), OnceCell::new());
        let mut folder = Folder { results, runs, notes, inputs, network };
        folder.find_inputs();
        Ok(folder)
    }

    /// The files that a run leaves, opened.
    ///
    /// # Errors
    /// None that a run can bring.
    pub fn of(run: &Run, inputs: &scenario::Files) -> Result<Folder, Trouble> {
        let files = files_of(run).into_iter().map(|(name, bytes)| (name, Bytes::from(bytes)));
        let mut folder = Folder::new(files.collect())?;
        for (name, text) in inputs {
            folder.inputs.insert(name.clone(), Content::of(text.as_str()));
        }
        Ok(folder)
    }

    /// Takes input files of the scenario that lie in the folder.
    fn find_inputs(&mut self) {
        for file in self.named().to_vec() {
            let own = file.name.rsplit('/').next().unwrap_or(&file.name);
            let copy = file.copy.as_ref().and_then(|copy| self.files().get(copy));
            let found = copy.or(self.files().get(&file.name)).or(self.files().get(own));
            if let Some(bytes) = found.cloned() {
                // One that has changed is refused where it is added by hand; here it is only not used.
                let _ = self.add_input(&file.name, bytes.to_vec());
            }
        }
    }

    /// Gives an input file by its name in the scenario.
    ///
    /// # Errors
    /// It is not the file that the run has read.
    pub fn add_input(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Trouble> {
        let found = InputFile::of(name, "", &bytes).sha256;
        let known = self.named().iter().find(|file| file.name == name);
        if let Some(fault) = known.and_then(|file| changed_since(file, &found, "the run")) {
            let fault = fault.noted(
                "choose the file as it was, or repeat the run with `incast run FOLDER \
                 --allow-changed-files` and open those results",
            );
            return Err(Trouble { kind: TroubleKind::ChangedFile, fault });
        }
        self.inputs.insert(name.to_string(), Content { bytes, sha256: found });
        Ok(())
    }

    /// What is in it: `ResultsInfo` in `incast-web.d.ts`.
    pub fn info(&self) -> Value {
        let read = |path: &String| {
            [MANIFEST, SUMMARY].iter().any(|name| path.ends_with(name))
                || path.ends_with(".parquet")
        };
        let inputs = self.named().iter().filter(|file| !file.is_scenario());
        let inputs: Vec<Value> = inputs
            .map(|file| {
                let given = self.inputs.contains_key(&file.name);
                json!({
                    "name": file.name, "role": file.role, "sha256": file.sha256, "given": given,
                })
            })
            .collect();
        json!({
            "title": self.title(),
            "version": self.outline().version,
            "notes": self.notes,
            "runs": self.runs.iter().map(|run| self.run_info(run)).collect::<Vec<_>>(),
            "inputs": inputs,
            "others": self.files().keys().filter(|path| !read(path)).collect::<Vec<_>>(),
        })
    }

    /// The title of the scenario, or what was run where.
    fn title(&self) -> String {
        match self.outline().title.as_str() {
            "" => {
                let labels: Vec<&str> =
                    self.runs.iter().map(|one| one.run.transport.as_str()).collect();
                format!("{} on {}", labels.join(", "), self.runs[0].manifest.fabric.topology)
            }
            title => title.to_string(),
        }
    }

    fn outline(&self) -> &Outline {
        &self.results.recorded.outline
    }

    /// The input files that the manifest names.
    fn named(&self) -> &[InputFile] {
        &self.outline().files
    }

    fn run_info(&self, run: &Opened) -> Value {
        let manifest = &run.manifest;
        let warnings = manifest.warnings.iter().map(warning::stated);
        json!({
            "label": run.run.transport,
            "folder": run.run.folder,
            "complete": run.run.complete,
            "flows": run.table("flows").map_or(0, |table| table.rows()),
            "hosts": manifest.fabric.hosts,
            "packet_hops": manifest.packet_hops,
            "simulated_ps": manifest.simulated_ns * 1e3,
            "series_start_ps": manifest.series_start_ns * 1e3,
            "base_rtt_ps": manifest.fabric.base_rtt.0,
            "topology": manifest.fabric.topology,
            "transports": manifest.parameters.keys().collect::<Vec<_>>(),
            "world": manifest.world,
            "not_repeatable": self.not_repeatable(run).unwrap_or_default(),
            "warnings": warnings.collect::<Vec<_>>(),
            "tables": run.names(),
        })
    }

    /// Why a run cannot be repeated, as far as that is known without trying.
    fn not_repeatable(&self, run: &Opened) -> Option<String> {
        let known = incast_explain::not_repeatable(self.outline())
            .or(incast_explain::not_repeatable(&run.manifest.outline))
            .map(str::to_string);
        let missing = self.missing_input(|_| true).map(|trouble| trouble.to_string());
        let scenario = &self.results.scenario;
        let varies = scenario.run.world == incast_experiment::World::DataPlane
            && scenario.dataplane.as_ref().is_some_and(|one| one.clock.varies());
        let advice = "it ran in real time, and no two such runs are equal: it cannot be repeated and \
                      explained; run its scenario with `run.world = \"sim\"`";
        let varies = varies.then(|| advice.to_string());
        known.or(varies).or(missing)
    }

    /// An input file that is not there, of those whose role is `needed`.
    fn missing_input(&self, needed: impl Fn(&str) -> bool) -> Option<Trouble> {
        let missing =
            |(name, role): &(String, &str)| needed(role) && !self.inputs.contains_key(name);
        let sources = sources(&self.results.scenario, |name| self.inputs.contains_key(name));
        let (name, role) = sources.into_iter().find(missing)?;
        let problem = format!(
            "the {role} file of the scenario is not in the folder: choose it too, and the run can be \
             repeated{}",
            if draws(role) { " and its fabric drawn" } else { "" }
        );
        Some(Trouble::of(TroubleKind::MissingFile, &name, problem))
    }

    /// A run by its number.
    ///
    /// # Errors
    /// There are not so many.
    pub fn run(&self, run: usize) -> Result<&Opened, Trouble> {
        let most = self.runs.len() - 1;
        let fault = || Fault::value("run", run, expected(format!("0 to {most}"))).into();
        self.runs.get(run).ok_or_else(fault)
    }

    /// The numbers of a run, and the goodput of each transport if there are several: `Quantity` in
    /// `incast-web.d.ts`.
    ///
    /// # Errors
    /// There is no summary, or one of another version.
    pub fn outcome(&self, run: usize) -> Result<Value, Trouble> {
        let summary = self.run(run)?.run.summary()?;
        let number = |own: &Number| {
            json!({
                "name": own.name, "title": own.listing.title, "doc": own.doc, "unit": own.unit,
                "place": own.listing.laboratory, "whole": own.written == Written::Count, "value": own.of(&summary),
            })
        };
        let shares = summary.fairness.iter().map(|all| &all.shares).filter(|all| all.len() > 1);
        let share = |own: &TransportShare| {
            json!({
                "name": "", "title": format!("goodput of {}", own.transport), "unit": "Gb/s", "whole": false, "place": u8::MAX,
                "doc": "Payload of its flows, from the first start to the end.",
                "value": summary.goodput_gbps(own),
            })
        };
        Ok(numbers().iter().map(number).chain(shares.flatten().map(share)).collect())
    }

    /// The scenario of all runs as TOML.
    pub fn scenario_toml(&self) -> String {
        self.results.scenario.to_brief_toml()
    }

    /// The plan of a run.
    ///
    /// # Errors
    /// An input file is missing, the scenario cannot be planned any more, or the run was in real time.
    fn plan(&self, run: usize) -> Result<Plan, Trouble> {
        self.results(run)?.plan().map_err(Trouble::not_repeatable)
    }

    fn results(&self, run: usize) -> Result<Results, Trouble> {
        let opened = self.run(run)?;
        if let Some(missing) = self.missing_input(|_| true) {
            return Err(missing);
        }
        let inputs = Inputs::of(Arc::new(self.inputs.clone()));
        Ok(Results::of(&self.results, &opened.run, inputs)?)
    }

    /// The network of a run.
    ///
    /// # Errors
    /// An input file is missing, or the scenario cannot be planned any more.
    pub fn fabric(&self, run: usize) -> Result<Value, Trouble> {
        self.run(run)?;
        let network = self.network()?;
        Ok(shape::fabric(&network.fabric, network.base_rtt))
    }

    /// The network, which is the same in all runs. It is built once, and without their flows.
    fn network(&self) -> Result<&Network, Trouble> {
        if let Some(known) = self.network.get() {
            return Ok(known);
        }
        if let Some(missing) = self.missing_input(draws) {
            return Err(missing);
        }
        let network = Network::of(&self.results.scenario, Arc::new(self.inputs.clone()));
        let network = network.map_err(Trouble::not_repeatable)?;
        Ok(self.network.get_or_init(|| network))
    }

    /// The ports on the way of a flow; empty if that is not known.
    ///
    /// # Errors
    /// There is no such flow, or no network.
    pub fn path(&self, run: usize, flow: usize) -> Result<Vec<u32>, Trouble> {
        let opened = self.run(run)?;
        let rows = opened.table("flows")?.rows();
        let Some(path) = opened.path(flow)? else { return Err(no_such_flow(flow, rows)) };
        let fabric = &self.network()?.fabric;
        let nodes: Option<Vec<NodeId>> =
            path.split('>').map(|name| fabric.node_named(name).ok()).collect();
        let link =
            |pair: &[NodeId]| fabric.ports_between(pair[0], pair[1]).first().map(|port| port.0);
        Ok(nodes.and_then(|nodes| nodes.windows(2).map(link).collect()).unwrap_or_default())
    }

    /// Repeats a run with a trace of some flows and explains them.
    ///
    /// # Errors
    /// There is no such flow, the run cannot be repeated, or `progress` says to stop.
    pub fn explain(
        &self,
        number: usize,
        flows: &[u32],
        progress: Progress<'_>,
    ) -> Result<Repeated, Trouble> {
        let opened = self.run(number)?;
        let rows = opened.table("flows")?.rows();
        if let Some(flow) = flows.iter().find(|flow| **flow as usize >= rows) {
            return Err(no_such_flow(*flow as usize, rows));
        }
        if let Some(problem) = incast_explain::not_repeatable(self.outline()) {
            return Err(Trouble::of(TroubleKind::NotRepeatable, MANIFEST, problem));
        }
        let results = self.results(number)?;
        let mut trouble = None;
        let repeated = results.explain_by(flows, |plan| {
            run(plan, 0, progress).map_err(|own| {
                let fault = own.fault.clone();
                trouble = Some(own);
                fault
            })
        });
        let mut repeated =
            repeated.map_err(|fault| trouble.unwrap_or_else(|| Trouble::not_repeatable(fault)))?;
        for explanation in &mut repeated.explanations {
            explanation.notes.extend(self.notes.iter().cloned());
        }
        Ok(repeated)
    }

    /// One flow in two runs.
    ///
    /// # Errors
    /// As [`explain`](Folder::explain).
    pub fn difference(
        &self,
        first: usize,
        second: usize,
        flow: u32,
        progress: Progress<'_>,
    ) -> Result<Difference, Trouble> {
        let mut one = |run: usize| -> Result<_, Trouble> {
            let mut repeated = self.explain(run, &[flow], progress)?;
            let mut explanation = repeated.explanations.remove(0);
            explanation.run = self.run(run)?.run.transport.clone();
            Ok(explanation)
        };
        Ok(Difference::of(one(first)?, one(second)?))
    }

    /// Repeats a run with a trace of one port, and says who filled its queue.
    ///
    /// # Errors
    /// There is no such port, the window is empty, the run cannot be repeated, or `progress` says to
    /// stop.
    pub fn filling(
        &self,
        run: usize,
        port: u32,
        from: u64,
        until: u64,
        progress: Progress<'_>,
    ) -> Result<Filling, Trouble> {
        filling(self.plan(run)?, port, from, until, progress)
    }

    /// The run again, step by step.
    ///
    /// # Errors
    /// It cannot be repeated.
    pub fn lab(&self, run: usize) -> Result<Lab, Trouble> {
        Lab::of(Arc::new(self.plan(run)?), 0)
    }

    /// Its files by path.
    pub fn files(&self) -> &Files {
        self.results.files().expect("they are in memory")
    }
}

fn no_such_flow(flow: usize, rows: usize) -> Trouble {
    let problem = match rows {
        0 => wrong("the run has no flows"),
        _ => wrong("there is no such flow").expected(format!("0 to {}", rows - 1)),
    };
    Trouble { kind: TroubleKind::NoSuchFlow, fault: Fault::value("flow", flow, problem) }
}

/// Whether a network may be drawn from a file: topologies, and flows with failures of links.
fn draws(role: &str) -> bool {
    ["topology", "flows"].contains(&role)
}

/// The files without what is in front of the manifest.
fn rooted(files: Vec<(String, Bytes)>) -> Result<Files, Trouble> {
    let manifests = files.iter().filter_map(|(path, _)| path.strip_suffix(MANIFEST));
    let manifests = manifests.filter(|front| front.is_empty() || front.ends_with('/'));
    let Some(front) = manifests.min_by_key(|front| front.len()).map(str::to_string) else {
        let problem = match files.is_empty() {
            true => "the folder is empty",
            false => "it has no manifest.json",
        };
        let text = format!(
            "not a results folder: {problem}. Choose one that `incast run` or `incast compare` wrote, such as \
             results/0001-demo"
        );
        return Err(Trouble::of(TroubleKind::NoManifest, "", text));
    };
    let own = files.into_iter().filter_map(|(path, bytes)| {
        path.strip_prefix(&front).map(|path| (path.to_string(), bytes))
    });
    Ok(own.collect())
}
