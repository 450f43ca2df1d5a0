//! Transports and ports that let no time pass, at nodes that live on.
//!
//! In a run under a virtual clock that is a defect that ends the run. A node of a real network serves other flows
//! too: there the flow that does it is given up, and what it did is said once.

#[cfg(test)]
mod tests;

use incast_transport::{FlowId, Time};
use incast_world::Still;
use std::fmt;

/// Most that are kept until somebody takes them.
const KEPT: usize = 256;

/// A flow that was given up, or a port whose timers were stopped, because it let no time pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// When.
    pub at: Time,
    /// The flow, if one was found whose end helped.
    pub flow: Option<FlowId>,
    /// What was seen.
    pub why: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trouble { at, flow, why } = self;
        match flow {
            Some(FlowId(flow)) => write!(
                f,
                "flow {flow} was given up at {at}: its transport lets no time pass ({why}); other flows go on"
            ),
            None => write!(f, "{why}, at {at}: its timers are stopped; other flows go on"),
        }
    }
}

/// Of the nodes of a testbed.
#[derive(Default)]
pub(crate) struct Troubles {
    /// Whether nodes live on.
    pub live: bool,
    /// A host at which no time passes now.
    pub still: Option<Still>,
    noted: Vec<Trouble>,
}

impl Troubles {
    /// Of nodes that live on, or of a run that ends.
    pub fn of(live: bool) -> Troubles {
        Troubles { live, ..Troubles::default() }
    }

    pub fn note(&mut self, trouble: Trouble) {
        let known = self.noted.iter().any(|one| one.flow.is_none() && one.why == trouble.why);
        if self.noted.len() < KEPT && !known {
            self.noted.push(trouble);
        }
    }

    /// Moves what was noted since the last call.
    pub fn take(&mut self) -> Vec<Trouble> {
        std::mem::take(&mut self.noted)
    }
}
