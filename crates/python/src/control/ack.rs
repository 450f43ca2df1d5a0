//! What a control is told.

use incast_endpoint::sender;
use incast_endpoint::sender::Progress;
use pyo3::prelude::*;

/// Where a flow stands, and an ACK if one arrived. Valid during the call that it is given to.
#[pyclass(module = "incast._incast")]
pub struct Ack {
    pub(super) progress: Progress,
    pub(super) bytes: u64,
    sacked: u64,
    pub(super) payload: u64,
    ece: bool,
    code: u8,
    nack: bool,
    limited: bool,
    pub(super) retransmit: bool,
    rtt: Option<incast_transport::Span>,
}

impl Ack {
    pub(super) fn of(progress: Progress) -> Ack {
        Ack {
            progress,
            bytes: 0,
            sacked: 0,
            payload: 0,
            ece: false,
            code: 0,
            nack: false,
            limited: false,
            retransmit: false,
            rtt: None,
        }
    }

    pub(super) fn set(&mut self, ack: &sender::Ack<'_>, progress: &Progress) {
        self.progress = *progress;
        (self.bytes, self.sacked) = (ack.bytes, ack.sacked);
        (self.ece, self.nack, self.limited) = (ack.ece, ack.nack, ack.limited);
        (self.code, self.rtt) = (ack.nibble, ack.rtt);
        (self.payload, self.retransmit) = (0, false);
    }
}

#[pymethods]
impl Ack {
    /// Payload bytes newly acknowledged cumulatively; 0 for a duplicate ACK.
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Payload bytes newly known to have arrived beyond a hole.
    #[getter]
    fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Whether the packet acknowledged was marked (ECN echo).
    #[getter]
    fn ece(&self) -> bool {
        self.ece
    }

    /// The load of the busiest port on its path, as `ports_like = "vcp"` tells it: 1 below 80 %, 2 from
    /// 80 % on, 3 from 100 % on. 0 through other ports, and in an ACK that ends its flow because the
    /// receiver has had all of it already: it keeps nothing of such a flow.
    #[getter]
    fn code(&self) -> u8 {
        self.code
    }

    /// Whether it is a request to go back.
    #[getter]
    fn nack(&self) -> bool {
        self.nack
    }

    /// Whether the window held the flow back within the last window of data, so that it may grow.
    #[getter]
    fn limited(&self) -> bool {
        self.limited
    }

    /// Round-trip time of the packet acknowledged, ns; None if it was sent more than once.
    #[getter]
    fn rtt_ns(&self) -> Option<f64> {
        self.rtt.map(|rtt| rtt.as_ns_f64())
    }

    /// Payload bytes of the packet that leaves; 0 in other calls than `on_send`.
    #[getter]
    fn payload(&self) -> u64 {
        self.payload
    }

    /// Whether the packet that leaves was sent before; only in `on_send`.
    #[getter]
    fn retransmit(&self) -> bool {
        self.retransmit
    }

    /// The simulated time, ns.
    #[getter]
    fn now_ns(&self) -> f64 {
        self.progress.now.as_ns_f64()
    }

    /// First byte that is not acknowledged.
    #[getter]
    fn acknowledged(&self) -> u64 {
        self.progress.acknowledged
    }

    /// First byte that was never sent.
    #[getter]
    fn sent(&self) -> u64 {
        self.progress.sent
    }

    /// Bytes of the flow.
    #[getter]
    fn size(&self) -> u64 {
        self.progress.size
    }

    /// Payload bytes in flight.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.progress.pipe
    }

    /// Smoothed round-trip time, ns; None before the first sample.
    #[getter]
    fn smoothed_rtt_ns(&self) -> Option<f64> {
        self.progress.smoothed_rtt.map(|rtt| rtt.as_ns_f64())
    }

    /// Whether the flow recovers from a loss: windows should not grow.
    #[getter]
    fn recovering(&self) -> bool {
        self.progress.recovering
    }

    fn __repr__(&self) -> String {
        format!(
            "<incast.Ack of {} bytes{}, {} of {} acknowledged, at {} ns>",
            self.bytes,
            if self.ece { ", marked" } else { "" },
            self.progress.acknowledged,
            self.progress.size,
            self.now_ns()
        )
    }
}
