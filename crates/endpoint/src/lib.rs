//! What stands at a host: the common sender, the halves of receiver-driven transports, credit,
//! scoreboard, retransmission timeout, reassembly, flow tables, packets in any order. No transport is known here by name,
//! and nothing of a port's.

pub mod credit;
pub mod custom;
pub mod first_round;
pub mod flow_table;
pub mod load_window;
pub mod outbox;
pub mod pacer;
pub mod queue;
pub mod ranking;
pub mod reassembly;
pub mod receiver_driven;
pub mod rto;
pub mod scoreboard;
pub mod sender;
pub mod telemetry;
pub mod unordered;
