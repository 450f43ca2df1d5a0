//! Every transport of the catalogue.

mod abandon;
mod beside_credits;
mod catalogue;
mod citations;
mod conformance;
mod connections;
mod headers;
mod hosts;
mod late_or_lost;
mod lossless;
mod performance;
mod recovery;
#[path = "../../template/mod.rs"]
mod template;
mod unordered;
mod validity;
