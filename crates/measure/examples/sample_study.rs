//! Writes the page of a made-up study, to look at: `cargo run -p incast-measure --example
//! sample_study -- folder`.

#[path = "../tests/all/support.rs"]
mod support;

use incast_measure::{
    RowTimes, Setting, SlowdownHistogram, StudyResults, StudyRow, numbers_of, study_frame,
    summarise, write_study_page,
};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: sample_study <folder>")?;
    let folder = PathBuf::from(folder);
    let series = ["dctcp", "hpcc", "ren", "ren: spend=any"].map(String::from);
    let mut rows = Vec::new();
    for (buffer, factor) in [("100KB", 1.0), ("300KB", 0.85), ("1MB", 0.7)] {
        for load in [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8] {
            for (at, name) in series.iter().enumerate() {
                for seed in 1..=5 {
                    let pressure = factor * load / (1.0 - load) * [2.0, 1.5, 1.0, 0.8][at];
                    let run = support::made_up(name, seed * 17 + at as u64, 600, pressure);
                    let failed = (at, seed, load) == (3, 5, 0.8);
                    let numbers = numbers_of(&summarise(&run));
                    rows.push(StudyRow {
                        hash: format!("{:064x}", rows.len()),
                        series: at,
                        transport: name.split(':').next().unwrap_or_default().into(),
                        seed,
                        values: vec![Setting::Number(load), Setting::Text(buffer.into())],
                        error: failed.then(|| "the engine panicked at crates/sim: made up".into()),
                        warnings: vec!["12 % of the flows are not complete".into(); at / 3],
                        numbers: if failed { Default::default() } else { numbers },
                        slowdown: if failed {
                            Default::default()
                        } else {
                            SlowdownHistogram::of(&run)
                        },
                        times: RowTimes::default(),
                    });
                }
            }
        }
    }
    let results = StudyResults {
        title: "Three made-up transports and a variant".into(),
        resolved: "[study]\nseeds = 5\n".into(),
        keys: ["traffic.0.load", "fabric.buffer"].map(String::from).into(),
        titles: ["Load", "Buffer of a switch port"].map(String::from).into(),
        series: series.into(),
        baseline: Some("dctcp".into()),
        metric: None,
        points: rows.len() + 20,
        rows,
    };
    std::fs::create_dir_all(&folder)?;
    study_frame(&results).write_parquet(&folder.join("study.parquet"))?;
    Ok(write_study_page(&folder.join("study.html"), &results)?)
}
