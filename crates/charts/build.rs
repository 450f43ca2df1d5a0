//! Packs the charts' library alone; its crate would add another for formulas, which no figure has.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let sources = plotly::Plot::offline_js_sources();
    let start = sources.find('>').expect("an opening script tag") + 1;
    let end = sources.find("</script>").expect("a closing script tag");
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&sources.as_bytes()[start..end]).expect("memory takes all");
    let packed = BASE64_STANDARD.encode(packer.finish().expect("memory takes all"));
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("plotly.gz.base64"), packed)
        .expect("the folder for build products can be written");
}
