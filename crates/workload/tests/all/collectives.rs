//! Collectives: who sends what, and what each message waits for.

use incast_units::{Rate, Span, Time};
use incast_workload::{
    Algorithm, Collective, CollectiveKind, FlowSpec, Shape, Start, Traffic, collective,
};

use Algorithm::{Direct, DoubleTree, HalvingDoubling, Hierarchical, Pairwise, Ring, Tree};
use CollectiveKind::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter};

fn shape(hosts: u32) -> Shape {
    Shape::racks(hosts, 4, Rate::from_gbps(100), None)
}

fn spec(kind: CollectiveKind, algorithm: Algorithm, ranks: u32) -> Collective {
    Collective {
        kind,
        algorithm,
        ranks: (0..ranks).collect(),
        size: 48_000 * u64::from(ranks),
        group: None,
        root: None,
        shares: None,
        channels: 1,
        chunks: 1,
        in_turn: false,
        iterations: 1,
        compute: Span::ZERO,
        straggler: None,
        at: Time(7),
    }
}

fn flows(spec: &Collective) -> Traffic {
    let hosts = spec.ranks.iter().max().map_or(1, |last| last + 1);
    let traffic = collective(&shape(hosts), spec).unwrap_or_else(|error| panic!("{error}"));
    traffic.validate(hosts).unwrap();
    traffic
}

fn refused(spec: &Collective) -> String {
    collective(&shape(16), spec).unwrap_err().to_string()
}

/// Every collective with each of its algorithms, of some numbers of ranks.
fn all() -> Vec<Collective> {
    let mut all = vec![];
    for (_, kind) in CollectiveKind::NAMES {
        for &algorithm in kind.algorithms() {
            for ranks in [2, 3, 4, 6, 7, 8, 12, 16] {
                let own = spec(kind, algorithm, ranks);
                match algorithm {
                    HalvingDoubling if !ranks.is_power_of_two() => {}
                    Hierarchical => {
                        let groups = (2..ranks).filter(|group| ranks.is_multiple_of(*group));
                        all.extend(
                            groups.map(|group| Collective { group: Some(group), ..own.clone() }),
                        );
                    }
                    _ => all.push(own),
                }
            }
        }
    }
    all
}

/// The flows that a flow waits for, through gates too.
fn waits(traffic: &Traffic, flow: &FlowSpec) -> Vec<u32> {
    let Start::After { flows, .. } = &flow.start else { return vec![] };
    let (mut found, mut gate) = (flows.clone(), flow.gate);
    while let Some(at) = gate {
        found.extend(&traffic.gates[at as usize].flows);
        gate = traffic.gates[at as usize].gate;
    }
    found
}

/// For each flow, in an order in which they can end: what `of` makes of it and of those it waits for.
fn in_order<T: Clone>(traffic: &Traffic, of: impl Fn(&FlowSpec, Vec<T>) -> T) -> Vec<T> {
    let mut done: Vec<Option<T>> = vec![None; traffic.flows.len()];
    let mut left = traffic.flows.len();
    while left > 0 {
        let before = left;
        for (at, flow) in traffic.flows.iter().enumerate() {
            let all: Option<Vec<T>> =
                waits(traffic, flow).iter().map(|flow| done[*flow as usize].clone()).collect();
            if let (None, Some(all)) = (&done[at], all) {
                done[at] = Some(of(flow, all));
                left -= 1;
            }
        }
        assert!(left < before, "no flow can start");
    }
    done.into_iter().flatten().collect()
}

/// A message carries what its sender had and what it waited for: in the end each rank has something of all, or,
/// of a broadcast, of the root.
#[test]
fn everybody_gets_something_of_everybody() {
    for spec in all() {
        let traffic = flows(&spec);
        let known = in_order(&traffic, |flow, before: Vec<u64>| {
            before.into_iter().fold(1 << flow.src, |all, one| all | one)
        });
        let mut has: Vec<u64> = (0..spec.ranks.len()).map(|rank| 1 << rank).collect();
        for (flow, known) in traffic.flows.iter().zip(&known) {
            has[flow.dst as usize] |= known;
        }
        for has in has {
            match spec.kind {
                Broadcast => assert!(has & 1 > 0, "{spec:?}"),
                _ => assert_eq!(has, (1 << spec.ranks.len()) - 1, "{spec:?}"),
            }
        }
    }
}

/// The messages that a last one has behind it, itself included.
fn depth(traffic: &Traffic) -> u32 {
    let depths = in_order(traffic, |_, before: Vec<u32>| 1 + before.into_iter().max().unwrap_or(0));
    depths.into_iter().max().unwrap()
}

#[test]
fn steps_and_bytes_are_those_of_the_algorithms() {
    // Ranks, steps, and what all ranks send together, in sizes of the collective.
    let check = |spec: Collective, steps: u32, sent: f64| {
        let traffic = flows(&spec);
        assert_eq!(depth(&traffic), steps, "{spec:?}");
        let bytes = traffic.total_bytes() as f64 / spec.size as f64;
        assert!((bytes - sent).abs() < 1e-9, "{spec:?}: {bytes}, not {sent}");
    };
    let n = 8.0;
    check(spec(AllReduce, Ring, 8), 14, 2.0 * (n - 1.0));
    check(spec(AllReduce, HalvingDoubling, 8), 6, 2.0 * (n - 1.0));
    check(spec(AllReduce, Direct, 8), 2, 2.0 * (n - 1.0));
    // Up three levels and down again; each rank but the root sends once and is sent once.
    check(spec(AllReduce, Tree, 15), 6, 2.0 * 14.0);
    check(spec(AllReduce, DoubleTree, 8), 6, 2.0 * (n - 1.0));
    for kind in [ReduceScatter, AllGather] {
        check(spec(kind, Ring, 8), 7, n - 1.0);
        check(spec(kind, HalvingDoubling, 8), 3, n - 1.0);
        check(spec(kind, Direct, 8), 1, n - 1.0);
        check(spec(kind, Pairwise, 8), 7, n - 1.0);
        let groups = Collective { group: Some(4), ..spec(kind, Hierarchical, 8) };
        check(groups, 3 + 1, n - 1.0);
    }
    // Each rank sends 3/4 of its data in its group, 1/4 x 2 x 1/2 across, and 3/4 again.
    let groups = Collective { group: Some(4), ..spec(AllReduce, Hierarchical, 8) };
    check(groups, 3 + 2 + 3, n * (0.75 + 0.25 + 0.75));
    check(spec(AllToAll, Direct, 8), 1, n - 1.0);
    check(spec(AllToAll, Pairwise, 8), 7, n - 1.0);
    // 3/4 to other places in the group, 1/2 to the other group.
    let groups = Collective { group: Some(4), ..spec(AllToAll, Hierarchical, 8) };
    check(groups, 2, n * (0.75 + 0.5));
    check(spec(Broadcast, Ring, 8), 7, n - 1.0);
    check(spec(Broadcast, Tree, 15), 3, 14.0);
    check(spec(Broadcast, Direct, 8), 1, n - 1.0);
    check(spec(Broadcast, DoubleTree, 8), 4, n - 1.0);
}

/// No rank of a double tree passes data on in both trees.
#[test]
fn who_passes_on_in_one_tree_is_a_leaf_of_the_other() {
    for ranks in [4, 5, 8, 9, 16] {
        let traffic = flows(&spec(AllReduce, DoubleTree, ranks));
        let mut passes = vec![0; ranks as usize];
        for flow in &traffic.flows {
            // Down: to a rank that has sent up already.
            passes[flow.src as usize] += flow.size;
        }
        // A parent in both would send four halves of the data down and two up.
        let most = 2 * spec(AllReduce, DoubleTree, ranks).size;
        assert!(passes.iter().all(|bytes| *bytes <= most), "{passes:?}");
    }
}

/// What lets several threads work on a run: who sends waits for what it was sent itself.
#[test]
fn every_message_waits_for_what_ended_at_its_source() {
    for spec in all() {
        let spec = Collective { iterations: 3, channels: 2, ..spec };
        if spec.kind == Broadcast {
            continue;
        }
        let traffic = flows(&spec);
        for flow in &traffic.flows {
            let found = waits(&traffic, flow);
            assert!(
                found.iter().all(|before| traffic.flows[*before as usize].dst == flow.src),
                "{spec:?}"
            );
        }
    }
}

/// In turn, a rank that was late sends what has gathered meanwhile one after the other: each message waits for what it
/// carries and for the one before it to the same rank.
#[test]
fn messages_of_a_rank_are_sent_in_turn() {
    let own = Collective { in_turn: true, ..spec(AllReduce, Ring, 4) };
    let traffic = flows(&own);
    for rank in 0..4 {
        let sends: Vec<u32> = (0..traffic.flows.len() as u32)
            .filter(|flow| traffic.flows[*flow as usize].src == rank)
            .collect();
        assert_eq!(sends.len(), 6);
        for pair in sends.windows(2) {
            let found = waits(&traffic, &traffic.flows[pair[1] as usize]);
            assert!(found.contains(&pair[0]) && found.len() == 2, "{found:?}");
        }
    }
    // Steps are as many: what is waited for in addition ends no later.
    for own in all() {
        let (chunks, in_turn) = (3, true);
        assert_eq!(
            depth(&flows(&own)),
            depth(&flows(&Collective { in_turn, ..own.clone() })),
            "{own:?}"
        );
        flows(&Collective { chunks, in_turn, iterations: 2, channels: 2, ..own });
    }
}

/// The computation of a rank begins when all that was sent to it has arrived; whoever is late is late in the
/// first iteration, too, also with what it passes on.
#[test]
fn ranks_compute_before_each_iteration() {
    let own = Collective {
        iterations: 2,
        compute: Span(100),
        straggler: Some((2, Span(11))),
        ..spec(AllReduce, Ring, 4)
    };
    let traffic = flows(&own);
    assert_eq!(traffic.collectives.len(), 2);
    let first = traffic.flows.iter().filter(|flow| matches!(flow.start, Start::At(_)));
    let mut starts: Vec<_> = first.map(|flow| (flow.src, flow.start.clone())).collect();
    starts.sort_by_key(|(src, _)| *src);
    let at = |time| Start::At(Time(time));
    assert_eq!(starts, [(0, at(107)), (1, at(107)), (2, at(118)), (3, at(107))]);
    for (iteration, group) in traffic.collectives.iter().enumerate() {
        assert_eq!((group.number, group.iteration as usize), (0, iteration));
        assert_eq!((group.messages.len(), group.compute), (24, Span(111)));
        for message in &group.messages {
            let flow = &traffic.flows[message.flow as usize];
            assert_eq!((flow.src, flow.dst), (message.from, message.to));
            let ready = group.ready.start + message.from;
            let gated = iteration == 1 || message.from == 2 && flow.start != at(118);
            assert_eq!(flow.gate, gated.then_some(ready));
        }
        for (rank, gate) in (0..).zip(&traffic.gates[group.ready.start as usize..][..4]) {
            assert_eq!(gate.delay, Span(if rank == 2 { 111 } else { 100 }));
            let mut arrived: Vec<u32> = traffic.collectives[0]
                .messages
                .iter()
                .filter(|one| one.to == rank)
                .map(|one| one.flow)
                .collect();
            arrived.retain(|_| iteration == 1);
            assert_eq!(
                (&gate.flows, gate.from),
                (&arrived, Time(if iteration == 0 { 7 } else { 0 }))
            );
        }
    }
}

/// Of a chunk only the first messages wait for those of the chunk before.
#[test]
fn chunks_follow_each_other() {
    let own = Collective { chunks: 3, ..spec(Broadcast, Ring, 4) };
    let traffic = flows(&own);
    assert_eq!(traffic.flows.len(), 9);
    let of = |src| traffic.flows.iter().enumerate().filter(move |(_, flow)| flow.src == src);
    let firsts: Vec<u32> = of(0).map(|(at, _)| at as u32).collect();
    let waits: Vec<Vec<u32>> = of(0).map(|(_, flow)| waits(&traffic, flow)).collect();
    assert_eq!(waits, [vec![], vec![firsts[0]], vec![firsts[1]]]);
    assert_eq!(depth(&traffic), 3 + 2, "a pipeline");
}

#[test]
fn shares_of_an_all_to_all_are_uneven() {
    let own = Collective {
        shares: Some(vec![vec![0.5, 0.25, 0.25, 0.0]]),
        size: 1_000,
        ..spec(AllToAll, Direct, 4)
    };
    let traffic = flows(&own);
    for flow in &traffic.flows {
        assert_eq!(flow.size, [500, 250, 250][flow.dst as usize]);
    }
    assert_eq!(traffic.flows.len(), 9, "nobody sends to rank 3, which sends to three");
    for algorithm in [Pairwise, Hierarchical] {
        let own = Collective {
            algorithm,
            group: (algorithm == Hierarchical).then_some(2),
            ..own.clone()
        };
        let own = Collective { iterations: 3, ..own };
        flows(&own);
    }
}

/// Rows of shares, one for each rank: with any algorithm each rank gets of each what it is given.
#[test]
fn ranks_can_have_shares_of_their_own() {
    let rows = vec![
        vec![0.0, 0.5, 0.25, 0.25],
        vec![1.0, 0.0, 0.0, 0.0],
        vec![0.0, 0.0, 0.5, 0.5],
        vec![0.25; 4],
    ];
    let own = Collective { shares: Some(rows), size: 1_000, ..spec(AllToAll, Direct, 4) };
    let mut sent: Vec<_> = flows(&own).flows.iter().map(|f| (f.src, f.dst, f.size)).collect();
    sent.sort_unstable();
    let wanted = [
        (0, 1, 500),
        (0, 2, 250),
        (0, 3, 250),
        (1, 0, 1_000),
        (2, 3, 500),
        (3, 0, 250),
        (3, 1, 250),
        (3, 2, 250),
    ];
    assert_eq!(sent, wanted);
    flows(&Collective { algorithm: Pairwise, ..own.clone() });
    // Groups {0, 1} and {2, 3}: within them what is for the other's place, then what the group has for a rank.
    let two = Collective { algorithm: Hierarchical, group: Some(2), ..own.clone() };
    let mut sent: Vec<_> = flows(&two).flows.iter().map(|f| (f.src, f.dst, f.size)).collect();
    sent.sort_unstable();
    let wanted = [
        (0, 1, 750),
        (0, 2, 250),
        (1, 0, 1_000),
        (1, 3, 250),
        (2, 0, 250),
        (2, 3, 500),
        (3, 1, 250),
        (3, 2, 500),
    ];
    assert_eq!(sent, wanted);
    for bad in
        [vec![vec![0.25; 4]; 3], vec![vec![0.25; 4], vec![0.25; 3], vec![0.25; 4], vec![0.25; 4]]]
    {
        assert!(collective(&shape(4), &Collective { shares: Some(bad), ..own.clone() }).is_err());
    }
}

/// Two collectives and other flows, merged: each names its own flows and gates still.
#[test]
fn collectives_can_be_merged() {
    let own = Collective { iterations: 2, ..spec(AllReduce, Direct, 4) };
    let (one, other) = (flows(&own), flows(&Collective { at: Time(3), ..own.clone() }));
    let merged = one.clone().merge(other).merge(one.clone());
    merged.validate(4).unwrap();
    let numbers: Vec<u32> = merged.collectives.iter().map(|group| group.number).collect();
    assert_eq!(numbers, [0, 0, 1, 1, 2, 2]);
    for groups in merged.collectives.chunks(2) {
        for (group, alone) in groups.iter().zip(&one.collectives) {
            for (message, same) in group.messages.iter().zip(&alone.messages) {
                let flow = &merged.flows[message.flow as usize];
                let found = &one.flows[same.flow as usize];
                assert_eq!((flow.src, flow.dst, flow.size), (found.src, found.dst, found.size));
                let ends = |traffic: &Traffic, flow| {
                    let ends = |before: &u32| {
                        let flow = &traffic.flows[*before as usize];
                        (flow.src, flow.dst)
                    };
                    waits(traffic, flow).iter().map(ends).collect::<Vec<_>>()
                };
                assert_eq!(ends(&merged, flow), ends(&one, found));
            }
        }
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let ring = || spec(AllReduce, Ring, 8);
    let says = |spec: Collective, text: &str| {
        let message = refused(&spec);
        assert!(message.contains(text), "{message}, not {text}");
    };
    says(spec(AllReduce, Ring, 17), "ranks = `16`: expected a host from 0 to 15");
    says(spec(AllReduce, Ring, 1), "ranks = `1`: expected 2 or more");
    says(Collective { ranks: vec![1, 2, 1], ..ring() }, "ranks = `1`: expected each host once");
    says(Collective { size: 0, ..ring() }, "size = `0`: expected 1 to");
    says(Collective { size: 7, ..ring() }, "size = `7`: expected 8 or more: a byte for each part");
    says(Collective { chunks: 1 << 30, channels: 1 << 30, ..ring() }, "a byte for each part");
    says(
        spec(Broadcast, Pairwise, 8),
        "algorithm = `pairwise`: expected one of ring, tree, double_tree, direct for broadcast",
    );
    says(
        spec(AllReduce, HalvingDoubling, 6),
        "ranks = `6`: expected a number of ranks that is a power",
    );
    says(spec(AllReduce, Hierarchical, 6), "group is missing: expected the ranks of a group");
    let group =
        |group, ranks| Collective { group: Some(group), ..spec(AllReduce, Hierarchical, ranks) };
    says(group(4, 6), "group = `4`: expected one of 2, 3 for 6 ranks");
    says(group(2, 7), "group = `2`: expected another algorithm: 7 ranks do not make groups");
    says(Collective { group: Some(2), ..ring() }, "group = `2`: expected no such key");
    says(
        Collective { straggler: Some((8, Span(1))), ..ring() },
        "straggler = `8`: expected a rank from 0 to 7",
    );
    says(Collective { root: Some(1), ..ring() }, "root = `1`: expected no such key");
    says(
        Collective { root: Some(8), ..spec(Broadcast, Ring, 8) },
        "root = `8`: expected a rank from 0 to 7",
    );
    let shares = |shares: &[f64]| Collective {
        shares: Some(vec![shares.to_vec()]),
        ..spec(AllToAll, Direct, 3)
    };
    says(shares(&[0.5, 0.5]), "shares = `2`: expected 3 numbers");
    says(shares(&[0.5, 0.4, 0.2]), "expected numbers that sum to 1");
    says(shares(&[1.5, -0.5, 0.0]), "shares = `1.5`: expected numbers from 0 to 1");
    says(shares(&[f64::NAN, 0.5, 0.5]), "shares = `NaN`");
    says(Collective { shares: Some(vec![]), ..ring() }, "only an all_to_all has shares");
    says(Collective { iterations: 0, ..ring() }, "iterations = `0`: expected 1 or more");
    says(
        Collective { iterations: 1 << 20, ..ring() },
        "iterations = `1048576`: expected 1 to 37449",
    );
    says(
        Collective { channels: 1 << 16, size: 1 << 40, ..ring() },
        "channels = `65536`: expected fewer",
    );
    let many = Collective { ranks: (0..1_500).collect(), ..spec(AllReduce, Ring, 1_500) };
    let message = collective(&shape(1_500), &many).unwrap_err().to_string();
    assert!(message.contains("ranks = `1500`: expected fewer: 4497000 messages"), "{message}");
}
