//! Columns, summaries, reports.

mod balance;
mod collectives;
mod columns;
mod documentation;
mod fairness;
mod folder;
mod report;
mod statistics;
mod study;
mod support;
mod time_axes;
mod warnings;
