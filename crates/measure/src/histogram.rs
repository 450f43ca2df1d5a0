//! The slowdown of a run's flows by their size, as counts that can be added.

use crate::Run;
use crate::frame::{Frame, Values};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Sizes in bytes at which a bin of sizes begins; the first begins at zero, the last has no end.
/// Two bins per decade: the figures of the field are logarithmic in size, and the limits of short
/// flows and of the four bands of [`Summary`](crate::Summary) are limits here too.
pub const SIZE_BINS: [u64; 16] = [
    0,
    300,
    1_000,
    3_000,
    10_000,
    30_000,
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
    300_000_000,
    1_000_000_000,
    3_000_000_000,
];

/// Bits of a slowdown's fraction that select the bin: 64 bins per power of two.
const FINE: u32 = 6;
/// Bits of a float below those.
const REST: u32 = f64::MANTISSA_DIGITS - 1 - FINE;
/// The number of the bin that begins at a slowdown of one.
const ONE: i64 = (1.0f64.to_bits() >> REST) as i64;

/// A quantile read from a histogram is off by at most this share of the exact one (by nearest rank
/// over the same flows): half the width of a bin, which is 1/64 of its power of two.
pub const QUANTILE_ERROR: f64 = 1.0 / 128.0;

/// The slowdowns of measured flows in sixteen bins of sizes ([`SIZE_BINS`]).
///
/// Adding histograms is exact: the sum is the histogram of all flows. Slowdowns are in bins of 1/64
/// of their power of two, so quantiles are within [`QUANTILE_ERROR`]. As JSON a run of 300 flows
/// takes about 2 KB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowdownHistogram {
    /// By the number of the bin of sizes; bins without flows are absent.
    #[serde(deserialize_with = "read_sizes")]
    sizes: BTreeMap<u8, SizeBin>,
}

/// The flows of one bin of sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeBin {
    /// Measured flows, completed or not.
    pub flows: u64,
    /// Payload of all of them in bytes.
    pub bytes: u64,
    /// Completed flows by the number of the bin of their slowdown.
    #[serde(serialize_with = "write_counts", deserialize_with = "read_counts")]
    counts: BTreeMap<i64, u64>,
}

/// A cell of a histogram: a bin of sizes, a bin of slowdowns and how many flows are in both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Where the bin of sizes begins, in bytes.
    pub size_bytes: u64,
    /// The middle of the bin of slowdowns.
    pub slowdown: f64,
    /// Completed flows.
    pub flows: u64,
}

impl SlowdownHistogram {
    /// The measured flows of a run; those of the warm-up are left out.
    pub fn of(run: &Run) -> SlowdownHistogram {
        let mut all = SlowdownHistogram::default();
        for (at, flow) in run.flows.iter().enumerate().filter(|(_, flow)| !flow.warmup) {
            all.add(flow.size_bytes, run.slowdown(at));
        }
        all
    }

    /// Counts a flow; `slowdown` is `None` if it is not complete.
    pub fn add(&mut self, size_bytes: u64, slowdown: Option<f64>) {
        let bin = self.sizes.entry(size_bin(size_bytes)).or_default();
        bin.flows += 1;
        bin.bytes += size_bytes;
        if let Some(slowdown) = slowdown.filter(|value| *value > 0.0) {
            *bin.counts.entry(slowdown_bin(slowdown)).or_default() += 1;
        }
    }

    /// Adds flows as a study's table has them: bins of sizes (where each begins, its flows and their payload), and cells.
    /// Of a bin that does not begin where one of [`SIZE_BINS`] does, its beginning is the error.
    pub fn add_rows(
        &mut self,
        sizes: impl IntoIterator<Item = [u64; 3]>,
        cells: impl IntoIterator<Item = Cell>,
    ) -> Result<(), u64> {
        let known = |from| match SIZE_BINS.binary_search(&from) {
            Ok(at) => Ok(at as u8),
            Err(_) => Err(from),
        };
        for [from, flows, bytes] in sizes {
            let bin = self.sizes.entry(known(from)?).or_default();
            bin.flows += flows;
            bin.bytes += bytes;
        }
        for cell in cells.into_iter().filter(|cell| cell.slowdown > 0.0) {
            let bin = self.sizes.entry(known(cell.size_bytes)?).or_default();
            *bin.counts.entry(slowdown_bin(cell.slowdown)).or_default() += cell.flows;
        }
        Ok(())
    }

    /// Percentiles by size as a table, a row per percentile (in thousandths) and bin of sizes with completed flows.
    pub fn by_size_frame(&self, thousandths: &[u32]) -> Frame {
        let (mut shares, mut from, mut sizes) = (vec![], vec![], vec![]);
        let (mut flows, mut slowdowns) = (vec![], vec![]);
        for share in thousandths {
            for (begin, bin) in self.sizes() {
                let Some(slowdown) = bin.percentile(*share) else { continue };
                shares.push(Some(f64::from(*share) / 10.0));
                from.push(Some(begin));
                sizes.push(Some(bin.mean_bytes()));
                flows.push(Some(bin.completed()));
                slowdowns.push(Some(slowdown));
            }
        }
        let mut frame = Frame::default();
        frame.push("percentile", "%", "Which percentile.", Values::Float(shares));
        frame.push("size_from_bytes", "bytes", "Where the bin begins.", Values::Integer(from));
        frame.push("size_bytes", "bytes", "Mean size of its flows.", Values::Float(sizes));
        frame.push("flows", "", "Completed flows in the bin.", Values::Integer(flows));
        frame.push("slowdown", "", "The percentile of their slowdowns.", Values::Float(slowdowns));
        frame
    }

    /// Adds the flows of another histogram.
    pub fn merge(&mut self, other: &SlowdownHistogram) {
        for (size, more) in &other.sizes {
            let bin = self.sizes.entry(*size).or_default();
            bin.flows += more.flows;
            bin.bytes += more.bytes;
            for (slowdown, count) in &more.counts {
                *bin.counts.entry(*slowdown).or_default() += count;
            }
        }
    }

    /// The bins of sizes that have flows, ascending: where each begins, in bytes, and its flows.
    pub fn sizes(&self) -> impl Iterator<Item = (u64, &SizeBin)> {
        self.sizes.iter().map(|(size, bin)| (SIZE_BINS[*size as usize], bin))
    }

    /// All cells that have flows, by size, then slowdown.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.sizes().flat_map(|(size_bytes, bin)| {
            bin.counts.iter().map(move |(slowdown, flows)| Cell {
                size_bytes,
                slowdown: middle(*slowdown),
                flows: *flows,
            })
        })
    }

    /// The percentile in thousandths of the slowdown of completed flows of all sizes.
    pub fn percentile(&self, thousandths: u32) -> Option<f64> {
        let mut all = SizeBin::default();
        for bin in self.sizes.values() {
            bin.counts
                .iter()
                .for_each(|(slowdown, count)| *all.counts.entry(*slowdown).or_default() += count);
        }
        all.percentile(thousandths)
    }
}

impl SizeBin {
    /// Completed flows.
    pub fn completed(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Mean size of its flows in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.flows.max(1) as f64
    }

    /// The percentile in thousandths (`990` is the 99th) of the slowdown by nearest rank, as the
    /// middle of its bin: within [`QUANTILE_ERROR`]. `None` without completed flows.
    pub fn percentile(&self, thousandths: u32) -> Option<f64> {
        assert!(thousandths <= 1000, "a percentile of {thousandths} thousandths");
        let rank = (self.completed() as u128 * thousandths as u128).div_ceil(1000).max(1);
        let mut seen = 0u128;
        self.counts.iter().find_map(|(bin, count)| {
            seen += *count as u128;
            (seen >= rank).then(|| middle(*bin))
        })
    }
}

fn size_bin(bytes: u64) -> u8 {
    SIZE_BINS.partition_point(|from| *from <= bytes) as u8 - 1
}

/// The bin of a positive slowdown: its exponent and the first bits of its fraction, exact on every
/// machine. Negative below one.
fn slowdown_bin(slowdown: f64) -> i64 {
    (slowdown.to_bits() >> REST) as i64 - ONE
}

fn middle(bin: i64) -> f64 {
    let bits = ((bin + ONE) as u64) << REST;
    f64::from_bits(bits | 1 << (REST - 1))
}

/// `[bin, count, ...]`: each bin less the one before it, so that most numbers have a digit or two.
fn write_counts<S: Serializer>(counts: &BTreeMap<i64, u64>, to: S) -> Result<S::Ok, S::Error> {
    let mut last = 0;
    to.collect_seq(counts.iter().flat_map(|(bin, count)| {
        let step = bin - std::mem::replace(&mut last, *bin);
        [step, *count as i64]
    }))
}

fn read_sizes<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<u8, SizeBin>, D::Error> {
    let sizes = BTreeMap::<u8, SizeBin>::deserialize(from)?;
    match sizes.keys().next_back() {
        Some(last) if *last as usize >= SIZE_BINS.len() => {
            Err(serde::de::Error::custom(format!("there are {} bins of sizes", SIZE_BINS.len())))
        }
        _ => Ok(sizes),
    }
}

fn read_counts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<i64, u64>, D::Error> {
    let list = Vec::<i64>::deserialize(from)?;
    let wrong = || serde::de::Error::custom("not a list of bins and counts");
    let range = slowdown_bin(f64::MIN_POSITIVE)..=slowdown_bin(f64::MAX);
    let (mut bin, mut counts) = (0i64, BTreeMap::new());
    for pair in list.chunks(2) {
        let [step, count] = *pair else { return Err(wrong()) };
        bin = bin.checked_add(step).filter(|bin| range.contains(bin)).ok_or_else(wrong)?;
        let count = u64::try_from(count).ok().filter(|count| *count > 0).ok_or_else(wrong)?;
        if counts.insert(bin, count).is_some() {
            return Err(wrong());
        }
    }
    Ok(counts)
}
