//! Writes a report of made-up runs, to look at: `cargo run -p incast-measure --example
//! sample_report -- folder`.

#[path = "../tests/all/support.rs"]
mod support;

use incast_measure::figures;
use incast_measure::{Comparison, columns_markdown, report_html, write_atomic, write_run};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: sample_report <folder>")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(folder.join("one"))?;
    let mut runs = vec![
        support::made_up("receiver-driven", 1, 20_000, 0.6),
        support::made_up("window-based", 2, 20_000, 2.0),
        support::made_up("rate-based", 3, 20_000, 1.2),
    ];
    support::add_series(&mut runs[0]);
    report_html(&folder.join("report.html"), "Three made-up transports", &runs)?;
    let summary = figures::summary("Tail slowdown of made-up transports", &runs);
    write_atomic(&folder.join("summary.svg"), summary.svg().as_bytes())?;
    write_run(&folder.join("one"), &runs[0], true)?;
    report_html(&folder.join("one/report.html"), "One made-up transport", &runs[..1])?;
    let table = Comparison::of_runs(&runs);
    print!("{}\n{}", table.text(100, &table.lines()), columns_markdown());
    Ok(())
}
