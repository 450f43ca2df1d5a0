//! Shares, Jain's index and convergence of runs made by hand.

use crate::support;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use incast_measure::columns::FAIRNESS;
use incast_measure::fairness::{TOLERANCE, Window, converged, equal};
use incast_measure::*;
use incast_transport::{FlowId, FlowRecord, FlowSeries, Parts};
use incast_units::{Span, Time};

fn flow(id: u32, transport: u16, start: u64, end: Option<u64>) -> (FlowRecord, FlowMeta) {
    let parts = Parts { nic_own: end.unwrap_or(start) - start, ..Parts::default() };
    let (mut record, mut meta) = support::flow(id, 1_000_000, start, 1, parts);
    meta.transport = transport;
    record.delivered = 0;
    if end.is_none() {
        (record.completed, record.parts) = (None, None);
    }
    (record, meta)
}

/// Ten intervals of 1 ns. Transport a has flow 0 for all the time; b has flow 1 from 2 ns on and
/// flow 2, which is not recorded, from 5 to 7 ns.
fn mixed() -> Run {
    let flows = vec![flow(0, 0, 0, None), flow(1, 1, 2_000, None), flow(2, 1, 5_000, Some(7_000))];
    let mut run = support::run_of("mix", flows);
    run.transports = vec!["a".into(), "b".into()];
    run.record.interval = Span::from_ns(1);
    run.record.ended = Time(10_000);
    let first = vec![100, 100, 90, 80, 55, 55, 55, 90, 55, 50];
    let second = vec![0, 0, 10, 20, 45, 45, 45, 10, 45, 50];
    let mut b = second.clone();
    (b[5], b[6]) = (b[5] + 20, b[6] + 20);
    for (flow, sum) in [(0, first.iter().sum()), (1, second.iter().sum()), (2, 40)] {
        run.record.flows[flow].delivered = sum;
    }
    run.record.shares = vec![first.clone(), b];
    let series = |(flow, delivered)| FlowSeries { flow: FlowId(flow), delivered };
    run.record.series = [(0, first), (1, second)].map(series).into();
    run
}

#[test]
fn the_table_has_a_row_a_transport_and_interval() {
    let run = mixed();
    let batch = FAIRNESS.batch(&run);
    assert_eq!(batch.num_rows(), 20);
    let integers = |name: &str| -> Vec<Option<u64>> {
        batch.column_by_name(name).unwrap().as_primitive::<UInt64Type>().iter().collect()
    };
    let floats = |name: &str| -> Vec<Option<f64>> {
        batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().iter().collect()
    };
    let names = batch.column_by_name("transport").unwrap().as_string::<i32>();
    assert_eq!((names.value(0), names.value(19)), ("a", "b"));
    assert_eq!(integers("recorded_flows")[10..14], [0, 0, 1, 1].map(Some));
    assert_eq!(integers("delivered_bytes")[15], Some(65));
    let share = floats("share");
    assert_eq!((share[0], share[10]), (Some(1.0), Some(0.0)));
    assert_eq!(share[15], Some(65.0 / 120.0), "of all flows, recorded or not");
    // 65 bytes in a nanosecond.
    assert_eq!(floats("throughput_gbps")[15], Some(520.0));
    let jain = floats("jain_all");
    assert_eq!(jain[0], Some(1.0), "flow 1 is not there yet");
    assert_eq!(jain[2], Some(100.0 * 100.0 / (2.0 * (90.0 * 90.0 + 10.0 * 10.0))));
    assert_eq!((jain[2], jain[9]), (jain[12], Some(1.0)));
    assert_eq!(floats("jain")[10..13], [None, None, Some(1.0)]);
}

#[test]
fn rates_are_equal_within_a_share_of_their_mean() {
    // Two rates differ by less than 20 % of their sum.
    assert!(equal(&[59.0, 41.0], TOLERANCE) && !equal(&[60.0, 40.0], TOLERANCE));
    assert!(equal(&[10.0, 10.0, 11.9], 0.2) && !equal(&[10.0, 10.0, 14.0], 0.2));
    assert!(!equal(&[5.0], 0.2) && !equal(&[0.0, 0.0], 0.2) && !equal(&[], 0.2));
}

#[test]
fn convergence_is_the_end_of_the_first_window_or_of_the_first_for_good() {
    let run = mixed();
    let windows = |length| Window::cut(&run, Time(2_000), Time(10_000), Span::from_ns(length));
    let at = |length, lasting| {
        converged(&run, &windows(length), |w| w.rates(&run, None), TOLERANCE, lasting)
    };
    assert_eq!(at(1, false), Some(Time(5_000)));
    assert_eq!(at(1, true), Some(Time(9_000)), "at 7 ns they part once more");
    // 2-6 and 6-10 ns: 280 : 120 and 250 : 150, within 40 and 25 % of the mean.
    assert_eq!(at(4, false), None);
    let loose = |w: &Window| w.rates(&run, None);
    assert_eq!(converged(&run, &windows(4), loose, 0.3, false), Some(Time(10_000)));
    // A window longer than what there is is cut.
    assert_eq!(windows(100), [Window { first: 2, end: 10 }]);
    assert_eq!(windows(3), [Window { first: 2, end: 5 }, Window { first: 5, end: 8 }]);
}

#[test]
fn a_summary_has_shares_and_convergence() {
    let fairness = summarise(&mixed()).fairness.unwrap();
    let [a, b] = fairness.shares.as_slice() else { panic!("two transports") };
    assert_eq!((a.flows, a.delivered_bytes, b.flows, b.delivered_bytes), (1, 730, 2, 310));
    assert_eq!(b.share, Some(310.0 / 1040.0));
    assert_eq!((fairness.recorded_flows, fairness.window_ns), (2, 1.0));
    // From the opening of flow 1 at 2 ns to the end of the window from 8 to 9 ns.
    assert_eq!(fairness.convergence_ns, Some(7.0));
    assert!(fairness.jain_min < fairness.jain_mean && fairness.jain_mean < Some(1.0));
    let lone = support::run_of("x", vec![flow(0, 0, 0, None)]);
    assert_eq!(summarise(&lone).fairness, None);
    assert!(report_text("mix", &[mixed()]).contains("<h2>Fairness</h2>"));
    assert!(!report_text("lone", &[lone]).contains("<h2>Fairness</h2>"));
}

#[test]
fn one_transport_is_known_if_every_flow_is_recorded() {
    let mut run = mixed();
    run.transports = vec!["a".into()];
    run.flows.iter_mut().for_each(|flow| flow.transport = 0);
    run.record.shares.clear();
    let window = Window::interval(3);
    assert_eq!((window.delivered(&run, 0), window.share(&run, 0)), (None, None));
    run.record.flows.pop();
    run.flows.pop();
    assert_eq!((window.delivered(&run, 0), window.share(&run, 0)), (Some(100), Some(1.0)));
}
