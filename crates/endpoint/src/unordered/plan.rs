//! What is fixed for a host.

use super::core_pace::CorePlan;
use super::credit::CreditPlan;
use super::paths::Strategy;
use super::sleek::SleekPlan;
use incast_transport::{Span, TransportId};

/// What a host needs to know.
#[derive(Clone, Copy, Debug)]
pub struct HostPlan {
    /// Whose packets it sends.
    pub transport: TransportId,
    /// Bytes of the headers of a packet, extension included; 0: windows count payload alone.
    pub header: u32,
    /// ECN bits of data as it leaves.
    pub data_mark: u8,
    /// Class of packets without payload.
    pub reply_class: u8,
    /// Whether packets without anything behind their headers are as long as ACKs.
    pub padded: bool,
    /// Whether ACKs return what stands behind the headers of data, where something does.
    pub echoes: bool,
    /// Payload of a full packet.
    pub max_payload: u16,
    /// How paths are chosen, and among how many.
    pub strategy: Strategy,
    /// A power of two.
    pub paths: u32,
    /// Whether switches cut packets instead of dropping them.
    pub trims: bool,
    /// Bytes that need an ACK.
    pub ack_every: u64,
    /// Whether each packet that was the lowest missing one needs one.
    pub acks_advance: bool,
    /// A packet of which nothing is heard for so long is lost.
    pub timeout: Span,
    /// Probes of a flow are so far apart at least.
    pub probe_every: Span,
    /// Credits that receivers give, if they do.
    pub credits: Option<CreditPlan>,
    /// How receivers slow their credits behind an oversubscribed core, if they do.
    pub core: Option<CorePlan>,
    /// Recovery by gaps in what has arrived, if there is one.
    pub sleek: Option<SleekPlan>,
}

impl HostPlan {
    /// Bytes of a full packet.
    pub fn mtu(&self) -> u32 {
        self.header + self.max_payload as u32
    }
}
