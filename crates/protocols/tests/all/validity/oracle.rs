//! Max-min fair rates by water filling.

/// Links of a flow, the load per unit of its rate on each, and whether the link limits the flow:
/// ACKs load a link but are not limited by it.
pub struct Demand {
    pub links: Vec<(usize, f64, bool)>,
}

/// All rates grow together; when a link is full, the flows that it limits keep their rate. Ends
/// when every flow is limited; each flow must use a link that limits it.
pub fn max_min(capacity: &[f64], demands: &[Demand]) -> Vec<f64> {
    let mut rates = vec![0.0; demands.len()];
    let mut growing = vec![true; demands.len()];
    while growing.contains(&true) {
        let mut room = capacity.to_vec();
        let mut slope = vec![0.0; capacity.len()];
        for (flow, demand) in demands.iter().enumerate() {
            for (link, weight, _) in &demand.links {
                room[*link] -= weight * rates[flow];
                slope[*link] += if growing[flow] { *weight } else { 0.0 };
            }
        }
        // Only a link that limits a growing flow can stop the growth.
        let stops = |link: usize| {
            let holds = |flow: usize| {
                growing[flow] && demands[flow].links.iter().any(|(l, _, hard)| *l == link && *hard)
            };
            (0..demands.len()).any(holds)
        };
        let steps = (0..capacity.len()).filter(|link| stops(*link));
        let steps = steps.map(|link| ((room[link] / slope[link]).max(0.0), link));
        let (step, full) = steps.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a limiting link");
        for (flow, demand) in demands.iter().enumerate() {
            if growing[flow] {
                rates[flow] += step;
                growing[flow] = !demand.links.iter().any(|(link, _, hard)| *link == full && *hard);
            }
        }
    }
    rates
}

#[test]
fn water_filling_by_hand() {
    let on = |links: &[usize]| Demand { links: links.iter().map(|l| (*l, 1.0, true)).collect() };
    // A long flow over two links, one beside it on the first, two on the second.
    let rates = max_min(&[1.0, 1.0], &[on(&[0, 1]), on(&[0]), on(&[1]), on(&[1])]);
    for (rate, expected) in rates.iter().zip([1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]) {
        assert!((rate - expected).abs() < 1e-12, "{rates:?}");
    }
    // Two flows in opposite directions, ACKs of a tenth: 1.1 r = 1.
    let against =
        |there: usize, back: usize| Demand { links: vec![(there, 1.0, true), (back, 0.1, false)] };
    let rates = max_min(&[1.0, 1.0], &[against(0, 1), against(1, 0)]);
    assert!(rates.iter().all(|rate| (rate - 1.0 / 1.1).abs() < 1e-12), "{rates:?}");
    // ACKs alone limit no flow: the second link is overloaded and limits none.
    let rates = max_min(&[1.0, 0.01], &[against(0, 1)]);
    assert!((rates[0] - 1.0).abs() < 1e-12, "{rates:?}");
}
