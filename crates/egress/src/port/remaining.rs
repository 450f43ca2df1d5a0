//! Choices of a queue that is ordered by what the packets' flows have left (pFabric).
//!
//! Such queues are short, two BDPs, so that both choices look at every packet.

use super::fifo::Fifo;
use incast_transport::{Classes, Header, Packet, PacketPool, PacketRef};

/// What its flow had left when a packet was sent; nothing if it does not say.
#[inline]
pub(super) fn left(packet: &Packet) -> u32 {
    match packet.header {
        Header::Data { tag, .. } => tag,
        _ => 0,
    }
}

/// Of the packets that `may` be dropped, the one with the most left, if that is more than `least`; of
/// equals the one that came last.
pub(super) fn most(
    queue: &Fifo,
    packets: &PacketPool,
    least: u32,
    may: impl Fn(PacketRef) -> bool,
) -> Option<PacketRef> {
    let mut found = (least, None);
    for packet in queue.iter(packets) {
        let left = left(&packets[packet]);
        let better = left > found.0 || left == found.0 && found.1.is_some();
        if better && may(packet) {
            found = (left, Some(packet));
        }
    }
    found.1
}

/// Of the packets of open classes: of the flow of the one with the least left, of equals of the one
/// that came first, the packet that came first.
pub(super) fn first_of_least(
    queue: &Fifo,
    packets: &PacketPool,
    open: Classes,
) -> Option<PacketRef> {
    let waiting = || queue.iter(packets).filter(|packet| open.has(packets[*packet].class));
    let best = waiting().min_by_key(|packet| left(&packets[*packet]))?;
    let flow = packets[best].flow;
    waiting().find(|packet| packets[*packet].flow == flow)
}
