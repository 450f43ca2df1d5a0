//! Links that fail during a run, and work again.

use incast_fabric::{Fabric, PortId, Routes};
use incast_transport::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What holds from an instant on at which links fail or work again.
pub struct Epoch {
    /// The instant, picoseconds.
    pub at: u64,
    /// Routes without the links that are down.
    pub routes: Arc<Routes>,
    /// Ports whose link is down, ascending.
    pub dead: Vec<PortId>,
}

impl Epoch {
    /// Whether a packet can get from one host to another while this holds.
    pub fn connects(&self, fabric: &Fabric, src: u32, dst: u32) -> bool {
        let own = fabric.host_port(src);
        self.dead.binary_search(&own).is_err()
            && !fabric.path(&self.routes, src, dst, |_| 0).is_empty()
    }
}

/// From when on two hosts are apart for good; [`Time::NEVER`] if they never are. `epochs` are those of
/// the fabric.
pub fn cut_for_good(fabric: &Fabric, epochs: &[Epoch], src: u32, dst: u32) -> Time {
    let last = epochs.iter().rev();
    let apart = last.take_while(|one| !one.dead.is_empty() && !one.connects(fabric, src, dst));
    apart.last().map_or(Time::NEVER, |one| Time(one.at))
}

/// What holds after each change of the links of a fabric, in order of time. Where the same links are
/// down the routes are the same.
pub fn epochs(fabric: &Fabric) -> Vec<Epoch> {
    let mut known: BTreeMap<Vec<PortId>, Arc<Routes>> = BTreeMap::new();
    let epoch = |at: Time| {
        let dead = fabric.dead_at(at);
        let new = || fabric.routes_without(&dead);
        let routes = known.entry(dead.clone()).or_insert_with(new).clone();
        Epoch { at: at.0, routes, dead }
    };
    fabric.link_changes().into_iter().map(epoch).collect()
}

/// The last instant at which a link works again, picoseconds; `None` if none does.
pub fn last_repair(fabric: &Fabric) -> Option<u64> {
    let repairs = fabric.failures().iter().map(|failure| failure.until);
    repairs.filter(|until| *until != Time::NEVER).map(|until| until.0).max()
}

/// A link of a run in which links fail: a packet crosses it only if the link works from the start of
/// the packet's transmission until its last bit has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinkState {
    /// It has always worked.
    #[default]
    Whole,
    /// It works since this instant, picoseconds.
    Since(u64),
    /// It is down.
    Down,
}

impl LinkState {
    /// Whether a packet is lost whose transmission began at `start`, picoseconds, and which arrives
    /// now.
    pub fn loses(self, start: u64) -> bool {
        match self {
            LinkState::Whole => false,
            LinkState::Since(at) => start < at,
            LinkState::Down => true,
        }
    }

    /// The state after a change of links at `at` after which this one is down or not.
    pub fn after(self, at: u64, down: bool) -> LinkState {
        match (self, down) {
            (_, true) => LinkState::Down,
            (LinkState::Down, false) => LinkState::Since(at),
            (unchanged, false) => unchanged,
        }
    }
}
