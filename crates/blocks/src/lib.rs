//! Mechanisms that transports share. No transport is known here by name.

pub mod credit;
pub mod first_round;
pub mod flow_table;
pub mod load;
pub mod load_marker;
pub mod load_window;
pub mod math;
pub mod outbox;
pub mod pacer;
pub mod port;
pub mod queue;
pub mod ranking;
pub mod reassembly;
pub mod receiver_driven;
pub mod red;
pub mod rto;
pub mod scoreboard;
pub mod sender;
pub mod telemetry;
