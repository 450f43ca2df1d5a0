//! Marking at random, the more likely the longer the queue (RED with the instantaneous queue).

use incast_transport::fault::{Fault, Problem, expected};
use incast_transport::parameter::{Setting, Value, read};
use incast_transport::{
    Bytes, Ecn, Limit, Marker, Packet, PacketPool, PacketRef, Random, Rate, View,
};

/// How likely a mark is, by the charged bytes that wait.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Red {
    /// Up to here never.
    pub min: Bytes,
    /// From here always.
    pub max: Bytes,
    /// Just below `max`, 0 to 1; in between in proportion.
    pub probability: f64,
}

/// Refuses a `mark_min` above `mark_max`: nothing would be marked as either says.
///
/// # Errors
/// That, as an error of `mark_min`.
pub fn check_thresholds(min: Bytes, max: Bytes) -> Result<(), Fault> {
    let problem = || expected(format!("at most mark_max, {max}"));
    let refused = || Fault::value("mark_min", min, problem());
    (min <= max).then_some(()).ok_or_else(refused)
}

/// `min/max/probability`, such as `5KB/200KB/0.01`.
impl Value for Red {
    fn read(setting: &Setting) -> Result<Red, Problem> {
        let text = setting.to_string();
        let parts: Vec<&str> = text.split('/').map(str::trim).collect();
        let [min, max, probability] = parts[..] else {
            return Err(expected("MIN/MAX/PROBABILITY such as `5KB/200KB/0.01`"));
        };
        let (min, max) = (read(min)?, read(max)?);
        let probability: f64 = read(probability)?;
        if !(0.0..=1.0).contains(&probability) || max < min || max == Bytes(0) {
            return Err(expected("a minimum up to the maximum, and a probability of 0 to 1"));
        }
        Ok(Red { min, max, probability })
    }

    fn show(&self) -> String {
        format!("{}/{}/{}", self.min, self.max, self.probability)
    }
}

impl Red {
    /// The thresholds of a port of `rate` if these are those of a port of `reference`; rounded
    /// down to bytes.
    pub fn scaled(self, rate: Rate, reference: Rate) -> Red {
        let scale =
            |bytes: Bytes| Bytes((bytes.0 as u128 * rate.0 as u128 / reference.0 as u128) as u64);
        Red { min: scale(self.min), max: scale(self.max), ..self }
    }

    /// The probability of a mark when `waiting` charged bytes wait.
    pub fn at(&self, waiting: u64) -> f64 {
        if waiting >= self.max.0 {
            return if waiting > self.min.0 { 1.0 } else { 0.0 };
        }
        let above = waiting.saturating_sub(self.min.0) as f64;
        self.probability * above / (self.max.0.saturating_sub(self.min.0)).max(1) as f64
    }
}

/// When a packet is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// Before it waits.
    Enqueue,
    /// As its transmission begins; what stays behind counts.
    Dequeue,
}

/// Sets CE on its own ECN-capable packets by [`Red`], whatever else waits in the same queue. Two
/// transports with the same rule that share a queue are so marked alike, and each packet once.
pub struct RedMarker {
    red: Red,
    moment: Moment,
    random: Random,
}

/// Whether a packet can be marked.
#[inline]
fn capable(packet: &Packet) -> bool {
    packet.mark == Ecn::Ect0 as u8 || packet.mark == Ecn::Ect1 as u8
}

impl RedMarker {
    /// A marker for one port.
    pub fn new(red: Red, moment: Moment) -> RedMarker {
        RedMarker { red, moment, random: Random::new(0, 0, 0) }
    }

    #[inline]
    fn look(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        if !view.own || !capable(&packets[handle]) {
            return false;
        }
        let probability = self.red.at(view.data.bytes);
        let marked = probability >= 1.0 || probability > 0.0 && self.random.chance(probability);
        if marked {
            *packets.mark_mut(handle) = Ecn::Ce as u8;
        }
        // Marked or not, this is how old the receiver's knowledge will be.
        packets.stamps_mut(handle).informed = view.now.0;
        marked
    }
}

impl Marker for RedMarker {
    fn begin(&mut self, random: &mut Random) {
        self.random = Random::new(random.next_u64(), 0, 0);
    }

    #[inline]
    fn on_enqueue(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        self.look(packets, handle, view)
    }

    #[inline]
    fn on_dequeue(&mut self, packets: &mut PacketPool, handle: PacketRef, view: &View) -> bool {
        self.look(packets, handle, view)
    }

    fn sets_ce(&self) -> bool {
        true
    }

    fn marks_from(&self) -> Option<Limit> {
        let Red { min, max, probability } = self.red;
        let above = min.0.saturating_add(1);
        Some(Limit::Bytes(if probability > 0.0 { above } else { above.max(max.0) }))
    }

    fn sees(&self) -> (bool, bool) {
        (self.moment == Moment::Enqueue, self.moment == Moment::Dequeue)
    }

    fn timed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_testkit::{MarkerDriver, segment};
    use incast_transport::{Framing, Time, TransportId};

    const RED: Red = Red { min: Bytes(5_000), max: Bytes(200_000), probability: 0.01 };

    #[test]
    fn probability_rises_between_the_thresholds_and_jumps() {
        assert_eq!(RED.at(0), 0.0);
        assert_eq!(RED.at(5_000), 0.0);
        assert!((RED.at(102_500) - 0.005).abs() < 1e-12);
        assert!(RED.at(199_999) < 0.01 && RED.at(199_999) > 0.009_99);
        assert_eq!(RED.at(200_000), 1.0);
        assert_eq!(RED.at(u64::MAX), 1.0);
        // One threshold.
        let step = Red { min: Bytes(30_000), max: Bytes(30_000), probability: 1.0 };
        assert_eq!((step.at(30_000), step.at(30_001)), (0.0, 1.0));
    }

    #[test]
    fn the_shortest_queue_that_marks() {
        let from = |red| RedMarker::new(red, Moment::Enqueue).marks_from();
        for red in [
            RED,
            Red { probability: 0.0, ..RED },
            Red { min: RED.max, ..RED },
            Red { min: RED.max, probability: 0.0, ..RED },
        ] {
            let Some(Limit::Bytes(least)) = from(red) else { panic!("{red:?}") };
            assert!(red.at(least - 1) == 0.0 && red.at(least) > 0.0, "{red:?}: {least}");
        }
    }

    #[test]
    fn a_profile_is_one_value() {
        assert_eq!(read("5KB / 200KB / 0.01"), Ok(RED));
        assert_eq!(read(&RED.show()), Ok(RED));
        for wrong in ["5KB/200KB", "200KB/5KB/0.1", "5KB/200KB/2", "0B/0B/1", "a/b/c"] {
            assert!(read::<Red>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn thresholds_scale_with_the_rate() {
        let red = RED.scaled(Rate::from_gbps(10), Rate::from_gbps(25));
        assert_eq!((red.min, red.max, red.probability), (Bytes(2_000), Bytes(80_000), 0.01));
    }

    fn marks(seed: u64, waiting: u64, mark: Ecn, transport: u8) -> u32 {
        let red = Red { probability: 0.2, ..RED };
        let mut marker = RedMarker::new(red, Moment::Dequeue);
        marker.begin(&mut Random::new(seed, 3, 4));
        let mut driver =
            MarkerDriver::new(marker, Framing::ETHERNET, Rate::from_gbps(10)).of(TransportId(11));
        let segment = segment(TransportId(transport), 0, 0, 1_460);
        let packet = Packet { mark: mark as u8, ..segment };
        let mut count = 0;
        for _ in 0..10_000 {
            let handle = driver.create(packet);
            let marked = driver.dequeue(Time(9), handle, waiting);
            assert_eq!(marked, driver.packets[handle].mark != mark as u8);
            let looked_at = transport == 11 && capable(&packet);
            assert_eq!(driver.packets.stamps(handle).informed == 9, looked_at);
            count += marked as u32;
            driver.packets.free(handle);
        }
        count
    }

    #[test]
    fn marks_are_drawn_with_that_probability() {
        assert_eq!(marks(1, 5_000, Ecn::Ect0, 11), 0);
        let half = marks(1, 102_500, Ecn::Ect0, 11);
        assert!((900..1_100).contains(&half), "{half} of 10000 with probability 0.1");
        assert_eq!(half, marks(1, 102_500, Ecn::Ect1, 11), "the same draws");
        assert_ne!(half, marks(2, 102_500, Ecn::Ect0, 11), "other draws");
        assert_eq!(marks(1, 200_000, Ecn::Ect0, 11), 10_000);
        assert_eq!(marks(1, 200_000, Ecn::NotEct, 11), 0);
        assert_eq!(marks(1, 200_000, Ecn::Ce, 11), 0, "marked upstream");
        assert_eq!(marks(1, 200_000, Ecn::Ect0, 1), 0, "another transport's");
    }
}
