//! Priority-based flow control (IEEE 802.1Qbb): what a switch may hold for the links that lead into
//! it, and when it stops and releases their senders. Counts and rules; worlds move the packets.
//!
//! Each link into a switch has, for each lossless class, a threshold and behind it a headroom. What
//! exceeds the threshold goes into the headroom and pauses the class at the sender; when the
//! headroom is empty again and the rest far enough below the threshold, the class is released. A
//! pause holds until it is lifted: a real switch repeats its frames before their time runs out, and
//! these repetitions are left out.

use incast_fabric::buffer::pfc_headroom;
use incast_fabric::{Fabric, PortSpec};
use incast_transport::{
    Bytes, Classes, FlowId, Framing, Header, HostId, Packet, Span, Stamps, TransportId,
};
use std::sync::Arc;

/// One buffer for all ports of a switch, with a dynamic threshold: a port may hold
/// `alpha x (pool - used)` bytes (Choudhury and Hahne 1998).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedBuffer {
    /// Bytes of each switch.
    pub pool: u64,
    /// The threshold's factor.
    pub alpha: f64,
}

impl SharedBuffer {
    /// Whether a switch of which `used` bytes are taken, `queued` of them by the port, has room
    /// there for `charged` more: they must fit what is free, and the port's share with them must
    /// not exceed the threshold as it stands before.
    #[inline]
    pub fn admits(&self, used: u64, queued: u64, charged: u32) -> bool {
        let grown = queued + charged as u64;
        charged as u64 <= self.pool - used && grown <= self.threshold(used)
    }

    /// What one port may hold while `used` bytes are taken; rounded down.
    #[inline]
    pub fn threshold(&self, used: u64) -> u64 {
        (self.alpha * self.pool.saturating_sub(used) as f64) as u64
    }
}

/// What becomes of packets of a class that is stuck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// They are dropped.
    Drop,
    /// They are sent in spite of the pause.
    Forward,
}

impl Stuck {
    /// Both, with their names in scenarios.
    pub const NAMES: [(&'static str, Stuck); 2] =
        [("drop", Stuck::Drop), ("forward", Stuck::Forward)];
}

/// When a class is stuck, and what then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WatchdogRules {
    /// A class is stuck that has been paused for so long.
    pub detect: Span,
    /// It is no longer once it has not been paused for so long.
    pub restore: Span,
    /// What becomes of its packets.
    pub action: Stuck,
}

/// The rules of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Pfc {
    /// Classes that are never dropped.
    pub lossless: Classes,
    /// Charged bytes a link may hold in a class, beyond its reserve, before its sender is paused;
    /// with a shared buffer the pool's dynamic threshold if that is lower.
    pub xoff: u64,
    /// The same for the link into each port, indexed as `headroom`; empty: `xoff` for all.
    pub xoff_by_port: Vec<u64>,
    /// The class is released when it holds at least this much less than the threshold.
    pub release: u64,
    /// Headroom of the link into each port, charged bytes a class; indexed by the port that leads
    /// back.
    pub headroom: Vec<u64>,
    /// Bytes a port may queue of classes that are not lossless.
    pub lossy: u64,
    /// The pool of each switch.
    pub shared: Option<SharedBuffer>,
    /// Factor of the pool's dynamic threshold for the link into each port, indexed as `headroom`;
    /// empty: the pool's own.
    pub alpha: Vec<f64>,
    /// Charged bytes of a class that a link may hold apart from threshold and pool.
    pub reserve: u64,
    /// The same for the link into each port, indexed as `headroom`; empty: `reserve` for all.
    pub reserve_by_port: Vec<u64>,
    /// Bytes of the pool that are set aside for headroom and reserves in the switch of each port;
    /// empty: these come on top of the pool.
    pub set_aside: Vec<u64>,
    /// Routes have a cycle of links that may wait for each other, so deadlocks are searched for.
    pub cyclic: bool,
    /// What ends pauses that last too long.
    pub watchdog: Option<WatchdogRules>,
}

/// What a link holds in the switch it leads into.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ingress {
    /// Up to the threshold, by class.
    below: [u64; 8],
    /// In the headroom, by class.
    above: [u64; 8],
    /// Classes that have to pause.
    pub paused: u8,
    /// Classes of which the last frame said so.
    pub signalled: u8,
}

impl Ingress {
    /// Charged bytes held of a class.
    pub fn held(&self, class: u8) -> u64 {
        self.below[class as usize] + self.above[class as usize]
    }

    /// Of these, charged bytes that are not in the headroom.
    pub fn below(&self, class: u8) -> u64 {
        self.below[class as usize]
    }

    /// The link works again after a failure: its sender takes all classes for open. Whether it has
    /// to be told otherwise.
    pub fn reconnect(&mut self) -> bool {
        self.signalled = 0;
        self.paused != 0
    }

    /// The frame with what has changed since the last one, if anything has.
    pub fn frame(&mut self) -> Option<Packet> {
        let classes = self.paused ^ self.signalled;
        self.signalled = self.paused;
        let paused = classes & self.paused;
        let quanta = if paused == 0 { 0 } else { u16::MAX };
        let header = Header::Pause { classes, paused, quanta, spare_low: 0, spare: 0 };
        let hosts = (HostId(0), HostId(0));
        (classes != 0)
            .then(|| Packet::header_only(TransportId(0), FlowId(0), hosts.0, hosts.1, 0, header))
    }
}

/// The classes that are open after a pause frame; `None` for any other packet.
#[inline]
pub fn open_after(open: u8, header: &Header) -> Option<u8> {
    match *header {
        Header::Pause { classes, paused, .. } => Some(open & !classes | classes & !paused),
        _ => None,
    }
}

/// Whether a pause frame has only classes that it opens or closes: pauses and releases of a
/// class take turns.
pub fn is_change(open: u8, header: &Header) -> bool {
    match *header {
        Header::Pause { classes, paused, .. } => open & classes == paused & classes,
        _ => false,
    }
}

impl Pfc {
    /// Whether a class is lossless.
    #[inline]
    pub fn guards(&self, class: u8) -> bool {
        self.lossless.has(class)
    }

    /// What the link into `port` may hold of a class beyond its reserve before it pauses, where
    /// `used` bytes of the pool are taken.
    fn threshold(&self, port: u32, used: u64) -> u64 {
        let xoff = self.xoff_by_port.get(port as usize).copied().unwrap_or(self.xoff);
        let Some(shared) = self.shared else { return xoff };
        let alpha = self.alpha.get(port as usize).copied().unwrap_or(shared.alpha);
        SharedBuffer { alpha, ..shared }.threshold(used).min(xoff)
    }

    /// The smallest and the largest threshold of a link, in bytes, apart from a shared buffer's.
    pub fn xoff_range(&self) -> (u64, u64) {
        let all = || self.xoff_by_port.iter().copied();
        all().min().zip(all().max()).unwrap_or((self.xoff, self.xoff))
    }

    /// Charged bytes of a class that the link into `port` may hold apart from threshold and pool.
    pub fn reserve_of(&self, port: u32) -> u64 {
        self.reserve_by_port.get(port as usize).copied().unwrap_or(self.reserve)
    }

    /// Of `bytes` that the link into `port` holds of a class, those beyond its reserve.
    pub(crate) fn beyond_reserve(&self, port: u32, bytes: u64) -> u64 {
        bytes.saturating_sub(self.reserve_of(port))
    }

    /// Bytes of the pool that are set aside in the switch of `port`.
    pub(crate) fn set_aside(&self, port: u32) -> u64 {
        self.set_aside.get(port as usize).copied().unwrap_or(0)
    }

    /// Whether the link into `port`, which holds `bytes` of a class, none of them in the headroom,
    /// is released where `used` bytes of the pool are taken.
    pub(crate) fn is_low(&self, port: u32, bytes: u64, used: u64) -> bool {
        let shared = self.beyond_reserve(port, bytes);
        shared == 0 || shared.saturating_add(self.release) <= self.threshold(port, used)
    }

    /// Takes `charged` bytes that came by the link into `port`; false if there is no room, which
    /// a sufficient headroom never lets happen. May set [`Ingress::paused`].
    pub fn admit(&self, link: &mut Ingress, used: &mut u64, port: u32, of: Charge) -> bool {
        let (class, charged) = (of.class as usize, of.bytes as u64);
        let before = self.beyond_reserve(port, link.below[class]);
        let after = self.beyond_reserve(port, link.below[class] + charged);
        if link.above[class] == 0 && (after == 0 || after <= self.threshold(port, *used)) {
            link.below[class] += charged;
            *used += after - before;
            return true;
        }
        if link.above[class] + charged > self.headroom[port as usize] {
            return false;
        }
        link.above[class] += charged;
        link.paused |= 1 << class;
        true
    }

    /// Gives them back, the headroom first. May clear [`Ingress::paused`].
    pub fn release(&self, link: &mut Ingress, used: &mut u64, port: u32, of: Charge) {
        let (class, charged) = (of.class as usize, of.bytes as u64);
        let above = link.above[class].min(charged);
        link.above[class] -= above;
        let before = self.beyond_reserve(port, link.below[class]);
        link.below[class] -= charged - above;
        *used -= before - self.beyond_reserve(port, link.below[class]);
        if link.above[class] == 0 && self.is_low(port, link.below[class], *used) {
            link.paused &= !(1 << class);
        }
    }
}

/// Bytes of a class that a switch accounts for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charge {
    /// Priority.
    pub class: u8,
    /// Charged bytes, below 2^24.
    pub bytes: u32,
}

/// In `Stamps::ingress`: the packet came by no link, the switch made it.
pub const OWN: u32 = u32::MAX;
/// In `Stamps::admitted`: where the class begins under which a packet was booked.
const CLASS_SHIFT: u32 = 24;

/// What rules a switch's memory, beyond the limits of its ports.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffers {
    /// Priority-based flow control.
    pub pfc: Option<Arc<Pfc>>,
    /// One pool for all ports.
    pub shared: Option<SharedBuffer>,
}

/// Buffer occupancy that one packet changes.
pub(crate) struct Occupancy<'a> {
    /// Bytes of the pool in use.
    pub used: &'a mut u64,
    /// Bytes queued at the packet's egress, with PFC of classes that are not lossless.
    pub queued: &'a mut u64,
    /// With PFC: what the link holds by which the packet came, if it came by one.
    pub link: Option<&'a mut Ingress>,
}

/// Class and charged bytes charged for a packet.
fn charge_of(stamps: &Stamps) -> Charge {
    let class = (stamps.admitted >> CLASS_SHIFT) as u8;
    Charge { class, bytes: stamps.admitted & ((1 << CLASS_SHIFT) - 1) }
}

impl Buffers {
    /// Class and charged bytes charged for a packet of a lossless class.
    pub fn guarded(&self, stamps: &Stamps) -> Option<Charge> {
        let of = charge_of(stamps);
        let guarded = self.pfc.as_ref().is_some_and(|pfc| pfc.guards(of.class));
        (of.bytes > 0 && guarded).then_some(of)
    }

    /// Whether there is anything to account for.
    pub fn any(&self) -> bool {
        self.pfc.is_some() || self.shared.is_some()
    }

    /// Takes a packet of this class and charge, if there is room: its stamps remember it. True if
    /// so. May set [`Ingress::paused`].
    pub(crate) fn admit(&self, occupancy: Occupancy<'_>, stamps: &mut Stamps, of: Charge) -> bool {
        let Charge { class, bytes: charged } = of;
        let Occupancy { used, queued, link } = occupancy;
        stamps.admitted = 0;
        let fits = match (&self.pfc, self.shared) {
            (Some(pfc), _) if pfc.guards(class) => {
                // What the switch itself made has no link to be held back by.
                let Some(link) = link else { return true };
                pfc.admit(link, used, stamps.ingress, of)
            }
            (pfc, shared) => {
                let fits = match (shared, pfc) {
                    (Some(shared), _) => shared.admits(*used, *queued, charged),
                    (None, Some(pfc)) => *queued + charged as u64 <= pfc.lossy,
                    (None, None) => true,
                };
                if fits {
                    *queued += charged as u64;
                    *used += charged as u64;
                }
                fits
            }
        };
        if fits {
            stamps.admitted = charged | (class as u32) << CLASS_SHIFT;
        }
        fits
    }

    /// Gives a packet's room back. May clear [`Ingress::paused`].
    pub(crate) fn release(&self, occupancy: Occupancy<'_>, stamps: &mut Stamps) {
        let of = charge_of(stamps);
        let Charge { class, bytes: charged } = of;
        stamps.admitted = 0;
        let Occupancy { used, queued, link } = occupancy;
        match (&self.pfc, link) {
            _ if charged == 0 => {}
            (Some(pfc), Some(link)) if pfc.guards(class) => {
                pfc.release(link, used, stamps.ingress, of);
            }
            _ => {
                *used -= charged as u64;
                *queued -= charged as u64;
            }
        }
    }
}

/// The headroom that never overflows, for the link into each port: what can still arrive after a
/// packet went over the threshold (`pfc_headroom`), that packet, and a pause frame that was on its
/// way for other classes.
pub fn sufficient_headroom(fabric: &Fabric, framing: Framing) -> Vec<u64> {
    let (pause, largest) = (framing.charged_header() as u64, framing.charged_mtu() as u64);
    let of = |port: &PortSpec| {
        let back = &fabric.ports()[port.reverse.0 as usize];
        let propagation = back.propagation.max(port.propagation);
        let link = pfc_headroom(back.rate, propagation, Bytes(largest), Bytes(pause));
        // The frames leave by a link that may be slower than the one they stop.
        let slower = back.rate.0.div_ceil(port.rate.0) - 1;
        link.0 + largest + pause + slower * (largest + 2 * pause)
    };
    fabric.ports().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(shared: Option<SharedBuffer>) -> Pfc {
        let headroom = vec![3_000; 2];
        Pfc {
            lossless: Classes(0b10),
            xoff: 10_000,
            xoff_by_port: vec![],
            release: 2_000,
            headroom,
            lossy: 0,
            shared,
            alpha: vec![],
            reserve: 0,
            reserve_by_port: vec![],
            set_aside: vec![],
            cyclic: false,
            watchdog: None,
        }
    }

    /// 10 packets of 1,000 B fit, the eleventh pauses, the fourteenth finds no room; released when
    /// 8 are left.
    #[test]
    fn pauses_above_the_threshold_and_releases_below_it() {
        let (pfc, mut link, mut used) = (rules(None), Ingress::default(), 0);
        for held in 1..=13u64 {
            assert!(pfc.admit(&mut link, &mut used, 1, Charge { class: 1, bytes: 1_000 }));
            assert_eq!(link.paused, if held > 10 { 2 } else { 0 });
            assert_eq!(link.held(1), held * 1_000);
        }
        assert!(!pfc.admit(&mut link, &mut used, 1, Charge { class: 1, bytes: 1_000 }));
        let frame = link.frame().expect("a change").header;
        assert_eq!(open_after(0xFF, &frame), Some(0xFD));
        assert!(link.frame().is_none(), "one frame per change");
        for held in (0..13u64).rev() {
            pfc.release(&mut link, &mut used, 1, Charge { class: 1, bytes: 1_000 });
            assert_eq!(link.paused, if held > 8 { 2 } else { 0 }, "{held}");
        }
        let frame = link.frame().expect("a change").header;
        assert_eq!(open_after(0xFD, &frame), Some(0xFF));
        assert_eq!((used, link), (0, Ingress::default()));
    }

    /// With a pool the threshold falls as others fill it: alpha 0.5 of what is free.
    #[test]
    fn a_full_pool_pauses_earlier() {
        let pfc = rules(Some(SharedBuffer { pool: 20_000, alpha: 0.5 }));
        let (mut a, mut b, mut used) = (Ingress::default(), Ingress::default(), 0);
        while a.paused == 0 {
            assert!(pfc.admit(&mut a, &mut used, 0, Charge { class: 1, bytes: 1_000 }));
        }
        assert_eq!(a.held(1), 7_000 + 1_000, "6 <= (20 - 6) / 2 lets the seventh in");
        while b.paused == 0 {
            assert!(pfc.admit(&mut b, &mut used, 1, Charge { class: 1, bytes: 1_000 }));
        }
        assert!(b.held(1) < 7_000);
        assert_eq!(used, a.below[1] + b.below[1], "headroom is not the pool's");
    }

    /// A faster link pauses later, and holds more apart from the threshold.
    #[test]
    fn thresholds_and_reserves_by_port() {
        let pfc = Pfc {
            xoff_by_port: vec![4_000, 7_000],
            reserve_by_port: vec![0, 2_000],
            ..rules(None)
        };
        for (port, most) in [(0, 4), (1, 9)] {
            let (mut link, mut used) = (Ingress::default(), 0);
            for held in 1..=most + 2 {
                assert!(pfc.admit(&mut link, &mut used, port, Charge { class: 1, bytes: 1_000 }));
                assert_eq!(link.paused, if held > most { 2 } else { 0 }, "{port}: {held}");
            }
        }
    }

    /// HPCC's rule by hand: of 20 packets of pool 4 are set aside; a link may hold 2 packets apart
    /// from the pool, and then an eighth of what is free, a half if its link is faster.
    #[test]
    fn alpha_by_port_reserve_and_what_is_set_aside() {
        let pfc = Pfc {
            alpha: vec![0.125, 0.5],
            reserve: 2_000,
            set_aside: vec![4_000; 2],
            release: 0,
            ..rules(Some(SharedBuffer { pool: 20_000, alpha: 1.0 }))
        };
        let of = Charge { class: 1, bytes: 1_000 };
        for port in [0, 1] {
            let (mut link, mut used) = (Ingress::default(), pfc.set_aside(port));
            let mut below = 0;
            while link.paused == 0 {
                assert!(link.below(1) <= 2_000 || used > 4_000);
                below = link.below(1);
                assert!(pfc.admit(&mut link, &mut used, port, of));
            }
            // Reserve, and n with n <= alpha (16 - (n - 1)) packets: 1/8: 1.9, 1/2: 5.7.
            let most = match port {
                0 => 1_000,
                _ => 5_000,
            };
            assert_eq!(below, 2_000 + most, "{port}");
            assert_eq!(used, 4_000 + most);
            // Released in the order of the headroom, the pool and the reserve.
            let mut held = link.held(1);
            while held > 0 {
                pfc.release(&mut link, &mut used, port, of);
                held -= 1_000;
                assert_eq!(used, 4_000 + link.below(1).saturating_sub(2_000));
            }
            assert_eq!((used, link), (4_000, Ingress::default()));
        }
    }
}
