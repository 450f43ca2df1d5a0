//! Flows that are opened while a run goes on: those that are not of the run, and what those who open flows want to know.

use super::Probe;
use crate::trace::{Ended, ReceiverTrace, SenderTrace};
use incast_wire::FlowId;

impl Probe {
    /// Gives an entry to a flow of `size` bytes (0 if unknown) that is not of the run.
    /// `transport` is its transport's index, see [`group`](Probe::group).
    ///
    /// Panics if the number is that of a flow of the run or of one that is admitted.
    pub fn admit(&mut self, flow: FlowId, size: u64, transport: u8) {
        assert!(flow.0 as usize >= self.run, "flow {} is of the run", flow.0);
        let place = self.free.pop().unwrap_or_else(|| {
            self.senders.push(SenderTrace::default());
            self.receivers.push(ReceiverTrace::default());
            self.senders.len() as u32 - 1
        });
        let known = self.admitted.insert(flow.0 as u64, place);
        assert!(known.is_none(), "flow {} admitted twice", flow.0);
        self.senders[place as usize] = SenderTrace { transport, ..SenderTrace::default() };
        self.receivers[place as usize] = ReceiverTrace { size, ..ReceiverTrace::default() };
    }

    /// Takes the entry of an admitted flow back. Nothing happens if it has none.
    pub fn dismiss(&mut self, flow: FlowId) {
        let Some(place) = self.admitted.remove(&(flow.0 as u64)) else { return };
        self.forget_losses(place as usize);
        let SenderTrace { packets, retransmits, .. } =
            std::mem::take(&mut self.senders[place as usize]);
        self.gone = (self.gone.0 + packets as u64, self.gone.1 + retransmits as u64);
        self.free.push(place);
    }

    /// How often something was decided, sent or asked for again for a flow: it grows where its timers run.
    pub fn activity(&self, flow: FlowId) -> u64 {
        let SenderTrace { packets, decisions, timeouts, .. } = self.senders[self.place(flow)];
        packets as u64 + decisions as u64 + timeouts as u64
    }

    /// Data packets that sources here have sent, and those of them that were sent again.
    pub fn sent(&self) -> (u64, u64) {
        let all = self.senders.iter().map(|one| (one.packets as u64, one.retransmits as u64));
        all.fold(self.gone, |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Number of flows admitted and not dismissed.
    pub fn admitted(&self) -> usize {
        self.admitted.len()
    }

    /// Moves the ends of admitted flows since the last call to `into`, in order of time.
    pub fn take_ended(&mut self, into: &mut Vec<Ended>) {
        into.append(&mut self.ended);
    }

    /// Keeps from now on which flows are known to have arrived where they started.
    pub fn keep_known(&mut self) {
        self.known = Some(vec![]);
    }

    /// Flows that are known to have arrived where they started, and when, in order; none without
    /// [`keep_known`](Probe::keep_known).
    pub fn known(&self) -> &[(FlowId, u64)] {
        self.known.as_deref().unwrap_or(&[])
    }

    /// How many [`outcomes`](Probe::outcomes) and [`known`](Probe::known) flows there are.
    #[inline]
    pub fn news(&self) -> usize {
        self.news
    }
}
