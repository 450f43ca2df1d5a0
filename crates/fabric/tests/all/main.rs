//! Topologies, routes, order and the files of other tools.

mod balance_and_order;
mod fabrics;
mod imports;
mod mistakes;
