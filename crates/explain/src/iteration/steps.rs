//! The steps of a program's ranks, as stored.

use crate::repeat::Results;
use incast_experiment::Fault;

/// A step of a rank.
pub(super) struct Step {
    /// `send`, `recv` or `calc`.
    pub kind: &'static str,
    pub iteration: u32,
    pub peer: Option<u32>,
    pub bytes: Option<u64>,
    pub flow: Option<u32>,
    pub begin: Option<u64>,
    pub end: Option<u64>,
    /// The step of its rank for which it waited last.
    pub after: Option<u32>,
    /// Rank and step that sent what it took.
    pub from: Option<(u32, u32)>,
}

/// Steps by rank.
pub(super) struct Steps(Vec<Vec<Step>>);

/// A rank and one of its steps.
pub(super) type Place = (u32, u32);

impl Steps {
    /// Those of a program.
    ///
    /// # Errors
    /// There is no such table, or it lacks a column.
    pub fn read(results: &Results, program: u32) -> Result<Steps, Fault> {
        let table = results.table("steps")?;
        let lacks = |problem: String| Fault::new(problem).placed("steps.parquet");
        let column = |name: &str| table.numbers(name).map_err(lacks);
        let known = |value: f64| value.is_finite().then_some(value as u64);
        let [of, rank, iteration, peer, bytes, flow] = [
            column("program")?,
            column("rank")?,
            column("iteration")?,
            column("peer")?,
            column("size_bytes")?,
            column("flow_id")?,
        ];
        let [begin, end, after, source, step] = [
            column("begin_ps")?,
            column("end_ps")?,
            column("after")?,
            column("from_rank")?,
            column("from_step")?,
        ];
        let kinds = table.texts("kind").map_err(lacks)?;
        let mut all: Vec<Vec<Step>> = vec![];
        for row in (0..of.len()).filter(|row| of[*row] == f64::from(program)) {
            let number = |column: &[f64]| known(column[row]).map(|value| value as u32);
            let rank = rank[row] as usize;
            if all.len() <= rank {
                all.resize_with(rank + 1, Vec::new);
            }
            let kind = kinds.names[kinds.codes[row] as usize].as_str();
            let names = ["send", "recv", "calc"];
            all[rank].push(Step {
                kind: names.into_iter().find(|name| *name == kind).unwrap_or("calc"),
                iteration: iteration[row] as u32,
                peer: number(&peer),
                bytes: known(bytes[row]),
                flow: number(&flow),
                begin: known(begin[row]),
                end: known(end[row]),
                after: number(&after),
                from: number(&source).zip(number(&step)),
            });
        }
        Ok(Steps(all))
    }

    /// Those of a rank.
    pub fn rank(&self, rank: u32) -> &[Step] {
        self.0.get(rank as usize).map_or(&[], Vec::as_slice)
    }

    pub fn step(&self, (rank, step): Place) -> &Step {
        &self.0[rank as usize][step as usize]
    }

    /// Those of an iteration.
    pub fn of(&self, iteration: u32) -> impl Iterator<Item = (Place, &Step)> + Clone {
        let ranks = (0u32..).zip(&self.0);
        let all = ranks
            .flat_map(|(rank, own)| (0u32..).zip(own).map(move |(at, step)| ((rank, at), step)));
        all.filter(move |(_, step)| step.iteration == iteration)
    }
}
