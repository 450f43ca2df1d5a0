//! Poisson arrivals at a given load.

use crate::error::setting;
use crate::packet_table::{PacketTable, segment};
use crate::random::{Stream, fold, fold_text};
use crate::size_table::SizeTable;
use crate::traffic::{FlowClass, FlowSpec, MAX_FLOWS, Origin, Shape, Start, Traffic};
use crate::warning::{FEW_BYTES_DRAWN, HOST_LINKS_OVERLOADED, LOAD_ABOVE_CAPACITY};
use crate::wire_cost::WireCost;
use incast_units::Fault;
use incast_units::{Notice, Rate, Time};

/// Relative deviation of the drawn bytes from their mean that triggers a warning.
const SIZE_WARNING: f64 = 0.1;

/// Largest number of packets with prescribed sizes, at 4 B of memory per packet: 2^29, 2 GiB.
const MAX_SEGMENTS: f64 = (1u64 << 29) as f64;

/// Flows with Poisson arrivals, sizes from `table`, sources uniform over the hosts and
/// destinations uniform over the others.
///
/// `load` is the mean utilisation of the reference capacity by the flows' wire bytes: the ToR
/// uplinks of an oversubscribed fabric, else the host links. With `packets` packet sizes are drawn
/// from that table; otherwise all packets except the last are full. The arrivals depend only on
/// seed, table, load and shape. More flows do not change the first ones. A load above the capacity
/// is accepted, with a warning.
///
/// # Errors
/// Rejects a load that is not a positive number, no flows or more than 2^22, fewer than two
/// hosts, an oversubscribed fabric with one rack, more than 2^29 packets to prescribe, and arrivals
/// that reach past 213 days.
pub fn poisson(
    shape: &Shape,
    table: &SizeTable,
    load: f64,
    flows: u32,
    seed: u64,
    packets: Option<&PacketTable>,
    wire: WireCost,
) -> Result<Traffic, Fault> {
    shape.check();
    if !(load.is_finite() && load > 0.0) {
        return Err(setting("load", load, "a number above 0, such as 0.6"));
    }
    if flows == 0 || u64::from(flows) > MAX_FLOWS {
        return Err(setting("flows", flows, format!("1 to {MAX_FLOWS}")));
    }
    if shape.hosts < 2 {
        return Err(setting("hosts", shape.hosts, "2 or more"));
    }
    if let Some(packets) = packets {
        let most = (MAX_SEGMENTS * packets.mean_payload() / table.mean_sampled()) as u32;
        if flows > most {
            let name = packets.name();
            let accepted = format!("1 to {most} with packets drawn from {name}: 2^29 packets");
            return Err(setting("flows", flows, accepted));
        }
    }
    let arrivals = Arrivals::at(shape, table, load, packets, wire)?;
    let key = arrivals_key(shape, table, load, packets, seed);
    let mut list = Vec::with_capacity(flows as usize);
    let mut now = 0u64;
    for flow in 0..flows {
        let mut stream = Stream::new(fold(key, u64::from(flow)));
        let gap = (stream.exponential() * 1e12 / arrivals.rate).round();
        let next = (gap < 1.8e19).then(|| now.checked_add(gap as u64)).flatten();
        now = next.filter(|&time| time < Time::NEVER.0).ok_or_else(|| {
            let accepted = format!("at most {flow} flows at load {load}: arrivals end at 213 days");
            setting("flows", flows, accepted)
        })?;
        let src = stream.below(shape.hosts);
        let other = stream.below(shape.hosts - 1);
        let dst = other + u32::from(other >= src);
        let size = table.sample(stream.unit());
        let mut spec = FlowSpec::new(src, dst, size, Start::At(Time(now)), FlowClass::Background);
        spec.origin = Origin::Poisson;
        spec.segments = packets.map(|packets| {
            segment(size, packets, fold_text(fold(key, u64::from(flow)), "segments")).into()
        });
        list.push(spec);
    }
    let mut traffic = Traffic::from_flows(list, Vec::new());
    let expected = table.mean_sampled() * f64::from(flows);
    let drawn = traffic.total_bytes() as f64 / expected;
    traffic.warnings = arrivals.warnings(load);
    if (drawn - 1.0).abs() > SIZE_WARNING {
        let percent = format!("{:.0}", drawn * 100.0);
        let values = &[("flows", &flows as _), ("percent", &percent as _), ("load", &load as _)];
        traffic.warnings.push(FEW_BYTES_DRAWN.notice(values));
    }
    traffic.load_definition = arrivals.definition;
    traffic.offered_load = Some(load);
    Ok(traffic)
}

fn arrivals_key(
    shape: &Shape,
    table: &SizeTable,
    load: f64,
    packets: Option<&PacketTable>,
    seed: u64,
) -> u64 {
    let key = table.fold_into(fold_text(seed, "poisson"));
    let key = packets.map_or(key, |packets| packets.lengths().fold_into(key));
    let key = fold(fold(key, load.to_bits()), u64::from(shape.hosts));
    let racks = shape.rack_of.iter().fold(key, |key, &rack| fold(key, u64::from(rack)));
    let rates = shape.host_rate.iter().fold(racks, |key, rate| fold(key, rate.0));
    fold(rates, shape.uplink_total.map_or(0, |rate| rate.0))
}

/// The arrival process that a load stands for.
struct Arrivals {
    /// Flows per second, all hosts together.
    rate: f64,
    /// Expected load of the slowest host's link.
    host_load: f64,
    definition: String,
}

impl Arrivals {
    /// Oversubscribed: `rate = load x uplinks / (8 x mean x w x P(inter-rack))`; otherwise
    /// `rate = load x host links / (8 x mean x w)`, both over the whole fabric.
    fn at(
        shape: &Shape,
        table: &SizeTable,
        load: f64,
        packets: Option<&PacketTable>,
        wire: WireCost,
    ) -> Result<Arrivals, Fault> {
        let mean = table.mean_sampled();
        let charge = wire.mean_flow(table, packets);
        let hosts = Rate(shape.host_rate.iter().map(|rate| rate.0).sum());
        let (capacity, share, place) = match shape.uplink_total {
            Some(uplinks) => {
                let share = shape.inter_rack_share();
                if share == 0.0 {
                    return Err(setting(
                        "racks",
                        1,
                        "2 or more racks where load is measured on the uplinks",
                    ));
                }
                let place = format!("the ToR uplinks ({uplinks} in one direction)");
                (uplinks, share, place)
            }
            None => (hosts, 1.0, format!("the host links ({hosts} in one direction)")),
        };
        let rate = load * capacity.0 as f64 / (8.0 * charge * share);
        let slowest = shape.host_rate.iter().map(|rate| rate.0).min().unwrap_or(0);
        let host_load = rate / f64::from(shape.hosts) * 8.0 * charge / slowest as f64;
        let (headers, layer2) = (wire.header_bytes, wire.layer2_bytes);
        let definition = format!(
            "load {load} = mean wire rate on {place}{of_hosts}: {rate:.6} flows/s x 8 x mean size {mean:.1} \
             B x w {w:.5}{across} / {capacity}; Poisson arrivals, uniform pairs of different \
             hosts; w counts {headers} B of headers and {layer2} B of layer 2 for each {cut}, \
             partial last packets {padded}included",
            padded = if wire.padded { "padded and " } else { "" },
            w = charge / mean,
            of_hosts = match shape.uplink_total {
                Some(_) => format!(", {host_load:.3} of the slowest host links"),
                None => String::new(),
            },
            across = match shape.uplink_total {
                Some(_) => format!(" x P(inter-rack) {share:.5}"),
                None => String::new(),
            },
            cut = match packets {
                Some(packets) => format!("packet drawn from {}", packets.name()),
                None => format!("packet of {} B payload", wire.mss),
            },
        );
        Ok(Arrivals { rate, host_load, definition })
    }

    fn warnings(&self, load: f64) -> Vec<Notice> {
        let mut warnings = Vec::new();
        if load >= 1.0 {
            warnings.push(LOAD_ABOVE_CAPACITY.notice(&[("load", &load)]));
        }
        if self.host_load >= 1.0 && self.host_load > load * (1.0 + 1e-9) {
            let share = format!("{:.2}", self.host_load);
            warnings.push(HOST_LINKS_OVERLOADED.notice(&[("share", &share), ("load", &load)]));
        }
        warnings
    }
}
