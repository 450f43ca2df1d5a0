//! Studies: which points they have, and how they are run, kept and resumed.

mod expansion;
mod running;
mod support;
