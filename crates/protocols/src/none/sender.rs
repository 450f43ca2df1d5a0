//! What is there in place of a congestion control.

use incast_endpoint::sender::{Ack, Control, Loss, Progress};
use incast_transport::Rate;

/// More bytes than any flow has.
const WITHOUT_BOUND: u64 = 1 << 62;

/// A fixed rate, whatever happens to the packets.
#[derive(Clone, Copy, Debug)]
pub struct FixedRate {
    /// `None`: the NIC's.
    pub rate: Option<Rate>,
}

impl Control for FixedRate {
    #[inline]
    fn on_ack(&mut self, _ack: &Ack<'_>, _progress: &Progress) {}

    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}

    /// It decides nothing.
    #[inline]
    fn decided(&self) -> bool {
        false
    }

    #[inline]
    fn window(&self) -> u64 {
        WITHOUT_BOUND
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        self.rate
    }
}
