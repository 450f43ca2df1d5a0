//! `incast doctor`: which parts of the data plane work on this machine, and how to fix the rest.

mod checks;
mod system;

use crate::process::Ended;
use checks::Check;
use clap::{Args, ValueEnum};
use incast_experiment::Fault;
use serde_json::{Value, json};

#[derive(Args)]
pub struct Doctor {
    /// Only this tier decides the exit code [default: memory, rings, namespaces and tshark do]
    #[arg(long, value_name = "TIER")]
    pub tier: Option<Tier>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What a test or an experiment of the data plane needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Tier {
    /// Links in memory, under every clock
    Memory,
    /// Links over rings of DPDK
    Rings,
    /// A process per node in network namespaces, over veth pairs
    Namespaces,
    /// Captures read by tshark
    Tshark,
    /// Ports at interfaces of this machine, outside of namespaces
    Interfaces,
    /// A NIC that DPDK drives
    Nic,
    /// Real time without compensation: `--clock tsc`
    RealTime,
}

impl Tier {
    const ALL: [Tier; 7] = [
        Tier::Memory,
        Tier::Rings,
        Tier::Namespaces,
        Tier::Tshark,
        Tier::Interfaces,
        Tier::Nic,
        Tier::RealTime,
    ];

    /// Whether tests and experiments need it on every machine.
    fn is_common(self) -> bool {
        !matches!(self, Tier::Interfaces | Tier::Nic | Tier::RealTime)
    }

    fn name(self) -> &'static str {
        match self {
            Tier::Memory => "memory",
            Tier::Rings => "rings",
            Tier::Namespaces => "namespaces",
            Tier::Tshark => "tshark",
            Tier::Interfaces => "interfaces",
            Tier::Nic => "nic",
            Tier::RealTime => "real-time",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Tier::Memory => "links in memory, every clock",
            Tier::Rings => "links over DPDK rings in one process",
            Tier::Namespaces => "a process per node, network namespaces and veth pairs",
            Tier::Tshark => "captures decoded by tshark",
            Tier::Interfaces => "ports at interfaces of this machine (if:eth1)",
            Tier::Nic => "a NIC driven by DPDK",
            Tier::RealTime => "--clock tsc, --poll: cores on which nothing else runs",
        }
    }

    /// Names of the checks that it needs.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Tier::Memory => &[],
            Tier::Rings => &["library"],
            Tier::Namespaces => &["namespaces"],
            Tier::Tshark => &["tshark"],
            Tier::Interfaces => &["privileges"],
            Tier::Nic => &["library", "hugepages", "nic"],
            Tier::RealTime => &["clock", "isolated", "stalls"],
        }
    }
}

/// The checks that a tier needs and that failed.
fn missing(tier: Tier, checks: &[Check]) -> Vec<&Check> {
    checks.iter().filter(|check| !check.ok && tier.needs().contains(&check.name)).collect()
}

pub fn doctor(options: Doctor) -> Result<Ended, Fault> {
    let checks = checks::all();
    match options.json {
        true => {
            let text = serde_json::to_string_pretty(&as_json(&checks));
            say!("{}", text.expect("plain data becomes JSON"));
        }
        false => print(&checks),
    }
    let counts = |tier: &Tier| options.tier.map_or(tier.is_common(), |one| one == *tier);
    let mut wanted = Tier::ALL.iter().filter(|tier| counts(tier));
    let works = wanted.all(|tier| missing(*tier, &checks).is_empty());
    Ok(if works { Ended::Done } else { Ended::Failed })
}

fn print(checks: &[Check]) {
    say!("Tiers");
    for tier in Tier::ALL {
        let missing = missing(tier, checks);
        let mark = if missing.is_empty() { "yes" } else { "no " };
        say!("  {mark}  {:<10}  {}", tier.name(), tier.what());
        for check in missing {
            say!("                   {}: {}", check.name, check.found);
            let fix = check.fix.as_deref().unwrap_or_default();
            say!("                   fix it: {fix}");
        }
    }
    say!("\nMachine");
    for check in checks {
        let mark = if check.ok { "ok" } else { "--" };
        say!("  {mark}   {:<12}  {}", check.name, check.found);
        if let Some(fix) = &check.fix {
            say!("                     {fix}");
        }
    }
}

fn as_json(checks: &[Check]) -> Value {
    let check = |check: &Check| json!({"name": check.name, "ok": check.ok, "found": check.found, "fix": check.fix});
    let tier = |tier: &Tier| {
        let missing = missing(*tier, checks);
        let names: Vec<&str> = missing.iter().map(|check| check.name).collect();
        json!({
            "name": tier.name(), "title": tier.what(), "works": names.is_empty(),
            "needs": tier.needs(), "missing": names,
        })
    };
    json!({
        "tiers": Tier::ALL.iter().map(tier).collect::<Vec<_>>(),
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_works_if_all_it_needs_is_there() {
        let checks = [
            Check::good("library", "DPDK 22.11"),
            Check::bad("namespaces", "not permitted", "sysctl"),
            Check::bad("isolated", "none", "isolcpus"),
        ];
        let names = |tier| missing(tier, &checks).iter().map(|c| c.name).collect::<Vec<_>>();
        assert!(names(Tier::Memory).is_empty() && names(Tier::Rings).is_empty());
        assert_eq!(names(Tier::Namespaces), ["namespaces"]);
        let value = as_json(&checks);
        assert_eq!(value["tiers"][2]["works"], false);
        assert_eq!(value["tiers"][2]["missing"][0], "namespaces");
        assert_eq!(value["checks"][2]["fix"], "isolcpus");
    }

    #[test]
    fn every_need_is_a_check() {
        let checks = checks::all();
        for tier in Tier::ALL {
            for need in tier.needs() {
                assert!(checks.iter().any(|check| check.name == *need), "{need}");
            }
        }
        assert!(checks.iter().all(|check| check.ok != check.fix.is_some()));
    }
}
