//! The simulator against exact analytical results.

mod batches;
mod queues;
