//! The servers of a run in numbers.

use crate::Distribution;
use crate::run::Run;
use crate::server::Server;

impl Server {
    /// All servers of a run, of which these are the numbers of NICs; `server_of` says of which a host is one.
    pub fn of(run: &Run, nics: &[u32], server_of: impl Fn(u32) -> u32) -> Vec<Server> {
        #[derive(Clone, Default)]
        struct Own {
            sent: (u64, u64),
            received: (u64, u64),
            fct: Vec<f64>,
            slowdown: Vec<f64>,
        }
        let mut all = vec![Own::default(); nics.len()];
        for (at, flow) in run.flows.iter().enumerate() {
            let [from, to] = [flow.src, flow.dst].map(|host| server_of(host) as usize);
            all[from].sent.0 += 1;
            all[from].sent.1 += flow.size_bytes;
            let own = &mut all[to];
            own.received.0 += 1;
            own.received.1 += run.record.flows[at].delivered;
            own.fct.extend(run.fct(at).map(|span| span.as_ns_f64()));
            own.slowdown.extend(run.slowdown(at));
        }
        let numbered = (0u32..).zip(all).zip(nics);
        let server = |((server, own), nics): ((u32, Own), &u32)| Server {
            server,
            nics: *nics,
            sent_flows: own.sent.0,
            sent_bytes: own.sent.1,
            received_flows: own.received.0,
            delivered_bytes: own.received.1,
            completed_flows: own.fct.len() as u64,
            fct_ns: Distribution::of(&own.fct),
            slowdown: Distribution::of(&own.slowdown),
        };
        numbered.map(server).collect()
    }
}
