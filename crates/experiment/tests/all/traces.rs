//! Traces of small networks, one per mechanism: every packet that every port sends, as text.
//!
//! Each `traces/NAME.toml` is a scenario, each `traces/NAME.snap` what happens in it. A change that
//! is meant is taken over with `INSTA_UPDATE=always cargo test -p incast-experiment --test all traces::`
//! (or reviewed with `cargo insta review`), and the difference is read in the commit.

use incast_experiment::{Plan, Scenario, execute, output};
use incast_measure::Run;
use incast_transport::Time;
use incast_wire::{Ecn, Explicit, Extension, Header, flag};
use incast_world::{Captured, Monitor};
use std::fmt::Write;

/// Runs `traces/NAME.toml` and compares what is sent with `traces/NAME.snap`.
fn check(name: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces");
    let text = std::fs::read_to_string(format!("{folder}/{name}.toml")).unwrap();
    let scenario = Scenario::parse(&text, &format!("{name}.toml"), &[]).unwrap();
    let plan = Plan::new(scenario).unwrap();
    let ports = match plan.scenario.output.pcap.as_slice() {
        [] => output::ports(&plan, &["all".to_string()]).unwrap(),
        named => output::ports(&plan, named).unwrap(),
    };
    let (run, captured) = execute(&plan, &plan.cases[0], ports, 1, &Monitor::default()).unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(&plan.scenario.title);
    settings.bind(|| insta::assert_snapshot!(name, trace(&plan, &run, &captured)));
}

macro_rules! traces {
    ($($name:ident),* $(,)?) => { $(#[test] fn $name() { check(stringify!($name)); })* };
}

traces! {
    codes_that_meter_grants,
    credits_in_their_share,
    ecn_threshold,
    empty_slots_marked,
    go_back_n_and_notifications,
    grants_with_priorities,
    mixed_transports,
    paths_that_collide,
    pause_chain,
    rate_of_switches,
    sack_and_timeout,
    telemetry_of_hops,
    tokens,
    trimming_and_pulls,
}

/// One line per packet, then one per flow and per port at which something other than sending
/// happened.
fn trace(plan: &Plan, run: &Run, captured: &[Captured]) -> String {
    let mut text = String::new();
    let ports: Vec<String> = run.ports.iter().map(|port| port.name.replace("->", " -> ")).collect();
    let width = ports.iter().map(String::len).max().unwrap_or(0);
    for one in captured {
        let port = &ports[one.port as usize];
        writeln!(text, "{:>9} {port:width$}  {}", microseconds(one.at), packet(one)).unwrap();
    }
    text.push('\n');
    for (flow, record) in plan.traffic.flows.iter().zip(&run.record.flows) {
        let end = record
            .completed
            .map_or("not complete".into(), |at| format!("complete at {} us", microseconds(at)));
        writeln!(
            text,
            "flow {}: host{} to host{}, {} B, {end}, {} packets sent, {} of them again",
            record.flow.0, flow.src, flow.dst, flow.size, record.packets, record.retransmits
        )
        .unwrap();
    }
    for port in &run.record.ports {
        let total = &port.total;
        let counts = [
            (total.marks as u64, "marked"),
            (total.trims as u64, "trimmed"),
            (total.drops as u64, "dropped"),
            (total.credit_drops as u64, "credits dropped"),
            (total.paused / 1_000, "ns paused"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        if !counts.is_empty() {
            let name = &ports[port.port as usize];
            writeln!(text, "port {name}: {}", counts.join(", ")).unwrap();
        }
    }
    if run.record.link_losses > 0 {
        writeln!(text, "links lost {}", run.record.link_losses).unwrap();
    }
    text
}

/// Microseconds with nanoseconds behind the point.
fn microseconds(at: Time) -> String {
    format!("{}.{:03}", at.0 / 1_000_000, at.0 / 1_000 % 1_000)
}

/// What a packet is, in its transport's words: kind, fields, what rides along. The first field says
/// which packet; of the others only what is not zero is worth reading.
fn packet(one: &Captured) -> String {
    let packet = &one.packet;
    if let Header::Pause { classes, paused, .. } = packet.header {
        return format!("pause frame: classes {classes:08b} of which paused {paused:08b}");
    }
    let mut transports = incast_protocols::CATALOGUE.iter().map(|entry| entry.info());
    let transport = transports.find(|info| info.id == packet.transport);
    let views = transport.expect("a transport of the catalogue").headers;
    let view = views.iter().find(|view| view.describes(packet));
    let view = view.unwrap_or_else(|| panic!("no view describes {packet:?}"));
    let mut text = format!("flow {} {}", packet.flow.0, view.name);
    let values = view.values(&packet.header).expect("it describes the packet");
    for (place, (field, value)) in view.fields().zip(values).enumerate() {
        match field.bit {
            0 if place == 0 || value > 0 => write!(text, " {} {value}", field.name).unwrap(),
            bit if bit > 0 && value > 0 => write!(text, " {}", field.name).unwrap(),
            _ => {}
        }
    }
    if packet.payload > 0 {
        write!(text, " | {} B", packet.payload).unwrap();
    }
    for (bit, name) in
        [(flag::TRIMMED, "trimmed"), (flag::BOUNCED, "bounced"), (flag::RETRANSMIT, "again")]
    {
        if packet.has(bit) {
            write!(text, " | {name}").unwrap();
        }
    }
    if packet.class > 0 {
        write!(text, " | class {}", packet.class).unwrap();
    }
    match view.codes.iter().find(|code| code.mark == packet.mark) {
        Some(code) => write!(text, " | {}", code.name).unwrap(),
        None if packet.mark == Ecn::Ce as u8 => text.push_str(" | CE"),
        None if packet.mark == Ecn::Ect0 as u8 => text.push_str(" | ECT"),
        None if packet.mark > 0 => write!(text, " | mark {:02b}", packet.mark).unwrap(),
        None => {}
    }
    text + &extension(&one.extension)
}

fn extension(extension: &Extension) -> String {
    let mut text = match extension {
        Extension::None | Extension::Sack { .. } => String::new(),
        Extension::Int { count, records } => {
            let hop = |record: &incast_wire::IntRecord| {
                let (at, sent, queued) = (record.timestamp, record.sent, record.queued);
                format!(" [rate {} at {at} sent {sent} queued {queued}]", record.rate_code)
            };
            let hops: String = records[..*count as usize].iter().map(hop).collect();
            format!(" | telemetry{hops}")
        }
        Extension::Padding { count } => format!(" | padding {}", 2 + 2 * count),
        Extension::Arrivals { base, bits, received, beyond } => {
            format!(" | arrived from {base} {bits:x} beyond {beyond} bytes {received}")
        }
        Extension::Explicit { fields, .. } => match fields {
            Explicit::Window { rtt, spacing, feedback, reverse, .. } => {
                format!(
                    " | window rtt {rtt} spacing {spacing} feedback {feedback} reverse {reverse}"
                )
            }
            Explicit::Rate { rtt, forward, reverse } => {
                format!(" | rate rtt {rtt} forward {forward} reverse {reverse}")
            }
            Explicit::Class { class } => format!(" | rtt class {class}"),
            Explicit::Stamp { sent } => format!(" | sent at {sent}"),
        },
    };
    if !extension.sack_ranges().is_empty() {
        text.push_str(" | sack");
        for (from, to) in extension.sack_ranges() {
            write!(text, " {from}..{to}").unwrap();
        }
    }
    text
}
