//! Studies: which points they have, and how they are run, kept and resumed.

mod expansion;
mod joining;
mod running;
mod searching;
mod support;
