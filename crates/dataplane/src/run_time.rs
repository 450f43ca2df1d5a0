//! The run-time flows of a host.

use crate::names::Names;
use crate::payload::offset_of;
use incast_transport::{Flow, FlowId, Header};
use std::collections::HashMap;

/// The run-time flows of a host.
pub(crate) struct Live {
    pub names: Names,
    /// Flows that are sent from here, and where the sender was last.
    pub sent: HashMap<FlowId, (Flow, u64)>,
    /// When the application wants a turn, picoseconds.
    pub alarm: u64,
}

impl Live {
    /// Whether a flow that this host sends or receives is one of these.
    pub fn has(&self, flow: FlowId) -> bool {
        self.names.is_own(flow)
    }

    /// Where the payload of a packet that is about to leave begins in its flow; 0 if it has none.
    /// `None` if the flow was given up.
    pub fn departing(&mut self, flow: FlowId, header: &Header, is_data: bool) -> Option<u64> {
        if !is_data {
            return Some(0);
        }
        let (flow, near) = self.sent.get_mut(&flow)?;
        let offset = offset_of(flow, header, *near)?;
        *near = offset;
        Some(offset)
    }

    /// When the host must be visited for them.
    pub fn deadline(&self) -> u64 {
        self.names.deadline().min(self.alarm)
    }

    pub fn forget(&mut self, flow: FlowId) {
        self.sent.remove(&flow);
    }
}
