//! The command as a user runs it, its pages and examples.

mod architecture;
mod cli;
mod demo;
mod doctor;
mod documents;
mod explain;
#[cfg(target_os = "linux")]
mod netns;
