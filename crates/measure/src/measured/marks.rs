//! ECN marks of a packet along its path.

use super::{Measure, Of};
use crate::Run;
use incast_transport::{Packet, Time};

/// A packet as a port begins to send it: the port's number, when, and the packet.
pub type Sent<'a> = (u32, Time, &'a Packet);

impl Measure {
    /// The ports whose packets must be captured, in the order in which they are named.
    pub fn captures(&self) -> Vec<String> {
        match (&self.port, self.kind.of()) {
            (Some(ports), Of::Packet) => ports.split(',').map(str::to_string).collect(),
            _ => vec![],
        }
    }

    /// The ECN bits of one data packet of `flow` as it leaves each port: the first
    /// packet that leaves the first port at `from` or later. `None` if it does not leave them all,
    /// in their order.
    pub fn marks(&self, run: &Run, sent: &[Sent<'_>]) -> Option<Vec<u32>> {
        let (mut since, _) = self.window(run);
        let mut followed = None;
        let mut marks = vec![];
        for name in self.captures() {
            let port = run.ports.iter().position(|known| known.name == name)? as u32;
            let left = sent.iter().find(|(own, at, packet)| {
                *own == port
                    && *at >= since
                    && Some(packet.flow.0) == self.flow
                    && packet.is_data()
                    && followed.is_none_or(|key| key == packet.header.data_key())
            })?;
            since = left.1;
            followed = Some(left.2.header.data_key());
            marks.push((left.2.mark & 3) as u32);
        }
        Some(marks)
    }
}
