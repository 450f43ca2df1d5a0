//! Why a flow was slow.
//!
//! * [`Explanation::of`]: from a run with a trace of the flow to facts: where the time went, what was
//!   in front of its last packet at each port, losses, timeouts, pauses, decisions. A function over
//!   data: a page or another language calls it just as the command line does.
//! * [`Results`]: a results folder, whose run is repeated with a trace and held against what is
//!   stored.
//! * [`Difference`]: one flow in two runs, part by part.
//! * [`Iteration`]: an iteration of a collective or a program: its critical path and what each rank did.
//! * [`Question`], [`Answer`]: what the command line and Python ask.
//! * [`console`], [`page`]: an explanation as text and as a page of its own.

mod answer;
pub mod console;
mod control;
mod difference;
mod events;
mod explanation;
mod fronts;
mod iteration;
pub mod page;
mod pauses;
mod picture;
mod reading;
mod repeat;
mod verdict;
mod words;

pub use answer::{Answer, Question};
pub use control::{ControlPoint, Silence};
pub use difference::{Difference, PartDifference};
pub use explanation::{Explanation, FlowFacts, LossFacts, PART_NAMES, PartFacts};
pub use fronts::{FrontFacts, HopFacts, PortWait};
pub use iteration::{Iteration, Leg, PortCost, RankFacts, Sending, Which};
pub use pauses::{Holder, PauseFacts};
pub use repeat::{Repeated, Results, Selection, not_repeatable};
