use super::*;
use proptest::prelude::*;

fn uses(links: &[u32]) -> Vec<Use> {
    links.iter().map(|link| Use { link: *link, part: 1.0 }).collect()
}

#[test]
fn two_flows_share_a_link_and_the_last_has_it_all() {
    let mut shares = Shares::new([10.0].into_iter());
    let (a, b) = (shares.add(&uses(&[0])), shares.add(&uses(&[0])));
    shares.settle();
    assert_eq!(shares.changed(), [a, b]);
    assert_eq!((shares.rate(a), shares.rate(b)), (5.0, 5.0));
    shares.remove(a);
    shares.settle();
    assert_eq!(shares.changed(), [b]);
    assert_eq!(shares.rate(b), 10.0);
}

/// Bertsekas and Gallager, Data Networks, section 6.5.2, in the form with three links: a long flow over all of
/// them, and one flow over each.
#[test]
fn parking_lot() {
    let mut shares = Shares::new([10.0, 6.0, 10.0].into_iter());
    let long = shares.add(&uses(&[0, 1, 2]));
    let short = [0, 1, 2].map(|link| shares.add(&uses(&[link])));
    shares.settle();
    assert_eq!(shares.rate(long), 3.0);
    assert_eq!(short.map(|flow| shares.rate(flow)), [7.0, 3.0, 7.0]);
    // The middle link's own flow ends: the long one is now bound by the outer links.
    shares.remove(short[1]);
    shares.settle();
    assert_eq!(shares.rate(long), 5.0);
    assert_eq!([short[0], short[2]].map(|flow| shares.rate(flow)), [5.0, 5.0]);
    shares.set_capacity(2, 4.0);
    shares.settle();
    assert_eq!((shares.rate(long), shares.rate(short[0]), shares.rate(short[2])), (2.0, 8.0, 2.0));
    shares.set_capacity(2, 0.0);
    shares.settle();
    assert_eq!((shares.rate(long), shares.rate(short[0]), shares.rate(short[2])), (0.0, 10.0, 0.0));
}

/// A flow that is spread over four links takes a quarter of its rate of each.
#[test]
fn a_spread_flow_takes_parts() {
    let mut shares = Shares::new([10.0, 1.0, 1.0, 1.0, 1.0].into_iter());
    let quarter = |link| Use { link, part: 0.25 };
    let spread: Vec<Use> = uses(&[0]).into_iter().chain([1, 2, 3, 4].map(quarter)).collect();
    let a = shares.add(&spread);
    shares.settle();
    assert_eq!(shares.rate(a), 4.0);
    let b = shares.add(&uses(&[3]));
    shares.settle();
    assert_eq!((shares.rate(a), shares.rate(b)), (0.8, 0.8));
}

/// What is done to the shares in turn: a flow comes, one goes, or a capacity changes.
#[derive(Clone, Debug)]
enum Step {
    Add(Vec<(u32, u8)>),
    Remove(usize),
    Capacity(u32, u8),
}

const LINKS: u32 = 8;

fn step() -> impl Strategy<Value = Step> {
    let path = proptest::collection::btree_map(0..LINKS, 1..5u8, 1..5);
    prop_oneof![
        4 => path.prop_map(|path| Step::Add(path.into_iter().collect())),
        2 => any::<usize>().prop_map(Step::Remove),
        1 => (0..LINKS, 0..20u8).prop_map(|(link, capacity)| Step::Capacity(link, capacity)),
    ]
}

/// Every flow has a full link on which its rate is the highest, and no link carries more than it can.
fn check(shares: &Shares, flows: &[(Handle, Vec<Use>)], capacities: &[f64]) {
    for (link, capacity) in capacities.iter().enumerate() {
        let load = shares.load(link as u32);
        assert!(load <= capacity * (1.0 + 1e-8) + 1e-12, "link {link}: {load} of {capacity}");
    }
    for (flow, path) in flows {
        let rate = shares.rate(*flow);
        let bound = path.iter().find(|one| {
            let capacity = capacities[one.link as usize];
            let full = shares.load(one.link) >= capacity * (1.0 - 1e-8);
            let on =
                flows.iter().filter(|(_, path)| path.iter().any(|other| other.link == one.link));
            let most = on.map(|(other, _)| shares.rate(*other)).fold(0.0, f64::max);
            full && rate >= most * (1.0 - 1e-8)
        });
        assert!(bound.is_some(), "flow {flow:?} of rate {rate} has no bottleneck");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// After every step the allocation is max-min fair, and the one that is made from nothing.
    #[test]
    fn the_allocation_is_max_min_fair(steps in proptest::collection::vec(step(), 1..60)) {
        let mut capacities: Vec<f64> = (0..LINKS).map(|link| 1.0 + f64::from(link)).collect();
        let mut shares = Shares::new(capacities.iter().copied());
        let mut flows: Vec<(Handle, Vec<Use>)> = vec![];
        for step in steps {
            match step {
                Step::Add(path) => {
                    let part = |(link, parts): (u32, u8)| Use { link, part: 1.0 / f64::from(parts) };
                    let path: Vec<Use> = path.into_iter().map(part).collect();
                    flows.push((shares.add(&path), path));
                }
                Step::Remove(_) if flows.is_empty() => {}
                Step::Remove(at) => {
                    let gone = flows.swap_remove(at % flows.len());
                    shares.remove(gone.0);
                }
                Step::Capacity(link, capacity) => {
                    capacities[link as usize] = f64::from(capacity);
                    shares.set_capacity(link, f64::from(capacity));
                }
            }
            shares.settle();
            check(&shares, &flows, &capacities);
            let mut anew = Shares::new(capacities.iter().copied());
            let again: Vec<Handle> = flows.iter().map(|(_, path)| anew.add(path)).collect();
            anew.settle();
            for ((flow, _), other) in flows.iter().zip(&again) {
                let (kept, made) = (shares.rate(*flow), anew.rate(*other));
                prop_assert!((kept - made).abs() <= 1e-8 * made + 1e-12, "{} and {}", kept, made);
            }
        }
    }
}
