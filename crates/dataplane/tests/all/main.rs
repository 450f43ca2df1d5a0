//! Hosts and switches that exchange bytes.

mod clocks;
mod common;
mod cores;
mod faults;
mod hostile;
mod keyed;
mod late;
mod messages;
mod outside;
mod packet_io;
mod payload;
mod pipeline;
mod same_packets;
