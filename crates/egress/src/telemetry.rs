//! Telemetry as a port writes it into packets (HPCC §3.1). What a record says is
//! [`incast_transport::telemetry`]'s.

use incast_transport::fault::{Fault, wrong};
use incast_transport::telemetry::{Gauge, MAX_RATES};
use incast_transport::{
    Bytes, FabricSite, INT_HOPS, IntRecord, Marker, PacketPool, PacketRef, PortSite, Time, View,
};

/// Writes a record into a packet's stack, and when it was written: what the packet tells is as old,
/// on average, as its records are. A packet without a stack, or whose stack is full, stays as it is.
#[inline]
pub fn stamp(packets: &mut PacketPool, packet: PacketRef, record: IntRecord, now: Time) {
    if let Some(written) = packets.add_record(packet, record) {
        let stamps = packets.stamps_mut(packet);
        if written == 1 {
            stamps.informed = now.0;
        } else {
            // Information ages from its writing on: the mean moves by the difference over n.
            let mean = stamps.informed;
            stamps.informed = mean + now.0.saturating_sub(mean) / written as u64;
        }
    }
}

/// A marker that writes a port's byte count and queue length into each departing data packet.
pub struct Stamper {
    gauge: Gauge,
}

impl Stamper {
    /// With `exact` records are not cut to their fields.
    pub fn new(site: &PortSite, exact: bool) -> Stamper {
        Stamper { gauge: Gauge::new(&site.fabric.rates, site.rate, exact) }
    }
}

impl Marker for Stamper {
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        if view.own && packets[packet].is_data() {
            // All classes count: all queued bytes delay the packet (GetNBytesTotal).
            let record = self.gauge.record(view.now, view.sent, view.all.bytes);
            stamp(packets, packet, record, view.now);
        }
        false
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }

    fn timed(&self) -> bool {
        false
    }
}

/// Switches on the longest path if their records fit; otherwise the error.
///
/// # Errors
/// A fabric of too many rates or too long paths.
pub fn depth(int_hops: Option<u8>, fabric: &FabricSite) -> Result<u8, Fault> {
    if fabric.rates.len() > MAX_RATES {
        let value = format!("{} different rates", fabric.rates.len());
        let problem = wrong("records tell rates of links apart");
        let problem = problem.expected(format!("at most {MAX_RATES} rates"));
        return Err(Fault::value("fabric.rate", value, problem));
    }
    let switches = fabric.hops.max(2) - 1;
    let room = int_hops.map_or(INT_HOPS as u32, u32::from);
    if switches > room {
        let value = int_hops.map_or("auto".into(), |hops| hops.to_string());
        let path = format!("the longest path has {switches} switches with a record each");
        let problem = match switches as usize <= INT_HOPS {
            true => wrong(path).expected(format!("{switches} to {INT_HOPS}")),
            false => wrong(format!(
                "{path}; headers have room for {INT_HOPS}, so this fabric is too deep"
            )),
        };
        return Err(Fault::value("int_hops", value, problem));
    }
    Ok(int_hops.unwrap_or(switches as u8))
}

/// Bytes of a stack of `hops` records.
pub fn stack_bytes(hops: u8) -> Bytes {
    Bytes(2 + 8 * hops as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_testkit::segment;
    use incast_transport::telemetry::{empty_stack, written};
    use incast_transport::{Framing, Rate, TransportId};

    fn at_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }

    #[test]
    fn stacks_grow_or_fill_up_and_say_how_old_they_are() {
        for reserved in [0, 5] {
            let mut packets = PacketPool::new(Framing::ETHERNET);
            let packet = packets.create(segment(TransportId(99), 0, 0, 1_000));
            let gauge = Gauge::new(&[Rate::from_gbps(10)], Rate::from_gbps(10), false);
            stamp(&mut packets, packet, gauge.record(at_ns(9), 0, 0), at_ns(9));
            assert_eq!(packets.charged(packet), 1_078, "without a stack nothing is written");
            packets.extend(packet, empty_stack(reserved));
            assert!(written(packets.extension(packet)).is_empty());
            for hop in 0..INT_HOPS as u64 + 2 {
                let now = at_ns(1_000 * (hop + 1));
                stamp(&mut packets, packet, gauge.record(now, 0, 0), now);
                let records = (hop + 1).min(INT_HOPS as u64);
                assert_eq!(written(packets.extension(packet)).len() as u64, records);
                let long = 2 + 8 * records.max(reserved as u64) as u32;
                assert_eq!(packets.charged(packet), 1_078 + long);
                // 1, 2, ... n us: on average (n + 1) / 2, a picosecond lost with each division.
                let mean = 500_000 * (records + 1);
                let informed = packets.stamps(packet).informed;
                assert!((mean - records..=mean).contains(&informed), "{informed} of {mean}");
            }
        }
    }
}
