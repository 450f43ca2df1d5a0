//! Mechanisms that transports share. No transport is known here by name.

pub mod flow_table;
pub mod port;
pub mod receiver_driven;
pub mod sender;
