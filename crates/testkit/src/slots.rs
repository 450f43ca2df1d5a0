//! One bottleneck in units of packet times, for the known results of grant-clocked transports.

use crate::{
    Impairments, MSS, Network, Probabilities, configured, flow, host_site, packet, port_site,
};
use incast_egress::port::build;
use incast_transport::{
    Bytes, FabricSite, Framing, Header, HostId, Limit, Packet, PortSite, Random, Rate, Span, Time,
    Transport, TransportId, data_flag, flag,
};
use std::sync::Arc;

/// A packet time: 1500 bytes, without layer 2, at 12 Gb/s.
pub const SLOT: Span = Span::from_us(1);

/// What transports know about a network of which `round` packets fill a round trip.
pub fn slot_fabric(round: u32, buffer: Limit) -> Arc<FabricSite> {
    let rate = Rate::from_gbps(12);
    let site = crate::fabric_site(2, rate, SLOT * round as u64);
    Arc::new(FabricSite { framing: Framing::NONE, buffer, hops: 3, ..(*site).clone() })
}

/// Senders `0..pairs`, receivers `pairs..2 * pairs`, all over one link. Every link sends a packet
/// in a slot, and `round` of them fill the round trip exactly.
pub struct SlotNetwork {
    /// Hosts, the bottleneck, and the way back.
    pub network: Network,
    /// Pairs of hosts.
    pub pairs: u32,
    /// The link of all data.
    pub bottleneck: usize,
    /// The link of everything that comes back.
    pub back: usize,
    /// A round trip.
    pub round: Span,
}

impl SlotNetwork {
    /// A transport between `pairs` pairs of hosts.
    pub fn new(
        entry: &dyn Transport,
        settings: &[(&str, &str)],
        pairs: u32,
        round: u32,
        buffer: Limit,
    ) -> SlotNetwork {
        SlotNetwork::with(entry, settings, pairs, slot_fabric(round, buffer), 0)
    }

    fn with(
        entry: &dyn Transport,
        settings: &[(&str, &str)],
        pairs: u32,
        fabric: Arc<FabricSite>,
        seed: u64,
    ) -> SlotNetwork {
        let plan = configured(entry, settings, &fabric);
        let rate = fabric.host_rate;
        let mut network = Network::new(fabric.framing, seed);
        for host in 0..2 * pairs {
            network.add_host(plan.host(&host_site(host, &fabric)), rate, Span::ZERO);
            if plan.shapes_nic() {
                let site = PortSite { port: host, nic: true, tier: 0, ..port_site(&fabric) };
                let port = build(vec![plan.policy(&site)], &site);
                network.mark_at(host, port.unwrap_or_else(|conflict| panic!("{conflict}")));
            }
        }
        let port = |number| {
            let site = PortSite { port: number, ..port_site(&fabric) };
            build(vec![plan.policy(&site)], &site).unwrap_or_else(|conflict| panic!("{conflict}"))
        };
        let header = rate.tx_time(Bytes(fabric.framing.charged_header() as u64));
        let way_back = fabric.base_rtt.saturating_sub(fabric.mtu_time(rate) * 2 + header * 2);
        // The bottleneck leads straight to the receivers: a second port would say its part, too.
        let bottleneck = network.add_port(port(100), rate, Span::ZERO);
        let back = network.add_port(port(101), rate, way_back);
        let mut slots = SlotNetwork { network, pairs, bottleneck, back, round: fabric.base_rtt };
        (0..pairs).for_each(|pair| slots.join(pair, pairs + pair));
        slots
    }

    /// Leads packets from a sender to a receiver, and back.
    pub fn join(&mut self, src: u32, dst: u32) {
        self.network.path(src, dst, &[self.bottleneck]);
        self.network.path(dst, src, &[self.back]);
    }

    /// A flow of one pair, with the pair's number, of full packets.
    pub fn flow(&mut self, pair: u32, packets: u32, start: Time) {
        self.network.add(flow(pair, pair, self.pairs + pair, packets as u64 * MSS, start));
    }

    /// Makes the port's sampling period begin just before `at`: a header of no transport passes.
    pub fn prime(&mut self, at: Time) {
        let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
        let foreign = Packet { dst: HostId(0), ..packet(TransportId(77), header) };
        self.network.inject(self.bottleneck, foreign, at - Span::from_ns(27));
    }

    /// Data packets of each round that begin transmission at the bottleneck, and the data queue
    /// at the ends of rounds; rounds begin at `from`.
    pub fn rounds(&mut self, from: Time, count: u32) -> (Vec<usize>, Vec<usize>) {
        let mut queue = vec![];
        for round in 1..=count as u64 {
            self.network.run(from + self.round * round);
            queue.push(self.network.data_waiting(self.bottleneck) as usize);
        }
        let mut sent = vec![0; count as usize];
        for seen in self.network.sent_on(self.bottleneck) {
            if seen.packet.is_data() && seen.at >= from {
                let round = seen.at.since(from).0 / self.round.0;
                sent[round as usize] += (round < count as u64) as usize;
            }
        }
        (sent, queue)
    }
}

/// Thirty flows of a grant-clocked transport over one bottleneck whose links lose, duplicate and
/// delay packets, until a second has passed. Asserts that everything arrives, each byte once, that
/// nothing is left behind, and that the clock of grants was kept: every data packet is acknowledged,
/// and a grant lets at most `most_per_grant` packets go.
pub fn impaired_flows(
    entry: &dyn Transport,
    seed: u64,
    settings: &[(&str, &str)],
    most_per_grant: u32,
) {
    let mut random = Random::new(seed, 1, 1);
    let pairs = 4;
    let fabric = slot_fabric(10 + random.below(30) as u32, Limit::Packets(60));
    let mut slots = SlotNetwork::with(entry, settings, pairs, fabric, seed);
    let mut percent = || random.below(5) as f64 / 100.0 + 0.01;
    for link in 0..slots.network.links() {
        let (loss, duplicate) = (percent(), percent());
        let latest = SLOT * (seed % 20);
        let some = Probabilities { loss, duplicate, late: 1.0, latest, ..Default::default() };
        slots.network.impair(link, Impairments::random(some, seed << 8 | link as u64));
    }
    for id in 0..30 {
        let (src, dst) = (random.below(4) as u32, random.below(4) as u32 + pairs);
        slots.join(src, dst);
        let packets = 1 + if id % 3 == 0 { random.below(400) } else { random.below(30) };
        let size = packets * MSS - random.below(MSS);
        slots.network.add(flow(id, src, dst, size, Time::ZERO + SLOT * random.below(2_000)));
    }
    slots.network.run(Time::ZERO + Span::from_secs(1));
    slots.network.assert_complete();
    check_grants(&slots.network, most_per_grant);
}

fn check_grants(network: &Network, most_per_grant: u32) {
    let timers = network.wakes * 30;
    let nics = || network.sent.iter().filter(|sent| sent.link < network.hosts.len());
    let count = |what: &dyn Fn(&Packet) -> bool| nics().filter(|s| what(&s.packet)).count() as u64;
    let data = count(&|p| p.is_data());
    let grants = count(&|p| !p.is_data());
    let taken = network.received.iter().filter(|r| r.packet.is_data()).count() as u64;
    assert!(grants >= taken, "every data packet is acknowledged");
    assert!(grants <= taken + timers, "other grants come from timers");
    let unscheduled = count(&|p| match p.header {
        Header::Data { flags, .. } => flags & data_flag::UNSCHEDULED != 0,
        _ => false,
    });
    let grants = network.received.iter();
    let grants = grants.filter(|r| matches!(r.packet.header, Header::Grant { .. })).count() as u64;
    assert!(data <= unscheduled + grants * most_per_grant as u64 + timers);
    let again = count(&|p| p.is_data() && p.has(flag::RETRANSMIT));
    let sent = nics().filter(|sent| sent.packet.is_data());
    let mut distinct: Vec<_> = sent.map(|s| (s.packet.flow, s.packet.header.data_key())).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(data - again, distinct.len() as u64, "every transmission but the first is flagged");
}
