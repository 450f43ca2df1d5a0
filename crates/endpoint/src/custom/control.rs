//! What a custom control is made of.

use crate::sender::{Ack, Loss, Outbound, Progress};
use incast_transport::{FabricSite, Flow, HostSite, ParameterDoc, Rate, Time};
use std::sync::Arc;

/// What a flow may do until its control is called again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Payload bytes that may be in flight; of less than a packet, one packet. 0 stops the flow.
    pub window: u64,
    /// The rate, in charged bytes and more than 0, at which packets are spaced; `None`: as fast as
    /// the NIC.
    pub pacing: Option<Rate>,
    /// When to call [`on_timer`](CustomControl::on_timer), later than now; [`Time::NEVER`]: not.
    pub timer: Time,
}

impl Limits {
    /// A window, neither paced nor timed.
    pub fn window(window: u64) -> Limits {
        Limits { window, pacing: None, timer: Time::NEVER }
    }
}

/// The congestion control of one flow. Every call returns what holds until the next one.
///
/// Calls about one acknowledgement come in this order: `on_loss` (if it reveals a loss), then
/// `on_ack`.
///
/// # Errors
/// Why the control cannot go on, in words. The run then ends, and says so with the flow and the
/// time; the control is not called again.
pub trait CustomControl: Send {
    /// An ACK arrived, perhaps a duplicate or one during recovery.
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) -> Result<Limits, String>;

    /// A loss was found: at most once per window for [`Loss::Fast`].
    fn on_loss(&mut self, loss: Loss, progress: &Progress) -> Result<Limits, String>;

    /// The time of the last [`Limits::timer`] has come.
    fn on_timer(&mut self, progress: &Progress) -> Result<Limits, String>;

    /// A data packet leaves. `None`: what holds does not change.
    fn on_send(
        &mut self,
        _packet: &Outbound,
        _progress: &Progress,
    ) -> Result<Option<Limits>, String> {
        Ok(None)
    }
}

/// A flow that opens.
pub struct Opening<'a> {
    /// The instant.
    pub now: Time,
    /// The flow.
    pub flow: &'a Flow,
    /// Its source: rate of the link, BDP, base RTT.
    pub site: &'a HostSite,
    /// Payload bytes of a full segment.
    pub segment: u64,
    /// Flows that this host is sending already.
    pub others: usize,
}

/// A control law with its parameters: makes the control of each flow.
pub trait Flows: Send + Sync {
    /// The control of a flow that opens, and its first limits. Called in any of the world's
    /// threads; what it returns may depend on nothing but the flow, its host and the parameters.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn open(&self, opening: &Opening<'_>) -> Result<(Box<dyn CustomControl>, Limits), String>;
}

/// An invalid value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The parameter.
    pub key: String,
    /// The problem and the accepted values.
    pub problem: String,
}

/// A control law before its parameters are known.
pub trait Law: Send + Sync {
    /// Takes its parameters, each once and in the order of their declaration, and the fabric.
    ///
    /// # Errors
    /// A value that is invalid in general or in this fabric.
    fn configure(
        &self,
        values: &[(&'static str, String)],
        fabric: &Arc<FabricSite>,
    ) -> Result<Arc<dyn Flows>, BadValue>;
}

/// A law without parameters: `open` is [`Flows::open`].
pub fn fixed_law<F>(open: F) -> Arc<dyn Law>
where
    F: Fn(&Opening<'_>) -> Result<(Box<dyn CustomControl>, Limits), String>,
    F: Send + Sync + 'static,
{
    struct Open<F>(F);
    impl<F> Flows for Open<F>
    where
        F: Fn(&Opening<'_>) -> Result<(Box<dyn CustomControl>, Limits), String> + Send + Sync,
    {
        fn open(&self, opening: &Opening<'_>) -> Result<(Box<dyn CustomControl>, Limits), String> {
            (self.0)(opening)
        }
    }
    struct Fixed(Arc<dyn Flows>);
    impl Law for Fixed {
        fn configure(
            &self,
            _values: &[(&'static str, String)],
            _fabric: &Arc<FabricSite>,
        ) -> Result<Arc<dyn Flows>, BadValue> {
            Ok(self.0.clone())
        }
    }
    Arc::new(Fixed(Arc::new(Open(open))))
}

/// A parameter of a custom control. Its law reads and checks the values.
#[derive(Clone, Debug)]
pub struct CustomParameter {
    /// Key in a scenario.
    pub name: &'static str,
    /// Default, in the syntax of a scenario.
    pub default: String,
    /// Accepted values.
    pub accepts: String,
}

impl CustomParameter {
    pub(super) fn doc(&self) -> ParameterDoc {
        ParameterDoc {
            name: self.name,
            default: self.default.clone(),
            accepts: self.accepts.clone().into(),
            source: "the control's own",
            doc: "A parameter of the custom control.",
        }
    }
}
