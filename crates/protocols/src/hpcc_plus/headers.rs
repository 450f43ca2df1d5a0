//! The packets of the variant: HPCC's.

pub use crate::hpcc::headers::HEADERS;
