//! Execution traces of Chakra: one file per rank, each a stream of protobuf messages, plain or packed by gzip.

mod rank;
mod schema;
mod stream;
mod trace;

pub use trace::{ProcessGroups, Trace, chakra_file, chakra_groups_file};

#[cfg(test)]
mod tests;
