//! Packets without payload that wait for the NIC: ACKs, requests, closes.

use super::views::{Close, Open};
use super::{Progress, Request};
use crate::queue::Queue;
use incast_transport::{
    Classes, Env, Extension, Flow, FlowId, Header, HostId, Packet, PacketRef, Time, TransportId,
};
use std::collections::VecDeque;

/// A header-only packet that waits for the NIC; its extension waits in a queue of its own.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub header: Header,
    pub flow: FlowId,
    pub to: HostId,
    pub class: u8,
    pub mark: u8,
    pub extended: bool,
    pub informed: Time,
}

/// Header-only packets of one urgency, first come first served.
#[derive(Default)]
pub(super) struct Urgency {
    packets: Queue<Waiting>,
    extensions: VecDeque<Extension>,
}

impl Urgency {
    #[inline]
    pub fn push(&mut self, packet: Waiting, extension: &Extension) {
        if packet.extended {
            self.extensions.push_back(*extension);
        }
        self.packets.push_back(packet);
    }
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Whether the first packet is of an open class.
    #[inline]
    pub fn opens(&self, open: Classes) -> bool {
        self.packets.front().is_some_and(|packet| open.has(packet.class))
    }

    /// Makes the first packet.
    #[inline]
    pub fn send(&mut self, env: &mut Env<'_>, transport: TransportId) -> Option<PacketRef> {
        let waiting = self.packets.pop_front()?;
        let Waiting { header, flow, to, class, mark, .. } = waiting;
        let packet = Packet::header_only(transport, flow, env.host, to, class, header);
        let handle = env.packets.create(Packet { mark, ..packet });
        if waiting.extended {
            let extension = self.extensions.pop_front().expect("its extension waits too");
            env.packets.extend(handle, extension);
        }
        env.packets.stamps_mut(handle).informed = waiting.informed.0;
        Some(handle)
    }
}

/// A request of the sending half.
pub(super) fn open(flow: &Flow, progress: &Progress, request: &Request) -> Waiting {
    let Request { window, nibble, .. } = *request;
    header_packet(flow, request, Open { sequence: progress.sent as u32, window, nibble }.into())
}

/// The last packet of the sending half.
pub(super) fn close(flow: &Flow, progress: &Progress, request: &Request) -> Waiting {
    let Request { window, nibble, .. } = *request;
    header_packet(flow, request, Close { sequence: progress.sent as u32, window, nibble }.into())
}

fn header_packet(flow: &Flow, request: &Request, header: Header) -> Waiting {
    Waiting {
        header,
        flow: flow.id,
        to: flow.dst,
        class: request.class,
        mark: 0,
        extended: request.extension != Extension::None,
        informed: Time::ZERO,
    }
}
