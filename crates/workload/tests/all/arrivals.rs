//! Arrivals and patterns.

use incast_units::Fault;
use incast_units::{Rate, Span, Time};
use incast_workload::*;
use proptest::prelude::*;

const SEED: u64 = 42;

fn leaf_spine() -> Shape {
    // REN Fig. 14: 8 ToRs of 48 hosts, 8 uplinks each, all 40 Gb/s, 6:1.
    Shape::racks(384, 48, Rate::from_gbps(40), Some(Rate::from_gbps(40 * 64)))
}

fn small(hosts: u32) -> Shape {
    Shape::racks(hosts, 4, Rate::from_gbps(10), None)
}

fn background(shape: &Shape, load: f64, flows: u32, seed: u64) -> Traffic {
    let sizes = table("web_server").unwrap();
    poisson(shape, sizes, load, flows, seed, None, WireCost::ETHERNET).unwrap()
}

fn start(flow: &FlowSpec) -> Time {
    match flow.start {
        Start::At(time) => time,
        Start::After { .. } | Start::Told => panic!("this flow waits for others"),
    }
}

#[test]
fn inter_arrivals_are_exponential_with_the_stated_mean() {
    let (shape, n) = (leaf_spine(), 100_000u32);
    let traffic = background(&shape, 0.6, n, SEED);
    // The definition of the load with the constants of this fabric.
    let (sizes, cost) = (table("web_server").unwrap(), WireCost::ETHERNET);
    let inter = (384.0 - 48.0) / 383.0;
    assert!((shape.inter_rack_share() - inter).abs() < 1e-12);
    let wire = sizes.mean_sampled() * cost.factor(sizes, None);
    let rate = 0.6 * 64.0 * 40e9 / (8.0 * wire * inter);
    let times: Vec<f64> = traffic.flows.iter().map(|flow| start(flow).as_secs_f64()).collect();
    let mean = times[times.len() - 1] / f64::from(n);
    assert!((mean * rate - 1.0).abs() < 4.0 / f64::from(n).sqrt(), "mean gap {mean}");
    // Kolmogorov-Smirnov against 1 - exp(-x), at 1 in 10,000.
    let mut gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) * rate).collect();
    gaps.sort_by(f64::total_cmp);
    let distance = gaps
        .iter()
        .enumerate()
        .map(|(i, gap)| (1.0 - (-gap).exp() - (i as f64 + 0.5) / gaps.len() as f64).abs());
    assert!(distance.fold(0.0, f64::max) < 2.23 / f64::from(n).sqrt());
    assert_eq!(traffic.offered_load, Some(0.6));
    assert!(
        traffic.load_definition.contains("ToR uplinks (2.56Tbps in one direction)")
            || traffic.load_definition.contains("ToR uplinks (2560Gbps in one direction)"),
        "{}",
        traffic.load_definition
    );
}

#[test]
fn offered_load_is_achieved() {
    for (shape, capacity, across) in [(leaf_spine(), 2560e9, true), (small(16), 160e9, false)] {
        let traffic = background(&shape, 0.5, 100_000, SEED);
        let last = start(traffic.flows.last().unwrap()).as_secs_f64();
        let rack = |host: u32| shape.rack_of[host as usize];
        let counted = traffic.flows.iter().filter(|f| !across || rack(f.src) != rack(f.dst));
        let bits: f64 = counted.map(|f| WireCost::ETHERNET.flow(f.size) as f64 * 8.0).sum();
        let load = bits / last / capacity;
        // Web Server sizes have a coefficient of variation near 1.8: three standard errors.
        assert!((load / 0.5 - 1.0).abs() < 0.02, "{load}");
        assert!(traffic.warnings.is_empty(), "{:?}", traffic.warnings);
    }
}

#[test]
fn the_definition_of_the_load_is_complete() {
    let traffic = background(&small(16), 0.5, 10, SEED);
    for part in ["load 0.5", "host links (160Gbps", "38 B of layer 2", "1460 B payload"] {
        assert!(traffic.load_definition.contains(part), "{}", traffic.load_definition);
    }
    let packets = packet_table("pkt_cache_follower").unwrap();
    let sizes = table("cache_follower_decn").unwrap();
    let cut = poisson(&leaf_spine(), sizes, 0.5, 50, 1, Some(packets), WireCost::ETHERNET).unwrap();
    assert!(cut.load_definition.contains("drawn from pkt_cache_follower"));
    assert!(cut.load_definition.contains("x w 1.25"), "{}", cut.load_definition);
    assert!(cut.load_definition.contains("P(inter-rack) 0.87728"), "{}", cut.load_definition);
    assert!(
        cut.load_definition.contains(" of the slowest host links: "),
        "{}",
        cut.load_definition
    );
    cut.validate(384).unwrap();
    assert!(cut.flows.iter().all(|flow| flow.segments.is_some()));
}

#[test]
fn arrivals_depend_on_the_seed_and_more_flows_only_append() {
    let shape = leaf_spine();
    let first = background(&shape, 0.6, 1000, SEED);
    assert_eq!(first, background(&shape, 0.6, 1000, SEED));
    assert_eq!(first.flows[..], background(&shape, 0.6, 3000, SEED).flows[..1000]);
    assert_ne!(first.flows, background(&shape, 0.6, 1000, SEED + 1).flows);
    assert_ne!(first.flows, background(&shape, 0.7, 1000, SEED).flows);
    assert_ne!(first.flows, background(&small(384), 0.6, 1000, SEED).flows);
}

#[test]
fn arrivals_are_pinned() {
    // Published results depend on these flows; any change breaks comparisons.
    let traffic = background(&leaf_spine(), 0.6, 3, SEED);
    let found: Vec<_> = traffic.flows.iter().map(|f| (f.src, f.dst, f.size, start(f).0)).collect();
    assert_eq!(found, PINNED);
}

/// Sender, receiver, bytes, picoseconds.
const PINNED: [(u32, u32, u64, u64); 3] =
    [(178, 110, 227, 837_234), (183, 97, 165_563, 1_095_088), (271, 76, 1730, 1_263_598)];

#[test]
fn sources_and_destinations_are_uniform() {
    let (hosts, n) = (16u32, 160_000u32);
    let traffic = background(&small(hosts), 0.5, n, SEED);
    let mut pairs = vec![0u32; (hosts * hosts) as usize];
    traffic.flows.iter().for_each(|f| pairs[(f.src * hosts + f.dst) as usize] += 1);
    let expected = f64::from(n) / f64::from(hosts * (hosts - 1));
    let mut chi = 0.0;
    for src in 0..hosts {
        assert_eq!(pairs[(src * hosts + src) as usize], 0, "no flow to itself");
        for dst in (0..hosts).filter(|&dst| dst != src) {
            chi += (f64::from(pairs[(src * hosts + dst) as usize]) - expected).powi(2) / expected;
        }
    }
    // 239 degrees of freedom: mean 239, standard deviation 21.9.
    assert!(chi < 239.0 + 5.0 * 21.9, "{chi}");
}

#[test]
fn overload_runs_with_a_warning() {
    let over = background(&small(16), 1.2, 1000, SEED);
    assert!(over.warnings[0].text.contains("load 1.2 is not below"), "{:?}", over.warnings);
    // The uplinks have more capacity than the hosts, which overload first.
    let wide = Shape { uplink_total: Some(Rate::from_gbps(400)), ..small(16) };
    let traffic = background(&wide, 0.5, 1000, SEED);
    assert!(traffic.warnings[0].text.contains("slowest host links"), "{:?}", traffic.warnings);
    let sizes = table("data_mining").unwrap();
    let few = poisson(&small(16), sizes, 0.1, 20, SEED, None, WireCost::ETHERNET).unwrap();
    assert!(few.warnings[0].text.contains("of their expected bytes"), "{:?}", few.warnings);
}

fn message<T>(result: Result<T, Fault>) -> String {
    result.err().expect("refused").to_string()
}

#[test]
fn poisson_refuses() {
    let sizes = table("web_server").unwrap();
    let ask = |shape: &Shape, load, flows| {
        message(poisson(shape, sizes, load, flows, 1, None, WireCost::ETHERNET))
    };
    for load in [0.0, -0.5, f64::NAN, f64::INFINITY] {
        assert!(ask(&small(16), load, 10).starts_with("load = `"), "{load}");
    }
    assert_eq!(ask(&small(16), 0.5, 0), "flows = `0`: expected 1 to 4194304");
    assert_eq!(ask(&small(1), 0.5, 10), "hosts = `1`: expected 2 or more");
    let one_rack = Shape::racks(4, 4, Rate::from_gbps(1), Some(Rate::from_gbps(1)));
    assert!(ask(&one_rack, 0.5, 10).starts_with("racks = `1`"));
    let (long, packets) = (table("data_mining").unwrap(), packet_table("pkt_hadoop").unwrap());
    let cost = WireCost::ETHERNET;
    let many = message(poisson(&small(16), long, 0.5, 200_000, 1, Some(packets), cost));
    assert!(many.contains("drawn from pkt_hadoop: 2^29 packets"), "{many}");
    let slow = Shape::racks(4, 4, Rate(1), None);
    assert!(ask(&slow, 1e-6, 1000).contains("213 days"));
}

#[test]
fn permutations_and_all_to_all() {
    let traffic = permutation(2, 5, 9).unwrap();
    assert_eq!((traffic.flows[0].dst, traffic.flows[1].dst), (1, 0));
    assert_ne!(permutation(64, 5, 9).unwrap(), permutation(64, 5, 10).unwrap());
    // All nine derangements of four hosts occur about equally often.
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..9000 {
        let order: Vec<u32> =
            permutation(4, 1, seed).unwrap().flows.iter().map(|f| f.dst).collect();
        *counts.entry(order).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 9);
    assert!(counts.values().all(|count| (840..1160).contains(count)), "{counts:?}");
    let all = all_to_all(5, 1000).unwrap();
    let mut pairs: Vec<_> = all.flows.iter().map(|f| (f.src, f.dst)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), 20);
    all.validate(5).unwrap();
    assert_eq!(message(permutation(1, 5, 1)), "hosts = `1`: expected 2 or more");
    assert_eq!(message(permutation(4, 0, 1)), "size = `0`: expected 1 to 9007199254740992 bytes");
    assert!(message(all_to_all(20_000, 1)).contains("2 to 2048"));
    assert!(message(all_to_all(4, u64::MAX)).starts_with("size = "));
}

#[test]
fn an_all_to_all_can_be_uneven() {
    let matrix = read_matrix("# experts\n0, 2, 0.5\n1 0 0\n0.0001,0,9\n", "m.csv", 3).unwrap();
    let traffic = uneven_all_to_all(3, 1_000, &matrix).unwrap();
    let mut sent: Vec<_> = traffic.flows.iter().map(|f| (f.src, f.dst, f.size)).collect();
    sent.sort_unstable();
    assert_eq!(sent, [(0, 1, 2_000), (0, 2, 500), (1, 0, 1_000)]);
    let even = vec![vec![1.0; 5]; 5];
    assert_eq!(uneven_all_to_all(5, 1_000, &even), all_to_all(5, 1_000));
    let read = |text: &str| message(read_matrix(text, "m.csv", 2).map(|_| Traffic::default()));
    assert_eq!(read("1,1\n"), "m.csv: lines = `1`: expected 2: one for each that sends");
    assert_eq!(read("1,1\n1\n"), "m.csv:2: numbers = `1`: expected 2: one for each that receives");
    for bad in ["-1", "nan", "1e7", "x"] {
        let text = read(&format!("1,1\n1,{bad}\n"));
        assert_eq!(text, format!("m.csv:2: number = `{bad}`: expected a number from 0 to 1000000"));
    }
    assert!(
        message(uneven_all_to_all(2, 9, &[vec![0.0; 2], vec![0.0; 2]]))
            .contains("a flow of a byte or more")
    );
    assert!(message(uneven_all_to_all(3, 9, &even)).contains("3 times 3 numbers"));
}

#[test]
fn incast_and_bursts() {
    let shape = small(16);
    let senders = choose_senders(&shape, 3, 15, 1).unwrap();
    let once =
        |senders: &[u32], size| incasts(&shape, &Incasts::once(3, senders.to_vec(), size, Time(7)));
    let traffic = once(&senders, 30_000).unwrap();
    traffic.validate(16).unwrap();
    assert_eq!(traffic.flows.len(), 15);
    assert!(traffic.flows.iter().all(|f| f.dst == 3 && start(f) == Time(7)));
    assert!(traffic.flows.iter().all(|f| f.class == FlowClass::Incast));
    assert!(message(choose_senders(&shape, 3, 16, 1)).contains("1 to 15"));
    assert!(message(choose_senders(&shape, 16, 1, 1)).contains("a host from 0 to 15"));
    assert!(message(once(&[3], 1)).contains("other than the receiver"));
    assert!(message(once(&[1, 2, 1], 1)).contains("each host once"));
    assert!(message(once(&[99], 1)).starts_with("senders = `99`"));
    assert!(message(once(&[], 1)).contains("1 sender or more"));
    assert!(message(once(&[0; 16], 1)).contains("each host once"));
    assert!(message(once(&[1], 0)).starts_with("size = `0`"));

    let (at, period) = (Time(100), Span(50));
    let burst = Burst { senders: vec![1, 2], receiver: 0, size: 10, at, count: 3, period };
    let traffic = bursts(&shape, &burst).unwrap();
    let times: Vec<u64> = traffic.flows.iter().map(|f| start(f).0).collect();
    assert_eq!(times, [100, 100, 150, 150, 200, 200]);
    assert!(message(bursts(&shape, &Burst { count: 0, ..burst.clone() })).starts_with("count"));
    let long = Burst { period: Span::MAX, ..burst };
    assert!(message(bursts(&shape, &long)).starts_with("period"));

    let long = |src, at| LongFlow { src, dst: 0, size: 1 << 40, at: Time(at), stop: None };
    let traffic = long_flows(&shape, &[long(2, 9), long(1, 4)]).unwrap();
    assert_eq!((traffic.flows[0].src, traffic.flows[1].src), (1, 2), "in order of time");
    assert!(message(long_flows(&shape, &[])).contains("1 long flow or more"));
    assert!(message(long_flows(&shape, &[long(0, 1)])).contains("other than the sender"));
}

/// Incasts of 30 KB to any host of 16, four random senders each.
fn any_incasts() -> Incasts {
    Incasts {
        receivers: (0..16).collect(),
        senders: Senders::Random(4),
        recurrence: Recurrence::Period(Span(50)),
        extent: Extent::Count(3),
        seed: 7,
        ..Incasts::once(0, vec![], 30_000, Time(100))
    }
}

#[test]
fn incasts_recur_by_period_with_hosts_of_their_own() {
    let shape = small(16);
    let traffic = incasts(&shape, &any_incasts()).unwrap();
    traffic.validate(16).unwrap();
    let rounds: Vec<&[FlowSpec]> = traffic.flows.chunks(4).collect();
    let mut seen = vec![];
    for (round, at) in rounds.iter().zip([100, 150, 200]) {
        assert!(round.iter().all(|flow| start(flow) == Time(at) && flow.dst == round[0].dst));
        let mut senders: Vec<u32> = round.iter().map(|flow| flow.src).collect();
        senders.sort_unstable();
        senders.dedup();
        assert_eq!(senders.len(), 4, "four different senders");
        seen.push((round[0].dst, senders));
    }
    seen.dedup();
    assert_eq!((rounds.len(), seen.len()), (3, 3), "each incast draws its own hosts");
    // Over many incasts every host receives and sends alike.
    let many = Incasts { extent: Extent::Count(8_000), ..any_incasts() };
    let traffic = incasts(&shape, &many).unwrap();
    for host in 0..16 {
        let count = |of: &dyn Fn(&FlowSpec) -> bool| traffic.flows.iter().filter(|f| of(f)).count();
        let (sent, received) = (count(&|f| f.src == host), count(&|f| f.dst == host));
        assert!((1_800..2_200).contains(&sent), "{host}: {sent}");
        assert!((1_800..2_200).contains(&received), "{host}: {received}");
    }
    let within = Incasts { extent: Extent::Lasts(Span(101)), ..any_incasts() };
    assert_eq!(incasts(&shape, &within).unwrap().flows.len(), 12, "at 100, 150 and 200");
}

#[test]
fn a_fan_in_beyond_the_hosts_deals_several_flows_to_each() {
    let shape = small(4);
    let spec = |senders, fan_in| Incasts {
        senders,
        fan_in: Some(fan_in),
        seed: 3,
        ..Incasts::once(2, vec![], 1_000, Time(0))
    };
    let sources = |spec: &Incasts| -> Vec<u32> {
        incasts(&shape, spec).unwrap().flows.iter().map(|flow| flow.src).collect()
    };
    assert_eq!(sources(&spec(Senders::Others, 7)), [0, 1, 3, 0, 1, 3, 0]);
    assert_eq!(sources(&spec(Senders::Listed(vec![3, 0]), 5)), [3, 0, 3, 0, 3]);
    let two = sources(&spec(Senders::Others, 2));
    assert_eq!(
        two,
        choose_senders(&shape, 2, 2, 3).unwrap(),
        "fewer flows than hosts: random ones"
    );
    let refused = |spec: &Incasts| message(incasts(&shape, spec));
    assert_eq!(
        refused(&spec(Senders::Random(3), 2)),
        "fan_in = `2`: expected 3 or more: a flow of each sender"
    );
    assert!(refused(&spec(Senders::Random(4), 9)).starts_with("senders = `4`: expected 1 to 3"));
    let many = Incasts { extent: Extent::Count(5), ..spec(Senders::Others, 1_000_000) };
    let many = Incasts { recurrence: Recurrence::Rate(1e6), ..many };
    assert!(refused(&many).starts_with("count = `5`: expected at most 4194304 flows in all"));
}

#[test]
fn the_load_of_incasts_is_that_of_the_receivers_links() {
    let shape = small(16);
    let spec = Incasts {
        recurrence: Recurrence::Load(0.25),
        extent: Extent::Count(20_000),
        receivers: vec![1, 2, 3, 4],
        ..any_incasts()
    };
    let traffic = incasts(&shape, &spec).unwrap();
    let capacity = 4.0 * shape.host_rate[0].0 as f64;
    let wire = WireCost::ETHERNET.flow(30_000) as f64 * traffic.flows.len() as f64;
    let last = start(traffic.flows.last().unwrap()).0 as f64 / 1e12;
    let load = 8.0 * wire / capacity / last;
    assert!((load / 0.25 - 1.0).abs() < 0.02, "{load}");
    assert_eq!(traffic.offered_load, Some(0.25));
    assert!(
        traffic.load_definition.contains("links of 4 receivers"),
        "{}",
        traffic.load_definition
    );
    // A rate is incasts per second: the same process.
    let rate = Incasts { recurrence: Recurrence::Rate(1e5), ..spec };
    let traffic = incasts(&shape, &rate).unwrap();
    let last = start(traffic.flows.last().unwrap()).0 as f64 / 1e12;
    assert!((20_000.0 / last / 1e5 - 1.0).abs() < 0.02, "{last}");
}

#[test]
fn an_incast_by_requests_waits_for_each_of_them() {
    let spec = Incasts { request: Some(64), fan_in: Some(6), ..any_incasts() };
    let traffic = incasts(&small(16), &spec).unwrap();
    traffic.validate(16).unwrap();
    assert_eq!((traffic.flows.len(), traffic.requests.len()), (3 * 12, 3));
    for (group, at) in traffic.requests.iter().zip([100, 150, 200]) {
        assert_eq!(group.requests.len(), 6);
        for (asked, answer) in group.requests.iter().zip(&group.responses) {
            let (request, response) =
                (&traffic.flows[*asked as usize], &traffic.flows[*answer as usize]);
            assert_eq!((request.src, request.size, start(request)), (group.client, 64, Time(at)));
            assert_eq!((response.src, response.dst), (request.dst, group.client));
            assert_eq!((request.class, response.class), (FlowClass::Request, FlowClass::Incast));
            let wait = Start::After { flows: vec![*asked], delay: Span::ZERO };
            assert_eq!(response.start, wait);
        }
    }
}

fn ask() -> RequestResponse {
    RequestResponse {
        clients: vec![0, 1],
        servers: vec![4, 5, 6],
        total_bytes: 100,
        request_bytes: REQUEST_BYTES,
        rounds: 2,
        at: Time(5),
        pause: Span(3),
    }
}

#[test]
fn requests_wait_for_all_replies() {
    let traffic = requests(&small(16), &ask()).unwrap();
    traffic.validate(16).unwrap();
    assert_eq!((traffic.flows.len(), traffic.requests.len()), (24, 4));
    for group in &traffic.requests {
        let flow = |i: &u32| &traffic.flows[*i as usize];
        let sizes: Vec<u64> = group.responses.iter().map(|i| flow(i).size).collect();
        assert_eq!(sizes, [34, 33, 33], "100 B split equally");
        for (sent, reply) in group.requests.iter().zip(&group.responses) {
            let (request, response) = (flow(sent), flow(reply));
            assert_eq!((request.src, request.dst, request.size), (group.client, response.src, 100));
            assert_eq!((response.dst, response.class), (group.client, FlowClass::Response));
            let wait = Start::After { flows: vec![*sent], delay: Span::ZERO };
            assert_eq!(response.start, wait);
            let before = traffic
                .requests
                .iter()
                .find(|g| (g.client, g.round + 1) == (group.client, group.round));
            assert_eq!(
                request.start,
                match before {
                    None => Start::At(Time(5)),
                    Some(g) => Start::After { flows: g.responses.clone(), delay: Span(3) },
                }
            );
        }
    }
    let refuse = |ask: RequestResponse| message(requests(&small(16), &ask));
    assert!(refuse(RequestResponse { clients: vec![4], ..ask() }).contains("not a server"));
    assert!(refuse(RequestResponse { servers: vec![4, 4], ..ask() }).contains("each host once"));
    assert!(refuse(RequestResponse { servers: (0..16).collect(), ..ask() }).contains("1 to 15"));
    assert!(refuse(RequestResponse { servers: vec![], ..ask() }).contains("1 to 15"));
    assert!(refuse(RequestResponse { total_bytes: 2, ..ask() }).contains("3 or more"));
    assert!(refuse(RequestResponse { rounds: 0, ..ask() }).starts_with("rounds"));
    assert!(refuse(RequestResponse { request_bytes: 0, ..ask() }).starts_with("request_bytes"));
}

#[test]
fn many_to_many_makes_a_share_unresponsive() {
    let shape = Shape::racks(16, 4, Rate::from_gbps(10), None);
    let many = ManyToMany {
        senders: [shape.hosts_of(0), shape.hosts_of(1)].concat(),
        receivers: [shape.hosts_of(2), shape.hosts_of(3)],
        size: 1_000_000,
        at: Time(0),
        responsive_ratio: 0.25,
        seed: 3,
    };
    let traffic = many_to_many(&shape, &many).unwrap();
    assert_eq!(traffic.flows.len(), 16);
    assert!((0..8).all(|src| {
        let racks =
            traffic.flows.iter().filter(|f| f.src == src).map(|f| shape.rack_of[f.dst as usize]);
        racks.collect::<Vec<_>>() == [2, 3]
    }));
    let silent = |responsive_ratio| {
        let many = ManyToMany { responsive_ratio, ..many.clone() };
        many_to_many(&shape, &many).unwrap().silent_after_first_rtt
    };
    assert_eq!(traffic.silent_after_first_rtt.len(), 6);
    assert!(traffic.silent_after_first_rtt.iter().all(|&host| host < 8));
    assert!(silent(0.5).iter().all(|host| silent(0.25).contains(host)), "nested");
    assert_eq!((silent(1.0).len(), silent(0.0).len()), (0, 8));
    let refuse = |many: ManyToMany| message(many_to_many(&shape, &many));
    let ratio = refuse(ManyToMany { responsive_ratio: 1.5, ..many.clone() });
    assert_eq!(ratio, "responsive_ratio = `1.5`: expected a number from 0 to 1");
    let same = [vec![8], vec![8]];
    assert!(refuse(ManyToMany { receivers: same, ..many.clone() }).contains("two different"));
    assert!(
        refuse(ManyToMany { receivers: [vec![8], vec![]], ..many.clone() }).contains("each list")
    );
    assert!(refuse(ManyToMany { senders: vec![8], ..many.clone() }).contains("other than"));
    assert!(refuse(ManyToMany { senders: vec![], ..many }).starts_with("senders"));
}

#[test]
fn merging_translates_indices() {
    let shape = small(16);
    let load = background(&shape, 0.5, 50, SEED);
    let asked = requests(&shape, &ask()).unwrap();
    let count = asked.flows.len();
    let both = load.clone().merge(asked.clone());
    both.validate(16).unwrap();
    assert_eq!(both.flows.len(), 50 + count);
    assert_eq!((both.offered_load, &both.load_definition), (Some(0.5), &load.load_definition));
    for (group, before) in both.requests.iter().zip(&asked.requests) {
        for (new, old) in group.responses.iter().zip(&before.responses) {
            let (new, old) = (&both.flows[*new as usize], &asked.flows[*old as usize]);
            assert_eq!((new.src, new.dst, new.size), (old.src, old.dst, old.size));
            let (Start::After { flows, .. }, Start::After { .. }) = (&new.start, &old.start) else {
                panic!("responses wait");
            };
            assert!(group.requests.contains(&flows[0]));
        }
    }
    let times: Vec<Option<Time>> = both
        .flows
        .iter()
        .map(|f| match f.start {
            Start::At(time) => Some(time),
            Start::After { .. } | Start::Told => None,
        })
        .collect();
    let given = times.iter().take_while(|time| time.is_some()).count();
    assert!(times[..given].is_sorted() && times[given..].iter().all(Option::is_none));
    assert_eq!(load.clone().merge(load.clone()).offered_load, Some(1.0), "the same definition");
    let elsewhere = load.merge(background(&leaf_spine(), 0.5, 5, SEED));
    assert_eq!(elsewhere.offered_load, None, "loads of different places do not add");
}

#[test]
fn validation_finds_errors_beyond_file_formats() {
    let flow = |start| FlowSpec::new(0, 1, 10, start, FlowClass::Long);
    let after = |flows| flow(Start::After { flows, delay: Span::ZERO });
    let check = |flows| Traffic { flows, ..Traffic::default() }.validate(2);
    check(vec![flow(Start::At(Time(0))), after(vec![0])]).unwrap();
    let circle = message(check(vec![flow(Start::At(Time(0))), after(vec![2]), after(vec![1])]));
    assert!(circle.starts_with("flow 1: start = `after itself`"), "{circle}");
    assert!(message(check(vec![after(vec![7])])).contains("0 to 0"));
    let mut cut = flow(Start::At(Time(0)));
    cut.segments = Some(vec![4, 5].into());
    assert!(message(check(vec![cut])).contains("sum to 10"));
    let far = FlowSpec { dst: 5, ..flow(Start::At(Time(0))) };
    assert_eq!(message(check(vec![far])), "flow 0: dst = `5`: expected a host from 0 to 1");
}

proptest! {
    #[test]
    fn every_permutation_is_a_derangement(hosts in 2u32..300, seed: u64) {
        let traffic = permutation(hosts, 1, seed).unwrap();
        let mut receivers: Vec<u32> = traffic.flows.iter().map(|f| f.dst).collect();
        prop_assert!(traffic.flows.iter().all(|f| f.src != f.dst));
        receivers.sort_unstable();
        prop_assert_eq!(receivers, (0..hosts).collect::<Vec<_>>());
    }
}

#[test]
fn a_closed_loop_keeps_a_number_of_flows_under_way() {
    let shape = small(16);
    let sizes = table("web_search").unwrap();
    let ask =
        |active, flows| ClosedLoop { sizes, active, flows, at: Time(7), pause: Span(3), seed: 5 };
    let traffic = closed_loop(&shape, &ask(4, 400)).unwrap();
    assert_eq!(traffic.flows.len(), 400);
    for (place, flow) in traffic.flows.iter().enumerate() {
        assert!(flow.src != flow.dst && flow.src.max(flow.dst) < 16);
        match place.checked_sub(4) {
            None => assert_eq!(flow.start, Start::At(Time(7))),
            Some(before) => {
                let start = Start::After { flows: vec![before as u32], delay: Span(3) };
                assert_eq!((&flow.start, flow.src), (&start, traffic.flows[before].dst));
            }
        }
    }
    // Every host sends about as often as any other, and sizes are those of the table.
    let many = closed_loop(&shape, &ask(4, 16_000)).unwrap().flows;
    let sent = |host: u32| many.iter().filter(|flow| flow.src == host).count();
    assert!((0..16).all(|host| (850..1_150).contains(&sent(host))));
    let mean = many.iter().map(|flow| flow.size as f64).sum::<f64>() / many.len() as f64;
    assert!((mean / sizes.mean_sampled() - 1.0).abs() < 0.05, "{mean}");
    assert_eq!(many[..400], traffic.flows[..], "more flows do not change the first ones");
    let refuse = |spec: ClosedLoop<'_>| message(closed_loop(&shape, &spec));
    assert!(refuse(ask(0, 4)).contains("1 to 4"));
    assert!(refuse(ask(5, 4)).contains("1 to 4"));
    assert!(refuse(ask(1, 0)).starts_with("flows"));
}
