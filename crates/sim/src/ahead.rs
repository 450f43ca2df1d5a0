//! What the next events of a partition will touch is prefetched.

use crate::agenda::class;
use crate::egress::PortBody;
use crate::host::HostState;
use crate::partition::Partition;
use crate::queue::{AHEAD, Event};
use incast_transport::{PacketRef, prefetch};

/// How many events before an arrival its ports are prefetched, which the packet names.
const PORTS: usize = 9;
/// The same for its host or handler, which the ports name.
const PLACE: usize = 4;
/// The same for its transport, which the host names.
const TRANSPORT: usize = 1;

/// Where a packet arrives.
enum Place<'a> {
    Host(&'a HostState),
    Port(&'a PortBody),
}

impl Partition {
    /// Prefetches the data of the next events: packets, then the ports that they come from and go to,
    /// then their destination hosts and handlers, then the transports. With few pending events all
    /// data is in the cache already.
    #[inline]
    pub fn prefetch_next(&self) {
        let queue = &self.net.transit.agenda.queue;
        let Some(ahead) = queue.ahead() else { return };
        if queue.has_begun() {
            self.prefetch_first(ahead);
        }
        self.prefetch_packet(&ahead[AHEAD - 1]);
        self.prefetch_ports(&ahead[PORTS]);
        self.prefetch_place(&ahead[PLACE]);
        self.prefetch_transport(&ahead[TRANSPORT]);
    }

    /// At the start of a bucket: what was not prefetched while events before it were handled. All packets
    /// before all ports, so that they are fetched at the same time.
    #[inline(never)]
    fn prefetch_first(&self, ahead: &[Event; AHEAD]) {
        ahead.iter().for_each(|event| self.prefetch_packet(event));
        ahead[..PORTS].iter().for_each(|event| self.prefetch_ports(event));
        ahead[..PLACE].iter().for_each(|event| self.prefetch_place(event));
        ahead[..TRANSPORT].iter().for_each(|event| self.prefetch_transport(event));
    }

    #[inline(always)]
    fn prefetch_packet(&self, event: &Event) {
        if event.key() < class::OPEN {
            self.net.transit.packets.prefetch(PacketRef(event.id()));
        }
    }

    #[inline(always)]
    fn prefetch_ports(&self, event: &Event) {
        if event.key() < class::OPEN {
            self.net.prefetch(PacketRef(event.id()));
        }
    }

    #[inline(always)]
    fn prefetch_place(&self, event: &Event) {
        match self.place(event) {
            Some(Place::Host(host)) => {
                prefetch(host, 2);
                if self.net.transit.probe.has_losses() {
                    self.net.transit.packets.prefetch_source(PacketRef(event.id()));
                }
            }
            Some(Place::Port(port)) => port.prefetch(),
            None => {}
        }
    }

    #[inline(always)]
    fn prefetch_transport(&self, event: &Event) {
        if let Some(Place::Host(host)) = self.place(event) {
            self.net.prefetch_port(host.end.port(), 1);
            if let Some(transport) = host.end.first_transport() {
                prefetch(transport, 6);
            }
        }
    }

    /// Where the packet of this event arrives, as far as that is known.
    #[inline]
    fn place(&self, event: &Event) -> Option<Place<'_>> {
        if event.key() >= class::OPEN {
            return None;
        }
        let meta = self.net.transit.packets.meta(PacketRef(event.id()));
        if meta.next != PacketRef::NONE {
            return self.net.bodies.get(meta.next.0 as usize).map(Place::Port);
        }
        let peer = self.net.egress.get(meta.link as usize)?.peer;
        self.hosts.get(peer as usize)?.as_ref().map(Place::Host)
    }
}
