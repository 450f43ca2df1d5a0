//! Warnings about scenarios and manifests, and every kind of warning that is known before a run.

use crate::plan::{Plan, SHORTEST_INTERVAL};
use crate::scenario::{CUT_THROUGH_BYTES, ForwardingName, Scenario};
use crate::{World, endless};
use incast_endpoint::sender::views::GO_BACK;
use incast_fabric::Tier;
use incast_measure::Warning;
use incast_protocols::CATALOGUE;
use incast_transport::{
    Acks, Bytes, Limit, Notice, PortSite, Rate, Timers, TransportKind, WarningKind,
};
use incast_world::{RunTransport, port_site, trims};
use std::collections::{BTreeMap, BTreeSet};

incast_transport::warnings! {
    /// Kinds of warnings about scenarios and manifests.
    pub static WARNINGS;
    PFC_CAN_DEADLOCK = "pfc_can_deadlock" {
        says: "fabric.pfc: paused links can wait for each other in a cycle (PFC deadlock): {ports}",
        means: "The routes of this fabric, or those after a link failure, contain a cycle of links that \
                can pause each other for ever. `fabric.pfc.allow_cycles` let the run start; it ends with \
                an error if such a deadlock happens.",
        remedy: "Other routes (up and down a tree there is no cycle), or read the results as those of a \
                 network that can stop.",
    }
    NOT_REPEATABLE = "not_repeatable" {
        says: "the {clock} clock is real time: the run cannot be repeated to the byte, its manifest \
               repeats the scenario",
        means: "The data plane runs by the clock of this machine, so times vary from run to run and \
                with the load of the machine.",
        remedy: "`dataplane.clock = \"virtual\"` or the simulator where equal bytes matter; else several \
                 runs, and their spread.",
    }
    OTHER_VERSION = "other_version" {
        says: "{manifest} was written by version {version}, and this is {own}: results may differ",
        means: "A manifest is repeated (or explained) by another version of the program than the one \
                that wrote it. CHANGELOG.md says which changes move results.",
        remedy: "Repeat both sides of a comparison with one version.",
    }
    NOT_RUN = "not_run" {
        says: "interrupted before {transports}: not run",
        means: "Ctrl-C ended the run before these transports (or cases) began. They are in no table \
                and no chart.",
        remedy: "Repeat it with `incast run FOLDER`.",
    }
    WITHOUT_EFFECT = "without_effect" {
        says: "{key} = {value} has no effect: {why}",
        means: "The value is accepted and changes nothing in these runs, or nothing for the transports \
                that are named.",
        remedy: "Take it out, or set what it needs.",
    }
    FLOW_LEVEL = "flow_level" {
        says: "flow level: rates are max-min fair; no packets, queues or losses",
        means: "With `run.world = \"flow\"` flows share links as an ideal transport would: at every instant no flow \
                can be faster without a slower one losing. What transports do to come near that is left out: their \
                start, windows, marks, losses and ACKs. Transports differ by their paths and by the sizes of packets \
                alone.",
        remedy: "`run.against_packets` tells the error for a sample of the flows; `run.world = \"sim\"` runs packets.",
    }
    IGNORED_AT_FLOW_LEVEL = "ignored_at_flow_level" {
        says: "flow level: without packets these keys do nothing: {keys}",
        means: "They say how packets are queued, marked, lost, acknowledged or recorded, which a run at flow level \
                does not have.",
        remedy: "Take them out, or `run.world = \"sim\"`.",
    }
    AGAINST_PACKETS = "against_packets" {
        says: "flow level against packets, {error}",
        means: "The flows that start first were run alone at flow level and in the simulator \
                (`run.against_packets`). An error is positive where the flow level is slower.",
        remedy: "If the error is too large for the question, `run.world = \"sim\"`.",
    }
    NEVER_MARKS = "never_marks" {
        says: "{transport}: a port of {rate} marks from a queue of {least} on and holds {most}, so that \
               full packets are never marked",
        means: "A packet that finds the queue of the marking threshold does not fit the buffer behind \
                it. The transport sees losses alone, and no longer what its paper describes.",
        remedy: "A lower threshold, such as `mark_threshold`, or a larger `fabric.buffer`.",
    }
    BREAKS_ORDER = "breaks_order" {
        says: "{transport} goes back to the first packet that it misses, and under the routing {routing} packets \
               overtake each other: what is only late is sent again",
        means: "Packets of one flow take several paths of different length. A receiver that takes nothing \
                behind a gap, as NICs with go-back-N do, asks for everything again whenever a packet is \
                overtaken; the transport then measures the routing.",
        remedy: "A routing that keeps the order (`ecmp`, `paths`), or `recovery = \"sack\"` or `reliability = \"unordered\"` where the \
                 transport has it.",
    }
    ONE_PATH = "one_path" {
        says: "{transport} reads the state of the path from its packets, and under the routing {routing} each may \
               take another",
        means: "Telemetry of each hop (HPCC, HPCC+) or the rate that each router grants (XCP, RCP) \
                belongs to one path. Compared between packets of different paths it says little.",
        remedy: "A routing with one path per flow: `ecmp`, `symmetric-ecmp` or `paths`.",
    }
    TRIMS_UNDER_PFC = "trims_under_pfc" {
        says: "{transports}: switches cut packets where a queue is full, and under fabric.pfc none should be: whichever comes \
               first decides",
        means: "Trimming and PFC are two answers to a full queue. A port cuts packets from the limit of its own data queue on \
                (NDP: 8 packets, UEC: a BDP), PFC pauses a link that occupies `fabric.pfc.xoff` in a switch. Usually packets are \
                cut long before, and PFC changes nothing; with longer queues pauses keep packets from being cut, of \
                which the transport never hears. Its authors run it without PFC.",
        remedy: "No `fabric.pfc` for these (a variant of a study may have its own), `fabric.pfc.classes` without class 1, or \
                 `trimming = false` where the transport has it.",
    }
    INPUT_KEPT = "input_kept" {
        says: "{file} has changed since the run: its copy in the results folder is used",
        means: "The run of a results folder is repeated with the input files that lie in it.",
        remedy: "To run with what the file holds now, add `--allow-changed-files`.",
    }
    INPUT_CHANGED = "input_changed" {
        says: "{file}: {change}",
        means: "A file that the run of this manifest read (flows, topology, sizes, paths) has other \
                content now: the SHA-256 it had and the one found are given. Without \
                `--allow-changed-files` the copy in the results folder is used, or, without one, the \
                run is refused.",
        remedy: "Restore the file, or treat the results as those of a new scenario.",
    }
}

fn name_of(acks: Acks) -> String {
    let found = Acks::NAMES.into_iter().find(|(_, value)| *value == acks);
    found.map_or_else(String::new, |(name, _)| name.to_string())
}

/// What is to be said of a run of packets: of what transports, switches and routings do to them.
pub(crate) fn of_packets(plan: &Plan) -> Vec<Warning> {
    let transports = plan.cases.iter().flat_map(|case| &case.transports);
    let mut all: Vec<Warning> = vec![];
    for warning in transports.flat_map(|one| known(&one.configured.warnings())) {
        if !plan.warnings.contains(&warning) && !all.contains(&warning) {
            all.push(warning);
        }
    }
    all.extend(without_pfc(plan));
    all.extend(trims_under_pfc(plan));
    all.extend(without_repetition(plan));
    all.extend(endless::warning(plan));
    all.extend(without_effect(plan));
    all.extend(never_marks(plan));
    all.extend(several_paths(plan));
    all
}

/// Transports designed for PFC that run without it where a switch can drop packets.
fn without_pfc(plan: &Plan) -> Option<Warning> {
    if plan.pfc.is_some() || plan.site.buffer == Limit::Unlimited && plan.shared.is_none() {
        return None;
    }
    let designed = plan.cases.iter().flat_map(|case| &case.transports);
    let mut transports: Vec<String> = designed
        .filter(|transport| transport.info.made_for_pfc)
        .map(|transport| transport.info.name.to_string())
        .collect();
    transports.sort_unstable();
    transports.dedup();
    (!transports.is_empty()).then_some(Warning::WithoutPfc { transports })
}

/// Transports whose packets switches cut where they should have paused a link before.
fn trims_under_pfc(plan: &Plan) -> Option<Warning> {
    let classes = plan.pfc.as_ref()?.lossless;
    let cut = |one: &&RunTransport| trims(&plan.fabric, &plan.site, one, classes);
    let all = plan.cases.iter().flat_map(|case| &case.transports).filter(cut);
    let names: BTreeSet<&str> = all.map(|one| one.info.name).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| Warning::known(&TRIMS_UNDER_PFC.notice(&[("transports", &names)])))
}

/// Says of results that differ from run to run that they do.
fn without_repetition(plan: &Plan) -> Option<Warning> {
    let clock = plan.dataplane().clock;
    let varies = plan.scenario.run.world == World::DataPlane && clock.varies();
    varies.then(|| Warning::known(&NOT_REPEATABLE.notice(&[("clock", &clock.name())])))
}

/// Values that were given and change nothing in these runs.
fn without_effect(plan: &Plan) -> Vec<Warning> {
    let says = |key: &str, value: String, why: String| {
        Warning::known(&WITHOUT_EFFECT.notice(&[("key", &key), ("value", &value), ("why", &why)]))
    };
    let Scenario { fabric, transport, run, .. } = &plan.scenario;
    let mut all = vec![];
    let transports = plan.cases.iter().flat_map(|case| &case.transports).map(|one| one.info);
    let receiver_driven = transports.filter(|info| info.kind == TransportKind::ReceiverDriven);
    let names: BTreeSet<&str> = receiver_driven.map(|info| info.name).collect();
    let exact = Timers::default();
    for (key, value, given) in [
        (
            "transport.rto_jitter",
            transport.rto_jitter.to_string(),
            transport.rto_jitter != exact.jitter,
        ),
        (
            "transport.timer_granularity",
            transport.timer_granularity.to_string(),
            transport.timer_granularity != exact.granularity,
        ),
    ] {
        if given && !names.is_empty() {
            let names: Vec<&str> = names.iter().copied().collect();
            let why = format!(
                "it is of the timers of sender-driven transports; those of {} are kept by receivers, or pace \
                 credits, and expire when their papers say",
                names.join(", ")
            );
            all.push(says(key, value, why));
        }
    }
    if let Some(acks) = transport.acks.0.filter(|_| !names.is_empty()) {
        let names: Vec<&str> = names.into_iter().collect();
        let why = format!(
            "it is the class of the ACKs of sender-driven transports, not of {}, whose control packets \
             pace data and keep the class of their papers",
            names.join(", ")
        );
        all.push(says("transport.acks", name_of(acks), why));
    }
    let stores = fabric.forwarding == ForwardingName::StoreAndForward;
    if stores && fabric.cut_through_bytes != CUT_THROUGH_BYTES {
        let why = "switches store and forward (`fabric.forwarding`)".to_string();
        all.push(says("fabric.cut_through_bytes", fabric.cut_through_bytes.to_string(), why));
    }
    if let Some(interval) = run.interval.0.filter(|interval| *interval < SHORTEST_INTERVAL) {
        let why = format!("the shortest interval of time series is {SHORTEST_INTERVAL}");
        all.push(says("run.interval", interval.to_string(), why));
    }
    all
}

/// Transports that mark by queue length, at switch ports that never hold the queue for it.
fn never_marks(plan: &Plan) -> Vec<Warning> {
    let charged = plan.site.framing.charged_mtu();
    let mut all = vec![];
    if plan.shared.is_some() {
        return all;
    }
    let by_rate = switch_ports(plan);
    for transport in plan.cases.iter().flat_map(|case| &case.transports) {
        for (rate, site) in &by_rate {
            let policy = transport.configured.policy(site);
            let Some(most) = policy.classes.last().map(|class| class.limit) else { continue };
            let least = policy.markers.iter().filter_map(|marker| marker.marks_from());
            for least in least.filter(|least| !reaches(most, *least, charged)) {
                let (name, least, most) = (transport.info.name, shown(least), shown(most));
                let warning = Warning::known(&NEVER_MARKS.notice(&[
                    ("transport", &name),
                    ("rate", rate),
                    ("least", &least),
                    ("most", &most),
                ]));
                // A transport that is assigned flows is in every case.
                if !all.contains(&warning) {
                    all.push(warning);
                }
            }
        }
    }
    all
}

/// A port of a switch for each rate that such ports have.
fn switch_ports(plan: &Plan) -> BTreeMap<Rate, PortSite> {
    let mut by_rate = BTreeMap::new();
    let ports = plan.fabric.ports().iter().zip(0..);
    for (spec, port) in ports.filter(|(spec, _)| spec.tier != Tier::Host) {
        by_rate.entry(spec.rate).or_insert_with(|| port_site(port, spec, &plan.site));
    }
    by_rate
}

/// Transports whose ports hold another queue of data than the buffer of the scenario, each with the longest: `ndp 8 packets`. None
/// with buffers that ports share, where the switch decides.
pub fn own_queues(plan: &Plan) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    if plan.shared.is_some() || plan.pfc.is_some() || plan.scenario.run.world == World::Flow {
        return all;
    }
    let ports = switch_ports(plan);
    for transport in plan.cases.iter().flat_map(|case| &case.transports) {
        let own = |site: &PortSite| {
            let limit = transport.configured.policy(site).classes.last()?.limit;
            (limit != site.buffer).then_some(limit)
        };
        let mut limits: Vec<String> = ports.values().filter_map(own).map(shown).collect();
        limits.dedup();
        let text = match limits.as_slice() {
            [] => continue,
            [one] => format!("{} {one}", transport.info.name),
            [least, .., most] => format!("{} {least} to {most}", transport.info.name),
        };
        // A transport that is assigned flows is in every case.
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// Whether a queue of at most `most` admits a packet of `charged` bytes behind `least`.
fn reaches(most: Limit, least: Limit, charged: u32) -> bool {
    match least {
        Limit::Packets(packets) => most.admits(packets, packets as u64 * charged as u64, charged),
        Limit::Bytes(bytes) => {
            let packets = bytes.div_ceil(charged as u64).min(u32::MAX as u64) as u32;
            most.admits(packets, bytes, charged)
        }
        Limit::Unlimited => true,
    }
}

fn shown(limit: Limit) -> String {
    match limit {
        Limit::Packets(packets) => format!("{packets} packets"),
        Limit::Bytes(bytes) => Bytes(bytes).to_string(),
        Limit::Unlimited => "any length".into(),
    }
}

/// Every kind of warning that is known before a run, except those of
/// [records](incast_measure::WARNINGS_BEFORE).
pub fn kinds() -> impl Iterator<Item = &'static WarningKind> {
    let transports = CATALOGUE.iter().map(|transport| transport.warning_kinds());
    [WARNINGS, incast_fabric::import::WARNINGS, incast_program::WARNINGS, incast_workload::WARNINGS]
        .into_iter()
        .chain(transports)
        .flatten()
        .copied()
}

/// Panics if the kind of a warning is in no list, and so not in `docs/warnings.md`.
pub(crate) fn check_listed(notices: &[Notice]) {
    for notice in notices {
        let listed = kinds().any(|kind| std::ptr::eq(kind, notice.kind));
        assert!(listed, "`{}` is in no list of warnings", notice.kind.name);
    }
}

/// Routings under which a transport is not what its paper describes.
fn several_paths(plan: &Plan) -> Vec<Warning> {
    let several = plan.site.paths > 1;
    let transports = plan.cases.iter().flat_map(|case| &case.transports);
    let mut all = vec![];
    for transport in transports.filter(|one| several && !one.routing.keeps_order()) {
        let words: [(&str, &dyn std::fmt::Display); 2] =
            [("transport", &transport.info.name), ("routing", &transport.routing.name())];
        let one_path = transport.info.one_path;
        let notices = [(goes_back(transport), &BREAKS_ORDER), (one_path, &ONE_PATH)];
        for (_, kind) in notices.into_iter().filter(|(holds, _)| *holds) {
            let warning = Warning::known(&kind.notice(&words));
            if !all.contains(&warning) {
                all.push(warning);
            }
        }
    }
    all
}

/// Whether its receiver asks for everything from the first missing packet on.
fn goes_back(transport: &RunTransport) -> bool {
    let asks = transport.info.headers.iter().any(|view| view.name == GO_BACK.name);
    let resolved = transport.configured.resolved();
    let sack = resolved.iter().any(|(key, value)| *key == "recovery" && value == "sack");
    asks && !sack && !transport.configured.any_order()
}

pub(crate) fn known(notices: &[Notice]) -> Vec<Warning> {
    check_listed(notices);
    notices.iter().map(Warning::known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    static STRAY: WarningKind = WarningKind { name: "stray", says: "stray", means: "", remedy: "" };

    /// Warnings with these words of a permutation in a network.
    fn warned(network: &str, settings: &[&str], words: &str) -> Vec<String> {
        let traffic = "[[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n";
        let settings: Vec<String> = settings.iter().map(|one| one.to_string()).collect();
        let text = format!("[fabric]\n{network}{traffic}");
        let plan = Scenario::parse(&text, "a test", &settings).and_then(Plan::new);
        let plan = plan.unwrap_or_else(|fault| panic!("{fault}"));
        let all = plan.warnings.iter().map(|warning| warning.to_string());
        all.filter(|text| text.contains(words)).collect()
    }

    #[test]
    fn values_without_effect_are_told() {
        let told = |settings: &[&str]| {
            let network =
                "topology = \"star:3\"\n[transport]\nnames = [\"ndp\", \"dctcp\", \"ren\"]\n";
            warned(network, settings, "has no effect")
        };
        assert_eq!(told(&[]), [""; 0]);
        let acks = told(&["transport.acks=control"]);
        assert!(acks.len() == 1 && acks[0].contains("not of ndp, ren"), "{acks:?}");
        assert_eq!(told(&["fabric.cut_through_bytes=100"]).len(), 1);
        let cuts = ["fabric.cut_through_bytes=100", "fabric.forwarding=cut_through"];
        assert_eq!(told(&cuts), [""; 0]);
        assert_eq!(told(&["run.interval=1ns"]).len(), 1);
    }

    #[test]
    fn trimming_in_lossless_classes_is_told() {
        let told = |names: &str, settings: &[&str]| {
            let network = format!("topology = \"star:3\"\n[transport]\nnames = {names}\n");
            warned(&network, settings, "cut packets")
        };
        let all = r#"["dctcp", "eqds", "hpcc", "ndp", "sird", "uec"]"#;
        let both = told(all, &["fabric.pfc={}"]);
        assert!(both.len() == 1 && both[0].starts_with("eqds, ndp, uec: "), "{both:?}");
        assert_eq!(told(all, &[]), [""; 0]);
        // Data is in class 1.
        assert_eq!(told(all, &["fabric.pfc={ classes = [0, 2] }"]), [""; 0]);
        let drops = ["fabric.pfc={}", "transport.parameters.uec.trimming=false"];
        assert_eq!(told(r#"["uec"]"#, &drops), [""; 0]);
    }

    #[test]
    fn thresholds_that_no_queue_reaches_are_told() {
        let told = |settings: &[&str]| {
            let network = "topology = \"leaf-spine:2x2x2\"\nrate = \"10Gbps\"\nuplink_rate = \"40Gbps\"\n\
                           [transport]\nnames = [\"dctcp\"]\n";
            warned(network, settings, "never marked")
        };
        let dctcp = "transport.parameters.dctcp.mark_threshold";
        // The packet that finds 20 of 20 is dropped; that which finds 19 is marked.
        let packets = |k: u32| told(&["fabric.buffer=20packets", &format!("{dctcp}={k}packets")]);
        assert_eq!(packets(19), [""; 0]);
        let both = packets(20);
        assert!(
            both.len() == 2 && both[0].contains("10Gbps marks from a queue of 20 packets"),
            "{both:?}"
        );
        let bytes = |k: u32| told(&["fabric.buffer=30760B", &format!("{dctcp}={k}B")]);
        assert_eq!((bytes(29_222).len(), bytes(29_223).len()), (0, 2));
        // 65 packets at 10 Gb/s are 260 at 40 Gb/s.
        let scaled = [
            "fabric.buffer=128packets",
            &format!("{dctcp}=65packets"),
            "transport.parameters.dctcp.mark_rate=10Gbps",
        ];
        let uplinks = told(&scaled);
        assert!(uplinks.len() == 1 && uplinks[0].contains("40Gbps"), "{uplinks:?}");
        assert_eq!(told(&["fabric.buffer=20packets"]), [""; 0], "auto keeps to the buffer");
        assert_eq!(told(&["fabric.buffer=unlimited", &format!("{dctcp}=500packets")]), [""; 0]);
        // DCTCP is in both cases, and is told of once per rate.
        let assigned = [
            "fabric.buffer=20packets",
            &format!("{dctcp}=20packets"),
            "transport.names=[\"cubic\", \"trd\"]",
            "transport.assign=[{ name = \"dctcp\", hosts = \"1\" }]",
        ];
        assert_eq!(told(&assigned).len(), 2);
        let red = ["transport.names=[\"dcqcn\"]", "fabric.buffer=4KB"];
        assert_eq!(told(&red).len(), 2);
        let names: Vec<&str> = CATALOGUE.iter().map(|one| one.info().name).collect();
        assert_eq!(told(&[&format!("transport.names={names:?}")]), [""; 0], "all by default");
    }

    #[test]
    fn spreading_is_told_where_order_or_one_path_is_needed() {
        let told = |settings: &[&str], words: &str| {
            let network = "topology = \"leaf-spine:2x2x2\"\n[transport]\nnames = [\"hpcc\", \"dctcp\", \"swift\"]\n";
            warned(network, settings, words).len()
        };
        let spray = "transport.routing=spray";
        let unordered = "transport.parameters.hpcc.reliability=unordered";
        assert_eq!(told(&[], "goes back"), 0);
        assert_eq!(told(&[spray], "goes back"), 1);
        assert_eq!(told(&[spray, unordered], "goes back"), 0);
        // Its telemetry is still that of several paths.
        assert_eq!(told(&[spray, unordered], "hpcc reads the state of the path"), 1);
    }

    #[test]
    #[should_panic(expected = "`stray` is in no list")]
    fn a_warning_without_an_entry_is_a_bug() {
        check_listed(&[STRAY.notice(&[])]);
    }
}
