//! Frames over veth pairs, in a namespace that an ordinary user may make. Each test runs this program again inside
//! `unshare -Urn`; where that is not permitted it says so.
//!
//! A process of its own: DPDK starts once per process, here with interfaces of the system.

use incast_dataplane::dpdk::{Environment, Error, Mempool, Port, WIRE, Wire};
use incast_dataplane::{Departure, Frame, Idle, PacketIo, RealTime, Rule, Testbed, run_virtual};
use incast_testkit::{Trial, flow, star};
use incast_transport::*;
use incast_wire::encode;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs the ignored test of this name in a namespace with pairs `a0`-`b0`, `a1`-`b1`.
fn in_a_namespace(name: &str) {
    let own = std::env::current_exe().expect("a path");
    let script = "set -e; ip link set lo up; for i in 0 1; do ip link add a$i type veth peer name b$i; \
        for n in a$i b$i; do echo 1 2>/dev/null > /proc/sys/net/ipv6/conf/$n/disable_ipv6 || true; ip link set $n up; \
        done; done; exec \"$0\" --ignored --exact --nocapture \"$1\"";
    let trial =
        Command::new("unshare").args(["-Urn", "ip", "link", "add", "x", "type", "veth"]).output();
    if !trial.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: frames over veth pairs, because namespaces cannot be made here");
        return;
    }
    let mut unshare = Command::new("unshare");
    let output = unshare.args(["-Urn", "sh", "-c", script]).arg(own).arg(name).output();
    let output = output.expect("it just ran");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn frames_cross_a_veth_pair_and_foreign_ones_are_counted() {
    in_a_namespace("inside_frames");
}

#[test]
fn a_flow_crosses_a_switch_over_veth_pairs() {
    in_a_namespace("inside_flow");
}

/// Outside of a namespace, without privilege or where the interface is missing: one message each.
#[test]
fn an_interface_that_cannot_be_opened_is_refused_by_name() {
    let environment = Environment::start(WIRE).unwrap();
    let missing = Wire::open(environment, &[(0, "incast-none")], Framing::ETHERNET);
    assert!(matches!(missing.err(), Some(Error::NoInterface { .. })));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    if u64::from_str_radix(capabilities.trim(), 16).unwrap() & 1 << 13 == 0 {
        let error = Wire::open(environment, &[(0, "lo")], Framing::ETHERNET).err().unwrap();
        assert!(matches!(error, Error::Privilege { .. }), "{error}");
    }
}

/// A DCTCP flow from one host to another.
fn star_of_two(rate: Rate, size: u64) -> Trial<'static> {
    let dctcp = incast_protocols::find("dctcp").unwrap();
    Trial::new(dctcp, star(2, rate, Span::from_us(10)), vec![flow(0, 0, 1, size, Time::ZERO)])
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
#[ignore = "runs inside a namespace"]
fn inside_frames() {
    let environment = Environment::start(WIRE).unwrap();
    let mut io = Wire::open(environment, &[(0, "a0"), (1, "b0")], Framing::ETHERNET).unwrap();
    let pool = io.pool().clone();
    assert!(io.is_external(1) && !io.is_external(2) && io.room(0) > 32 && io.room(2) == 0);
    let mut scenario = star_of_two(Rate::from_gbps(10), 200_000);
    scenario.options.capture = (0..4).collect();
    let captured = run_virtual(scenario.setup()).1;
    let mut sent = vec![];
    for one in captured.iter().take(100) {
        let mut bytes = vec![];
        encode(&one.packet, &one.extension, &mut bytes);
        let mut frame = io.alloc(bytes.len()).unwrap();
        frame.bytes_mut().copy_from_slice(&bytes);
        let at = Time::ZERO;
        assert!(io.stage(0, frame, Departure { start: at, release: at, complete: at }).is_ok());
        sent.push(bytes);
    }
    assert!(sent.iter().any(|bytes| bytes.len() == 1_500) && sent.iter().any(|b| b.len() < 46));
    until("the device takes the frames", || io.flush(0) == 0);
    let (mut got, mut arrived) = (vec![], vec![]);
    until("frames arrive", || {
        io.rx_burst(1, Time(7), 32, &mut arrived);
        for one in arrived.drain(..) {
            assert_eq!(
                (one.at, one.complete, one.frame.trail().is_none()),
                (Time(7), Time(7), true)
            );
            got.push(one.frame.bytes().to_vec());
            io.free(one.frame);
        }
        got.len() == sent.len()
    });
    for (sent, mut got) in sent.iter().zip(got) {
        // Ethernet pads short ones.
        assert!(got.len() == sent.len().max(46), "{} B arrive as {} B", sent.len(), got.len());
        got.truncate(sent.len());
        assert!(*sent == got, "other bytes than were sent");
    }
    assert_eq!(io.foreign(), 0);
    // The kernel looks for a neighbour.
    let added = Command::new("ip").args(["addr", "add", "192.0.2.1/24", "dev", "a0"]).status();
    assert!(added.unwrap().success());
    let socket = std::net::UdpSocket::bind("192.0.2.1:0").unwrap();
    socket.send_to(b"foreign", "192.0.2.2:9").unwrap();
    until("the foreign frame is counted", || {
        assert_eq!(io.rx_burst(1, Time(7), 32, &mut arrived), 0);
        io.foreign() > 0
    });
    assert_eq!(io.held(), 0);
    assert_eq!(io.device(1).unwrap().counts().without_memory, 0);
    drop(io);
    assert_eq!(pool.available(), pool.count(), "mbufs leaked");
    let pool = Arc::new(Mempool::<()>::new(environment, 64, 1_600).unwrap());
    let gone = Command::new("ip").args(["link", "del", "a1"]).status();
    assert!(gone.unwrap().success());
    let error = Port::open(&pool, "b1").unwrap_err();
    assert!(error.to_string().contains("a0"), "{error}");
}

/// Hosts and switch in one process, their links two veth pairs.
#[test]
#[ignore = "runs inside a namespace"]
fn inside_flow() {
    let environment = Environment::start(WIRE).unwrap();
    let mut scenario = star_of_two(Rate::from_mbps(100), 300_000);
    scenario.options.until = Time::ZERO + Span::from_ms(20_000);
    let fabric = &scenario.fabric;
    let port =
        |host: u32| (fabric.host_port(host).0, fabric.port(fabric.host_port(host)).reverse.0);
    let ((h0, s0), (h1, s1)) = (port(0), port(1));
    let devices = [(h0, "a0"), (s0, "b0"), (h1, "a1"), (s1, "b1")];
    let io = Wire::open(environment, &devices, Framing::ETHERNET).unwrap();
    let pool = io.pool().clone();
    let clock = RealTime::new(Rule::Tsc, Idle::Sleep(Span::from_us(1)));
    let (record, _, io) = Testbed::with(scenario.setup(), io, clock).run();
    assert!(record.complete, "{:?}", record.flows);
    assert_eq!((record.malformed, record.flows[0].delivered, io.held()), (0, 300_000, 0));
    drop(io);
    assert_eq!(pool.available(), pool.count(), "mbufs leaked");
}
