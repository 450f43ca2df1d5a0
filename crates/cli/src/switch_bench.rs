//! `incast testbed bench`: what a packet costs the software switch.

use crate::process::Ended;
use crate::values::whole;
use clap::Args;
use incast_dataplane::cost::{Cost, STAGES, SwitchCost, UNIT, counter_rate};
use incast_experiment::fault::{expected, wrong};
use incast_experiment::scenario::Backend;
use incast_experiment::{Fault, SizeCost, nearest, switch_cost};
use serde_json::{Value, json};

#[derive(Args)]
pub struct SwitchBench {
    /// Transport whose ports are measured, with and without its markers
    #[arg(long, value_name = "NAME", default_value = "ren")]
    pub transport: String,
    /// Bytes of the packets, from the IPv4 header on, separated by commas
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = whole::<u32>,
        default_value = "1500,64")]
    pub size: Vec<u32>,
    /// Bursts of 32 packets per measurement
    #[arg(long, value_name = "N", value_parser = whole::<usize>, default_value_t = 20_000)]
    pub bursts: usize,
    /// Links: memory, or rings (DPDK) [default: rings if this program has DPDK, else memory]
    #[arg(long, value_name = "NAME", value_parser = backend)]
    pub backend: Option<Backend>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn backend(name: &str) -> Result<Backend, Fault> {
    let found = Backend::NAMES.iter().find(|(known, _)| *known == name).map(|(_, one)| *one);
    let names = Backend::NAMES.map(|(name, _)| name);
    let refused = || Fault::new(expected("memory or rings").meant(nearest(name, names)));
    found.ok_or_else(refused)
}

/// REN's figure for a port (REN §3.2).
const PAPER_STATE: usize = 16;

pub fn bench(options: SwitchBench) -> Result<Ended, Fault> {
    if options.bursts == 0 {
        return Err(Fault::new(wrong("--bursts 0").expected("1 or more")));
    }
    let default = if cfg!(feature = "dpdk") { Backend::Rings } else { Backend::Memory };
    let backend = options.backend.unwrap_or(default);
    let costs = switch_cost(&options.transport, &options.size, options.bursts, backend)?;
    let rate = counter_rate();
    if options.json {
        let sizes: Vec<Value> = costs.iter().map(|one| as_json(one, rate)).collect();
        let value = json!({
            "transport": options.transport, "backend": backend.name(), "bursts": options.bursts,
            "unit": UNIT, "unit_per_second": rate, "sizes": sizes,
        });
        say!("{}", serde_json::to_string_pretty(&value).expect("plain data becomes JSON"));
        return Ok(Ended::Done);
    }
    let (name, links) = (&options.transport, backend.name());
    say!("{name} over {links}; {UNIT} per packet, {:.2} G{UNIT}/s", rate / 1e9);
    say!(
        "medians of {} bursts of 32: without the counter's own cost (as measured); quiet tenth: \
         the fastest tenth of the bursts took no longer",
        options.bursts
    );
    costs.iter().for_each(|one| print(one, rate));
    Ok(Ended::Done)
}

fn print(one: &SizeCost, rate: f64) {
    let shown = |cost: Cost| format!("{:>6.1} ({:>5.1})", cost.corrected, cost.raw);
    let row = |name: &str, with: Cost, without: Cost| {
        let marker = with.corrected - without.corrected;
        say!("  {name:<10} {}   {}   {marker:>6.1}", shown(with), shown(without));
    };
    say!("\n{} B               with markers        without    markers", one.bytes);
    for (index, stage) in STAGES.iter().enumerate() {
        row(stage, one.with.stages[index], one.without.stages[index]);
    }
    row("switch", one.with.whole, one.without.whole);
    let (with, without) = (one.with.whole.quiet, one.without.whole.quiet);
    say!(
        "  {:<10} {with:>6.1}           {without:>8.1}          {:>8.1}",
        "quiet tenth",
        with - without
    );
    let millions = |cost: f64| rate / cost / 1e6;
    say!(
        "  {:.1} M packets/s in one thread, {:.1} M in the quiet tenth",
        millions(one.with.whole.corrected),
        millions(with)
    );
    if let Some(forwarder) = one.forwarder {
        say!("  a bare forwarder in C over the same rings: {}", shown(forwarder));
    }
    say!(
        "  enqueue and dequeue: {:.0} % of the stages with markers, {:.0} % without; {:.1} % of packets marked",
        100.0 * queue_share(&one.with),
        100.0 * queue_share(&one.without),
        100.0 * one.with.changed
    );
    if one.with.lost > 0.0 {
        say!(
            "  {:.1} % of packets dropped: the queue is shorter than a burst",
            100.0 * one.with.lost
        );
    }
    say!("  markers keep {} B at a port; the paper says {PAPER_STATE}", one.state);
}

/// Share of the stages in which a packet enters and leaves its queue.
fn queue_share(cost: &SwitchCost) -> f64 {
    let all: f64 = cost.stages.iter().map(|stage| stage.corrected).sum();
    let queue = cost.stages[3].corrected + cost.stages[4].corrected;
    if all > 0.0 { queue / all } else { 0.0 }
}

fn as_json(one: &SizeCost, rate: f64) -> Value {
    let cost =
        |cost: Cost| json!({"raw": cost.raw, "corrected": cost.corrected, "quiet": cost.quiet});
    let switch = |of: &SwitchCost| {
        let stages = STAGES.iter().zip(of.stages).map(|(name, one)| (name.to_string(), cost(one)));
        json!({
            "whole": cost(of.whole), "stages": stages.collect::<serde_json::Map<_, _>>(),
            "queue_share": queue_share(of), "marked_share": of.changed, "lost_share": of.lost,
            "packets_per_second": rate / of.whole.corrected,
        })
    };
    json!({
        "bytes": one.bytes, "with_markers": switch(&one.with), "without_markers": switch(&one.without),
        "marker": one.with.whole.corrected - one.without.whole.corrected,
        "c_forwarder": one.forwarder.map(cost), "state_bytes": one.state,
        "state_bytes_of_the_paper": PAPER_STATE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_queue_is_of_all_stages() {
        let of = |corrected| Cost { raw: 0.0, corrected, quiet: corrected };
        let stages = [1.0, 2.0, 1.0, 3.0, 2.0, 1.0].map(of);
        let mut cost =
            SwitchCost { burst: 32, bursts: 1, whole: of(9.0), stages, changed: 0.0, lost: 0.0 };
        assert_eq!(queue_share(&cost), 0.5);
        cost.stages = [of(0.0); 6];
        assert_eq!(queue_share(&cost), 0.0);
    }
}
