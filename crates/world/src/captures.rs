//! Packets of captured ports: the first ones of the run, however it is divided, kept in memory or
//! streamed to a sink while the run goes on.

use crate::Options;
use crate::capture_stream::{CaptureStream, Captured};
use incast_fabric::{Fabric, PortId};
use incast_transport::{CaptureCut, RunRecord, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The packets of a part of the fabric. Without a stream the earliest of them, by time and then port,
/// up to a limit. Ports are brought up to date out of order, so more are held for a while: at most
/// twice the limit.
#[derive(Debug, Default)]
pub struct Captures {
    limit: usize,
    /// Flows whose packets are captured; empty: all, and pause frames.
    flows: BTreeSet<u32>,
    kept: Vec<Captured>,
    /// Packets beyond the limit were not kept.
    beyond: bool,
    /// Where packets go, and under which number.
    stream: Option<(Arc<CaptureStream>, usize)>,
    /// A port is brought up to date so much later at most, picoseconds: with the arrival of the packet
    /// that it sent before.
    late: u64,
}

impl Captures {
    /// As the options of a run say.
    pub fn new(options: &Options, fabric: &Fabric) -> Captures {
        let spans = options.capture.iter().map(|port| fabric.port(PortId(*port)).propagation.0);
        Captures {
            limit: options.capture_limit,
            flows: options.capture_flows.clone(),
            kept: vec![],
            beyond: false,
            stream: options.capture_stream.clone().map(|stream| {
                let part = stream.part();
                (stream, part)
            }),
            late: spans.max().unwrap_or(0),
        }
    }

    /// Adds a packet. Those of one port arrives in order of time.
    pub fn push(&mut self, packet: Captured) {
        let pause = matches!(packet.packet.header, incast_transport::Header::Pause { .. });
        if !self.flows.is_empty() && (pause || !self.flows.contains(&packet.packet.flow.0)) {
            return;
        }
        self.kept.push(packet);
        if self.stream.is_none() && self.kept.len() >= self.limit.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    /// Everything before `now` has happened: a stream takes the packets.
    #[inline]
    pub fn reach(&mut self, now: u64) {
        if let Some((stream, part)) = &self.stream {
            stream.take(*part, &mut self.kept, now.saturating_sub(self.late));
        }
    }

    /// Adds what another part of the fabric has kept under the same limit.
    pub fn join(&mut self, mut other: Captures) {
        assert_eq!(self.limit, other.limit, "parts of one run");
        other.reach(u64::MAX);
        self.kept.extend(other.kept);
        self.beyond |= other.beyond;
    }

    /// The packets, in order of time, then port; none if they went to a stream. The record says
    /// whether there were more.
    pub fn finish(mut self, record: &mut RunRecord) -> Vec<Captured> {
        self.reach(u64::MAX);
        self.cut();
        let (packets, last) = (self.kept.len() as u64, self.kept.last());
        let until = last.map_or(Time::ZERO, |last| last.at);
        record.captures_cut = self.beyond.then_some(CaptureCut { packets, until });
        self.kept
    }

    fn cut(&mut self) {
        self.kept.sort_by_key(|captured| (captured.at, captured.port));
        self.beyond |= self.kept.len() > self.limit;
        self.kept.truncate(self.limit);
    }
}
