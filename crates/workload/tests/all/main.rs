//! Flow sizes, arrivals and the files of other tools.

mod arrivals;
mod collectives;
mod importers;
mod tables;
