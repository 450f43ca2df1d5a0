//! Headers, frames and capture files.

mod codec;
mod common;
mod pcapng;
mod tshark;
mod views;
