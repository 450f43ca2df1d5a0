//! Congestion controls written in Python: a class per control, an object per flow.

mod ack;
mod attached;
mod flows;
mod raised;

use crate::control::flows::PythonLaw;
use crate::control::raised::Raised;
use incast_endpoint::custom::CustomParameter;
use incast_experiment::custom::{self, Registered, register};
use incast_transport::TransportKind;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

pub use ack::Ack;

/// A registered control, until it is closed.
#[pyclass(frozen, module = "incast._incast")]
pub struct Registration {
    registered: Mutex<Option<Registered>>,
    raised: Arc<Raised>,
}

#[pymethods]
impl Registration {
    /// The name in scenarios is free again.
    fn close(&self) {
        drop(self.registered.lock().expect("no panic").take());
    }

    /// The exception of which `text` tells, if this control raised one.
    fn cause(&self, text: &str) -> Option<Py<PyAny>> {
        self.raised.find(text)
    }
}

/// Registers the class `law` as a control. `sender` are settings of the common sender, `parameters`
/// are name, default and type of its own.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of one call")]
#[pyo3(signature = (law, *, name, version, ports_like, ecn, sender, parameters, sends))]
pub fn register_control(
    py: Python<'_>,
    law: Py<PyAny>,
    name: String,
    version: String,
    ports_like: String,
    ecn: bool,
    sender: Vec<(String, String)>,
    parameters: Vec<(String, String, String)>,
    sends: bool,
) -> PyResult<Registration> {
    let raised = Arc::new(Raised::default());
    let parameters = parameters.into_iter().map(|(name, default, accepts)| CustomParameter {
        name: custom::lasting(&name),
        default,
        accepts,
    });
    let control = custom::Control {
        name,
        version,
        ports_like,
        ecn,
        kind: TransportKind::Window,
        sender: sender.into_iter().map(|(key, value)| (key, value.into())).collect(),
        parameters: parameters.collect(),
        law: Arc::new(PythonLaw { class: law, sends, raised: raised.clone() }),
    };
    // What a registration before this one holds may be Python's.
    let registered = py.detach(|| register(control));
    let registered = registered.map_err(|fault| {
        let message = (fault.to_string(), fault.key().map(str::to_string));
        pyo3::exceptions::PyValueError::new_err(message)
    })?;
    Ok(Registration { registered: Mutex::new(Some(registered)), raised })
}
