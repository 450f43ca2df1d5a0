//! A question about a results folder and its answer, for a command line and for other languages.

use crate::iteration::view;
use crate::{Difference, Explanation, Iteration, Results, Selection, Which, console, page};
use incast_experiment::fault::{expected, wrong};
use incast_experiment::{Fault, Monitor};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Which flows of which runs are to be explained.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Results folder of a run or a comparison; may be left out beside two folders in `between`.
    pub folder: Option<PathBuf>,
    /// The flows.
    pub selection: Selection,
    /// Two transports of the folder, or two results folders: the difference of a flow is explained.
    pub between: Option<[String; 2]>,
    /// An iteration is explained instead of flows: of what, and which one, from 0.
    pub iteration: Option<(Which, u32)>,
    /// Threads of the repeated runs; as the run had if not given.
    pub threads: Option<usize>,
}

/// What a question is answered with.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// Explanations, the slowest flow first.
    Flows(Vec<Explanation>),
    /// The difference of one flow.
    Difference(Box<Difference>),
    /// An iteration of a collective.
    Iteration(Box<Iteration>),
}

impl Answer {
    /// As text.
    pub fn text(&self) -> String {
        match self {
            Answer::Flows(all) => {
                let texts: Vec<String> = all.iter().map(console::text).collect();
                texts.join("\n").trim_end().to_string()
            }
            Answer::Difference(difference) => {
                let side =
                    |one: &Explanation| format!("\n-- {} --\n{}", one.run, console::text(one));
                let sides = [&difference.a, &difference.b].map(side);
                format!("{}{}", difference.text(), sides.concat()).trim_end().to_string()
            }
            Answer::Iteration(iteration) => view::text(iteration),
        }
    }

    /// As data: a list of explanations, a difference, or an iteration.
    pub fn json(&self) -> Result<String, Fault> {
        serde_json::to_string_pretty(self).map_err(Fault::new)
    }

    /// As a page of its own.
    pub fn html(&self) -> String {
        match self {
            Answer::Flows(all) => page::html(all),
            Answer::Difference(difference) => page::html_of_difference(difference),
            Answer::Iteration(iteration) => view::html(iteration),
        }
    }
}

impl Question {
    /// Repeats the runs and answers; `None` if the monitor was stopped.
    ///
    /// # Errors
    /// There are no such results or flows, or the run cannot be repeated.
    pub fn answer(&self, monitor: &Monitor) -> Result<Option<Answer>, Fault> {
        let answer = match &self.between {
            Some(between) => Answer::Difference(Box::new(self.difference(between, monitor)?)),
            None => {
                let Some(folder) = &self.folder else {
                    let problem = expected("a results folder, such as results/0001-demo");
                    return Err(Fault::new(problem));
                };
                let results = Results::open(folder, self.selection.transport.as_deref())?;
                if let Some((which, iteration)) = &self.iteration {
                    let iteration = Iteration::of(&results, which, *iteration)?;
                    return Ok(Some(Answer::Iteration(Box::new(iteration))));
                }
                let flows = results.select(&self.selection)?;
                Answer::Flows(results.explain(&flows, self.threads, monitor)?.explanations)
            }
        };
        Ok((!monitor.stopped()).then_some(answer))
    }

    /// One side of a difference: a transport of the results, or a results folder.
    fn side(&self, name: &str) -> Result<Results, Fault> {
        if let Some(folder) = &self.folder {
            let own = Results::open(folder, Some(name));
            match own {
                Ok(results) if results.label() == name => return Ok(results),
                Err(fault) if !Path::new(name).exists() => return Err(fault),
                _ => {}
            }
        }
        if !Path::new(name).exists() {
            let problem = expected("a transport of the results, or a results folder");
            return Err(Fault::value("--between", name, problem));
        }
        Results::open(Path::new(name), self.selection.transport.as_deref())
    }

    fn difference(&self, [a, b]: &[String; 2], monitor: &Monitor) -> Result<Difference, Fault> {
        let (first, second) = (self.side(a)?, self.side(b)?);
        let flows = first.select(&self.selection)?;
        let [flow] = flows.as_slice() else {
            return Err(Fault::new(wrong("--between").expected("one flow, as in --flow 7")));
        };
        second.select(&Selection { flows: vec![*flow], ..Selection::default() })?;
        let one = |results: &Results, name: &str| -> Result<Explanation, Fault> {
            let mut repeated = results.explain(&[*flow], self.threads, monitor)?;
            let mut explanation = repeated.explanations.remove(0);
            explanation.run = name.to_string();
            Ok(explanation)
        };
        Ok(Difference::of(one(&first, a)?, one(&second, b)?))
    }
}
