//! How long a flow takes alone on an empty network.

use crate::paths::plus;
use incast_units::{Bytes, Rate, Span};

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

/// The bandwidth-delay product in packets: `rate x base_rtt / charged_mtu`, rounded up, at most
/// `u32::MAX`. Panics when `charged_mtu` is zero.
pub fn bdp_packets(rate: Rate, base_rtt: Span, charged_mtu: Bytes) -> u32 {
    let picobits = rate.0 as u128 * base_rtt.0 as u128;
    let packet = charged_mtu.0 as u128 * 8_000_000_000_000;
    u32::try_from(picobits.div_ceil(packet)).unwrap_or(u32::MAX)
}
