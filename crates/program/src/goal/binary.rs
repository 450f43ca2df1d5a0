//! The binary file of GOAL: little endian, unaligned, places counted from behind the cookie.

use super::{COOKIE, COOKIE_IN_USE, ENTRY, HEAD, NODE};
use crate::error::{Place, ProgramError};
use crate::graph::{ANY, Edge, Node, Op, Program, Rank};
use incast_units::fault::{Problem, wrong};
use std::io::{Read, Seek, SeekFrom};

/// A binary file whose ranks are read one by one, so that only those that are used are in memory.
pub struct Binary<R> {
    file: String,
    source: R,
    /// Begin and end of each rank.
    places: Vec<(u64, u64)>,
}

impl<R: Read + Seek> Binary<R> {
    /// Reads where its ranks are.
    ///
    /// # Errors
    /// A file that cannot be read, that is none of GOAL, that somebody is writing, or that lacks a part.
    pub fn open(file: &str, mut source: R) -> Result<Binary<R>, ProgramError> {
        let fail = |problem: Problem| Err(ProgramError::new(file, Place::File, problem));
        let unread =
            |error| ProgramError::new(file, Place::File, format!("could not read: {error}"));
        let length = source.seek(SeekFrom::End(0)).map_err(unread)?;
        source.seek(SeekFrom::Start(0)).map_err(unread)?;
        let mut head = [0u8; 8 + HEAD as usize];
        if length < head.len() as u64 {
            return fail(
                wrong(format!("has {length} bytes")).expected(format!("{} or more", head.len())),
            );
        }
        source.read_exact(&mut head).map_err(unread)?;
        match u64_at(&head, 0) {
            COOKIE => {}
            COOKIE_IN_USE => {
                let open = "the program that writes it has not ended, or was stopped";
                return fail(wrong(format!("begins with {COOKIE_IN_USE}: {open}")));
            }
            other => return fail(wrong(format!("begins with {other}")).expected(COOKIE)),
        }
        let (count, body) = (u32_at(&head, 8), length - 8);
        let table = u64::from(count) * ENTRY;
        if body < HEAD + table {
            return fail(
                wrong(format!("has {length} bytes"))
                    .expected(format!("a table of {count} ranks, {table} bytes")),
            );
        }
        let mut bytes = vec![0; table as usize];
        source.read_exact(&mut bytes).map_err(unread)?;
        let pair = |at: &[u8]| (u64_at(at, 0), u64_at(at, 8));
        let places: Vec<_> = bytes.chunks_exact(ENTRY as usize).map(pair).collect();
        let mut free = HEAD + table;
        for ((begin, end), rank) in places.iter().zip(0..) {
            if *begin < free || end < begin || *end > body {
                let problem = wrong(format!("is from {begin} to {end}"))
                    .expected(format!("a place behind {free}, up to {body} where the file ends"));
                return Err(ProgramError::new(file, Place::Rank(rank), problem));
            }
            free = *end;
        }
        Ok(Binary { file: file.to_string(), source, places })
    }

    /// How many ranks it has.
    pub fn ranks(&self) -> u32 {
        self.places.len() as u32
    }

    /// Reads one rank. Panics if there is none of this number.
    ///
    /// # Errors
    /// What is wrong with it; whether its messages fit those of others is not known here.
    pub fn rank(&mut self, rank: u32) -> Result<Rank, ProgramError> {
        let (begin, end) = self.places[rank as usize];
        let mut bytes = vec![0; (end - begin) as usize];
        let found = self.source.seek(SeekFrom::Start(8 + begin));
        found.and_then(|_| self.source.read_exact(&mut bytes)).map_err(|error| {
            ProgramError::new(&self.file, Place::Rank(rank), format!("could not read: {error}"))
        })?;
        Section { file: &self.file, rank, bytes: &bytes }.read()
    }

    /// Reads all ranks.
    ///
    /// # Errors
    /// As [`rank`](Binary::rank) and [`Program::new`].
    pub fn read(mut self) -> Result<Program, ProgramError> {
        let ranks: Result<Vec<Rank>, _> = (0..self.ranks()).map(|rank| self.rank(rank)).collect();
        Program::new(&self.file, ranks?)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The bytes of one rank.
struct Section<'a> {
    file: &'a str,
    rank: u32,
    bytes: &'a [u8],
}

impl Section<'_> {
    fn fail<T>(&self, problem: impl Into<Problem>) -> Result<T, ProgramError> {
        Err(ProgramError::new(self.file, Place::Rank(self.rank), problem))
    }

    fn fail_at<T>(&self, node: usize, problem: impl Into<Problem>) -> Result<T, ProgramError> {
        Err(ProgramError::new(self.file, Place::Node(self.rank, node as u32), problem))
    }

    fn read(&self) -> Result<Rank, ProgramError> {
        let length = self.bytes.len() as u64;
        if length < 8 {
            return self.fail(wrong(format!("has {length} bytes")).expected("8 or more"));
        }
        let (count, roots) = (u32_at(self.bytes, 0) as usize, u32_at(self.bytes, 4) as usize);
        let head = 8 + 4 * roots as u64;
        let appendix = head + NODE as u64 * count as u64;
        if length < appendix || !(length - appendix).is_multiple_of(4) {
            return self.fail(wrong(format!("has {length} bytes")).expected(format!(
                "{appendix} for {count} nodes of which {roots} wait for none, \
                 and 4 for each edge"
            )));
        }
        let (head, appendix) = (head as usize, appendix as usize);
        let (mut nodes, mut edges, mut stated) = (vec![], vec![], vec![]);
        for place in 0..count {
            let bytes = &self.bytes[head + NODE * place..][..NODE];
            nodes.push(self.node(place, bytes)?);
            stated.push(u32_at(bytes, 0));
            for (at, at_start) in [(23, false), (31, true)] {
                let (many, first) = (u32_at(bytes, at), u32_at(bytes, at + 4));
                self.edges(place, &self.bytes[appendix..], (many, first, at_start), &mut edges)?;
            }
        }
        for edge in &edges {
            if edge.after as usize >= count {
                let problem = wrong(format!("node {} waits for it", edge.after))
                    .expected(format!("a node from 0 to {}", count - 1));
                return self.fail_at(edge.before as usize, problem);
            }
        }
        let rank = Rank::new(nodes, &edges);
        let waits = rank.waits();
        if let Some(node) = (0..count).find(|node| waits[*node] != stated[*node]) {
            let (says, has) = (stated[node], waits[node]);
            let problem = wrong(format!("says that it waits for {says} nodes"))
                .expected(format!("{has}, as edges say"));
            return self.fail_at(node, problem);
        }
        let listed = self.bytes[8..head].chunks_exact(4).map(|id| u32_at(id, 0));
        let mut listed: Vec<u32> = listed.collect();
        listed.sort_unstable();
        let free = (0..count as u32).filter(|node| waits[*node as usize] == 0);
        if !free.eq(listed) {
            return self.fail("its list of first nodes is not that of those that wait for none");
        }
        Ok(rank)
    }

    fn node(&self, place: usize, bytes: &[u8]) -> Result<Node, ProgramError> {
        let (peer, size, tag) = (u32_at(bytes, 5), u64_at(bytes, 9), u32_at(bytes, 17));
        let op = match bytes[4] {
            1 if tag == ANY => {
                let problem =
                    wrong("sends with tag 4294967295").expected("less: only a receive takes any");
                return self.fail_at(place, problem);
            }
            1 => Op::Send { to: peer, bytes: size, tag },
            2 => Op::Recv { from: peer, bytes: size, tag },
            3 => Op::Calc { ns: size },
            other => {
                let problem = wrong(format!("is of kind {other}"))
                    .expected("1 (send), 2 (receive) or 3 (compute)");
                return self.fail_at(place, problem);
            }
        };
        // A computation has no NIC.
        let nic = if bytes[4] == 3 { 0 } else { bytes[22] };
        Ok(Node { op, cpu: bytes[21], nic })
    }

    /// The edges of a node to those that wait for its end or its start. Where there are none, writers put any first
    /// place.
    fn edges(
        &self,
        place: usize,
        appendix: &[u8],
        (many, first, at_start): (u32, u32, bool),
        edges: &mut Vec<Edge>,
    ) -> Result<(), ProgramError> {
        if many == 0 {
            return Ok(());
        }
        let all = (appendix.len() as u64 / 4).min(u32::MAX.into());
        // No more edges in all than there are: no two nodes share them.
        let fits = u64::from(first) + u64::from(many) <= all
            && edges.len() as u64 + u64::from(many) <= all;
        if !fits {
            let problem =
                format!("{many} nodes from {first} on wait for it; the list of them has {all}");
            return self.fail_at(place, problem);
        }
        let ids = appendix[4 * first as usize..].chunks_exact(4).take(many as usize);
        let before = place as u32;
        edges.extend(ids.map(|id| Edge { before, after: u32_at(id, 0), at_start }));
        Ok(())
    }
}
