//! Values of Python as values of a scenario.

use crate::error;
use incast_experiment::Fault;
use incast_experiment::fault::expected;
use incast_experiment::scenario::{Node, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyMapping, PySequence, PyString};

/// Deepest nesting of tables and lists that is read.
const DEEPEST: usize = 32;

/// A value as one of a scenario; `None` where it stands for "left out". `key` is for messages.
pub fn node(value: &Bound<'_, PyAny>, key: &str) -> PyResult<Option<Node>> {
    within(value, key, DEEPEST)
}

fn within(value: &Bound<'_, PyAny>, key: &str, depth: usize) -> PyResult<Option<Node>> {
    if value.is_none() {
        return Ok(None);
    }
    let below = depth.checked_sub(1).ok_or_else(|| {
        let fault = Fault::at(key, format!("nested more than {DEEPEST} times"));
        error::scenario(value.py(), &fault)
    })?;
    if value.is_instance_of::<PyBool>() {
        return Ok(Some(Value::Flag(value.extract()?).into()));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Some(Node::text(value.extract::<String>()?)));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Some(whole(value, key)?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Some(Value::Number(value.extract()?).into()));
    }
    // Arrays, columns and numbers of other libraries.
    for name in ["tolist", "to_list"] {
        if let Ok(method) = value.getattr(name) {
            let plain = within(&method.call0()?, key, below)?;
            return Ok(Some(plain.unwrap_or_else(|| Node::text("None"))));
        }
    }
    // A section of a scenario gives its keys as a dictionary.
    if let Ok(method) = value.getattr("to_dict") {
        return within(&method.call0()?, key, below);
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        return table(mapping, key, below).map(Some);
    }
    if let Ok(method) = value.getattr("__fspath__") {
        return within(&method.call0()?, key, below);
    }
    if let Ok(list) = value.cast::<PySequence>() {
        return self::list(&list.try_iter()?.collect::<PyResult<Vec<_>>>()?, key, below).map(Some);
    }
    number(value, key).map(Some)
}

fn whole(value: &Bound<'_, PyAny>, key: &str) -> PyResult<Node> {
    // What no key can hold is refused where the key is read, with its accepted range.
    match value.extract::<i128>() {
        Ok(number) => Ok(Value::Whole(number).into()),
        Err(_) => {
            let fault = Fault::value(key, value.str()?, "too large");
            Err(error::scenario(value.py(), &fault))
        }
    }
}

fn table(mapping: &Bound<'_, PyMapping>, key: &str, below: usize) -> PyResult<Node> {
    let mut entries = vec![];
    for entry in mapping.items()?.iter() {
        let (name, value) = entry.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let name = name.extract::<String>().map_err(|_| {
            let fault = Fault::at(key, format!("the name of a key is text, not {name}"));
            error::scenario(name.py(), &fault)
        })?;
        let path = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        if let Some(node) = within(&value, &path, below)? {
            entries.push((name, node));
        }
    }
    Ok(Value::Table(entries).into())
}

fn list(values: &[Bound<'_, PyAny>], key: &str, below: usize) -> PyResult<Node> {
    let one = |(at, value): (usize, &Bound<'_, PyAny>)| {
        let path = format!("{key}.{at}");
        within(value, &path, below)?.ok_or_else(|| {
            error::scenario(value.py(), &Fault::value(&path, "None", expected("a value")))
        })
    };
    let all: PyResult<Vec<Node>> = values.iter().enumerate().map(one).collect();
    Ok(Value::List(all?).into())
}

/// What is a number, if it says so.
fn number(value: &Bound<'_, PyAny>, key: &str) -> PyResult<Node> {
    if value.hasattr("__index__")? {
        return whole(&value.call_method0("__index__")?, key);
    }
    if value.hasattr("__float__")? {
        return Ok(Value::Number(value.call_method0("__float__")?.extract()?).into());
    }
    let kind = value.get_type().name()?.to_string();
    let problem = expected("text, a number, True, False, a list or a dictionary");
    Err(error::scenario(value.py(), &Fault::value(key, kind, problem)))
}

/// Flags by their names in Python: `no_l2_overhead` is `--no-l2-overhead`.
pub fn flags(given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Node)>> {
    let mut all = vec![];
    for (name, value) in given {
        let name: String = name.extract()?;
        if let Some(node) = node(&value, &name)? {
            all.push((format!("--{}", name.replace('_', "-")), node));
        }
    }
    Ok(all)
}
