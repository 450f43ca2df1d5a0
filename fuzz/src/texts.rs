//! What users write: scenarios, topologies, flow lists, tables, quantities, parameters.

use incast_experiment::{Fault, Plan, Recorded, Scenario, prepare};
use incast_fabric::import::{self, export_hpcc_topology, import_hpcc_topology, import_htsim_topo};
use incast_fabric::{Fabric, FixedPaths, LinkDefaults, NodeId, Options, PortSpec};
use incast_units::{Bytes, Rate, Span};
use incast_workload::{HostIds, PacketTable, SizeTable, Traffic};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// The input as text; inputs that are none are for the readers of files, which say so.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Whether the text asks for nothing that is allowed but takes long: its whole numbers are below
/// `small`, or so large that they are rates, or are refused.
fn modest(text: &str, small: u64) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u64>().ok());
    numbers.into_iter().all(|number| !(small..1_000_000_000).contains(&number))
}

/// A refusal says something in one line's length or a few.
fn told(error: impl Display) {
    assert!(!error.to_string().trim().is_empty(), "an error without a message");
}

/// A flow list of any kind, and as each kind whatever it looks like.
pub fn flow_list(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let hosts = HostIds::same(16);
    match incast_workload::read_flows(text, "list", &hosts, None) {
        Ok(read) => sound(&read.traffic, 16),
        Err(error) => told(error),
    }
    let listed = HostIds::listed(&[0, 3, 5, 1 << 40]);
    for read in [
        incast_workload::read_csv(text, "list", &hosts),
        incast_workload::read_hpcc(text, "list", &hosts),
        incast_workload::read_hpcc(text, "list", &listed),
        incast_workload::read_yaps(text, "list", &hosts),
    ] {
        match read {
            Ok(traffic) => sound(&traffic, 16),
            Err(error) => told(error),
        }
    }
    if let Ok(traffic) = incast_workload::read_csv(text, "list", &hosts)
        && let Ok(written) = incast_workload::export_csv(&traffic)
    {
        let again = incast_workload::read_csv(&written, "export", &hosts);
        assert_eq!(again.as_ref().map(|t| &t.flows), Ok(&traffic.flows), "{written}");
    }
}

/// What a reader accepts can be simulated.
fn sound(traffic: &Traffic, hosts: u32) {
    if let Err(error) = traffic.validate(hosts) {
        panic!("read, but not valid: {error}");
    }
}

/// A connection matrix of htsim.
pub fn matrix(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match incast_workload::read_htsim(text, "matrix", &HostIds::same(16), None) {
        Ok(read) => sound(&read.traffic, 16),
        Err(error) => told(error),
    }
}

/// A program, as GOAL of either kind; what is accepted is written and read again.
pub fn goal(bytes: &[u8]) {
    match incast_program::read_goal("program", bytes) {
        Ok(program) => {
            let binary = incast_program::write_binary(&program);
            assert_eq!(incast_program::read_goal("binary", &binary).as_ref(), Ok(&program));
            let text = incast_program::write_text(&program);
            assert_eq!(
                incast_program::read_goal("text", text.as_bytes()).as_ref(),
                Ok(&program),
                "{text}"
            );
        }
        Err(error) => told(error),
    }
}

/// What a reader accepts can be written, and read again.
fn written(program: &incast_program::Program) {
    let text = incast_program::write_text(program);
    let again = incast_program::read_goal("text", text.as_bytes());
    assert_eq!(again.as_ref(), Ok(program), "{text}");
}

/// A workload of SimAI; of what is accepted the counts hold.
pub fn simai(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let load = match incast_program::Workload::read("workload", text) {
        Ok(load) => load,
        Err(error) => return told(error),
    };
    let (count, ranks) = (load.count_messages(), load.groups().ranks);
    load.rank(ranks - 1);
    if count > 5_000 || ranks > 200 {
        return;
    }
    match load.program() {
        Ok(program) => {
            assert_eq!(program.messages().count() as u64, count);
            written(&program);
        }
        Err(error) => told(error),
    }
}

/// Files of Chakra for two ranks, the same one for both.
pub fn chakra(bytes: &[u8]) {
    let groups = [("0".to_string(), vec![1, 0])];
    let mut trace =
        incast_program::Trace::new("t.0.et", 2, groups.into()).expect("its groups are well");
    let mut files = ["t.0.et", "t.1.et"].into_iter();
    let read = files.try_for_each(|file| trace.add(file, bytes));
    match read.and_then(|()| trace.finish()) {
        Ok(program) => written(&program),
        Err(error) => told(error),
    }
}

/// Numbers for each pair of hosts; what is accepted is an all-to-all, or says why not.
pub fn pairs(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match incast_workload::read_matrix(text, "pairs", 4) {
        Ok(matrix) => match incast_workload::uneven_all_to_all(4, 1_000, &matrix) {
            Ok(traffic) => sound(&traffic, 4),
            Err(error) => told(error),
        },
        Err(error) => told(error),
    }
}

/// The flows of a run as a flow list: a Parquet file, or text.
pub fn results(bytes: &[u8]) {
    match incast_experiment::text_of("flows", bytes) {
        Ok(text) => flow_list(text.as_bytes()),
        Err(error) => told(error),
    }
}

/// A table of sizes.
pub fn size_table(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match SizeTable::parse(text, "table") {
        Ok(table) => {
            let (low, high) = table.range();
            assert!(low.is_finite() && high.is_finite() && low <= high);
            assert!(
                table.mean() >= low && table.mean() <= high,
                "{} in {low}..{high}",
                table.mean()
            );
            let drawn = [1e-300, 1e-9, 0.5, 0.999, 1.0].map(|u| table.sample(u));
            assert!(drawn.windows(2).all(|pair| pair[0] <= pair[1]), "{drawn:?}");
            assert!(table.mean_sampled().is_finite());
        }
        Err(error) => told(error),
    }
}

/// A table of packet lengths.
pub fn packet_table(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match PacketTable::parse(text, "table") {
        Ok(table) => {
            assert!(table.payload(1e-300) >= 1 && table.payload(1.0) <= table.largest_payload());
            assert!(table.mean_packet().is_finite() && table.mean_payload() > 0.0);
            let parts = incast_workload::segment(30_000, &table, 1);
            assert_eq!(parts.iter().map(|part| *part as u64).sum::<u64>(), 30_000);
        }
        Err(error) => told(error),
    }
}

/// A topology file of HPCC's family; what is accepted is the same after an export.
pub fn hpcc_topology(bytes: &[u8]) {
    let Some(text) = text(bytes).filter(|text| modest(text, 1_000)) else { return };
    import::detect(text);
    if let Err(error) = import::import_text_with("topology", text, true) {
        told(error);
    }
    match import_hpcc_topology("topology", text) {
        Ok(read) => {
            read.fabric.routes();
            if let Ok(written) = export_hpcc_topology(&read.fabric) {
                let again = import_hpcc_topology("export", &written);
                let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
                assert_eq!(links(&again.fabric), links(&read.fabric), "{written}");
            }
        }
        Err(error) => told(error),
    }
}

/// What a fabric's ports are, in whatever order the file lists their links.
fn links(fabric: &Fabric) -> Vec<String> {
    let port = |port: &PortSpec| {
        let PortSpec { node, peer, rate, propagation, loss, .. } = port;
        format!("{node:?} {peer:?} {rate} {propagation} {loss}")
    };
    let mut all: Vec<String> = fabric.ports().iter().map(port).collect();
    all.sort();
    all
}

/// A topology file of htsim.
pub fn htsim_topology(bytes: &[u8]) {
    let Some(text) = text(bytes).filter(|text| modest(text, 1_000)) else { return };
    import::detect(text);
    match import_htsim_topo("topology", text) {
        Ok(read) => drop(read.fabric.routes()),
        Err(error) => told(error),
    }
}

/// A file of fixed paths; packets of a flow that it names arrive, both ways.
pub fn paths(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let links =
        LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
    let fabric = incast_fabric::parse("fat-tree:4", links).expect("a topology");
    let ends = [(0, 15), (0, 1), (3, 2), (0, 15), (9, 4)];
    match FixedPaths::read("paths", text, &fabric, &ends) {
        Ok(paths) => {
            for (flow, (src, dst)) in (0..).zip(ends).filter(|(flow, _)| paths.fixes(*flow)) {
                for (from, to) in [(src, dst), (dst, src)] {
                    let (mut node, mut hops) = (fabric.rack_of(from), 0);
                    while node != NodeId(to) {
                        let port = paths.port(flow, node, to).expect("a fixed path");
                        node = fabric.port(port).peer;
                        hops += 1;
                        assert!(hops <= 5, "flow {flow} does not arrive");
                    }
                }
            }
        }
        Err(error) => told(error),
    }
}

/// A topology by name and counts.
pub fn shape(bytes: &[u8]) {
    let Some(text) = text(bytes).filter(|text| modest(text, 70)) else { return };
    let links =
        LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
    // Two parts: the shape, and how much less the links between switches carry.
    let (spec, ratio) = text.split_once('\n').unwrap_or((text, ""));
    let options = Options { oversubscription: ratio.trim().parse().ok(), ..Options::default() };
    match incast_fabric::parse_with(spec, links, &options) {
        Ok(fabric) => assert!(fabric.hosts() >= 2),
        Err(error) => told(error),
    }
}

/// A quantity of any kind; it is the same when it is printed and read again.
pub fn quantities(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    quantity::<Span>(text);
    quantity::<Bytes>(text);
    quantity::<Rate>(text);
    if let Ok(buffer) = text.parse::<incast_experiment::Buffer>() {
        assert_eq!(buffer.to_string().parse(), Ok(buffer));
    }
}

fn quantity<T: FromStr + Display + Debug + PartialEq>(text: &str)
where
    T::Err: Display + Debug + PartialEq,
{
    match text.parse::<T>() {
        Ok(value) => assert_eq!(value.to_string().parse(), Ok(value), "`{text}`"),
        Err(error) => told(error),
    }
}

/// Names of files lead to readers that have targets of their own, and to files of the machine.
fn names_files(text: &str) -> bool {
    ["file", "/", "."].iter().any(|sign| {
        let keys = ["file", "workload", "packets", "paths"];
        let named = |line: &&str| keys.iter().any(|key| line.contains(key)) && line.contains(sign);
        text.lines().any(|line| named(&line))
    })
}

/// A scenario, and overrides in lines that begin with `#set `; it is the same when it is written
/// and read again.
pub fn scenario(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let sets: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("#set ")).map(str::to_string).collect();
    let read = Scenario::parse(text, "scenario.toml", &sets);
    if let Ok(scenario) = &read {
        let written = scenario.to_toml();
        assert_eq!(Scenario::parse(&written, "written", &[]).as_ref(), Ok(scenario), "{written}");
    }
    match read {
        Ok(scenario) if modest(text, 1_000) && !names_files(text) => resolve(scenario),
        Ok(_) => {}
        Err(fault) => told(fault),
    }
}

/// A manifest; its scenario is the same when it is written and read again.
pub fn manifest(bytes: &[u8]) {
    let read = Recorded::parse(bytes, "manifest.json").map_err(Fault::from);
    match read.and_then(|recorded| recorded.draft.scenario()) {
        Ok(scenario) => {
            let written = scenario.to_toml();
            let again = Scenario::parse(&written, "written", &[]);
            assert_eq!(again.as_ref(), Ok(&scenario), "{written}");
        }
        Err(fault) => told(fault),
    }
}

/// Makes the networks of a scenario.
fn resolve(scenario: Scenario) {
    match Plan::new(scenario) {
        Ok(plan) => plan.cases.iter().for_each(|case| {
            if let Err(fault) = prepare(&plan, case, vec![]) {
                told(fault);
            }
        }),
        Err(fault) => told(fault),
    }
}

/// `transport`, then lines of `key=value`: parameters as a scenario or an option sets them.
pub fn parameters(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let mut lines = text.lines();
    let name = lines.next().unwrap_or("").trim();
    if incast_protocols::find(name).is_none() {
        return;
    }
    let small = "[fabric]\ntopology = \"leaf-spine:2x1x2\"\n[[traffic]]\nkind = \"long\"\n\
                 from = \"0\"\nto = \"2\"\nsize = \"10KB\"\n[transport]\n";
    let sets: Vec<String> =
        lines.map(|line| format!("transport.parameters.{name}.{line}")).collect();
    let whole = format!("{small}names = [\"{name}\"]\n");
    match Scenario::parse(&whole, "scenario.toml", &sets) {
        Ok(scenario) => resolve(scenario),
        Err(fault) => told(fault),
    }
}
