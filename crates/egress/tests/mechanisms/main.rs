//! One small transport per mechanism of the catalogue, driven by direct calls: what the contract
//! must admit, without a network. `docs/decisions/0001-transport-contract.md` says
//! which transport needs which.

mod credit;
mod interval;
mod nibble;
mod pause;
mod push_out;
mod rig;
mod selective;
mod stall;
mod switch_ack;
mod telemetry;
mod trimming;
