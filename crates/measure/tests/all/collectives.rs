//! Iterations of collectives: what is computed from their times, and where it is shown.

use crate::support;
use incast_measure::columns::{COLLECTIVES, tables_of};
use incast_measure::{Collective, CriticalPath, numbers_of, report_text, summarise};
use incast_transport::Parts;
use incast_units::{Span, Time};

/// Four ranks sum 8 MB in 1 ms after 100 us of computation, and have not finished the second time.
pub fn two_iterations() -> Vec<Collective> {
    let us = |us: u64| Time(us * 1_000_000);
    let parts = Parts {
        nic_own: Span::from_us(600).0,
        blocked: [0, Span::from_us(100).0, 0, 0, 0],
        queueing: [0, Span::from_us(200).0, 0, Span::from_us(100).0],
        ..Parts::default()
    };
    let first = Collective {
        number: 0,
        job: String::new(),
        iteration: 0,
        kind: "all_reduce",
        algorithm: "ring",
        ranks: 4,
        bytes: 8_000_000,
        bus_factor: 1.5,
        messages: 24,
        compute: Span::from_us(100),
        begin: Some(us(50)),
        start: Some(us(150)),
        end: Some(us(1_150)),
        slowest_rank: Some(2),
        skew_start: Some(Span::ZERO),
        skew_end: Some(Span::from_us(30)),
        ideal: Some(Span::from_us(800)),
        path: Some(CriticalPath {
            messages: 6,
            compute: Span::from_us(100),
            parts,
            ahead: Span::ZERO,
        }),
    };
    let second = Collective {
        iteration: 1,
        begin: first.end,
        start: Some(us(1_250)),
        end: None,
        slowest_rank: None,
        skew_end: None,
        ideal: None,
        path: None,
        ..first.clone()
    };
    vec![first, second]
}

#[test]
fn bandwidth_and_exposed_time_are_of_iterations_that_ended() {
    let mut run = support::made_up("a", 1, 20, 1.0);
    assert!(tables_of(&run).all(|table| table.name != "collectives"));
    assert!(!numbers_of(&summarise(&run)).contains_key("busbw"));
    run.collectives = two_iterations();
    assert!(tables_of(&run).any(|table| table.name == "collectives"));
    let column = |name| COLLECTIVES.numbers(&run, name).unwrap()[0];
    assert_eq!(column("completion_ns"), 1e6);
    assert_eq!(column("iteration_ps"), 1.1e9);
    assert_eq!((column("exposed_ns"), column("slowdown")), (1e6, 1.25));
    assert_eq!((column("algbw"), column("busbw")), (8.0, 12.0));
    let parts: f64 = COLLECTIVES
        .columns
        .iter()
        .filter(|one| {
            one.name.starts_with("path_") && one.unit == "ps" && one.name != "path_ahead_ps"
        })
        .map(|one| column(one.name))
        .sum();
    assert_eq!(parts, column("iteration_ps") + column("path_ahead_ps"));
    let open = |name| COLLECTIVES.numbers(&run, name).unwrap()[1];
    let none = ["end_ns", "busbw", "iteration_ns", "slowest_rank", "ideal_ns", "path_nic_own_ps"];
    assert!(none.iter().all(|name| open(name).is_nan()));
    let summary = summarise(&run);
    let values = numbers_of(&summary);
    assert_eq!((values["collectives"], values["collectives_completed"]), (2.0, 1.0));
    assert_eq!((values["busbw"], values["iteration_ms"], values["exposed_ms"]), (12.0, 1.1, 1.0));
    assert_eq!((values["collective_mean_ns"], values["collective_slowdown"]), (1e6, 1.25));
    let report = report_text("a", &[run]);
    let path = "54.5 % sending, 18.2 % queues of edge switches, 9.1 % computation, 9.1 % waiting for grants, \
                9.1 % queues of core switches";
    assert!(report.contains(path), "the critical path");
    assert!(
        report
            .contains("<td class=\"text\">0 all_reduce (ring)</td><td>4</td><td>8</td><td>1</td>")
    );
}
