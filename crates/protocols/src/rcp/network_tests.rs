//! Known results in whole networks.

use super::*;
use incast_testkit::*;
use incast_transport::{Bytes, Limit, Rate, Time};

const RATE: Rate = Rate::from_gbps(10);

#[test]
fn two_flows_have_the_same_rate_after_one_rtt_and_one_interval() {
    let flows =
        vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 2, FOREVER, Time::ZERO + ms(20))];
    let run = Trial::new(&ENTRY, star(3, RATE, us(25)), flows).until(ms(60), us(100)).run();
    let fair = run.fair_after(ms(20), us(300), 0.1).expect("it becomes fair");
    // The RTT of the request, one RTT until data is acknowledged, and the window measured.
    assert!(fair < us(900), "{fair}");
    assert!(run.fairness(ms(21), ms(60)) > 0.999);
    assert!(run.utilisation(RATE, ms(30), ms(60)) > 0.98);
    assert!(run.mean_queue(ms(30), ms(60)) < 10.0);
}

#[test]
fn flows_that_come_one_by_one_have_a_share_each() {
    for count in [1, 4, 20] {
        let flows =
            (0..count).map(|id| flow(id, id, count, FOREVER, Time::ZERO + ms(id as u64))).collect();
        let mut trial =
            Trial::new(&ENTRY, star(count + 1, RATE, us(25)), flows).until(ms(60), us(200));
        trial.buffer = Limit::Packets(500);
        let run = trial.run();
        let (used, fair) = (run.utilisation(RATE, ms(30), ms(60)), run.fairness(ms(30), ms(60)));
        assert!(used > 0.97, "{count}: {used}");
        assert!(fair > 0.999, "{count}: {fair}");
        assert_eq!(run.drops(), 0, "{count}");
    }
}

#[test]
fn many_flows_at_once_are_slow_to_find_their_rate() {
    // Ten times the link for an RTT: the rate falls to the least, the average RTT
    // grows to a millisecond, and 40 % in each of those is slow.
    let flows = (0..20).map(|id| flow(id, id, 20, FOREVER, Time::ZERO)).collect();
    let mut trial = Trial::new(&ENTRY, star(21, RATE, us(25)), flows).until(ms(120), us(200));
    trial.buffer = Limit::Packets(2_000);
    let run = trial.run();
    let (early, late) =
        (run.utilisation(RATE, ms(5), ms(25)), run.utilisation(RATE, ms(80), ms(120)));
    assert!(early < 0.5, "{early}");
    assert!(late > 0.95, "{late}");
    assert!(run.fairness(ms(80), ms(120)) > 0.99);
}

#[test]
fn a_flash_crowd_queues_one_rtt_of_its_first_rates() {
    // Twenty flows are told the same first rate: at a twentieth of the link nothing is lost in a
    // buffer of a BDP (82 packets), at all of it most is.
    let peak = |initial: &'static str, buffer| {
        let flows = (0..20).map(|id| flow(id, id, 20, FOREVER, Time::ZERO)).collect();
        let mut trial = Trial::new(&ENTRY, star(21, RATE, us(25)), flows)
            .until(ms(2), us(100))
            .set("initial_rate", initial);
        trial.buffer = Limit::Packets(buffer);
        let run = trial.run();
        (run.peak_queue(Span::ZERO, ms(2)), run.drops())
    };
    assert_eq!(peak("0.05", 82).1, 0);
    // n R d0 is 20 x 81 packets, less what leaves meanwhile.
    let (queue, _) = peak("1", 10_000);
    assert!((800.0..4_000.0).contains(&queue), "{queue}");
}

#[test]
fn the_narrowest_link_of_a_path_decides() {
    // Flow 0 crosses three links, shared with one, two and one others; the rest takes what it leaves.
    let link = incast_fabric::LinkDefaults { rate: RATE, propagation: us(5), loss: 0.0 };
    let fabric = incast_fabric::parse("parking-lot:3", link).unwrap();
    let pairs = [(0, 1), (2, 3), (4, 5), (4, 5), (6, 7)];
    let long = |(id, (src, dst))| flow(id, src, dst, FOREVER, Time::ZERO);
    let run = Trial::new(&ENTRY, fabric, (0..).zip(pairs).map(long).collect())
        .until(ms(30), us(200))
        .run();
    let shares = [1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0];
    for (id, share) in shares.into_iter().enumerate() {
        let gbps = run.received(id, ms(15), ms(30)) as f64 * 8.0 / 15e-3 / 1e9;
        let expected = 10.0 * 1_448.0 / 1_538.0 * share;
        assert!((gbps / expected - 1.0).abs() < 0.08, "flow {id}: {gbps} of {expected}");
    }
}

#[test]
fn a_flow_of_one_packet_takes_two_rtts() {
    for propagation in [5, 25] {
        let fabric = star(2, RATE, us(propagation));
        let ideal = ideal(&fabric, 0, 1, &[1_500]);
        let run = Trial::new(&ENTRY, fabric, vec![flow(0, 0, 1, 1_448, Time::ZERO)]).run();
        let question = RATE.tx_time(Bytes(90)) * 2 + us(propagation) * 2;
        assert_eq!(run.fct(0), question * 2 + ideal, "there and back, and then the packet");
    }
}

#[test]
fn a_host_that_starts_at_a_known_rate_saves_one_rtt() {
    let time = |known: &'static str| {
        let flows = vec![flow(0, 0, 1, 1_000_000, Time::ZERO), flow(1, 0, 1, 14_480, Time::ZERO)];
        let mut trial =
            Trial::new(&ENTRY, star(2, RATE, us(25)), flows).set("first_rtt_rate", known);
        let second = &mut trial.flows[1];
        (second.after, second.delay) = (vec![incast_transport::FlowId(0)], ms(1));
        trial.run().fct(1)
    };
    let saved = time("false") - time("true");
    assert!(us(99) < saved && saved < us(103), "{saved}");
}

#[test]
fn every_packet_is_charged_for_its_header() {
    let flows = vec![flow(0, 0, 1, 100_000, Time::ZERO)];
    let mut trial = Trial::new(&ENTRY, star(2, RATE, us(5)), flows);
    trial.options.capture = vec![0, 1];
    let run = trial.run();
    assert!(run.record.complete);
    let (mut questions, mut farewells) = (0, 0);
    for captured in &run.packets {
        let packet = &captured.packet;
        assert_eq!(packet.extension, 12);
        let incast_transport::Header::Segment { flags, .. } = packet.header else { panic!() };
        match packet.is_data() {
            true => assert!(packet.ip_bytes() <= 1_500),
            false => assert_eq!(packet.ip_bytes(), 52),
        }
        use incast_transport::tcp_flag::{ACK, FIN, SYN};
        questions += (flags == SYN) as u32;
        farewells += (flags & (ACK | FIN) == FIN && !packet.is_data()) as u32;
    }
    assert_eq!((questions, farewells), (1, 1));
    assert_eq!(run.record.flows[0].packets as u64, 100_000u64.div_ceil(1_448));
}

#[test]
fn every_flow_survives_faulty_hosts() {
    let variants: [&[(&str, &str)]; 4] = [
        &[],
        &[("first_rtt_rate", "true"), ("initial_rate", "1")],
        &[("slot", "10us"), ("target", "0.9")],
        &[("initial_rate", "0.001"), ("rtt_initial", "1ms")],
    ];
    for (seed, settings) in variants.into_iter().enumerate() {
        let fabric = star(6, RATE, us(5));
        let mut trial = Trial::new(&ENTRY, fabric, ladder(Time::ZERO)).impaired(seed as u64);
        trial.settings = settings.to_vec();
        trial.delivers();
    }
}
