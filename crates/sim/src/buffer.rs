//! Switch buffers: shared memory and priority-based flow control.

use incast_fabric::Fabric;
use incast_world::{Buffers, DeadlockDetector, SwitchBuffer, Watchdog};
use std::collections::BTreeMap;

/// The buffers of the switches of a partition.
pub(crate) struct SwitchBuffers {
    /// Number of the first switch.
    first: u32,
    /// Buffers by switch.
    switches: Vec<SwitchBuffer>,
    /// Switches share a buffer or pause links.
    pub in_use: bool,
    /// Switches pause links.
    pub pauses: bool,
    /// The watchdog of a port that was never paused, if ports have one.
    watchdog: Option<Watchdog>,
    /// Those of ports that were.
    watchdogs: BTreeMap<u32, Watchdog>,
    /// Present if pauses can deadlock.
    detector: Option<DeadlockDetector>,
    /// The cycle of a detected deadlock.
    pub deadlock: Vec<(u32, u8)>,
}

impl SwitchBuffers {
    pub fn new(rules: &Buffers, fabric: &Fabric) -> SwitchBuffers {
        let last = if rules.any() { fabric.nodes() } else { fabric.hosts() };
        let switches = fabric.hosts()..last;
        let buffer = |node| SwitchBuffer::new(rules, fabric.ports_of(incast_fabric::NodeId(node)));
        SwitchBuffers {
            first: fabric.hosts(),
            switches: switches.map(buffer).collect(),
            in_use: rules.any(),
            pauses: rules.pfc.is_some(),
            watchdog: Watchdog::of(rules),
            watchdogs: BTreeMap::new(),
            detector: rules.deadlock_detector(),
            deadlock: vec![],
        }
    }

    /// The buffer of switch `node`, and the deadlock detector.
    pub fn of(&mut self, node: u32) -> (&mut SwitchBuffer, Option<&mut DeadlockDetector>) {
        (&mut self.switches[(node - self.first) as usize], self.detector.as_mut())
    }

    /// Whether pauses can deadlock.
    #[inline]
    pub fn may_deadlock(&self) -> bool {
        self.detector.is_some()
    }

    /// The watchdog of a switch port, if it has one.
    pub fn watchdog(&mut self, port: u32) -> Option<&mut Watchdog> {
        let fresh = self.watchdog.as_ref()?;
        Some(self.watchdogs.entry(port).or_insert_with(|| fresh.clone()))
    }

    /// The watchdog of a port that was paused once.
    pub fn watching(&mut self, port: u32) -> Option<&mut Watchdog> {
        self.watchdog.as_ref()?;
        self.watchdogs.get_mut(&port)
    }

    /// The link of a port works again: nothing is paused.
    pub fn forget(&mut self, port: u32) {
        self.watchdogs.remove(&port);
    }

    /// Whether packets of a class are dropped at a port, because it is stuck.
    pub fn drops(&self, port: u32, class: u8) -> bool {
        let drops = |watchdog: &Watchdog| watchdog.drops() >> class & 1 != 0;
        self.watchdog.is_some() && self.watchdogs.get(&port).is_some_and(drops)
    }

    /// Sets the open classes of a port.
    pub fn set_open(&mut self, port: u32, open: u8) {
        if let Some(detector) = &mut self.detector {
            detector.set_open(port, open);
        }
    }

    /// Searches for a deadlock; call it at the end of an instant. True once one has been found.
    #[cold]
    pub fn find_deadlock(&mut self, rules: &Buffers, fabric: &Fabric) -> bool {
        if let (Some(detector), Some(pfc)) = (&mut self.detector, &rules.pfc) {
            let below = |port: u32, class| match fabric.ports()[port as usize].node.0 {
                host if host < self.first => 0,
                node => self.switches[(node - self.first) as usize].below(port, class),
            };
            if let Some(cycle) = detector.find(fabric, pfc, below) {
                self.deadlock = cycle;
            }
        }
        !self.deadlock.is_empty()
    }
}
