//! What decides the result of a run, as one hash.

use crate::custom::{self, Entry};
use crate::fault::expected;
use crate::inputs::{Contents, sources};
use crate::plan::{Case, Plan, entry};
use crate::scenario::{Node, Scenario, Value};
use crate::{Fault, World};
use incast_measure::InputFile;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// Versions of the results of this program: they rise when a scenario gives other results than
/// before.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// Of everything that is no transport: engine, ports, hosts, traffic, statistics.
    pub engine: u32,
    /// Of what only the data plane has: its clocks, and what carries its frames.
    pub dataplane: u32,
    /// Of what only runs at flow level have.
    pub flow: u32,
    /// Of each transport: its default parameters and its behaviour.
    pub transports: BTreeMap<String, u32>,
}

/// The versions of this program, from `results-versions.toml`.
pub static VERSIONS: LazyLock<Versions> = LazyLock::new(|| {
    toml::from_str(include_str!("../results-versions.toml")).expect("the versions are TOML")
});

/// The version of a transport's results: a number for one of the catalogue, a text for a
/// [registered](crate::custom) control, null for one that is not known.
pub fn transport_version(name: &str) -> serde_json::Value {
    match custom::find(name) {
        Some(Entry::Custom(own)) => {
            let ports = own.ports.info().name;
            json!(format!("{}; {ports} {}", own.identity(), VERSIONS.transports[ports]))
        }
        _ => json!(VERSIONS.transports.get(name)),
    }
}

/// SHA-256, in hexadecimal digits, of all that decides the result of a case: the keys of the
/// scenario that differ from their defaults, the contents of the files that it reads, and the
/// [`VERSIONS`] of the engine and of the case's transports; of a run in the data plane, that of the
/// data plane, too. Title, output, threads and transports that do not occur in the case are no part
/// of it, so a new key or another transport beside it leaves the hash as it is.
pub fn identity(plan: &Plan, case: &Case) -> String {
    let names: Vec<&str> = case.transports.iter().map(|one| one.info.name).collect();
    digest(&plan.scenario, &case.label, &names, &plan.inputs.files, VERSIONS.dataplane)
}

/// The [`identity`] of the run of a scenario of one transport, without planning it. `contents` has
/// the files that it reads ([`gather`](crate::gather)).
///
/// # Errors
/// None or several transports, or one that does not exist.
pub fn identity_of(scenario: &Scenario, contents: &Contents) -> Result<String, Fault> {
    let [label] = scenario.transport.names.as_slice() else {
        let all = scenario.transport.names.join(", ");
        return Err(Fault::value("transport.names", all, expected("one transport")));
    };
    entry(label, "transport.names")?;
    let mut names = vec![label.as_str()];
    for (at, assign) in scenario.transport.assign.iter().enumerate() {
        entry(&assign.name, &format!("transport.assign.{at}.name"))?;
        names.push(&assign.name);
    }
    let mut files = vec![];
    for (name, role) in sources(scenario, |name| contents.contains_key(name)) {
        let Some(content) = contents.get(&name) else { continue };
        if role == "flows" {
            for own in content.plain().into_iter().flat_map(incast_workload::named_transports) {
                entry(own, "transport of a flow")?;
                names.push(own);
            }
        }
        let sha256 = content.sha256.clone();
        files.push(InputFile { name, role: role.into(), sha256, copy: None });
    }
    Ok(digest(scenario, label, &names, &files, VERSIONS.dataplane))
}

fn digest(
    scenario: &Scenario,
    label: &str,
    names: &[&str],
    files: &[InputFile],
    dataplane: u32,
) -> String {
    let world = scenario.run.world;
    let mut scenario = scenario.brief();
    let keys = entries(&mut scenario);
    keys.retain(|(key, _)| key != "title" && key != "output");
    for (key, section) in keys.iter_mut() {
        match key.as_str() {
            "run" => entries(section).retain(|(key, _)| key != "threads"),
            "transport" => keep_only(section, label, names),
            _ => {}
        }
    }
    keys.retain(|(_, node)| !is_empty(node));
    let keys = keys.iter().map(|(key, node)| (key.as_str(), node));
    let versions = names.iter().map(|name| (*name, transport_version(name)));
    let files = files.iter().filter(|file| file.role != "scenario");
    let mut all = json!({
        "engine": VERSIONS.engine,
        "transports": versions.collect::<BTreeMap<_, _>>(),
        "scenario": keys.collect::<BTreeMap<_, _>>(),
        "files": files.map(|file| (&file.role, &file.sha256)).collect::<Vec<_>>(),
    });
    if world == World::DataPlane {
        all["dataplane"] = json!(dataplane);
    }
    if world == World::Flow {
        all["flow"] = json!(VERSIONS.flow);
    }
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(all.to_string().as_bytes()) {
        write!(digits, "{byte:02x}").expect("a string takes all");
    }
    digits
}

/// The keys of a section.
fn entries(node: &mut Node) -> &mut Vec<(String, Node)> {
    match &mut node.value {
        Value::Table(entries) => entries,
        _ => unreachable!("a section is a table"),
    }
}

/// Leaves in `[transport]` what concerns the transports of a case: its name, and the entries of
/// tables by transport.
fn keep_only(section: &mut Node, label: &str, names: &[&str]) {
    let keys = entries(section);
    for (key, node) in keys.iter_mut() {
        match &mut node.value {
            Value::List(_) if key == "names" => *node = Node::text(label),
            Value::Table(by_transport) => {
                by_transport.retain(|(name, _)| names.contains(&name.as_str()));
                by_transport.sort_by(|a, b| a.0.cmp(&b.0));
            }
            _ => {}
        }
    }
    keys.retain(|(_, node)| !is_empty(node));
}

/// Whether a section says nothing.
fn is_empty(node: &Node) -> bool {
    matches!(&node.value, Value::Table(entries) if entries.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    const TEXT: &str = "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ren\", \"phost\"]\n\
        [[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n";

    fn identities(changes: &[&str]) -> Vec<String> {
        let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
        let scenario = Scenario::parse(TEXT, "test", &changes).unwrap_or_else(|f| panic!("{f}"));
        let plan = Plan::new(scenario).unwrap_or_else(|fault| panic!("{fault}"));
        plan.cases.iter().map(|case| identity(&plan, case)).collect()
    }

    #[test]
    fn what_decides_a_result_is_in_its_identity_and_nothing_else() {
        let base = identities(&[]);
        assert_ne!(base[0], base[1]);
        // Keys at their defaults, titles, output and threads are not.
        let same = ["title=x", "output.csv=true", "run.threads=2", "run.seed=1", "fabric.mtu=1500"];
        for change in same {
            assert_eq!(identities(&[change]), base, "{change}");
        }
        let other = ["run.seed=2", "fabric.rate=10Gbps", "traffic.0.size=11KB", "run.warmup=0.2"];
        for change in other {
            let now = identities(&[change]);
            assert!(now[0] != base[0] && now[1] != base[1], "{change}");
        }
        // Of the keys of transports, those of its own.
        for change in ["transport.parameters.phost.free_tokens=3", "transport.routings.phost=ecmp"]
        {
            let now = identities(&[change]);
            assert!(now[0] == base[0] && now[1] != base[1], "{change}");
        }
        assert_eq!(identities(&["transport.names=[\"phost\"]"])[0], base[1]);
    }

    /// Another version of the data plane is another run there, and the same in the simulator.
    #[test]
    fn the_version_of_the_data_plane_concerns_its_own_runs() {
        let of = |world: &str, version: u32| {
            let scenario = Scenario::parse(TEXT, "test", &[format!("run.world={world}")]).unwrap();
            digest(&scenario, "ren", &["ren"], &[], version)
        };
        assert_eq!(of("sim", 1), of("sim", 2));
        assert_ne!(of("dataplane", 1), of("dataplane", 2));
        assert_ne!(of("dataplane", 1), of("sim", 1));
        assert_eq!(of("sim", 1), identities(&[])[0]);
        assert_eq!(of("dataplane", VERSIONS.dataplane), identities(&["run.world=dataplane"])[0]);
    }

    /// Without a network, the identity is that of the planned case, whatever files name, and
    /// wherever their contents come from.
    #[test]
    fn the_identity_needs_no_network() {
        let folder = tempfile::tempdir().unwrap();
        let flows = folder.path().join("flows.csv");
        let text = "src,dst,size_bytes,start_ns,class,transport\n0,1,9000,0,,phost\n1,2,9000,0,,\n";
        std::fs::write(&flows, text).unwrap();
        let assign = "[[transport.assign]]\nname = \"dctcp\"\nhosts = \"1\"\n".to_string();
        let file = format!("[[traffic]]\nkind = \"file\"\nfile = \"{}\"\n", flows.display());
        let plans = [String::new(), assign, file].map(|more| {
            let one = ["transport.names=[\"ren\"]".to_string()];
            Scenario::parse(&format!("{TEXT}{more}"), "test", &one).unwrap()
        });
        let mut seen = std::collections::BTreeSet::new();
        for scenario in plans {
            let mut contents = Contents::new();
            crate::gather(&scenario, &mut contents).unwrap();
            let own = identity_of(&scenario, &contents).unwrap();
            let plan = Plan::new(scenario.clone()).unwrap();
            assert_eq!(own, identity(&plan, &plan.cases[0]));
            let plan = Plan::with_contents(scenario, contents.into()).unwrap();
            assert_eq!(own, identity(&plan, &plan.cases[0]));
            seen.insert(own);
        }
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn every_transport_has_a_version() {
        let known: Vec<&str> = VERSIONS.transports.keys().map(String::as_str).collect();
        let mut all: Vec<&str> =
            incast_protocols::CATALOGUE.iter().map(|entry| entry.info().name).collect();
        all.sort_unstable();
        assert_eq!(known, all);
    }
}
