//! Warnings about programs.

incast_units::warnings! {
    /// Kinds of warnings about programs.
    pub static WARNINGS;
    EMPTY_MESSAGES = "empty_messages" {
        says: "{file}: {count} of 0 bytes, the first in rank {rank}: sent as 1 byte",
        means: "A program sends messages without bytes, such as those of a barrier. A flow has at least one byte, so \
                each is sent as a message of one.",
        remedy: "Nothing: a packet is charged its headers and the least frame either way.",
    }
}
