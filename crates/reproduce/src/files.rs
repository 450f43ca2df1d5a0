//! The experiments' own files, which are part of the program: what runs, and what is claimed of it.

use incast_experiment::Fault;

/// Places below `experiments`, in order, with their texts.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// The text of a file, if there is one.
pub fn find(place: &str) -> Option<&'static str> {
    FILES.iter().find(|(own, _)| *own == place).map(|(_, text)| *text)
}

/// The text of a file.
///
/// # Errors
/// That it is missing.
pub fn text(place: &str) -> Result<&'static str, Fault> {
    find(place).ok_or_else(|| Fault::new("is missing").placed(place))
}

/// Names of all experiments, in order.
pub fn experiments() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(place, _)| place.strip_suffix("/claims.toml"))
}
