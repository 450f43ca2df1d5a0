//! What took longest, in sentences.

use super::found::Iteration;
use crate::words::{percent, time};

/// Parts of a path that get a name.
const NAMED: usize = 3;
/// Less than this share is not worth a sentence.
const LEAST: f64 = 0.01;

pub(super) fn verdict(all: &Iteration) -> Vec<String> {
    let mut says = vec![headline(all)];
    says.extend(ideal(all));
    says.extend(path(all));
    says.extend(port(all));
    says.extend(late(all));
    says.extend(waiting(all));
    says
}

fn share(ps: u64, all: &Iteration) -> f64 {
    ps as f64 / all.time().max(1) as f64
}

/// A time and which share of the iteration it is.
fn of(ps: u64, all: &Iteration) -> String {
    format!("{} ({})", time(ps), percent(share(ps, all)))
}

fn headline(all: &Iteration) -> String {
    let (took, compute) = (time(all.time()), all.compute_ps);
    let what = format!("Iteration {} of {} took {took}", all.iteration, all.what);
    match compute {
        0 => format!("{what}, all of it communication."),
        _ => format!(
            "{what}: {} of computation and {} of communication that nothing hides.",
            of(compute, all),
            of(all.exposed(), all)
        ),
    }
}

fn ideal(all: &Iteration) -> Option<String> {
    let ideal = all.ideal_ps?;
    let saved = all.completion().saturating_sub(ideal);
    let (took, least) = (time(all.completion()), time(ideal));
    Some(match share(saved, all) < LEAST {
        true => {
            format!("Its messages took {took}, as long as where only NICs limit them ({least}).")
        }
        false => format!(
            "Its messages took {took}; where only NICs limit them it would be {least}. The network costs {}.",
            of(saved, all)
        ),
    })
}

fn path(all: &Iteration) -> Option<String> {
    let (first, last) = (all.path.first()?, all.path.last()?);
    let compute = all.parts.first().map_or(0, |part| part.ps);
    if all.program.is_some() {
        return Some(format!("Critical path: {}", of_program(all, first, last, compute)));
    }
    let begins = match compute {
        0 => format!("it begins at rank {}", first.from),
        _ => format!("rank {} computed {}", first.from, time(compute)),
    };
    let messages = match all.path.len() {
        1 => format!("its message to rank {} was the last to arrive", last.to),
        count => format!(
            "then {count} messages followed each other, the last one from rank {} to rank {}",
            last.from, last.to
        ),
    };
    let ahead = match all.ahead_ps {
        0 => String::new(),
        ps => format!(" It begins {} before the iteration: that rank was done earlier.", time(ps)),
    };
    Some(format!("Critical path: {begins}, {messages}. Of its messages: {}.{ahead}", largest(all)))
}

/// The parts of the messages that take longest.
fn largest(all: &Iteration) -> String {
    let mut parts: Vec<_> = all.parts.iter().skip(1).filter(|part| part.share >= LEAST).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.ps));
    let named: Vec<String> = parts
        .iter()
        .take(NAMED)
        .map(|part| format!("{}: {}", part.meaning, of(part.ps, all)))
        .collect();
    named.join("; ")
}

/// Of a program computations are anywhere on the path.
fn of_program(all: &Iteration, first: &super::Leg, last: &super::Leg, compute: u64) -> String {
    let messages = match all.path.len() {
        1 => format!("1 message, from rank {} to rank {}", first.from, last.to),
        count => format!(
            "{count} messages, the first one from rank {}, the last one to rank {}",
            first.from, last.to
        ),
    };
    let computed =
        format!("and {} of computation before, between and behind them", of(compute, all));
    match largest(all) {
        parts if parts.is_empty() => format!("{messages}, {computed}."),
        parts => format!("{messages}, {computed}. Of its messages: {parts}."),
    }
}

fn port(all: &Iteration) -> Option<String> {
    let most = all.ports.first().filter(|port| port.share >= LEAST)?;
    let (port, took) = (&most.port, of(most.excess_ps, all));
    let messages = match most.messages {
        1 => "the message of the path that waited longest there was".to_string(),
        count => format!("the {count} messages of the path that waited longest there were"),
    };
    Some(format!("`{port}` costs most: {messages} {took} slower than alone."))
}

/// A rank that computed longer than the others.
fn late(all: &Iteration) -> Option<String> {
    let mut each: Vec<(u64, u32)> =
        all.by_rank.iter().map(|one| (one.computing_ps, one.rank)).collect();
    each.sort_unstable();
    let [.., (second, _), (most, rank)] = each[..] else { return None };
    let more = most - second;
    (share(more, all) >= LEAST)
        .then(|| format!("Rank {rank} computed {} longer than any other.", of(more, all)))
}

fn waiting(all: &Iteration) -> Option<String> {
    let most =
        all.by_rank.iter().max_by_key(|one| (one.waiting_ps, std::cmp::Reverse(one.rank)))?;
    if share(most.waiting_ps, all) < LEAST {
        return None;
    }
    let whom = match most.waited_for {
        Some((rank, ps)) => format!(", {} of it for rank {rank}", time(ps)),
        None => String::new(),
    };
    let (rank, waited) = (most.rank, of(most.waiting_ps, all));
    Some(format!("Rank {rank} waited longest for others: {waited}{whom}."))
}
