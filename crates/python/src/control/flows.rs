//! From the calls of the common sender to those of a Python object.

use super::Ack;
use super::attached::attached;
use super::raised::Raised;
use incast_endpoint::custom::{BadValue, CustomControl, Flows, Law, Limits, Opening};
use incast_endpoint::sender::{self, Loss, Outbound, Progress};
use incast_transport::{FabricSite, Rate, Time};
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// What a class is called with when it cannot be any more.
const GONE: &str = "the Python interpreter is shutting down";

/// A class with default parameters.
pub struct PythonLaw {
    pub class: Py<PyAny>,
    /// Whether it has an `on_send`.
    pub sends: bool,
    pub raised: Arc<Raised>,
}

impl Law for PythonLaw {
    fn configure(
        &self,
        values: &[(&'static str, String)],
        _fabric: &Arc<FabricSite>,
    ) -> Result<Arc<dyn Flows>, BadValue> {
        let unknown = |problem: String| BadValue { key: "parameters".into(), problem };
        let made = attached(|py| {
            let values: Vec<(&str, &str)> =
                values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let made = self.class.call_method1(py, intern!(py, "_configured"), (values,));
            made.map_err(|error| {
                let text = |name: &str| {
                    error.value(py).getattr(name).and_then(|value| value.extract::<String>())
                };
                match (text("key"), text("problem")) {
                    (Ok(key), Ok(problem)) => BadValue { key, problem },
                    _ => unknown(self.raised.keep(py, error)),
                }
            })
        });
        let class = made.unwrap_or_else(|| Err(unknown(GONE.into())))?;
        Ok(Arc::new(PythonFlows { class, sends: self.sends, raised: self.raised.clone() }))
    }
}

/// A class with its parameters.
struct PythonFlows {
    class: Py<PyAny>,
    sends: bool,
    raised: Arc<Raised>,
}

impl Flows for PythonFlows {
    fn open(&self, opening: &Opening<'_>) -> Result<(Box<dyn CustomControl>, Limits), String> {
        let made =
            attached(|py| self.made(py, opening).map_err(|error| self.raised.keep(py, error)));
        let control = made.unwrap_or_else(|| Err(GONE.into()))?;
        let limits = attached(|py| control.limits(py));
        let limits = limits.unwrap_or_else(|| Err(GONE.into()))?;
        Ok((Box::new(control), limits))
    }
}

impl PythonFlows {
    fn made(&self, py: Python<'_>, opening: &Opening<'_>) -> PyResult<PythonControl> {
        let Opening { now, flow, site, segment, .. } = *opening;
        let facts = (
            (flow.id.0, flow.src.0, flow.dst.0, flow.size, segment),
            (site.rate.0, site.bdp_packets as u64 * segment, site.fabric.base_rtt.as_ns_f64()),
            now.as_ns_f64(),
        );
        let object = self.class.call_method1(py, intern!(py, "_opened"), facts)?.into_bound(py);
        let progress = Progress {
            now,
            acknowledged: 0,
            sent: 0,
            size: flow.size,
            pipe: 0,
            smoothed_rtt: None,
            recovering: false,
        };
        let send = intern!(py, "on_send");
        let sends = if self.sends { Some(object.getattr(send)?.unbind()) } else { None };
        Ok(PythonControl {
            on_ack: object.getattr(intern!(py, "on_ack"))?.unbind(),
            on_send: sends,
            ack: Py::new(py, Ack::of(progress))?,
            object: object.unbind(),
            raised: self.raised.clone(),
        })
    }
}

/// A flow's object.
struct PythonControl {
    object: Py<PyAny>,
    on_ack: Py<PyAny>,
    on_send: Option<Py<PyAny>>,
    /// What the object is told with: one object for all calls.
    ack: Py<Ack>,
    raised: Arc<Raised>,
}

impl PythonControl {
    /// Makes a call that is told about by `ack`, then reads the limits.
    fn call(
        &mut self,
        set: impl FnOnce(&mut Ack),
        call: impl FnOnce(&PythonControl, Python<'_>) -> PyResult<Py<PyAny>>,
    ) -> Result<Limits, String> {
        let done = attached(|py| {
            set(&mut self.ack.borrow_mut(py));
            call(self, py).map_err(|error| self.raised.keep(py, error))?;
            self.limits(py)
        });
        done.unwrap_or_else(|| Err(GONE.into()))
    }

    /// Its attributes `window`, `rate` and `timer_ns`.
    fn limits(&self, py: Python<'_>) -> Result<Limits, String> {
        let object = self.object.bind(py);
        let window = object.getattr(intern!(py, "window"));
        let window = number(py, "window", "bytes, 0 or more", window)?;
        let Some(window) = window.filter(|window| *window >= 0.0) else {
            return Err(refused("window", &shown(window), "bytes, 0 or more"));
        };
        let expected = "bits per second, 1 or more, or None";
        let rate = number(py, "rate", expected, object.getattr(intern!(py, "rate")))?;
        if let Some(rate) = rate.filter(|rate| !rate.is_finite() || *rate < 1.0) {
            return Err(refused("rate", &rate.to_string(), expected));
        }
        let expected = "nanoseconds of simulated time, or None";
        let timer = number(py, "timer_ns", expected, object.getattr(intern!(py, "timer_ns")))?;
        if let Some(timer) = timer.filter(|timer| !timer.is_finite() || *timer < 0.0) {
            return Err(refused("timer_ns", &timer.to_string(), expected));
        }
        Ok(Limits {
            window: window as u64,
            pacing: rate.map(|rate| Rate(rate as u64)),
            timer: timer.map_or(Time::NEVER, |ns| Time((ns * 1_000.0).round() as u64)),
        })
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or("None".into(), |value| value.to_string())
}

fn refused(name: &str, value: &str, expected: &str) -> String {
    format!("`{name}` is {value}; expected {expected}")
}

/// A number that is not NaN, or None.
fn number(
    py: Python<'_>,
    name: &str,
    expected: &str,
    value: PyResult<Bound<'_, PyAny>>,
) -> Result<Option<f64>, String> {
    let value = value.map_err(|error| format!("`{name}` cannot be read: {}", error.value(py)))?;
    if value.is_none() {
        return Ok(None);
    }
    let read = value.extract::<f64>().ok().filter(|number| !number.is_nan());
    read.map(Some).ok_or_else(|| {
        let text = value.repr().map_or("unreadable".into(), |text| text.to_string());
        refused(name, &text, expected)
    })
}

impl CustomControl for PythonControl {
    fn on_ack(&mut self, ack: &sender::Ack<'_>, progress: &Progress) -> Result<Limits, String> {
        let set = |told: &mut Ack| told.set(ack, progress);
        self.call(set, |own, py| own.on_ack.call1(py, (&own.ack,)))
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) -> Result<Limits, String> {
        let set = |told: &mut Ack| *told = Ack::of(*progress);
        self.call(set, |own, py| {
            let timeout = loss == Loss::Timeout;
            own.object.call_method1(py, intern!(py, "on_loss"), (&own.ack, timeout))
        })
    }

    fn on_timer(&mut self, progress: &Progress) -> Result<Limits, String> {
        let set = |told: &mut Ack| *told = Ack::of(*progress);
        self.call(set, |own, py| {
            own.object.setattr(py, intern!(py, "timer_ns"), py.None())?;
            own.object.call_method1(py, intern!(py, "on_timer"), (&own.ack,))
        })
    }

    fn on_send(
        &mut self,
        packet: &Outbound,
        progress: &Progress,
    ) -> Result<Option<Limits>, String> {
        if self.on_send.is_none() {
            return Ok(None);
        }
        let set = |told: &mut Ack| {
            *told = Ack::of(*progress);
            (told.payload, told.retransmit) = (packet.payload as u64, packet.retransmit);
        };
        let limits = self.call(set, |own, py| {
            let on_send = own.on_send.as_ref().expect("it has one");
            on_send.call1(py, (&own.ack,))
        });
        limits.map(Some)
    }
}
