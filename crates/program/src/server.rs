//! The ranks of a server, whose messages to each other do not take the network.

use crate::execution::{Execution, Issue, Orders};
use crate::graph::{Op, Program};
use incast_units::{Bytes, Rate, Span, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How messages within a server travel: those that a rank sends leave one after the other at this rate, as do those that
/// reach it; each takes so long in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Of each rank, in each direction.
    pub rate: Rate,
    /// From a rank to another.
    pub latency: Span,
}

/// What happens to a message within a server, in the order of what comes first at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Its last byte is at its destination.
    Arrives,
    /// Its last byte has left its source.
    Leaves,
}

/// Neighbouring ranks of a program on one server, or one rank that has none. Told what happens as an
/// [`Execution`] is.
#[derive(Clone, Debug)]
pub struct Server {
    program: Arc<Program>,
    /// The number of its first rank.
    first: u32,
    ranks: Vec<Execution>,
    local: Local,
    /// Until when what a rank sends within the server is busy, and what it receives.
    busy: Vec<[Time; 2]>,
    /// Messages on their way: when what happens next, rank and node.
    moving: BTreeSet<(Time, Event, u32, u32)>,
    orders: Orders,
}

impl Server {
    /// Server `number` of a program, before its ranks begin.
    pub fn new(program: &Arc<Program>, number: u32, issue: Issue, local: Local) -> Server {
        let (first, all) = (number * program.server(), program.ranks().len() as u32);
        let own = first..all.min(first + program.server());
        let ranks: Vec<_> = own.map(|rank| Execution::new(program.clone(), rank, issue)).collect();
        let busy = vec![[Time::ZERO; 2]; ranks.len()];
        let (program, moving) = (program.clone(), BTreeSet::new());
        let orders = Orders::default();
        Server { program, first, ranks, local, busy, moving, orders }
    }

    /// Its ranks, with their numbers.
    pub fn ranks(&self) -> impl Iterator<Item = (u32, &Execution)> {
        (self.first..).zip(&self.ranks)
    }

    fn rank(&mut self, rank: u32) -> &mut Execution {
        &mut self.ranks[(rank - self.first) as usize]
    }

    fn op(&self, rank: u32, node: u32) -> (u32, u64) {
        match self.program.ranks()[rank as usize].nodes()[node as usize].op {
            Op::Send { to, bytes, .. } => (to, bytes),
            _ => unreachable!("only sends have messages"),
        }
    }

    /// Its ranks begin. Adds to `open` the rank and node of each message that takes the network and starts now, here
    /// and in what follows.
    pub fn begin(&mut self, now: Time, open: &mut Vec<(u32, u32)>) {
        for rank in self.first..self.first + self.ranks.len() as u32 {
            self.with(rank, now, open, |rank, orders| rank.begin(now, orders));
        }
        self.settle(now, open);
    }

    /// The last byte of the message that `node` of rank `source` sends to one of its ranks has arrived.
    pub fn received(&mut self, now: Time, source: u32, node: u32, open: &mut Vec<(u32, u32)>) {
        let (to, _) = self.op(source, node);
        self.with(to, now, open, |rank, orders| rank.received(now, source, node, orders));
        self.settle(now, open);
    }

    /// A rank knows that the message of its node has arrived.
    pub fn acknowledged(&mut self, now: Time, rank: u32, node: u32, open: &mut Vec<(u32, u32)>) {
        self.with(rank, now, open, |rank, orders| rank.acknowledged(now, node, orders));
        self.settle(now, open);
    }

    /// When it does something by itself next.
    pub fn deadline(&self) -> Option<Time> {
        let moving = self.moving.first().map(|one| one.0);
        self.ranks.iter().filter_map(Execution::deadline).chain(moving).min()
    }

    /// It is the deadline.
    pub fn wake(&mut self, now: Time, open: &mut Vec<(u32, u32)>) {
        self.settle(now, open);
    }

    /// Whether all of its ranks are done.
    pub fn is_over(&self) -> bool {
        self.ranks.iter().all(|rank| rank.times().ended.is_some())
    }

    /// Tells a rank something; what it sends then goes its way.
    fn with(
        &mut self,
        rank: u32,
        now: Time,
        open: &mut Vec<(u32, u32)>,
        what: impl FnOnce(&mut Execution, &mut Orders),
    ) {
        let mut orders = std::mem::take(&mut self.orders);
        what(self.rank(rank), &mut orders);
        for node in orders.sends.drain(..) {
            let (to, bytes) = self.op(rank, node);
            if self.program.is_local(rank, to) {
                let out = &mut self.busy[(rank - self.first) as usize][0];
                *out = now.max(*out).saturating_add(self.local.rate.tx_time(Bytes(bytes)));
                self.moving.insert((*out, Event::Leaves, rank, node));
            } else {
                open.push((rank, node));
            }
        }
        self.orders = orders;
    }

    /// Does what this instant allows: computations and messages within the server, in order of time.
    fn settle(&mut self, now: Time, open: &mut Vec<(u32, u32)>) {
        loop {
            let due = |rank: &Execution| rank.deadline().is_some_and(|end| end <= now);
            if let Some(place) = self.ranks.iter().position(due) {
                let rank = self.first + place as u32;
                self.with(rank, now, open, |rank, orders| rank.wake(now, orders));
            } else if self.moving.first().is_some_and(|one| one.0 <= now) {
                let (at, event, rank, node) = self.moving.pop_first().expect("it has a first");
                self.moves(at, event, (rank, node), open);
            } else {
                return;
            }
        }
    }

    fn moves(
        &mut self,
        at: Time,
        event: Event,
        (rank, node): (u32, u32),
        open: &mut Vec<(u32, u32)>,
    ) {
        let (to, bytes) = self.op(rank, node);
        match event {
            Event::Leaves => {
                let into = &mut self.busy[(to - self.first) as usize][1];
                let took = self.local.rate.tx_time(Bytes(bytes));
                *into = at.max(into.saturating_add(took));
                let arrives = into.saturating_add(self.local.latency);
                self.moving.insert((arrives, Event::Arrives, rank, node));
            }
            Event::Arrives => {
                self.with(to, at, open, |to, orders| to.received(at, rank, node, orders));
                self.with(rank, at, open, |rank, orders| rank.acknowledged(at, node, orders));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_goal;
    use std::fmt::Write;

    /// A server alone in the world until it is done; when each of its ranks ended, in nanoseconds. 8 Gb/s is a byte per
    /// nanosecond.
    fn run(text: &str, latency: u64) -> Vec<u64> {
        let program = read_goal("x", text.as_bytes()).unwrap();
        let ranks = program.ranks().len() as u32;
        let program = Arc::new(program.on_servers(ranks));
        assert_eq!(program.messages().count(), 0);
        let local = Local { rate: Rate::from_gbps(8), latency: Span::from_ns(latency) };
        let mut server = Server::new(&program, 0, Issue::Free, local);
        let mut open = vec![];
        server.begin(Time::ZERO, &mut open);
        while let Some(at) = server.deadline() {
            server.wake(at, &mut open);
        }
        assert!(server.is_over() && open.is_empty());
        server.ranks().map(|(_, rank)| rank.times().ended.unwrap().0 / 1_000).collect()
    }

    #[test]
    fn a_message_takes_latency_and_bytes_over_rate() {
        let text = "num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\nrecv 1000b from 0\n}\n";
        assert_eq!(run(text, 70), [1_070, 1_070]);
        assert_eq!(run(text, 0), [1_000, 1_000]);
    }

    /// What a rank sends leaves one after the other; latency is not waited for.
    #[test]
    fn messages_of_a_rank_leave_in_turn() {
        let text = "num_ranks 3\nrank 0 {\nsend 1000b to 1\nsend 500b to 2\nsend 200b to 1\n}\n\
                    rank 1 {\nrecv 1000b from 0\nrecv 200b from 0\n}\nrank 2 {\nrecv 500b from 0\n}\n";
        assert_eq!(run(text, 70), [1_770, 1_770, 1_570]);
    }

    /// And what reaches one arrives one after the other: 3 to 1 takes three times as long.
    #[test]
    fn messages_to_a_rank_arrive_in_turn() {
        let mut text = String::from("num_ranks 4\nrank 0 {\n");
        (1..4).for_each(|from| writeln!(text, "recv 1000b from {from}").unwrap());
        text += "}\n";
        (1..4).for_each(|rank| writeln!(text, "rank {rank} {{\nsend 1000b to 0\n}}").unwrap());
        assert_eq!(run(&text, 70), [3_070, 1_070, 2_070, 3_070]);
    }

    /// Both directions do not disturb each other: a ring of n takes n - 1 messages.
    #[test]
    fn a_ring_takes_its_formula() {
        let mut text = String::from("num_ranks 4\n");
        for rank in 0..4 {
            writeln!(text, "rank {rank} {{").unwrap();
            for step in 0..3 {
                writeln!(text, "s{step}: send 500b to {} tag {step}", (rank + 1) % 4).unwrap();
                writeln!(text, "r{step}: recv 500b from {} tag {step}", (rank + 3) % 4).unwrap();
                if step > 0 {
                    writeln!(text, "s{step} requires r{}", step - 1).unwrap();
                }
            }
            text += "}\n";
        }
        assert_eq!(run(&text, 30), [3 * 530; 4]);
    }
}
