//! A bug as a JavaScript exception. The instance is spoilt afterwards; a page makes a new one.

use std::sync::atomic::{AtomicBool, Ordering};
use wasm_bindgen::prelude::*;

static SPOILT: AtomicBool = AtomicBool::new(false);

/// Whether a panic has ended the instance.
pub(super) fn spoilt() -> bool {
    SPOILT.load(Ordering::Relaxed)
}

/// What a panic throws: an `Error` named `Panic`.
pub(super) fn panic_error(message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    error.set_name("Panic");
    error.into()
}

/// Makes panics exceptions with their message and place. Runs when the module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    #[cfg(target_family = "wasm")]
    std::panic::set_hook(Box::new(|panic| {
        SPOILT.store(true, Ordering::Relaxed);
        wasm_bindgen::throw_val(panic_error(&panic.to_string()));
    }));
}

/// Panics with this message: for tests of what a page does then.
#[wasm_bindgen]
pub fn provoke(message: &str) {
    panic!("{message}");
}
