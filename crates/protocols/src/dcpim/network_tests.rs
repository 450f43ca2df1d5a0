//! Known results in whole networks.

use super::headers::Accept;
use super::*;
use incast_testkit::*;
use incast_transport::{Bytes, FlowRecord, Limit, Rate, Span, flag};

const RATE: Rate = Rate::from_gbps(100);
const LINK: Span = Span::from_us(1);

fn terms(trial: &Trial) -> Terms {
    let fabric = trial.site();
    let bdp_packets = fabric.bdp_packets(RATE);
    let routing = Routing::SourceRoundRobin;
    Terms::new(
        &Params::default(),
        &HostSite { host: incast_transport::HostId(0), rate: RATE, bdp_packets, routing, fabric },
    )
}

#[test]
fn a_short_flow_takes_the_time_of_its_own_packets() {
    for spec in ["star:2", "leaf-spine:2x2x2", "fat-tree:4"] {
        for size in [1u64, 1_460, 1_461, 20_000] {
            let fabric = fabric(spec, RATE, LINK);
            let dst = fabric.hosts() - 1;
            let (full, rest) = (size / 1_460, size % 1_460);
            let last = (rest > 0).then_some(rest as u32 + 40);
            let packets: Vec<u32> = (0..full).map(|_| 1_500).chain(last).collect();
            let own = ideal(&fabric, 0, dst, &packets);
            // Its announcement leaves first.
            let announced = own + RATE.tx_time(Bytes(84));
            let run = Trial::new(&ENTRY, fabric, vec![flow(0, 0, dst, size, Time::ZERO)]).run();
            assert!(
                (own..=announced).contains(&run.fct(0)),
                "{spec}, {size}: {} {own}",
                run.fct(0)
            );
        }
    }
}

/// A long flow waits for the next round; then a request, a grant and an accept take a round, and tokens on prompt
/// channels fill the link. Without these it waits for its data phase.
#[test]
fn a_long_flow_is_matched_in_a_round_and_takes_all_channels() {
    let size = 4_000_000;
    for (prompt, start) in [(true, us(1)), (true, us(50)), (false, us(1))] {
        let flows = vec![flow(0, 0, 1, size, Time::ZERO + start)];
        let mut trial = Trial::new(&ENTRY, star(2, RATE, LINK), flows);
        trial.settings = vec![("prompt", if prompt { "true" } else { "false" })];
        let (terms, own) = (terms(&trial), RATE.tx_time(Bytes(1_538)) * size.div_ceil(1_460));
        let run = trial.run();
        // The announcement is there after two links.
        let there = Time::ZERO + start + LINK * 2 + RATE.tx_time(Bytes(84)) * 2;
        let ask = terms.clock.next_round(there);
        let begin = match prompt {
            true => Time(terms.clock.at(ask).0 + terms.clock.round.0),
            false => terms.clock.at(Step { round: terms.clock.rounds, ..ask }),
        };
        // Token and data take a round trip, and the data its own time. What the last matching asks for is
        // what is left then: a part of the channels.
        let least = begin + LINK * 4 + own;
        let most = least + terms.clock.round / if prompt { 4 } else { 1 };
        let done = run.finished();
        assert!((least..=most).contains(&done), "{prompt}: {done} is not {least} to {most}");
        assert_eq!(run.drops(), 0);
    }
}

/// Eight hosts send to one each of eight others: all are matched in the first round, and each has its link.
#[test]
fn a_permutation_is_matched_in_one_round() {
    let pairs = 8;
    let flows = (0..pairs).map(|id| flow(id, id, pairs + id, 4_000_000, Time::ZERO)).collect();
    let mut trial = Trial::new(&ENTRY, star(2 * pairs, RATE, LINK), flows);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    let terms = terms(&trial);
    let run = trial.run();
    let first = run.packets.iter().filter(|one| one.port < 2 * pairs);
    let accepts: Vec<_> =
        first.filter_map(|one| Some((one.at, Accept::read(&one.packet.header)?))).collect();
    let round = terms.clock.at(Step { epoch: 0, round: 2 });
    let in_first = accepts.iter().filter(|(at, _)| *at <= round + us(1)).count() as u32;
    assert_eq!(in_first, pairs);
    assert!(accepts.iter().take(pairs as usize).all(|(_, accept)| accept.channels == 4));
    let own = RATE.tx_time(Bytes(1_538)) * 4_000_000u64.div_ceil(1_460);
    let last = run.finished();
    assert!(last < Time::ZERO + own + terms.clock.round * 3 + LINK * 4, "{last}");
}

/// Utilisation of the busiest link, mean queue and fairness of `count` hosts that send to one.
#[test]
fn many_to_one_fill_a_link_without_a_queue() {
    for count in [4, 12] {
        let flows = (0..count).map(|id| flow(id, id, count, FOREVER, Time::ZERO)).collect();
        let mut trial = Trial::new(&ENTRY, star(count + 1, RATE, LINK), flows).until(ms(4), us(20));
        trial.buffer = Limit::Bytes(500_000);
        let run = trial.run();
        let (from, to) = (ms(1), ms(4));
        let (used, queue) = (run.utilisation(RATE, from, to), run.mean_queue(from, to));
        println!("{count}: {used} {queue} {}", run.fairness(from, to));
        assert!(used > 0.93, "{count}: {used}");
        assert!(queue < 2.0, "{count}: {queue}");
        // The flow with the least left has all channels, always.
        assert!((run.fairness(from, to) * count as f64 - 1.0).abs() < 0.01);
        assert_eq!(run.drops(), 0);
    }
}

/// Each channel and epoch moves its packets, and no host promises more than it has: an all-to-all of long flows.
#[test]
fn an_all_to_all_is_matched_well() {
    let hosts = 12;
    let pairs = (0..hosts).flat_map(|src| (0..hosts).map(move |dst| (src, dst)));
    let pairs = pairs.filter(|(src, dst)| src != dst);
    let flows: Vec<_> = pairs
        .enumerate()
        .map(|(id, (src, dst))| flow(id as u32, src, dst, 1_000_000, Time::ZERO))
        .collect();
    let sum = 1_000_000 * (hosts as u64 - 1);
    let run = Trial::new(&ENTRY, star(hosts, RATE, LINK), flows).run();
    let ideal = RATE.tx_time(Bytes(1_538)) * sum.div_ceil(1_460);
    let took = run.finished().since(Time::ZERO);
    let share = ideal.0 as f64 / took.0 as f64;
    println!("all-to-all: {share} of the links, {} drops", run.drops());
    assert!(share > 0.7, "{share}");
    let complete = |flow: &FlowRecord| flow.completed.is_some();
    assert!(run.record.flows.iter().all(complete));
}

#[test]
fn every_flow_survives_faulty_hosts() {
    for (seed, settings) in [
        vec![],
        vec![("token_initial", "1")],
        vec![("clock_offset", "0.1")],
        vec![("prompt", "false")],
    ]
    .into_iter()
    .enumerate()
    {
        let mut trial = Trial::new(&ENTRY, star(6, RATE, LINK), ladder(at(3)));
        trial.buffer = Limit::Bytes(300_000);
        trial.settings = settings;
        trial.impaired(seed as u64).delivers();
    }
}

/// A packet of data and its first copies, or eight packets of control, are lost, at any place: the flow finishes
/// within a few epochs.
#[test]
fn a_flow_finishes_whatever_is_lost() {
    for settings in [vec![], vec![("prompt", "false")]] {
        for place in 0..90 {
            for (control, most) in [(false, 1), (false, 2), (false, 4), (true, 8)] {
                let fabric = fabric_site(3, Rate::from_gbps(10), us(20));
                let configured = configured(&ENTRY, &settings, &fabric);
                let mut network = Network::of(&*configured, &fabric, Probabilities::default(), 1);
                let (mut seen, mut lost, mut victim) = (0, 0, None);
                let loses = move |packet: &Packet| {
                    let key = packet.header.data_key();
                    let own = packet.is_data() != control;
                    let next = own && (control || !packet.has(flag::RETRANSMIT));
                    seen += next as i32;
                    if next && seen == place + 1 {
                        victim = Some(key);
                    }
                    let is_it = own && victim.is_some() && (control || victim == Some(key));
                    lost += is_it as i32;
                    is_it && lost <= most
                };
                network.impair_all(Impairments::losing(loses));
                network.open(&flow(0, 0, 1, 60 * 1_460, Time::ZERO));
                network.run(Time::ZERO + ms(15));
                let done = network.completed(0);
                assert!(done.is_some(), "{settings:?}, place {place}, control {control}, {most}");
            }
        }
    }
}
