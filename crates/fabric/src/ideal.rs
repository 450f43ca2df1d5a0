//! How long a flow takes alone on an empty network.

use incast_units::{Bytes, Rate, Span};

/// Sum that stops at the longest span: legal but absurd rates and delays must not wrap.
pub(crate) fn plus(a: Span, b: Span) -> Span {
    Span(a.0.saturating_add(b.0))
}

/// The time a flow needs alone on an empty path, from its start until the last bit of its last
/// packet arrives: packets leave the source back to back, every hop stores and forwards in order,
/// and each transmission is rounded up to a picosecond. `packets` are the charged sizes in order.
/// Zero without packets or links; at most [`Span::MAX`].
pub fn ideal_fct(path: &[(Rate, Span)], packets: impl Iterator<Item = Bytes>) -> Span {
    let mut free = vec![Span::ZERO; path.len()];
    let mut done = Span::ZERO;
    for packet in packets {
        let mut arrival = Span::ZERO;
        for ((rate, propagation), free) in path.iter().zip(&mut free) {
            let departure = plus(arrival.max(*free), rate.tx_time(packet));
            *free = departure;
            arrival = plus(departure, *propagation);
        }
        done = arrival;
    }
    done
}

/// [`ideal_fct`] of `full_count` packets of `full_charged` followed by one of `last_charged`, or by
/// none when that is zero; in time proportional to the hops alone, and equal to the picosecond.
pub fn ideal_fct_uniform(
    path: &[(Rate, Span)],
    full_charged: Bytes,
    full_count: u64,
    last_charged: Bytes,
) -> Span {
    // Equal packets leave hop h at: the first one's departure + (n - 1) x the slowest
    // transmission so far. The last packet waits for the later of its own arrival and that.
    let mut first = Span::ZERO;
    let mut slowest = Span::ZERO;
    let mut last = Span::ZERO;
    let mut full = Span::ZERO;
    for (rate, propagation) in path {
        if full_count > 0 {
            let transmission = rate.tx_time(full_charged);
            first = plus(first, transmission);
            slowest = slowest.max(transmission);
            full = plus(first, slowest.saturating_mul(full_count - 1));
        }
        last = plus(plus(last.max(full), rate.tx_time(last_charged)), *propagation);
        first = plus(first, *propagation);
        full = plus(full, *propagation);
    }
    match (last_charged, full_count) {
        (Bytes(0), 0) => Span::ZERO,
        (Bytes(0), _) => full,
        _ => last,
    }
}

/// One step of all shortest paths between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The fastest link of the step.
    pub rate: Rate,
    /// The slowest link of the step.
    pub slowest: Rate,
    /// The shortest propagation of the step.
    pub propagation: Span,
    /// Number of links a packet may take at this step.
    pub links: u32,
}

/// What a flow's packets have to themselves on their path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathUse {
    /// All take one path.
    One,
    /// Each may take another one: a short packet may overtake the long one before it.
    Each,
}

/// The hops up to which all packets stay in order, and those after it up to the last.
pub(crate) fn split(hops: &[Hop]) -> (&[Hop], &[Hop], &Hop) {
    let (last, before) = hops.split_last().expect("a path has hops");
    let apart = before.iter().position(|hop| hop.links > 1).unwrap_or(before.len());
    let (together, apart) = before.split_at(apart);
    (together, apart, last)
}

fn links(hops: &[Hop]) -> Vec<(Rate, Span)> {
    hops.iter().map(|hop| (hop.rate, hop.propagation)).collect()
}

/// A packet's time over hops without waiting.
fn alone(hops: &[Hop], size: Bytes) -> Span {
    hops.iter()
        .fold(Span::ZERO, |sum, hop| plus(sum, plus(hop.rate.tx_time(size), hop.propagation)))
}

/// No flow on an empty network takes less, whichever of the shortest paths its packets take.
///
/// Packets leave the source back to back in the order given. With [`PathUse::One`] it is
/// [`ideal_fct`] over the best link of each hop, which is exact where the links of a hop are
/// alike. With [`PathUse::Each`] packets keep their order up to the first hop with several links;
/// from there to the last hop none waits for another; the last hop serves them as they arrive.
/// Packets of one size give the same time in both cases unless links between switches are slower
/// than the source's. Zero without packets or hops.
pub fn ideal_fct_over(
    hops: &[Hop],
    path_use: PathUse,
    packets: impl Iterator<Item = Bytes>,
) -> Span {
    if path_use == PathUse::One || hops.iter().all(|hop| hop.links == 1) {
        return ideal_fct(&links(hops), packets);
    }
    let (together, apart, last) = split(hops);
    let mut free = vec![Span::ZERO; together.len()];
    let mut arrivals: Vec<(Span, Bytes)> = vec![];
    for packet in packets {
        let mut at = Span::ZERO;
        for (hop, free) in together.iter().zip(&mut free) {
            *free = plus(at.max(*free), hop.rate.tx_time(packet));
            at = plus(*free, hop.propagation);
        }
        arrivals.push((plus(at, alone(apart, packet)), packet));
    }
    arrivals.sort_unstable();
    let serve =
        |busy: Span, (at, size): &(Span, Bytes)| plus(busy.max(*at), last.rate.tx_time(*size));
    match arrivals.is_empty() {
        true => Span::ZERO,
        false => plus(arrivals.iter().fold(Span::ZERO, serve), last.propagation),
    }
}

/// [`ideal_fct_over`] of `full_count` packets of `full_charged` followed by one of `last_charged`,
/// or by none when that is zero; in time proportional to the hops alone, equal to the picosecond.
pub fn ideal_fct_over_uniform(
    hops: &[Hop],
    path_use: PathUse,
    full_charged: Bytes,
    full_count: u64,
    last_charged: Bytes,
) -> Span {
    let one = path_use == PathUse::One || hops.iter().all(|hop| hop.links == 1);
    if one || full_count == 0 || last_charged == Bytes(0) && hops.is_empty() {
        return ideal_fct_uniform(&links(hops), full_charged, full_count, last_charged);
    }
    let (together, apart, last) = split(hops);
    let head = links(together);
    let head_of = |count, last| ideal_fct_uniform(&head, full_charged, count, last);
    // Full packet i, from 0, arrives at the last hop at first + i x pace, and is served in `each`.
    let first = plus(head_of(1, Bytes(0)), alone(apart, full_charged));
    let pace = together.iter().map(|hop| hop.rate.tx_time(full_charged)).max();
    let pace = pace.unwrap_or(Span::ZERO);
    let each = last.rate.tx_time(full_charged);
    let (tail, tail_each) = match last_charged {
        Bytes(0) => (Span::MAX, Span::ZERO),
        size => (plus(head_of(full_count, size), alone(apart, size)), last.rate.tx_time(size)),
    };
    // The server's last busy period begins with some packet's arrival; the end is the largest over
    // all of them of its arrival and the service of what arrives then or later. Over the full
    // packets that is linear, before the short one's arrival and after it.
    let full_from = |i: u64| {
        let arrival = plus(first, pace.saturating_mul(i));
        let work = each.saturating_mul(full_count - i);
        let short = if last_charged > Bytes(0) && tail >= arrival { tail_each } else { Span::ZERO };
        plus(plus(arrival, work), short)
    };
    let earlier = match tail.0.checked_sub(first.0) {
        None => 0,
        Some(_) if pace == Span::ZERO => full_count,
        Some(after) => (after / pace.0).saturating_add(1).min(full_count),
    };
    let mut end = full_from(0).max(full_from(full_count - 1));
    if earlier > 0 {
        end = end.max(full_from(earlier - 1));
    }
    if earlier < full_count {
        end = end.max(full_from(earlier));
    }
    if last_charged > Bytes(0) {
        let later = each.saturating_mul(full_count - earlier);
        end = end.max(plus(plus(tail, tail_each), later));
    }
    plus(end, last.propagation)
}

/// The bandwidth-delay product in packets: `rate x base_rtt / charged_mtu`, rounded up, at most
/// `u32::MAX`. Panics when `charged_mtu` is zero.
pub fn bdp_packets(rate: Rate, base_rtt: Span, charged_mtu: Bytes) -> u32 {
    let picobits = rate.0 as u128 * base_rtt.0 as u128;
    let packet = charged_mtu.0 as u128 * 8_000_000_000_000;
    u32::try_from(picobits.div_ceil(packet)).unwrap_or(u32::MAX)
}
