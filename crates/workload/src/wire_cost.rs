//! Wire bytes of flows: the ratio of charged bytes to payload.

use crate::packet_table::{HEADER_BYTES, PacketTable};
use crate::size_table::SizeTable;

/// The bytes that links charge. Options, INT and transport-specific headers are excluded, so that a
/// load means the same arrivals for every transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireCost {
    /// Payload of a full packet in bytes, at least 1.
    pub mss: u32,
    /// Headers of a packet in bytes.
    pub header_bytes: u32,
    /// Layer-2 bytes per packet: preamble, header, check sequence and gap.
    pub layer2_bytes: u32,
    /// Smallest charge for a packet in bytes, `layer2_bytes` included.
    pub minimum: u32,
    /// Whether every packet is charged as a full one.
    pub padded: bool,
}

impl WireCost {
    /// 1460 B of payload, 38 B of Ethernet overhead, at least 84 B per packet.
    pub const ETHERNET: WireCost = WireCost {
        mss: 1460,
        header_bytes: HEADER_BYTES as u32,
        layer2_bytes: 38,
        minimum: 84,
        padded: false,
    };
    /// 1460 B of payload, IP packets only: ns-2-style figures.
    pub const IP: WireCost = WireCost { layer2_bytes: 0, minimum: 0, ..WireCost::ETHERNET };

    /// The bytes charged for a packet with `payload` bytes.
    pub fn packet(&self, payload: u64) -> u64 {
        let payload = if self.padded { payload.max(u64::from(self.mss)) } else { payload };
        (payload + self.overhead()).max(u64::from(self.minimum))
    }

    /// The bytes charged for a flow of `size` bytes in full packets and a partial last one.
    pub fn flow(&self, size: u64) -> u64 {
        let (full, rest) = (size / u64::from(self.mss), size % u64::from(self.mss));
        full * self.packet(u64::from(self.mss)) + if rest > 0 { self.packet(rest) } else { 0 }
    }

    fn overhead(&self) -> u64 {
        u64::from(self.header_bytes) + u64::from(self.layer2_bytes)
    }

    /// Padding of a packet with `payload` bytes, to the minimum or to a full packet.
    fn padding(&self, payload: u64) -> u64 {
        self.packet(payload) - payload - self.overhead()
    }

    /// The mean charge in bytes of a flow drawn from `sizes`, partial last packets included, cut
    /// at the MSS or into the packets of `packets`. Exact, up to rounding in an `f64`.
    pub fn mean_flow(&self, sizes: &SizeTable, packets: Option<&PacketTable>) -> f64 {
        match packets {
            None => self.mean_uniform(sizes),
            Some(packets) => self.mean_drawn(sizes, packets),
        }
    }

    /// Wire bytes per payload byte of flows drawn from `sizes`: the w of the load's definition.
    /// 1538 / 1460 = 1.0534 when all packets are full.
    pub fn factor(&self, sizes: &SizeTable, packets: Option<&PacketTable>) -> f64 {
        self.mean_flow(sizes, packets) / sizes.mean_sampled()
    }

    /// Wire bytes per payload byte of long flows cut into the packets of `packets`: partial last
    /// packets are excluded. [`factor`](WireCost::factor) is exact for a table of flow sizes.
    pub fn long_flow_factor(&self, packets: &PacketTable) -> f64 {
        let wire = |&(payload, share): &(u32, f64)| self.packet(u64::from(payload)) as f64 * share;
        packets.payloads().iter().map(wire).sum::<f64>() / packets.mean_payload()
    }

    fn mean_uniform(&self, sizes: &SizeTable) -> f64 {
        // The last packet's payload is 1..=mss; with n packets before it, a payload of at most j
        // has the probability P(size > n mss) - P(size > n mss + j), summed over n.
        let count = sizes.sum_of_tails(self.mss, 0);
        if self.padded {
            return count * self.packet(u64::from(self.mss)) as f64;
        }
        let mut charge = sizes.mean_sampled() + self.overhead() as f64 * count;
        for payload in 1..u64::from(self.mss).min(self.padding(0)) {
            let at_most = count - sizes.sum_of_tails(self.mss, payload as u32);
            charge += (self.padding(payload) - self.padding(payload + 1)) as f64 * at_most;
        }
        charge + self.padding(u64::from(self.mss)) as f64 * count
    }

    fn mean_drawn(&self, sizes: &SizeTable, packets: &PacketTable) -> f64 {
        let extra = self.extra_drawn(packets);
        let exact = extra.by_size.len() as u64 - 1;
        let (mut sum, mut covered, mut bytes, mut below) = (0.0, 0.0, 0.0, 0.0);
        for size in 1..=exact {
            let upper = sizes.below(size as f64 + 0.5);
            let share = upper - below;
            below = upper;
            sum += share * extra.by_size[size as usize];
            covered += share;
            bytes += share * size as f64;
        }
        let mean = sizes.mean_sampled();
        mean + sum + (1.0 - covered) * extra.intercept + (mean - bytes).max(0.0) * extra.per_byte
    }

    /// The mean charge beyond the payload for a flow of each size, from the renewal equation
    /// `extra(s) = overhead + sum over p < s of share(p) extra(s - p) + P(p >= s) padding(s)`.
    fn extra_drawn(&self, packets: &PacketTable) -> Extra {
        const PACKETS_EXACT: usize = 40;
        let payloads = packets.payloads();
        let largest = packets.largest_payload() as usize;
        let padding = |payload: usize| self.padding(payload as u64) as f64;
        let mut by_size = vec![0.0; PACKETS_EXACT * largest + 1];
        for size in 1..by_size.len() {
            let (mut sum, mut ends) = (self.overhead() as f64, 1.0);
            for &(payload, share) in &payloads {
                let payload = payload as usize;
                if payload >= size {
                    break;
                }
                sum += share * (by_size[size - payload] + padding(payload));
                ends -= share;
            }
            by_size[size] = sum + ends.max(0.0) * padding(size);
        }
        let wire: f64 =
            payloads.iter().map(|(p, s)| s * (self.overhead() as f64 + padding(*p as usize))).sum();
        let per_byte = wire / packets.mean_payload();
        // Far from the start the extra is a straight line; averaging over one largest packet
        // removes the remaining steps.
        let tail = by_size.len() - largest..by_size.len();
        let residue: f64 = tail.map(|size| by_size[size] - per_byte * size as f64).sum();
        Extra { by_size, per_byte, intercept: residue / largest as f64 }
    }
}

/// The mean charge beyond the payload: exact for small sizes, a line for those above.
struct Extra {
    by_size: Vec<f64>,
    per_byte: f64,
    intercept: f64,
}
