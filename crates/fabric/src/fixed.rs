//! Paths that a user fixes, flow by flow, and the file that says them.

use crate::{Fabric, NodeId, PortId, TopologyError};
use incast_units::fault::{self, Problem, nearest, wrong};
use std::collections::BTreeMap;

/// What a packet of a flow does at one switch of the flow's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    switch: NodeId,
    /// The port towards the flow's destination.
    onward: PortId,
    /// The port towards its source.
    back: PortId,
}

/// Fixed paths of some flows of a run. Packets from a flow's source to its destination take the
/// path, packets the other way its reverse.
///
/// The file is CSV. Its first line is `flow,path`, or `src,dst,path` for every flow between two
/// hosts. A path is the switches in order, separated by spaces; empty lines and lines that begin
/// with `#` are skipped:
///
/// ```text
/// src,dst,path
/// host0,host5,leaf0 spine1 leaf2
/// ```
///
/// A path is one of the shortest between its hosts. Where parallel links connect two switches it
/// takes the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedPaths {
    /// Where the path of a flow begins in `steps`, and where it ends.
    spans: Vec<(u32, u32)>,
    steps: Vec<Step>,
    /// Destination of each flow.
    to: Vec<u32>,
}

/// What a line is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    Flow,
    Pair,
}

/// One line of the file.
struct Row<'a> {
    file: &'a str,
    number: usize,
}

impl Row<'_> {
    fn fail(&self, problem: impl Into<Problem>) -> TopologyError {
        TopologyError::malformed(problem).at(self.file, Some(self.number as u32))
    }
}

impl FixedPaths {
    /// Reads the text of a file. `ends` are the source and destination of each flow of the run.
    ///
    /// # Errors
    /// A line that says no path of a flow of the run, with file, line and value; a file without
    /// paths.
    pub fn read(
        file: &str,
        text: &str,
        fabric: &Fabric,
        ends: &[(u32, u32)],
    ) -> Result<FixedPaths, TopologyError> {
        let lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
        let mut lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let (first, number) = lines.next().unwrap_or(("", 1));
        let head = head(&Row { file, number }, first)?;
        let mut paths = FixedPaths {
            spans: vec![(0, 0); ends.len()],
            steps: vec![],
            to: ends.iter().map(|(_, dst)| *dst).collect(),
        };
        let mut of_pair: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (flow, pair) in ends.iter().enumerate() {
            of_pair.entry(*pair).or_default().push(flow as u32);
        }
        let mut given_at: BTreeMap<u32, usize> = BTreeMap::new();
        for (line, number) in lines {
            let row = Row { file, number };
            let (flows, path) = match head {
                Head::Flow => one_flow(&row, line, ends.len())?,
                Head::Pair => flows_between(&row, line, fabric, &of_pair)?,
            };
            for flow in &flows {
                if let Some(before) = given_at.insert(*flow, number) {
                    let problem = format!("flow {flow} has its path in line {before} already");
                    return Err(row.fail(problem));
                }
            }
            let (src, dst) = ends[flows[0] as usize];
            let start = paths.steps.len() as u32;
            paths.steps.extend(steps(&row, fabric, path, src, dst)?);
            let span = (start, paths.steps.len() as u32);
            flows.iter().for_each(|flow| paths.spans[*flow as usize] = span);
        }
        if paths.steps.is_empty() {
            let problem = fault::expected(format!("a path after `{first}`; the file has none"));
            return Err(Row { file, number }.fail(problem));
        }
        Ok(paths)
    }

    /// The port by which a packet of a flow that heads for `host` leaves a switch; `None` for a flow
    /// without a fixed path.
    #[inline]
    pub fn port(&self, flow: u32, switch: NodeId, host: u32) -> Option<PortId> {
        let (start, end) = *self.spans.get(flow as usize)?;
        let mut steps = self.steps[start as usize..end as usize].iter();
        let step = steps.find(|step| step.switch == switch)?;
        Some(if self.to[flow as usize] == host { step.onward } else { step.back })
    }

    /// Whether a flow has a fixed path.
    pub fn fixes(&self, flow: u32) -> bool {
        self.spans.get(flow as usize).is_some_and(|(start, end)| start < end)
    }
}

fn head(row: &Row, line: &str) -> Result<Head, TopologyError> {
    let columns: Vec<&str> = line.split(',').map(str::trim).collect();
    match columns[..] {
        ["flow", "path"] => Ok(Head::Flow),
        ["src", "dst", "path"] => Ok(Head::Pair),
        _ => Err(row.fail(
            wrong(format!("`{line}`"))
                .expected("the first line to be `flow,path` or `src,dst,path`"),
        )),
    }
}

/// A line of `flow,path`.
fn one_flow<'a>(
    row: &Row,
    line: &'a str,
    flows: usize,
) -> Result<(Vec<u32>, &'a str), TopologyError> {
    let Some((flow, path)) = line.split_once(',') else {
        return Err(
            row.fail(wrong(format!("`{line}`")).expected("a flow, a comma and its switches"))
        );
    };
    let flow = flow.trim();
    match flow.parse::<u32>() {
        Ok(number) if (number as usize) < flows => Ok((vec![number], path)),
        _ => {
            let known = match flows {
                0 => wrong("the run has no flows"),
                _ => fault::expected(format!("0 to {}", flows - 1)),
            };
            Err(row.fail(known.in_part(&format!("flow `{flow}`"))))
        }
    }
}

/// A line of `src,dst,path`.
fn flows_between<'a>(
    row: &Row,
    line: &'a str,
    fabric: &Fabric,
    of_pair: &BTreeMap<(u32, u32), Vec<u32>>,
) -> Result<(Vec<u32>, &'a str), TopologyError> {
    let mut columns = line.splitn(3, ',');
    let (Some(src), Some(dst), Some(path)) = (columns.next(), columns.next(), columns.next())
    else {
        return Err(row.fail(
            wrong(format!("`{line}`"))
                .expected("source, destination and the switches between, separated by commas"),
        ));
    };
    let pair = (host(row, fabric, src.trim())?, host(row, fabric, dst.trim())?);
    let Some(flows) = of_pair.get(&pair) else {
        let from = of_pair.range((pair.0, 0)..=(pair.0, u32::MAX)).next();
        let known = match from.or_else(|| of_pair.iter().next()) {
            Some(((src, dst), flows)) => {
                format!("; flow {} goes from host{src} to host{dst}", flows[0])
            }
            None => String::new(),
        };
        return Err(row.fail(format!(
            "no flow of the run goes from host{} to host{}{known}",
            pair.0, pair.1
        )));
    };
    Ok((flows.clone(), path))
}

/// A host by number or name.
fn host(row: &Row, fabric: &Fabric, text: &str) -> Result<u32, TopologyError> {
    let hosts = fabric.hosts();
    let node = match text.parse::<u32>() {
        Ok(number) => number,
        Err(_) => fabric.node_named(text).map_err(|error| row.fail(error.to_string()))?.0,
    };
    if node >= hosts {
        return Err(row.fail(
            wrong(format!("`{text}`")).expected(format!("a host, host0 to host{}", hosts - 1)),
        ));
    }
    Ok(node)
}

/// The path of a line between two hosts, step by step.
fn steps(
    row: &Row,
    fabric: &Fabric,
    path: &str,
    src: u32,
    dst: u32,
) -> Result<Vec<Step>, TopologyError> {
    let routes = &fabric.routes;
    let last = fabric.rack_of(dst);
    let mut steps: Vec<Step> = vec![];
    let mut arrived = fabric.host_port(src);
    for name in path.split_whitespace() {
        let switch = fabric.node_named(name).map_err(|error| row.fail(error.to_string()))?;
        let before = steps.last().map(|step| step.switch);
        let expected: Vec<NodeId> = match before {
            None => vec![fabric.rack_of(src)],
            Some(before) if before == last => vec![],
            Some(before) => {
                routes.next(before, dst).iter().map(|port| fabric.port(*port).peer).collect()
            }
        };
        if !expected.contains(&switch) {
            return Err(row.fail(misplaced(fabric, name, before, &expected, src, dst)));
        }
        if let Some(step) = steps.last_mut() {
            let mut towards = routes.next(step.switch, dst).iter().copied();
            step.onward = towards.find(|port| fabric.port(*port).peer == switch).expect("checked");
            arrived = step.onward;
        }
        let home = fabric.port(fabric.host_port(dst)).reverse;
        steps.push(Step { switch, onward: home, back: fabric.port(arrived).reverse });
    }
    match steps.last() {
        Some(step) if step.switch == last => Ok(steps),
        step => {
            let path = path.trim();
            let missing = match step {
                None => vec![fabric.rack_of(src)],
                Some(step) => {
                    let next = routes.next(step.switch, dst).iter();
                    next.map(|port| fabric.port(*port).peer).collect()
                }
            };
            let next = listed(fabric, &missing);
            Err(row.fail(
                wrong(format!("path `{path}` from host{src} to host{dst} is not complete"))
                    .expected(format!("{next} next")),
            ))
        }
    }
}

/// What is wrong with a switch that does not follow the one before it.
fn misplaced(
    fabric: &Fabric,
    name: &str,
    before: Option<NodeId>,
    expected: &[NodeId],
    src: u32,
    dst: u32,
) -> Problem {
    let names: Vec<String> = expected.iter().map(|node| fabric.node_name(*node)).collect();
    let near = nearest(name, names.iter().map(String::as_str)).filter(|_| names.len() > 1);
    match before {
        None => wrong(format!(
            "`{name}`: a path from host{src} begins at its switch, {}",
            listed(fabric, expected)
        )),
        Some(before) if expected.is_empty() => wrong(format!(
            "`{name}`: the path has arrived at {}, the switch of host{dst}",
            fabric.node_name(before)
        )),
        Some(before) => wrong(format!("`{name}` after {}", fabric.node_name(before)))
            .expected(format!("{} on a shortest path to host{dst}", listed(fabric, expected)))
            .meant(near),
    }
}

/// A few names of nodes, each once.
fn listed(fabric: &Fabric, nodes: &[NodeId]) -> String {
    let mut nodes = nodes.to_vec();
    nodes.dedup();
    let names: Vec<String> = nodes.iter().map(|node| fabric.node_name(*node)).collect();
    match &names[..] {
        [only] => only.clone(),
        [first, .., last] if names.len() > 4 => format!("one of {first} to {last}"),
        _ => format!("one of {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkDefaults, parse};
    use incast_units::{Rate, Span};

    fn leaf_spine() -> Fabric {
        let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
        parse("leaf-spine:3x2x2", LinkDefaults { rate, propagation, loss: 0.0 }).unwrap()
    }

    /// Flow 0 and 2 go from host 0 to host 5, flow 1 from host 3 to host 2.
    fn read(text: &str) -> Result<FixedPaths, String> {
        let ends = [(0, 5), (3, 2), (0, 5)];
        FixedPaths::read("paths.csv", text, &leaf_spine(), &ends).map_err(|e| e.to_string())
    }

    /// The nodes a packet of a flow visits between two hosts.
    fn way(paths: &FixedPaths, flow: u32, from: u32, to: u32) -> Vec<String> {
        let fabric = leaf_spine();
        let (mut node, mut names) = (fabric.rack_of(from), vec![]);
        while node != NodeId(to) {
            names.push(fabric.node_name(node));
            node = fabric.port(paths.port(flow, node, to).expect("a fixed path")).peer;
        }
        names
    }

    #[test]
    fn data_takes_the_path_and_answers_its_reverse() {
        let paths = read("# two of three\n\nflow,path\n2, leaf0 spine1 leaf2\n1,leaf1\n").unwrap();
        assert_eq!(way(&paths, 2, 0, 5), ["leaf0", "spine1", "leaf2"]);
        assert_eq!(way(&paths, 2, 5, 0), ["leaf2", "spine1", "leaf0"]);
        assert_eq!(way(&paths, 1, 3, 2), ["leaf1"]);
        assert_eq!([0, 1, 2, 3].map(|flow| paths.fixes(flow)), [false, true, true, false]);
        assert_eq!(paths.port(0, NodeId(6), 5), None);
    }

    #[test]
    fn a_pair_of_hosts_stands_for_all_flows_between_them() {
        let paths = read("src,dst,path\nhost0,5,tor0 core0 tor2\n").unwrap();
        assert_eq!([0, 1, 2].map(|flow| paths.fixes(flow)), [true, false, true]);
        assert_eq!(way(&paths, 2, 5, 0), ["leaf2", "spine0", "leaf0"]);
    }

    #[test]
    fn what_is_no_path_is_refused_with_line_value_and_what_would_be() {
        let flow = |line: &str| read(&format!("flow,path\n{line}")).unwrap_err();
        for (line, said) in [
            (
                "2,leaf0 spin1 leaf2",
                "paths.csv:2: no node `spin1`: did you mean `spine1`? Expected a name such as",
            ),
            ("2,leaf0 spine2 leaf2", "no node `spine2`: expected spine0 to spine1"),
            ("2,leaf1 spine0 leaf2", "`leaf1`: a path from host0 begins at its switch, leaf0"),
            ("2,leaf0 leaf2", "`leaf2` after leaf0: expected one of spine0, spine1 on a shortest"),
            ("2,leaf0 spine0 leaf1", "`leaf1` after spine0: expected leaf2 on a shortest path to"),
            ("2,leaf0 spine0", "path `leaf0 spine0` from host0 to host5 is not complete: expected"),
            ("2,", "from host0 to host5 is not complete: expected leaf0 next"),
            ("2,leaf0 spine0 leaf2 spine1", "`spine1`: the path has arrived at leaf2, the switch"),
            ("3,leaf0 spine0 leaf2", "flow `3`: expected 0 to 2"),
            ("two,leaf0 spine0 leaf2", "flow `two`: expected 0 to 2"),
            ("leaf0 spine0 leaf2", "expected a flow, a comma and its switches"),
            ("1,leaf1\n1,leaf1", "paths.csv:3: flow 1 has its path in line 2 already"),
        ] {
            assert!(flow(line).contains(said), "{line}: {}", flow(line));
        }
        let pair = |line: &str| read(&format!("src,dst,path\n{line}")).unwrap_err();
        for (line, said) in [
            (
                "host0,host4,leaf0 spine0 leaf2",
                "no flow of the run goes from host0 to host4; flow 0",
            ),
            ("0,spine1,leaf0", "`spine1`: expected a host, host0 to host5"),
            ("0,hots5,leaf0", "did you mean `host5`?"),
            ("0,9,leaf0", "`9`: expected a host, host0 to host5"),
            ("0,5", "expected source, destination and the switches between"),
        ] {
            assert!(pair(line).contains(said), "{line}: {}", pair(line));
        }
        let none = read("# none yet\nflow,path\n").unwrap_err();
        assert!(none.contains("paths.csv:2: expected a path after `flow,path`"), "{none}");
        for text in ["", "2,leaf0 spine1 leaf2", "flow;path\n"] {
            assert!(read(text).unwrap_err().contains("expected the first line to be `flow,path`"));
        }
    }
}
