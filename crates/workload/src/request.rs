//! Patterns in which hosts wait for one another: request and response, many-to-many.

use crate::error::WorkloadError;
use crate::pattern::check_distinct;
use crate::random::{Stream, fold_text};
use crate::traffic::{
    FlowClass, FlowSpec, MAX_FLOWS, RequestGroup, Shape, Start, Traffic, check_pair, check_size,
};
use incast_units::{Span, Time};

/// Default size of a request in bytes.
pub const REQUEST_BYTES: u64 = 100;

/// Clients that ask the same servers, round after round (REN Fig. 21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestResponse {
    /// Hosts that ask.
    pub clients: Vec<u32>,
    /// Hosts that each client asks in each round.
    pub servers: Vec<u32>,
    /// Bytes that a client receives in one round, split equally; the first servers send one byte
    /// more where it does not divide.
    pub total_bytes: u64,
    /// Bytes of a request, [`REQUEST_BYTES`] by default.
    pub request_bytes: u64,
    /// Rounds of each client: the next one starts when all replies of the last one are complete.
    pub rounds: u32,
    /// When the first round starts.
    pub at: Time,
    /// Time between the last reply and the next round.
    pub pause: Span,
}

/// Requests and responses: a response opens when its request is complete, a client's next
/// requests open when all its replies are. One [`RequestGroup`] for each client and round.
///
/// # Errors
/// Refuses hosts that do not exist or are named twice, a client among its servers, no clients,
/// servers or rounds, fewer bytes than servers, and more than 2^22 flows.
pub fn requests(shape: &Shape, ask: &RequestResponse) -> Result<Traffic, WorkloadError> {
    check_requests(shape, ask)?;
    let servers = ask.servers.len() as u64;
    let share =
        |place: u64| ask.total_bytes / servers + u64::from(place < ask.total_bytes % servers);
    let (mut flows, mut groups) = (Vec::new(), Vec::new());
    for &client in &ask.clients {
        let mut start = Start::At(ask.at);
        for round in 0..ask.rounds {
            let first = flows.len() as u32;
            let requests: Vec<u32> = (first..first + servers as u32).collect();
            let responses: Vec<u32> = requests.iter().map(|i| i + servers as u32).collect();
            flows.extend(ask.servers.iter().map(|&server| {
                let class = FlowClass::Request;
                FlowSpec::new(client, server, ask.request_bytes, start.clone(), class)
            }));
            flows.extend(ask.servers.iter().zip(0u64..).map(|(&server, place)| {
                let asked = vec![requests[place as usize]];
                let start = Start::After { flows: asked, delay: Span::ZERO };
                FlowSpec::new(server, client, share(place), start, FlowClass::Response)
            }));
            start = Start::After { flows: responses.clone(), delay: ask.pause };
            groups.push(RequestGroup { client, round, requests, responses });
        }
    }
    Ok(Traffic::from_flows(flows, groups))
}

fn check_requests(shape: &Shape, ask: &RequestResponse) -> Result<(), WorkloadError> {
    for (key, list) in [("clients", &ask.clients), ("servers", &ask.servers)] {
        if list.is_empty() || list.len() as u64 >= u64::from(shape.hosts) {
            let most = shape.hosts.saturating_sub(1);
            return Err(WorkloadError::setting(key, list.len(), format!("1 to {most} hosts")));
        }
        check_distinct(key, list, shape.hosts)?;
    }
    for &client in &ask.clients {
        if ask.servers.contains(&client) {
            return Err(WorkloadError::setting("clients", client, "a host that is not a server"));
        }
    }
    check_size("request_bytes", ask.request_bytes)?;
    check_size("total_bytes", ask.total_bytes)?;
    let servers = ask.servers.len() as u64;
    if ask.total_bytes < servers {
        let accepted = format!("{servers} or more: one byte for each server");
        return Err(WorkloadError::setting("total_bytes", ask.total_bytes, accepted));
    }
    let each = 2 * servers * ask.clients.len() as u64;
    if ask.rounds == 0 || u64::from(ask.rounds) * each > MAX_FLOWS {
        let accepted = format!("1 to {}", MAX_FLOWS / each);
        return Err(WorkloadError::setting("rounds", ask.rounds, accepted));
    }
    Ok(())
}

/// Senders with two connections each, of which only some answer (REN Fig. 20, AMRT Fig. 14).
#[derive(Clone, Debug, PartialEq)]
pub struct ManyToMany {
    /// Hosts that send, for example all of two racks.
    pub senders: Vec<u32>,
    /// Receivers of the first and of the second connection: sender i uses place i of each list,
    /// round the list. REN's two lists lie under different ToRs, AMRT's under the same one.
    pub receivers: [Vec<u32>; 2],
    /// Payload of each connection in bytes.
    pub size: u64,
    /// When all connections open.
    pub at: Time,
    /// Share of the senders that go on answering, in [0, 1]; the others fall silent after their
    /// first RTT. Rounded to the nearest number of senders.
    pub responsive_ratio: f64,
    /// Chooses who answers: with the same seed, a larger ratio only adds senders.
    pub seed: u64,
}

/// Two connections from each sender, and the list of senders that fall silent.
///
/// # Errors
/// Refuses hosts that do not exist, a sender named twice or among its receivers, empty lists, a
/// sender with the same receiver twice, a ratio outside [0, 1], and a size of 0 or above 2^53.
pub fn many_to_many(shape: &Shape, many: &ManyToMany) -> Result<Traffic, WorkloadError> {
    if many.senders.is_empty() {
        return Err(WorkloadError::setting("senders", 0, "1 host or more"));
    }
    check_distinct("senders", &many.senders, shape.hosts)?;
    if many.receivers.iter().any(Vec::is_empty) {
        return Err(WorkloadError::setting("receivers", 0, "1 host or more in each list"));
    }
    check_size("size", many.size)?;
    if !(0.0..=1.0).contains(&many.responsive_ratio) {
        let ratio = many.responsive_ratio;
        return Err(WorkloadError::setting("responsive_ratio", ratio, "a number from 0 to 1"));
    }
    let mut flows = Vec::with_capacity(2 * many.senders.len());
    for (i, &src) in many.senders.iter().enumerate() {
        let [first, second] = [0, 1].map(|c| many.receivers[c][i % many.receivers[c].len()]);
        if first == second {
            let accepted = format!("two different receivers for sender {src}");
            return Err(WorkloadError::setting("receivers", first, accepted));
        }
        for dst in [first, second] {
            check_pair(src, dst, shape.hosts)?;
            let class = FlowClass::Background;
            flows.push(FlowSpec::new(src, dst, many.size, Start::At(many.at), class));
        }
    }
    let mut order = many.senders.clone();
    Stream::new(fold_text(many.seed, "responsive")).shuffle(&mut order);
    let answering = (many.responsive_ratio * order.len() as f64).round() as usize;
    let mut silent = order.split_off(answering);
    silent.sort_unstable();
    let mut traffic = Traffic::from_flows(flows, Vec::new());
    traffic.silent_after_first_rtt = silent;
    Ok(traffic)
}
