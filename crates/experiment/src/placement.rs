//! At which hosts the ranks of a job are.

use crate::Fault;
use crate::fault::{Problem, wrong};
use crate::scenario::Placement;
use incast_workload::{Stream, fold_text};
use std::collections::BTreeMap;

impl Placement {
    /// The host of each rank, of these; `rails` are the racks of all hosts. Without a number of ranks as many as
    /// the file lists, or as there are hosts.
    ///
    /// # Errors
    /// Too few hosts, or a file that is not of these ranks and hosts: what is wrong.
    pub fn place(
        &self,
        ranks: Option<usize>,
        hosts: Vec<u32>,
        rails: &[u32],
        seed: u64,
    ) -> Result<Vec<u32>, Problem> {
        if let Placement::File(_, text) = self {
            let all = listed(text, &hosts)?;
            return match ranks {
                Some(ranks) if all.len() != ranks => {
                    Err(wrong(format!("lists {} hosts", all.len()))
                        .expected(format!("{ranks}, one for each rank")))
                }
                _ => Ok(all),
            };
        }
        let has = hosts.len();
        if let Some(ranks) = ranks.filter(|ranks| *ranks > has) {
            return Err(wrong(format!("there are {ranks} ranks and {has} hosts"))
                .expected("a host per rank"));
        }
        let mut placed = match self {
            Placement::Strided(stride) => {
                let from = 0..(*stride).min(hosts.len());
                from.flat_map(|from| hosts[from..].iter().step_by(*stride).copied()).collect()
            }
            Placement::Random => {
                let mut hosts = hosts;
                Stream::new(fold_text(seed, "placement")).shuffle(&mut hosts);
                hosts
            }
            Placement::RailAligned(server) => aligned(*server, ranks, &hosts, rails)?,
            Placement::Packed | Placement::File(..) => hosts,
        };
        placed.truncate(ranks.unwrap_or(has));
        Ok(placed)
    }
}

/// Servers of so many hosts, the i-th of each in rail i.
fn aligned(
    server: Option<usize>,
    ranks: Option<usize>,
    hosts: &[u32],
    rails: &[u32],
) -> Result<Vec<u32>, Problem> {
    let mut by_rail: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    hosts.iter().for_each(|host| by_rail.entry(rails[*host as usize]).or_default().push(*host));
    let (count, server) = (by_rail.len(), server.unwrap_or(by_rail.len()));
    if server > count {
        let problem = wrong(format!("a server of {server} needs as many rails"));
        return Err(problem.expected(format!("1 to {count}, the racks of the hosts")));
    }
    let own: Vec<&Vec<u32>> = by_rail.values().take(server).collect();
    let servers = own.iter().map(|rail| rail.len()).min().unwrap_or(0);
    let all: Vec<u32> =
        (0..servers).flat_map(|place| own.iter().map(move |rail| rail[place])).collect();
    match ranks {
        Some(ranks) if ranks > all.len() => {
            let problem = format!("there are {ranks} ranks and {servers} servers of {server}");
            Err(wrong(problem).expected("a host on its rail for each rank"))
        }
        _ => Ok(all),
    }
}

/// The hosts that a file lists.
fn listed(text: &str, hosts: &[u32]) -> Result<Vec<u32>, Problem> {
    let mut placed: BTreeMap<u32, usize> = BTreeMap::new();
    let mut all = vec![];
    for (line, text) in (1..).zip(text.lines()) {
        let words = text.split('#').next().unwrap_or("").split([' ', '\t', ',', '\r']);
        for word in words.filter(|word| !word.is_empty()) {
            let host = word.parse().ok().filter(|host| hosts.contains(host));
            let Some(host) = host else {
                let which = match hosts {
                    [first, .., last] if (last - first) as usize + 1 == hosts.len() => {
                        format!("from {first} to {last}")
                    }
                    _ => "of `hosts`".into(),
                };
                return Err(
                    wrong(format!("line {line}: `{word}`")).expected(format!("a host {which}"))
                );
            };
            if let Some(other) = placed.insert(host, all.len()) {
                let rank = all.len();
                return Err(wrong(format!(
                    "line {line}: host {host} for rank {rank}, which rank {other} has"
                ))
                .expected("each host once"));
            }
            all.push(host);
        }
    }
    Ok(all)
}

/// The hosts of an entry's ranks.
pub struct Placed {
    /// The entry, such as `job.1`.
    pub entry: String,
    /// The host of each rank.
    pub hosts: Vec<u32>,
    /// Whether ranks of others may be there.
    pub share: bool,
}

/// Refuses ranks that share a host, unless both of their entries say that they do.
pub fn check_hosts(all: &[Placed]) -> Result<(), Fault> {
    let mut of: BTreeMap<u32, Vec<&Placed>> = BTreeMap::new();
    for own in all {
        for (host, rank) in own.hosts.iter().zip(0..) {
            let there = of.entry(*host).or_default();
            let same = |other: &&&Placed| std::ptr::eq(**other, own);
            let other = there.iter().find(|other| !(own.share && other.share) || same(other));
            let Some(other) = other else {
                there.push(own);
                continue;
            };
            let problem =
                wrong(format!("rank {rank} is at host {host}, where a rank of {} is", other.entry));
            let jobs = own.entry.starts_with("job.") && other.entry.starts_with("job.");
            let accepted = match jobs && !same(&other) {
                true => "hosts of its own, or `share = true` in both",
                false => "hosts of its own",
            };
            return Err(Fault::at(format!("{}.hosts", own.entry), problem.expected(accepted)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_server_are_on_their_rails() {
        // Three racks of four hosts.
        let rails: Vec<u32> = (0..12).map(|host| host / 4).collect();
        let place = |text: &str, ranks, hosts: Vec<u32>| {
            let placed = Placement::of(text).unwrap().place(ranks, hosts, &rails, 1);
            placed.map_err(|problem| problem.sentence())
        };
        let all = || (0..12).collect::<Vec<u32>>();
        assert_eq!(place("rail_aligned", Some(6), all()), Ok(vec![0, 4, 8, 1, 5, 9]));
        assert_eq!(place("rail_aligned:2", None, all()), Ok(vec![0, 4, 1, 5, 2, 6, 3, 7]));
        assert_eq!(place("rail_aligned:2", Some(4), vec![2, 3, 8, 9]), Ok(vec![2, 8, 3, 9]));
        let few = place("rail_aligned:4", Some(4), all()).unwrap_err();
        assert!(few.contains("a server of 4 needs as many rails: expected 1 to 3"), "{few}");
        let full = place("rail_aligned:2", Some(10), all()).unwrap_err();
        assert!(full.contains("there are 10 ranks and 4 servers of 2"), "{full}");
        assert_eq!(place("strided:5", Some(4), all()), Ok(vec![0, 5, 10, 1]));
        let mut mixed = place("random", None, all()).unwrap();
        assert_ne!(mixed, all());
        mixed.sort_unstable();
        assert_eq!(mixed, all());
    }
}
