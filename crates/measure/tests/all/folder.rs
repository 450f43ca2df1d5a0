//! The results folder: numbering, refusal, replacement, errors.

use incast_measure::{FolderError, ResultsFolder, write_atomic};
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn default_folders_are_numbered() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path().join("results");
    let make = |label: &str| ResultsFolder::create(None, false, &base, label).unwrap();
    for (label, name) in [
        ("ren", "0001-ren"),
        ("web search/0.6", "0002-web-search-0.6"),
        ("../..", "0003-..-.."),
        ("", "0004"),
    ] {
        let folder = make(label);
        folder.write("manifest.json", b"{}").unwrap();
        assert_eq!(folder.finish().unwrap(), base.join(name));
    }
    fs::create_dir(base.join("0041-by-hand")).unwrap();
    fs::create_dir(base.join("notes")).unwrap();
    assert_eq!(make("x").place(), base.join("0042-x"));
}

#[test]
fn an_existing_folder_is_refused() {
    let base = tempfile::tempdir().unwrap();
    let out = base.path().join("out");
    let first = ResultsFolder::create(Some(&out), false, base.path(), "x").unwrap();
    first.write("manifest.json", b"{}").unwrap();
    first.finish().unwrap();
    let error = ResultsFolder::create(Some(&out), false, base.path(), "x").unwrap_err();
    assert!(matches!(error, FolderError::Exists { .. }));
    let text = error.to_string();
    assert!(text.contains(out.to_str().unwrap()) && text.contains("--force"), "{text}");
    assert_eq!(names(base.path()), ["out"]);
}

#[test]
fn an_empty_folder_is_taken() {
    let base = tempfile::tempdir().unwrap();
    let folder = ResultsFolder::create(Some(base.path()), false, base.path(), "x").unwrap();
    assert_eq!(folder.path(), base.path());
}

#[test]
fn force_replaces_only_when_finished() {
    let base = tempfile::tempdir().unwrap();
    let out = base.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("manifest.json"), "old").unwrap();
    fs::write(out.join("stale.csv"), "old").unwrap();
    let folder = ResultsFolder::create(Some(&out), true, base.path(), "x").unwrap();
    folder.write("manifest.json", b"new").unwrap();
    assert_eq!(fs::read_to_string(out.join("manifest.json")).unwrap(), "old");
    assert_eq!(folder.finish().unwrap(), out);
    assert_eq!(names(&out), ["manifest.json"]);
    assert_eq!(fs::read_to_string(out.join("manifest.json")).unwrap(), "new");
    assert_eq!(names(base.path()), ["out"]);
}

#[test]
fn force_after_a_crash_starts_afresh_and_keeps_the_old_results() {
    let base = tempfile::tempdir().unwrap();
    let out = base.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("manifest.json"), "old").unwrap();
    let crashed = ResultsFolder::create(Some(&out), true, base.path(), "x").unwrap();
    crashed.write("half.csv", b"half").unwrap();
    drop(crashed);
    assert_eq!(names(&out), ["manifest.json"]);
    let again = ResultsFolder::create(Some(&out), true, base.path(), "x").unwrap();
    assert!(names(again.path()).is_empty());
}

#[test]
fn force_does_not_delete_what_is_not_results() {
    let base = tempfile::tempdir().unwrap();
    fs::write(base.path().join("thesis.tex"), "years of work").unwrap();
    for out in [base.path().to_path_buf(), base.path().join("thesis.tex")] {
        let error = ResultsFolder::create(Some(&out), true, base.path(), "x").unwrap_err();
        assert!(matches!(error, FolderError::NotResults { .. }), "{error}");
    }
    assert_eq!(names(base.path()), ["thesis.tex"]);
}

#[test]
fn an_early_end_leaves_what_was_written() {
    let base = tempfile::tempdir().unwrap();
    let out = base.path().join("out");
    let folder = ResultsFolder::create(Some(&out), false, base.path(), "x").unwrap();
    incast_measure::write_manifest(
        folder.path(),
        &serde_json::json!({ "seed": 3, "complete": "whatever" }),
        false,
    )
    .unwrap();
    drop(folder);
    let text = fs::read_to_string(out.join("manifest.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value, serde_json::json!({ "seed": 3, "complete": false }));
}

#[test]
fn errors_name_the_path_and_the_reason() {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("file");
    fs::write(&file, "x").unwrap();
    let below = file.join("flows.parquet");
    let text = write_atomic(&below, b"x").unwrap_err().to_string();
    assert!(text.starts_with(&format!("could not write {}: ", below.display())), "{text}");
    assert!(text.contains("os error"), "{text}");
    let error = ResultsFolder::create(None, false, &file, "x").unwrap_err().to_string();
    assert!(error.contains(file.to_str().unwrap()) && error.contains("os error"), "{error}");
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let base = tempfile::tempdir().unwrap();
    // A folder of that name cannot be replaced by a file.
    let taken = base.path().join("summary.json");
    fs::create_dir(&taken).unwrap();
    assert!(write_atomic(&taken, b"x").is_err());
    assert_eq!(names(base.path()), ["summary.json"]);
    assert!(taken.is_dir());
}

#[cfg(unix)]
#[test]
fn files_are_as_readable_as_others() {
    use std::os::unix::fs::PermissionsExt;
    let base = tempfile::tempdir().unwrap();
    let (ours, other) = (base.path().join("ours"), base.path().join("other"));
    write_atomic(&ours, b"x").unwrap();
    fs::write(&other, b"x").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&other));
}
