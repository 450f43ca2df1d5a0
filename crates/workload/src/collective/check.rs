//! What a collective may be.

use super::spec::{Algorithm, Collective, CollectiveKind};
use crate::error::setting;
use crate::pattern::check_distinct;
use crate::traffic::{MAX_FLOWS, Shape, check_size};
use incast_units::Fault;

/// How far the sum of shares may be from 1.
const ROUNDING: f64 = 1e-6;

pub(super) fn check(shape: &Shape, spec: &Collective) -> Result<(), Fault> {
    let (ranks, n) = (&spec.ranks, spec.ranks.len() as u32);
    check_distinct("ranks", ranks, shape.hosts)?;
    if n < 2 {
        return refuse("ranks", n, "2 or more".into());
    }
    check_algorithm(spec, n)?;
    check_shares(spec, n)?;
    let below = |key, rank: Option<u32>| match rank {
        Some(rank) if rank >= n => refuse(key, rank, format!("a rank from 0 to {}", n - 1)),
        _ => Ok(()),
    };
    below("straggler", spec.straggler.map(|(rank, _)| rank))?;
    below("root", spec.root)?;
    if spec.root.is_some() && spec.kind != CollectiveKind::Broadcast {
        let accepted = "no such key: only a broadcast has a root";
        return refuse("root", spec.root.unwrap_or(0), accepted.into());
    }
    check_size("size", spec.size)?;
    for (key, value) in
        [("channels", spec.channels), ("chunks", spec.chunks), ("iterations", spec.iterations)]
    {
        if value == 0 {
            return refuse(key, value, "1 or more".into());
        }
    }
    let lanes = u64::from(spec.channels) * u64::from(spec.chunks);
    let least = lanes.saturating_mul(u64::from(n));
    if spec.size < least {
        return refuse("size", spec.size, format!("{least} or more: a byte for each part"));
    }
    check_number(spec, n, lanes)
}

fn refuse<T>(key: &str, value: impl std::fmt::Display, accepted: String) -> Result<T, Fault> {
    Err(setting(key, value, accepted))
}

fn check_algorithm(spec: &Collective, n: u32) -> Result<(), Fault> {
    let (kind, algorithm) = (spec.kind, spec.algorithm);
    if !kind.algorithms().contains(&algorithm) {
        let all: Vec<&str> = kind.algorithms().iter().map(|one| one.name()).collect();
        let accepted = format!("one of {} for {}", all.join(", "), kind.name());
        return refuse("algorithm", algorithm.name(), accepted);
    }
    if algorithm == Algorithm::HalvingDoubling && !n.is_power_of_two() {
        let accepted = "a number of ranks that is a power of two for halving_doubling";
        return refuse("ranks", n, accepted.into());
    }
    match (algorithm, spec.group) {
        (Algorithm::Hierarchical, Some(group))
            if group < 2 || group >= n || !n.is_multiple_of(group) =>
        {
            let sizes: Vec<String> = (2..n)
                .filter(|group| n.is_multiple_of(*group))
                .map(|group| group.to_string())
                .collect();
            let accepted = match sizes.as_slice() {
                [] => format!("another algorithm: {n} ranks do not make groups of one size"),
                _ => format!("one of {} for {n} ranks: groups of one size", sizes.join(", ")),
            };
            refuse("group", group, accepted)
        }
        (Algorithm::Hierarchical, None) => {
            refuse("group", "", "the ranks of a group, which hierarchical needs".into())
        }
        (Algorithm::Hierarchical, _) | (_, None) => Ok(()),
        (_, Some(group)) => {
            refuse("group", group, "no such key: only hierarchical has groups".into())
        }
    }
}

fn check_shares(spec: &Collective, n: u32) -> Result<(), Fault> {
    let Some(shares) = &spec.shares else { return Ok(()) };
    if spec.kind != CollectiveKind::AllToAll {
        let accepted = "no such key: only an all_to_all has shares";
        return refuse("shares", shares.len(), accepted.into());
    }
    if shares.len() != 1 && shares.len() != n as usize {
        return refuse("shares", shares.len(), format!("1 or {n} lists of shares"));
    }
    shares.iter().try_for_each(|row| check_row(row, n))
}

/// The shares of one rank, or of all.
fn check_row(shares: &[f64], n: u32) -> Result<(), Fault> {
    if shares.len() != n as usize {
        return refuse("shares", shares.len(), format!("{n} numbers: one for each rank"));
    }
    if let Some(bad) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
        return refuse("shares", bad, "numbers from 0 to 1".into());
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() > ROUNDING {
        return refuse("shares", format!("sum {sum}"), "numbers that sum to 1".into());
    }
    Ok(())
}

/// Messages of one part of the data.
fn messages(spec: &Collective, n: u64) -> u64 {
    let steps = match (spec.algorithm, spec.kind) {
        (Algorithm::Tree, CollectiveKind::Broadcast) => return n - 1,
        (Algorithm::Ring | Algorithm::Direct, CollectiveKind::Broadcast) => return n - 1,
        (Algorithm::DoubleTree, CollectiveKind::Broadcast) | (Algorithm::Tree, _) => {
            return 2 * (n - 1);
        }
        (Algorithm::DoubleTree, _) => return 4 * (n - 1),
        (Algorithm::HalvingDoubling, _) => u64::from(n.ilog2()),
        (Algorithm::Hierarchical, _) => {
            let group = u64::from(spec.group.unwrap_or(1));
            group - 1 + n / group - 1
        }
        _ => n - 1,
    };
    let both = if spec.kind == CollectiveKind::AllReduce { 2 } else { 1 };
    both * n * steps
}

fn check_number(spec: &Collective, n: u32, lanes: u64) -> Result<(), Fault> {
    let each = messages(spec, n.into());
    let iteration = each.saturating_mul(lanes);
    if iteration.saturating_mul(spec.iterations.into()) <= MAX_FLOWS {
        return Ok(());
    }
    if each > MAX_FLOWS {
        return refuse("ranks", n, format!("fewer: {each} messages, and {MAX_FLOWS} at most"));
    }
    if iteration > MAX_FLOWS {
        let key = if spec.chunks > spec.channels { "chunks" } else { "channels" };
        let value = spec.chunks.max(spec.channels);
        let accepted = format!("fewer: {iteration} messages, and {MAX_FLOWS} at most");
        return refuse(key, value, accepted);
    }
    let most = MAX_FLOWS / iteration;
    refuse("iterations", spec.iterations, format!("1 to {most}: {iteration} messages each"))
}
