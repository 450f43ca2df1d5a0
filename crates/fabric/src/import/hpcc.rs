//! Topologies of HPCC and the ns-3 simulators that descend from it.
//!
//! ```text
//! <nodes> <switches> <links>          3 integers: HPCC, conweave, astra-sim
//! <switch id> ...                     every other id in 0..nodes is a host
//! <src> <dst> <rate> <delay> <error>  one line per link, both directions
//! ```
//! Headers of four integers (`<nodes> <switches> <tors> <links>`, ns3-datacenter) and of six words
//! (`<nodes> <gpus per server> <nvswitches> <switches> <links> <gpu type>`, SimAI) are read too.

use super::imported::{Imported, MOST_LINKS, MOST_NODES, error_at};
use super::warning::{
    DELAYS_IN_SECONDS, HOSTS_FORWARD, HOSTS_WITH_NICS, LINES_IGNORED, NVSWITCHES_LEFT_OUT,
    PARALLEL_LINKS, TORS_DISAGREE,
};
use crate::{Fabric, Graph, NodeId, PortId, Problem, Tier, TopologyError, Vertex};
use incast_units::fault::{self, wrong};
use incast_units::{Notice, Rate, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

struct Header {
    nodes: u32,
    switches: u32,
    links: u32,
    nvswitches: u32,
    gpus: Option<u32>,
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
            error_at(self.file, last, wrong("the file ends here").expected(wanted))
        })?;
        self.next += 1;
        Ok((line.0, std::mem::take(&mut line.1)))
    }
}

/// Reads a topology of the HPCC family. `file` is for messages and names the fabric. Strict:
/// counts must not exceed what is there, ids be in range and links complete; what stands behind the last
/// link that is counted is ignored with a note, as the originals do. In SimAI's form the NVSwitches and their
/// links are left out (a note says so): hosts have one link here, the one into the fabric. Several links
/// between two switches are parallel links. Several links of a host are those of its NICs; where hosts are
/// linked to each other, they forward.
pub fn import_hpcc_topology(file: &str, text: &str) -> Result<Imported, TopologyError> {
    import_hpcc(file, text, false)
}

/// The same; with `forward`, every host with several links forwards, as in BCube, and none is a server of NICs.
pub(super) fn import_hpcc(
    file: &str,
    text: &str,
    forward: bool,
) -> Result<Imported, TopologyError> {
    let mut reader = Reader::new(file, text);
    let (line, words) = reader.line("a header, `<nodes> <switches> <links>`")?;
    let header = read_header(file, line, &words)?;
    let roles = read_roles(&mut reader, &header)?;
    let of_role = |role: Role| -> Vec<u32> {
        (0..header.nodes).filter(|id| roles[*id as usize] == role).collect()
    };
    let (host_ids, switch_ids) = (of_role(Role::Host), of_role(Role::Switch));
    let links = read_links(&mut reader, &header)?;
    let boards = boards(&links, &roles, forward);
    let several = if boards.is_empty() { several(&links, &roles) } else { BTreeMap::new() };
    let mut vertices: Vec<Option<Vertex>> = vec![None; header.nodes as usize];
    let mut graph = Graph::new();
    // The NICs of hosts with several, of which the next link gets the next one.
    let mut nics: BTreeMap<u32, VecDeque<Vertex>> = BTreeMap::new();
    let mut labels = vec![];
    for id in &host_ids {
        let first = graph.add_host();
        vertices[*id as usize] = Some(first);
        let more = several.get(id).map_or(0, |count| count - 1);
        labels.extend((0..=more).map(|_| *id));
        if more > 0 {
            let own = std::iter::once(first).chain((0..more).map(|_| graph.add_nic()));
            nics.insert(*id, own.collect());
        }
    }
    for id in &switch_ids {
        vertices[*id as usize] = Some(graph.add_switch());
    }
    let switch_ids: Vec<u32> = switch_ids.into_iter().chain(boards.keys().copied()).collect();
    graph.label(labels, switch_ids.clone());
    for (id, rate) in &boards {
        let (host, board) = (vertices[*id as usize].expect("a host"), graph.add_switch());
        graph.link(host, board, *rate, Span::ZERO, 0.0).map_err(|error| error.at(file, None))?;
        vertices[*id as usize] = Some(board);
    }
    let has_nics = nics.len();
    let (left_out, beside) = add_links(&mut graph, file, &links, &vertices, nics)?;
    let mut notes = Vec::new();
    if beside > 0 {
        notes.push(PARALLEL_LINKS.notice(&[("file", &file), ("links", &beside)]));
    }
    if has_nics > 0 {
        notes.push(HOSTS_WITH_NICS.notice(&[("file", &file), ("hosts", &has_nics)]));
    }
    if !boards.is_empty() {
        notes.push(HOSTS_FORWARD.notice(&[("file", &file), ("hosts", &boards.len())]));
    }
    if let Some(longest) = links.iter().filter(|link| link.bare).map(|link| link.delay).max() {
        notes.push(DELAYS_IN_SECONDS.notice(&[("file", &file), ("longest", &longest)]));
    }
    notes.extend(
        (header.nvswitches > 0).then(|| nvswitches_left_out(&links, &roles, &header, left_out)),
    );
    notes.extend(check_rest(&reader, &header));
    let fabric = graph.build().map_err(|error| error.at(file, None))?.named(file);
    let edges = fabric.tiers.iter().filter(|tier| **tier == Tier::Edge).count();
    if let Some(tors) = header.tors.filter(|tors| *tors as usize != edges) {
        notes.push(TORS_DISAGREE.notice(&[("stated", &tors), ("found", &edges)]));
    }
    Ok(Imported { fabric, notes, queues: Vec::new(), host_ids, switch_ids })
}

/// Adds the links between the nodes that there are. Returns how many others there are, and how many are beside
/// another one.
fn add_links(
    graph: &mut Graph,
    file: &str,
    links: &[LinkLine],
    vertices: &[Option<Vertex>],
    mut nics: BTreeMap<u32, VecDeque<Vertex>>,
) -> Result<(u32, u32), TopologyError> {
    let (mut left_out, mut beside) = (0, 0);
    for link in links {
        let mut end = |id: u32| match nics.get_mut(&id) {
            Some(own) if vertices[link.other(id) as usize].is_some() => own.pop_front(),
            _ => vertices[id as usize],
        };
        match (end(link.src), end(link.dst)) {
            (Some(a), Some(b)) => {
                let before = graph.link_beside(a, b, link.rate, link.delay, link.loss);
                let before = before.map_err(|error| error.at(file, Some(link.line as u32)))?;
                beside += u32::from(before > 0);
            }
            _ => left_out += 1,
        }
    }
    Ok((left_out, beside))
}

fn read_links(reader: &mut Reader, header: &Header) -> Result<Vec<LinkLine>, TopologyError> {
    let mut links = Vec::with_capacity(header.links.min(1 << 16) as usize);
    for number in 0..header.links {
        let wanted = format!("link {} of the {} in the header", number + 1, header.links);
        let (line, words) = reader.line(&wanted)?;
        links.push(read_link(reader.file, line, &words, header.nodes)?);
    }
    Ok(links)
}

/// Hosts that forward, where two hosts are linked or with `forward`: those with several links, and one of two hosts
/// without others. Each gets a switch on its board, whose link to the host is as fast as its links together.
fn boards(links: &[LinkLine], roles: &[Role], forward: bool) -> BTreeMap<u32, Rate> {
    let host = |id: u32| roles[id as usize] == Role::Host;
    let between_hosts = |link: &&LinkLine| host(link.src) && host(link.dst) && link.src != link.dst;
    if !forward && !links.iter().any(|link| between_hosts(&link)) {
        return BTreeMap::new();
    }
    let mut own: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
    for link in links {
        let inside = |id: u32| roles[link.other(id) as usize] == Role::NvSwitch;
        for id in [link.src, link.dst].into_iter().filter(|id| host(*id) && !inside(*id)) {
            let (count, rate) = own.entry(id).or_default();
            (*count, *rate) = (*count + 1, rate.saturating_add(link.rate.0));
        }
    }
    let mut all: BTreeSet<u32> =
        own.iter().filter(|(_, (count, _))| *count > 1).map(|(id, _)| *id).collect();
    for link in links.iter().filter(between_hosts) {
        if !all.contains(&link.src) && !all.contains(&link.dst) {
            all.insert(link.src);
        }
    }
    all.into_iter().map(|id| (id, Rate(own[&id].1))).collect()
}

fn nvswitches_left_out(
    links: &[LinkLine],
    roles: &[Role],
    header: &Header,
    left_out: u32,
) -> Notice {
    let server = server(links, roles, header);
    let nvswitches = &header.nvswitches;
    NVSWITCHES_LEFT_OUT.notice(&[
        ("nvswitches", nvswitches),
        ("links", &left_out),
        ("server", &server),
    ])
}

/// The keys of a job whose ranks talk to those of their server as the file says.
fn server(links: &[LinkLine], roles: &[Role], header: &Header) -> String {
    let mut rates: BTreeMap<u32, u64> = BTreeMap::new();
    let mut longest = Span::ZERO;
    for link in links {
        let is = |id: u32, role: Role| roles[id as usize] == role;
        for id in [link.src, link.dst] {
            if is(id, Role::Host) && is(link.other(id), Role::NvSwitch) {
                let rate = rates.entry(id).or_default();
                *rate = rate.saturating_add(link.rate.0);
                longest = longest.max(link.delay);
            }
        }
    }
    let (gpus, rate) = (header.gpus.unwrap_or(1), rates.values().copied().min().unwrap_or(0));
    let latency = Span(longest.0.saturating_mul(2));
    format!("server = {gpus}, local_rate = \"{}\" and local_latency = \"{latency}\"", Rate(rate))
}

/// How many links into the fabric each host has that has several: as many NICs.
fn several(links: &[LinkLine], roles: &[Role]) -> BTreeMap<u32, u32> {
    let mut own: BTreeMap<u32, u32> = BTreeMap::new();
    for link in links.iter().filter(|link| link.src != link.dst) {
        for id in [link.src, link.dst] {
            let inside = roles[link.other(id) as usize] == Role::NvSwitch;
            if roles[id as usize] == Role::Host && !inside {
                *own.entry(id).or_default() += 1;
            }
        }
    }
    own.retain(|_, count| *count > 1);
    own
}

fn read_header(file: &str, line: usize, words: &[&str]) -> Result<Header, TopologyError> {
    let refuse = |message: fault::Problem| error_at(file, line, message);
    let typed = |word: &&str| word.starts_with(|first: char| first.is_ascii_alphabetic());
    if words.len() == 6 && !words.last().is_some_and(typed) {
        let problem = wrong(format!(
            "a header of six words that ends with `{}` is not known: SimAI's ends with a GPU type, \
             such as `H100`",
            words[5]
        ));
        return Err(refuse(problem.expected("`<nodes> <switches> <links>`")));
    }
    if ![3, 4, 6].contains(&words.len()) {
        return Err(refuse(wrong(format!("a header of {} words", words.len())).expected(
            "`<nodes> <switches> <links>`, `<nodes> <switches> \
             <tors> <links>` or `<nodes> <gpus per server> <nvswitches> <switches> <links> <gpu \
             type>`",
        )));
    }
    let count = |position: usize, what: &str, most: u64| match words[position].parse::<u64>() {
        Ok(value) if value <= most => Ok(value as u32),
        _ => Err(refuse(
            wrong(format!("{what} `{}`", words[position])).expected(format!("0 to {most}")),
        )),
    };
    let nodes = count(0, "number of nodes", MOST_NODES)?;
    let header = match words.len() {
        3 => Header {
            nodes,
            switches: count(1, "number of switches", nodes as u64)?,
            links: count(2, "number of links", MOST_LINKS)?,
            nvswitches: 0,
            gpus: None,
            tors: None,
        },
        4 => Header {
            nodes,
            switches: count(1, "number of switches", nodes as u64)?,
            tors: Some(count(2, "number of ToRs", nodes as u64)?),
            links: count(3, "number of links", MOST_LINKS)?,
            nvswitches: 0,
            gpus: None,
        },
        _ => Header {
            nodes,
            gpus: Some(count(1, "GPUs per server", nodes as u64)?),
            nvswitches: count(2, "number of NVSwitches", nodes as u64)?,
            switches: count(3, "number of switches", nodes as u64)?,
            links: count(4, "number of links", MOST_LINKS)?,
            tors: None,
        },
    };
    check_header(&header).map_err(refuse)?;
    Ok(header)
}

/// Whether the numbers of a header can be those that it is taken for.
fn check_header(header: &Header) -> Result<(), fault::Problem> {
    let Header { nodes, switches, nvswitches, links, .. } = *header;
    let hosts = (nodes as u64).saturating_sub(nvswitches as u64 + switches as u64);
    if let Some(gpus) = header.gpus.filter(|gpus| *gpus == 0 || !hosts.is_multiple_of(*gpus as u64))
    {
        return Err(wrong(format!("{gpus} GPUs per server"))
            .expected(format!("a divisor of {hosts}, the nodes that are no switches")));
    }
    if let Some(tors) = header.tors.filter(|tors| *tors > switches) {
        let tors = format!("{tors} ToRs of {switches} switches: not a header of ns3-datacenter");
        return Err(wrong(tors));
    }
    if nodes as u64 > links as u64 + 1 {
        return Err(wrong(format!("{links} links cannot connect {nodes} nodes")));
    }
    Ok(())
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
            let message = wrong(format!("node id `{word}`"))
                .expected(format!("0 to {}", nodes.saturating_sub(1)));
            Err(error_at(file, line, message))
        }
    }
}

struct LinkLine {
    line: usize,
    src: u32,
    dst: u32,
    rate: Rate,
    delay: Span,
    /// Whether the delay had no unit.
    bare: bool,
    loss: f64,
}

impl LinkLine {
    /// The end that is not `id`.
    fn other(&self, id: u32) -> u32 {
        if id == self.src { self.dst } else { self.src }
    }
}

/// Longest delay that a number without a unit may stand for: ns-3 takes it for seconds.
const LONGEST_BARE: Span = Span::from_secs(1);

fn read_link(
    file: &str,
    line: usize,
    words: &[&str],
    nodes: u32,
) -> Result<LinkLine, TopologyError> {
    let refuse = |message: fault::Problem| error_at(file, line, message);
    let [src, dst, rate, delay, loss] = words else {
        return Err(refuse(
            wrong(format!("{} words", words.len()))
                .expected("a link, `<src> <dst> <rate> <delay> <error>`"),
        ));
    };
    let rate = Rate::of_ns3(rate).map_err(|problem| refuse(problem.in_part("rate")))?;
    let bare = delay.parse::<f64>().is_ok_and(|number| number != 0.0);
    let text = delay;
    let delay = Span::of_ns3(text).map_err(|problem| refuse(problem.in_part("delay")))?;
    if bare && delay > LONGEST_BARE {
        return Err(refuse(
            wrong(format!("delay `{text}`: without a unit it is in seconds, as in ns-3"))
                .expected(format!("at most {LONGEST_BARE}, or a unit, such as `{text}ns`")),
        ));
    }
    let loss = match loss.parse::<f64>() {
        Ok(loss) if (0.0..1.0).contains(&loss) => loss,
        _ => {
            return Err(
                TopologyError::new(Problem::BadLoss(loss.to_string())).at(file, Some(line as u32))
            );
        }
    };
    let src = node_id(file, line, src, nodes)?;
    Ok(LinkLine { line, src, dst: node_id(file, line, dst, nodes)?, rate, delay, bare, loss })
}

/// What stands behind the last link that is counted: the original readers stop there, people lower the
/// count, and files of HPCC end with a description of the format.
fn check_rest(reader: &Reader, header: &Header) -> Option<Notice> {
    let rest = &reader.lines[reader.next..];
    let (line, _) = rest.first()?;
    let is_link = |(line, words): &&(usize, Vec<&str>)| {
        read_link(reader.file, *line, words, header.nodes).is_ok()
    };
    let (left, links) = (rest.len(), rest.iter().filter(is_link).count());
    let lines = if left == 1 { "line" } else { "lines" };
    Some(LINES_IGNORED.notice(&[
        ("file", &reader.file),
        ("counted", &header.links),
        ("left", &left),
        ("lines", &lines),
        ("line", line),
        ("links", &links),
    ]))
}

/// Writes the fabric in HPCC's format (three counts, switch ids, links), which
/// [`import_hpcc_topology`] reads back to the same fabric. Errors when the format cannot express
/// it: bundles of parallel links, or propagation that differs by direction.
pub fn export_hpcc_topology(fabric: &Fabric) -> Result<String, TopologyError> {
    let (hosts, servers) = (fabric.hosts(), fabric.servers());
    // The NICs of a server are one node, of which each link is another NIC.
    let number = |node: u32| match node.checked_sub(hosts) {
        Some(switch) => servers + switch,
        None => fabric.server_of(node),
    };
    let switches = hosts..fabric.nodes();
    let mut out = String::new();
    let links = fabric.ports().len() / 2;
    let _ = writeln!(out, "{} {} {links}", number(fabric.nodes()), switches.len());
    let ids: Vec<String> = switches.map(|id| number(id).to_string()).collect();
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
                let (a, b) = (number(node), number(port.peer.0));
                let _ = writeln!(out, "{a} {b} {rate} {delay} {loss}");
            }
        }
    }
    Ok(out)
}
