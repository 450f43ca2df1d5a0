//! What a program takes if messages cost nothing.

use crate::execution::{Execution, Issue, Orders};
use crate::graph::{Op, Program};
use incast_units::{Span, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// When each iteration is over if messages are there at once, so that only computations take time: the longest path of
/// computations, from the beginning of the program.
pub fn compute_alone(program: &Arc<Program>) -> Vec<Span> {
    let count = program.ranks().len() as u32;
    let new = |rank| Execution::new(program.clone(), rank, Issue::Free);
    let mut ranks: Vec<Execution> = (0..count).map(new).collect();
    let (mut sent, mut orders) = (vec![], Orders::default());
    let mut wakes: BTreeSet<(Time, u32)> = (0..count).map(|rank| (Time::ZERO, rank)).collect();
    while let Some((now, number)) = wakes.pop_first() {
        let rank = &mut ranks[number as usize];
        let begun = rank.times().begun.is_some();
        match begun {
            true => rank.wake(now, &mut orders),
            false => rank.begin(now, &mut orders),
        }
        sent.extend(orders.sends.drain(..).map(|node| (number, node)));
        wakes.extend(rank.deadline().map(|at| (at, number)));
        while let Some((from, node)) = sent.pop() {
            let op = program.ranks()[from as usize].nodes()[node as usize].op;
            let Op::Send { to, .. } = op else { unreachable!("only sends have messages") };
            let to_rank = &mut ranks[to as usize];
            to_rank.received(now, from, node, &mut orders);
            sent.extend(orders.sends.drain(..).map(|node| (to, node)));
            wakes.extend(to_rank.deadline().map(|at| (at, to)));
            let own = &mut ranks[from as usize];
            own.acknowledged(now, node, &mut orders);
            sent.extend(orders.sends.drain(..).map(|node| (from, node)));
            wakes.extend(own.deadline().map(|at| (at, from)));
        }
    }
    let mut ends = vec![Span::ZERO; program.iterations() as usize];
    for (number, rank) in (0u32..).zip(&ranks) {
        for (node, step) in (0u32..).zip(rank.steps()).filter(|one| one.1.ended != Time::NEVER) {
            let own = &mut ends[program.iteration_of(number, node) as usize];
            *own = (*own).max(step.ended.since(Time::ZERO));
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_goal;

    /// A rank waits for what another has computed; messages cost nothing, and what has no edge overlaps.
    #[test]
    fn the_longest_path_of_computations_counts() {
        let text = "num_ranks 2\nrank 0 {\na: calc 500\nb: send 90000b to 1\nb requires a\nc: calc 300 cpu 1\n}\n\
                    rank 1 {\na: recv 90000b from 0\nb: calc 200\nb requires a\n}\n";
        let program = read_goal("x", text.as_bytes()).unwrap();
        let of = |program| compute_alone(&Arc::new(program));
        assert_eq!(of(program.clone()), [Span::from_ns(700)]);
        // Rank 0 does not wait for rank 1: its second iteration begins at 500 and computes 10 first.
        let twice = program.repeated(2, &[10, 10]);
        assert_eq!(of(twice), [Span::from_ns(710), Span::from_ns(1_220)]);
    }
}
