//! What a switch's buffers admit. The engine keeps the counts; the rules are here.

use incast_units::{Bytes, Rate, Span};

/// A limit of its own for every port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortLimit {
    /// Charged bytes.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u32),
}

impl PortLimit {
    /// Whether a port that holds `queued` bytes in `packets` packets takes one of `packet` bytes.
    #[inline]
    pub fn admits(self, queued: Bytes, packets: u32, packet: Bytes) -> bool {
        match self {
            PortLimit::Bytes(limit) => queued.0.saturating_add(packet.0) <= limit.0,
            PortLimit::Packets(limit) => packets < limit,
        }
    }
}

/// One pool per switch, shared by all its queues under a dynamic threshold: a queue may grow to
/// `alpha` times what is free (Choudhury and Hahne, "Dynamic queue length thresholds for
/// shared-memory packet switches", 1998). With n queues full and equal each holds
/// `alpha x size / (1 + n x alpha)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPool {
    size: Bytes,
    /// `alpha` in units of 2^-16, so that the rule is integer arithmetic.
    alpha: u64,
}

impl SharedPool {
    const ONE: f64 = 65_536.0;

    /// A pool of `size` bytes. `alpha` is rounded to a multiple of 2^-16; `None` unless it is then
    /// above 0 and at most 65536, and the pool not empty.
    pub fn new(size: Bytes, alpha: f64) -> Option<SharedPool> {
        let scaled = (alpha * Self::ONE).round();
        let valid = (1.0..=Self::ONE * Self::ONE).contains(&scaled) && size > Bytes(0);
        valid.then_some(SharedPool { size, alpha: scaled as u64 })
    }

    /// The size of the pool.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// `alpha` as it was rounded.
    pub fn alpha(&self) -> f64 {
        self.alpha as f64 / Self::ONE
    }

    /// How long a queue may be while `pool_used` bytes of the pool are taken; rounded down.
    #[inline]
    pub fn threshold(&self, pool_used: Bytes) -> Bytes {
        let free = self.size.0.saturating_sub(pool_used.0);
        Bytes(((free as u128 * self.alpha as u128) >> 16).min(u64::MAX as u128) as u64)
    }

    /// Whether a queue of `queue_bytes` takes a packet: it must fit what is free, and the queue
    /// with it must not exceed the threshold as it stands before.
    #[inline]
    pub fn admits(&self, queue_bytes: Bytes, pool_used: Bytes, packet: Bytes) -> bool {
        let free = self.size.0.saturating_sub(pool_used.0);
        let grown = queue_bytes.0.saturating_add(packet.0);
        packet.0 <= free && grown <= self.threshold(pool_used).0
    }
}

/// Bytes that can still arrive through a link after a switch decided to pause its peer, rounded up:
/// the pause frame waits for one maximum packet and is sent, travels, the peer finishes a maximum
/// packet, and what is on the wire arrives. Headroom of at least this much per ingress port and
/// lossless class means that PFC never drops.
pub fn pfc_headroom(rate: Rate, propagation: Span, max_packet: Bytes, pause: Bytes) -> Bytes {
    let round_trip = 2 * propagation.0 as u128 * rate.0 as u128;
    let on_wire = round_trip.div_ceil(8_000_000_000_000);
    let on_wire = u64::try_from(on_wire).unwrap_or(u64::MAX);
    Bytes(on_wire.saturating_add(2 * max_packet.0 + pause.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_limits_count_what_they_say() {
        let bytes = PortLimit::Bytes(Bytes(3000));
        assert!(bytes.admits(Bytes(1500), 1, Bytes(1500)));
        assert!(!bytes.admits(Bytes(1501), 1, Bytes(1500)));
        let packets = PortLimit::Packets(8);
        assert!(packets.admits(Bytes(1 << 40), 7, Bytes(9000)));
        assert!(!packets.admits(Bytes(0), 8, Bytes(1)));
    }

    /// n greedy queues settle at alpha B / (1 + n alpha) each, and the rest stays free.
    #[test]
    fn dynamic_threshold_settles_at_the_published_share() {
        for (alpha, n) in [(1.0, 1usize), (1.0, 3), (0.5, 4), (8.0, 2)] {
            let pool = SharedPool::new(Bytes(1_000_000), alpha).unwrap();
            let mut queues = vec![Bytes(0); n];
            let mut used = Bytes(0);
            let mut grew = true;
            while grew {
                grew = false;
                for queue in &mut queues {
                    if pool.admits(*queue, used, Bytes(100)) {
                        *queue += Bytes(100);
                        used += Bytes(100);
                        grew = true;
                    }
                }
            }
            let share = alpha * 1e6 / (1.0 + n as f64 * alpha);
            for queue in queues {
                let off = (queue.0 as f64 - share).abs();
                assert!(off <= 100.0 * (1.0 + alpha) * n as f64, "{queue:?} not {share}");
            }
            assert!(used <= pool.size());
        }
    }

    #[test]
    fn a_packet_never_exceeds_the_pool() {
        let pool = SharedPool::new(Bytes(1000), 64.0).unwrap();
        assert!(pool.admits(Bytes(0), Bytes(900), Bytes(100)));
        assert!(!pool.admits(Bytes(0), Bytes(901), Bytes(100)));
        assert!(SharedPool::new(Bytes(1000), 0.0).is_none());
        assert!(SharedPool::new(Bytes(1000), f64::NAN).is_none());
        assert!(SharedPool::new(Bytes(0), 1.0).is_none());
    }

    /// 100 Gb/s, 1 us: 2 x 12500 bytes on the wire, two packets and the pause frame.
    #[test]
    fn headroom_by_hand() {
        let headroom = pfc_headroom(Rate::from_gbps(100), Span::from_us(1), Bytes(1538), Bytes(84));
        assert_eq!(headroom, Bytes(25_000 + 2 * 1538 + 84));
    }
}
