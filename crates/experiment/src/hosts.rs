//! Hosts that are not ideal: what a scenario says of them.

use crate::Fault;
use crate::fault::{expected, wrong};
use crate::inputs::{HOST_DELAYS, Inputs};
use crate::scenario::{DelayText, Host, Scenario, World};
use incast_transport::Span;
use incast_world::{Coalescing, Delay, HostModel};
use std::sync::Arc;

/// Most lines of a file of times.
const MOST_POINTS: usize = 100_000;

/// What hosts take, if they are not ideal.
///
/// # Errors
/// A world without such hosts, keys that do not fit together, or a file of times that is none.
pub fn hosts(scenario: &Scenario, inputs: &mut Inputs) -> Result<Option<Arc<HostModel>>, Fault> {
    let Some(host) = &scenario.host else { return Ok(None) };
    let world = scenario.run.world;
    if world != World::Sim {
        let why = match world {
            World::Flow => "there are no packets at flow level that a host could delay",
            _ => "hosts of the data plane take what they take, and are not slowed down",
        };
        let problem = wrong(format!("{why} (run.world = `{}`)", world.name()));
        return Err(Fault::at("host", problem.expected("run.world = `sim`, or no such section")));
    }
    let coalescing = match (host.coalesce_packets, host.coalesce_time) {
        (packets, Some(time)) => Some(Coalescing { packets: packets.unwrap_or(0), time }),
        (None, None) => None,
        (Some(packets), None) => {
            let alone = wrong("fewer packets than that would wait for good");
            let problem = alone.expected("`coalesce_time` beside it, such as `10us`");
            return Err(Fault::value("host.coalesce_packets", packets, problem));
        }
    };
    let Host { stamp_resolution: resolution, stamp_at, .. } = *host;
    Ok(Some(Arc::new(HostModel {
        send: delay("host.send_delay", &host.send_delay, inputs)?,
        receive: delay("host.receive_delay", &host.receive_delay, inputs)?,
        coalescing,
        resolution,
        stamp_at,
    })))
}

fn delay(key: &str, text: &DelayText, inputs: &mut Inputs) -> Result<Delay, Fault> {
    Ok(match text {
        DelayText::Fixed(span) => Delay::Fixed(*span),
        DelayText::Uniform(least, most) => Delay::Uniform(*least, *most),
        DelayText::Exponential(mean) => Delay::Exponential(*mean),
        DelayText::File(name) => {
            let located = |fault: Fault| fault.in_file(key, name);
            let text = inputs.read(name, HOST_DELAYS).map_err(located)?;
            Delay::Table(table(name, &text).map_err(located)?)
        }
    })
}

/// Lines of a time and a cumulative probability; blank ones, and those that begin with `#`, say nothing.
pub(crate) fn table(file: &str, text: &str) -> Result<Arc<[(Span, f64)]>, Fault> {
    let mut points: Vec<(Span, f64)> = vec![];
    let form = "a time and a cumulative probability, such as `2us 0.5`";
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let at = |problem| Fault::text(line, problem).on_line(file, number + 1);
        let mut words = line.split([',', ' ', '\t']).filter(|word| !word.is_empty());
        let (Some(time), Some(share), None) = (words.next(), words.next(), words.next()) else {
            return Err(at(expected(form)));
        };
        let time = time.parse::<Span>().ok().filter(|time| *time <= Span::from_secs(1));
        let share = share.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
        let (Some(time), Some(share)) = (time, share) else {
            return Err(at(expected(format!("{form}: at most 1s, and 0 to 1"))));
        };
        if let Some((before, below)) = points.last()
            && (time < *before || share <= *below)
        {
            return Err(at(expected("more than on the line before")));
        }
        if points.len() == MOST_POINTS {
            return Err(at(expected(format!("at most {MOST_POINTS} lines"))));
        }
        points.push((time, share));
    }
    match points.last() {
        Some((_, share)) if *share == 1.0 => Ok(points.into()),
        Some(_) => Err(Fault::new(expected("a last line with the probability 1")).placed(file)),
        None => Err(Fault::new(expected(form)).placed(file)),
    }
}
