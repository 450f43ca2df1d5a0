//! Topologies of HPCC and the ns-3 simulators that descend from it.
//!
//! ```text
//! <nodes> <switches> <links>          3 integers: HPCC, conweave, astra-sim
//! <switch id> ...                     every other id in 0..nodes is a host
//! <src> <dst> <rate> <delay> <error>  one line per link, both directions
//! ```
//! Headers of four integers (`<nodes> <switches> <tors> <links>`, ns3-datacenter) and of six words
//! (`<nodes> <gpus per server> <nvswitches> <switches> <links> <gpu type>`, SimAI) are read too.

use super::warning::{LINES_IGNORED, NVSWITCHES_LEFT_OUT, TORS_DISAGREE};
use super::{Imported, MOST_LINKS, MOST_NODES, error_at};
use crate::{Fabric, Graph, NodeId, PortId, Problem, Tier, TopologyError, Vertex};
use incast_units::{Notice, Rate, Span};
use std::fmt::Write;

struct Header {
    nodes: u32,
    switches: u32,
    links: u32,
    nvswitches: u32,
    tors: Option<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Host,
    Switch,
    NvSwitch,
}

struct Reader<'a> {
    file: &'a str,
    /// Line number and words of each line that is not empty.
    lines: Vec<(usize, Vec<&'a str>)>,
    next: usize,
}

impl<'a> Reader<'a> {
    fn new(file: &'a str, text: &'a str) -> Reader<'a> {
        let numbered = text.lines().enumerate();
        let words = numbered.map(|(at, line)| (at + 1, line.split_whitespace().collect()));
        let lines = words.filter(|(_, words): &(usize, Vec<&str>)| !words.is_empty()).collect();
        Reader { file, lines, next: 0 }
    }

    fn line(&mut self, wanted: &str) -> Result<(usize, Vec<&'a str>), TopologyError> {
        let last = self.lines.last().map_or(1, |(line, _)| *line);
        let line = self.lines.get_mut(self.next).ok_or_else(|| {
            error_at(self.file, last, format!("the file ends here; expected {wanted}"))
        })?;
        self.next += 1;
        Ok((line.0, std::mem::take(&mut line.1)))
    }
}

/// Reads a topology of the HPCC family. `file` is for messages and names the fabric. Strict:
/// counts must match, ids be in range and links complete; text after the last link is ignored, as
/// the originals do, unless it looks like a further link. In SimAI's form the NVSwitches and their
/// links are left out (a note says so): hosts have one link here, the one into the fabric.
pub fn import_hpcc_topology(file: &str, text: &str) -> Result<Imported, TopologyError> {
    let mut reader = Reader::new(file, text);
    let (line, words) = reader.line("a header, `<nodes> <switches> <links>`")?;
    let header = read_header(file, line, &words)?;
    let roles = read_roles(&mut reader, &header)?;
    let of_role = |role: Role| -> Vec<u32> {
        (0..header.nodes).filter(|id| roles[*id as usize] == role).collect()
    };
    let (host_ids, switch_ids) = (of_role(Role::Host), of_role(Role::Switch));
    let mut vertices: Vec<Option<Vertex>> = vec![None; header.nodes as usize];
    let mut graph = Graph::new();
    for id in &host_ids {
        vertices[*id as usize] = Some(graph.add_host());
    }
    for id in &switch_ids {
        vertices[*id as usize] = Some(graph.add_switch());
    }
    graph.label(host_ids.clone(), switch_ids);

    let mut left_out = 0;
    for number in 0..header.links {
        let wanted = format!("link {} of the {} in the header", number + 1, header.links);
        let (line, words) = reader.line(&wanted)?;
        let link = read_link(file, line, &words, header.nodes)?;
        match (vertices[link.src as usize], vertices[link.dst as usize]) {
            (Some(a), Some(b)) => graph
                .link(a, b, link.rate, link.delay, link.loss)
                .map_err(|error| error.at(file, Some(line as u32)))?,
            _ => left_out += 1,
        }
    }
    let mut notes = Vec::new();
    if header.nvswitches > 0 {
        let values = &[("nvswitches", &header.nvswitches as _), ("links", &left_out as _)];
        notes.push(NVSWITCHES_LEFT_OUT.notice(values));
    }
    notes.extend(check_rest(&reader, &header)?);
    let fabric = graph.build().map_err(|error| error.at(file, None))?.named(file);
    let edges = fabric.tiers.iter().filter(|tier| **tier == Tier::Edge).count();
    if let Some(tors) = header.tors.filter(|tors| *tors as usize != edges) {
        notes.push(TORS_DISAGREE.notice(&[("stated", &tors), ("found", &edges)]));
    }
    Ok(Imported { fabric, notes, queues: Vec::new(), host_ids })
}

fn read_header(file: &str, line: usize, words: &[&str]) -> Result<Header, TopologyError> {
    let refuse = |message: String| error_at(file, line, message);
    if ![3, 4, 6].contains(&words.len()) {
        return Err(refuse(format!(
            "a header of {} words; expected `<nodes> <switches> <links>`, `<nodes> <switches> \
             <tors> <links>` or `<nodes> <gpus per server> <nvswitches> <switches> <links> <gpu \
             type>`",
            words.len()
        )));
    }
    let count = |position: usize, what: &str, most: u64| match words[position].parse::<u64>() {
        Ok(value) if value <= most => Ok(value as u32),
        _ => Err(refuse(format!("{what} `{}`: expected 0 to {most}", words[position]))),
    };
    let nodes = count(0, "number of nodes", MOST_NODES)?;
    let header = match words.len() {
        3 => Header {
            nodes,
            switches: count(1, "number of switches", nodes as u64)?,
            links: count(2, "number of links", MOST_LINKS)?,
            nvswitches: 0,
            tors: None,
        },
        4 => Header {
            nodes,
            switches: count(1, "number of switches", nodes as u64)?,
            tors: Some(count(2, "number of ToRs", nodes as u64)?),
            links: count(3, "number of links", MOST_LINKS)?,
            nvswitches: 0,
        },
        _ => {
            count(1, "GPUs per server", nodes as u64)?;
            Header {
                nodes,
                nvswitches: count(2, "number of NVSwitches", nodes as u64)?,
                switches: count(3, "number of switches", nodes as u64)?,
                links: count(4, "number of links", MOST_LINKS)?,
                tors: None,
            }
        }
    };
    if header.switches == 0 {
        return Err(refuse("0 switches; a fabric needs at least 1".to_string()));
    }
    if header.nodes as u64 > header.links as u64 + 1 {
        let (nodes, links) = (header.nodes, header.links);
        return Err(refuse(format!("{links} links cannot connect {nodes} nodes")));
    }
    Ok(header)
}

fn read_roles(reader: &mut Reader, header: &Header) -> Result<Vec<Role>, TopologyError> {
    let mut roles = vec![Role::Host; header.nodes as usize];
    let total = header.nvswitches as u64 + header.switches as u64;
    let mut read = 0u64;
    while read < total {
        let wanted = format!("switch ids, {read} of {total} read");
        let (line, words) = reader.line(&wanted)?;
        for word in words {
            let id = node_id(reader.file, line, word, header.nodes)?;
            if read == total {
                let message =
                    format!("`{word}`: the header says {total} switch ids, here is one more");
                return Err(error_at(reader.file, line, message));
            }
            if roles[id as usize] != Role::Host {
                let message = format!("switch id {id} is given twice");
                return Err(error_at(reader.file, line, message));
            }
            let nvswitch = read < header.nvswitches as u64;
            roles[id as usize] = if nvswitch { Role::NvSwitch } else { Role::Switch };
            read += 1;
        }
    }
    Ok(roles)
}

fn node_id(file: &str, line: usize, word: &str, nodes: u32) -> Result<u32, TopologyError> {
    match word.parse::<u32>() {
        Ok(id) if id < nodes => Ok(id),
        _ => {
            let message = format!("node id `{word}`: expected 0 to {}", nodes.saturating_sub(1));
            Err(error_at(file, line, message))
        }
    }
}

struct LinkLine {
    src: u32,
    dst: u32,
    rate: Rate,
    delay: Span,
    loss: f64,
}

fn read_link(
    file: &str,
    line: usize,
    words: &[&str],
    nodes: u32,
) -> Result<LinkLine, TopologyError> {
    let refuse = |message: String| error_at(file, line, message);
    let [src, dst, rate, delay, loss] = words else {
        return Err(refuse(format!(
            "{} words; expected a link, `<src> <dst> <rate> <delay> <error>`",
            words.len()
        )));
    };
    let rate = read_rate(rate).map_err(|problem| refuse(format!("rate {problem}")))?;
    let delay = delay.parse::<Span>().map_err(|problem| refuse(format!("delay {problem}")))?;
    let loss = match loss.parse::<f64>() {
        Ok(loss) if (0.0..1.0).contains(&loss) => loss,
        _ => {
            return Err(
                TopologyError::new(Problem::BadLoss(loss.to_string())).at(file, Some(line as u32))
            );
        }
    };
    let src = node_id(file, line, src, nodes)?;
    Ok(LinkLine { src, dst: node_id(file, line, dst, nodes)?, rate, delay, loss })
}

/// `100Gbps`, or bits per second as a bare number such as `25000000000.0`, to the nearest bit.
fn read_rate(word: &str) -> Result<Rate, String> {
    match word.parse::<f64>() {
        Ok(bits) if (0.0..=1e18).contains(&bits) => Ok(Rate(bits.round() as u64)),
        Ok(_) => Err(format!("`{word}`: expected at most 1e18 bits per second, not negative")),
        Err(_) => word.parse::<Rate>().map_err(|error| error.to_string()),
    }
}

/// What stands after the last link. The original readers stop there, and files of HPCC end with a
/// description of the format; a line that is a valid link means that the count is wrong.
fn check_rest(reader: &Reader, header: &Header) -> Result<Option<Notice>, TopologyError> {
    let rest = &reader.lines[reader.next..];
    for (line, words) in rest {
        if read_link(reader.file, *line, words, header.nodes).is_ok() {
            let message = format!("a further link, but the header says {}", header.links);
            return Err(error_at(reader.file, *line, message));
        }
    }
    let note = |(line, _): &(usize, _)| LINES_IGNORED.notice(&[("line", line)]);
    Ok(rest.first().map(note))
}

/// Writes the fabric in HPCC's format (three counts, switch ids, links), which
/// [`import_hpcc_topology`] reads back to the same fabric. Errors when the format cannot express
/// it: bundles of parallel links, or propagation that differs by direction.
pub fn export_hpcc_topology(fabric: &Fabric) -> Result<String, TopologyError> {
    let switches = fabric.hosts()..fabric.nodes();
    let mut out = String::new();
    let links = fabric.ports().len() / 2;
    let _ = writeln!(out, "{} {} {links}", fabric.nodes(), switches.len());
    let ids: Vec<String> = switches.map(|id| id.to_string()).collect();
    let _ = writeln!(out, "{}", ids.join(" "));
    for node in 0..fabric.nodes() {
        for id in fabric.ports_of(NodeId(node)) {
            let port = fabric.port(PortId(id));
            let back = fabric.port(port.reverse);
            let names = || (fabric.node_name(port.node), fabric.node_name(port.peer));
            if fabric.parallel[id as usize] > 0 {
                let (a, b) = names();
                let message = format!("{a} - {b} is a bundle; the format has one link per pair");
                return Err(TopologyError::malformed(message));
            }
            if port.propagation != back.propagation {
                let (a, b) = names();
                let message = format!("{a} - {b}: propagation differs by direction");
                return Err(TopologyError::malformed(message));
            }
            if port.node < port.peer {
                let (rate, delay, loss) = (port.rate, port.propagation, port.loss);
                let _ = writeln!(out, "{node} {} {rate} {delay} {loss}", port.peer.0);
            }
        }
    }
    Ok(out)
}
