//! The common sender of sender-driven transports.
