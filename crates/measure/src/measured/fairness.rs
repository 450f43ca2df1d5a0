//! Measures of fairness.

use super::chosen::Chosen;
use crate::Run;
use crate::fairness::{TOLERANCE, Window, converged};
use crate::statistics::mean;
use incast_units::Time;

impl<K> Chosen<K> {
    /// The start of the window, and the stretches that it is cut into.
    fn stretches(&self, run: &Run) -> (Time, Vec<Window>) {
        let (from, to) = self.window(run);
        // Of at most the run: an interval whose middle lies outside does not count.
        let to = to.min(run.record.ended);
        let length = self.window.map_or(to.since(from), |window| window.0);
        (from, Window::cut(run, from, to, length))
    }

    /// The mean over stretches of a number.
    fn over(&self, run: &Run, number: impl Fn(&Window) -> Option<f64>) -> Option<f64> {
        mean(&self.stretches(run).1.iter().filter_map(number).collect::<Vec<f64>>())
    }

    /// The place of a transport in the run.
    fn place(run: &Run, name: &Option<String>) -> Option<usize> {
        let name = name.as_ref()?;
        run.transports.iter().position(|known| known == name)
    }

    /// Share of the payload delivered that `carrier` delivered.
    pub(crate) fn share(&self, run: &Run) -> Option<f64> {
        let carrier = Self::place(run, &self.carrier);
        self.over(run, |window| window.share(run, carrier?))
    }

    /// Mean rate of a recorded flow of `carrier` over that of one of `against`.
    pub(crate) fn rate_ratio(&self, run: &Run) -> Option<f64> {
        let rate = |name: &Option<String>| {
            let at = Self::place(run, name)?;
            self.over(run, |window| mean(&window.rates(run, Some(at))))
        };
        let (own, other) = (rate(&self.carrier)?, rate(&self.against)?);
        Some(if other > 0.0 { own / other } else { f64::INFINITY })
    }

    /// Jain's index over recorded flows, of `carrier` or all; with a `window`, the mean over windows.
    pub(crate) fn jain(&self, run: &Run) -> Option<f64> {
        let carrier = Self::place(run, &self.carrier);
        self.over(run, |window| window.jain(run, carrier))
    }

    /// Milliseconds from `from` to the end of the first `window` in which all recorded flows have
    /// equal rates, or each transport's have on average if `against` is given; infinite if that
    /// never comes until `to`.
    pub(crate) fn convergence_ms(&self, run: &Run) -> Option<f64> {
        let (from, windows) = self.stretches(run);
        let carrier = Self::place(run, &self.carrier);
        let rates = |window: &Window| match &self.against {
            Some(_) => window.rates_of_transports(run),
            None => window.rates(run, carrier),
        };
        let tolerance = self.tolerance.unwrap_or(TOLERANCE);
        let end = converged(run, &windows, rates, tolerance, self.lasting);
        let lasts = end.map_or(f64::INFINITY, |end| end.since(from).0 as f64 / 1e9);
        (!windows.is_empty()).then_some(lasts)
    }
}
