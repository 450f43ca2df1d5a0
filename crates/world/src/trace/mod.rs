//! Traces: every event of selected flows, ports and hosts.
//!
//! A traced port or host is the port or host of the setup behind a wrapper that records what goes in
//! and out. So a world runs the same code with and without a trace, and what is not traced costs
//! nothing. Ports that compute departures on arrival ([`Port::in_order`](incast_transport::Port))
//! lose this shortcut while they are traced; its results are the same.

mod host;
mod log;
mod loss;
mod port;

pub(crate) use log::Writer;
pub use log::{TraceFilter, TraceLog};
pub use loss::LossLog;
pub(crate) use port::traced_port;

use crate::Setup;
use host::TracedHost;
use incast_transport::{Place, TransportId};
use std::sync::Arc;

impl Setup {
    /// Traces what `filter` selects. When the world is gone, the log has the trace.
    pub fn trace(&mut self, filter: TraceFilter) -> Arc<TraceLog> {
        let log = Arc::new(TraceLog::new(filter));
        for host in 0..self.fabric.hosts() {
            let place = Place { port: self.fabric.host_port(host).0, host: true };
            if !log.filter().selects_place(place) {
                continue;
            }
            let plain = std::mem::take(&mut self.hosts[host as usize]);
            let wrap = |(id, inner): (TransportId, _)| {
                let host: Box<dyn incast_transport::Host> =
                    Box::new(TracedHost::new(inner, Writer::new(&log, place)));
                (id, host)
            };
            self.hosts[host as usize] = plain.into_iter().map(wrap).collect();
        }
        let ports = Arc::get_mut(&mut self.ports).expect("no world is made of it yet");
        ports.trace(log.clone());
        self.options.trace = Some(log.clone());
        log
    }
}
