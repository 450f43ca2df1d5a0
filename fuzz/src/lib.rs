//! Fuzz targets for every parser: any bytes, no panic, and what is accepted holds what it promises.
//!
//! `tests/seeds.rs` runs each of them on its seeds in `corpus/NAME` and on mutations of these.
//! With a nightly compiler and cargo-fuzz: `cargo +nightly fuzz run NAME --features libfuzzer`. An
//! input that failed goes to `corpus/NAME` when it is fixed.

mod mutate;
mod packets;
mod texts;

pub use mutate::Mutations;

/// A function over any bytes that must not panic.
pub type Target = fn(&[u8]);

/// Every target, by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("chakra", texts::chakra),
    ("decode", packets::decode),
    ("flow_list", texts::flow_list),
    ("goal_binary", texts::goal),
    ("goal_text", texts::goal),
    ("hpcc_topology", texts::hpcc_topology),
    ("htsim_topology", texts::htsim_topology),
    ("manifest", texts::manifest),
    ("matrix", texts::matrix),
    ("packet_table", texts::packet_table),
    ("pairs", texts::pairs),
    ("parameters", texts::parameters),
    ("paths", texts::paths),
    ("quantities", texts::quantities),
    ("results", texts::results),
    ("scenario", texts::scenario),
    ("shape", texts::shape),
    ("simai", texts::simai),
    ("size_table", texts::size_table),
];

/// The target of a name. Panics if there is none.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|(own, _)| *own == name);
    found.unwrap_or_else(|| panic!("no fuzz target {name}")).1
}
