//! What a host goes by.

use super::headers::{LARGE, SMALL};
use super::params::Wake;
use incast_transport::Span;

/// What hosts need to know.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub free_tokens: u32,
    pub free_for_long: bool,
    pub third_level: bool,
    pub window: u32,
    /// Time of a full packet on the host's link.
    pub slot: Span,
    pub token_life: Span,
    pub pause: Span,
    pub downgrade: Span,
    pub announce_again: Span,
    pub wake: Wake,
}

impl Terms {
    /// Free tokens of a flow.
    pub fn free(&self, packets: u32) -> u32 {
        if packets <= self.free_tokens {
            packets
        } else if self.free_for_long {
            self.free_tokens
        } else {
            0
        }
    }

    /// Class of a flow's data.
    pub fn class(&self, packets: u32) -> u8 {
        if packets > self.free_tokens && self.third_level { LARGE } else { SMALL }
    }

    /// The length that free data carries: 0 (absent) if it does not fit the field.
    pub fn told_length(&self, packets: u32) -> u32 {
        if packets < 1 << 24 { packets } else { 0 }
    }
}
