//! Which of the equal paths a packet takes, for runs that record it; the same in both worlds.

use crate::{Setup, heading};
use incast_fabric::{Fabric, PortId, Routes};
use incast_transport::{PacketPool, PacketRef};
use std::sync::Arc;

/// Numbers the paths of packets: the places of the ports by which they left among equal ones, those
/// that no failure leaves out, as digits.
#[derive(Clone)]
pub struct PathRecorder {
    fabric: Arc<Fabric>,
    routes: Arc<Routes>,
}

impl PathRecorder {
    /// That of a run; `None` if it does not record paths.
    pub fn of(setup: &Setup) -> Option<PathRecorder> {
        let fabric = &setup.fabric;
        let recorder = || PathRecorder { fabric: fabric.clone(), routes: fabric.routes() };
        setup.options.record_paths.then(recorder)
    }

    /// A packet begins transmission at `port`.
    #[cold]
    pub fn note(&self, packets: &mut PacketPool, packet: PacketRef, port: u32) {
        let content = &packets[packet];
        if !content.is_data() {
            return;
        }
        let node = self.fabric.port(PortId(port)).node;
        let taken = match self.fabric.hosts() {
            hosts if node.0 < hosts => 0,
            _ => {
                let (before, dst) = (packets.path_taken(packet), heading(content).0);
                match self.routes.next(node, dst) {
                    [] | [_] => before,
                    ports => {
                        let index = ports.iter().position(|one| one.0 == port);
                        let index = index.map_or(port, |index| index as u32);
                        before.wrapping_mul(ports.len() as u32).wrapping_add(index)
                    }
                }
            }
        };
        packets.set_path_taken(packet, taken);
    }
}
