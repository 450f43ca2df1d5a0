//! The usual fabrics as typed builders, and the list of those that can be written in a line.

mod bcube;
mod clos;
mod dragonfly;
mod dumbbell;
mod fat_tree;
mod leaf_spine;
mod parking_lot;
mod parts;
mod rail;
mod shape;
mod star;
mod three_tier;
mod torus;

pub use bcube::BCube;
pub use dragonfly::Dragonfly;
pub use dumbbell::Dumbbell;
pub use fat_tree::FatTree;
pub use leaf_spine::LeafSpine;
pub use parking_lot::ParkingLot;
pub use parts::Size;
pub use rail::Rail;
pub use shape::{Count, Shape};
pub(crate) use shape::{Spec, refused};
pub use star::Star;
pub use three_tier::ThreeTier;
pub use torus::Torus;

/// Every shape that can be written in a line.
pub static SHAPES: &[&Shape] = &[
    &star::SHAPE,
    &dumbbell::SHAPE,
    &parking_lot::SHAPE,
    &leaf_spine::SHAPE,
    &fat_tree::SHAPE,
    &clos::SHAPE,
    &torus::SHAPE,
    &dragonfly::SHAPE,
    &rail::SHAPE,
    &bcube::SHAPE,
];
