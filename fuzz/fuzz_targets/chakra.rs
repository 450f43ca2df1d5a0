//! `chakra` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| incast_fuzz::target("chakra")(bytes));
