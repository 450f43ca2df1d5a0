//! Reactive and credit-based transports on one link: CCRP §2.2, Fig. 3 and 5.

use incast_protocols::find;
use incast_testkit::{FOREVER, Trial, fabric, flow, ms, us};
use incast_transport::*;

/// Shares of the link from 50 to 100 ms, of a reactive flow that starts at 0 and of a credit-based
/// flow that starts at 10 ms: 10 Gb/s, 5 us per link, 1 MB of buffer.
fn shares(reactive: &str, credit: &str) -> (f64, f64) {
    let [reactive, credit] = [reactive, credit].map(|name| find(name).expect("in the catalogue"));
    let start = |id: u32| Time::ZERO + ms(10) * id as u64;
    let flows = (0..2).map(|id| flow(id, id, 2 + id, FOREVER, start(id))).collect();
    let fabric = fabric("dumbbell:2x2", Rate::from_gbps(10), us(5));
    let mut trial = Trial::new(reactive, fabric, flows).beside(credit, &[]).until(ms(100), ms(1));
    trial.buffer = Limit::Bytes(1_000_000);
    let run = trial.run();
    let share = |of: usize| run.received(of, ms(50), ms(100)) as f64 / 0.05 / 1.25e9;
    (share(0), share(1))
}

#[test]
fn expresspass_starves_every_reactive_transport() {
    for reactive in ["cubic", "dcqcn", "dctcp", "timely"] {
        let (left, taken) = shares(reactive, "expresspass");
        // The credit-based flow takes the rest. CUBIC fills the buffer, so that some data is lost.
        assert!(left < 0.1 && taken > 6.0 * left, "{reactive}: {left} beside {taken}");
    }
}

#[test]
fn ccrp_leaves_a_share_to_transports_that_react_to_marks() {
    // Packets are marked by the rule of their transport. DCTCP's is stricter, so DCTCP gets less.
    // One rule for the complete queue (`transport.marking`) makes the two about equal. DCQCN's share
    // depends on the constants: CCRP recovers by 40 and 400 Mb/s like DCQCN itself; with 5 and
    // 50 Mb/s DCQCN kept more than 0.2.
    for (reactive, least) in [("dcqcn", 0.12), ("dctcp", 0.03)] {
        let (left, taken) = shares(reactive, "ccrp");
        assert!(left > least && left + taken > 0.9, "{reactive}: {left} beside {taken}");
    }
}
