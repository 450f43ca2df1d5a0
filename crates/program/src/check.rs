//! What a program must keep to be run: its ranks exist, nothing waits for itself, and what is sent is received.

use crate::error::{Place, ProgramError};
use crate::graph::{ANY, Op, Program, Rank};
use crate::warning::EMPTY_MESSAGES;
use incast_units::Notice;
use incast_units::fault::{Problem, wrong};
use std::collections::BTreeMap;

/// Sends to a rank from one, or its receives: how many, and the first of them by rank and node.
type Ends = BTreeMap<(u32, u32), (i64, (u32, u32))>;

impl Program {
    /// A program of these ranks, as the file of this name has it.
    ///
    /// # Errors
    /// No rank, a message to or from a rank that is not there, a node that waits for itself, a send without a
    /// receive or a receive without a send.
    pub fn new(file: &str, ranks: Vec<Rank>) -> Result<Program, ProgramError> {
        Program::checked(file, ranks, false)
    }

    /// The same of ranks that have ids of nodes, with one added, in place of lines.
    pub(crate) fn with_ids(file: &str, ranks: Vec<Rank>) -> Result<Program, ProgramError> {
        Program::checked(file, ranks, true)
    }

    fn checked(file: &str, ranks: Vec<Rank>, has_ids: bool) -> Result<Program, ProgramError> {
        let file_name = file.to_string();
        let (iterations, server, notes) = (1, 1, vec![]);
        let has_groups = false;
        let program =
            Program { ranks, file: file_name, iterations, server, has_ids, has_groups, notes };
        if program.ranks.is_empty() {
            return Err(ProgramError::new(
                file,
                Place::File,
                wrong("has no ranks").expected("1 or more"),
            ));
        }
        program.check_peers()?;
        program.check_circles()?;
        program.check_pairs()?;
        Ok(program)
    }

    /// What is unusual about it.
    pub fn notices(&self) -> Vec<Notice> {
        let empty = |(_, _, op): &(u32, u32, Op)| matches!(op, Op::Send { bytes: 0, .. });
        let mut notices = self.notes.clone();
        let count = self.messages().filter(empty).count();
        let Some((rank, ..)) = self.messages().find(empty) else { return notices };
        let count = if count == 1 { "1 message".into() } else { format!("{count} messages") };
        notices.push(EMPTY_MESSAGES.notice(&[
            ("file", &self.file),
            ("count", &count),
            ("rank", &rank),
        ]));
        notices
    }

    /// Where a node is.
    pub fn place(&self, rank: u32, node: u32) -> Place {
        let line = self.ranks.get(rank as usize).and_then(|rank| rank.line(node));
        match line {
            Some(id) if self.has_ids => Place::Node(rank, id - 1),
            Some(line) => Place::Line(line),
            None => Place::Node(rank, node),
        }
    }

    /// What is wrong with a node.
    pub fn wrong(&self, rank: u32, node: u32, problem: impl Into<Problem>) -> ProgramError {
        ProgramError::new(&self.file, self.place(rank, node), problem)
    }

    fn check_peers(&self) -> Result<(), ProgramError> {
        let count = self.ranks.len();
        for (rank, number) in self.ranks.iter().zip(0u32..) {
            for (node, place) in rank.nodes().iter().zip(0u32..) {
                let (what, peer) = match node.op {
                    Op::Send { to, .. } => ("sends to", to),
                    Op::Recv { from, .. } if from != ANY => ("receives from", from),
                    _ => continue,
                };
                if peer as usize >= count {
                    let problem = wrong(format!("{what} rank {peer}"))
                        .expected(format!("a rank from 0 to {}", count - 1));
                    return Err(self.wrong(number, place, problem));
                }
            }
        }
        Ok(())
    }

    fn check_circles(&self) -> Result<(), ProgramError> {
        for (rank, number) in self.ranks.iter().zip(0u32..) {
            if let Some(node) = waits_for_itself(rank) {
                let own = match self.place(number, node) {
                    Place::Line(_) => format!("node {node} of rank {number}"),
                    _ => "the node".to_string(),
                };
                let problem = wrong(format!("{own} waits for itself"))
                    .expected("`requires` and `irequires` without a circle");
                return Err(self.wrong(number, node, problem));
            }
        }
        Ok(())
    }

    /// Sends against receives of each rank, by source and tag. Where some receive takes any of these, only their
    /// number is known.
    fn check_pairs(&self) -> Result<(), ProgramError> {
        let mut to: Vec<Ends> = vec![Ends::new(); self.ranks.len()];
        let mut takes_any = vec![false; self.ranks.len()];
        for (rank, number) in self.ranks.iter().zip(0u32..) {
            for (node, place) in rank.nodes().iter().zip(0u32..) {
                let (at, key, change) = match node.op {
                    Op::Send { to, tag, .. } => (to, (number, tag), 1),
                    Op::Recv { from, tag, .. } => (number, (from, tag), -1),
                    Op::Calc { .. } => continue,
                };
                takes_any[at as usize] |= key.0 == ANY || key.1 == ANY;
                let (count, first) = to[at as usize].entry(key).or_insert((0, (number, place)));
                // The first of those that are too many.
                if *count == 0 {
                    *first = (number, place);
                }
                *count += change;
            }
        }
        for (ends, rank) in to.iter().zip(0u32..) {
            // What a rank sends to itself is there at once, and need not be taken.
            let own = |source: u32, count: i64| source == rank && count > 0;
            let total: i64 = ends.values().map(|(count, _)| count).sum();
            let owns = ends.iter().filter(|((source, _), (count, _))| own(*source, *count));
            let others = total - owns.map(|(_, (count, _))| count).sum::<i64>();
            for ((source, tag), (count, (at, node))) in ends {
                let exact = *source != ANY && *tag != ANY;
                let wrong = match takes_any[rank as usize] {
                    _ if own(*source, *count) => false,
                    false => *count != 0,
                    true if *count > 0 => others > 0,
                    true => *count < 0 && (exact || total < 0),
                };
                if wrong {
                    return Err(self.wrong(*at, *node, unpaired(rank, *source, *tag, *count)));
                }
            }
        }
        Ok(())
    }
}

/// Says that so many sends to a rank have no receive, or so many of its receives no send.
fn unpaired(rank: u32, source: u32, tag: u32, count: i64) -> Problem {
    let from = if source == ANY { "any rank".into() } else { format!("rank {source}") };
    let tag = if tag == ANY { "any tag".into() } else { format!("tag {tag}") };
    let many = count.unsigned_abs();
    let (one, other) = if count > 0 { ("message", "receives") } else { ("receive", "messages") };
    let plural = if many == 1 { "" } else { "s" };
    wrong(format!("{many} {one}{plural} from {from} to rank {rank} with {tag} more than {other}"))
        .expected("as many")
}

/// The first node that waits, directly or not, for itself.
fn waits_for_itself(rank: &Rank) -> Option<u32> {
    let mut waits = rank.waits();
    let mut ready: Vec<u32> = (0u32..).zip(&waits).filter(|(_, n)| **n == 0).map(|o| o.0).collect();
    while let Some(node) = ready.pop() {
        for next in rank.at_end(node).iter().chain(rank.at_start(node)) {
            waits[*next as usize] -= 1;
            if waits[*next as usize] == 0 {
                ready.push(*next);
            }
        }
    }
    // Of those that are left some only follow the circle: going back stays among them and ends in it.
    let left = waits.iter().position(|waits| *waits > 0)? as u32;
    let mut before = vec![u32::MAX; waits.len()];
    for node in (0..waits.len() as u32).filter(|node| waits[*node as usize] > 0) {
        let followers = rank.at_end(node).iter().chain(rank.at_start(node));
        followers.for_each(|next| before[*next as usize] = node);
    }
    let mut seen = vec![false; waits.len()];
    let mut node = left;
    while !std::mem::replace(&mut seen[node as usize], true) {
        node = before[node as usize];
    }
    Some(node)
}
