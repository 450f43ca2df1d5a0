//! Programs of jobs: what each rank sends, receives and computes, and what each of these waits for.
//!
//! A [`Program`] has a graph of [`Node`]s per rank. [`read_goal`] and [`Binary`] read files of GOAL,
//! [`write_text`] and [`write_binary`] write them; [`Execution`] runs one rank, told by a world what has
//! arrived and what time it is. It does no I/O and has no clock.
//!
//! ```
//! let text = "num_ranks 2\nrank 0 {\na: calc 500\nb: send 1000b to 1\nb requires a\n}\n\
//!             rank 1 {\nrecv 1000b from 0\n}\n";
//! let program = incast_program::read_goal("ping.goal", text.as_bytes())?;
//! assert_eq!(program.ranks().len(), 2);
//! assert_eq!(incast_program::write_binary(&program).len(), 14 + 2 * 16 + (12 + 2 * 39 + 4) + (12 + 39));
//! # Ok::<(), incast_program::ProgramError>(())
//! ```

mod alone;
mod build;
mod chakra;
mod check;
mod error;
mod execution;
mod formats;
mod goal;
mod graph;
mod matching;
mod repeat;
mod server;
mod simai;
mod warning;

pub use alone::compute_alone;
pub use chakra::{ProcessGroups, Trace, chakra_file, chakra_groups_file};
pub use error::{Place, ProgramError};
pub use execution::{Blocked, Execution, Issue, Orders, RankTimes, Step, Waiting};
pub use formats::read_program;
pub use goal::{Binary, is_binary_goal, read_goal, write_binary, write_text};
pub use graph::{ANY, Edge, Node, Op, Program, Rank};
pub use server::{Local, Server};
pub use simai::{Group, Groups, Workload};
pub use warning::{EMPTY_MESSAGES, READ_AS, WARNINGS};
