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
    READ_AS = "program_read_as" {
        says: "{file}: read as {taken}",
        means: "A file of a job does not say everything that a run needs, or says more than a run can do. The sentence says how it was \
                read.",
        remedy: "Compare it with what the job does (docs/dialects.md). If it is something else, change the file.",
    }
}
