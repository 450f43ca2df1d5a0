//! What a new user sees first: `incast demo`.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn summary(folder: &Path, transport: &str) -> Value {
    let text = std::fs::read_to_string(folder.join(transport).join("summary.json"));
    serde_json::from_str(&text.expect("a summary")).expect("JSON")
}

/// Every transport reaches balance, the timeouts of the incast are recovery in the breakdown, and
/// the picture of the README is that of the demo. `UPDATE_DOCS=1` renews it.
#[test]
fn the_demo_is_balanced_and_shows_timeouts() {
    let place = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    let output = command.current_dir(place.path()).args(["demo", "--out", "demo"]).output();
    let output = output.expect("the program starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let measured = told.lines().find(|line| line.starts_with("measured: flows that start from "));
    assert!(
        measured.is_some_and(|line| line.contains("ms, while arrivals and departures balance"))
    );
    // Nothing is wrong, so nothing is warned of; ten numbers, three of classes and a sentence say who is best.
    assert!(!told.contains("warning:"), "{told}");
    assert!(
        told.contains("Of flows of class background, phost has the lowest p99 slowdown, "),
        "{told}"
    );
    let numbers = told.lines().skip_while(|line| !line.starts_with(' ')).skip(1);
    assert_eq!(numbers.take_while(|line| !line.is_empty()).count(), 13, "{told}");

    let folder = place.path().join("demo");
    for transport in ["ren", "amrt", "ndp", "phost", "trd", "dctcp"] {
        assert_eq!(summary(&folder, transport)["balance"]["reached"], true, "{transport}");
    }
    let short = &summary(&folder, "dctcp")["by_size"][0];
    let recovery = short["parts_mean_ns"]["recovery"].as_f64().expect("a number");
    let mean = short["fct_ns"]["mean"].as_f64().expect("a number");
    let longest = short["fct_ns"]["max"].as_f64().expect("a number");
    assert!(recovery > 0.4 * mean, "{recovery} of {mean} ns is recovery");
    assert!(longest > 10e6, "no flow waits for DCTCP's least timeout, 10 ms: {longest} ns");

    let made = std::fs::read_to_string(folder.join("summary.svg")).expect("a picture");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images/summary.svg");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&kept, &made).expect("written");
    }
    let kept = std::fs::read_to_string(kept).expect("a picture");
    assert!(kept == made, "docs/images/summary.svg is of another demo; UPDATE_DOCS=1 renews it");
}
