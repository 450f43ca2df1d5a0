//! What traffic was offered, and what was carried.

use crate::run::{Run, gbps, share};
use incast_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Instants at which flows of a stream of arrivals start at least, if they are to say what load they are.
const ARRIVALS: usize = 20;

/// Offered and carried traffic, in payload bytes. Loads are shares of the summed rate of all NICs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    /// Sizes of all flows that were opened, over the time from the first to the last of them; without
    /// flows of 1 TB or more, which stand for flows without an end. Where all start within a twentieth
    /// of the rest of the run, of those that arrive at random or by a file alone; `None` if these are few: flows that
    /// start together offer no load.
    pub offered_gbps: Option<f64>,
    /// `offered_gbps` over the rate of all NICs.
    pub offered_load: Option<f64>,
    /// Payload delivered over the time from the start of the first flow to the end of the run.
    pub goodput_gbps: Option<f64>,
    /// `goodput_gbps` over the rate of all NICs.
    pub goodput_load: Option<f64>,
}

/// Bytes of some flows, and in which time they start.
struct Offered {
    bytes: u64,
    first: Time,
    last: Time,
    /// Different starts.
    instants: usize,
}

impl Offered {
    /// Of flows with an end, all or those of streams of arrivals.
    fn of(run: &Run, arrivals: bool) -> Offered {
        let pairs = run.record.flows.iter().zip(&run.flows);
        let own = pairs.filter(|(_, meta)| !meta.is_endless() && (meta.arrival || !arrivals));
        let starts = own.filter_map(|(record, meta)| Some((record.started?, meta.size_bytes)));
        let (mut starts, sizes): (Vec<Time>, Vec<u64>) = starts.unzip();
        starts.sort_unstable();
        starts.dedup();
        let [first, last] =
            [starts.first(), starts.last()].map(|at| at.copied().unwrap_or_default());
        Offered { bytes: sizes.iter().sum(), first, last, instants: starts.len() }
    }

    fn time(&self) -> Span {
        self.last.since(self.first)
    }

    /// Whether they start over time.
    fn spread(&self, run: &Run) -> bool {
        self.time().0.saturating_mul(20) >= run.record.ended.since(self.first).0
    }
}

/// The traffic of a run.
pub(crate) fn load(run: &Run) -> LoadSummary {
    let all = Offered::of(run, false);
    let offered = match all.spread(run) {
        true => Some(all),
        false => Some(Offered::of(run, true)).filter(|own| own.instants >= ARRIVALS),
    };
    let delivered: u64 = run.record.flows.iter().map(|flow| flow.delivered).sum();
    let nics = run.ports.iter().filter(|port| port.tier == "nic").map(|port| port.rate).sum();
    let lived = run.lived();
    LoadSummary {
        offered_gbps: offered.as_ref().and_then(|own| gbps(own.bytes, own.time())),
        offered_load: offered.as_ref().and_then(|own| share(own.bytes, own.time(), nics)),
        goodput_gbps: gbps(delivered, lived),
        goodput_load: share(delivered, lived, nics),
    }
}
