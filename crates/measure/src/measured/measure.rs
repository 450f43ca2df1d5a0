//! Numbers that claims are about.

use super::chosen::{Chosen, Quantity, fits};
use super::{ClaimedNumber, Of};
use crate::Run;
use incast_units::{Span, Time};

/// What is measured in one run.
pub type Measure = Chosen<ClaimedNumber>;

impl Measure {
    /// A measure of the whole run.
    pub fn new(kind: ClaimedNumber) -> Measure {
        Measure {
            kind,
            port: None,
            from: None,
            to: None,
            after: None,
            half: false,
            flow: None,
            class: None,
            largest: None,
            smallest: None,
            carrier: None,
            against: None,
            window: None,
            tolerance: None,
            lasting: false,
        }
    }

    /// Its name in tables: the kind and what restricts it, without quotation marks.
    pub fn id(&self) -> String {
        let mut id = self.kind.name().to_string();
        let mut add = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                id += &format!(" {key}={value}");
            }
        };
        let span = |span: Option<Quantity<Span>>| span.map(|span| span.0.to_string());
        add("port", self.port.clone());
        add("from", span(self.from));
        add("to", span(self.to));
        add("after", self.after.map(|flow| flow.to_string()));
        add("half", self.half.then(|| "true".to_string()));
        add("flow", self.flow.map(|flow| flow.to_string()));
        add("class", self.class.clone());
        add("largest", self.largest.map(|size| size.to_string()));
        add("smallest", self.smallest.map(|size| size.to_string()));
        add("carrier", self.carrier.clone());
        add("against", self.against.clone());
        add("window", span(self.window));
        add("tolerance", self.tolerance.map(|share| share.to_string()));
        add("lasting", self.lasting.then(|| "true".to_string()));
        id
    }

    /// The same between other instants.
    pub fn between(&self, from: Time, to: Time) -> Measure {
        let span = |at: Time| Some(Quantity(Span(at.0)));
        Measure { from: span(from), to: span(to), after: None, half: false, ..self.clone() }
    }

    /// The number, if the run has it.
    pub fn of(&self, run: &Run) -> Option<f64> {
        self.kind.read(self, run)
    }

    /// What the measure looks at in each chosen flow that completed, in order of their start, with the number of
    /// the flow.
    pub fn samples(&self, run: &Run) -> Vec<(usize, f64)> {
        let value = |flow: usize| Some((flow, self.kind.of_flow(run, flow)?));
        self.flows(run).into_iter().filter_map(value).collect()
    }

    /// The values of [`Measure::samples`].
    pub(super) fn values(&self, run: &Run) -> Vec<f64> {
        self.samples(run).into_iter().map(|(_, value)| value).collect()
    }

    /// Whether the measure can be taken in runs of a plan with these ports, this many flows and
    /// these transports.
    pub fn check(&self, ports: &[String], flows: usize, carriers: &[&str]) -> Result<(), String> {
        for wanted in self.port.iter().flat_map(|port| port.split(',')) {
            if !ports.iter().any(|known| fits(wanted, known)) {
                return Err(format!("there is no port `{wanted}`"));
            }
        }
        let (name, of) = (self.kind.name(), self.kind.of());
        if let Some(missing) = self.kind.needs().iter().find(|key| !self.gives(key)) {
            return Err(format!("{name} needs `{missing}`"));
        }
        if let Some(wanted) = self.captures().iter().find(|wanted| !ports.contains(wanted)) {
            return Err(format!("marks are read at single ports, and `{wanted}` is none"));
        }
        for name in self.carrier.iter().chain(&self.against) {
            if !carriers.contains(&name.as_str()) {
                return Err(format!("no flow is carried by `{name}`"));
            }
        }
        if self.half && (self.from.is_some() || self.to.is_some() || self.after.is_some()) {
            return Err("`half` is a window of its own: no `from`, no `to`, no `after`".into());
        }
        self.check_after(flows)?;
        if of == Of::PortsOverRun && (self.half || self.from.is_some() || self.to.is_some()) {
            return Err(format!("{name} is over the run: no `from`, `to` or `half`"));
        }
        match self.flow {
            Some(flow) if flow as usize >= flows => Err(format!("there is no flow {flow}")),
            _ => Ok(()),
        }
    }

    /// Whether it says this of what it is of.
    fn gives(&self, key: &str) -> bool {
        match key {
            "port" => self.port.is_some(),
            "flow" => self.flow.is_some(),
            "carrier" => self.carrier.is_some(),
            "against" => self.against.is_some(),
            "window" => self.window.is_some(),
            other => unreachable!("a measure has no key {other}"),
        }
    }

    /// Refuses `after` with a flow that the run has not, or a number that has no window.
    fn check_after(&self, flows: usize) -> Result<(), String> {
        let Some(flow) = self.after else { return Ok(()) };
        if flow as usize >= flows {
            return Err(format!("`after`: there is no flow {flow}"));
        }
        match self.kind.of() {
            Of::Ports | Of::Flow => Ok(()),
            Of::Fabric if self.port.is_some() => Ok(()),
            _ => Err(format!("`after` needs a number with a window, and {:?} has none", self.kind)),
        }
    }

    /// Packets whose transmission `port` started in each of `count` intervals, the first one that in which
    /// `from` lies; `None` if the run has fewer.
    pub fn packets(&self, run: &Run, count: usize) -> Option<Vec<u32>> {
        let &[port] = &self.ports_of(run)[..] else { return None };
        let from = self.window(run).0.since(run.record.series_start);
        let first = (from.0 / run.record.interval.0.max(1)) as usize;
        let all = first..first + count;
        (all.end <= run.intervals()).then(|| all.map(|i| run.bin(port, i).sent_packets).collect())
    }
}
