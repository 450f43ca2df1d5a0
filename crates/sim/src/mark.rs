//! Bits of `Meta::mark` of a packet in flight.

/// The port this packet left must be brought up to date when it arrives.
pub(crate) const SERVICE: u8 = 1;
/// Lost on the link.
pub(crate) const LOST: u8 = 2;
/// It has been impaired.
pub(crate) const IMPAIRED: u8 = 4;
