//! What a page asks for.

mod folder;
#[cfg(feature = "node")]
mod wasm;
