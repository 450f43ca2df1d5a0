//! Every number of every record, as hashes: a change of structure leaves them as they are.
//!
//! One line per transport, fabric and workload; each case runs with one and with two threads. The
//! hash covers values in a fixed order, not names of fields, columns or files. The breakdown of
//! completion times has hashes of its own, in `parts.txt`: a change of how time is attributed leaves
//! `records.txt` as it is. A change that is meant to move results is accepted with `UPDATE_RECORDS=1
//! cargo test -p incast-experiment --test all records::`, and the commit says which transports moved and
//! why.

use incast_experiment::Monitor;
use incast_experiment::{Plan, Scenario, execute};
use incast_protocols::CATALOGUE;
use incast_transport::{Bin, Pauses, RunRecord, Time};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// Name and `[fabric]` of the two fabrics: mixed rates that lose packets; three tiers with PFC.
const FABRICS: [(&str, &str); 2] = [
    (
        "lossy-leaf-spine",
        "topology = \"leaf-spine:3x2x3\"\nrate = \"10Gbps\"\nuplink_rate = \"20Gbps\"\n\
         loss = 0.001\nbuffer = \"64KiB\"\n",
    ),
    (
        "paused-fat-tree",
        "topology = \"fat-tree:4\"\nrate = \"25Gbps\"\nbuffer = \"64KiB\"\n\
         pfc = { allow_cycles = true }\n",
    ),
];

/// Name and `[[traffic]]` of the three workloads.
const WORKLOADS: [(&str, &str); 3] = [
    (
        "web_search",
        "[[traffic]]\nkind = \"poisson\"\nworkload = \"web_search\"\nload = 0.7\nflows = 12\n",
    ),
    (
        "incast",
        "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = 6\nsize = \"40KB\"\n\
         [[traffic]]\nkind = \"permutation\"\nsize = \"60KB\"\n",
    ),
    (
        "requests",
        "[[traffic]]\nkind = \"requests\"\nto = \"0,4\"\nfrom = \"1-3,5-7\"\nsize = \"90KB\"\n\
         count = 2\nperiod = \"40us\"\n",
    ),
];

#[derive(Default)]
struct Values(Sha256);

impl Values {
    fn one(&mut self, value: u64) {
        self.0.update(value.to_le_bytes());
    }

    fn all(&mut self, values: &[u64]) {
        self.one(values.len() as u64);
        values.iter().for_each(|value| self.one(*value));
    }

    fn time(&mut self, time: Option<Time>) {
        self.all(&time.map_or(vec![], |time| vec![time.0]));
    }

    fn bin(&mut self, bin: &Bin) {
        self.all(&[bin.sent_bytes, bin.sent_packets.into(), bin.marks.into(), bin.drops.into()]);
        self.all(&[bin.credit_drops.into(), bin.trims.into(), bin.backlog_max, bin.paused]);
        self.all(&[bin.backlog_area as u64, (bin.backlog_area >> 64) as u64]);
    }

    fn pauses(&mut self, pauses: &Pauses) {
        self.all(&pauses.paused);
        self.all(&[pauses.pause_frames.into(), pauses.resume_frames.into()]);
    }

    /// The first 16 hexadecimal digits of the hash.
    fn digits(self) -> String {
        let digest = self.0.finalize();
        digest[..8].iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes everything");
            text
        })
    }
}

/// Hashes of a record's values: of all but the breakdown of completion times, and of the breakdown.
fn hashes(record: &RunRecord) -> [String; 2] {
    [results(record), breakdown(record)].map(Values::digits)
}

/// The parts of the completion time of every flow, and what its last packet went through.
fn breakdown(record: &RunRecord) -> Values {
    let mut values = Values::default();
    for flow in &record.flows {
        values.one(flow.flow.0.into());
        if let Some(parts) = &flow.parts {
            values.all(&[parts.nic_own, parts.nic_other, parts.recovery]);
            values.all(&[parts.serialisation, parts.propagation]);
            values.all(&parts.blocked);
            values.all(&parts.queueing);
        }
        if let Some(last) = flow.last {
            values.all(&[last.path.into(), last.worst_port.into(), last.worst_wait]);
        }
    }
    values
}

/// All other values of a record.
fn results(record: &RunRecord) -> Values {
    let mut values = Values::default();
    for flow in &record.flows {
        values.one(flow.flow.0.into());
        values.time(flow.started);
        values.time(flow.completed);
        values.all(&[flow.delivered, flow.packets.into(), flow.retransmits.into()]);
        values.all(&[flow.wasted.into(), flow.decisions.into(), flow.decision_age]);
        values.all(&[flow.decision_age_max, flow.control_packets.into()]);
        values.all(&[flow.control_bytes, flow.extension_bytes]);
    }
    for port in &record.ports {
        values.one(port.port.into());
        values.bin(&port.total);
        port.bins.iter().for_each(|bin| values.bin(bin));
        values.pauses(&port.total_pauses);
        port.pauses.iter().for_each(|pauses| values.pauses(pauses));
    }
    values.all(&[record.interval.0, record.ended.0, record.packet_hops, record.link_losses]);
    values
}

/// The hashes of a case, which one thread and two threads must agree on.
fn case(transport: &str, fabric: &str, workload: &str) -> [String; 2] {
    let text = format!(
        "[fabric]\n{fabric}[transport]\nnames = [\"{transport}\"]\n{workload}\
         [run]\nseed = 3\nuntil = \"8ms\"\n"
    );
    let scenario = Scenario::parse(&text, transport, &[]).expect("the scenario is valid");
    let plan = Plan::new(scenario).expect("the scenario can run");
    let [one, two] = [1, 2].map(|threads| {
        let monitor = Monitor::default();
        let (run, _) = execute(&plan, &plan.cases[0], vec![], threads, &monitor).expect("it runs");
        let done = run.record.flows.iter().filter(|flow| flow.completed.is_some()).count();
        assert!(done > 0, "{transport}: no flow is complete\n{text}");
        hashes(&run.record)
    });
    assert_eq!(one, two, "{transport}: one thread and two threads differ\n{text}");
    one
}

#[test]
fn every_record_is_what_it_was() {
    let mut lines = [String::new(), String::new()];
    for entry in CATALOGUE {
        let transport = entry.info().name;
        for (fabric, network) in FABRICS {
            for (workload, traffic) in WORKLOADS {
                let hashes = case(transport, network, traffic);
                for (lines, hash) in lines.iter_mut().zip(hashes) {
                    let line = writeln!(lines, "{transport} {fabric} {workload} {hash}");
                    line.expect("it is memory");
                }
            }
        }
    }
    let moved = ["records.txt", "parts.txt"].iter().zip(&lines).map(|(name, lines)| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
        if std::env::var_os("UPDATE_RECORDS").is_some() {
            std::fs::write(&path, lines).expect("the file can be written");
        }
        let known = std::fs::read_to_string(&path).expect("the hashes are in the repository");
        let moved = |line: &&str| !known.lines().any(|k| k == *line);
        let gone = (known.lines().count() != lines.lines().count()).then_some("number of lines");
        let moved = lines.lines().filter(moved).chain(gone);
        moved.map(|line| format!("{name}: {line}\n")).collect::<String>()
    });
    let moved: String = moved.collect();
    assert!(moved.is_empty(), "records moved:\n{moved}");
}
