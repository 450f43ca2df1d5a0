//! Values of JavaScript and of this program.

use super::panics::{panic_error, spoilt};
use crate::lab::Progress;
use crate::scenario::Files;
use crate::{Trouble, TroubleKind};
use bytes::Bytes;
use incast_experiment::Fault;
use incast_measure::Texts;
use js_sys::{Array, Function, Object, Reflect, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

/// What is thrown: an `Error` with the parts of a fault.
pub type Refused = JsValue;

/// Milliseconds between two calls of `progress`.
const BETWEEN_CALLS: f64 = 100.0;

/// A trouble as an `Error` named `Fault`.
pub fn refused(trouble: Trouble) -> Refused {
    let error = js_sys::Error::new(&trouble.to_string());
    error.set_name("Fault");
    for (name, text) in trouble.parts() {
        set(&error, name, &text.into());
    }
    error.into()
}

/// Refuses calls after a panic.
pub fn alive() -> Result<(), Refused> {
    match spoilt() {
        true => Err(panic_error("a bug ended this instance earlier: make a new one")),
        false => Ok(()),
    }
}

fn set(object: &Object, name: &str, value: &JsValue) {
    Reflect::set(object, &name.into(), value).expect("an own object takes every property");
}

fn wrong(what: &str) -> Refused {
    refused(Trouble::from(Fault::new(what)))
}

/// The entries of an object; none of `undefined` and `null`.
fn entries(object: &JsValue) -> Vec<(String, JsValue)> {
    if object.is_undefined() || object.is_null() {
        return vec![];
    }
    let pair = |pair: JsValue| {
        let pair = Array::from(&pair);
        (pair.get(0).as_string().unwrap_or_default(), pair.get(1))
    };
    Object::entries(&Object::from(object.clone())).iter().map(pair).collect()
}

/// Input files: name to text.
pub fn texts_of_files(files: &JsValue) -> Result<Files, Refused> {
    let text = |(name, value): (String, JsValue)| {
        let text = value.as_string().ok_or_else(|| wrong("an input file is a string"))?;
        Ok((name, text))
    };
    entries(files).into_iter().map(text).collect()
}

/// Files of a folder: path to bytes.
pub fn bytes_of_files(files: &JsValue) -> Result<Vec<(String, Bytes)>, Refused> {
    let bytes = |(path, value): (String, JsValue)| {
        let array = value.dyn_into::<Uint8Array>();
        let array = array.map_err(|_| wrong("a file of the folder is a Uint8Array"))?;
        Ok((path, Bytes::from(array.to_vec())))
    };
    entries(files).into_iter().map(bytes).collect()
}

/// Files of a folder, for JavaScript.
pub fn files_to_js<'a>(files: impl Iterator<Item = (&'a String, &'a Bytes)>) -> JsValue {
    let object = Object::new();
    for (path, bytes) in files {
        set(&object, path, &Uint8Array::from(&bytes[..]).into());
    }
    object.into()
}

/// Texts with few different values, for JavaScript.
pub fn texts_to_js(texts: &Texts) -> JsValue {
    let object = Object::new();
    let names: Array = texts.names.iter().map(|name| JsValue::from_str(name)).collect();
    set(&object, "names", &names.into());
    set(&object, "codes", &Uint32Array::from(&texts.codes[..]).into());
    object.into()
}

/// Calls `work` with what tells JavaScript how far a run is, ten times per second.
pub fn with_progress<T>(
    callback: Option<Function>,
    work: impl FnOnce(Progress<'_>) -> Result<T, Trouble>,
) -> Result<T, Refused> {
    alive()?;
    let mut last = f64::NEG_INFINITY;
    let mut thrown = None;
    let mut progress = |now: u64, completed: usize, flows: usize, hops: u64| {
        let Some(callback) = &callback else { return true };
        let time = js_sys::Date::now();
        if time - last < BETWEEN_CALLS {
            return true;
        }
        last = time;
        let numbers = [now as f64, completed as f64, flows as f64, hops as f64];
        let arguments: Array = numbers.into_iter().map(JsValue::from_f64).collect();
        match callback.apply(&JsValue::NULL, &arguments) {
            Ok(answer) => answer != JsValue::FALSE,
            Err(error) => {
                thrown = Some(error);
                false
            }
        }
    };
    let done = work(&mut progress);
    match thrown {
        Some(error) => Err(error),
        None => done.map_err(refused),
    }
}

/// A time that JavaScript gives, picoseconds: what is below zero or no number is zero.
pub fn time(ps: f64) -> u64 {
    ps as u64
}

/// Times that may not be known, picoseconds.
pub fn known(ps: Option<u64>) -> f64 {
    ps.map_or(f64::NAN, |ps| ps as f64)
}

/// An object that has been used up.
pub fn used_up(what: &str) -> Refused {
    refused(Trouble {
        kind: TroubleKind::Input,
        fault: Fault::new(format!("{what} has been used up")),
    })
}
