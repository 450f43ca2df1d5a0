//! Which receive takes which message.

use crate::graph::ANY;
use std::collections::{BTreeMap, BTreeSet};

/// Receives that wait for a message and messages that wait for a receive, by source and tag. Of several receives that
/// could take a message, the first in the program does; of several messages from one source, the one that its program
/// sends first; of those from any source, the one that was there first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    posted: BTreeMap<(u32, u32), BTreeSet<u32>>,
    /// Per node that sent it, which arrival it was.
    arrived: BTreeMap<(u32, u32), BTreeMap<u32, u64>>,
    arrivals: u64,
}

impl Matching {
    /// A message is there, sent by `node` of its source: the receive that takes it.
    pub fn arrive(&mut self, source: u32, tag: u32, node: u32) -> Option<u32> {
        let keys = [(source, tag), (source, ANY), (ANY, tag), (ANY, ANY)];
        let first = |key: &(u32, u32)| Some((*self.posted.get(key)?.first()?, *key));
        match keys.iter().filter_map(first).min() {
            Some((receive, key)) => {
                let posted = self.posted.get_mut(&key).expect("it was found");
                posted.remove(&receive);
                if posted.is_empty() {
                    self.posted.remove(&key);
                }
                Some(receive)
            }
            None => {
                self.arrivals += 1;
                self.arrived.entry((source, tag)).or_default().insert(node, self.arrivals);
                None
            }
        }
    }

    /// Node `receive` wants a message of this source and tag. If there is one it takes it: its source and the node
    /// there.
    pub fn post(&mut self, receive: u32, source: u32, tag: u32) -> Option<(u32, u32)> {
        let fits = |key: &(u32, u32)| tag == ANY || key.1 == tag;
        let found = match source {
            ANY => {
                let all = self.arrived.iter().filter(|(key, _)| fits(key));
                let each =
                    all.flat_map(|(key, nodes)| nodes.iter().map(move |one| (one.1, *key, one.0)));
                each.min().map(|(_, key, node)| (*node, key))
            }
            _ => {
                let tags = if tag == ANY { (0, ANY) } else { (tag, tag) };
                let all = self.arrived.range((source, tags.0)..=(source, tags.1));
                all.filter_map(|(key, nodes)| Some((*nodes.first_key_value()?.0, *key))).min()
            }
        };
        let Some((node, key)) = found else {
            self.posted.entry((source, tag)).or_default().insert(receive);
            return None;
        };
        let nodes = self.arrived.get_mut(&key).expect("it was found");
        nodes.remove(&node);
        if nodes.is_empty() {
            self.arrived.remove(&key);
        }
        Some((key.0, node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_receive_in_the_program_takes_a_message() {
        let mut all = Matching::default();
        for (receive, source, tag) in [(4, 1, 7), (2, 1, ANY), (3, ANY, ANY)] {
            assert_eq!(all.post(receive, source, tag), None);
        }
        assert_eq!(all.arrive(1, 7, 0), Some(2));
        assert_eq!(all.arrive(2, 9, 0), Some(3));
        assert_eq!(all.arrive(1, 8, 1), None);
        assert_eq!(all.arrive(1, 7, 2), Some(4));
        assert_eq!(all.post(5, ANY, 8), Some((1, 1)));
        assert_eq!(all.post(6, ANY, 8), None);
    }

    #[test]
    fn of_one_source_the_first_send_is_taken_and_of_any_the_first_arrival() {
        let mut all = Matching::default();
        for (source, tag, node) in [(3, 1, 9), (3, 1, 4), (1, 2, 0)] {
            assert_eq!(all.arrive(source, tag, node), None);
        }
        assert_eq!(all.post(0, 3, ANY), Some((3, 4)));
        assert!(!all.arrived[&(3, 1)].contains_key(&4));
        assert_eq!(all.post(1, ANY, ANY), Some((3, 9)));
        assert!(!all.arrived.contains_key(&(3, 1)) && all.arrived.contains_key(&(1, 2)));
    }
}
