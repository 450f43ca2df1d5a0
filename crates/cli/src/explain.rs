//! `incast explain`: why a flow was slow.

use crate::arguments::Explain;
use crate::process::Ended;
use crate::session::stoppable;
use incast_experiment::Fault;
use incast_experiment::fault::expected;
use incast_explain::{Question, Selection, Which};
use incast_measure::write_atomic;

pub fn explain(options: Explain) -> Result<Ended, Fault> {
    let between = match options.between.as_slice() {
        [] => None,
        [a, b] => Some([a.clone(), b.clone()]),
        _ => {
            let accepted = "two transports, or two results folders";
            return Err(Fault::at("--between", expected(accepted)));
        }
    };
    let which = match (options.job, options.collective) {
        (Some(job), _) => Which::Job(job),
        (None, Some(collective)) => Which::Collective(collective),
        (None, None) => Which::First,
    };
    let question = Question {
        folder: options.results,
        selection: Selection {
            flows: options.flow,
            slowest: options.slowest.unwrap_or(1),
            transport: options.transport,
            sizes: options.size,
        },
        between,
        iteration: options.iteration.map(|one| (which, one)),
        threads: options.threads,
    };
    let Some(answer) = question.answer(&stoppable())? else { return Ok(Ended::Interrupted) };
    match options.json {
        true => say!("{}", answer.json()?),
        false => say!("{}", answer.text()),
    }
    if let Some(file) = &options.html {
        write_atomic(file, answer.html().as_bytes())?;
        eprintln!("page: {}", file.display());
    }
    Ok(Ended::Done)
}

#[cfg(test)]
mod tests {
    use crate::values::sizes;

    #[test]
    fn a_range_of_sizes_is_read() {
        assert_eq!(sizes("10KB-100KB"), Ok((10_000, 100_000)));
        assert_eq!(sizes("64KB"), Ok((64_000, 64_000)));
        assert!(sizes("100KB-10KB").is_err() && sizes("big").is_err());
    }
}
