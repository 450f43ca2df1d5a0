//! All flows of a run, and what they wait for.

pub use crate::flow::{FlowClass, FlowSpec, Lane, Origin, Start};

use crate::collective::CollectiveGroup;
use crate::error::setting;
use crate::random::{Stream, fold, fold_text};
use incast_units::Fault;
use incast_units::{Notice, Rate, Span, Time};

/// Largest number of flows per run. A flow takes half a kilobyte before it starts.
pub const MAX_FLOWS: u64 = 1 << 22;

/// What several flows wait for, such as a computation between what a host receives and what it sends. It
/// opens `delay` after the last of: these flows are complete, an earlier gate is open, and it is `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Indices in [`Traffic::flows`].
    pub flows: Vec<u32>,
    /// The index of a gate before it in [`Traffic::gates`].
    pub gate: Option<u32>,
    /// See above.
    pub from: Time,
    /// See above.
    pub delay: Span,
}

/// A request to many servers: complete when all responses are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestGroup {
    /// The host that sends the requests.
    pub client: u32,
    /// The round of this client, counted from 0.
    pub round: u32,
    /// Indices of the request flows in [`Traffic::flows`].
    pub requests: Vec<u32>,
    /// Indices of the response flows in [`Traffic::flows`].
    pub responses: Vec<u32>,
}

/// The traffic of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The flows: those with a given start in order of time, then those that wait for others or are told to start.
    pub flows: Vec<FlowSpec>,
    /// The definition of the load, printed with every result.
    pub load_definition: String,
    /// The requested load, relative to the capacity in `load_definition`.
    pub offered_load: Option<f64>,
    /// Warnings for the user.
    pub warnings: Vec<Notice>,
    /// What several flows wait for.
    pub gates: Vec<Gate>,
    /// Requests, for request completion times; the index is the group's number.
    pub requests: Vec<RequestGroup>,
    /// Iterations of collectives, one collective after the other.
    pub collectives: Vec<CollectiveGroup>,
    /// The flow of each message of each program, in its order; all of them start when they are [told](Start::Told).
    pub programs: Vec<Vec<u32>>,
    /// Hosts that become unresponsive after their first RTT, ascending.
    pub silent_after_first_rtt: Vec<u32>,
}

impl Traffic {
    /// Sorts the flows with a given start by time (stably); flows that wait for others follow.
    /// Indices in [`Start::After`] and in `requests` refer to the order before sorting and are
    /// translated. Panics if an index does not exist.
    pub fn from_flows(flows: Vec<FlowSpec>, requests: Vec<RequestGroup>) -> Traffic {
        let load_definition = "no load: the flows are given one by one".to_string();
        Traffic { flows, requests, load_definition, ..Traffic::default() }.sorted()
    }

    /// With the flows in their order, and everything that names flows translated.
    pub(crate) fn sorted(mut self) -> Traffic {
        let mut order: Vec<u32> = (0..self.flows.len() as u32).collect();
        order.sort_by_key(|&i| match self.flows[i as usize].start {
            Start::At(time) => (0, time),
            Start::After { .. } | Start::Told => (1, Time::ZERO),
        });
        let mut place = vec![0u32; self.flows.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        self.renumber(|flow| place[flow as usize]);
        let mut slots: Vec<Option<FlowSpec>> =
            std::mem::take(&mut self.flows).into_iter().map(Some).collect();
        let take = |&i: &u32| slots[i as usize].take().expect("each place once");
        self.flows = order.iter().map(take).collect();
        self
    }

    /// Gives each flow another number wherever it is named.
    fn renumber(&mut self, number: impl Fn(u32) -> u32) {
        let renumber = |list: &mut Vec<u32>| list.iter_mut().for_each(|flow| *flow = number(*flow));
        for flow in &mut self.flows {
            if let Start::After { flows, .. } = &mut flow.start {
                renumber(flows);
            }
        }
        self.gates.iter_mut().for_each(|gate| renumber(&mut gate.flows));
        self.programs.iter_mut().for_each(renumber);
        for group in &mut self.requests {
            renumber(&mut group.requests);
            renumber(&mut group.responses);
        }
        for message in self.collectives.iter_mut().flat_map(|group| &mut group.messages) {
            message.flow = number(message.flow);
        }
    }

    /// Moves the numbers of gates and collectives up: as many are before them.
    fn shift(&mut self, shift: u32, collectives: u32) {
        let of_flows = self.flows.iter_mut().filter_map(|flow| flow.gate.as_mut());
        let of_gates = self.gates.iter_mut().filter_map(|gate| gate.gate.as_mut());
        of_flows.chain(of_gates).for_each(|gate| *gate += shift);
        for group in &mut self.collectives {
            group.ready = group.ready.start + shift..group.ready.end + shift;
            group.number += collectives;
        }
    }

    /// Merges both, in order. The offered load is kept if only one of them has one, or if both have
    /// the same definition (then it is their sum).
    pub fn merge(mut self, mut other: Traffic) -> Traffic {
        let shift = self.flows.len() as u32;
        other.renumber(|flow| flow + shift);
        let collectives = self.collectives.last().map_or(0, |group| group.number + 1);
        other.shift(self.gates.len() as u32, collectives);
        self.flows.append(&mut other.flows);
        self.gates.append(&mut other.gates);
        self.requests.append(&mut other.requests);
        self.collectives.append(&mut other.collectives);
        self.programs.append(&mut other.programs);
        let mut traffic = self.sorted();
        let same = traffic.load_definition == other.load_definition;
        (traffic.offered_load, traffic.load_definition) =
            match (traffic.offered_load, other.offered_load) {
                (Some(load), None) => (Some(load), traffic.load_definition),
                (None, Some(load)) => (Some(load), other.load_definition),
                (Some(a), Some(b)) if same => (Some(a + b), traffic.load_definition),
                (None, None) => (None, traffic.load_definition),
                _ => (None, format!("{}; and {}", traffic.load_definition, other.load_definition)),
            };
        for notice in other.warnings {
            if !traffic.warnings.contains(&notice) {
                traffic.warnings.push(notice);
            }
        }
        traffic.silent_after_first_rtt.append(&mut other.silent_after_first_rtt);
        traffic.silent_after_first_rtt.sort_unstable();
        traffic.silent_after_first_rtt.dedup();
        traffic
    }

    /// With each flow up to `jitter` later, at random: those with a given start, and those that wait for
    /// others after these.
    pub fn jittered(mut self, jitter: Span, seed: u64) -> Traffic {
        if jitter == Span::ZERO {
            return self;
        }
        let key = fold_text(seed, "jitter");
        for (flow, place) in self.flows.iter_mut().zip(0..) {
            let share = 1.0 - Stream::new(fold(key, place)).unit();
            let late = Span((jitter.0 as f64 * share) as u64);
            match &mut flow.start {
                Start::At(time) => *time = time.saturating_add(late),
                Start::After { delay, .. } => *delay = Span(delay.0.saturating_add(late.0)),
                Start::Told => {}
            }
        }
        self.sorted()
    }

    /// With `notices` before its own warnings.
    pub fn with_warnings(mut self, notices: Vec<Notice>) -> Traffic {
        self.warnings.splice(..0, notices);
        self
    }

    /// Sets the transport of all flows without one to `name`.
    pub fn with_transport(mut self, name: &str) -> Traffic {
        for flow in &mut self.flows {
            flow.transport.get_or_insert_with(|| name.to_string());
        }
        self
    }

    /// Payload of all flows in bytes.
    pub fn total_bytes(&self) -> u128 {
        self.flows.iter().map(|flow| u128::from(flow.size)).sum()
    }

    /// Validates the flows for a fabric of `hosts` hosts.
    ///
    /// # Errors
    /// More than 2^22 flows, or the first flow (its index, from 0) with a host that does not exist,
    /// with equal source and destination, without bytes, with packets that do not sum to its size,
    /// or that waits for a flow that does not exist, that has no end, or, in a cycle, for itself.
    pub fn validate(&self, hosts: u32) -> Result<(), Fault> {
        let count = self.flows.len();
        if count as u64 > MAX_FLOWS {
            return Err(setting("flows", count, format!("up to {MAX_FLOWS} in all")));
        }
        for (i, flow) in self.flows.iter().enumerate() {
            let fail = |key: &str, value: String, accepted: String| {
                Err(setting(&format!("flow {i}: {key}"), value, accepted))
            };
            check_pair(flow.src, flow.dst, hosts).map_err(|fault| {
                let key = format!("flow {i}: {}", fault.key().unwrap_or_default());
                fault.called(key)
            })?;
            if flow.size == 0 {
                return fail("size", "0".into(), "1 byte or more".into());
            }
            if let Some(segments) = &flow.segments {
                let sum: u64 = segments.iter().map(|&payload| u64::from(payload)).sum();
                if sum != flow.size || segments.contains(&0) {
                    let accepted = format!("payloads above 0 that sum to {}", flow.size);
                    return fail("segments", format!("sum {sum}"), accepted);
                }
            }
            if let Start::After { flows, .. } = &flow.start {
                let count = self.flows.len();
                if let Some(&bad) = flows.iter().find(|&&place| place as usize >= count) {
                    return fail(
                        "start after flow",
                        bad.to_string(),
                        format!("0 to {}", count - 1),
                    );
                }
                if let Some(&bad) =
                    flows.iter().find(|&&place| self.flows[place as usize].is_endless())
                {
                    let accepted = "flows with an end; this one has none, so nothing can follow it";
                    return fail("start after flow", bad.to_string(), accepted.into());
                }
            }
        }
        match self.waiting_for_itself() {
            Some(i) => Err(setting(
                &format!("flow {i}: start"),
                "after itself",
                "flows that do not wait for one another in a circle",
            )),
            None => Ok(()),
        }
    }

    /// The first flow that can never start because it waits, directly or indirectly, for itself.
    pub(crate) fn waiting_for_itself(&self) -> Option<u32> {
        // Flows, then gates.
        let count = self.flows.len();
        let of_flows = self.flows.iter().map(|flow| match &flow.start {
            Start::After { flows, .. } => (flows.as_slice(), flow.gate),
            Start::At(_) | Start::Told => (&[][..], None),
        });
        let all = of_flows.chain(self.gates.iter().map(|gate| (gate.flows.as_slice(), gate.gate)));
        let mut waits = vec![0u32; count + self.gates.len()];
        let mut wakes: Vec<Vec<u32>> = vec![Vec::new(); count + self.gates.len()];
        let mut ready = Vec::new();
        for (i, (flows, gate)) in all.enumerate() {
            waits[i] = flows.len() as u32 + u32::from(gate.is_some());
            flows.iter().for_each(|&f| wakes[f as usize].push(i as u32));
            gate.iter().for_each(|&gate| wakes[count + gate as usize].push(i as u32));
            if waits[i] == 0 {
                ready.push(i as u32);
            }
        }
        while let Some(done) = ready.pop() {
            for &i in &wakes[done as usize] {
                waits[i as usize] -= 1;
                if waits[i as usize] == 0 {
                    ready.push(i);
                }
            }
        }
        waits[..count].iter().position(|&left| left > 0).map(|i| i as u32)
    }
}

/// The facts about a fabric that arrivals depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of hosts.
    pub hosts: u32,
    /// Rack of each host.
    pub rack_of: Vec<u32>,
    /// Rate of each host's link.
    pub host_rate: Vec<Rate>,
    /// Sum of all ToR-to-core rates in one direction if the fabric is oversubscribed. Load then
    /// refers to these links, else to the host links.
    pub uplink_total: Option<Rate>,
}

impl Shape {
    /// Racks of `hosts_per_rack` equal hosts; the last one may be smaller. Panics when
    /// `hosts_per_rack` is 0.
    pub fn racks(hosts: u32, hosts_per_rack: u32, rate: Rate, uplink_total: Option<Rate>) -> Shape {
        assert!(hosts_per_rack > 0, "racks without hosts");
        Shape {
            hosts,
            rack_of: (0..hosts).map(|host| host / hosts_per_rack).collect(),
            host_rate: vec![rate; hosts as usize],
            uplink_total,
        }
    }

    /// The hosts of `rack`, ascending.
    pub fn hosts_of(&self, rack: u32) -> Vec<u32> {
        (0..self.hosts).filter(|&host| self.rack_of[host as usize] == rack).collect()
    }

    /// The probability that a uniformly random pair of different hosts spans two racks.
    pub fn inter_rack_share(&self) -> f64 {
        let racks = self.rack_of.iter().max().map_or(0, |&rack| rack as usize + 1);
        let mut members = vec![0u64; racks];
        self.rack_of.iter().for_each(|&rack| members[rack as usize] += 1);
        let hosts = u64::from(self.hosts);
        let across: u64 = members.iter().map(|n| n * (hosts - n)).sum();
        across as f64 / (hosts as f64 * (hosts as f64 - 1.0))
    }

    /// Panics unless the lists match the number of hosts. Shapes are built by code, not by users.
    pub(crate) fn check(&self) {
        assert_eq!(self.rack_of.len(), self.hosts as usize, "one rack per host");
        assert_eq!(self.host_rate.len(), self.hosts as usize, "one rate per host");
        assert!(self.host_rate.iter().all(|rate| rate.0 > 0), "a host link without rate");
        assert!(self.uplink_total.is_none_or(|rate| rate.0 > 0), "uplinks without rate");
        assert!(self.rack_of.iter().all(|&rack| rack < 1 << 24), "racks are numbered from 0");
    }
}

/// Checks that both hosts exist and differ.
pub(crate) fn check_pair(src: u32, dst: u32, hosts: u32) -> Result<(), Fault> {
    check_host("src", src, hosts)?;
    check_host("dst", dst, hosts)?;
    if src == dst {
        return Err(setting("dst", dst, "a host other than the sender"));
    }
    Ok(())
}

/// Checks that a host exists.
pub(crate) fn check_host(key: &str, host: u32, hosts: u32) -> Result<(), Fault> {
    if host < hosts {
        return Ok(());
    }
    let last = hosts.saturating_sub(1);
    Err(setting(key, host, format!("a host from 0 to {last}")))
}

/// Checks a flow's size.
pub(crate) fn check_size(key: &str, size: u64) -> Result<(), Fault> {
    if (1..=MAX_FLOW_BYTES).contains(&size) {
        return Ok(());
    }
    Err(setting(key, size, format!("1 to {MAX_FLOW_BYTES} bytes")))
}

/// Largest flow in bytes, 2^53: the limit of the size tables.
pub const MAX_FLOW_BYTES: u64 = 1 << 53;
