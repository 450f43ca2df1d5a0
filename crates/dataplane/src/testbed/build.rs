//! Makes the nodes of a testbed from a setup.

use crate::PacketIo;
use crate::frames::Packets;
use crate::host::HostNode;
use crate::line::Line;
use crate::node::Node;
use crate::switch::{Egress, SwitchNode};
use incast_fabric::NodeId;
use incast_world::{Buffers, EndHost, Setup, Switch, SwitchBuffer, Watchdog};
use std::collections::VecDeque;

pub(super) fn nodes<I: PacketIo>(
    setup: &mut Setup,
    buffers: &Buffers,
    here: &[u32],
    trails: bool,
) -> Vec<Node<I>> {
    // A trace has times at which packets departed.
    let stamped = trails || setup.options.trace.is_some();
    let fabric = setup.fabric.clone();
    let node = |node: u32| {
        if !here.contains(&node) {
            Node::Elsewhere
        } else if node < fabric.hosts() {
            Node::Host(host(setup, node))
        } else {
            Node::Switch(switch(setup, node, buffers, stamped))
        }
    };
    (0..fabric.nodes()).map(node).collect()
}

fn host<I: PacketIo>(setup: &mut Setup, host: u32) -> HostNode<I> {
    let end = EndHost::new(setup, host);
    HostNode {
        line: Line::new(end.port(), &setup.fabric, &setup.options, true),
        packets: Packets::new(setup.framing, true),
        end,
        live: None,
        late: vec![],
        arrived: vec![],
        last: incast_transport::FlowId(u32::MAX),
    }
}

fn switch<I: PacketIo>(
    setup: &mut Setup,
    node: u32,
    buffers: &Buffers,
    stamped: bool,
) -> SwitchNode<I> {
    let ports = setup.fabric.ports_of(NodeId(node));
    let egress = |port: u32| {
        let handler = setup.ports.make(port).expect("a switch port has a handler");
        let line = Line::new(port, &setup.fabric, &setup.options, handler.timed());
        Egress { line, handler, watchdog: Watchdog::of(buffers).map(Box::new) }
    };
    SwitchNode {
        first: ports.start,
        egress: ports.clone().map(egress).collect(),
        packets: Packets::new(setup.framing, stamped),
        buffer: SwitchBuffer::new(buffers, ports),
        switch: Switch::new(setup, node),
        arrived: vec![],
        stored: vec![],
        ready: VecDeque::new(),
        crossing: None,
    }
}
