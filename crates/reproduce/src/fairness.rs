//! Measures of fairness.

use super::Measure;
use super::kind::Kind;
use incast_measure::Run;
use incast_measure::fairness::{TOLERANCE, Window, converged};
use incast_measure::statistics::mean;
use incast_transport::Span;

impl Measure {
    /// A number of [`Kind::Share`], [`Kind::RateRatio`], [`Kind::Jain`] or [`Kind::ConvergenceMs`].
    pub(super) fn fairness(&self, run: &Run) -> Option<f64> {
        let (from, to) = self.window(run);
        // Of at most the run: an interval whose middle lies outside does not count.
        let to = to.min(run.record.ended);
        let length = self.window.map_or(to.since(from), |window| window.0);
        let windows = Window::cut(run, from, to, length);
        let place = |name: &Option<String>| {
            let name = name.as_ref()?;
            run.transports.iter().position(|known| known == name)
        };
        let carrier = place(&self.carrier);
        let over_windows = |number: &dyn Fn(&Window) -> Option<f64>| {
            mean(&windows.iter().filter_map(number).collect::<Vec<f64>>())
        };
        match self.kind {
            Kind::Share => over_windows(&|window| window.share(run, carrier?)),
            Kind::RateRatio => {
                let against = place(&self.against)?;
                let rate = |at: usize| over_windows(&|window| mean(&window.rates(run, Some(at))));
                let (own, other) = (rate(carrier?)?, rate(against)?);
                Some(if other > 0.0 { own / other } else { f64::INFINITY })
            }
            Kind::Jain => over_windows(&|window| window.jain(run, carrier)),
            _ => {
                let tolerance = self.tolerance.unwrap_or(TOLERANCE);
                let rates = |window: &Window| match &self.against {
                    Some(_) => window.rates_of_transports(run),
                    None => window.rates(run, carrier),
                };
                let end = converged(run, &windows, rates, tolerance, self.lasting);
                (!windows.is_empty())
                    .then(|| end.map_or(f64::INFINITY, |end| milliseconds(end.since(from))))
            }
        }
    }
}

fn milliseconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}
