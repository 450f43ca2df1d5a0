//! Packs the charts' library for the pages, once and well: it is what most of a report consists of.

use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The library alone; the crate has another for formulas, which no figure has.
    let sources = plotly::Plot::offline_js_sources();
    let start = sources.find('>').expect("an opening script tag") + 1;
    let end = sources.find("</script>").expect("a closing script tag");
    let mut packer = GzEncoder::new(vec![], Compression::best());
    packer.write_all(&sources.as_bytes()[start..end]).expect("memory takes all");
    let packed = packer.finish().expect("memory takes all");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says it"));
    std::fs::write(out.join("plotly.js.gz"), packed).expect("cargo's folder can be written");
}
