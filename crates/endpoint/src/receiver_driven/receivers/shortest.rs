//! Grants for the flow with the fewest packets that still need one ([`Order::Shortest`]).
//!
//! [`Order::Shortest`]: super::Order::Shortest

use super::{Cause, Incoming, Receivers, Recovery};
use crate::ranking::Rank;
use crate::receiver_driven::Arrival;
use incast_transport::{FlowId, Time};

impl<R: Recovery> Receivers<R> {
    /// With `Order::Shortest`: a data packet makes room for one of the preferred flow.
    pub(super) fn reply_to_shortest(
        &mut self,
        flow: FlowId,
        slot: u32,
        cause: Cause,
        most: u32,
        now: Time,
    ) {
        let best = self.waiting.best();
        if best.is_none_or(|best| best.flow == flow) {
            self.take_one(slot, now);
            return self.reply(flow, slot, cause, now);
        }
        self.only_wait(flow, slot);
        let waits = self.flows.at(slot).rank.remaining > 0;
        if let Some(best) = if waits { best } else { self.shortest_below(most) } {
            self.grant_to(best, cause.mark, now);
        }
    }

    /// The preferred flow of those that have fewer than `most` packets under way by grants.
    fn shortest_below(&self, most: u32) -> Option<Rank> {
        let awaited = |flow| self.flows.get(flow).map_or(0, |incoming| incoming.awaited);
        self.waiting.iter().find(|rank| awaited(rank.flow) < most)
    }

    /// With `Order::Shortest`: a flow is complete, so others get what its last packet makes room
    /// for.
    pub(super) fn pass_on(&mut self, rank: Rank, most: u32, mark: u8, now: Time) {
        if rank.remaining > 0 {
            self.waiting.remove(rank);
        }
        if let Some(best) = self.shortest_below(most) {
            self.grant_to(best, mark, now);
        }
    }

    /// A grant for a flow other than the packet's.
    fn grant_to(&mut self, best: Rank, mark: u8, now: Time) {
        let slot = self.flows.slot_of(best.flow).expect("a flow that waits is there");
        let acked = self.flows.at(slot).arrivals.lowest_missing();
        self.take_one(slot, now);
        let cause = Cause { arrival: Arrival::New, acked, mark, informed: now.0 };
        self.reply(best.flow, slot, cause, now);
    }

    /// A flow is about to get a grant: silence counts from now if nothing of it was under way.
    fn take_one(&mut self, slot: u32, now: Time) {
        let incoming = self.flows.at_mut(slot);
        if incoming.awaited == 0 {
            incoming.recovery = self.recovery.opened(now);
        }
        incoming.awaited += 1;
    }

    /// A flow got a grant for a packet that was not asked for before.
    pub(super) fn needs_one_less(&mut self, slot: u32) {
        let incoming = self.flows.at_mut(slot);
        let old = incoming.rank;
        if old.remaining == 0 {
            return;
        }
        incoming.rank.remaining -= 1;
        match incoming.rank.remaining {
            0 => self.waiting.remove(old),
            left => self.waiting.change(old, left),
        }
    }

    /// Whether a flow gets nothing because others are preferred.
    pub(super) fn is_passed_over(&self, slot: u32) -> bool {
        let Incoming { awaited, rank, .. } = self.flows.at(slot);
        *awaited == 0 && self.waiting.best().is_some_and(|best| rank.remaining > 0 && best != *rank)
    }
}
