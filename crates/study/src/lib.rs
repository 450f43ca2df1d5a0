//! Studies: one scenario at many points.
//!
//! The unit of work, of storage and of a table's rows is a [`Point`]: one combination of values
//! under one transport, or variant of one, with one seed. It has a hash
//! ([`incast_experiment::identity_of`]) of all that decides its result, so a row is made once, and
//! adding a transport, a seed or a value runs only what is new.
//!
//! * [`Study`]: a scenario with its `[study]`, expanded into points.
//! * [`run_point`], [`run_bytes`]: a point becomes a [`Row`], here or in a worker elsewhere. A panic
//!   is a row with its error.
//! * [`Store`]: a folder with one small file per row. Processes may share it, and each may end at
//!   any moment.
//! * [`Driver`]: says what to run next and keeps what comes back. It knows neither threads nor
//!   workers: an executor is a loop around it, such as [`run_local`]. It drives any [`Job`]: the
//!   [`Points`] of a study, and the runs of the papers' figures.
//! * [`results`], [`gather`]: the rows as a table, figures and a page; [`join`]: folders become one.
//! * [`Search`]: the highest value of a key at which a condition holds.
//! * [`estimate`]: what a study will cost, from a short probe.

mod claim;
mod differing;
mod driver;
mod estimate;
mod eta;
mod expand;
mod job;
mod join;
mod local;
mod point;
mod points;
mod rounds;
mod row;
mod run;
mod search;
mod series;
mod store;
mod study;
mod syncer;
mod table;

pub use claim::{Claim, Claimed, claim};
pub use driver::{Driver, DriverOptions, NotRun, Outcome, Progress, Work};
pub use estimate::{Estimate, estimate};
pub use eta::Eta;
pub use incast_experiment::memory::{available, of_plan};
pub use job::{Gained, Job, RowOf, Task};
pub use join::{Joined, join};
pub use local::run_local;
pub use point::{Done, Point};
pub use points::Points;
pub use row::{Row, Times};
pub use run::{answer, guarded, run_bytes, run_point};
pub use search::{Answer, Condition, Found, Search, Tried, Verdict};
pub use series::Series;
pub use store::Store;
pub use study::{Input, MOST_POINTS, Repeat, Study};
pub use table::{gather, results, told};
