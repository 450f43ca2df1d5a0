//! Ideal flow completion time on an idle network, in closed form.
//!
//! Runs use the exact time in picoseconds of the crate `fabric`, which supports packets of any
//! sizes. This is the papers' formula, used to check it.

use incast_units::{Rate, Span};

/// Seconds from the start of a flow until its last bit arrives: `packets` packets (at least one)
/// of `charged` bytes each, store-and-forward over `path`'s links. The first packet crosses every
/// link; the others follow at the rate of the slowest link:
/// sum of (propagation + L / C_i) + (n - 1) L / min C_i.
pub fn ideal_fct(path: &[(Rate, Span)], packets: u64, charged: f64) -> f64 {
    assert!(packets > 0, "a flow without packets");
    let bits = 8.0 * charged;
    let first = path.iter().map(|(rate, span)| span.as_secs_f64() + bits / rate.0 as f64);
    let slowest = path.iter().map(|(rate, _)| rate.0 as f64).fold(f64::INFINITY, f64::min);
    first.sum::<f64>() + (packets - 1) as f64 * bits / slowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_units::Bytes;

    #[test]
    fn one_packet_and_many() {
        let link = |gbps, us| (Rate::from_gbps(gbps), Span::from_us(us));
        // 1250 bytes: 1 us at 10 Gb/s, 0.1 us at 100 Gb/s.
        let path = [link(10, 2), link(100, 3), link(10, 2)];
        assert!((ideal_fct(&path, 1, 1250.0) - 9.1e-6).abs() < 1e-15);
        assert!((ideal_fct(&path, 101, 1250.0) - 109.1e-6).abs() < 1e-15);
    }

    #[test]
    fn agrees_with_the_exact_time_of_runs() {
        let link = |gbps, us| (Rate::from_gbps(gbps), Span::from_us(us));
        let paths = [
            vec![link(10, 1)],
            vec![link(40, 1), link(100, 1), link(100, 1), link(40, 1)],
            vec![link(25, 5), link(10, 8), link(100, 1)],
        ];
        for path in &paths {
            for packets in [1, 2, 7, 10_000] {
                let exact = incast_fabric::ideal_fct_uniform(path, Bytes(1538), packets, Bytes(0));
                let formula = ideal_fct(path, packets, 1538.0);
                // Runs round each transmission up to a picosecond.
                let tolerance = 1e-12 * (packets + path.len() as u64) as f64;
                let difference = exact.as_secs_f64() - formula;
                assert!((-1e-15..=tolerance).contains(&difference), "{difference}");
            }
        }
    }
}
