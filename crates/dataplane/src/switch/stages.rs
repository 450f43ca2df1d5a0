//! A burst through a switch, stage by stage, for the measurement of what each costs.

use super::SwitchNode;
use crate::PacketIo;
use crate::arrival::{Here, read_burst, sort};
use crate::cost::{Laps, STAGES};
use crate::medium::Medium;
use incast_transport::Time;

impl<I: PacketIo> SwitchNode<I> {
    /// What [`receive`](Self::receive), [`advance`](Self::advance) and [`flush`](Self::flush) do
    /// where no link fails, no hook looks and nothing is paused, with each step taken for all
    /// packets of the burst before the next.
    pub fn forward_by_stage(
        &mut self,
        medium: &mut Medium<I>,
        from: u32,
        to: u32,
        until: u64,
        laps: &mut Laps,
    ) {
        let [rx, decode, route, enqueue, dequeue, tx] = std::array::from_fn(|stage: usize| stage);
        const { assert!(STAGES.len() == 6) };
        let mut arrived = std::mem::take(&mut self.arrived);
        let mut incoming = std::mem::take(&mut medium.incoming);
        laps.start();
        medium.io.rx_burst(from, Time(medium.now), 32, &mut incoming);
        laps.end(rx);
        read_burst(medium, &mut self.packets, from, &mut incoming, &mut arrived, Here::Switch);
        sort(&mut arrived);
        laps.end(decode);
        for one in &mut arrived {
            self.packets.pool.stamps_mut(one.packet).ingress = one.port;
            one.egress = self.choose(medium, one.port, one.packet);
        }
        laps.end(route);
        for one in arrived.drain(..) {
            self.enqueue(medium, to, one.packet);
        }
        laps.end(enqueue);
        let index = (to - self.first) as usize;
        let mut leaving = std::mem::take(&mut laps.leaving);
        laps.start();
        loop {
            let egress = &mut self.egress[index];
            let (start, deadline) = (egress.start(), egress.deadline());
            if start.min(deadline) >= until {
                break;
            }
            let (transmitter, mut parts) = egress.split(&mut self.packets.pool);
            if deadline <= start {
                parts.wake(to, deadline);
            } else if let Some((packet, backlog)) = transmitter.dequeue(parts, start) {
                let charged = self.packets.pool.charged(packet);
                let line = &mut self.egress[index].line;
                line.transmitter.busy_until = start + line.tx(charged);
                leaving.push((packet, start, backlog));
            }
        }
        laps.end(dequeue);
        for (packet, start, backlog) in leaving.drain(..) {
            self.send(medium, index, packet, start, backlog);
        }
        self.flush(medium);
        laps.end(tx);
        (self.arrived, medium.incoming, laps.leaving) = (arrived, incoming, leaving);
    }
}
