//! Losses on links, for a trace.

use super::log::{TraceLog, Writer};
use crate::Options;
use incast_transport::{EventKind, PacketPool, PacketRef, Place, Time, TraceEvent, Traced};
use std::sync::Arc;

/// Losses on links: each at the port that the packet left by.
#[derive(Debug)]
pub struct LossLog(Option<(Arc<TraceLog>, Vec<Option<Writer>>)>);

impl LossLog {
    /// Nothing yet, of a fabric with so many ports; keeps nothing unless the run is traced.
    pub fn new(options: &Options, ports: usize) -> LossLog {
        let none = || (0..ports).map(|_| None).collect();
        LossLog(options.trace.clone().map(|log| (log, none())))
    }

    /// A packet is lost at `at` picoseconds, after it left the port that it was sent by last.
    #[inline]
    pub fn lost(&mut self, at: u64, packets: &PacketPool, packet: PacketRef) {
        if self.0.is_some() {
            self.note(at, packets, packet);
        }
    }

    #[cold]
    fn note(&mut self, at: u64, packets: &PacketPool, packet: PacketRef) {
        let Some((log, writers)) = &mut self.0 else { return };
        let content = &packets[packet];
        let place = Place { port: packets.meta(packet).link, host: false };
        let Some(writer) = writers.get_mut(place.port as usize) else { return };
        if log.filter().selects(content.flow) && log.filter().selects_place(place) {
            let writer = writer.get_or_insert_with(|| Writer::new(log, place));
            let event = TraceEvent::new(Time(at), place, EventKind::Lost, Some(content.flow));
            let departed = packets.stamps(packet).departed;
            let traced = Some(Traced::of(content, packets.charged(packet), departed));
            writer.write(TraceEvent { packet: traced, ..event });
        }
    }
}
