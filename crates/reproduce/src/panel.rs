//! `[[panel]]` of `claims.toml`: what a picture of a figure shows.

use super::template::Templated;
use incast_experiment::Fault;
use incast_experiment::fault::expected;
use incast_measure::measured::{Form, Measure, Of, Quantity, Wanted};
use incast_transport::Span;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One picture: a measure over the runs, or over time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// As in the paper: `(d) AFCT of all flows`.
    pub title: String,
    /// Title of the horizontal axis.
    pub x: String,
    /// Title of the vertical axis.
    pub y: String,
    /// What is drawn.
    pub measure: Measure,
    /// Runs and their places on the horizontal axis; the values of the axis if not given.
    #[serde(default)]
    pub at: BTreeMap<String, f64>,
    /// Lines by name, each its runs with their places; one line per transport if not given.
    #[serde(default)]
    pub lines: BTreeMap<String, BTreeMap<String, f64>>,
    /// Lines by name, each a recorded flow by its place in the list, for a picture over time.
    #[serde(default)]
    pub flows: BTreeMap<String, u32>,
    /// Transports that are drawn; all of the run if there are none.
    #[serde(default)]
    pub transports: Vec<String>,
    /// The run whose values over time are drawn, or of whose name the runs along the axis begin.
    pub run: Option<String>,
    /// Length of windows, for a picture over time.
    pub step: Option<Quantity<Span>>,
    /// Classes of flows by size with their places, for a picture of one run over the size of flows.
    #[serde(default)]
    pub sizes: Vec<OfSize>,
    /// How the measure is spread over one run, for a picture of that.
    pub form: Option<Form>,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether the vertical axis is.
    #[serde(default)]
    pub log_y: bool,
}

impl Templated for Panel {
    const HEAD: &'static str = "title";
    const PROSE: &'static [&'static str] = &["title", "x", "y"];
    const KEYS: &'static [&'static str] = &["x", "y", "measure", "run", "at"];
}

/// A class of flows by size, and its place on the horizontal axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfSize {
    /// The place.
    pub at: f64,
    /// Only flows of at least this size in bytes.
    pub smallest: Option<u64>,
    /// Only flows of at most this size in bytes.
    pub largest: Option<u64>,
}

/// A point of a picture.
pub struct Place {
    /// The run.
    pub run: String,
    /// Where on the horizontal axis.
    pub x: f64,
    /// Name of the flow that is drawn, of a picture of several.
    pub flow: Option<String>,
    /// What is drawn of the run.
    pub wanted: Wanted,
}

impl Panel {
    /// Refuses a picture without words, and flows that are not drawn over time.
    ///
    /// # Errors
    /// What is missing, or does not go together.
    pub fn check(&self) -> Result<(), Fault> {
        if self.title.is_empty() || self.x.is_empty() || self.y.is_empty() {
            return Err(Fault::new("a panel needs title, x and y"));
        }
        if self.measure.after.is_some() && self.step.is_some() {
            return Err(Fault::new("a panel over time begins at an instant: no `after`"));
        }
        let rate = self.measure.kind.of() == Of::Flow && self.measure.flow.is_none();
        let alone = self.at.is_empty()
            && self.lines.is_empty()
            && self.sizes.is_empty()
            && self.form.is_none();
        if !self.flows.is_empty() && (self.step.is_none() || !rate || !alone) {
            let expected = expected(
                "only with `step` and the measure `flow_gbps` without `flow`, and without at, lines, \
                            sizes and form",
            );
            let names: Vec<&str> = self.flows.keys().map(String::as_str).collect();
            return Err(Fault::value("panel.flows", names.join(", "), expected));
        }
        let Some(form) = self.form else { return Ok(()) };
        let key = || format!("panel.measure of form {}", form.name());
        form.check(&self.measure).map_err(|why| Fault::value(key(), self.measure.id(), why))
    }

    /// Whether a transport is drawn.
    pub fn draws(&self, transport: &str) -> bool {
        self.transports.is_empty() || self.transports.iter().any(|name| name == transport)
    }

    /// What is drawn of each run.
    pub(super) fn wanted(&self) -> Wanted {
        match (self.form, self.step) {
            (Some(form), _) => Wanted::Spread(self.measure.clone(), form),
            (None, Some(step)) => Wanted::Series(self.measure.clone(), step),
            (None, None) => Wanted::Number(self.measure.clone()),
        }
    }

    /// Name of the line to which a place belongs, drawn of one transport, or of one of several.
    pub fn line(&self, place: &Place, transport: &str, several: bool) -> String {
        match &place.flow {
            Some(flow) if several => return format!("{transport}: {flow}"),
            Some(flow) => return flow.clone(),
            None => {}
        }
        let named = self.lines.iter().find(|(_, runs)| runs.contains_key(&place.run));
        named.map_or(transport, |(name, _)| name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::expected::Experiment;
    use super::*;

    fn panel(more: &str) -> Panel {
        let text = format!("title = \"t\"\nx = \"x\"\ny = \"y\"\n{more}");
        toml::from_str(&text).unwrap()
    }

    const FLOWS: &str = "step = \"5ms\"\nflows = { first = 0, second = 3 }\n";

    /// One line per flow, and per flow and transport where several transports are drawn.
    #[test]
    fn each_flow_has_its_line() {
        let experiment = Experiment::all().unwrap().into_iter().find(|one| one.name == "decn/fig9");
        let own = panel(&format!("measure.kind = \"flow_gbps\"\n{FLOWS}"));
        let places = experiment.unwrap().places(&own);
        let ids: Vec<String> = places.iter().map(|place| place.wanted.id()).collect();
        assert_eq!(ids, ["flow_gbps flow=0 step=5ms", "flow_gbps flow=3 step=5ms"]);
        let lines = |several| -> Vec<String> {
            places.iter().map(|one| own.line(one, "xcp", several)).collect()
        };
        assert_eq!(lines(false), ["first", "second"]);
        assert_eq!(lines(true), ["xcp: first", "xcp: second"]);
        assert!(own.draws("xcp"));
        let one = Panel { transports: vec!["decn".into()], ..own };
        assert!(one.draws("decn") && !one.draws("xcp"));
    }

    #[test]
    fn flows_are_drawn_over_time_alone() {
        let said = |more: &str| panel(more).check().map_err(|fault| fault.to_string());
        assert_eq!(said(&format!("measure.kind = \"flow_gbps\"\n{FLOWS}")), Ok(()));
        for wrong in [
            "measure.kind = \"flow_gbps\"\nflows = { first = 0 }".to_string(),
            format!("measure.kind = \"jain\"\n{FLOWS}"),
            format!("measure = {{ kind = \"flow_gbps\", flow = 1 }}\n{FLOWS}"),
            format!("measure.kind = \"flow_gbps\"\n{FLOWS}at = {{ run = 1 }}"),
        ] {
            let fault = said(&wrong).unwrap_err();
            assert!(fault.contains("panel.flows") && fault.contains("first"), "{fault}");
        }
    }
}
