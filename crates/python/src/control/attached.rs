//! Calls from the engine's threads into the interpreter.

use pyo3::{Python, ffi};
use std::cell::OnceCell;

/// What keeps a thread of the engine known to the interpreter until it ends. The interpreter would
/// otherwise make and free its state of the thread in each call, which takes ten times as long as
/// the call.
struct Known {
    thread: *mut ffi::PyThreadState,
    held: ffi::PyGILState_STATE,
}

impl Drop for Known {
    fn drop(&mut self) {
        // SAFETY: the state was made for this thread in `known`, which released the interpreter, and
        // is freed here only. Nothing of Python runs in the thread any more.
        unsafe {
            if ffi::Py_IsInitialized() != 0 {
                ffi::PyEval_RestoreThread(self.thread);
                ffi::PyGILState_Release(self.held);
            }
        }
    }
}

thread_local! {
    static KNOWN: OnceCell<Option<Known>> = const { OnceCell::new() };
}

/// Makes the state of this thread, unless the interpreter knows the thread: then it is Python's own.
fn known() -> Option<Known> {
    // SAFETY: the thread is not attached, as it is unknown to the interpreter; each call is followed by
    // its counterpart, here or when the thread ends.
    unsafe {
        if ffi::Py_IsInitialized() == 0 || !ffi::PyGILState_GetThisThreadState().is_null() {
            return None;
        }
        let held = ffi::PyGILState_Ensure();
        Some(Known { thread: ffi::PyEval_SaveThread(), held })
    }
}

/// Does `work` with the interpreter; None if it is shutting down.
pub fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    KNOWN.with(|cell| {
        cell.get_or_init(known);
    });
    Python::try_attach(work)
}
