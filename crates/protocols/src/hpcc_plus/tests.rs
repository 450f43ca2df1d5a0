//! What differs from HPCC.

use super::*;
use incast_testkit::*;
use incast_transport::{FabricSite, Rate, Time, Transport};
use std::sync::Arc;

const RATE: Rate = Rate::from_gbps(10);

/// Four flows, of which three end after a while.
fn leaving(entry: &'static dyn Transport, settings: &[(&'static str, &'static str)]) -> Outcome {
    let sizes = [FOREVER, 200_000, 200_000, 200_000];
    let flows = sizes.iter().enumerate();
    let flows = flows.map(|(id, size)| flow(id as u32, id as u32, 4, *size, Time::ZERO)).collect();
    let mut trial = Trial::new(entry, star(5, RATE, us(2)), flows).until(us(3_000), us(10));
    trial.settings = settings.to_vec();
    trial.run()
}

#[test]
fn it_is_hpcc_without_stages() {
    let mut runs = [leaving(&ENTRY, &[]), leaving(&crate::hpcc::ENTRY, &[("max_stage", "0")])];
    let [plus, without] = runs.each_mut().map(|run| std::mem::take(&mut run.record));
    assert!(plus == without, "the same flows at the same times");
    let with = leaving(&crate::hpcc::ENTRY, &[]);
    assert!(with.record.flows != plus.flows);
}

/// Free capacity is taken in a few RTTs instead of six for each multiplication.
#[test]
fn it_takes_what_others_leave_sooner() {
    let half = |run: &Outcome| {
        let end = (1..4).map(|flow| run.record.flows[flow].completed.unwrap()).max().unwrap();
        let end = us(end.0 / 10_000_000 * 10);
        let busy = |at: &u64| run.utilisation(RATE, end + us(*at), end + us(*at + 40)) > 0.85;
        (0..40).map(|step| step * 10).find(busy).expect("it takes the link in 400 us")
    };
    let (plus, hpcc) = (half(&leaving(&ENTRY, &[])), half(&leaving(&crate::hpcc::ENTRY, &[])));
    assert!(plus < hpcc, "{plus} us, {hpcc} us");
}

#[test]
fn it_has_no_stages_to_set() {
    let fabric = switch_port(RATE, us(10)).fabric;
    let set = |key: &str| ENTRY.configure(&[(key.into(), "3".into())], fabric.clone()).map(|_| ());
    let error = set("max_stage").unwrap_err();
    assert_eq!(error.key(), Some("max_stage"));
    assert!(error.to_string().contains("no such parameter"), "{error}");
    set("int_hops").unwrap();
    let text = ENTRY
        .configure(
            &[("int_hops".into(), "1".into())],
            Arc::new(FabricSite { hops: 4, ..(*fabric).clone() }),
        )
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(text.starts_with("int_hops = `1`: the longest path has 3 switches"), "{text}");
}
