//! What the catalogue says of its transports is what they do.

use incast_egress::port::Join;
use incast_fabric::{LinkDefaults, parse};
use incast_protocols::CATALOGUE;
use incast_sim::{Captured, Monitor, run};
use incast_transport::*;
use incast_world::{FlowSetup, Lane, Options, assemble, fabric_site};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Twelve flows of 300 kB to one host, 10 Gb/s, for 10 ms, and all packets. Every other flow is
/// CUBIC's, which fills the queue whatever the transport does and neither marks nor is marked.
fn incast(entry: &dyn Transport) -> (RunRecord, Vec<Captured>) {
    let rate = Rate::from_gbps(10);
    let defaults = LinkDefaults { rate, propagation: Span::from_us(1), loss: 0.0 };
    let fabric = Arc::new(parse("star:13", defaults).expect("a valid topology"));
    let site = fabric_site(&fabric, Framing::ETHERNET, Limit::Bytes(400_000), None, None);
    let cubic = incast_protocols::find("cubic").expect("in the catalogue");
    let mut lanes = vec![entry, cubic];
    lanes.dedup_by_key(|entry| entry.info().id);
    let lanes: Vec<Lane> = lanes
        .into_iter()
        .map(|entry| Lane {
            info: entry.info(),
            configured: entry.configure(&[], site.clone()).expect("defaults are valid"),
            routing: entry.info().routing,
        })
        .collect();
    let flows = (1..13).map(|src| FlowSetup {
        flow: Flow {
            id: FlowId(src - 1),
            src: HostId(src),
            dst: HostId(0),
            size: 300_000,
            start: Time::ZERO,
            segments: Segments::Uniform(1_460),
        },
        transport: lanes[src as usize % lanes.len()].info.id,
        after: vec![],
        delay: Span::ZERO,
    });
    let capture = (0..fabric.ports().len() as u32).collect();
    let options = Options { until: Time(10_000_000_000), capture, ..Options::default() };
    let flows = flows.collect();
    let setup = assemble(fabric, site, &lanes, Join::Shared, flows, None, options);
    run(setup.expect("two transports share a port"), 1, &Monitor::default())
}

#[test]
fn names_and_numbers_are_each_used_once() {
    let names: BTreeSet<_> = CATALOGUE.iter().map(|entry| entry.info().name).collect();
    let numbers: BTreeSet<_> = CATALOGUE.iter().map(|entry| entry.info().id.0).collect();
    assert_eq!((names.len(), numbers.len()), (CATALOGUE.len(), CATALOGUE.len()));
}

#[test]
fn the_top_bit_of_a_number_says_that_the_ecn_bits_hold_an_own_code() {
    for entry in CATALOGUE {
        let Info { name, id, ecn, .. } = entry.info();
        assert_eq!(id.0 & 0x80 != 0, *ecn == EcnUse::OwnCode, "{name}");
    }
}

#[test]
fn ecn_bits_and_marks_are_as_declared() {
    for entry in CATALOGUE {
        let Info { name, id, ecn, marks, .. } = entry.info();
        let (record, captured) = incast(*entry);
        let own = |packet: &&Packet| packet.transport == *id && packet.is_data();
        let data: Vec<&Packet> = captured.iter().map(|seen| &seen.packet).filter(own).collect();
        assert!(data.len() > 50, "{name} sends {} packets", data.len());
        let allowed = |mark: u8| match ecn {
            EcnUse::None => mark == Ecn::NotEct as u8,
            EcnUse::Rfc3168 => mark == Ecn::Ect0 as u8 || mark == Ecn::Ce as u8,
            EcnUse::OwnCode => true,
        };
        let wrong = data.iter().find(|packet| !allowed(packet.mark));
        assert!(wrong.is_none(), "{name}: {wrong:?} with {ecn:?}");
        let counted: u32 = record.ports.iter().map(|port| port.total.marks).sum();
        assert_eq!(counted > 0, *marks, "{name}: {counted} marks");
    }
}
