//! Writes programs as GOAL.

use super::{COOKIE, ENTRY, HEAD, NODE};
use crate::graph::{ANY, Op, Program, Rank};
use std::fmt::{self, Write};

/// The program as text.
pub fn write_text(program: &Program) -> String {
    let mut out = String::new();
    text(program, &mut out).expect("a string takes all");
    out
}

fn text(program: &Program, out: &mut String) -> fmt::Result {
    writeln!(out, "num_ranks {}", program.ranks().len())?;
    for (rank, number) in program.ranks().iter().zip(0u32..) {
        writeln!(out, "\nrank {number} {{")?;
        for (node, place) in rank.nodes().iter().zip(0u32..) {
            write!(out, "l{place}: ")?;
            match node.op {
                Op::Send { to, bytes, tag } => write!(out, "send {bytes}b to {to} tag {tag}")?,
                Op::Recv { from, bytes, tag } => {
                    write!(out, "recv {bytes}b from {} tag {}", or_any(from), or_any(tag))?;
                }
                Op::Calc { ns } => write!(out, "calc {ns}")?,
            }
            if node.cpu > 0 {
                write!(out, " cpu {}", node.cpu)?;
            }
            if node.nic > 0 && !matches!(node.op, Op::Calc { .. }) {
                write!(out, " nic {}", node.nic)?;
            }
            writeln!(out)?;
        }
        for node in 0..rank.nodes().len() as u32 {
            for (how, followers) in
                [("requires", rank.at_end(node)), ("irequires", rank.at_start(node))]
            {
                followers.iter().try_for_each(|after| writeln!(out, "l{after} {how} l{node}"))?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn or_any(number: u32) -> i64 {
    if number == ANY { -1 } else { i64::from(number) }
}

/// The program as a binary file.
pub fn write_binary(program: &Program) -> Vec<u8> {
    let ranks = program.ranks();
    let nodes = || ranks.iter().flat_map(Rank::nodes);
    let most = |of: fn(&crate::Node) -> u8| nodes().map(of).max().unwrap_or(0).saturating_add(1);
    let mut out = COOKIE.to_le_bytes().to_vec();
    out.extend((ranks.len() as u32).to_le_bytes());
    out.extend([most(|node| node.cpu), most(|node| node.nic)]);
    let mut begin = HEAD + ENTRY * ranks.len() as u64;
    for rank in ranks {
        let roots = rank.waits().iter().filter(|waits| **waits == 0).count();
        let end = begin + (8 + 4 * roots + NODE * rank.nodes().len() + 4 * rank.edges()) as u64;
        out.extend(begin.to_le_bytes());
        out.extend(end.to_le_bytes());
        begin = end;
    }
    ranks.iter().for_each(|one| rank(one, &mut out));
    out
}

fn rank(rank: &Rank, out: &mut Vec<u8>) {
    let waits = rank.waits();
    let roots: Vec<u32> =
        (0u32..).zip(&waits).filter(|(_, waits)| **waits == 0).map(|(node, _)| node).collect();
    let mut word = |value: u32| out.extend(value.to_le_bytes());
    word(rank.nodes().len() as u32);
    word(roots.len() as u32);
    roots.into_iter().for_each(&mut word);
    let mut place = 0u32;
    for ((node, number), waits) in rank.nodes().iter().zip(0u32..).zip(&waits) {
        let (kind, peer, size, tag) = match node.op {
            Op::Send { to, bytes, tag } => (1u8, to, bytes, tag),
            Op::Recv { from, bytes, tag } => (2, from, bytes, tag),
            Op::Calc { ns } => (3, 0, ns, 0),
        };
        out.extend(waits.to_le_bytes());
        out.push(kind);
        out.extend(peer.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend(tag.to_le_bytes());
        out.extend([node.cpu, node.nic]);
        for followers in [rank.at_end(number), rank.at_start(number)] {
            let many = followers.len() as u32;
            out.extend(many.to_le_bytes());
            out.extend(place.to_le_bytes());
            place += many;
        }
    }
    for node in 0..rank.nodes().len() as u32 {
        let all = rank.at_end(node).iter().chain(rank.at_start(node));
        all.for_each(|id| out.extend(id.to_le_bytes()));
    }
}
