//! Switches: route, call hooks, enqueue.

use crate::network::Network;
use crate::transit::Transit;
use incast_fabric::PortId;
use incast_transport::{Fate, PacketRef, Port, PortView, Time, Verdict};
use incast_world::{Ask, Choice, Switch, Views, drop_or_trim, turn_back, with_displaced};

/// Handles a packet's arrival at a switch. `back` is the egress port of the reverse path; `target`
/// is the packet's egress port, or not a port if it is not chosen yet.
pub(crate) fn arrive(
    switch: &mut Switch,
    net: &mut Network,
    back: u32,
    target: u32,
    packet: PacketRef,
) {
    if net.buffers.in_use {
        net.transit.packets.stamps_mut(packet).ingress = back;
    }
    if (target as usize) < net.egress.len() {
        forward(switch, net, back, target, packet);
    } else {
        route(switch, net, back, packet);
    }
}

/// Chooses the egress port and forwards the packet.
fn route(switch: &mut Switch, net: &mut Network, back: u32, packet: PacketRef) {
    match egress(switch, net, back, packet) {
        Some(port) => forward(switch, net, back, port.0, packet),
        None => net.transit.lose_on_link(packet),
    }
}

/// The egress port of a packet that has come to a switch; `None` if it cannot reach its destination.
pub(crate) fn egress(
    switch: &mut Switch,
    net: &mut Network,
    back: u32,
    packet: PacketRef,
) -> Option<PortId> {
    let transit = &net.transit;
    let (now, seed) = (transit.agenda.now, transit.common.seed);
    match transit.choose_here(switch.node(), back, packet, now) {
        Choice::Ask(Ask::Conga) => {
            let Transit { routes, packets, .. } = &mut net.transit;
            switch.tag(routes, seed, packets, packet, Time(now))
        }
        Choice::Ask(ask) => {
            let (routes, content) = (transit.routes.clone(), transit.packets[packet]);
            let mut queue = |port: PortId| net.queue(port.0, now);
            switch.ask(ask, &routes, seed, &content, Time(now), &mut queue)
        }
        choice => switch.egress(choice, &transit.routes, seed, &transit.packets[packet]),
    }
}

fn forward(switch: &mut Switch, net: &mut Network, back: u32, port: u32, packet: PacketRef) {
    if switch.has_hooks() {
        call_hooks(switch, net, back, port, packet);
    } else {
        enqueue(switch, net, port, packet);
    }
}

/// Calls the hooks of the packet's transport and sends the packets that they emit.
#[cold]
fn call_hooks(switch: &mut Switch, net: &mut Network, back: u32, port: u32, packet: PacketRef) {
    let now = net.now();
    net.advance_port(back, now);
    net.advance_port(port, now);
    let views = Views { back: view(net, back), egress: view(net, port) };
    let Transit { probe, packets, .. } = &mut net.transit;
    let decisions = switch.decide(now, probe, packets, views, packet);
    for reply in decisions.replies() {
        enqueue(switch, net, back, reply);
    }
    if decisions.drop() {
        net.transit.lose(packet);
    } else {
        enqueue(switch, net, port, packet);
    }
    for follow in decisions.follows() {
        enqueue(switch, net, port, follow);
    }
}

fn view(net: &Network, port: u32) -> PortView {
    let body = &net.bodies[port as usize];
    let queues = |handler: &dyn Port| (handler.data_backlog(), handler.backlog());
    let (data, all) = body.handler.as_deref().map_or_else(Default::default, queues);
    let rate = net.transit.common.fabric.ports()[port as usize].rate;
    PortView { port, rate, data, all, sent: body.sent }
}

/// Enqueues a packet at `port`.
fn enqueue(switch: &mut Switch, net: &mut Network, port: u32, packet: PacketRef) {
    let verdict = net.enqueue(port, packet);
    if is_eventful(&verdict) {
        settle(switch, net, port, packet, verdict);
    }
}

/// Whether a packet was not simply queued.
#[inline]
pub(crate) fn is_eventful(verdict: &Verdict) -> bool {
    verdict.displaced.is_some() || verdict.arriving != Fate::Queued
}

/// Handles packets that were not simply queued.
#[cold]
pub(crate) fn settle(
    switch: &mut Switch,
    net: &mut Network,
    port: u32,
    packet: PacketRef,
    verdict: Verdict,
) {
    let now = net.now();
    with_displaced(net, port, packet, verdict, now, |net, packet, fate| {
        if fate == Fate::Bounced {
            turn_back(net, port, packet, now);
            route(switch, net, port, packet);
        } else {
            drop_or_trim(net, port, packet, fate, now);
        }
    });
}
