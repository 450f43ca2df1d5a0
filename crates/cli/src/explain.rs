//! `incast explain`: why a flow was slow.

use crate::Ended;
use crate::arguments::Explain;
use crate::session::stoppable;
use incast_experiment::{Fault, Monitor};
use incast_explain::{Difference, Explanation, Results, Selection, console, page};
use incast_measure::write_atomic;
use incast_transport::Bytes;
use std::path::Path;

/// Sizes such as `10KB-100KB`, or one size; in bytes.
pub fn sizes(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let size = |text: &str| {
        let size: Result<Bytes, _> = text.trim().parse();
        size.map(|size| size.0).map_err(|error| format!("{error}; expected such as 10KB-100KB"))
    };
    let (from, to) = (size(from)?, size(to)?);
    match from <= to {
        true => Ok((from, to)),
        false => Err(format!("`{text}`: expected the smaller size first, such as 10KB-100KB")),
    }
}

pub fn explain(options: Explain) -> Result<Ended, Fault> {
    let monitor = stoppable();
    if !options.between.is_empty() {
        return between(&options, &monitor);
    }
    let Some(folder) = &options.results else {
        return Err(Fault::new("expected a results folder, such as results/0001-demo"));
    };
    let results = Results::open(folder, options.transport.as_deref())?;
    let flows = results.select(&selection(&options))?;
    let repeated = results.explain(&flows, options.threads, &monitor)?;
    if monitor.stopped() {
        return Ok(Ended::Interrupted);
    }
    let all = &repeated.explanations;
    if options.json {
        print_json(all)?;
    } else {
        let texts: Vec<String> = all.iter().map(console::text).collect();
        say!("{}", texts.join("\n").trim_end());
    }
    write_page(&options, || page::html(all))
}

fn selection(options: &Explain) -> Selection {
    Selection {
        flows: options.flow.clone(),
        slowest: options.slowest.unwrap_or(1),
        transport: options.transport.clone(),
        sizes: options.size,
    }
}

/// One side of a difference: a transport of the results, or a results folder.
fn side(options: &Explain, name: &str) -> Result<Results, Fault> {
    if let Some(folder) = &options.results {
        let own = Results::open(folder, Some(name));
        match own {
            Ok(results) if results.label == name => return Ok(results),
            Err(fault) if !Path::new(name).exists() => return Err(fault),
            _ => {}
        }
    }
    if !Path::new(name).exists() {
        let problem = "expected a transport of the results, or a results folder";
        return Err(Fault::value("--between", name, problem));
    }
    Results::open(Path::new(name), options.transport.as_deref())
}

fn between(options: &Explain, monitor: &Monitor) -> Result<Ended, Fault> {
    let [a, b] = options.between.as_slice() else {
        return Err(Fault::new("--between: expected two transports, or two results folders"));
    };
    let (first, second) = (side(options, a)?, side(options, b)?);
    let flows = first.select(&selection(options))?;
    let [flow] = flows.as_slice() else {
        return Err(Fault::new("--between: expected one flow, as in --flow 7"));
    };
    second.select(&Selection { flows: vec![*flow], ..Selection::default() })?;
    let one = |results: &Results, name: &str| -> Result<Explanation, Fault> {
        let mut repeated = results.explain(&[*flow], options.threads, monitor)?;
        let mut explanation = repeated.explanations.remove(0);
        explanation.run = name.to_string();
        Ok(explanation)
    };
    let (one, other) = (one(&first, a)?, one(&second, b)?);
    if monitor.stopped() {
        return Ok(Ended::Interrupted);
    }
    let difference = Difference::of(one, other);
    if options.json {
        print_json(&difference)?;
    } else {
        say!("{}", difference.text());
        for one in [&difference.a, &difference.b] {
            say!("-- {} --\n{}", one.run, console::text(one));
        }
    }
    write_page(options, || page::html_of_difference(&difference))
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Fault> {
    say!("{}", serde_json::to_string_pretty(value).map_err(Fault::new)?);
    Ok(())
}

fn write_page(options: &Explain, page: impl FnOnce() -> String) -> Result<Ended, Fault> {
    if let Some(file) = &options.html {
        write_atomic(file, page().as_bytes())?;
        eprintln!("page: {}", file.display());
    }
    Ok(Ended::Done)
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn a_range_of_sizes_is_read() {
        assert_eq!(sizes("10KB-100KB"), Ok((10_000, 100_000)));
        assert_eq!(sizes("64KB"), Ok((64_000, 64_000)));
        assert!(sizes("100KB-10KB").is_err() && sizes("big").is_err());
    }
}
