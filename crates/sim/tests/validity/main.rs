//! The simulator against what is known exactly without one.

#[path = "../common/mod.rs"]
#[allow(dead_code)]
mod common;

mod batches;
mod queues;
