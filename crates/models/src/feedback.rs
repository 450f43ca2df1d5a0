//! What feedback is worth when it arrives, of whichever transport.

/// Utility of one switch's feedback that is `delay` old when it is used, in the unit of `rtt`: 2
/// when it is of the present, 1 when it is a round trip old (FastTune §II-B, Eq. 5).
pub fn utility(delay: f64, rtt: f64) -> f64 {
    (2.0 * rtt - delay) / rtt
}
