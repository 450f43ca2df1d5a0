//! Flow sizes, arrivals and the files of other tools.

mod arrivals;
mod importers;
mod tables;
