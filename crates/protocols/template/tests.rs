//! Known results.

use super::*;
use incast_endpoint::sender::{Ack, Control, Loss, Progress};
use incast_testkit::{FOREVER, MSS, Trial, dumbbell, flow, ms, plain_ack, progress, us};
use incast_transport::{Extension, Limit, Rate, Time};

/// An ACK of one segment, and where the flow stands.
fn acknowledge(control: &mut Template, marked: bool, acknowledged: u64) {
    let none = Extension::None;
    control.on_ack(&Ack { ece: marked, ..plain_ack(&none) }, &at(acknowledged));
}

/// 100 segments are in flight.
fn at(acknowledged: u64) -> Progress {
    let sent = acknowledged + 100 * MSS;
    Progress { acknowledged, sent, ..progress(Time::ZERO, None) }
}

#[test]
fn slow_start_doubles_the_window_and_a_mark_halves_it_once_per_window() {
    let mut control = Template::new(&Params::default(), MSS);
    for number in 1..=10 {
        acknowledge(&mut control, false, number * MSS);
    }
    assert_eq!(control.window(), 20 * MSS);
    acknowledge(&mut control, true, 11 * MSS);
    assert_eq!(control.window(), 10 * MSS);
    // Marks of the same window of data.
    acknowledge(&mut control, true, 12 * MSS);
    acknowledge(&mut control, true, 111 * MSS);
    assert_eq!(control.window(), 10 * MSS);
    acknowledge(&mut control, true, 112 * MSS);
    assert_eq!(control.window(), 5 * MSS);
}

#[test]
fn beyond_slow_start_the_window_grows_by_a_segment_per_window() {
    let mut control = Template::new(&Params::default(), MSS);
    acknowledge(&mut control, true, MSS);
    for number in 0..5 {
        acknowledge(&mut control, false, (102 + number) * MSS);
    }
    let grown = control.window() - 5 * MSS;
    assert!((MSS * 9 / 10..=MSS).contains(&grown), "{grown} bytes");
}

#[test]
fn a_timeout_leaves_one_segment() {
    let mut control = Template::new(&Params::default(), MSS);
    control.on_loss(Loss::Timeout, &at(0));
    assert_eq!(control.window(), MSS);
    acknowledge(&mut control, false, MSS);
    assert_eq!(control.window(), 2 * MSS);
}

#[test]
fn two_flows_fill_a_link_without_loss_because_ports_mark() {
    let flows = vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 3, FOREVER, Time::ZERO)];
    let fabric = dumbbell(2, Rate::from_gbps(10), us(100));
    let mut trial = Trial::new(&ENTRY, fabric, flows).set("mark_threshold", "100 packets");
    trial.buffer = Limit::Packets(500);
    let run = trial.until(ms(20), us(100)).run();
    let port = run.ports.iter().max_by_key(|port| port.total.backlog_area).expect("ports");
    let could = 1.25e9 * 20e-3;
    assert!(port.total.sent_bytes as f64 > 0.95 * could, "{} bytes", port.total.sent_bytes);
    assert!(port.total.marks > 0, "nothing is marked");
    assert_eq!(port.total.drops, 0);
}

#[test]
fn wrong_settings_are_refused() {
    let wrong = Params::read(&[("decrease".into(), "1".into())]).unwrap_err();
    assert_eq!(wrong.to_string(), "decrease = `1`: expected 0 < decrease < 1");
}
