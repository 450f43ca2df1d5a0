//! A flow that the world gives up leaves nothing behind, and others go on.

use incast_testkit::{Driver, fabric_site, flow};
use incast_transport::*;

/// Two hosts of a transport with a wire of no length between them.
struct Pair {
    hosts: [Driver; 2],
    now: Time,
    /// Packets carried.
    carried: u32,
}

impl Pair {
    fn new(entry: &dyn Transport) -> Pair {
        let site = fabric_site(4, Rate::from_gbps(10), Span::from_us(20));
        let mut hosts = [0, 1].map(|id| Driver::of(entry, &[], &site, id));
        // Each host looks up its own entries: those of the run suffice.
        hosts.iter_mut().for_each(|host| host.harness.probe = Probe::new(64, false));
        Pair { hosts, now: Time(1_000_000), carried: 0 }
    }

    fn open(&mut self, id: u32, src: usize, size: u64) {
        let flow = flow(id, src as u32, 1 - src as u32, size, self.now);
        self.hosts[src].open(self.now, &flow);
    }

    /// One packet time: each host sends a packet that arrives at once, or is lost.
    fn step(&mut self, lost: bool) {
        self.now += Span::from_ns(1_300);
        for (from, to) in [(0, 1), (1, 0)] {
            if self.hosts[from].host.deadline() <= self.now {
                self.hosts[from].wake(self.now);
            }
            let sent = self.hosts[from].call(self.now, |host, env| {
                let packet = host.transmit(env, Classes::ALL)?;
                let (content, extension) = (env.packets[packet], *env.packets.extension(packet));
                env.packets.free(packet);
                Some((Packet { extension: 0, ..content }, extension))
            });
            let Some((packet, extension)) = sent else { continue };
            self.carried += 1;
            if !lost {
                self.hosts[to].receive_with(self.now, packet, extension);
            }
        }
    }

    fn open_flows(&self) -> usize {
        self.hosts.iter().map(|host| host.host.open_flows()).sum()
    }
}

#[test]
fn what_is_given_up_leaves_nothing_behind() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let mut pair = Pair::new(*entry);
        for id in 0..6 {
            pair.open(id, id as usize % 2, 300_000 + 100_000 * id as u64);
        }
        (0..100).for_each(|_| pair.step(false));
        assert!(pair.open_flows() > 6, "{name}: six sources and some destinations have state");
        for id in [4, 0, 2, 5, 1, 3, 3, 77] {
            for host in &mut pair.hosts {
                host.call(pair.now, |host, env| host.abandon(env, FlowId(id)));
            }
        }
        assert_eq!(pair.open_flows(), 0, "{name}");
        // What was queued may leave still, and then nothing any more.
        (0..1_000).for_each(|_| pair.step(true));
        let carried = pair.carried;
        (0..100_000).for_each(|_| pair.step(true));
        assert_eq!(pair.carried, carried, "{name} sends packets of flows that were given up");
    }
}

/// Whether these flows are delivered within a second or so.
fn finish(pair: &mut Pair, flows: &[(u32, u64)]) -> bool {
    let missing = |pair: &Pair| {
        flows.iter().any(|(id, size)| {
            let delivered = |host: &Driver| host.harness.probe.bytes_delivered(FlowId(*id));
            pair.hosts.iter().map(delivered).sum::<u64>() < *size
        })
    };
    (0..1_000_000).any(|_| {
        pair.step(false);
        !missing(pair)
    })
}

#[test]
fn other_flows_go_on() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let run = |given_up: &[u32]| {
            let mut pair = Pair::new(*entry);
            for id in 0..6 {
                pair.open(id, id as usize % 2, 200_000);
            }
            (0..60).for_each(|_| pair.step(false));
            for id in given_up {
                for host in &mut pair.hosts {
                    host.call(pair.now, |host, env| host.abandon(env, FlowId(*id)));
                }
                (0..20).for_each(|_| pair.step(false));
            }
            pair.open(40, 0, 100_000);
            finish(&mut pair, &[(2, 200_000), (3, 200_000), (5, 200_000), (40, 100_000)])
        };
        // Without switches RCP has no rate to go by.
        let able = run(&[]);
        assert_eq!(able, name != "rcp", "{name}");
        assert_eq!(run(&[0, 1, 4]), able, "{name}: a flow does not finish");
    }
}
