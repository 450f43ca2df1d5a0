//! Queueing at an egress.
