//! The tables that ship with Incast (`tables/`, sources in `tables/SOURCES.md`).

use crate::packet_table::PacketTable;
use crate::size_table::SizeTable;
use incast_units::fault::{Fault, one_of};
use std::sync::OnceLock;

/// Description of a built-in table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableInfo {
    /// Name.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Source of its numbers.
    pub source: &'static str,
    /// The mean size in bytes: of flows, or of IP packets.
    pub mean: f64,
}

struct Entry {
    name: &'static str,
    title: &'static str,
    source: &'static str,
    text: &'static str,
}

macro_rules! entry {
    ($name:literal, $title:literal, $source:literal) => {
        Entry {
            name: $name,
            title: $title,
            source: $source,
            text: include_str!(concat!("../tables/", $name, ".csv")),
        }
    };
}

static FLOW_TABLES: &[Entry] = &[
    entry!("web_search", "Web Search (DCTCP)", "HPCC: WebSearch_distribution.txt"),
    entry!("data_mining", "Data Mining (VL2)", "ns2-xpass: workload_mining.tcl"),
    entry!("cache_follower", "Facebook Cache Follower", "ns2-xpass: workload_cachefollower.tcl"),
    entry!("web_server", "Facebook Web Server", "ns2-xpass: workload_webserver.tcl"),
    entry!("hadoop", "Facebook Hadoop", "HPCC: FbHdp_distribution.txt"),
    entry!("ali_storage", "Alibaba storage", "HPCC: AliStorage2019.txt"),
    entry!("web_search_yaps", "Web Search, in packets", "NetSys/simulator: CDF_dctcp.txt"),
    entry!("data_mining_yaps", "Data Mining, in packets", "NetSys/simulator: CDF_datamining.txt"),
    entry!(
        "cache_follower_homa",
        "Facebook Cache Follower, fine, intra-cluster",
        "HomaSimulation: Facebook_CacheFollowerDist_IntraCluster.txt"
    ),
    entry!(
        "web_server_homa",
        "Facebook Web Server, fine, intra-cluster",
        "HomaSimulation: Facebook_WebServerDist_IntraCluster.txt"
    ),
    entry!("hadoop_homa", "Facebook Hadoop, fine", "HomaSimulation: Facebook_HadoopDist"),
    entry!(
        "cache_follower_decn",
        "Cache Follower with the band shares of the DECN paper",
        "cache_follower, rescaled to 45/15/18/22 %"
    ),
    entry!(
        "web_server_amrt",
        "Web Server as the AMRT paper describes it, mean 64 KB",
        "web_server below 10 KB, uniform to 1 MB above"
    ),
];

static PACKET_TABLES: &[Entry] = &[
    entry!("pkt_web_server", "packets of a web server", "synthetic, from published percentiles"),
    entry!(
        "pkt_cache_leader",
        "packets of a cache leader",
        "synthetic, from published percentiles"
    ),
    entry!(
        "pkt_cache_follower",
        "packets of a cache follower",
        "synthetic, from published percentiles"
    ),
    entry!("pkt_hadoop", "packets of Hadoop", "synthetic, from published percentiles"),
];

fn parsed(entries: &[Entry]) -> Vec<SizeTable> {
    let parse = |entry: &Entry| SizeTable::parse(entry.text, entry.name).expect("shipped table");
    entries.iter().map(parse).collect()
}

fn flow_tables() -> &'static [SizeTable] {
    static PARSED: OnceLock<Vec<SizeTable>> = OnceLock::new();
    PARSED.get_or_init(|| parsed(FLOW_TABLES))
}

fn packet_size_tables() -> &'static [PacketTable] {
    static PARSED: OnceLock<Vec<PacketTable>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let tables = parsed(PACKET_TABLES).into_iter();
        tables.map(|table| PacketTable::new(table).expect("shipped table")).collect()
    })
}

/// The built-in flow-size table `name`.
///
/// # Errors
/// An unknown name. The error lists all names and the nearest one.
pub fn table(name: &str) -> Result<&'static SizeTable, Fault> {
    let found = flow_tables().iter().find(|table| table.name() == name);
    found.ok_or_else(|| {
        let names = one_of(name, FLOW_TABLES.iter().map(|entry| entry.name));
        Fault::value("workload", name, names)
    })
}

/// The built-in packet-size table `name`.
///
/// # Errors
/// An unknown name. The error lists all names and the nearest one.
pub fn packet_table(name: &str) -> Result<&'static PacketTable, Fault> {
    let found = packet_size_tables().iter().find(|table| table.name() == name);
    found.ok_or_else(|| {
        let names = one_of(name, PACKET_TABLES.iter().map(|entry| entry.name));
        Fault::value("pkt_cdf", name, names)
    })
}

fn listed(entries: &[Entry], mean: impl Fn(usize) -> f64) -> Vec<TableInfo> {
    let info = |(i, entry): (usize, &Entry)| TableInfo {
        name: entry.name,
        title: entry.title,
        source: entry.source,
        mean: mean(i),
    };
    entries.iter().enumerate().map(info).collect()
}

/// All built-in flow-size tables, the primary ones first.
pub fn tables() -> Vec<TableInfo> {
    listed(FLOW_TABLES, |i| flow_tables()[i].mean())
}

/// All built-in packet-size tables.
pub fn packet_tables() -> Vec<TableInfo> {
    listed(PACKET_TABLES, |i| packet_size_tables()[i].lengths().mean())
}
