//! Marking above a threshold of the instantaneous queue.

use incast_transport::fault::{Problem, expected};
use incast_transport::parameter::{Setting, Value};
use incast_transport::{Bytes, Ecn, Limit, Marker, PacketPool, PacketRef, PortSite, Rate, View};

/// A queue length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threshold {
    /// From the port's rate, the base RTT and the buffer.
    Auto,
    /// In waiting packets, whatever their size.
    Packets(u32),
    /// In waiting charged bytes.
    Bytes(Bytes),
}

impl Value for Threshold {
    fn read(setting: &Setting) -> Result<Threshold, Problem> {
        let text = setting.to_string();
        if text == "auto" {
            return Ok(Threshold::Auto);
        }
        let packets = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"));
        let read = match packets {
            Some(count) => count.trim().parse().ok().map(Threshold::Packets),
            None => text.parse().ok().map(Threshold::Bytes),
        };
        read.ok_or_else(|| {
            expected("auto, a size such as `30KB`, or 1 to 4294967295 packets such as `65 packets`")
        })
    }

    fn show(&self) -> String {
        match self {
            Threshold::Auto => "auto".into(),
            Threshold::Packets(count) => format!("{count} packets"),
            Threshold::Bytes(bytes) => bytes.to_string(),
        }
    }
}

impl Threshold {
    /// The threshold of a port of `rate` if this is that of a port of `reference`; rounded down, at
    /// least a packet or a byte. `auto` stays.
    pub fn scaled(self, rate: Rate, reference: Rate) -> Threshold {
        let scale = |count: u64| {
            (count as u128 * rate.0 as u128 / reference.0 as u128).clamp(1, u64::MAX as u128) as u64
        };
        match self {
            Threshold::Auto => Threshold::Auto,
            Threshold::Packets(count) => {
                Threshold::Packets(scale(count as u64).min(u32::MAX as u64) as u32)
            }
            Threshold::Bytes(bytes) => Threshold::Bytes(Bytes(scale(bytes.0))),
        }
    }

    /// What `auto` stands for at a port: the larger of 30 KB (DCTCP §3.4: 20 packets at 1 Gb/s)
    /// and rate x base RTT / 7 (DCTCP §3.3, Eq. 13) rounded up to a packet, but at most 70 % of
    /// the buffer.
    pub fn resolve(self, site: &PortSite) -> Threshold {
        if self != Threshold::Auto {
            return self;
        }
        let packet = site.fabric.framing.charged_mtu() as u64;
        let theory = site.rate.bytes_in(site.fabric.base_rtt).0.div_ceil(7);
        let wanted = (theory.div_ceil(packet) * packet).max(30_000);
        let buffer = site.buffer.bytes(packet as u32).0;
        Threshold::Bytes(Bytes(wanted.min((buffer as u128 * 7 / 10) as u64)))
    }
}

/// Sets CE on its own ECN-capable packets that find a queue of at least K (DCTCP §3.1), whatever
/// else waits there.
pub struct ThresholdMarker {
    packets: u32,
    bytes: u64,
}

impl ThresholdMarker {
    /// A marker for one port.
    pub fn new(threshold: Threshold, site: &PortSite) -> ThresholdMarker {
        let (packets, bytes) = match threshold.resolve(site) {
            Threshold::Packets(packets) => (packets, u64::MAX),
            Threshold::Bytes(Bytes(bytes)) => (u32::MAX, bytes),
            Threshold::Auto => unreachable!("auto was resolved"),
        };
        ThresholdMarker { packets, bytes }
    }
}

impl Marker for ThresholdMarker {
    #[inline]
    fn on_enqueue(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        // Data and ACKs are mixed, so this is written without branches.
        let mark = packets.mark_mut(handle);
        let capable = (*mark == Ecn::Ect0 as u8) | (*mark == Ecn::Ect1 as u8);
        let own = view.own & capable;
        let full = (view.data.bytes >= self.bytes) | (view.data.packets >= self.packets);
        *mark = if own & full { Ecn::Ce as u8 } else { *mark };
        // Marked or not, this is how old the receiver's knowledge will be.
        let informed = &mut packets.stamps_mut(handle).informed;
        *informed = if own { view.now.0 } else { *informed };
        own & full
    }

    fn sets_ce(&self) -> bool {
        true
    }

    fn marks_from(&self) -> Option<Limit> {
        let in_bytes = self.packets == u32::MAX;
        Some(if in_bytes { Limit::Bytes(self.bytes) } else { Limit::Packets(self.packets) })
    }

    fn sees(&self) -> (bool, bool) {
        (true, false)
    }

    fn timed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_testkit::{MarkerDriver, at, segment, switch_port};
    use incast_transport::{Framing, Limit, Packet, Span, TransportId};

    fn site(rate: Rate, base_rtt: Span, buffer: Limit) -> PortSite {
        PortSite { buffer, ..switch_port(rate, base_rtt) }
    }

    #[test]
    fn packets_are_marked_from_the_threshold_on() {
        let site = site(Rate::from_gbps(10), Span::from_us(400), Limit::Packets(200));
        let mark = |threshold, waiting: u64, mark: Ecn, transport| {
            let marker = ThresholdMarker::new(threshold, &site);
            let mut driver =
                MarkerDriver::new(marker, Framing::ETHERNET, site.rate).of(TransportId(1));
            let segment = segment(TransportId(transport), 0, 0, 1_460);
            let packet = driver.create(Packet { mark: mark as u8, ..segment });
            let marked = driver.enqueue(at(9), packet, waiting * 1_538);
            let packets = driver.packets;
            (marked, packets[packet].mark, packets.stamps(packet).informed)
        };
        let (ect, ce, now) = (Ecn::Ect0 as u8, Ecn::Ce as u8, 9_000_000);
        for k in [Threshold::Packets(65), Threshold::Bytes(Bytes(65 * 1_538))] {
            assert_eq!(mark(k, 64, Ecn::Ect0, 1), (false, ect, now));
            assert_eq!(mark(k, 65, Ecn::Ect0, 1), (true, ce, now));
            assert_eq!(mark(k, 65, Ecn::Ect1, 1), (true, ce, now));
            assert_eq!(mark(k, 65, Ecn::NotEct, 1), (false, 0, 0));
            assert_eq!(mark(k, 65, Ecn::Ce, 1), (false, ce, 0), "marked upstream");
            assert_eq!(mark(k, 65, Ecn::Ect0, 2), (false, ect, 0), "another transport's");
        }
    }

    #[test]
    fn thresholds_scale_with_the_rate() {
        // HPCC's simulator: 30 KB at 10 Gb/s, 300 KB at 100 Gb/s.
        let [ten, hundred] = [10, 100].map(Rate::from_gbps);
        let kb = |bytes| Threshold::Bytes(Bytes(bytes));
        assert_eq!(kb(30_000).scaled(hundred, ten), kb(300_000));
        assert_eq!(kb(30_000).scaled(ten, hundred), kb(3_000));
        assert_eq!(Threshold::Packets(65).scaled(hundred, ten), Threshold::Packets(650));
        assert_eq!(Threshold::Packets(5).scaled(ten, hundred), Threshold::Packets(1));
        assert_eq!(Threshold::Auto.scaled(ten, hundred), Threshold::Auto);
    }

    #[test]
    fn the_default_threshold_follows_theory_between_its_limits() {
        let auto = |rate, rtt, buffer| match Threshold::Auto.resolve(&site(rate, rtt, buffer)) {
            Threshold::Bytes(bytes) => bytes.0,
            other => panic!("{other:?}"),
        };
        // 10 Gb/s x 400 us / 7 = 71.4 KB: 47 packets of 1538 B.
        assert_eq!(auto(Rate::from_gbps(10), Span::from_us(400), Limit::Unlimited), 47 * 1_538);
        // 40 Gb/s x 10 us / 7 = 7.1 KB: the floor.
        assert_eq!(auto(Rate::from_gbps(40), Span::from_us(10), Limit::Bytes(131_072)), 30_000);
        // 70 % of 20 packets.
        assert_eq!(auto(Rate::from_gbps(10), Span::from_us(400), Limit::Packets(20)), 14 * 1_538);
    }
}
