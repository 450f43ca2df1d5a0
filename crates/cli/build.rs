//! Looks for the explorer's page, which `make explorer` builds: if it is there, the program carries it.

use std::path::Path;
use std::{env, fs};

fn main() {
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let folder = Path::new(&here).join("../../explorer/dist");
    println!("cargo::rerun-if-changed=build.rs");
    // A file that is missing counts as changed each time; its folder is there.
    if let Ok(folder) = folder.canonicalize() {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let page = folder.join("index.html").canonicalize();
    let value = match page {
        Ok(page) => {
            println!("cargo::rerun-if-changed={}", page.display());
            format!("Some(include_bytes!({:?}))", page.display().to_string())
        }
        Err(_) => "None".to_string(),
    };
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let code = format!("/// The explorer's page.\npub static PAGE: Option<&[u8]> = {value};\n");
    fs::write(Path::new(&out).join("page.rs"), code)
        .expect("the folder for build products can be written");
}
