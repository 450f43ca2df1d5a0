//! Manifests: written with results and read to repeat a run.

use crate::Fault;
use crate::buffers::deadlock;
use crate::cuts::cut_off;
use crate::fault::wrong;
use crate::files::bytes_of;
use crate::inputs::{Content, Contents, Inputs};
use crate::plan::{Case, Plan};
use crate::scenario::{Buffer, Draft, Node};
use crate::warnings::{INPUT_CHANGED, INPUT_KEPT, OTHER_VERSION};
use incast_egress::port::Join;
use incast_measure::folder::MANIFEST;
use incast_measure::{
    FabricFacts, InputFile, Machine, Manifest, Outline, PfcFacts, PoolFacts, Run, RunsManifest,
    TrafficFacts,
};
use incast_transport::{Notice, RunRecord};
use incast_world::Pfc;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::{Arc, OnceLock};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything needed to repeat a case, and where it ran. What is known only of the whole run, as its warnings, is
/// filled in later.
pub fn manifest(
    plan: &Plan,
    case: &Case,
    record: &RunRecord,
    threads: usize,
    wall: Option<f64>,
) -> Manifest {
    let parameters = case.transports.iter().map(|transport| {
        let values = transport.configured.resolved().into_iter();
        let mut table: BTreeMap<String, String> =
            values.map(|(key, value)| (key.to_string(), value)).collect();
        table.insert("routing".into(), transport.routing.name().into());
        (transport.info.name.to_string(), table)
    });
    let join = Join::NAMES.iter().find(|(_, one)| *one == plan.join);
    let marking = case.transports.iter().find(|one| Some(one.info.id) == case.marking);
    Manifest {
        outline: outline_of(plan, std::slice::from_ref(case), &plan.scenario.title),
        interrupted: record.interrupted,
        deadlock: deadlock(&plan.fabric, record),
        stalled_since: record.stalled_since.map(|since| since.to_string()),
        cut_off: cut_off(plan, record),
        transport: case.label.clone(),
        label: case.title(),
        parameters: parameters.collect(),
        join: join.map(|(name, _)| name.to_string()),
        marking: marking.map(|one| one.info.name.into()),
        fabric: fabric(plan),
        traffic: TrafficFacts {
            flows: plan.traffic.flows.len(),
            load_definition: plan.traffic.load_definition.clone(),
            offered_load: plan.traffic.offered_load,
            total_bytes: u64::try_from(plan.traffic.total_bytes()).unwrap_or(u64::MAX),
        },
        seed: plan.scenario.run.seed,
        world: plan.scenario.run.world.name().into(),
        threads,
        warnings: vec![],
        machine: machine(),
        wall_seconds: wall,
        simulated_ns: record.ended.as_ns_f64(),
        series_start_ns: record.series_start.as_ns_f64(),
        packet_hops: record.packet_hops,
        events: record.events,
        fidelity: None,
        flow_level: None,
    }
}

fn fabric(plan: &Plan) -> FabricFacts {
    let site = &plan.site;
    FabricFacts {
        topology: plan.fabric.name().to_string(),
        hosts: plan.fabric.hosts(),
        base_rtt: site.base_rtt,
        bdp_packets: site.bdp_packets(site.host_rate),
        host_rate: site.host_rate.to_string(),
        max_rate: site.max_rate.to_string(),
        buffer: Buffer(site.buffer).to_string(),
        pfc: plan.pfc.as_deref().map(pfc),
        shared_buffer: plan.shared.map(|own| PoolFacts { pool_bytes: own.pool, alpha: own.alpha }),
        charged_mtu_bytes: site.framing.charged_mtu(),
    }
}

/// What is known of all cases of a plan before they run: enough to repeat them.
pub fn outline(plan: &Plan, title: &str) -> Outline {
    outline_of(plan, &plan.cases, title)
}

fn outline_of(plan: &Plan, cases: &[Case], title: &str) -> Outline {
    Outline {
        version: VERSION.into(),
        title: title.into(),
        scenario: json!(plan.resolved(cases)),
        files: plan.inputs.files.clone(),
        directory: directory(),
        complete: false,
        processes: None,
    }
}

/// The manifest of several runs: the outline, and the manifest of each.
pub fn comparison(plan: &Plan, title: &str, runs: &[Run]) -> RunsManifest {
    let runs = runs.iter().map(|run| run.manifest.clone()).collect();
    RunsManifest { outline: outline(plan, title), runs }
}

fn pfc(pfc: &Pfc) -> PfcFacts {
    let (least, most) = pfc.xoff_range();
    PfcFacts {
        classes: (0..8).filter(|class| pfc.lossless.has(*class)).collect(),
        xoff_bytes: least,
        xoff_bytes_max: most,
        release_bytes: pfc.release,
        headroom_bytes_max: pfc.headroom.iter().max().copied(),
    }
}

/// Asked once: each run of a study has a manifest, and the system takes its time to describe all cores.
fn machine() -> Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    let cores = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let describe = || Machine { cpu: cpu(), cores: cores(), os: std::env::consts::OS.into() };
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

/// Why a file of a results folder is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not there.
    Missing,
    /// It is not whole.
    Damaged,
    /// It is of another kind or version.
    Refused,
}

/// What is wrong with a file of a results folder.
#[derive(Clone, Debug)]
pub struct UnreadFile {
    /// In short.
    pub why: Unread,
    /// In words.
    pub fault: Fault,
}

impl UnreadFile {
    pub(crate) fn new(why: Unread, place: &str, problem: impl std::fmt::Display) -> UnreadFile {
        UnreadFile { why, fault: Fault::new(problem).placed(place) }
    }
}

impl From<UnreadFile> for Fault {
    fn from(unread: UnreadFile) -> Fault {
        unread.fault
    }
}

/// Reads JSON of a results folder; `name` is its path in messages, and `version` the version that wrote it.
pub(crate) fn read_json<T: DeserializeOwned>(
    text: &[u8],
    name: &str,
    version: Option<&str>,
) -> Result<T, UnreadFile> {
    serde_json::from_slice(text).map_err(|error| {
        let problem = match error.classify() {
            Category::Eof => "truncated: copy the folder again, or repeat the run".to_string(),
            Category::Data => {
                let by = version.map_or(String::new(), |own| format!("written by version {own}, "));
                let problem = format!(
                    "{by}not as version {VERSION} writes it ({error}): `incast run FOLDER` repeats the run"
                );
                return UnreadFile::new(Unread::Refused, name, problem);
            }
            _ => format!("not JSON: {error}"),
        };
        UnreadFile::new(Unread::Damaged, &format!("{name}:{}", error.line()), problem)
    })
}

/// What a run, or several together, recorded in a manifest: read to repeat it.
#[derive(Debug)]
pub struct Recorded {
    /// Name in messages.
    name: String,
    /// The scenario.
    pub draft: Draft,
    /// What the manifest says.
    pub outline: Outline,
    /// Input files of which the folder has copies.
    kept: Contents,
}

impl Recorded {
    /// Reads a manifest, or that of a results folder; `None` if `path` is a file of another kind.
    pub fn load(path: &Path) -> Result<Option<Recorded>, Fault> {
        let file = match path.is_dir() {
            true => path.join(MANIFEST),
            false => path.to_path_buf(),
        };
        let name = file.display().to_string();
        if path.is_dir() && !file.is_file() {
            let problem = wrong("not a results folder: it has no manifest.json")
                .expected("one that `incast run` or `incast compare` wrote");
            return Err(Fault::new(problem).placed(path.display().to_string()));
        }
        let bytes = bytes_of(&name)?;
        let json = file.extension().is_some_and(|ending| ending == "json");
        if !json && bytes.trim_ascii_start().first() != Some(&b'{') {
            return Ok(None);
        }
        let input = InputFile::of(&name, "manifest", &bytes);
        let mut recorded = Recorded::parse(&bytes, &name)?;
        recorded.draft.file = Some(input);
        recorded.find_copies(file.parent().unwrap_or(Path::new("")))?;
        Ok(Some(recorded))
    }

    /// Takes the copies of input files in its folder, or, for a run of several, in the one above. A copy
    /// that is not what was read is none.
    fn find_copies(&mut self, folder: &Path) -> Result<(), Fault> {
        for file in &self.outline.files {
            let Some(copy) = &file.copy else { continue };
            // What a manifest of somebody else names must lie within its folder.
            let inside = |part| matches!(part, Component::Normal(_));
            if !Path::new(copy).components().all(inside) {
                continue;
            }
            let places = [folder.join(copy), folder.join("..").join(copy)];
            let mut found = places.iter().filter_map(|place| std::fs::read(place).ok());
            let own = found.find_map(|bytes| {
                Some(Content::of(bytes)).filter(|content| content.sha256 == file.sha256)
            });
            self.kept.extend(own.map(|content| (file.name.clone(), content)));
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
        let read = self.outline.files.iter().filter(|file| self.kept.contains_key(&file.name));
        let changed = read.filter(|file| {
            let now = std::fs::read(&file.name).ok();
            now.is_some_and(|bytes| InputFile::of("", "", &bytes).sha256 != file.sha256)
        });
        changed.map(|file| INPUT_KEPT.notice(&[("file", &file.name)])).collect()
    }

    /// Reads a manifest; `name` appears in messages.
    pub fn parse(text: &[u8], name: &str) -> Result<Recorded, UnreadFile> {
        let refused = |problem: String| UnreadFile::new(Unread::Refused, name, problem);
        let all: Value = read_json(text, name, None)?;
        let said = |key: &str| all.get(key).and_then(Value::as_str);
        let Some(version) = said("version") else {
            return Err(refused(match said("experiment") {
                Some(own) => format!("the manifest of a reproduction: `incast reproduce {own}`"),
                None => "not an incast manifest: the key `version` is missing".into(),
            }));
        };
        if all.get("scenario").is_none() {
            return Err(refused(format!(
                "written by version {version}, which did not keep the scenario: it cannot be repeated from \
                 this file"
            )));
        }
        let outline: Outline = read_json(text, name, Some(version))?;
        let node =
            Node::deserialize(&outline.scenario).map_err(|error| refused(error.to_string()))?;
        let (draft, name) = (Draft::of_node(node, name), name.to_string());
        let mut recorded = Recorded { name, draft, outline, kept: Contents::new() };
        recorded.draft.note = recorded.warning().map(|notice| notice.text);
        Ok(recorded)
    }

    /// Warning if another version wrote the manifest.
    pub fn warning(&self) -> Option<Notice> {
        let (name, version) = (&self.name, &self.outline.version);
        (version != VERSION).then(|| {
            OTHER_VERSION.notice(&[("manifest", name), ("version", version), ("own", &VERSION)])
        })
    }

    /// The warning for one of [the changed files](Recorded::changed_files).
    pub fn changed_file(fault: &Fault) -> Notice {
        let (file, change) = (fault.place(), fault.problem());
        INPUT_CHANGED.notice(&[("file", &file), ("change", &change)])
    }

    /// Input files without a copy that are missing or have changed.
    pub fn changed_files(&self) -> Vec<Fault> {
        // A scenario is in the manifest itself.
        let read = |file: &&InputFile| !file.is_scenario() && !self.kept.contains_key(&file.name);
        self.outline.files.iter().filter(read).filter_map(|file| self.changed(file)).collect()
    }

    /// Input files that are missing or have changed, of those that [`inputs_now`](Recorded::inputs_now)
    /// reads.
    pub fn changed_files_now(&self) -> Vec<Fault> {
        let read = |file: &&InputFile| {
            !file.is_scenario()
                && (Path::new(&file.name).is_file() || !self.kept.contains_key(&file.name))
        };
        self.outline.files.iter().filter(read).filter_map(|file| self.changed(file)).collect()
    }

    fn changed(&self, file: &InputFile) -> Option<Fault> {
        let now = match bytes_of(&file.name) {
            Ok(bytes) => InputFile::of(&file.name, &file.role, &bytes),
            Err(fault) => {
                let from = match self.outline.directory.as_str() {
                    "" => String::new(),
                    place => format!("; the original run was started in {place}"),
                };
                return Some(Fault::new(format!("{}{from}", fault.problem())).placed(&*file.name));
            }
        };
        changed_since(file, &now.sha256, &format!("{} was written", self.name))
    }
}

/// That an input file is not what the run has read, if it is not.
pub fn changed_since(read: &InputFile, now: &str, since: &str) -> Option<Fault> {
    let problem = wrong(format!("changed since {since}"))
        .expected(format!("SHA-256 {}, found {now}", read.sha256));
    (now != read.sha256).then(|| Fault::new(problem).placed(&*read.name))
}
