//! Bits of `Meta::mark` of a packet in flight.

/// The packet's arrival updates its last egress port.
pub(crate) const SERVICE: u8 = 1;
/// The packet is lost on the link.
pub(crate) const LOST: u8 = 2;
/// The packet has been impaired.
pub(crate) const IMPAIRED: u8 = 4;
/// The event is the arrival of the packet's first bytes; `Meta::arrived` is that of its last bit.
pub(crate) const HEAD: u8 = 8;
