//! What a packet costs the first switch of a network.

use super::Testbed;
use crate::cost::{Cost, Laps, STAGES, SwitchCost, counter, overhead};
use crate::node::Node;
use crate::{Clock, Departure, Frame, PacketIo};
use incast_fabric::PortId;
use incast_transport::{Bytes, Time};

/// Packets in a burst.
const BURST: usize = 32;
/// Bytes by which a switch may lengthen a packet: one record of telemetry.
const RECORD: usize = 16;
/// Bursts before the measurement.
const WARM_UP: usize = 200;

impl<I: PacketIo, C: Clock> Testbed<I, C> {
    /// Sends copies of `frames`, packets from host 0 to host 1, in bursts of 32 through the switch between
    /// them, back to back at the rate of its egress, and measures what a packet costs the switch: `bursts` bursts
    /// as it handles them, and as many stage by stage, without what emulated links record on the way. Frames are made and taken in by the hosts'
    /// ends of the links, outside of what is measured. Returns the backend too.
    ///
    /// A port whose queue is shorter than a burst loses a part of it, which [`SwitchCost::lost`] says.
    ///
    /// Panics if a host is not at a switch, or if `frames` or `bursts` is none.
    pub fn switch_cost(mut self, frames: &[Vec<u8>], bursts: usize) -> (SwitchCost, I) {
        assert!(!frames.is_empty() && bursts > 0);
        let fabric = self.medium.fabric.clone();
        let (source, sink) = (fabric.host_port(0).0, fabric.host_port(1).0);
        let from = fabric.port(PortId(source)).reverse.0;
        let to = fabric.port(PortId(sink)).reverse.0;
        let spec = *fabric.port(PortId(to));
        let framing = match &self.nodes[spec.node.0 as usize] {
            Node::Switch(switch) => *switch.packets.pool.framing(),
            _ => panic!("host 1 is not at a switch"),
        };
        // As on a wire: the path of a packet is an instrument of emulated links.
        self.medium.trails = false;
        let overhead = overhead();
        let (mut whole, mut laps) = (vec![], Laps::default());
        let (mut out, mut changed, mut seen, mut lost) = (Vec::with_capacity(BURST), 0, 0, 0);
        let mut now = 1_000_000_000;
        for index in 0..2 * bursts + WARM_UP {
            let burst: Vec<&Vec<u8>> =
                (0..BURST).map(|one| &frames[(index * BURST + one) % frames.len()]).collect();
            let charge = |frame: &&Vec<u8>| {
                let charged = framing.charged((frame.len() + RECORD) as u32) as u64;
                spec.rate.tx_time(Bytes(charged)).0
            };
            let until = now + burst.iter().map(charge).sum::<u64>();
            self.put(source, &burst, now);
            let Node::Switch(switch) = &mut self.nodes[spec.node.0 as usize] else {
                unreachable!("it was one")
            };
            switch.packets.stamped = false;
            let medium = &mut self.medium;
            medium.now = now;
            if index % 2 == 0 {
                let start = counter();
                switch.receive(medium);
                switch.advance(medium, until);
                switch.flush(medium);
                whole.push(counter() - start);
            } else {
                switch.forward_by_stage(medium, from, to, until, &mut laps);
            }
            if index < WARM_UP {
                whole.clear();
                laps.taken.iter_mut().for_each(Vec::clear);
            }
            medium.tally.released.clear();
            medium.io.rx_burst(sink, Time(u64::MAX / 2), BURST, &mut out);
            lost += (BURST - out.len()) as u64;
            let pairs = out.len() == BURST;
            for (arrival, sent) in out.drain(..).zip(&burst) {
                changed += u64::from(pairs && arrival.frame.bytes() != &sent[..]);
                seen += u64::from(pairs);
                medium.io.free(arrival.frame);
            }
            now = until;
        }
        let of = |taken: &mut Vec<u64>| Cost::of(taken, overhead, BURST);
        let mut stages = laps.taken.iter_mut().map(of);
        let stages = std::array::from_fn::<_, { STAGES.len() }, _>(|_| {
            stages.next().expect("one for each stage")
        });
        let whole = of(&mut whole);
        let changed = changed as f64 / seen.max(1) as f64;
        let lost = lost as f64 / ((2 * bursts + WARM_UP) * BURST) as f64;
        (SwitchCost { burst: BURST, bursts, whole, stages, changed, lost }, self.medium.io)
    }

    /// Puts a burst on the link of `port`, due now.
    fn put(&mut self, port: u32, burst: &[&Vec<u8>], now: u64) {
        let io = &mut self.medium.io;
        let at = Time(now);
        for bytes in burst {
            let mut frame = io.alloc(bytes.len()).expect("few frames are in use");
            frame.bytes_mut().copy_from_slice(bytes);
            let departure = Departure { start: at, release: at, complete: at };
            assert!(io.stage(port, frame, departure).is_ok(), "the link has room");
        }
        assert_eq!(io.flush(port), 0);
    }
}
