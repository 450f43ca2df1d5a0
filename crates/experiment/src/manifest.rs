//! Manifests: written with results and read to repeat a run.

use crate::Fault;
use crate::buffers::deadlock;
use crate::cuts::cut_off;
use crate::inputs::{Content, Contents, InputFile, Inputs, bytes_of, text_of};
use crate::plan::{Case, Plan};
use crate::scenario::{Buffer, Draft, Node};
use crate::warnings::{INPUT_CHANGED, INPUT_KEPT, OTHER_VERSION};
use incast_egress::port::Join;
use incast_measure::Run;
use incast_transport::{Notice, RunRecord};
use incast_world::Pfc;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Component, Path};
use std::sync::{Arc, OnceLock};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything needed to repeat a case, and where it ran.
pub fn manifest(
    plan: &Plan,
    case: &Case,
    record: &RunRecord,
    threads: usize,
    wall: Option<f64>,
) -> Value {
    let parameters: serde_json::Map<String, Value> = case
        .transports
        .iter()
        .map(|transport| {
            let values = transport.configured.resolved().into_iter();
            let values = values.map(|(key, value)| (key.to_string(), Value::String(value)));
            let mut table: serde_json::Map<String, Value> = values.collect();
            table.insert("routing".into(), json!(transport.routing.name()));
            (transport.info.name.to_string(), Value::Object(table))
        })
        .collect();
    json!({
        "deadlock": deadlock(&plan.fabric, record),
        "stalled_since": record.stalled_since.map(|since| since.to_string()),
        "cut_off": cut_off(plan, record),
        "interrupted": record.interrupted,
        "version": VERSION,
        "title": plan.scenario.title,
        "scenario": plan.resolved(std::slice::from_ref(case)),
        "files": plan.inputs.files,
        "directory": directory(),
        "transport": case.label,
        "label": case.title(),
        "parameters": parameters,
        "join": Join::NAMES.iter().find(|(_, one)| *one == plan.join).map(|(name, _)| *name),
        "marking": case.transports.iter().find(|l| Some(l.info.id) == case.marking).map(|l| l.info.name),
        "fabric": {
            "topology": plan.fabric.name(),
            "hosts": plan.fabric.hosts(),
            "base_rtt": plan.site.base_rtt.to_string(),
            "bdp_packets": plan.site.bdp_packets(plan.site.host_rate),
            "host_rate": plan.site.host_rate.to_string(),
            "max_rate": plan.site.max_rate.to_string(),
            "buffer": Buffer(plan.site.buffer).to_string(),
            "pfc": plan.pfc.as_deref().map(pfc_json),
            "shared_buffer": plan.shared.map(|s| json!({"pool_bytes": s.pool, "alpha": s.alpha})),
            "charged_mtu_bytes": plan.site.framing.charged_mtu(),
        },
        "traffic": {
            "flows": plan.traffic.flows.len(),
            "load_definition": plan.traffic.load_definition,
            "offered_load": plan.traffic.offered_load,
            "total_bytes": plan.traffic.total_bytes(),
        },
        "seed": plan.scenario.run.seed,
        "world": plan.scenario.run.world.name(),
        "threads": threads,
        "machine": machine(),
        "wall_seconds": wall,
        "simulated_ns": record.ended.as_ns_f64(),
        "series_start_ns": record.series_start.as_ns_f64(),
        "packet_hops": record.packet_hops,
        "events": record.events,
    })
}

/// What is known of all cases of a plan before they run: enough to repeat them.
pub fn outline(plan: &Plan, title: &str) -> Value {
    json!({
        "version": VERSION,
        "title": title,
        "scenario": plan.resolved(&plan.cases),
        "files": plan.inputs.files,
        "directory": directory(),
    })
}

/// The manifest of several runs: the outline, and the manifest of each.
pub fn comparison(plan: &Plan, title: &str, runs: &[Run]) -> Value {
    let mut all = outline(plan, title);
    all["runs"] = runs.iter().map(|run| run.manifest.clone()).collect();
    all
}

fn pfc_json(pfc: &Pfc) -> Value {
    let classes: Vec<u8> = (0..8).filter(|class| pfc.lossless.has(*class)).collect();
    let (least, most) = pfc.xoff_range();
    json!({
        "classes": classes,
        "xoff_bytes": least,
        "xoff_bytes_max": most,
        "release_bytes": pfc.release,
        "headroom_bytes_max": pfc.headroom.iter().max(),
    })
}

/// Asked once: each run of a study has a manifest, and the system takes its time to describe all cores.
fn machine() -> Value {
    static MACHINE: OnceLock<Value> = OnceLock::new();
    let describe = || {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        json!({ "cpu": cpu(), "cores": cores, "os": std::env::consts::OS })
    };
    MACHINE.get_or_init(describe).clone()
}

/// The current directory, to which file names are relative.
fn directory() -> String {
    std::env::current_dir().map_or(String::new(), |place| place.display().to_string())
}

/// Name of the processor, if the system reports it.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or(std::env::consts::ARCH).to_string()
}

/// A manifest read to repeat its run.
#[derive(Debug)]
pub struct Manifest {
    /// Name in messages.
    name: String,
    /// The scenario.
    pub draft: Draft,
    version: String,
    files: Vec<InputFile>,
    directory: String,
    /// Input files of which the folder has copies.
    kept: Contents,
}

impl Manifest {
    /// Reads a manifest, or that of a results folder; `None` if `path` is a file of another kind.
    pub fn load(path: &Path) -> Result<Option<Manifest>, Fault> {
        let file = match path.is_dir() {
            true => path.join("manifest.json"),
            false => path.to_path_buf(),
        };
        let name = file.display().to_string();
        if path.is_dir() && !file.is_file() {
            let problem = "not a results folder: it has no manifest.json; expected one that `incast run` or \
                           `incast compare` wrote";
            return Err(Fault::new(problem).placed(path.display().to_string()));
        }
        let bytes = bytes_of(&name)?;
        let json = file.extension().is_some_and(|ending| ending == "json");
        if !json && bytes.trim_ascii_start().first() != Some(&b'{') {
            return Ok(None);
        }
        let input = InputFile::of(&name, "manifest", &bytes);
        let mut manifest = Manifest::parse(&text_of(&name, bytes)?, &name)?;
        manifest.draft.file = Some(input);
        manifest.draft.note = manifest.warning().map(|notice| notice.text);
        manifest.find_copies(file.parent().unwrap_or(Path::new("")))?;
        Ok(Some(manifest))
    }

    /// Takes the copies of input files in its folder, or, for a run of several, in the one above. A copy
    /// that is not what was read is none.
    fn find_copies(&mut self, folder: &Path) -> Result<(), Fault> {
        for file in &self.files {
            let Some(copy) = &file.copy else { continue };
            // What a manifest of somebody else names must lie within its folder.
            let inside = |part| matches!(part, Component::Normal(_));
            if !Path::new(copy).components().all(inside) {
                continue;
            }
            let places = [folder.join(copy), folder.join("..").join(copy)];
            let found = places.iter().filter_map(|place| std::fs::read(place).ok());
            let is_it = |bytes: &Vec<u8>| InputFile::of("", "", bytes).sha256 == file.sha256;
            if let Some(bytes) = found.into_iter().find(is_it) {
                let sha256 = file.sha256.clone();
                let content = Content { text: text_of(&file.name, bytes)?, sha256 };
                self.kept.insert(file.name.clone(), content);
            }
        }
        Ok(())
    }

    /// The input files of the run: the copies in its folder; what has none is read where it was.
    pub fn inputs(&self) -> Inputs {
        Inputs::beside(Arc::new(self.kept.clone()))
    }

    /// The same, but files that have changed since are taken as they are now.
    pub fn inputs_now(&self) -> Inputs {
        let mut kept = self.kept.clone();
        kept.retain(|name, _| !Path::new(name).is_file());
        Inputs::beside(Arc::new(kept))
    }

    /// What is to be said of files that have changed since the run, but of which there are copies.
    pub fn kept_instead(&self) -> Vec<Notice> {
        let read = self.files.iter().filter(|file| self.kept.contains_key(&file.name));
        let changed = read.filter(|file| {
            let now = std::fs::read(&file.name).ok();
            now.is_some_and(|bytes| InputFile::of("", "", &bytes).sha256 != file.sha256)
        });
        changed.map(|file| INPUT_KEPT.notice(&[("file", &file.name)])).collect()
    }

    /// Reads the text of a manifest; `name` appears in messages.
    pub fn parse(text: &str, name: &str) -> Result<Manifest, Fault> {
        let all: Value = serde_json::from_str(text).map_err(|error| {
            let problem = match error.is_eof() {
                true => "the manifest is truncated: copy the folder again, or repeat the run"
                    .to_string(),
                false => format!("not JSON: {error}"),
            };
            Fault::new(problem).placed(format!("{name}:{}", error.line()))
        })?;
        let fail = |problem: String| Fault::new(problem).placed(name);
        let Some(version) = all.get("version").and_then(Value::as_str) else {
            return Err(fail(match all.get("experiment").and_then(Value::as_str) {
                Some(own) => format!("the manifest of a reproduction: `incast reproduce {own}`"),
                None => "not an incast manifest: the key `version` is missing".into(),
            }));
        };
        let Some(scenario) = all.get("scenario") else {
            return Err(fail(format!(
                "written by version {version}, which did not keep the scenario: it cannot be \
                 repeated from this file"
            )));
        };
        let node = Node::deserialize(scenario).map_err(|error| fail(error.to_string()))?;
        let files = all.get("files").cloned().unwrap_or(json!([]));
        let files = serde_json::from_value(files);
        Ok(Manifest {
            name: name.into(),
            draft: Draft::of_node(node, name),
            version: version.into(),
            files: files.map_err(|error| fail(format!("files: {error}")))?,
            directory: all.get("directory").and_then(Value::as_str).unwrap_or_default().into(),
            kept: Contents::new(),
        })
    }

    /// Warning if another version wrote the manifest.
    pub fn warning(&self) -> Option<Notice> {
        let Manifest { name, version, .. } = self;
        (version != VERSION).then(|| {
            OTHER_VERSION.notice(&[("manifest", name), ("version", version), ("own", &VERSION)])
        })
    }

    /// The warning for one of [the changed files](Manifest::changed_files).
    pub fn changed_file(fault: &Fault) -> Notice {
        let (file, change) = (fault.place(), fault.problem());
        INPUT_CHANGED.notice(&[("file", &file), ("change", &change)])
    }

    /// Input files without a copy that are missing or have changed.
    pub fn changed_files(&self) -> Vec<Fault> {
        // A scenario is in the manifest itself.
        let read = |file: &&InputFile| !file.is_scenario() && !self.kept.contains_key(&file.name);
        self.files.iter().filter(read).filter_map(|file| self.changed(file)).collect()
    }

    /// Input files that are missing or have changed, of those that [`inputs_now`](Manifest::inputs_now)
    /// reads.
    pub fn changed_files_now(&self) -> Vec<Fault> {
        let read = |file: &&InputFile| {
            !file.is_scenario()
                && (Path::new(&file.name).is_file() || !self.kept.contains_key(&file.name))
        };
        self.files.iter().filter(read).filter_map(|file| self.changed(file)).collect()
    }

    fn changed(&self, file: &InputFile) -> Option<Fault> {
        let now = match bytes_of(&file.name) {
            Ok(bytes) => InputFile::of(&file.name, &file.role, &bytes),
            Err(fault) => {
                let from = match self.directory.as_str() {
                    "" => String::new(),
                    place => format!("; the original run was started in {place}"),
                };
                return Some(Fault::new(format!("{}{from}", fault.problem())).placed(&*file.name));
            }
        };
        let problem = format!(
            "changed since {} was written: expected SHA-256 {}, found {}",
            self.name, file.sha256, now.sha256
        );
        (now.sha256 != file.sha256).then(|| Fault::new(problem).placed(&*file.name))
    }
}
