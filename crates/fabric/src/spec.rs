//! Topologies in a line of text: `leaf-spine:8x8x48`.

use crate::named::{self, Rates};
use crate::options::{LinkDefaults, Options};
use crate::shapes::{SHAPES, Shape, Size, Spec, refused};
use crate::{Fabric, TopologyError};
use incast_units::fault::{one_of, wrong};

/// Reads a shape with its counts, such as `leaf-spine:8x8x48`, with the same links everywhere.
///
/// # Errors
/// Names the accepted form, and the nearest name for a wrong one.
pub fn parse(spec: &str, defaults: LinkDefaults) -> Result<Fabric, TopologyError> {
    parse_with(spec, defaults, &Options::default())
}

/// [`parse`] with options.
///
/// # Errors
/// The same, and options that contradict each other or the shape.
pub fn parse_with(
    spec: &str,
    defaults: LinkDefaults,
    options: &Options,
) -> Result<Fabric, TopologyError> {
    let Form { shape, counts, rates } = read_form(spec)?;
    let own = given(spec, options, rates)?;
    let (options, defaults) =
        (&own, LinkDefaults { rate: rates.hosts.unwrap_or(defaults.rate), ..defaults });
    if let Some(ratio) = options.oversubscription {
        if !(ratio.is_finite() && ratio > 0.0) {
            let message = wrong(format!("oversubscription {ratio}")).expected("a number above 0");
            return Err(TopologyError::malformed(message));
        }
        if options.uplink_rate.is_some() {
            let message = "uplink rate and oversubscription both set the uplinks: give one";
            return Err(TopologyError::malformed(message));
        }
    }
    if options.core_rate.is_some() && shape.name != "clos" {
        let message = wrong(format!("`{spec}`: core rate given, and a {} takes none", shape.name))
            .expected("a clos");
        return Err(TopologyError::malformed(message));
    }
    if !shape.uplinks {
        refuse_uplinks(spec, shape, options)?;
    }
    let spec = Spec { text: spec, shape, counts: &counts, links: defaults, options };
    let mut fabric = spec.build()?;
    fabric.change_links(options)?;
    Ok(fabric)
}

/// How large the fabric of a line such as `leaf-spine:8x8x48` would be, without building it.
///
/// # Errors
/// As [`parse`], of the line alone.
pub fn size_of(spec: &str) -> Result<Size, TopologyError> {
    let Form { shape, counts, .. } = read_form(spec)?;
    let counts: Vec<u64> = counts.into_iter().map(u64::from).collect();
    Ok((shape.size)(&counts))
}

/// Whether a line such as `clos:...,hosts=25Gbps*16,...` says how fast links of hosts are.
pub fn has_host_rate(spec: &str) -> bool {
    read_form(spec).is_ok_and(|form| form.rates.hosts.is_some())
}

/// The options with the rates of the line.
fn given(spec: &str, options: &Options, rates: Rates) -> Result<Options, TopologyError> {
    let mut all = options.clone();
    let twice = |what: &str| {
        let message = format!("`{spec}` says how fast {what} are, and an option does: give one");
        Err(TopologyError::malformed(message))
    };
    if rates.uplinks.is_some() {
        if options.uplink_rate.is_some() || options.oversubscription.is_some() {
            return twice("uplinks");
        }
        all.uplink_rate = rates.uplinks;
    }
    if rates.cores.is_some() {
        if options.core_rate.is_some() {
            return twice("links of core switches");
        }
        all.core_rate = rates.cores;
    }
    Ok(all)
}

/// What a line says.
struct Form {
    shape: &'static Shape,
    counts: Vec<u32>,
    rates: Rates,
}

fn read_form(spec: &str) -> Result<Form, TopologyError> {
    let (name, counts) = spec.trim().split_once(':').unwrap_or((spec.trim(), ""));
    let names = || SHAPES.iter().map(|shape| shape.name);
    let Some(shape) = SHAPES.iter().find(|shape| shape.name == name) else {
        let problem = one_of(name, names()).in_part(&format!("`{spec}`: no topology `{name}`"));
        return Err(TopologyError::malformed(problem));
    };
    let wanted = shape.counts.len();
    let (named, rates) = match named::is_named(counts) {
        true => named::read(spec, shape, counts)?,
        false => (vec![], Rates::default()),
    };
    let fields: Vec<&str> = match named.is_empty() {
        true => counts.split('x').collect(),
        false => named.iter().map(String::as_str).collect(),
    };
    if counts.is_empty() || fields.len() != wanted {
        let given = if counts.is_empty() { 0 } else { fields.len() };
        return Err(refused(spec, shape, format!("{wanted} counts wanted, {given} given")));
    }
    let numbers = fields.iter().zip(shape.counts).map(|(field, count)| {
        read_count(field, count.least).map_err(|problem| refused(spec, shape, problem))
    });
    Ok(Form { shape, counts: numbers.collect::<Result<_, _>>()?, rates })
}

fn read_count(field: &str, least: u32) -> Result<u32, String> {
    let digits = !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
    match field.parse::<u32>() {
        Ok(0) => Err("a count is at least 1, not 0".to_string()),
        Ok(number) if digits && number < least => {
            Err(format!("{number} is below the minimum of {least}"))
        }
        Ok(number) if digits => Ok(number),
        Err(_) if digits => Err(format!("{field} is too large")),
        _ => Err(format!("`{field}` is not a whole number")),
    }
}

/// Refuses what is said of uplinks to a shape that has none.
fn refuse_uplinks(spec: &str, shape: &Shape, options: &Options) -> Result<(), TopologyError> {
    let set = [
        ("uplink rate", options.uplink_rate.is_some()),
        ("uplink propagation", options.uplink_propagation.is_some()),
        ("oversubscription", options.oversubscription.is_some()),
    ];
    match set.iter().find(|(_, set)| *set) {
        Some((option, _)) => {
            let message = format!("`{spec}`: {option} given, but a {} has no uplinks", shape.name);
            Err(TopologyError::malformed(message))
        }
        None => Ok(()),
    }
}
