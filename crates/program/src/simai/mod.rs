//! Workloads of SimAI, as AICB writes them: text with the layers of a training step.
//!
//! ```text
//! HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 32 ...
//! <number of layers>
//! <name> <dependency> <forward> <input gradient> <weight gradient> <update ns>     each pass: <ns> <collective> <bytes>
//! ```

mod groups;
mod read;
mod steps;
mod workload;

pub use groups::{Group, Groups};
pub(crate) use read::is_simai;
pub use workload::Workload;

#[cfg(test)]
mod tests;
