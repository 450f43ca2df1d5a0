use super::*;
use crate::graph::{Edge, Node, Rank};
use crate::read_goal;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives { rank: u32, node: u32 },
    Known { rank: u32, node: u32 },
    Wakes { rank: u32 },
}

/// A world in which a message takes `latency` and its bytes' time, whatever else goes on, and its sender knows at once.
struct World {
    program: Arc<Program>,
    ranks: Vec<Execution>,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    latency: Span,
    byte: Span,
    delivered: u64,
}

impl World {
    fn new(program: Program, issue: Issue, latency: Span, byte: Span) -> World {
        let program = Arc::new(program);
        let count = program.ranks().len() as u32;
        let ranks = (0..count).map(|rank| Execution::new(program.clone(), rank, issue)).collect();
        World { program, ranks, events: BinaryHeap::new(), latency, byte, delivered: 0 }
    }

    fn obey(&mut self, rank: u32, now: Time, orders: Orders) {
        for node in orders.sends {
            let Op::Send { bytes, .. } =
                self.program.ranks()[rank as usize].nodes()[node as usize].op
            else {
                panic!("not a send")
            };
            let at = now + self.latency + Span(self.byte.0 * bytes);
            self.events.push(Reverse((at, Event::Arrives { rank, node })));
            self.events.push(Reverse((at, Event::Known { rank, node })));
        }
        if let Some(at) = self.ranks[rank as usize].deadline() {
            assert!(at > now);
            self.events.push(Reverse((at, Event::Wakes { rank })));
        }
    }

    /// When the last rank ends; none if it does not.
    fn run(&mut self) -> Option<Time> {
        for rank in 0..self.ranks.len() as u32 {
            let mut orders = Orders::default();
            self.ranks[rank as usize].begin(Time::ZERO, &mut orders);
            self.obey(rank, Time::ZERO, orders);
        }
        while let Some(Reverse((now, event))) = self.events.pop() {
            let mut orders = Orders::default();
            let at = match event {
                Event::Arrives { rank, node } => {
                    self.delivered += 1;
                    let Op::Send { to, .. } =
                        self.program.ranks()[rank as usize].nodes()[node as usize].op
                    else {
                        panic!("not a send")
                    };
                    self.ranks[to as usize].received(now, rank, node, &mut orders);
                    to
                }
                Event::Known { rank, node } => {
                    self.ranks[rank as usize].acknowledged(now, node, &mut orders);
                    rank
                }
                Event::Wakes { rank } => {
                    self.ranks[rank as usize].wake(now, &mut orders);
                    rank
                }
            };
            self.obey(at, now, orders);
        }
        let ends: Option<Vec<Time>> = self.ranks.iter().map(|rank| rank.times().ended).collect();
        ends?.into_iter().max()
    }
}

fn ran(text: &str, issue: Issue) -> World {
    let program = read_goal("x.goal", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::new(program, issue, Span::from_us(1), Span(80));
    world.run();
    world
}

fn ended(world: &World, rank: usize) -> Time {
    world.ranks[rank].times().ended.expect("it ends")
}

/// Rounds of a message there and one back: 2 (a + S/B) each.
#[test]
fn ping_pong_takes_its_round_trips() {
    let mut ranks = vec![(vec![], vec![]), (vec![], vec![])];
    for round in 0..10u32 {
        let send = |to| Node { op: Op::Send { to, bytes: 1_000, tag: round }, cpu: 0, nic: 0 };
        let recv = |from| Node { op: Op::Recv { from, bytes: 1_000, tag: round }, cpu: 0, nic: 0 };
        ranks[0].0.extend([send(1), recv(1)]);
        ranks[1].0.extend([recv(0), send(0)]);
        let edge = |before, after| Edge { before, after, at_start: false };
        if round > 0 {
            ranks[0].1.push(edge(2 * round - 1, 2 * round));
        }
        ranks[1].1.push(edge(2 * round, 2 * round + 1));
    }
    let ranks = ranks.into_iter().map(|(nodes, edges)| Rank::new(nodes, &edges)).collect();
    let program = Program::new("x", ranks).unwrap();
    let mut world = World::new(program, Issue::Free, Span::from_us(1), Span(80));
    assert_eq!(world.run(), Some(Time(20 * 1_080_000)));
}

/// A pipeline of four stages and eight microbatches, one forward and one backward in turn: a stage has as many forwards
/// before its first backward as there are stages from it on.
fn pipeline(stages: u32, batches: u32, forward: u64, backward: u64) -> Program {
    let mut ranks = vec![];
    for stage in 0..stages {
        let (mut nodes, mut edges, mut last) = (vec![], vec![], None::<u32>);
        let ahead = (stages - stage).min(batches);
        let mut order: Vec<(bool, u32)> = (0..ahead).map(|batch| (true, batch)).collect();
        for batch in 0..batches {
            order.push((false, batch));
            if batch + ahead < batches {
                order.push((true, batch + ahead));
            }
        }
        for (is_forward, batch) in order {
            let (from, to) = match is_forward {
                true => (stage.checked_sub(1), Some(stage + 1).filter(|to| *to < stages)),
                false => (Some(stage + 1).filter(|from| *from < stages), stage.checked_sub(1)),
            };
            let tag = 2 * batch + u32::from(is_forward);
            let mut add = |op: Op, before: Option<u32>| -> u32 {
                let after = nodes.len() as u32;
                nodes.push(Node { op, cpu: 0, nic: 0 });
                edges.extend(before.map(|before| Edge { before, after, at_start: false }));
                after
            };
            let taken = from.map(|from| add(Op::Recv { from, bytes: 0, tag }, None));
            let ns = if is_forward { forward } else { backward };
            let calc = add(Op::Calc { ns }, taken);
            to.map(|to| add(Op::Send { to, bytes: 0, tag }, Some(calc)));
            edges.extend(last.map(|before| Edge { before, after: calc, at_start: false }));
            last = Some(calc);
        }
        ranks.push(Rank::new(nodes, &edges));
    }
    Program::new("pipeline", ranks).unwrap()
}

/// (u + p - 1)(forward + backward) without time for messages; with c each, 2 c u more, for a stage waits for both of
/// its neighbour's in every period.
#[test]
fn a_pipeline_takes_its_known_time() {
    let time = |latency| {
        let program = pipeline(4, 8, 1_000_000, 2_000_000);
        World::new(program, Issue::Free, latency, Span::ZERO).run().unwrap()
    };
    assert_eq!(time(Span::ZERO), Time::ZERO + Span::from_us(33_000));
    assert_eq!(time(Span::from_us(345)), Time::ZERO + Span::from_us(38_520));
}

/// Each rank sends a part of the data to the next one, 2 (n - 1) times, each when it has received the one before.
fn ring(ranks: u32, bytes: u64, late: u64) -> Program {
    let rank = |rank: u32| {
        let ns = if rank == 3 { late } else { 0 };
        let (mut nodes, mut edges) = (vec![Node { op: Op::Calc { ns }, cpu: 0, nic: 0 }], vec![]);
        for step in 0..2 * (ranks - 1) {
            let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            let send = nodes.len() as u32;
            nodes.push(Node { op: Op::Send { to, bytes, tag: step }, cpu: 0, nic: 0 });
            nodes.push(Node { op: Op::Recv { from, bytes, tag: step }, cpu: 0, nic: 0 });
            for before in [0].into_iter().chain((step > 0).then(|| send - 1)) {
                edges.push(Edge { before, after: send, at_start: false });
            }
        }
        Rank::new(nodes, &edges)
    };
    Program::new("ring", (0..ranks).map(rank).collect()).unwrap()
}

#[test]
fn a_ring_takes_its_known_time_and_a_straggler_is_exposed() {
    let time = |late| {
        let program = ring(8, 4_096, late);
        World::new(program, Issue::Free, Span::from_us(2), Span(80)).run().unwrap()
    };
    let step = Span::from_us(2) + Span(4_096 * 80);
    assert_eq!(time(0), Time(14 * step.0));
    assert_eq!(time(70_000), time(0) + Span::from_us(70));
}

#[test]
fn a_stream_computes_one_thing_at_a_time_and_streams_at_once() {
    let text = |cpu: u32| {
        format!("num_ranks 1\nrank 0 {{\ncalc 500\ncalc 300\ncalc 200 cpu {cpu}\ncalc 0\n}}\n")
    };
    let one = ran(&text(0), Issue::Free);
    assert_eq!(ended(&one, 0), Time(1_000_000));
    assert_eq!(one.ranks[0].times().computing, Span(1_000_000));
    let two = ran(&text(1), Issue::Free);
    assert_eq!(ended(&two, 0), Time(800_000));
    assert_eq!(two.ranks[0].times().computing, Span(800_000));
}

#[test]
fn irequires_waits_for_a_start_and_requires_for_an_end() {
    let text = |how: &str| {
        format!("num_ranks 1\nrank 0 {{\na: calc 500\nb: calc 300 cpu 1\nb {how} a\n}}\n")
    };
    assert_eq!(ended(&ran(&text("irequires"), Issue::Free), 0), Time(500_000));
    assert_eq!(ended(&ran(&text("requires"), Issue::Free), 0), Time(800_000));
}

/// What is sent to oneself is there at once, and a message that is there before its receive is posted is kept.
#[test]
fn messages_to_oneself_are_there_at_once() {
    let text = "num_ranks 2\nrank 0 {\na: send 999b to 0 tag 4\nb: recv 999b from 0 tag 4\nc: send 0b to 1\n\
                c requires b\n}\nrank 1 {\na: calc 5000\nb: recv 0b from -1 tag -1\nb requires a\n}\n";
    let world = ran(text, Issue::Free);
    assert_eq!(ended(&world, 0), Time(1_000_000));
    assert_eq!(ended(&world, 1), Time(5_000_000));
}

#[test]
fn serial_sends_of_a_nic_go_one_after_the_other() {
    let text = "num_ranks 3\nrank 0 {\nsend 1000b to 1\nsend 1000b to 2\nsend 1000b to 1 tag 1 nic 1\n}\n\
                rank 1 {\nrecv 1000b from 0\nrecv 1000b from 0 tag 1\n}\nrank 2 {\nrecv 1000b from 0\n}\n";
    let ends = |issue| [0, 1, 2].map(|rank| ended(&ran(text, issue), rank).0);
    assert_eq!(ends(Issue::Free), [1_080_000; 3]);
    assert_eq!(ends(Issue::Serial), [2_160_000, 1_080_000, 2_160_000]);
}

/// Two ranks that both receive before they send.
#[test]
fn a_program_that_cannot_go_on_says_what_each_rank_waits_for() {
    let text = "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 5\nb: send 8b to 1\nb requires a\n}\n\
                rank 1 {\na: recv 8b from 0\nb: send 8b to 0 tag 5\nb requires a\n}\n";
    let world = ran(text, Issue::Free);
    assert!(world.ranks.iter().all(|rank| !rank.is_over() && rank.left() == 2));
    let said: Vec<String> = world
        .ranks
        .iter()
        .flat_map(Execution::blocked)
        .map(|blocked| blocked.to_string())
        .collect();
    assert_eq!(
        said,
        [
            "rank 0, node 0 (line 3) waits for a message from rank 1 with tag 5",
            "rank 1, node 0 (line 8) waits for a message from rank 0 with tag 0",
        ]
    );
}

proptest::proptest! {
    /// Whatever waits for nothing but time goes on, and every message arrives once.
    #[test]
    fn any_program_ends_or_waits_for_messages(program in crate::goal::tests::programs(), serial: bool) {
        let messages = program.messages().count() as u64;
        let short = |node: &Node| match node.op {
            Op::Calc { ns } => Node { op: Op::Calc { ns: ns % 1_000 }, ..*node },
            Op::Send { to, bytes, tag } => Node { op: Op::Send { to, bytes: bytes % 1_000, tag }, ..*node },
            Op::Recv { .. } => *node,
        };
        let ranks = program.ranks().iter().map(|rank| {
            let all = 0..rank.nodes().len() as u32;
            let edges: Vec<Edge> = all.flat_map(|before| {
                let ends = rank.at_end(before).iter().map(move |after| (before, *after, false));
                let starts = rank.at_start(before).iter().map(move |after| (before, *after, true));
                ends.chain(starts).map(|(before, after, at_start)| Edge { before, after, at_start })
            }).collect();
            Rank::new(rank.nodes().iter().map(short).collect(), &edges)
        });
        let program = Program::new("drawn", ranks.collect()).unwrap();
        let issue = if serial { Issue::Serial } else { Issue::Free };
        let mut world = World::new(program, issue, Span::from_us(1), Span(80));
        let end = world.run();
        for rank in &world.ranks {
            proptest::prop_assert!(rank.is_over() || !rank.blocked().is_empty());
        }
        if end.is_some() {
            proptest::prop_assert_eq!(world.delivered, messages);
        }
    }
}
