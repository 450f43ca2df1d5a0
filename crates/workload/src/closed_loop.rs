//! A fixed number of flows under way.

use crate::error::setting;
use crate::random::{Stream, fold, fold_text};
use crate::size_table::SizeTable;
use crate::traffic::{FlowClass, FlowSpec, MAX_FLOWS, Shape, Start, Traffic};
use incast_units::Fault;
use incast_units::{Span, Time};

/// Flows of which a fixed number is under way at any time.
#[derive(Clone, Debug)]
pub struct ClosedLoop<'a> {
    /// Sizes of the flows.
    pub sizes: &'a SizeTable,
    /// Flows under way at once, but for those that pause.
    pub active: u32,
    /// Number of flows in all.
    pub flows: u32,
    /// When the first ones start.
    pub at: Time,
    /// Time from the end of a flow to the start of the next.
    pub pause: Span,
    /// Seed of sizes and pairs.
    pub seed: u64,
}

/// `active` flows start together, between random pairs of different hosts; whenever one is complete,
/// its destination starts the next one, to another random host: flow i follows flow i - `active`. The
/// last `active` ones have no successor, so that fewer are under way from the end of the first of
/// them on. Sizes and pairs depend on seed, table, `active` and
/// number of hosts alone; more flows do not change the first ones.
///
/// # Errors
/// Rejects fewer than two hosts, no flows or more than 2^22, and `active` outside 1 to `flows`.
pub fn closed_loop(shape: &Shape, spec: &ClosedLoop<'_>) -> Result<Traffic, Fault> {
    shape.check();
    if shape.hosts < 2 {
        return Err(setting("hosts", shape.hosts, "2 or more"));
    }
    if spec.flows == 0 || u64::from(spec.flows) > MAX_FLOWS {
        return Err(setting("flows", spec.flows, format!("1 to {MAX_FLOWS}")));
    }
    if spec.active == 0 || spec.active > spec.flows {
        let accepted = format!("1 to {}, the number of flows", spec.flows);
        return Err(setting("active", spec.active, accepted));
    }
    let key = spec.sizes.fold_into(fold_text(spec.seed, "closed loop"));
    let key = fold(fold(key, u64::from(spec.active)), u64::from(shape.hosts));
    let mut list: Vec<FlowSpec> = Vec::with_capacity(spec.flows as usize);
    for flow in 0..spec.flows {
        let mut stream = Stream::new(fold(key, u64::from(flow)));
        let before = flow.checked_sub(spec.active);
        let (src, start) = match before {
            None => (stream.below(shape.hosts), Start::At(spec.at)),
            Some(before) => {
                let start = Start::After { flows: vec![before], delay: spec.pause };
                (list[before as usize].dst, start)
            }
        };
        let other = stream.below(shape.hosts - 1);
        let dst = other + u32::from(other >= src);
        let size = spec.sizes.sample(stream.unit());
        list.push(FlowSpec::new(src, dst, size, start, FlowClass::Background));
    }
    Ok(Traffic::from_flows(list, Vec::new()))
}
