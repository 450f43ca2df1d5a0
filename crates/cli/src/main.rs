//! The `incast` command.

fn main() {}
