//! The catalogue: one folder and one line a transport.

pub mod ndp;

use incast_transport::Transport;

/// Every transport, by name.
pub const CATALOGUE: &[&dyn Transport] = &[&ndp::ENTRY];

/// The transport of this name.
pub fn find(name: &str) -> Option<&'static dyn Transport> {
    CATALOGUE.iter().copied().find(|transport| transport.info().name == name)
}
