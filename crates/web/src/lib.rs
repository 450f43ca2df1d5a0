//! The laboratory in a page: the engine, results and explanations as one WebAssembly module.
//!
//! * [`scenario`]: a scenario's text checked, as a table for forms, and back.
//! * [`Lab`]: one run, step by step, with its queues and flows in between.
//! * [`Folder`]: a results folder in memory: tables, columns, fabric; runs repeated to explain a flow
//!   or the filling of a queue.
//! * [`bindings`]: the same for JavaScript. `explorer/src/incast-web.d.ts` says what it looks like there.
//!
//! Nothing here reads files, clocks or sockets, nor starts threads: what a page does not have is left out
//! below by target (`incast-experiment` has neither benchmark nor processes there, and its stopwatch
//! no clock). The module is as exact as the command: equal records for equal scenarios.

pub mod bindings;
mod filling;
mod folder;
mod lab;
mod opened;
pub mod scenario;
mod shape;
mod trouble;
mod warning;

pub use filling::{Filling, FlowFilling};
pub use folder::Folder;
pub use lab::Lab;
pub use trouble::{Trouble, TroubleKind};

/// Most hosts of a scenario that this module runs.
pub const HOSTS_MOST: u32 = 1_024;
/// Most flows of a scenario that this module runs.
pub const FLOWS_MOST: usize = 1 << 18;
/// Most rows of a trace that it opens.
pub const TRACE_ROWS_MOST: usize = 10_000_000;
/// Most bytes of one file that it opens.
pub const FILE_BYTES_MOST: usize = 1 << 30;
