//! What a rank does: forward through all layers, then backward.

use super::groups::Group;
use super::workload::{Layer, Pass, Wanted, Workload};
use crate::build::{Collective, Exchange, Graph};
use crate::graph::{Node, Op, Rank};

/// What comes next at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// So many nanoseconds of computation.
    Compute(u64),
    /// A collective that the rank waits for, or not.
    Collective { wanted: Wanted, update: u64, waits: bool },
    /// Data of a micro-batch from another stage.
    Take { ahead: bool, batch: u32 },
    /// Data of a micro-batch to another stage.
    Give { ahead: bool, batch: u32 },
}

impl Workload {
    /// What a rank of a stage does, in order, each with its line: every one of them does the same, but for the first and the
    /// last stage.
    pub(super) fn steps(&self, stage: u32) -> impl Iterator<Item = (Next, u32)> + '_ {
        let count = self.layers.len() as u32;
        let forward = (0..count).flat_map(move |at| self.forward(at, stage));
        forward.chain((0..count).rev().flat_map(move |at| self.backward(at, stage)))
    }

    /// The micro-batch that begins, or ends, with a layer.
    fn batch(&self, layer: u32, begins: bool) -> Option<u32> {
        let at = match begins {
            true => self.batches.binary_search_by_key(&layer, |own| own.start),
            false => self.batches.binary_search_by_key(&(layer + 1), |own| own.end),
        };
        at.ok().map(|at| at as u32)
    }

    fn forward(&self, at: u32, stage: u32) -> impl Iterator<Item = (Next, u32)> + '_ {
        let layer = &self.layers[at as usize];
        let last = stage + 1 == self.groups.pp;
        let take = self.batch(at, true).filter(|_| stage > 0);
        let give = self.batch(at, false).filter(|_| !last);
        let take = take.map(|batch| Next::Take { ahead: true, batch });
        let give = give.map(|batch| Next::Give { ahead: true, batch });
        let own = self.pass(layer, layer.forward, true);
        take.into_iter().chain(own).chain(give).map(|next| (next, layer.line))
    }

    fn backward(&self, at: u32, stage: u32) -> impl Iterator<Item = (Next, u32)> + '_ {
        let layer = &self.layers[at as usize];
        let last = stage + 1 == self.groups.pp;
        let take = self.batch(at, false).filter(|_| !last);
        let give = self.batch(at, true).filter(|_| stage > 0);
        let take = take.map(|batch| (Next::Take { ahead: false, batch }, layer.line));
        let give = give.map(|batch| (Next::Give { ahead: false, batch }, layer.line));
        let again = layer.again_from.map_or(at..at, |first| first..at).flat_map(|at| {
            let layer = &self.layers[at as usize];
            self.pass(layer, layer.forward, true).map(|next| (next, layer.line))
        });
        let input = self.pass(layer, layer.input, true);
        let own = input.chain(self.pass(layer, layer.weight, false));
        take.into_iter().chain(again).chain(own.map(|next| (next, layer.line))).chain(give)
    }

    fn pass(&self, layer: &Layer, pass: Pass, waits: bool) -> impl Iterator<Item = Next> + '_ {
        let update = layer.update;
        let alone = |wanted: &Wanted| self.groups.size(wanted.group) == 1;
        let wanted = pass.wanted.filter(|wanted| !alone(wanted));
        let compute = (pass.ns > 0).then_some(Next::Compute(pass.ns));
        let wanted = wanted.map(|wanted| Next::Collective { wanted, update, waits });
        compute.into_iter().chain(wanted)
    }

    /// Messages that all ranks send.
    pub fn count_messages(&self) -> u64 {
        self.count(|next| match next {
            Next::Compute(_) | Next::Take { .. } => 0,
            Next::Give { .. } => 1,
            Next::Collective { wanted, .. } => self.sends(wanted),
        })
    }

    /// Steps of all ranks: messages at both ends, computations and ends of collectives.
    pub(super) fn count_steps(&self) -> u64 {
        self.count(|next| match next {
            Next::Collective { wanted, .. } => 2 * self.sends(wanted) + 1,
            _ => 1,
        })
    }

    fn sends(&self, wanted: Wanted) -> u64 {
        wanted.kind.sends(self.groups.size(wanted.group).into())
    }

    fn count(&self, of: impl Fn(Next) -> u64) -> u64 {
        let stage =
            |stage| self.steps(stage).fold(0u64, |sum, (next, _)| sum.saturating_add(of(next)));
        let (pp, ranks) = (self.groups.pp, u64::from(self.groups.stage_size()));
        // All stages between the first and the last are alike.
        let ends = if pp == 1 { stage(0) } else { stage(0).saturating_add(stage(pp - 1)) };
        let inner = if pp > 2 { stage(1).saturating_mul(u64::from(pp - 2)) } else { 0 };
        ends.saturating_add(inner).saturating_mul(ranks)
    }

    /// Bytes that all ranks send, by kind of group in the order of [`Group::ALL`], but for parts of less than a byte.
    pub fn bytes_by_group(&self) -> [u64; 5] {
        let mut bytes = [0u64; 5];
        for group in Group::ALL {
            let n = u64::from(self.groups.size(group));
            bytes[group as usize] = self.count(|next| match next {
                Next::Collective { wanted, .. } if wanted.group == group => {
                    let shares = match wanted.kind {
                        Collective::AllReduce => 2 * (n - 1),
                        _ => n - 1,
                    };
                    // Each rank sends its n-th part of what the group sends.
                    (u128::from(wanted.bytes) * u128::from(shares) / u128::from(n))
                        .min(u64::MAX.into()) as u64
                }
                Next::Give { .. } if group == Group::Pp => self.pp_bytes,
                _ => 0,
            });
        }
        bytes
    }

    /// What one rank does, as a graph.
    pub fn rank(&self, rank: u32) -> Rank {
        let stage = rank / self.groups.stage_size();
        let mut own = Own {
            load: self,
            rank,
            graph: Graph::default(),
            last: vec![],
            groups: [None; 4],
            tag: 0,
        };
        self.steps(stage).for_each(|(next, line)| own.step(next, line));
        own.graph.rank()
    }
}

/// The streams of computations: layers on the first, what follows a collective on that of its group.
const LAYERS: u8 = 0;

/// A rank as its graph is made.
struct Own<'a> {
    load: &'a Workload,
    rank: u32,
    graph: Graph,
    /// What the next step waits for.
    last: Vec<u32>,
    /// The end of the last collective of each kind of group: one goes on after the other.
    groups: [Option<u32>; 4],
    /// Collectives so far, of all kinds: every rank counts the same ones.
    tag: u32,
}

impl Own<'_> {
    fn step(&mut self, next: Next, line: u32) {
        match next {
            Next::Compute(ns) => {
                let own = self.graph.calc(ns, LAYERS, &self.last, line);
                self.last = vec![own];
            }
            Next::Collective { wanted, update, waits } => {
                let end = self.collective(wanted, update, line);
                if waits {
                    self.last = vec![end];
                }
            }
            Next::Take { ahead, batch } => {
                let op = self.exchanged(ahead, batch, true);
                let after = std::mem::take(&mut self.last);
                let own = self.graph.add(Node { op, cpu: 0, nic: Group::Pp as u8 }, &after, line);
                self.last = vec![own];
            }
            Next::Give { ahead, batch } => {
                let op = self.exchanged(ahead, batch, false);
                self.graph.add(Node { op, cpu: 0, nic: Group::Pp as u8 }, &self.last, line);
            }
        }
    }

    /// The message of a micro-batch between stages; tags from above are left to these.
    fn exchanged(&self, ahead: bool, batch: u32, takes: bool) -> Op {
        let size = self.load.groups.stage_size();
        let (bytes, tag) = (self.load.pp_bytes, u32::MAX - 1 - (2 * batch + u32::from(ahead)));
        // Forward it goes to the next stage.
        let up = ahead != takes;
        let peer = if up { self.rank + size } else { self.rank - size };
        match takes {
            true => Op::Recv { from: peer, bytes, tag },
            false => Op::Send { to: peer, bytes, tag },
        }
    }

    fn collective(&mut self, wanted: Wanted, update: u64, line: u32) -> u32 {
        let (members, place) = self.load.groups.of(wanted.group, self.rank);
        let nic = wanted.group as u8;
        let mut after = self.last.clone();
        let before = self.groups[wanted.group as usize];
        after.extend(before.filter(|before| !self.last.contains(before)));
        let (kind, bytes, tag) = (wanted.kind, wanted.bytes, self.tag);
        self.tag += 1;
        let own = Exchange { kind, members, place, bytes, tag, nic, line };
        let got = self.graph.exchange(&own, &after);
        let end = self.graph.calc(update, 1 + nic, &got, line);
        self.groups[wanted.group as usize] = Some(end);
        end
    }
}
