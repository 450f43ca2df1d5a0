//! Retransmission timeout from round-trip samples (RFC 6298).

use incast_transport::Span;

/// Bounds of the retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoBounds {
    /// In force before the first sample.
    pub initial: Span,
    /// Least.
    pub min: Span,
    /// Most, also after doublings.
    pub max: Span,
}

impl RtoBounds {
    /// `min` before the first sample and as the least; at most 60 s (RFC 6298 §2.5), or these where they
    /// are more.
    pub fn at_least(min: Span) -> RtoBounds {
        RtoBounds::starting_at(None, min)
    }

    /// The same, but `initial` before the first sample if it is given.
    pub fn starting_at(initial: Option<Span>, min: Span) -> RtoBounds {
        let initial = initial.unwrap_or(min);
        RtoBounds { initial, min, max: MOST.max(min).max(initial) }
    }
}

/// Most, unless the least is more (RFC 6298 §2.5: a maximum may be set, of 60 s or more).
const MOST: Span = Span::from_secs(60);

/// What keys such as `rto_min` accept: more than 0, at most 60 s.
pub fn accepted(timeout: &Span) -> bool {
    *timeout > Span::ZERO && *timeout <= MOST
}

/// The same, or `auto`.
pub fn accepted_or_auto(timeout: &Option<Span>) -> bool {
    timeout.as_ref().is_none_or(accepted)
}

/// `given`, or 1 ms and at least eight RTTs: for transports whose papers have no timeout.
pub fn least_or_auto(given: Option<Span>, base_rtt: Span) -> Span {
    given.unwrap_or((base_rtt * 8).max(Span::from_ms(1)))
}

/// Clock granularity G of RFC 6298 §2.
const GRANULARITY: Span = Span::from_us(1);

/// Smoothed RTT, its variation and the timeout that follows from them.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    bounds: RtoBounds,
    smoothed: Option<Span>,
    variation: Span,
    least: Span,
    /// Doublings since the last progress.
    doublings: u8,
}

impl Rto {
    /// Without samples.
    pub fn new(bounds: RtoBounds) -> Rto {
        assert!(bounds.min > Span::ZERO && bounds.min <= bounds.max);
        Rto { bounds, smoothed: None, variation: Span::ZERO, least: Span::MAX, doublings: 0 }
    }

    /// Takes in an RTT of a segment that was sent once (Karn).
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        self.least = self.least.min(rtt);
        match self.smoothed {
            // RFC 6298 §2.2
            None => {
                self.smoothed = Some(rtt);
                self.variation = rtt / 2;
            }
            // RFC 6298 §2.3, alpha = 1/8, beta = 1/4
            Some(smoothed) => {
                let error = Span(smoothed.0.abs_diff(rtt.0));
                self.variation = Span(self.variation.0 - self.variation.0 / 4 + error.0 / 4);
                self.smoothed = Some(Span(smoothed.0 - smoothed.0 / 8 + rtt.0 / 8));
            }
        }
    }

    /// The timer expired: the timeout doubles (RFC 6298 §5.5).
    pub fn expired(&mut self) {
        self.doublings = (self.doublings + 1).min(32);
    }

    /// New data was acknowledged: doublings end. RFC 6298 keeps them until the next sample;
    /// like Linux we end them with progress, since samples are exact here.
    #[inline]
    pub fn progressed(&mut self) {
        self.doublings = 0;
    }

    /// How often it has doubled since the last progress.
    #[inline]
    pub fn doublings(&self) -> u8 {
        self.doublings
    }

    /// Smoothed RTT; `None` before the first sample.
    #[inline]
    pub fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// The least sample; [`Span::MAX`] before the first.
    #[inline]
    pub fn least(&self) -> Span {
        self.least
    }

    /// The timeout effective.
    #[inline]
    pub fn timeout(&self) -> Span {
        let plain = match self.smoothed {
            None => self.bounds.initial,
            Some(smoothed) => smoothed + GRANULARITY.max(self.variation * 4),
        };
        let bounded = plain.max(self.bounds.min);
        bounded.saturating_mul(1 << self.doublings).min(self.bounds.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    #[test]
    fn follows_rfc_6298() {
        let bounds = RtoBounds { initial: us(1_000_000), min: us(1), max: Span::from_secs(60) };
        let mut rto = Rto::new(bounds);
        assert_eq!(rto.timeout(), us(1_000_000));
        rto.sample(us(800));
        assert_eq!(rto.timeout(), us(800 + 4 * 400));
        rto.sample(us(1600));
        // variation 3/4 x 400 + 1/4 x 800 = 500, smoothed 7/8 x 800 + 1/8 x 1600 = 900
        assert_eq!(rto.smoothed(), Some(us(900)));
        assert_eq!(rto.timeout(), us(900 + 4 * 500));
    }

    #[test]
    fn granularity_is_the_least_margin() {
        let mut rto = Rto::new(RtoBounds { initial: us(9), min: us(1), max: us(1_000) });
        (0..200).for_each(|_| rto.sample(us(80)));
        assert_eq!(rto.timeout(), us(81));
    }

    #[test]
    fn what_is_given_may_be_above_the_cap() {
        let secs = Span::from_secs;
        let long = Rto::new(RtoBounds::at_least(secs(61)));
        assert_eq!(long.timeout(), secs(61));
        let mut first = Rto::new(RtoBounds::starting_at(Some(secs(90)), us(1)));
        assert_eq!(first.timeout(), secs(90));
        first.expired();
        assert_eq!(first.timeout(), secs(90));
    }

    #[test]
    fn doubles_up_to_the_cap_and_falls_back_with_progress() {
        let mut rto = Rto::new(RtoBounds::at_least(Span::from_ms(10)));
        rto.sample(us(100));
        assert_eq!(rto.timeout(), Span::from_ms(10));
        rto.expired();
        rto.expired();
        assert_eq!(rto.timeout(), Span::from_ms(40));
        (0..100).for_each(|_| rto.expired());
        assert_eq!(rto.timeout(), Span::from_secs(60));
        rto.progressed();
        assert_eq!(rto.timeout(), Span::from_ms(10));
    }
}
