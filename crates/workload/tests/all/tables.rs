//! Known results of the shipped tables.

use incast_workload::{
    PacketTable, SizeTable, SizeUnit, Stream, WireCost, packet_table, packet_tables, table, tables,
};
use proptest::prelude::*;

/// Table, mean in bytes, share up to 10 KB, 100 KB and 1 MB, largest size.
type Row = (&'static str, f64, Option<[f64; 3]>, Option<u64>);

const MEANS: &[Row] = &[
    ("web_search", 1_711_250.0, Some([0.150, 0.542, 0.700]), Some(30_000_000)),
    ("data_mining", 7_487_884.0, Some([0.800, 0.822, 0.912]), Some(1_000_000_000)),
    ("cache_follower", 712_574.0, Some([0.480, 0.520, 0.700]), Some(3_000_000)),
    ("web_server", 66_121.0, Some([0.631, 0.809, 1.000]), Some(500_000)),
    ("hadoop", 120_421.0, Some([0.703, 0.885, 0.975]), Some(10_000_000)),
    ("ali_storage", 40_870.0, Some([0.721, 0.954, 0.986]), Some(2_000_000)),
    ("web_search_yaps", 1_665_831.0, None, None),
    ("data_mining_yaps", 7_470_236.0, None, None),
    ("cache_follower_homa", 686_866.0, None, None),
    ("web_server_homa", 62_229.0, None, None),
    ("hadoop_homa", 121_849.0, None, None),
    ("cache_follower_decn", 540_769.0, None, None),
    ("web_server_amrt", 64_000.0, None, None),
];

#[test]
fn means_and_shares_match_the_printed_digits() {
    assert_eq!(tables().len(), MEANS.len());
    for (info, (name, mean, bands, largest)) in tables().iter().zip(MEANS) {
        assert_eq!(info.name, *name);
        assert_eq!(info.mean.round(), *mean, "{name}");
        let table = table(name).unwrap();
        assert_eq!(table.mean(), info.mean);
        assert_eq!(table.name(), *name);
        if let Some(bands) = bands {
            for (size, share) in [10_000, 100_000, 1_000_000].into_iter().zip(bands) {
                assert!((table.cdf(size) - share).abs() <= 0.000_501, "{name} up to {size} B");
            }
        }
        if let Some(largest) = largest {
            assert_eq!(table.sample(1.0), *largest);
        }
    }
}

#[test]
fn shares_that_the_papers_state() {
    let decn = table("cache_follower_decn").unwrap();
    for (size, share) in [(10_000, 0.45), (100_000, 0.60), (1_000_000, 0.78)] {
        assert!((decn.cdf(size) - share).abs() < 1e-6, "DECN, up to {size} B");
    }
    assert!((table("web_server_amrt").unwrap().cdf(10_000) - 0.877).abs() < 5e-4, "AMRT");
    // Share of the bytes in the largest 10 % of the flows.
    let top = [
        ("data_mining", 0.997),
        ("hadoop", 0.907),
        ("web_search", 0.657),
        ("web_server", 0.605),
        ("cache_follower", 0.379),
    ];
    for (name, share) in top {
        let table = table(name).unwrap();
        let top = 1.0 - table.byte_cdf(table.quantile(0.9) as u64);
        assert!((top - share).abs() < 6e-4, "{name}: {top}");
    }
}

#[test]
fn fasttune_table_1() {
    // Flows that fit into one RTT of 10 us at 1 and at 100 Gb/s, to two digits.
    let stated =
        [("cache_follower", 0.40, 0.54), ("web_search", 0.02, 0.56), ("web_server", 0.33, 0.81)];
    for (name, slow, fast) in stated {
        let table = table(name).unwrap();
        assert!((table.cdf(1_250) - slow).abs() < 0.01, "{name} at 1 Gb/s");
        assert!((table.cdf(125_000) - fast).abs() < 0.01, "{name} at 100 Gb/s");
    }
}

#[test]
fn decn_figure_3_percentiles() {
    let rows = [
        ("pkt_web_server", [66.0, 175.0, 358.0, 1500.0], 332.0, 0.80),
        ("pkt_cache_leader", [70.0, 160.0, 334.0, 1500.0], 310.0, 0.82),
        ("pkt_cache_follower", [97.0, 175.0, 358.0, 1500.0], 338.0, 0.80),
        ("pkt_hadoop", [51.0, 1499.0, 1500.0, 1500.0], 935.0, 0.38),
    ];
    assert_eq!(packet_tables().len(), rows.len());
    for (name, percentiles, mean, short) in rows {
        let lengths = packet_table(name).unwrap().lengths();
        for (p, size) in [0.25, 0.50, 0.75, 0.99].into_iter().zip(percentiles) {
            let found = lengths.quantile(p);
            assert!((found - size).abs() < 1.0, "{name} p{p}: {found}");
        }
        assert_eq!(lengths.mean().round(), mean, "{name}");
        assert!((lengths.cdf(400) - short).abs() < 1e-9, "{name}");
    }
}

#[test]
fn data_packets_of_a_cache_follower() {
    let packets = packet_table("pkt_cache_follower").unwrap();
    assert!((packets.mean_packet() - 352.0).abs() < 1.0, "{}", packets.mean_packet());
    assert!((WireCost::ETHERNET.long_flow_factor(packets) - 1.25).abs() < 0.005);
    let cut = WireCost::ETHERNET.factor(table("cache_follower_decn").unwrap(), Some(packets));
    assert!((cut - 1.25).abs() < 0.005, "{cut}");
}

#[test]
fn full_packets_cost_1538_bytes_per_1460() {
    let factor = WireCost::ETHERNET.factor(&SizeTable::constant(1_460_000), None);
    assert!((factor - 1538.0 / 1460.0).abs() < 1e-12);
    let factor = WireCost::ETHERNET.factor(&SizeTable::constant(1), None);
    assert!((factor - 84.0).abs() < 1e-12, "one byte is charged the smallest frame");
    let factor = WireCost::IP.factor(&SizeTable::constant(1_461), None);
    assert!((factor - 1541.0 / 1461.0).abs() < 1e-12);
}

/// Mean charge of `n` flows drawn from `sizes`, and four standard errors of it.
fn drawn(n: u32, sizes: &SizeTable, charge: impl Fn(u64, u64) -> f64) -> (f64, f64) {
    let mut stream = Stream::new(11);
    let values: Vec<f64> = (0..n).map(|i| charge(sizes.sample(stream.unit()), i.into())).collect();
    let mean = values.iter().sum::<f64>() / f64::from(n);
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / f64::from(n);
    (mean, 4.0 * (variance / f64::from(n)).sqrt())
}

#[test]
fn wire_cost_matches_drawn_flows() {
    let cost = WireCost::ETHERNET;
    let tiny = SizeTable::parse("size_bytes,cdf\n0,0\n12,0.5\n3000,1\n", "tiny").unwrap();
    for sizes in [&tiny, table("web_server").unwrap(), table("hadoop").unwrap()] {
        let (mean, error) = drawn(100_000, sizes, |size, _| cost.flow(size) as f64);
        assert!((cost.mean_flow(sizes, None) - mean).abs() < error, "{}", sizes.name());
    }
    let packets = packet_table("pkt_hadoop").unwrap();
    let small = SizeTable::parse("size_bytes,cdf\n0,0\n100,0.3\n90000,1\n", "small").unwrap();
    for sizes in [&tiny, &small] {
        // Measure the overhead alone: the payload's spread would hide it.
        let extra = |size, i| {
            let payloads = incast_workload::segment(size, packets, i);
            payloads.iter().map(|&p| cost.packet(p.into()) as f64).sum::<f64>() - size as f64
        };
        let (mean, error) = drawn(40_000, sizes, extra);
        let exact = cost.mean_flow(sizes, Some(packets)) - sizes.mean_sampled();
        assert!((exact - mean).abs() < error, "{}: {exact} {mean} {error}", sizes.name());
    }
}

#[test]
fn equal_packets_are_an_mss() {
    let packets = PacketTable::new(SizeTable::constant(140)).unwrap();
    let cost = WireCost { mss: 100, ..WireCost::ETHERNET };
    for name in ["web_server", "web_search"] {
        let sizes = table(name).unwrap();
        let (drawn, cut) = (cost.mean_flow(sizes, Some(&packets)), cost.mean_flow(sizes, None));
        // Beyond 40 packets the drawn cost is a linear approximation of the steps.
        assert!((drawn / cut - 1.0).abs() < 1e-5, "{name}: {drawn} {cut}");
    }
}

#[test]
fn samples_follow_the_distribution() {
    const N: usize = 100_000;
    for info in tables() {
        let (table, mut stream) = (table(info.name).unwrap(), Stream::new(5));
        let mut samples: Vec<u64> = (0..N).map(|_| table.sample(stream.unit())).collect();
        samples.sort_unstable();
        // Kolmogorov-Smirnov at 1 in 10,000, and the half byte that rounding may move a flow.
        let bound = 2.23 / (N as f64).sqrt();
        for (i, pair) in samples.windows(2).enumerate().filter(|(_, pair)| pair[0] != pair[1]) {
            let share = (i + 1) as f64 / N as f64;
            let (low, high) = (table.cdf(pair[0]) - bound, table.cdf(pair[0] + 1) + bound);
            assert!((low..=high).contains(&share), "{} at {} B: {share}", info.name, pair[0]);
        }
    }
}

#[test]
fn jumps_gaps_and_the_first_share() {
    let table =
        SizeTable::parse("# a comment\n100 0.25\n\n200 0.5 # here\n300 0.5\n300 1\n", "x/y.txt");
    let table = table.unwrap();
    assert_eq!(table.name(), "y");
    assert_eq!((table.sample(0.01), table.sample(0.25)), (100, 100));
    assert_eq!((table.sample(0.375), table.sample(0.5)), (150, 200));
    assert_eq!((table.sample(0.500_001), table.sample(1.0)), (300, 300));
    assert_eq!(
        (table.cdf(99), table.cdf(100), table.cdf(250), table.cdf(300)),
        (0.0, 0.25, 0.5, 1.0)
    );
    assert_eq!(table.mean(), 0.25 * 100.0 + 0.25 * 150.0 + 0.5 * 300.0);
    assert_eq!(table.byte_cdf(299), 62.5 / 212.5);
    let zero = SizeTable::parse("size_bytes,cdf\n0,0.5\n1,1\n", "zero").unwrap();
    assert_eq!(zero.sample(0.1), 1, "a flow has at least one byte");
    assert_eq!(zero.mean_sampled(), 1.0);
}

#[test]
fn dialects_agree() {
    let native = SizeTable::parse("size_bytes,cdf\n1460,0\n2920,0.25\n14600,1\n", "t.csv").unwrap();
    let others = [
        "1460 0\n2920 25\n14600 100\n",
        "1460 0\n2920 0.25\n14600 1.0\n",
        "1 1 0\n2 1 0.25\n10 1 1\n",
        "7117.5\n1460 0\n2920 0.25\n14600 1\n",
    ];
    for text in others {
        assert_eq!(SizeTable::parse(text, "t.csv").unwrap(), native, "{text}");
    }
}

/// Mean and notices of a table whose sizes count `unit`.
fn taken(text: &str, unit: Option<SizeUnit>) -> (f64, Vec<String>) {
    let (table, notices) = SizeTable::read(text, "sizes.tcl", unit).unwrap();
    (table.mean(), notices.into_iter().map(|notice| notice.text).collect())
}

/// ns-2's `value 1 share` counts packets with one tool and bytes with another.
#[test]
fn the_unit_of_sizes_is_said_or_given() {
    let text = "5000 1 0\n5000 1 0.3\n40000 1 0.7\n2000000 1 1\n";
    let (mean, said) = taken(text, None);
    assert!((mean - 462_090_000.0).abs() < 1e-3, "{mean}");
    let [said] = &said[..] else { panic!("{said:?}") };
    for part in
        ["sizes.tcl", "packets of 1460 B", "three columns", "462.09MB", "316.5KB", "\"bytes\""]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (mean, said) = taken(text, Some(SizeUnit::Bytes));
    assert!((mean - 316_500.0).abs() < 1e-6 && said.is_empty(), "{mean} {said:?}");
    assert_eq!(taken(text, Some(SizeUnit::Packets)), (taken(text, None).0, vec![]));
    let two = "1000 0.5\n2000 1\n";
    assert!(taken(two, None).1[0].contains("as bytes, because it has two columns"));
    let packets = taken(two, Some(SizeUnit::Packets)).0;
    assert!((packets / taken(two, None).0 - 1460.0).abs() < 1e-9);
    assert_eq!(taken("size_bytes,cdf\n10,1\n", None).1, [""; 0], "the header says it");
    let header = SizeTable::read("size_bytes,cdf\n10,1\n", "s.csv", Some(SizeUnit::Packets));
    assert!(header.unwrap_err().to_string().contains("size_unit = `packets`: expected bytes"));
}

#[test]
fn a_mean_above_a_gigabyte_is_taken_for_a_wrong_unit() {
    let text = "5000 1 0\n90000 1 0.3\n4000000 1 1\n";
    let message = refused(text);
    for part in ["mean size = `2.11", "GB`: expected at most 1GB", "1.44", "MB", "size_unit ="] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!((taken(text, Some(SizeUnit::Bytes)).0 - 1_445_750.0).abs() < 1e-6);
    assert!(taken(text, Some(SizeUnit::Packets)).0 > 1e9, "who says so has such sizes");
}

/// Homa's simulator draws the listed sizes alone; the mean that its files state tells how a table is
/// meant.
#[test]
fn the_stated_mean_decides_how_a_table_is_read() {
    let rows = "200 0.5\n8000 0.8\n100000 0.98\n500000 1.0\n";
    let of = |mean: &str, unit| taken(&format!("{mean}\n{rows}"), unit);
    let (mean, said) = of("30500", None);
    assert_eq!(mean, 30_500.0);
    assert!(said[0].contains("bytes and steps") && said[0].contains("stated 30500"), "{said:?}");
    let steps = SizeTable::parse(&format!("30500\n{rows}"), "x").unwrap();
    let drawn = [0.1, 0.5, 0.500_001, 0.8, 0.98, 0.99, 1.0].map(|u| steps.sample(u));
    assert_eq!(drawn, [200, 200, 8_000, 8_000, 100_000, 500_000, 500_000]);
    assert_eq!(of("17050", None).0, 17_050.0, "lines");
    assert!(of("17050", None).1[0].contains("straight lines"));
    let packets = 30_500.0 * 1460.0;
    for (mean, unit) in [("44530000", None), ("30500", Some(SizeUnit::Packets))] {
        assert!((of(mean, unit).0 - packets).abs() < 1e-3, "{mean}: a mean in packets as well");
    }
    let message = refused(&format!("26400\n{rows}"));
    for part in ["sizes.txt:1: mean = `26400`", "30.5KB", "17.05KB", "44.53MB", "24.893MB", "steps"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// Published tables: the mean in the first line is that of steps.
#[test]
fn homas_published_tables_have_the_mean_that_they_state() {
    let test = "27168.4\n100  0.5\n1456  0.65\n10000  0.75\n100000  0.999\n1000000  1.0\n";
    assert!((taken(test, None).0 - 27_168.4).abs() < 1e-6);
    let dctcp = "1622.94\n6  0.15\n13  0.2\n19  0.3\n33  0.4\n53  0.53\n133  0.6\n667  0.7\n\
                 1333  0.8\n3333  0.9\n6667  0.97\n20000  1\n";
    let (mean, said) = taken(dctcp, None);
    assert!((mean - 1_622.94).abs() < 0.01, "{mean}");
    assert!(said[0].contains("as packets of 1460 B it would be 2.36"), "{said:?}");
    assert!((taken(dctcp, Some(SizeUnit::Packets)).0 / mean - 1460.0).abs() < 1e-9);
}

#[test]
fn a_last_share_of_few_digits_is_the_whole() {
    for text in ["10 0.5\n20 0.99999998\n", "10 50\n20 99.99995\n", "10 0.5\n20 1.0000004\n"] {
        let table = SizeTable::parse(text, "sizes.txt").unwrap();
        assert_eq!(table.sample(1.0), 20, "{text}");
    }
    assert!(refused("10 0.5\n20 0.99999\n").contains("expected 1 in the last line"));
}

fn refused(text: &str) -> String {
    SizeTable::parse(text, "sizes.txt").unwrap_err().to_string()
}

#[test]
fn errors_contain_the_location() {
    let cases = [
        ("", "sizes.txt: size distribution is missing"),
        ("# nothing\n", "sizes.txt: size distribution is missing"),
        ("size_bytes,cdf\n", "sizes.txt: size distribution is missing"),
        ("size_bytes;cdf\n1,1\n", "sizes.txt:1: header = `size_bytes;cdf`"),
        ("size_bytes,cdf\n1,0\n2,3,4\n", "sizes.txt:3: line = `2,3,4`"),
        ("10 0\n5 1\n", "sizes.txt:2: size = `5`: expected 10 (the line before) to"),
        ("10 0.5\n20 0.4\n30 1\n", "sizes.txt:2: cdf = `0.4`: expected 0.5 (the line before) to 1"),
        ("10 50\n20 40\n30 100\n", "sizes.txt:2: cdf = `40`: expected 50 (the line before) to 100"),
        ("10 0.5\n20 0.9\n", "sizes.txt:2: cdf = `0.9`: expected 1 in the last line"),
        ("10 50\n20 90\n", "sizes.txt:2: cdf = `90`: expected 100 in the last line"),
        ("10 0.5\n20 101\n", "sizes.txt:2: cdf = `101`"),
        ("-10 0.5\n20 1\n", "sizes.txt:1: size = `-10`: expected a number, 0 or more"),
        ("10 NaN\n20 1\n", "sizes.txt:1: cdf = `NaN`"),
        ("10 0\n20 1\ninf 1\n", "sizes.txt:3: size = `inf`"),
        ("10 0\n1e17 1\n", "sizes.txt:2: size = `1e17`"),
        ("0 0\n0 1\n", "sizes.txt:2: size = `0`: expected a largest size of at least 1"),
        ("1 2 0.5\n2 1 1\n", "sizes.txt:1: column 2 = `2`: expected 1"),
        ("1 2 3 4\n", "sizes.txt:1: line = `1 2 3 4`"),
        ("bytes probability\n1 1\n", "sizes.txt:1: size = `bytes`"),
    ];
    for (text, message) in cases {
        let found = refused(text);
        assert!(found.starts_with(message), "{text:?}: {found}");
    }
}

#[test]
fn unknown_names_suggest_the_nearest() {
    let message = table("web_serch").unwrap_err().to_string();
    assert!(message.contains("workload = `web_serch`"), "{message}");
    assert!(message.contains("did you mean `web_search`?"), "{message}");
    let message = packet_table("hadoop").unwrap_err().to_string();
    assert!(message.contains("pkt_hadoop"), "{message}");
    assert_eq!(table("qqqqqqqqqqqqqqqqqqqqqqqqq").unwrap_err().suggestion(), None);
}

#[test]
fn packet_tables_are_checked() {
    let acks = PacketTable::parse("size_bytes,cdf\n40,0\n60,1\n", "acks.csv").unwrap_err();
    assert_eq!(acks.to_string(), "acks: size = `60`: expected a longest packet of 61 to 65535 B");
    assert!(PacketTable::parse("40 0\n70000 1\n", "long.txt").is_err());
    // 60.5 B would round to 61 B, but no sample exceeds the limit.
    assert!(PacketTable::parse("40 0\n60.5 1\n", "between.txt").is_err());
    assert_eq!(PacketTable::parse("40 0\n60.6 1\n", "above.txt").unwrap().mean_payload(), 21.0);
}

proptest! {
    #[test]
    fn quantile_inverts_cdf(
        steps in prop::collection::vec((0u32..5000, 0u32..100), 1..20),
        u in 0.0f64..1.0,
    ) {
        let total: u32 = steps.iter().map(|(_, share)| share).sum();
        prop_assume!(total > 0 && steps.iter().any(|(size, _)| *size > 0));
        let (mut size, mut share, mut text) = (0, 0, "size_bytes,cdf\n0,0\n".to_string());
        for (s, c) in &steps {
            (size, share) = (size + s, share + c);
            text += &format!("{size},{}\n", f64::from(share) / f64::from(total));
        }
        let table = SizeTable::parse(&text, "random").unwrap();
        let u = 1.0 - u;
        let at = table.quantile(u);
        prop_assert!(table.cdf(at.ceil() as u64) >= u - 1e-9);
        prop_assert!(at == 0.0 || table.cdf((at.ceil() as u64).saturating_sub(1)) <= u + 1e-9);
        prop_assert!((table.mean_sampled() - table.mean()).abs() <= 1.0);
        let cost = WireCost::ETHERNET;
        let largest = cost.flow(table.sample(1.0)) as f64;
        prop_assert!(cost.mean_flow(&table, None) <= largest * (1.0 + 1e-9));
    }

    #[test]
    fn packets_sum_to_the_size(size in 1u64..300_000, key: u64, mss in 1u32..9000) {
        for payloads in [
            incast_workload::uniform(size, mss),
            incast_workload::segment(size, packet_table("pkt_hadoop").unwrap(), key),
        ] {
            prop_assert_eq!(payloads.iter().map(|&p| u64::from(p)).sum::<u64>(), size);
            prop_assert!(payloads.iter().all(|&p| p > 0));
        }
        let packets = packet_table("pkt_hadoop").unwrap();
        let drawn = incast_workload::segment(size, packets, key);
        let whole = &drawn[..drawn.len() - 1];
        prop_assert!(whole.iter().all(|p| (21..=1460).contains(p)), "no ACK-sized packets");
        prop_assert_eq!(incast_workload::segment(size, packets, key), drawn);
    }
}
