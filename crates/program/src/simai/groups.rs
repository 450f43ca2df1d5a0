//! Which ranks belong together.

use crate::build::Members;

/// A kind of group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Tensor parallel: neighbours in number.
    Tp,
    /// Data parallel: ranks of one place in the tensor-parallel groups of a stage.
    Dp,
    /// Expert parallel: a part of a data-parallel group, neighbours there.
    Ep,
    /// Data parallel among experts: ranks of one place in the expert-parallel groups of a stage.
    DpEp,
    /// Pipeline parallel: ranks of one place in their stages.
    Pp,
}

impl Group {
    /// All of them; results and `nic` count them in this order.
    pub const ALL: [Group; 5] = [Group::Tp, Group::Dp, Group::Ep, Group::DpEp, Group::Pp];

    /// What files call it.
    pub fn name(self) -> &'static str {
        ["TP", "DP", "EP", "DP_EP", "PP"][self as usize]
    }
}

/// How ranks are divided: `ranks` is a multiple of `tp * pp`, and `dp` of `ep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Ranks in all.
    pub ranks: u32,
    /// Ranks of a tensor-parallel group.
    pub tp: u32,
    /// Ranks of an expert-parallel group.
    pub ep: u32,
    /// Stages.
    pub pp: u32,
}

/// Ranks of equal distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spaced {
    pub first: u32,
    pub stride: u32,
    pub count: u32,
}

impl Members for Spaced {
    fn count(&self) -> u32 {
        self.count
    }

    fn rank(&self, place: u32) -> u32 {
        self.first + place * self.stride
    }
}

impl Groups {
    /// Ranks of a stage.
    pub fn stage_size(&self) -> u32 {
        self.ranks / self.pp
    }

    /// Ranks of a data-parallel group.
    pub fn dp(&self) -> u32 {
        self.stage_size() / self.tp
    }

    /// How many ranks each group of a kind has.
    pub fn size(&self, group: Group) -> u32 {
        match group {
            Group::Tp => self.tp,
            Group::Dp => self.dp(),
            Group::Ep => self.ep,
            Group::DpEp => self.dp() / self.ep,
            Group::Pp => self.pp,
        }
    }

    /// The group of a rank, and the rank's place there.
    pub(crate) fn of(&self, group: Group, rank: u32) -> (Spaced, u32) {
        let (size, own) = (self.stage_size(), rank % self.stage_size());
        let (stage, lane, row) = (rank - own, own % self.tp, own / self.tp);
        let (first, stride, place) = match group {
            Group::Tp => (rank - lane, 1, lane),
            Group::Dp => (stage + lane, self.tp, row),
            Group::Ep => (stage + lane + (row - row % self.ep) * self.tp, self.tp, row % self.ep),
            Group::DpEp => {
                (stage + lane + row % self.ep * self.tp, self.tp * self.ep, row / self.ep)
            }
            Group::Pp => (own, size, rank / size),
        };
        (Spaced { first, stride, count: self.size(group) }, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(groups: &Groups, group: Group, rank: u32) -> Vec<u32> {
        let (own, place) = groups.of(group, rank);
        assert_eq!(own.rank(place), rank, "{group:?} {rank}");
        (0..own.count).map(|place| own.rank(place)).collect()
    }

    /// As SimAI divides ranks (MockNcclGroup), of one stage.
    #[test]
    fn groups_are_those_of_simai() {
        let all = Groups { ranks: 16, tp: 2, ep: 4, pp: 1 };
        assert_eq!((all.dp(), all.size(Group::DpEp)), (8, 2));
        assert_eq!(ranks(&all, Group::Tp, 5), [4, 5]);
        assert_eq!(ranks(&all, Group::Dp, 5), [1, 3, 5, 7, 9, 11, 13, 15]);
        assert_eq!(ranks(&all, Group::Ep, 5), [1, 3, 5, 7]);
        assert_eq!(ranks(&all, Group::Ep, 8), [8, 10, 12, 14]);
        assert_eq!(ranks(&all, Group::DpEp, 5), [5, 13]);
    }

    /// Stages are blocks of ranks, and groups lie within one.
    #[test]
    fn stages_have_groups_of_their_own() {
        let all = Groups { ranks: 24, tp: 2, ep: 2, pp: 3 };
        assert_eq!(ranks(&all, Group::Tp, 11), [10, 11]);
        assert_eq!(ranks(&all, Group::Dp, 11), [9, 11, 13, 15]);
        assert_eq!(ranks(&all, Group::Ep, 11), [9, 11]);
        assert_eq!(ranks(&all, Group::DpEp, 11), [11, 15]);
        assert_eq!(ranks(&all, Group::Pp, 11), [3, 11, 19]);
    }

    /// Each rank is in one group of each kind, and all of its members agree on which.
    #[test]
    fn members_agree() {
        let all = Groups { ranks: 96, tp: 4, ep: 3, pp: 2 };
        for group in Group::ALL {
            for rank in 0..all.ranks {
                let own = ranks(&all, group, rank);
                own.iter().for_each(|other| assert_eq!(ranks(&all, group, *other), own));
            }
        }
    }
}
