//! Packets of runs: every packet has one declared kind, which describes its complete header, and
//! every declared kind occurs.

use super::table::transports;
use incast_protocols::find;
use incast_sim::Captured;
use incast_testkit::{Settings, Trial, at, flow, us};
use incast_transport::*;
use incast_world::Faults;
use std::collections::BTreeSet;

/// Flows from one packet to 2 MB from six hosts to two others, and more of them from one host to all,
/// through buffers of 30 packets and links that lose, delay and duplicate packets, for 20 ms; all
/// packets. With `bursts` one flow of five has a burst of its own where that is possible.
fn packets(name: &str, settings: &Settings, bursts: bool) -> Vec<Captured> {
    let entry = find(name).expect("in the catalogue");
    let mut trial = Trial::of(entry, settings, "star:8", us(2));
    let ends = |id: u32| if id < 24 { (2 + id % 6, id / 2 % 2) } else { (7, id % 7) };
    let flows = (0..38).map(|id| {
        // One flow per source and size.
        let size = [400, 20_000, 300_000, 2_000_000][(id + id / 6) as usize % 4];
        let whole = flow(id, ends(id).0, ends(id).1, size, at(20 * id as u64));
        let burst = Some(3).filter(|_| bursts && id % 5 == 2 && entry.takes_burst());
        Flow { burst, ..whole }
    });
    trial.set_flows(flows.collect());
    trial.buffer = Limit::Packets(30);
    trial.options.until = Time::ZERO + Span::from_ms(20);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    trial.options.faults = Faults { loss: 0.01, reorder: 0.02, duplicate: 0.01, late: us(300) };
    trial.run().packets
}

/// Packets that may come in any order.
const UNORDERED: &Settings = &[("reliability", "unordered")];

/// Settings that make a transport send further kinds of packets.
const OPTIONS: &[(&str, &Settings)] = &[
    ("cubic", &[("handshake", "true")]),
    ("phost", &[("free_tokens", "20")]),
    ("expresspass", &[("first_rtt", "aeolus")]),
    ("amrt", &[("recovery", "paper")]),
    ("trd", &[("order", "srpt")]),
    ("hpcc", &[("recovery", "sack")]),
    ("hpcc", UNORDERED),
    ("swift", UNORDERED),
    ("dctcp", UNORDERED),
    ("fasttune", &[("recovery", "go-back-n")]),
    ("dcqcn", &[("cnp", "ack_flag"), ("cnp_interval", "1ns")]),
    ("homa", &[("resend_interval", "20us")]),
    ("aeolus", &[("resend_interval", "20us")]),
    ("uec", &[("mode", "nscc_rccc")]),
    ("sird", &[("unscheduled", "10")]),
    ("dcpim", &[("token_initial", "100")]),
];

/// Fields that these runs leave at zero: of a flow of more than 4 GiB, of a trimmed packet that
/// arrives while NDP's pacer has no pull to send, and of packets that one switch marks and another
/// one trims.
const RARE: &[(&str, &str)] = &[
    ("Announce", "bytes_high"),
    ("Request", "bytes_high"),
    ("Nack", "pulls"),
    ("Data", "early"),
    ("Nack", "marked"),
];

#[test]
fn every_packet_has_one_declared_kind_and_every_kind_and_field_is_used() {
    for (info, views) in transports() {
        let (mut sent, mut used) = (BTreeSet::new(), BTreeSet::new());
        let more = OPTIONS.iter().filter(|(name, _)| *name == info.name).map(|(_, more)| *more);
        let runs = more.map(|more| (more, false));
        for (settings, bursts) in [(&[][..], false), (&[][..], true)].into_iter().chain(runs) {
            for Captured { packet, .. } in packets(info.name, settings, bursts) {
                let kinds: Vec<&HeaderView> =
                    views.iter().filter(|view| view.describes(&packet)).collect();
                let [view] = kinds[..] else {
                    panic!("{} {settings:?}: {packet:?} is described by {kinds:?}", info.name);
                };
                let what = format!("{} {}: {packet:?}", info.name, view.name);
                assert!(view.names_all_bits(&packet.header), "bits without a name, {what}");
                let coded = view.codes.iter().any(|code| code.mark == packet.mark);
                assert!(coded || view.codes.is_empty(), "an undeclared code, {what}");
                sent.insert(view.name);
                let values = view.values(&packet.header).expect("it is of this kind");
                let set = view.fields().zip(values).filter(|(_, value)| *value != 0);
                used.extend(set.map(|(field, _)| (view.name, field.name)));
                used.extend(
                    view.codes
                        .iter()
                        .filter(|code| code.mark == packet.mark)
                        .map(|code| (view.name, code.name)),
                );
            }
        }
        let unseen: Vec<&str> =
            views.iter().map(|view| view.name).filter(|name| !sent.contains(name)).collect();
        assert!(unseen.is_empty(), "{} never sends {unseen:?}", info.name);
        let named = |view: &'static HeaderView| {
            let codes = view.codes.iter().map(|code| code.name);
            view.fields().map(|field| field.name).chain(codes).map(|name| (view.name, name))
        };
        let unused = views.iter().flat_map(named);
        let unused = unused.filter(|field| !used.contains(field) && !RARE.contains(field));
        let unused: Vec<_> = unused.collect();
        assert!(unused.is_empty(), "{} never sets {unused:?}", info.name);
    }
}
