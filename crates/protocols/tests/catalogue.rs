//! What the catalogue says of its transports is what they do.

use incast_protocols::CATALOGUE;
use incast_testkit::{Outcome, Trial, flow, star, us};
use incast_transport::*;
use std::collections::BTreeSet;

/// Twelve flows of 300 kB to one host, 10 Gb/s, for 10 ms, and all packets. Every other flow is
/// CUBIC's, which fills the queue whatever the transport does and neither marks nor is marked.
fn incast(entry: &dyn Transport) -> Outcome {
    let cubic = incast_protocols::find("cubic").expect("in the catalogue");
    let flows = (1..13).map(|src| flow(src - 1, src, 0, 300_000, Time::ZERO)).collect();
    let mut trial = Trial::new(cubic, star(13, Rate::from_gbps(10), us(1)), flows);
    if entry.info().id != cubic.info().id {
        trial = trial.beside(entry, &[]);
    }
    trial.buffer = Limit::Bytes(400_000);
    trial.options.until = Time(10_000_000_000);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    trial.run()
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
        let record = incast(*entry);
        let own = |packet: &&Packet| packet.transport == *id && packet.is_data();
        let data: Vec<&Packet> =
            record.packets.iter().map(|seen| &seen.packet).filter(own).collect();
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

/// Numbers of the top-level items below the heading that begins with "## Deviations".
fn numbered(readme: &str) -> Vec<u32> {
    let section = readme.split("\n## ").find(|section| section.starts_with("Deviations"));
    let lines = section.expect("a section on deviations").lines();
    lines.filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect()
}

#[test]
fn readme_and_data_have_the_same_deviations() {
    for entry in CATALOGUE {
        let Info { name, deviations, .. } = entry.info();
        let readme = format!("{}/src/{name}/README.md", env!("CARGO_MANIFEST_DIR"));
        let readme = std::fs::read_to_string(&readme).expect("each transport has a README");
        let numbers: Vec<u32> = deviations.iter().map(|one| one.number).collect();
        assert_eq!(numbers, numbered(&readme), "{name}");
        assert!(numbers.into_iter().eq(1..=deviations.len() as u32), "{name}");
        for Deviation { number, what, reason, effect, .. } in *deviations {
            for text in [Some(*what), Some(*reason), *effect].into_iter().flatten() {
                assert!(text.ends_with('.') && text.len() < 300, "{name} {number}: {text}");
            }
        }
    }
}
