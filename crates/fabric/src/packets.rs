//! The packets of a flow, as links charge them.

use crate::{
    Forwarding, Hop, PathUse, cut_through_fct_over, ideal_fct_over, ideal_fct_over_uniform,
};
use incast_units::{Bytes, Span};

/// Charged sizes of a flow's packets, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packets {
    /// `count` of `full`, then one of `last`, or none if that is zero.
    Uniform {
        /// Of each but the last.
        full: Bytes,
        /// How many of these.
        count: u64,
        /// Of the last.
        last: Bytes,
    },
    /// Each by itself.
    Each(Vec<Bytes>),
}

impl Packets {
    /// Bytes that a link charges for all of them.
    pub fn bytes(&self) -> u64 {
        match self {
            Packets::Uniform { full, count, last } => full.0 * count + last.0,
            Packets::Each(all) => all.iter().map(|one| one.0).sum(),
        }
    }

    /// The time that they need alone on an empty network, whichever of the shortest paths they take.
    pub fn ideal(&self, forwarding: Forwarding, hops: &[Hop], path_use: PathUse) -> Span {
        match (forwarding, self) {
            (Forwarding::StoreAndForward, Packets::Each(all)) => {
                ideal_fct_over(hops, path_use, all.iter().copied())
            }
            (Forwarding::StoreAndForward, Packets::Uniform { full, count, last }) => {
                ideal_fct_over_uniform(hops, path_use, *full, *count, *last)
            }
            (Forwarding::CutThrough(read), Packets::Each(all)) => {
                cut_through_fct_over(hops, path_use, read, all.iter().copied())
            }
            (Forwarding::CutThrough(read), Packets::Uniform { full, count, last }) => {
                let all = std::iter::repeat_n(*full, *count as usize);
                let all = all.chain((last.0 > 0).then_some(*last));
                cut_through_fct_over(hops, path_use, read, all)
            }
        }
    }
}
