//! The declared headers, as documents, Wireshark, bytes and the packets of a run have them.

mod identity;
mod runs;
mod shown;
mod table;
