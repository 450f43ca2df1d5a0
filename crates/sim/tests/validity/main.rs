//! The simulator against exact analytical results.

#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod common;

mod batches;
mod queues;
