//! A host at which no time passes, in a node that lives on: which flow is given up.
//!
//! Whose timer it is, a transport cannot be asked. Flows are given up one after the other until time passes, those
//! first whose timers run at each wake, then the one that something came of last.

use super::HostNode;
use crate::medium::Medium;
use crate::trouble::Trouble;
use crate::{PacketIo, Payload};
use incast_transport::{FlowId, Time};

impl<I: PacketIo> HostNode<I> {
    /// Gives up the flow for which no time passes here.
    #[cold]
    pub(super) fn give_up_still(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload) {
        let Some(first) = medium.troubles.still.take() else { return };
        let at = Time(medium.now);
        let suspects = match first.flow {
            Some(flow) => vec![flow],
            None => self.suspects(medium, payload),
        };
        for flow in suspects {
            let before = self.end.open_flows();
            self.abandon(medium, payload, flow);
            if self.end.open_flows() < before {
                if (flow.0 as usize) < medium.flows.len() {
                    medium.ended.insert((self.end.id().0, flow));
                }
                let why = first.to_string();
                medium.troubles.note(Trouble { at, flow: Some(flow), why });
            }
            if !self.is_still(medium, payload) {
                return;
            }
        }
        // Without the instants, so that it is noted once.
        let why = format!("host {} lets no time pass", self.end.id().0);
        medium.troubles.note(Trouble { at, flow: None, why });
    }

    /// Runs timers once more; returns whether time still does not pass.
    fn is_still(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload) -> bool {
        let now = medium.now;
        let (end, mut world) = self.attach(medium, payload);
        end.look_again(&mut world, now);
        medium.troubles.still.take().is_some()
    }

    /// Flows with an end here, the likeliest first.
    fn suspects(&mut self, medium: &mut Medium<I>, payload: &mut impl Payload) -> Vec<FlowId> {
        let host = self.end.id();
        let here = medium.flows.iter().filter(|one| [one.flow.src, one.flow.dst].contains(&host));
        let mut flows: Vec<FlowId> = here.map(|one| one.flow.id).collect();
        flows.extend(self.live.iter().flat_map(|live| live.names.unfinished()));
        let activity = |medium: &Medium<I>, flow: FlowId| medium.probe.activity(flow);
        let before: Vec<u64> = flows.iter().map(|flow| activity(medium, *flow)).collect();
        self.is_still(medium, payload);
        let mut all: Vec<(bool, bool, FlowId)> = flows
            .into_iter()
            .zip(before)
            .map(|(flow, before)| (activity(medium, flow) == before, flow != self.last, flow))
            .collect();
        all.sort_by_key(|(rests, other, flow)| (*rests, *other, std::cmp::Reverse(flow.0)));
        all.into_iter().map(|(.., flow)| flow).collect()
    }
}
