//! What receiver-driven transports share.
