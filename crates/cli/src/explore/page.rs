//! The page that the program carries.

include!(concat!(env!("OUT_DIR"), "/page.rs"));
