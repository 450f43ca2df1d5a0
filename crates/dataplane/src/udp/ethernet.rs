//! What frames of an Ethernet begin with.

/// Bytes of an Ethernet header.
pub(super) const ETHERNET: usize = 14;

/// An Ethernet address.
pub(super) type Mac = [u8; 6];

/// No Ethernet address.
pub(super) const NOBODY: Mac = [0; 6];
