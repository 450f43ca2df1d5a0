//! The cores over which a switch spreads its ports.

use super::Node;
use crate::fault::{Problem, expected, wrong};
use crate::plan::Plan;
use crate::{Fault, prepare};
use incast_dataplane::{one_core_only, system};

/// Cores of a node, each with a thread for some of its ports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cores {
    cores: Vec<usize>,
    groups: Vec<Vec<u32>>,
    /// Whether an idle thread keeps its core, which is then quicker to answer: for cores on which
    /// nothing else runs.
    pub polls: bool,
}

impl Cores {
    /// The cores of `list`, such as `2,3` or `2-5`, for a node: its ports are dealt out in turn.
    ///
    /// # Errors
    /// No such cores, more of them than ports, or a switch whose ports cannot be spread.
    pub fn new(plan: &Plan, node: &Node, list: &str) -> Result<Cores, Fault> {
        let refuse = |problem: Problem| Fault::new(problem).placed(format!("--lcores {list}"));
        let cores = numbers(list)
            .ok_or_else(|| refuse(expected("numbers of cores, each once: 2,3 or 2-5")))?;
        let allowed = system::allowed_cores();
        if let Some(absent) = cores.iter().find(|core| !allowed.contains(core)) {
            let all: Vec<String> = allowed.iter().map(usize::to_string).collect();
            let problem = wrong(format!("core {absent} is not there"));
            return Err(refuse(problem.expected(format!("some of {}", all.join(", ")))));
        }
        let ports: Vec<u32> = node.ports.iter().map(|(port, _)| *port).collect();
        if cores.len() > ports.len() {
            let (name, ports) = (&node.name, ports.len());
            return Err(refuse(wrong(format!(
                "{} cores, but {name} has {ports} ports",
                cores.len()
            ))));
        }
        if cores.len() > 1 {
            let setup = prepare(plan, &plan.cases[0], vec![])?;
            if let Some(why) = one_core_only(&setup, node.id.0) {
                let name = &node.name;
                return Err(refuse(wrong(format!(
                    "{name} needs one core for all its ports: {why}"
                ))));
            }
        }
        let of = |place: usize| ports.iter().skip(place).step_by(cores.len()).copied().collect();
        let groups = (0..cores.len()).map(of).collect();
        Ok(Cores { cores, groups, polls: false })
    }

    /// Each core, with its ports; empty if the node has not been given any.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Vec<u32>)> {
        self.cores.iter().copied().zip(&self.groups)
    }

    /// The ports of each core.
    pub(super) fn groups(&self) -> &[Vec<u32>] {
        &self.groups
    }
}

/// Different numbers and ranges of them, separated by commas; at least one.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut all = vec![];
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let range = (first <= last && last < 4_096).then_some(first..=last)?;
        for core in range {
            if all.contains(&core) {
                return None;
            }
            all.push(core);
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::nodes::Outlet;

    #[test]
    fn cores_are_listed() {
        assert_eq!(numbers("2"), Some(vec![2]));
        assert_eq!(numbers("4,0-2"), Some(vec![4, 0, 1, 2]));
        for wrong in ["", "1,", "a", "3-2", "1,1", "0-2,1", "0-99999"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }

    /// The switch of a star, or the first of a leaf-spine.
    fn cores(text: &str, list: &str) -> Result<Cores, Fault> {
        let traffic = "[[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"1\"\nsize = \"1MB\"\n";
        let plan = Plan::new(Scenario::parse(&format!("{text}{traffic}"), "test", &[]).unwrap());
        let plan = plan.unwrap();
        let id = incast_fabric::NodeId(plan.fabric.hosts());
        let outlet = |port| (port, Outlet::Interface(format!("p{port}")));
        let ports = plan.fabric.ports_of(id).map(outlet).collect();
        Cores::new(&plan, &Node { id, name: "leaf0".into(), ports, past_switch: false }, list)
    }

    #[test]
    fn ports_are_spread_where_they_have_nothing_in_common() {
        let star = |more: &str, transport: &str| {
            format!(
                "[fabric]\ntopology = \"star:3\"\n{more}[transport]\nnames = [\"{transport}\"]\n"
            )
        };
        let allowed = system::allowed_cores();
        let [first, second, ..] = allowed[..] else { return };
        let both = format!("{first},{second}");
        let spread = cores(&star("", "dctcp"), &both).unwrap();
        let groups: Vec<(usize, Vec<u32>)> =
            spread.iter().map(|(core, ports)| (core, ports.clone())).collect();
        assert_eq!(groups, [(first, vec![3, 5]), (second, vec![4])]);
        let refused = |text: &str, list: &str| cores(text, list).unwrap_err().to_string();
        assert!(refused(&star("", "dctcp"), "4000").contains("core 4000 is not there"));
        let why = refused(&star("[fabric.pfc]\n", "dctcp"), &both);
        assert!(why.contains("with PFC"), "{why}");
        let why = refused(&star("[fabric.shared_buffer]\npool = \"1MB\"\n", "dctcp"), &both);
        assert!(why.contains("share one buffer"), "{why}");
        let why = refused(&star("forwarding = \"cut_through\"\n", "dctcp"), &both);
        assert!(why.contains("cuts through"), "{why}");
        let why = refused(&star("", "fasttune"), &both);
        assert!(why.contains("hook"), "{why}");
    }
}
