//! Cut-through switching: when a hop begins, and what that saves.
//!
//! A switch that cuts through begins to forward a packet when its first bytes have arrived, if the
//! egress is free at that instant and no faster than the link by which the packet arrives, so that
//! it never runs out of bits. Otherwise the packet is stored: it joins the queue when its last bit
//! has arrived.

use crate::fabric::Fabric;
use crate::ideal::{Hop, PathUse, plus, split};
use crate::parts::PortId;
use crate::tables::{Switches, UNREACHED};
use incast_units::{Bytes, Rate, Span};

/// When a packet is at the end of a link.
#[derive(Clone, Copy)]
struct Arriving {
    /// Its first bytes, those that a switch reads.
    head: Span,
    /// Its last bit.
    tail: Span,
    /// The rate of the link.
    rate: Rate,
}

impl Arriving {
    fn over(rate: Rate, propagation: Span, start: Span, size: Bytes, read: Bytes) -> Arriving {
        let at = |bytes: Bytes| plus(plus(start, rate.tx_time(bytes)), propagation);
        Arriving { head: at(read.min(size)), tail: at(size), rate }
    }
}

/// A link that is free from some time on.
struct Link {
    rate: Rate,
    propagation: Span,
    free: Span,
}

impl Link {
    /// A packet leaves by this link; at the source it has not arrived from anywhere.
    fn carry(&mut self, from: Option<Arriving>, size: Bytes, read: Bytes) -> Arriving {
        let start = match from {
            None => self.free,
            Some(from) if self.rate <= from.rate && self.free <= from.head => from.head,
            Some(from) => self.free.max(from.tail),
        };
        self.free = plus(start, self.rate.tx_time(size));
        Arriving::over(self.rate, self.propagation, start, size, read)
    }
}

/// [`ideal_fct`](crate::ideal_fct) with switches that cut through after `read` bytes.
pub fn cut_through_fct(
    path: &[(Rate, Span)],
    read: Bytes,
    packets: impl Iterator<Item = Bytes>,
) -> Span {
    let link = |(rate, propagation): &(Rate, Span)| Link {
        rate: *rate,
        propagation: *propagation,
        free: Span::ZERO,
    };
    let mut links: Vec<Link> = path.iter().map(link).collect();
    let mut done = Span::ZERO;
    for size in packets {
        let arriving = links.iter_mut().fold(None, |from, link| Some(link.carry(from, size, read)));
        done = arriving.map_or(done, |arriving| arriving.tail);
    }
    done
}

/// [`ideal_fct_over`](crate::ideal_fct_over) with switches that cut through after `read` bytes: no
/// flow on an empty network takes less. In time proportional to packets and hops.
pub fn cut_through_fct_over(
    hops: &[Hop],
    path_use: PathUse,
    read: Bytes,
    packets: impl Iterator<Item = Bytes>,
) -> Span {
    if path_use == PathUse::One || hops.iter().all(|hop| hop.links == 1) {
        let path: Vec<(Rate, Span)> = hops.iter().map(|hop| (hop.rate, hop.propagation)).collect();
        return cut_through_fct(&path, read, packets);
    }
    // From the first hop with several links on no packet waits for another one, up to the last
    // hop, which serves them in the order in which they can begin.
    let (together, apart, last) = split(hops);
    let link = |hop: &Hop| Link { rate: hop.rate, propagation: hop.propagation, free: Span::ZERO };
    let mut links: Vec<Link> = together.iter().map(link).collect();
    let mut ready: Vec<(Span, Bytes)> = vec![];
    for size in packets {
        let mut from = None;
        for link in &mut links {
            from = Some(link.carry(from, size, read));
        }
        for hop in apart {
            let start = from.map_or(Span::ZERO, |from| earliest(hop, from));
            from = Some(Arriving::over(hop.rate, hop.propagation, start, size, read));
        }
        ready.push((from.map_or(Span::ZERO, |from| earliest(last, from)), size));
    }
    ready.sort_unstable();
    let serve =
        |busy: Span, (at, size): &(Span, Bytes)| plus(busy.max(*at), last.rate.tx_time(*size));
    match ready.is_empty() {
        true => Span::ZERO,
        false => plus(ready.iter().fold(Span::ZERO, serve), last.propagation),
    }
}

/// The earliest start of a packet on a free link of the hop.
fn earliest(hop: &Hop, from: Arriving) -> Span {
    if hop.slowest <= from.rate { from.head } else { from.tail }
}

/// The longest path from each egress of a switch to the hosts of one edge switch.
struct Longest<'a> {
    fabric: &'a Fabric,
    read: Bytes,
    mtu: Bytes,
    reply: Bytes,
}

impl Longest<'_> {
    /// What a packet out over `port` and its reply back take, stored at both ends.
    fn hop(&self, port: PortId) -> Span {
        self.fabric.hop_rtt(port, self.mtu, self.reply)
    }

    /// What cutting through saves of a packet that leaves by `first` and then by `second`, and of
    /// its reply.
    fn saved(&self, first: PortId, second: PortId) -> Span {
        let fabric = self.fabric;
        let of = |first: PortId, second: PortId, size: Bytes| {
            let (first, second) = (fabric.port(first).rate, fabric.port(second).rate);
            match second <= first {
                true => Span(first.tx_time(size).0 - first.tx_time(self.read.min(size)).0),
                false => Span::ZERO,
            }
        };
        let reverse = |port: PortId| fabric.port(port).reverse;
        plus(of(first, second, self.mtu), of(reverse(second), reverse(first), self.reply))
    }

    /// `port`, and then the longest of what follows it, each given with what it takes.
    fn then(&self, port: PortId, next: &[(PortId, Span)]) -> Span {
        let with = |(after, takes): &(PortId, Span)| {
            let saved = self.saved(port, *after);
            Span(plus(self.hop(port), *takes).0.saturating_sub(saved.0))
        };
        next.iter().map(with).max().unwrap_or(Span::ZERO)
    }
}

/// Ports of hosts, two of each kind of link that their edge switch has: a path needs two hosts.
fn some_host_ports(fabric: &Fabric) -> Vec<Vec<PortId>> {
    let mut of_rack = vec![vec![]; (fabric.nodes() - fabric.hosts()) as usize];
    for host in 0..fabric.hosts() {
        let port = fabric.host_port(host);
        let kind = |port: &PortId| {
            let (out, back) = (fabric.port(*port), fabric.port(fabric.port(*port).reverse));
            (out.rate, out.propagation, back.rate, back.propagation)
        };
        let rack: &mut Vec<PortId> =
            &mut of_rack[(fabric.port(port).peer.0 - fabric.hosts()) as usize];
        if rack.iter().filter(|other| kind(other) == kind(&port)).count() < 2 {
            rack.push(port);
        }
    }
    of_rack
}

impl Fabric {
    /// [`Fabric::base_rtt`] with switches that cut through after `read` bytes.
    pub(crate) fn cut_through_rtt(&self, mtu: Bytes, reply: Bytes, read: Bytes) -> Span {
        let switches = Switches::new(self, &vec![false; self.ports.len()]);
        let of = Longest { fabric: self, read, mtu, reply };
        let hosts = some_host_ports(self);
        let mut longest = Span::ZERO;
        let mut distance = vec![UNREACHED; switches.count()];
        for rack in self.typical_racks().into_iter().filter(|rack| !hosts[*rack].is_empty()) {
            let down: Vec<(PortId, Span)> = hosts[rack]
                .iter()
                .map(|host| self.port(*host).reverse)
                .map(|port| (port, of.hop(port)))
                .collect();
            for up in &hosts[rack] {
                let others: Vec<_> = down
                    .iter()
                    .copied()
                    .filter(|(port, _)| self.port(*port).reverse != *up)
                    .collect();
                longest = longest.max(of.then(*up, &others));
            }
            // The egresses of each switch towards the rack, with what remains from there.
            let mut towards: Vec<Vec<(PortId, Span)>> = vec![vec![]; switches.count()];
            towards[rack] = down;
            for switch in &switches.walk(rack as u32, &mut distance)[1..] {
                let nearer = distance[*switch as usize] - 1;
                let edges = switches.edges(*switch).iter();
                let edges = edges.filter(|(peer, _)| distance[*peer as usize] == nearer);
                let own: Vec<(PortId, Span)> = edges
                    .map(|(peer, port)| (*port, of.then(*port, &towards[*peer as usize])))
                    .collect();
                for up in &hosts[*switch as usize] {
                    longest = longest.max(of.then(*up, &own));
                }
                towards[*switch as usize] = own;
            }
        }
        longest
    }
}
