//! Whether results mean what they should: long-run rates against max-min fairness, and a network
//! that is faster by a factor against the same network.

use incast_blocks::port::Join;
use incast_fabric::{Fabric, LinkDefaults};
use incast_sim::{Monitor, run};
use incast_transport::*;
use incast_world::{FlowSetup, Lane, Options, assemble, fabric_site};
use std::sync::Arc;

fn fabric(spec: &str, rate: Rate, propagation: Span) -> Arc<Fabric> {
    let defaults = LinkDefaults { rate, propagation, loss: 0.0 };
    Arc::new(incast_fabric::parse(spec, defaults).expect("a valid topology"))
}

fn flow(id: usize, (src, dst): (u32, u32), size: u64, start: Time) -> FlowSetup {
    FlowSetup {
        flow: Flow {
            id: FlowId(id as u32),
            src: HostId(src),
            dst: HostId(dst),
            size,
            start,
            segments: Segments::Uniform(1460),
        },
        transport: TransportId(0),
        after: vec![],
        delay: Span::ZERO,
    }
}

fn simulate(
    name: &str,
    settings: &[(&str, &str)],
    fabric: &Arc<Fabric>,
    mut flows: Vec<FlowSetup>,
    options: Options,
) -> RunRecord {
    let entry = incast_protocols::find(name).expect("in the catalogue");
    let site = fabric_site(fabric, Framing::ETHERNET, Limit::Bytes(256 << 10), None, None);
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let configured = entry.configure(&settings, site.clone()).expect("valid settings");
    let lane = Lane { info: entry.info(), configured, routing: Routing::Ecmp };
    flows.iter_mut().for_each(|setup| setup.transport = entry.info().id);
    let setup =
        assemble(fabric.clone(), site, &[lane], Join::Shared, flows, None, options).unwrap();
    run(setup, 1, &Monitor::default()).0
}

/// Max-min fair rates by water filling, as shares of a link: again and again the most crowded link
/// is shared equally by those that are not settled yet. All links have the same rate.
fn max_min(paths: &[Vec<u32>]) -> Vec<f64> {
    let mut shares: Vec<Option<f64>> = vec![None; paths.len()];
    let links = paths.iter().flatten().max().map_or(0, |most| most + 1);
    while shares.iter().any(Option::is_none) {
        let offer = |link: u32| {
            let on = |index: &usize| paths[*index].contains(&link);
            let used: f64 = (0..paths.len()).filter(on).filter_map(|i| shares[i]).sum();
            let open = (0..paths.len()).filter(on).filter(|i| shares[*i].is_none()).count();
            (open > 0).then(|| ((1.0 - used) / open as f64, link))
        };
        let tightest = (0..links).filter_map(offer).min_by(|a, b| a.0.total_cmp(&b.0));
        let (share, link) = tightest.expect("an open flow uses a link");
        for (index, path) in paths.iter().enumerate() {
            if shares[index].is_none() && path.contains(&link) {
                shares[index] = Some(share);
            }
        }
    }
    shares.into_iter().flatten().collect()
}

#[test]
fn water_filling_by_hand() {
    // A long flow over two links, one and two others beside it: 1/3, 2/3, 1/3, 1/3.
    let shares = max_min(&[vec![0, 1], vec![0], vec![1], vec![1]]);
    for (share, expected) in shares.iter().zip([1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]) {
        assert!((share - expected).abs() < 1e-12, "{shares:?}");
    }
}

/// Shares of the link rate that DCTCP's flows get in the long run, and the fair ones.
fn long_run(spec: &str, pairs: &[(u32, u32)]) -> (Vec<f64>, Vec<f64>) {
    let rate = Rate::from_gbps(10);
    let fabric = fabric(spec, rate, Span::from_us(2));
    let routes = fabric.routes();
    let path = |(src, dst): &(u32, u32)| -> Vec<u32> {
        fabric.path(&routes, *src, *dst, |_| 0).iter().map(|port| port.0).collect()
    };
    let paths: Vec<Vec<u32>> = pairs.iter().map(path).collect();
    let flows: Vec<FlowSetup> = pairs
        .iter()
        .enumerate()
        .map(|(id, pair)| flow(id, *pair, 1 << 40, Time(id as u64 * 7_000_000)))
        .collect();
    let watch = (0..pairs.len() as u32).map(FlowId).collect();
    let until = Time::ZERO + Span::from_ms(60);
    let options = Options { until, watch, interval: Span::from_us(100), ..Options::default() };
    let record = simulate("dctcp", &[], &fabric, flows, options);
    let full = rate.0 as f64 * 1460.0 / 1538.0 / 8.0;
    let share = |series: &FlowSeries| {
        let from = series.delivered.len() / 3;
        let bytes: u64 = series.delivered[from..].iter().sum();
        let seconds = (series.delivered.len() - from) as f64 * record.interval.0 as f64 / 1e12;
        bytes as f64 / seconds / full
    };
    (record.series.iter().map(share).collect(), max_min(&paths))
}

/// Where every flow has one bottleneck and they all have the same round trip (no answers wait behind
/// other flows' data), DCTCP is max-min fair
/// but for the slow swing of its windows: 40 ms hold only some hundred of them.
#[test]
fn dctcp_shares_single_bottlenecks_fairly() {
    let cases: [(&str, &[(u32, u32)]); 4] = [
        ("dumbbell:4x4", &[(0, 4), (1, 5), (2, 6), (3, 7)]),
        ("star:6", &[(0, 5), (1, 5), (2, 5), (3, 4)]),
        ("star:8", &[(0, 7), (1, 7), (2, 6), (3, 6), (4, 6), (5, 7)]),
        ("leaf-spine:2x1x4", &[(0, 4), (1, 4), (5, 2), (6, 2), (7, 2)]),
    ];
    for (spec, pairs) in cases {
        let (got, fair) = long_run(spec, pairs);
        let ratios: Vec<f64> = got.iter().zip(&fair).map(|(got, fair)| got / fair).collect();
        assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.3), "{spec}: {ratios:.2?}");
        let (sum, squares) = ratios.iter().fold((0.0, 0.0), |(a, b), r| (a + r, b + r * r));
        let jain = sum * sum / (squares * ratios.len() as f64);
        assert!(jain > 0.98, "{spec}: {ratios:.2?}");
        let (sent, allowed): (f64, f64) = (got.iter().sum(), fair.iter().sum());
        // Answers of flows the other way take 84 of 1538 bytes.
        assert!(sent > 0.9 * allowed, "{spec}: {got:.3?}");
    }
}

/// A flow over two bottlenecks hears marks from both, and its round trip leads through both queues:
/// with windows of 2/alpha it gets a quarter of what the others get, or less where both queues mark
/// in the same round trip. Far from max-min fair, but no link is left idle.
#[test]
fn dctcp_favours_short_paths_but_fills_every_link() {
    let (got, fair) = long_run("parking-lot:2", &[(0, 1), (2, 3), (4, 5)]);
    assert!(fair.iter().all(|fair| (fair - 0.5).abs() < 1e-12));
    assert!(got[0] > 0.05 && got[0] < 0.3, "{got:?}");
    assert!(got[0] + got[1] > 0.95 && got[0] + got[2] > 0.95, "{got:?}");
}

/// Ten times the rate and a tenth of every delay and timer: the same packets in a tenth of the time,
/// to the picosecond where all times are multiples of ten.
#[test]
fn a_faster_network_is_the_same_network() {
    let pairs = [(0, 9), (1, 9), (2, 9), (3, 8), (8, 4), (5, 10), (10, 6), (7, 11), (11, 0)];
    let record = |speed: u64, settings: &[(&str, &str)], name: &str| {
        let fabric = fabric("leaf-spine:3x1x4", Rate::from_gbps(speed), Span::from_us(100 / speed));
        let start = |id: usize| Time((id as u64 * 977_130) * 100 / speed);
        let flows = pairs
            .iter()
            .enumerate()
            .map(|(id, pair)| flow(id, *pair, 40_000 + 33_333 * id as u64, start(id)))
            .collect();
        let until = Time::ZERO + Span::from_ms(20_000 / speed);
        simulate(name, settings, &fabric, flows, Options { until, ..Options::default() })
    };
    // DCTCP's shortest timeout is a time of its own; the others' timers follow from the fabric.
    let timer = |name: &str, value| if name == "dctcp" { vec![("rto_min", value)] } else { vec![] };
    for name in ["dctcp", "trd", "ren"] {
        let slow = record(10, &timer(name, "10ms"), name);
        let fast = record(100, &timer(name, "1ms"), name);
        for (slow, fast) in slow.flows.iter().zip(&fast.flows) {
            let took = |flow: &FlowRecord| {
                flow.completed.expect("complete").0 - flow.started.expect("begun").0
            };
            let (slow, fast) = (took(slow) as f64 / 10.0, took(fast) as f64);
            assert!((slow - fast).abs() <= 100.0, "{name}: {slow} and {fast} ps");
        }
    }
}
