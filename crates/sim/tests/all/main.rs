//! The event engine.

mod common;
mod engine;
mod validity;
