//! How Template differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[Deviation {
    number: 1,
    section: "RFC 3168 §6.1.2",
    what: "No CWR is sent: each ACK echoes the mark of the packet that it acknowledges.",
    reason: "As RFC 8257 §3.2; the sender counts windows of data by itself.",
    effect: None,
}];
