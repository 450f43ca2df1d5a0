//! The library that draws the charts of pages, Plotly.js. It is packed when this crate is built: packing it for each page took a third
//! of a short run.

/// The library as gzip in base64.
pub const PACKED: &str = include_str!(concat!(env!("OUT_DIR"), "/plotly.gz.base64"));
