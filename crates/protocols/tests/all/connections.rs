//! Messages that follow each other on one connection, of every transport that keeps some.

use incast_protocols::CATALOGUE;
use incast_testkit::{Impairment, Impairments, Network, configured, fabric_site, flow};
use incast_transport::*;

fn keeping() -> impl Iterator<Item = &'static dyn Transport> {
    CATALOGUE.iter().copied().filter(|entry| entry.keeps_connections())
}

#[test]
fn many_transports_keep_connections() {
    let names: Vec<&str> = keeping().map(|entry| entry.info().name).collect();
    for name in ["dctcp", "cubic", "hpcc", "swift", "powertcp", "theta_powertcp", "timely"] {
        assert!(names.contains(&name), "{name}");
    }
}

/// Whatever the network does, each message is delivered once.
#[test]
fn messages_on_connections_survive_faults() {
    let fabric = fabric_site(2, Rate::from_gbps(10), Span::from_us(40));
    for entry in keeping() {
        let plan = configured(entry, &[], &fabric);
        for seed in 0..12 {
            let mut random = Random::new(seed, 3, 5);
            let mut network = Network::of(&*plan, &fabric, Default::default(), seed);
            let mut drawn = Random::new(seed, 7, 7);
            let share = [0.0, 0.02, 0.1][seed as usize % 3];
            network.impair_all(Impairments::scripted(move |_, _| {
                let late = Span::from_ns(drawn.below(30_000));
                match drawn.unit() {
                    x if x < share => Impairment::LOST,
                    x if x < 2.0 * share => Impairment::twice(late),
                    _ => Impairment::NONE,
                }
            }));
            for id in 0..16 {
                let place = random.below(3) as u32;
                let (from, to) = (place % 2, 1 - place % 2);
                let whole = flow(id, from, to, 1 + random.below(60_000), network.now);
                network.open(&Flow { connection: Some(Connection::new(place)), ..whole });
                let until = network.now + Span::from_ns(random.below(60_000));
                network.run(until);
            }
            network.complete(Span::from_secs(60));
        }
    }
}

/// A second message is never slower than the first one, and where windows begin below the bandwidth-delay product it is
/// faster: it takes what its packets need on the link, and the way.
#[test]
fn a_second_message_does_not_start_up_again() {
    let (rtt, rate) = (Span::from_us(40), Rate::from_gbps(10));
    let fabric = fabric_site(2, rate, rtt);
    let packets = 400;
    for entry in keeping() {
        let name = entry.info().name;
        let took = |connection: Option<Connection>| {
            let plan = configured(entry, &[], &fabric);
            let mut network = Network::of(&*plan, &fabric, Default::default(), 1);
            let later = Time::ZERO + Span::from_ms(20);
            for (id, at) in [(0, Time::ZERO), (1, later)] {
                network.add(Flow { connection, ..flow(id, 0, 1, packets * 1_460, at) });
            }
            network.run(Time::ZERO + Span::from_ms(60));
            let since = |flow, at| network.completed(flow).expect(name).since(at);
            [since(0, Time::ZERO), since(1, later)]
        };
        let ([first, second], [_, alone]) = (took(Some(Connection::new(0))), took(None));
        assert!(second <= first && second <= alone, "{name}: {first}, {second}, {alone}");
        if ["dctcp", "cubic", "mlcp"].contains(&name) {
            let charged = Bytes(u64::from(Framing::ETHERNET.charged_packet(1_460, 0)));
            let link = rate.tx_time(charged) * packets;
            let excess = second.0 as f64 / (link + rtt / 2).0 as f64;
            assert!(second < alone && excess < 1.06, "{name}: {second}, {excess}");
        }
    }
}
