//! What a study's folder says of its rows: `study.parquet`, `study-times.parquet`, `study.html` and
//! the page's figures.

use crate::point::setting;
use crate::row::Row;
use crate::store::Store;
use crate::study::Study;
use incast_experiment::{Fault, VERSION};
use incast_measure::{
    RowTimes, StudyResults, StudyRow, Told, numbers_of, study_frame, times_frame, write_atomic,
    write_study_page,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a study without a title is called: what it compares, and over what.
fn untitled(series: &[String], keys: &[String]) -> String {
    let series = match series {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.concat(),
    };
    let key = |title: &String| {
        let mut letters = title.chars();
        match (letters.next(), letters.clone().next()) {
            (Some(first), Some(second)) if second.is_lowercase() => {
                first.to_lowercase().chain(letters).collect()
            }
            _ => title.clone(),
        }
    };
    match keys {
        [] => series,
        keys => {
            format!("{series} over {}", keys.iter().map(key).collect::<Vec<String>>().join(" and "))
        }
    }
}

/// The rows of a study that are in its store, in the order of combination, series and seed.
///
/// # Errors
/// A row that cannot be read.
pub fn results(study: &Study, store: &Store) -> Result<StudyResults, Fault> {
    let points = study.points_in(store)?;
    let mut read: BTreeMap<&str, Row> = BTreeMap::new();
    for point in &points {
        if !read.contains_key(point.hash.as_str())
            && let Some(row) = store.row(&point.hash)?
        {
            read.insert(&point.hash, row);
        }
    }
    let row = |point: &std::sync::Arc<crate::Point>| {
        let row = read.get(point.hash.as_str())?;
        Some(StudyRow {
            hash: point.hash.clone(),
            series: point.series,
            transport: point.transport.clone(),
            seed: point.seed,
            values: point.values.iter().map(|value| setting(value.as_ref())).collect(),
            error: row.error.clone(),
            warnings: row.warnings.clone(),
            numbers: row.summary.as_ref().map(numbers_of).unwrap_or_default(),
            slowdown: row.slowdown.clone().unwrap_or_default(),
            times: RowTimes {
                wall_seconds: Some(row.times.wall_seconds),
                cpu_seconds: row.times.cpu_seconds,
            },
        })
    };
    let series: Vec<String> = study.series().iter().map(|one| one.label.clone()).collect();
    Ok(StudyResults {
        title: match study.title() {
            "" => untitled(&series, &study.key_titles()),
            title => title.into(),
        },
        resolved: study.resolved(&BTreeMap::new()),
        keys: study.keys().to_vec(),
        titles: study.key_titles(),
        baseline: series.get(study.baseline()).cloned(),
        series,
        metric: study.repeat().map(|repeat| repeat.number.name.clone()),
        points: points.len(),
        rows: points.iter().filter_map(row).collect(),
    })
}

/// What a study says on a console whose lines have `width` characters, of the points that are done.
///
/// # Errors
/// A row that cannot be read.
pub fn told(study: &Study, store: &Store, width: usize) -> Result<Told, Fault> {
    Told::of(&results(study, store)?, width, |row| {
        Ok(store.row(&row.hash)?.and_then(|row| row.summary))
    })
}

/// Writes table, times and page of a study into its folder; each appears at once. If the files there
/// are of the same rows and `changed` is false, nothing is read and nothing written.
///
/// # Errors
/// A row that cannot be read; what the system says.
pub fn gather(study: &Study, store: &Store, changed: bool) -> Result<(), Fault> {
    store.sync()?;
    let stamp = stamp(study, store)?;
    let place = store.dir().join("gathered");
    let same = || std::fs::read_to_string(&place).is_ok_and(|known| known == stamp);
    let there = ["study.parquet", "study-times.parquet", "study.html"];
    if !changed && there.iter().all(|name| store.dir().join(name).is_file()) && same() {
        return Ok(());
    }
    let results = results(study, store)?;
    study_frame(&results).write_parquet(&store.dir().join("study.parquet"))?;
    times_frame(&results).write_parquet(&store.dir().join("study-times.parquet"))?;
    write_study_page(&store.dir().join("study.html"), &results)?;
    // Last: it says that the others are of these rows.
    Ok(write_atomic(&place, stamp.as_bytes())?)
}

/// What the files depend on: the program, the points with their labels, and which rows there are.
fn stamp(study: &Study, store: &Store) -> Result<String, Fault> {
    let kept = store.hashes()?;
    let mut text = format!("{VERSION} {}\n", study.resolved(&BTreeMap::new()));
    for hash in &kept {
        text += hash;
    }
    // FNV-1a: enough to tell a change, and the same everywhere.
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, add);
    let mut out = String::new();
    writeln!(out, "{sum:016x} {} rows", kept.len()).expect("a string takes all");
    Ok(out)
}
