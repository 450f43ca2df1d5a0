//! The declared headers compared with documentation, Wireshark, bytes and the packets of runs.

mod identity;
mod runs;
mod shown;
mod table;
