//! Payload delivered over time, as both worlds record it.

use crate::FlowBytes;
use incast_transport::{FlowId, FlowSeries, RunRecord, Span, Time, TransportId};

/// Bytes over time of chosen flows, and of all flows of each transport where there are several.
#[derive(Default)]
pub struct Deliveries {
    start: Time,
    /// By flow; empty if none is chosen.
    flows: Vec<Option<FlowBytes>>,
    /// By place of the transport; empty if there is only one.
    transports: Vec<FlowBytes>,
    /// Place of a transport, by its number.
    place: Vec<u8>,
}

impl Deliveries {
    /// Nothing yet, in intervals of a length from a start on: of the `chosen` among `flows` flows.
    pub fn new(
        flows: usize,
        transports: impl Iterator<Item = TransportId>,
        (start, interval): (Time, Span),
        chosen: impl Iterator<Item = FlowId>,
    ) -> Deliveries {
        let mut all = vec![];
        for flow in chosen {
            all.resize_with(flows, || None);
            all[flow.0 as usize] = Some(FlowBytes::new(start, interval));
        }
        let mut place = vec![0; 256];
        let mut count = 0;
        for id in transports {
            place[id.0 as usize] = count as u8;
            count += 1;
        }
        let several = if count > 1 { count } else { 0 };
        let transports = (0..several).map(|_| FlowBytes::new(start, interval)).collect();
        Deliveries { start, flows: all, transports, place }
    }

    /// Whether bytes of `flow` are recorded at all.
    #[inline]
    pub fn record(&self, flow: FlowId) -> bool {
        !self.transports.is_empty()
            || !self.flows.is_empty() && self.flows[flow.0 as usize].is_some()
    }

    /// `flow` of `transport` has delivered `bytes` more. To be called if it is recorded.
    pub fn add(&mut self, flow: FlowId, transport: TransportId, now: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        if let Some(Some(series)) = self.flows.get_mut(flow.0 as usize) {
            series.add(now, bytes);
        }
        if let Some(series) = self.transports.get_mut(self.place[transport.0 as usize] as usize) {
            series.add(now, bytes);
        }
    }

    /// When the series begin, picoseconds.
    pub fn start(&self) -> u64 {
        self.start.0
    }

    /// Width of the widest intervals now.
    pub fn width(&self) -> u64 {
        let all = self.flows.iter().flatten().chain(&self.transports);
        all.map(FlowBytes::width).max().unwrap_or(1)
    }

    /// Adds everything to a record whose intervals are `width` long. The record's series are then
    /// to be brought in order of flows.
    pub fn finish(self, width: u64, record: &mut RunRecord) {
        record.series_start = self.start;
        for (flow, series) in self.flows.into_iter().enumerate() {
            if let Some(series) = series {
                let (flow, delivered) = (FlowId(flow as u32), series.finish(width));
                record.series.push(FlowSeries { flow, delivered });
            }
        }
        let places = record.shares.len().max(self.transports.len());
        record.shares.resize(places, vec![]);
        for (sum, series) in record.shares.iter_mut().zip(self.transports) {
            let own = series.finish(width);
            sum.resize(sum.len().max(own.len()), 0);
            sum.iter_mut().zip(own).for_each(|(sum, bytes)| *sum += bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_add_up_over_flows_and_partitions() {
        let ids = [TransportId(7), TransportId(3)];
        let part = |chosen: &[u32]| {
            let chosen = chosen.iter().map(|flow| FlowId(*flow));
            Deliveries::new(4, ids.into_iter(), (Time::ZERO, Span(10)), chosen)
        };
        let (mut first, mut second) = (part(&[0]), part(&[2]));
        assert!((0..4).all(|flow| first.record(FlowId(flow))));
        first.add(FlowId(0), ids[0], 5, 100);
        first.add(FlowId(1), ids[1], 25, 7);
        first.add(FlowId(1), ids[1], 26, 0);
        second.add(FlowId(2), ids[0], 39, 1);
        second.add(FlowId(3), ids[1], 0, 2);
        assert_eq!(first.width(), 10);
        let mut record = RunRecord::default();
        first.finish(20, &mut record);
        second.finish(20, &mut record);
        assert_eq!(record.shares, [vec![100, 1], vec![2, 7]]);
        let series: Vec<_> = record.series.iter().map(|one| (one.flow.0, &one.delivered)).collect();
        assert_eq!(series, [(0, &vec![100]), (2, &vec![0, 1])]);
    }

    #[test]
    fn one_transport_has_no_share() {
        let one = Deliveries::new(
            2,
            [TransportId(7)].into_iter(),
            (Time::ZERO, Span(10)),
            [].into_iter(),
        );
        assert!(!one.record(FlowId(1)));
        let mut record = RunRecord::default();
        one.finish(10, &mut record);
        assert!(record.shares.is_empty() && record.series.is_empty());
    }
}
