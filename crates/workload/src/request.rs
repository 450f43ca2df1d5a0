//! Patterns with dependencies or unresponsive hosts: request and response, many-to-many.

use crate::error::setting;
use crate::pattern::check_distinct;
use crate::random::{Stream, fold_text};
use crate::traffic::{
    FlowClass, FlowSpec, MAX_FLOWS, RequestGroup, Shape, Start, Traffic, check_pair, check_size,
};
use incast_units::Fault;
use incast_units::{Span, Time};

/// Default size of a request in bytes.
pub const REQUEST_BYTES: u64 = 100;

/// Clients that repeatedly request data from the same servers (REN Fig. 21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestResponse {
    /// Hosts that send requests.
    pub clients: Vec<u32>,
    /// Hosts that receive a request from each client in each round.
    pub servers: Vec<u32>,
    /// Bytes that a client receives per round, split equally. If they do not divide evenly, the
    /// first servers send one byte more.
    pub total_bytes: u64,
    /// Bytes of a request, [`REQUEST_BYTES`] by default.
    pub request_bytes: u64,
    /// Rounds per client. A round starts when all responses of the previous one are complete.
    pub rounds: u32,
    /// When the first round starts.
    pub at: Time,
    /// Time between the last response and the next round.
    pub pause: Span,
}

/// Requests and responses. A response starts when its request is complete; a client's next requests
/// start when all its responses are. There is one [`RequestGroup`] per client and round.
///
/// # Errors
/// Rejects hosts that do not exist or are named twice, a client among its servers, no clients,
/// servers or rounds, fewer bytes than servers, and more than 2^22 flows.
pub fn requests(shape: &Shape, spec: &RequestResponse) -> Result<Traffic, Fault> {
    check_requests(shape, spec)?;
    let servers = spec.servers.len() as u64;
    let share =
        |place: u64| spec.total_bytes / servers + u64::from(place < spec.total_bytes % servers);
    let (mut flows, mut groups) = (Vec::new(), Vec::new());
    for &client in &spec.clients {
        let mut start = Start::At(spec.at);
        for round in 0..spec.rounds {
            let first = flows.len() as u32;
            let requests: Vec<u32> = (first..first + servers as u32).collect();
            let responses: Vec<u32> = requests.iter().map(|i| i + servers as u32).collect();
            flows.extend(spec.servers.iter().map(|&server| {
                let class = FlowClass::Request;
                FlowSpec::new(client, server, spec.request_bytes, start.clone(), class)
            }));
            flows.extend(spec.servers.iter().zip(0u64..).map(|(&server, place)| {
                let before = vec![requests[place as usize]];
                let start = Start::After { flows: before, delay: Span::ZERO };
                FlowSpec::new(server, client, share(place), start, FlowClass::Response)
            }));
            start = Start::After { flows: responses.clone(), delay: spec.pause };
            groups.push(RequestGroup { client, round, requests, responses });
        }
    }
    Ok(Traffic::from_flows(flows, groups))
}

fn check_requests(shape: &Shape, spec: &RequestResponse) -> Result<(), Fault> {
    for (key, list) in [("clients", &spec.clients), ("servers", &spec.servers)] {
        if list.is_empty() || list.len() as u64 >= u64::from(shape.hosts) {
            let most = shape.hosts.saturating_sub(1);
            return Err(setting(key, list.len(), format!("1 to {most} hosts")));
        }
        check_distinct(key, list, shape.hosts)?;
    }
    for &client in &spec.clients {
        if spec.servers.contains(&client) {
            return Err(setting("clients", client, "a host that is not a server"));
        }
    }
    check_size("request_bytes", spec.request_bytes)?;
    check_size("total_bytes", spec.total_bytes)?;
    let servers = spec.servers.len() as u64;
    if spec.total_bytes < servers {
        let accepted = format!("{servers} or more: one byte for each server");
        return Err(setting("total_bytes", spec.total_bytes, accepted));
    }
    let each = 2 * servers * spec.clients.len() as u64;
    if spec.rounds == 0 || u64::from(spec.rounds) * each > MAX_FLOWS {
        let accepted = format!("1 to {}", MAX_FLOWS / each);
        return Err(setting("rounds", spec.rounds, accepted));
    }
    Ok(())
}

/// Senders with two connections each, of which only a share is responsive (REN Fig. 20, AMRT
/// Fig. 14).
#[derive(Clone, Debug, PartialEq)]
pub struct ManyToMany {
    /// Hosts that send, for example all of two racks.
    pub senders: Vec<u32>,
    /// Receivers of the first and of the second connection. Sender i uses entry i of each list,
    /// cyclically. REN's lists are under different ToRs, AMRT's under the same one.
    pub receivers: [Vec<u32>; 2],
    /// Payload of each connection in bytes.
    pub size: u64,
    /// When all connections open.
    pub at: Time,
    /// Share of the senders that stay responsive, in [0, 1]; the others stop sending after their
    /// first RTT. Rounded to the nearest number of senders.
    pub responsive_ratio: f64,
    /// Seed that selects the responsive senders. With the same seed a larger ratio only adds
    /// senders.
    pub seed: u64,
}

/// Two connections per sender, and the list of unresponsive senders.
///
/// # Errors
/// Rejects hosts that do not exist, a sender named twice or among its receivers, empty lists, a
/// sender with the same receiver twice, a ratio outside [0, 1], and a size of 0 or above 2^53.
pub fn many_to_many(shape: &Shape, many: &ManyToMany) -> Result<Traffic, Fault> {
    if many.senders.is_empty() {
        return Err(setting("senders", 0, "1 host or more"));
    }
    check_distinct("senders", &many.senders, shape.hosts)?;
    if many.receivers.iter().any(Vec::is_empty) {
        return Err(setting("receivers", 0, "1 host or more in each list"));
    }
    check_size("size", many.size)?;
    if !(0.0..=1.0).contains(&many.responsive_ratio) {
        let ratio = many.responsive_ratio;
        return Err(setting("responsive_ratio", ratio, "a number from 0 to 1"));
    }
    let mut flows = Vec::with_capacity(2 * many.senders.len());
    for (i, &src) in many.senders.iter().enumerate() {
        let [first, second] = [0, 1].map(|c| many.receivers[c][i % many.receivers[c].len()]);
        if first == second {
            let accepted = format!("two different receivers for sender {src}");
            return Err(setting("receivers", first, accepted));
        }
        for dst in [first, second] {
            check_pair(src, dst, shape.hosts)?;
            let class = FlowClass::Background;
            flows.push(FlowSpec::new(src, dst, many.size, Start::At(many.at), class));
        }
    }
    let mut order = many.senders.clone();
    Stream::new(fold_text(many.seed, "responsive")).shuffle(&mut order);
    let responsive = (many.responsive_ratio * order.len() as f64).round() as usize;
    let mut silent = order.split_off(responsive);
    silent.sort_unstable();
    let mut traffic = Traffic::from_flows(flows, Vec::new());
    traffic.silent_after_first_rtt = silent;
    Ok(traffic)
}
