//! What switches hold: shared buffers, and priority-based flow control.

use incast_fabric::Fabric;
use incast_world::{Buffers, DeadlockDetector, SwitchBuffer};

/// What the switches of a partition hold.
pub(crate) struct Books {
    /// Number of the first switch.
    first: u32,
    /// By switch.
    switches: Vec<SwitchBuffer>,
    /// There is anything to book.
    pub booked: bool,
    /// Links are paused.
    pub pauses: bool,
    /// Where links may come to wait for each other: who waits for whom.
    detector: Option<DeadlockDetector>,
    /// The circle that was found.
    pub deadlock: Vec<(u32, u8)>,
}

impl Books {
    pub fn new(rules: &Buffers, fabric: &Fabric) -> Books {
        let switches = fabric.hosts()..fabric.nodes();
        let buffer = |node| SwitchBuffer::new(rules, fabric.ports_of(incast_fabric::NodeId(node)));
        Books {
            first: fabric.hosts(),
            switches: switches.map(buffer).collect(),
            booked: rules.any(),
            pauses: rules.pfc.is_some(),
            detector: rules.deadlock_detector(),
            deadlock: vec![],
        }
    }

    /// What switch `node` holds, and who waits for whom.
    pub fn of(&mut self, node: u32) -> (&mut SwitchBuffer, Option<&mut DeadlockDetector>) {
        (&mut self.switches[(node - self.first) as usize], self.detector.as_mut())
    }

    /// Whether links may come to wait for each other.
    #[inline]
    pub fn may_deadlock(&self) -> bool {
        self.detector.is_some()
    }

    /// The open classes of a port are these now.
    pub fn open(&mut self, port: u32, open: u8) {
        if let Some(detector) = &mut self.detector {
            detector.set_open(port, open);
        }
    }

    /// At the end of an instant: whether there is a deadlock since then.
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
