//! Counts of a shape by name, with rates of links: `clos:pods=4,leaves=2,hosts=25Gbps*16,aggregations=100Gbps*2,cores=100Gbps*2`.

use crate::TopologyError;
use crate::shapes::{Count, Shape};
use incast_units::Rate;
use incast_units::fault::{Problem, nearest, wrong};

/// Rates that a line gives beside its counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    /// Of links of hosts.
    pub hosts: Option<Rate>,
    /// Of links between switches.
    pub uplinks: Option<Rate>,
    /// Of links of core switches.
    pub cores: Option<Rate>,
}

/// Whether the counts of a shape have names.
pub(crate) fn is_named(counts: &str) -> bool {
    counts.contains('=')
}

/// The links that a count is of, if their rate may stand before it.
fn rate_of<'a>(count: &Count, rates: &'a mut Rates) -> Option<&'a mut Option<Rate>> {
    match count.symbol {
        "HOSTS" | "RAILS" => Some(&mut rates.hosts),
        "SPINES" | "AGGREGATIONS" => Some(&mut rates.uplinks),
        "CORES" => Some(&mut rates.cores),
        _ => None,
    }
}

fn name(count: &Count) -> String {
    count.symbol.to_ascii_lowercase()
}

/// Reads the counts of a shape, in its order, and the rates before them.
pub(crate) fn read(
    spec: &str,
    shape: &Shape,
    counts: &str,
) -> Result<(Vec<String>, Rates), TopologyError> {
    let names: Vec<String> = shape.counts.iter().map(name).collect();
    let fail = |problem: Problem| {
        let form: Vec<String> = names.iter().map(|name| format!("{name}=<count>")).collect();
        let form = form.join(",");
        let accepted = format!(
            "{}:{form}, where a rate may stand before a count of links, such as 25Gbps*16",
            shape.name
        );
        let message = problem.in_part(&format!("`{spec}`")).expected(accepted);
        Err(TopologyError::malformed(message))
    };
    let (mut found, mut rates) = (vec![None; names.len()], Rates::default());
    for field in counts.split(',') {
        let (key, value) = field.split_once('=').unwrap_or((field, ""));
        let Some(at) = names.iter().position(|name| name == key.trim()) else {
            let near = nearest(key.trim(), names.iter().map(String::as_str));
            let problem = wrong(format!("a {} has no count `{}`", shape.name, key.trim()));
            return fail(problem.meant(near));
        };
        if found[at].is_some() {
            return fail(wrong(format!("`{}` twice", names[at])));
        }
        let count = match value.split_once('*') {
            None => value,
            Some((rate, count)) => {
                let Some(place) = rate_of(&shape.counts[at], &mut rates) else {
                    return fail(wrong(format!("{} have no rate", shape.counts[at].what)));
                };
                match rate.trim().parse::<Rate>() {
                    Ok(Rate(0)) => {
                        return fail(wrong(format!("`{}`: a rate above 0 wanted", rate.trim())));
                    }
                    Ok(rate) => *place = Some(rate),
                    Err(error) => return fail(error.in_part(&names[at])),
                }
                count
            }
        };
        found[at] = Some(count.trim().to_string());
    }
    match found.iter().position(Option::is_none) {
        Some(missing) => fail(wrong(format!("no `{}`", names[missing]))),
        None => Ok((found.into_iter().flatten().collect(), rates)),
    }
}
