//! Who sends what to whom.

use super::program::{Program, Wait};
use super::spec::{Algorithm, CollectiveKind};

/// The messages of one part of the data: a chunk of a channel.
pub(super) fn run(program: &mut Program, lane: u64) {
    let spec = program.spec;
    let lanes = u64::from(spec.channels) * u64::from(spec.chunks);
    let size = cut(spec.size, lane, lane + 1, lanes);
    let n = program.ranks();
    let all: Vec<u32> = (0..n).collect();
    let mut held = program.start();
    let held = &mut held;
    let kind = spec.kind;
    let shard = |rank: u32| cut(size, rank.into(), u64::from(rank) + 1, n.into());
    match (spec.algorithm, kind) {
        (Algorithm::Ring, CollectiveKind::AllReduce) => {
            ring(program, &all, 2 * (n - 1), 0, size, held);
        }
        (Algorithm::Ring, CollectiveKind::Broadcast) => chain(program, size, held),
        (Algorithm::Ring, _) => ring(program, &all, n - 1, 0, size, held),
        (Algorithm::Tree, CollectiveKind::Broadcast) => {
            let order = from_root(&all, spec.root);
            down(program, &Tree::heap(&order), size, held);
        }
        (Algorithm::Tree, _) => {
            let tree = Tree::heap(&all);
            up(program, &tree, size, held);
            down(program, &tree, size, held);
        }
        (Algorithm::DoubleTree, CollectiveKind::Broadcast) => double_broadcast(program, size, held),
        (Algorithm::DoubleTree, _) => {
            for (half, tree) in (0..).zip(Tree::double(&all)) {
                let (mut held, size) = (held.clone(), cut(size, half, half + 1, 2));
                up(program, &tree, size, &mut held);
                down(program, &tree, size, &mut held);
            }
        }
        (Algorithm::HalvingDoubling, _) => {
            if kind != CollectiveKind::AllGather {
                halve(program, size, held);
            }
            if kind != CollectiveKind::ReduceScatter {
                double(program, size, held);
            }
        }
        (Algorithm::Direct, CollectiveKind::AllReduce) => {
            direct(program, &all, |_, to| shard(to), held);
            direct(program, &all, |from, _| shard(from), held);
        }
        (Algorithm::Direct, CollectiveKind::Broadcast) => {
            let root = spec.root.unwrap_or(0);
            let bytes = |from, _| if from == root { size } else { 0 };
            direct(program, &all, bytes, held);
        }
        (Algorithm::Hierarchical, _) => hierarchical(program, size, held),
        (Algorithm::Direct | Algorithm::Pairwise, _) => {
            let shares = Shares::of(spec, size);
            let bytes = |from, to| match kind {
                CollectiveKind::AllToAll => shares.bytes(from, to),
                CollectiveKind::AllGather => shard(from),
                _ => shard(to),
            };
            match spec.algorithm {
                Algorithm::Direct => direct(program, &all, bytes, held),
                _ => pairwise(program, bytes, held),
            }
        }
    }
}

/// Parts `first` to before `end` of so many equal parts, in bytes.
fn cut(size: u64, first: u64, end: u64, parts: u64) -> u64 {
    let until = |part: u64| (u128::from(size) * u128::from(part) / u128::from(parts)) as u64;
    until(end) - until(first)
}

/// What each rank gets of another's data in an all-to-all: one row for all that send, or one for each.
struct Shares(Vec<Vec<u64>>);

impl Shares {
    fn of(spec: &super::Collective, size: u64) -> Shares {
        let n = spec.ranks.len() as u64;
        Shares(match &spec.shares {
            None => vec![(0..n).map(|rank| cut(size, rank, rank + 1, n)).collect()],
            Some(rows) => rows.iter().map(|row| parts(row, size)).collect(),
        })
    }

    fn bytes(&self, from: u32, to: u32) -> u64 {
        self.0[from as usize % self.0.len()][to as usize]
    }
}

/// Parts of `size` in these shares.
fn parts(shares: &[f64], size: u64) -> Vec<u64> {
    let (mut sum, mut given) = (0.0, 0);
    let part = |(share, left): (&f64, usize)| {
        sum += share;
        // The last one gets what rounding has left.
        let until =
            if left == 0 { size } else { ((sum * size as f64).round() as u64).clamp(given, size) };
        until - std::mem::replace(&mut given, until)
    };
    shares.iter().zip((0..shares.len()).rev()).map(part).collect()
}

fn from_root(all: &[u32], root: Option<u32>) -> Vec<u32> {
    let mut order = all.to_vec();
    order.rotate_left(root.unwrap_or(0) as usize);
    order
}

/// The i-th of `members` sends part i + `offset` - s to the next one in step s, which is what it got in the step
/// before; `size` is cut into a part for each. At the end each holds all that it got.
fn ring(
    program: &mut Program,
    members: &[u32],
    steps: u32,
    offset: u64,
    size: u64,
    held: &mut [Wait],
) {
    let n = members.len() as u64;
    let (mut got, mut sent) = (vec![vec![]; members.len()], vec![None; members.len()]);
    for step in 0..u64::from(steps) {
        let mut next = vec![None; members.len()];
        for (place, &rank) in members.iter().enumerate() {
            let part = (place as u64 + offset + 2 * n - step % n) % n;
            let to = (place + 1) % members.len();
            let own = &held[rank as usize];
            let mut wait =
                if step == 0 { own.clone() } else { own.for_flow(got[place].last().copied()) };
            wait.and(program.in_turn(sent[place]));
            next[to] = program.send(rank, members[to], cut(size, part, part + 1, n), &wait);
            sent[place] = next[to];
        }
        got.iter_mut().zip(next).for_each(|(got, next)| got.extend(next));
    }
    for ((&rank, got), sent) in members.iter().zip(got).zip(sent) {
        let held = &mut held[rank as usize];
        *held = held.for_flows(got);
        held.and(program.in_turn(sent));
    }
}

/// Each passes all on to the next one.
fn chain(program: &mut Program, size: u64, held: &[Wait]) {
    let all: Vec<u32> = (0..program.ranks()).collect();
    let order = from_root(&all, program.spec.root);
    let mut got = None;
    for pair in order.windows(2) {
        let own = &held[pair[0] as usize];
        let wait = own.for_flow(got);
        got = program.send(pair[0], pair[1], size, &wait);
    }
}

/// Each pair exchanges the halves that the other one keeps, at smaller and smaller distances.
fn halve(program: &mut Program, size: u64, held: &mut [Wait]) {
    let n = program.ranks();
    for step in 0..n.trailing_zeros() {
        let length = n >> (step + 1);
        let sends = |rank: u32| {
            let other = rank ^ length;
            let first = u64::from(other / length * length);
            (other, cut(size, first, first + u64::from(length), n.into()))
        };
        exchange(program, sends, held);
    }
}

/// Each pair exchanges all that both have, at larger and larger distances.
fn double(program: &mut Program, size: u64, held: &mut [Wait]) {
    let n = program.ranks();
    for step in 0..n.trailing_zeros() {
        let length = 1 << step;
        let sends = |rank: u32| {
            let first = u64::from(rank / length * length);
            (rank ^ length, cut(size, first, first + u64::from(length), n.into()))
        };
        exchange(program, sends, held);
    }
}

/// Each sends one message, when it has all that came before.
fn exchange(program: &mut Program, sends: impl Fn(u32) -> (u32, u64), held: &mut [Wait]) {
    let mut got = vec![None; held.len()];
    let all: Vec<u32> = (0..program.ranks()).collect();
    for &rank in &all {
        let (to, bytes) = sends(rank);
        got[to as usize] = program.send(rank, to, bytes, &held[rank as usize]);
    }
    for rank in all {
        let own = &mut held[rank as usize];
        own.and(got[rank as usize]);
        own.and(program.in_turn(got[sends(rank).0 as usize]));
    }
}

/// Each of `members` sends to all others at once.
fn direct(
    program: &mut Program,
    members: &[u32],
    bytes: impl Fn(u32, u32) -> u64,
    held: &mut [Wait],
) {
    let mut got = vec![vec![]; members.len()];
    for (place, &rank) in members.iter().enumerate() {
        let wait = program.join(&held[rank as usize]);
        for step in 1..members.len() {
            let to = (place + step) % members.len();
            got[to].extend(program.send(rank, members[to], bytes(rank, members[to]), &wait));
        }
    }
    for (&rank, got) in members.iter().zip(got) {
        if !got.is_empty() {
            held[rank as usize] = held[rank as usize].for_flows(got);
        }
    }
}

/// In step i each sends to the i-th behind it, when what it is sent in the steps before is there.
fn pairwise(program: &mut Program, bytes: impl Fn(u32, u32) -> u64, held: &mut [Wait]) {
    let n = program.ranks();
    for step in 1..n {
        let mut got = vec![None; n as usize];
        for rank in 0..n {
            let to = (rank + step) % n;
            got[to as usize] = program.send(rank, to, bytes(rank, to), &held[rank as usize]);
        }
        for rank in 0..n {
            let mut next = program.join(&held[rank as usize]);
            next.and(got[rank as usize]);
            next.and(program.in_turn(got[((rank + step) % n) as usize]));
            held[rank as usize] = next;
        }
    }
}

/// Within groups, then among ranks of one place in their groups.
fn hierarchical(program: &mut Program, size: u64, held: &mut [Wait]) {
    let (spec, n) = (program.spec, program.ranks());
    let group = spec.group.expect("checked");
    let groups: Vec<Vec<u32>> =
        (0..n / group).map(|g| (g * group..(g + 1) * group).collect()).collect();
    let planes: Vec<Vec<u32>> =
        (0..group).map(|place| (0..n / group).map(|g| g * group + place).collect()).collect();
    let local = u64::from(group);
    let part = |place: u64| cut(size, place % local, place % local + 1, local);
    let each = |offset: u64| (0..).zip(&planes).map(move |(at, plane)| (part(at + offset), plane));
    let (inside, across) = (group - 1, n / group - 1);
    match spec.kind {
        CollectiveKind::AllToAll => {
            let shares = Shares::of(spec, size);
            let to_place = |from, to: u32| {
                planes[(to % group) as usize].iter().map(|to| shares.bytes(from, *to)).sum()
            };
            groups.iter().for_each(|own| direct(program, own, to_place, held));
            let passed = |from: u32, to| {
                groups[(from / group) as usize].iter().map(|from| shares.bytes(*from, to)).sum()
            };
            planes.iter().for_each(|plane| direct(program, plane, passed, held));
        }
        CollectiveKind::AllGather => {
            for (part, plane) in each(0) {
                ring(program, plane, across, 0, part, held);
            }
            groups.iter().for_each(|own| ring(program, own, inside, 0, size, held));
        }
        kind => {
            // After the ring the i-th has part i + 1.
            groups.iter().for_each(|own| ring(program, own, inside, 0, size, held));
            let reduce = kind == CollectiveKind::AllReduce;
            for (part, plane) in each(1) {
                ring(program, plane, if reduce { 2 * across } else { across }, 0, part, held);
            }
            if reduce {
                groups.iter().for_each(|own| ring(program, own, inside, 1, size, held));
            }
        }
    }
}

/// A binary tree of some ranks.
struct Tree {
    root: u32,
    /// Each rank but the root, and its parent; parents before children.
    edges: Vec<(u32, u32)>,
}

impl Tree {
    /// All levels but the last are full.
    fn heap(members: &[u32]) -> Tree {
        let edge = |place: usize| (members[place], members[(place - 1) / 2]);
        Tree { root: members[0], edges: (1..members.len()).map(edge).collect() }
    }

    /// Ranks in order of their places from left to right: odd places are leaves.
    fn ordered(members: &[u32]) -> Tree {
        let n = members.len();
        let parent = |place: usize| {
            let bit = place & place.wrapping_neg();
            let up = (place ^ bit) | (bit << 1);
            if up < n { up } else { place ^ bit }
        };
        let mut places: Vec<usize> = (1..n).collect();
        let depth = |place: usize| {
            std::iter::successors(Some(place), |at| (*at > 0).then(|| parent(*at))).count()
        };
        places.sort_by_key(|place| depth(*place));
        let edge = |place: &usize| (members[*place], members[parent(*place)]);
        Tree { root: members[0], edges: places.iter().map(edge).collect() }
    }

    /// Two trees; the second is the first one mirrored or, with an odd number, shifted by one rank.
    fn double(members: &[u32]) -> [Tree; 2] {
        let mut other = members.to_vec();
        match members.len() % 2 {
            0 => other.reverse(),
            _ => other.rotate_right(1),
        }
        [Tree::ordered(members), Tree::ordered(&other)]
    }
}

/// Each sends to its parent what it has and what its children sent.
fn up(program: &mut Program, tree: &Tree, size: u64, held: &mut [Wait]) {
    for &(rank, parent) in tree.edges.iter().rev() {
        let got = program.send(rank, parent, size, &held[rank as usize]);
        held[parent as usize].and(got);
    }
}

/// Each sends to its children what its parent sent.
fn down(program: &mut Program, tree: &Tree, size: u64, held: &mut [Wait]) {
    let mut got = vec![None; held.len()];
    for &(rank, parent) in &tree.edges {
        let own = &held[parent as usize];
        let wait =
            if parent == tree.root { own.clone() } else { own.for_flow(got[parent as usize]) };
        got[rank as usize] = program.send(parent, rank, size, &wait);
    }
}

/// The root sends a half to the roots of two trees of all others.
fn double_broadcast(program: &mut Program, size: u64, held: &[Wait]) {
    let all: Vec<u32> = (0..program.ranks()).collect();
    let order = from_root(&all, program.spec.root);
    for (half, tree) in (0..).zip(Tree::double(&order[1..])) {
        let (mut held, size) = (held.to_vec(), cut(size, half, half + 1, 2));
        let got = program.send(order[0], tree.root, size, &held[order[0] as usize]);
        held[tree.root as usize].and(got);
        down(program, &tree, size, &mut held);
    }
}
