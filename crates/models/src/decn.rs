//! DECN §II: overhead of feedback in the headers of data packets.

use incast_workload::PacketTable;

/// DECN §II, Table I: bits for congestion feedback in a data packet, as the paper counts them.
pub const FEEDBACK_BITS: [(&str, u32); 8] = [
    ("xcp", 128),
    ("rcp", 96),
    ("bmcc", 18),
    ("mlcp", 7),
    ("vcp", 2),
    ("uno", 2),
    ("vcp-be", 2),
    ("dctcp", 1),
];

/// DECN §III-C: bits of DECN's rate difference, over [`UNIT_PACKETS`] packets, in reserved bits.
pub const UNIT_BITS: u32 = 12;
/// DECN §III-C: packets that carry one rate difference.
pub const UNIT_PACKETS: u32 = 3;

/// The bits of Table I; `None` for a scheme that is not in the table.
pub fn feedback_bits(scheme: &str) -> Option<u32> {
    FEEDBACK_BITS.iter().find(|(name, _)| *name == scheme).map(|(_, bits)| *bits)
}

/// DECN §II-B, Fig. 4: feedback over the length of its packet. `packet` is its IP
/// length in bytes, above 0.
pub fn overhead(bits: f64, packet: f64) -> f64 {
    assert!(packet > 0.0, "a packet of {packet} bytes");
    bits / 8.0 / packet
}

/// DECN §II-B, Fig. 2: share of the packets of an IP length of at most `bytes`.
pub fn packets_up_to(packets: &PacketTable, bytes: u64) -> f64 {
    packets.lengths().cdf(bytes)
}

/// DECN §II-B, Fig. 3: the IP length in bytes below which a share `share` (0 to 1) of the packets
/// lies.
pub fn packet_percentile(packets: &PacketTable, share: f64) -> f64 {
    packets.lengths().quantile(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_workload::packet_table;

    #[test]
    fn overheads_of_hadoops_small_packets() {
        let hadoop = packet_table("pkt_hadoop").unwrap();
        let quarter = packet_percentile(hadoop, 0.25);
        assert_eq!(quarter, 51.0);
        // 16 of 51 bytes, 12 of 51 bytes.
        assert!((overhead(128.0, quarter) - 0.31373).abs() < 1e-5);
        assert!((overhead(96.0, quarter) - 0.23529).abs() < 1e-5);
        assert_eq!(overhead(7.0, 87.5), 0.01);
    }

    #[test]
    fn names_of_the_table() {
        assert_eq!(feedback_bits("xcp"), Some(128));
        assert_eq!(feedback_bits("dctcp"), Some(1));
        assert_eq!(feedback_bits("decn"), None);
        assert_eq!(UNIT_BITS / UNIT_PACKETS, 4);
    }

    #[test]
    fn points_of_the_packet_tables() {
        let web = packet_table("pkt_web_server").unwrap();
        assert!((packets_up_to(web, 400) - 0.8).abs() < 1e-3);
        assert_eq!(packet_percentile(web, 0.5), 175.0);
    }
}
