//! Hosts that are not ideal.

use super::delay::{DelayText, MOST};
use super::field::Field;
use super::key::{Key, Preset};
use super::node::{Node, Value};
use super::section::{Section, Table, join, within};
use super::section::{brief, first, preset, read_key, section, section_field};
use crate::Fault;
use incast_transport::Span;
use incast_world::StampAt;

section! {
    /// What hosts take beside their links: by default nothing. In the simulator only; nodes of the data plane have
    /// hosts of their own.
    pub struct Host is "[host]" {
        /// What NIC and bus take from the transport to the link, per packet: `2us`, `uniform:1us-3us`,
        /// `exponential:2us` (its mean), or `file:NAME`, lines of a time and a cumulative probability, both
        /// increasing, the last 1. Packets of a host leave in their order.
        send_delay: DelayText = DelayText::Fixed(Span::ZERO);
        /// The same from the link to the transport. Packets come to it in the order in which they arrived.
        receive_delay: DelayText = DelayText::Fixed(Span::ZERO);
        /// The host is told of packets that have arrived (data, ACKs, grants, ...) once so many wait. Needs
        /// `coalesce_time`.
        coalesce_packets: Option<u32> = None, says "however many",
            "2 to 65535" => |packets| (2..=65_535).contains(packets);
        /// The host is told of them once the first has waited for so long.
        coalesce_time: Option<Span> = None, says "at once", "1ns to 1s" =>
            |span| (Span::from_ns(1)..=MOST).contains(span);
        /// Step of the clock that time stamps are taken with (`swift`, `timely`, `theta_powertcp`, `bolt`).
        /// Zero: they are exact.
        stamp_resolution: Span = Span::ZERO, "at most 1ms" => |step| *step <= Span::from_ms(1);
        /// Where they are taken: in the `host`, where both delays above are measured, too, or in the `nic`, as
        /// packets leave and arrive.
        stamp_at: StampAt = StampAt::Host;
    }
}

section_field! { Host }

impl Host {
    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        [&self.send_delay, &self.receive_delay].into_iter().filter_map(|delay| match delay {
            DelayText::File(name) => Some(name.as_str()),
            _ => None,
        })
    }
}
