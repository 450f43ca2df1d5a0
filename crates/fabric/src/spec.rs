//! Topologies in a line of text: `leaf-spine:8x8x48`.

use crate::shapes::{Dumbbell, FatTree, LeafSpine, ParkingLot, Star};
use crate::{Fabric, TopologyError};
use incast_units::{Rate, Span, Time};

/// What links are like unless something else is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkDefaults {
    /// Rate of a link.
    pub rate: Rate,
    /// Propagation of a link, one way.
    pub propagation: Span,
    /// Probability that a packet is lost on a link, 0 to less than 1.
    pub loss: f64,
}

/// A change of the links between two nodes, named as [`Fabric::node_named`] takes them.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOverride {
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// The rate, if it differs.
    pub rate: Option<Rate>,
    /// The propagation one way, if it differs.
    pub propagation: Option<Span>,
    /// The loss probability, if it differs.
    pub loss: Option<f64>,
}

/// What may be said of a topology besides its counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Rate of links between switches.
    pub uplink_rate: Option<Rate>,
    /// Propagation of links between switches, one way.
    pub uplink_propagation: Option<Span>,
    /// Host capacity under an edge switch over its uplink capacity, from which the rate of the
    /// uplinks follows, rounded down to a bit per second: 6 for "6:1". In a dumbbell the larger
    /// side counts. Not together with `uplink_rate`.
    pub oversubscription: Option<f64>,
    /// Links that differ.
    pub links: Vec<LinkOverride>,
    /// Links that fail: when, and between which nodes (the first link of a bundle).
    pub failures: Vec<(Time, String, String)>,
}

/// The accepted forms: name, counts, what they mean, an example.
const FORMS: &[(&str, usize, &str, &str)] = &[
    ("star", 1, "star:<hosts>", "star:16"),
    ("dumbbell", 2, "dumbbell:<hosts left>x<hosts right>", "dumbbell:3x2"),
    ("parking-lot", 1, "parking-lot:<bottlenecks>", "parking-lot:3"),
    ("leaf-spine", 3, "leaf-spine:<leaves>x<spines>x<hosts per leaf>", "leaf-spine:8x8x48"),
    ("fat-tree", 1, "fat-tree:<ports per switch>", "fat-tree:8"),
];

/// The nearest of `names`, if it is near enough to be a slip of the pen.
pub(crate) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| (strsim::damerau_levenshtein(text, name), name));
    scored.filter(|(distance, name)| distance * 2 <= name.len()).min().map(|(_, name)| name)
}

/// Reads `star:N`, `dumbbell:LxR`, `parking-lot:K`, `leaf-spine:LxSxH` or `fat-tree:K`, with the
/// same links everywhere. The error names the accepted form, and the nearest name for a wrong one.
pub fn parse(spec: &str, defaults: LinkDefaults) -> Result<Fabric, TopologyError> {
    parse_with(spec, defaults, &Options::default())
}

/// [`parse`] with options.
pub fn parse_with(
    spec: &str,
    defaults: LinkDefaults,
    options: &Options,
) -> Result<Fabric, TopologyError> {
    let (name, counts) = read_form(spec)?;
    if let Some(ratio) = options.oversubscription {
        if !(ratio.is_finite() && ratio > 0.0) {
            let message = format!("oversubscription {ratio}: expected a number above 0");
            return Err(TopologyError::malformed(message));
        }
        if options.uplink_rate.is_some() {
            let message = "uplink rate and oversubscription both set the uplinks: give one";
            return Err(TopologyError::malformed(message));
        }
    }
    let mut fabric = build(spec, name, &counts, defaults, options)?;
    fabric.change_links(options)?;
    Ok(fabric)
}

impl Fabric {
    /// Applies the links that differ and those that fail. Errors name the node or link that does
    /// not exist.
    pub fn change_links(&mut self, options: &Options) -> Result<(), TopologyError> {
        for change in &options.links {
            let (a, b) = (self.node_named(&change.a)?, self.node_named(&change.b)?);
            self.change_link(a, b, change.rate, change.propagation, change.loss)?;
        }
        for (at, a, b) in &options.failures {
            let (a, b) = (self.node_named(a)?, self.node_named(b)?);
            self.fail_link(*at, a, b, 0)?;
        }
        Ok(())
    }
}

fn read_form(spec: &str) -> Result<(&'static str, Vec<u32>), TopologyError> {
    let (name, counts) = spec.trim().split_once(':').unwrap_or((spec.trim(), ""));
    let Some((name, wanted, form, example)) = FORMS.iter().find(|form| form.0 == name) else {
        let names: Vec<&str> = FORMS.iter().map(|form| form.0).collect();
        let hint = match nearest(&name.to_ascii_lowercase(), names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? "),
            None => String::new(),
        };
        let known = names.join(", ");
        let message = format!("`{spec}`: no topology `{name}`; {hint}There are {known}");
        return Err(TopologyError::malformed(message));
    };
    let refuse = |problem: String| {
        let message = format!("`{spec}`: {problem}; expected {form}, such as {example}");
        TopologyError::malformed(message)
    };
    let fields: Vec<&str> = counts.split('x').collect();
    if counts.is_empty() || fields.len() != *wanted {
        let given = if counts.is_empty() { 0 } else { fields.len() };
        return Err(refuse(format!("{wanted} counts wanted, {given} given")));
    }
    let mut numbers = Vec::new();
    for field in fields {
        let digits = !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
        match field.parse::<u32>() {
            Ok(0) => return Err(refuse("a count is at least 1, not 0".to_string())),
            Ok(number) if digits => numbers.push(number),
            Err(_) if digits => return Err(refuse(format!("{field} is too large"))),
            _ => return Err(refuse(format!("`{field}` is not a whole number"))),
        }
    }
    let minimum = if *name == "star" || *name == "fat-tree" { 2 } else { 1 };
    if numbers[0] < minimum {
        return Err(refuse(format!("{} is below the minimum of {minimum}", numbers[0])));
    }
    if *name == "fat-tree" && numbers[0] % 2 == 1 {
        return Err(refuse(format!("{} ports per switch is odd", numbers[0])));
    }
    Ok((name, numbers))
}

/// Refuses what is said of uplinks to a star, which has none.
fn refuse_uplinks(spec: &str, options: &Options) -> Result<(), TopologyError> {
    let set = [
        ("uplink rate", options.uplink_rate.is_some()),
        ("uplink propagation", options.uplink_propagation.is_some()),
        ("oversubscription", options.oversubscription.is_some()),
    ];
    match set.iter().find(|(_, set)| *set) {
        Some((option, _)) => {
            let message = format!("`{spec}`: {option} given, but a star has no uplinks");
            Err(TopologyError::malformed(message))
        }
        None => Ok(()),
    }
}

fn build(
    spec: &str,
    name: &str,
    counts: &[u32],
    defaults: LinkDefaults,
    options: &Options,
) -> Result<Fabric, TopologyError> {
    let LinkDefaults { rate, propagation, loss } = defaults;
    let uplink_propagation = options.uplink_propagation.unwrap_or(propagation);
    // `hosts` senders at an edge switch share `links` uplinks.
    let uplink = |hosts: u32, links: u32| match (options.uplink_rate, options.oversubscription) {
        (Some(uplink_rate), _) => uplink_rate,
        (None, Some(ratio)) => {
            Rate((rate.0 as f64 * hosts as f64 / (links as f64 * ratio)).floor() as u64)
        }
        (None, None) => rate,
    };
    match *counts {
        [hosts] if name == "star" => {
            refuse_uplinks(spec, options)?;
            Star { hosts, rate, propagation, loss }.build()
        }
        [bottlenecks] if name == "parking-lot" => {
            // Two hosts at most send over one bottleneck: the long path's and its own.
            ParkingLot {
                bottlenecks,
                host_rate: rate,
                bottleneck_rate: uplink(2, 1),
                host_propagation: propagation,
                bottleneck_propagation: uplink_propagation,
                loss,
            }
            .build()
        }
        [k] => FatTree {
            k,
            host_rate: rate,
            uplink_rate: uplink(1, 1),
            core_rate: uplink(1, 1),
            host_propagation: propagation,
            uplink_propagation,
            loss,
        }
        .build(),
        [left, right] => Dumbbell {
            left,
            right,
            host_rate: rate,
            bottleneck_rate: uplink(left.max(right), 1),
            host_propagation: propagation,
            bottleneck_propagation: uplink_propagation,
            loss,
        }
        .build(),
        [leaves, spines, hosts_per_leaf] => LeafSpine {
            leaves,
            spines,
            hosts_per_leaf,
            bundle: 1,
            host_rate: rate,
            uplink_rate: uplink(hosts_per_leaf, spines),
            host_propagation: propagation,
            uplink_propagation,
            loss,
        }
        .build(),
        _ => unreachable!("read_form checked the number of counts of `{spec}`"),
    }
}
