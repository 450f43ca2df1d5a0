//! Two or more folders of one study, filled on different machines or from different states of its
//! file, become one.

use crate::differing::differing;
use crate::row::{Row, Times};
use crate::store::{Label, Store};
use crate::study::Study;
use incast_experiment::Fault;
use incast_experiment::fault::{expected, wrong};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::{Table, Value};

/// What was joined.
#[derive(Debug)]
pub struct Joined {
    /// The study with the values, seeds, transports and variants of all.
    pub study: Arc<Study>,
    /// Its folder.
    pub store: Arc<Store>,
    /// Rows that the folder did not have.
    pub added: usize,
    /// Rows that several folders have, equal in each.
    pub same: usize,
}

/// Joins folders of one study into `out`, or into the first. Rows that several have must be equal;
/// then table and page are written.
///
/// # Errors
/// A folder of another study or of another version of results; a row that is not the same in two
/// folders; what the system says. Then no row has been added.
pub fn join(folders: &[PathBuf], out: Option<&Path>) -> Result<Joined, Fault> {
    let [first, others @ ..] = folders else {
        return Err(Fault::new(expected("at least two folders to join")));
    };
    if others.is_empty() {
        return Err(Fault::new(expected("at least two folders to join")));
    }
    let (base, label) = Store::labelled(first)?;
    let mut merged = table(first)?;
    let mut stores = vec![base];
    for folder in others {
        let (store, other) = Store::labelled(folder)?;
        agree(first, &label, folder, &other)?;
        merge_study(&mut merged, table(folder)?)
            .map_err(|fault| fault.placed(folder.display().to_string()))?;
        stores.push(store);
    }
    let text = toml::to_string(&merged).map_err(Fault::new)?;
    let study = Arc::new(Study::parse(&text, "the joined study", &[])?);
    let (rows, same) = rows(&stores)?;
    let store = Arc::new(Store::open(out.unwrap_or(first), &study)?);
    let mut added = 0;
    for (_, row) in rows {
        match store.row(&row.hash)? {
            Some(own) if !equal(&own, &row) => {
                return Err(conflict(&row, store.dir(), store.dir()));
            }
            Some(_) => {}
            None => {
                store.add(&row)?;
                added += 1;
            }
        }
    }
    crate::gather(&study, &store, true)?;
    Ok(Joined { study, store, added, same })
}

/// The rows of all, each once, and how many more there were.
fn rows(stores: &[Store]) -> Result<(Vec<(PathBuf, Row)>, usize), Fault> {
    let mut all: std::collections::BTreeMap<String, (PathBuf, Row)> = Default::default();
    let mut same = 0;
    for store in stores {
        for (hash, row) in store.rows()? {
            match all.get(&hash) {
                Some((place, own)) if !equal(own, &row) => {
                    return Err(conflict(&row, place, store.dir()));
                }
                Some(_) => same += 1,
                None => {
                    all.insert(hash, (store.dir().into(), row));
                }
            }
        }
    }
    Ok((all.into_values().collect(), same))
}

/// Whether rows are the same apart from what they took.
fn equal(a: &Row, b: &Row) -> bool {
    let timeless = |row: &Row| Row { times: Times::default(), ..row.clone() };
    timeless(a) == timeless(b)
}

fn conflict(row: &Row, first: &Path, second: &Path) -> Fault {
    let Row { hash, transport, seed, .. } = row;
    let problem = wrong(format!(
        "the row of {transport}, seed {seed}, differs between {} and {}, and both say that they are \
         results of one version: rows/{hash}.json",
        first.display(),
        second.display()
    ));
    let accepted = "equal rows - remove the wrong one, and the next `incast study` runs it again";
    Fault::new(problem.expected(accepted))
}

/// Refuses folders that cannot be one.
fn agree(first: &Path, own: &Label, folder: &Path, other: &Label) -> Result<(), Fault> {
    let place = folder.display().to_string();
    let versions = [
        ("results of version", own.engine.to_string(), other.engine.to_string()),
        ("rows of incast", own.incast.clone(), other.incast.clone()),
    ];
    if let Some((what, own, other)) = versions.iter().find(|(_, own, other)| own != other) {
        let problem = wrong(format!("has {what} {other}, and {} has {own}", first.display()));
        return Err(Fault::new(problem.expected("folders of one version")).placed(place));
    }
    let Some(keys) = own.differs(other) else { return Ok(()) };
    let problem = wrong(format!(
        "is of another study than {}: they differ in {keys}",
        first.display()
    ))
    .expected(
        "the same scenario, with other values of the same varied keys, other seeds or other \
                 transports",
    );
    Err(Fault::new(problem).placed(place))
}

/// The study of a folder, its seeds listed and its input files where they are.
fn table(folder: &Path) -> Result<Table, Fault> {
    let path = folder.join("study.toml");
    let placed = |problem: String| Fault::new(problem).placed(path.display().to_string());
    let study = Study::load_up_to(&path, &[], usize::MAX)?;
    let text = std::fs::read_to_string(&path).map_err(|error| placed(error.to_string()))?;
    let mut table: Table = toml::from_str(&text).map_err(|error| placed(error.to_string()))?;
    let folder = folder.canonicalize().map_err(|error| placed(error.to_string()))?;
    let section = table.entry("study").or_insert_with(|| Table::new().into());
    let section = section.as_table_mut().expect("a section is a table");
    if study.repeat().is_none() {
        let seeds = study.seeds().iter().map(|seed| Value::from(*seed as i64)).collect::<Vec<_>>();
        section.insert("seeds".into(), seeds.into());
    }
    if let Some(files) = section.get_mut("files").and_then(Value::as_table_mut) {
        for (_, file) in files.iter_mut() {
            let own = folder.join(file.as_str().unwrap_or_default());
            *file = own.display().to_string().into();
        }
    }
    Ok(table)
}

/// Adds the values, seeds, transports and variants of another study of the family.
fn merge_study(own: &mut Table, other: Table) -> Result<(), Fault> {
    for (key, value) in other {
        match key.as_str() {
            "study" => {
                let section = own.entry(key).or_insert_with(|| Table::new().into());
                let (Value::Table(section), Value::Table(value)) = (section, value) else {
                    continue;
                };
                merge_section(section, value)?;
            }
            "transport" => {
                let own = own.entry(key).or_insert_with(|| Table::new().into());
                merge(own, value, "transport")?;
            }
            "run" => {
                // Seeds are listed, and threads change nothing.
                let without = |value: Option<&Value>| {
                    let mut run = value.and_then(Value::as_table).cloned().unwrap_or_default();
                    run.retain(|key, _| key != "seed" && key != "threads");
                    serde_json::to_value(run).expect("plain data becomes JSON")
                };
                let keys = differing(&without(own.get("run")), &without(Some(&value)), "run");
                if let Some(key) = keys.first() {
                    return Err(Fault::at(
                        key,
                        wrong("differs between the two studies").expected("the same value"),
                    ));
                }
            }
            // The family is the same: only what varies can differ here.
            _ => {
                own.entry(key).or_insert(value);
            }
        }
    }
    Ok(())
}

fn merge_section(own: &mut Table, other: Table) -> Result<(), Fault> {
    let zipped: Vec<Vec<String>> = groups(own);
    if groups(&other) != zipped {
        return Err(Fault::at("study.zip", wrong("differs").expected("the same groups in both")));
    }
    for (key, value) in other {
        match key.as_str() {
            "vary" => {
                let vary = own.entry(key).or_insert_with(|| Table::new().into());
                let (Value::Table(vary), Value::Table(value)) = (vary, value) else { continue };
                merge_values(vary, &value, &zipped)?;
            }
            "files" => merge_files(own, value)?,
            "baseline" | "reports" => {
                own.entry(key).or_insert(value);
            }
            _ => {
                let path = format!("study.{key}");
                match own.get_mut(&key) {
                    None => {
                        own.insert(key, value);
                    }
                    Some(mine) => merge(mine, value, &path)?,
                }
            }
        }
    }
    Ok(())
}

/// Keys that advance together.
fn groups(section: &Table) -> Vec<Vec<String>> {
    let lists = section.get("zip").and_then(Value::as_array).into_iter().flatten();
    let texts = |list: &Value| {
        let all = list.as_array().into_iter().flatten();
        all.filter_map(|key| Some(key.as_str()?.to_string())).collect()
    };
    lists.map(texts).collect()
}

/// Adds values of varied keys; those of keys that advance together stay together.
fn merge_values(own: &mut Table, other: &Table, zipped: &[Vec<String>]) -> Result<(), Fault> {
    let alone = own.keys().filter(|key| !zipped.iter().flatten().any(|one| one == *key));
    let mut all: Vec<Vec<String>> = alone.map(|key| vec![key.clone()]).collect();
    all.extend(zipped.iter().cloned());
    for group in all {
        let column = |table: &Table, key: &str| {
            let list = table.get(key).and_then(Value::as_array).cloned();
            list.ok_or_else(|| Fault::at(format!("study.vary.{key}"), expected("a list in both")))
        };
        let columns = |table: &Table| {
            group.iter().map(|key| column(table, key)).collect::<Result<Vec<_>, Fault>>()
        };
        let (mut mine, more) = (columns(own)?, columns(other)?);
        let row = |columns: &[Vec<Value>], at: usize| {
            columns.iter().map(|list| list[at].clone()).collect::<Vec<_>>()
        };
        for at in 0..more[0].len() {
            let new = row(&more, at);
            if (0..mine[0].len()).all(|known| row(&mine, known) != new) {
                mine.iter_mut().zip(new).for_each(|(list, value)| list.push(value));
            }
        }
        for (key, list) in group.iter().zip(mine) {
            own.insert(key.clone(), Value::Array(list));
        }
    }
    Ok(())
}

/// Adds input files; one of the same name must have the same content.
fn merge_files(own: &mut Table, other: Value) -> Result<(), Fault> {
    let files = own.entry("files").or_insert_with(|| Table::new().into());
    let (Value::Table(files), Value::Table(other)) = (files, other) else { return Ok(()) };
    for (name, path) in other {
        let read = |path: &Value| std::fs::read(path.as_str().unwrap_or_default()).ok();
        match files.get(&name) {
            None => {
                files.insert(name, path);
            }
            Some(mine) if read(mine) == read(&path) => {}
            Some(_) => {
                let problem = wrong("another content in the two studies").expected("the same file");
                return Err(Fault::at(format!("study.files.{name}"), problem));
            }
        }
    }
    Ok(())
}

/// Joins lists, and tables key by key; all else must be equal.
fn merge(own: &mut Value, other: Value, path: &str) -> Result<(), Fault> {
    match (own, other) {
        (Value::Table(own), Value::Table(other)) => {
            other.into_iter().try_for_each(|(key, value)| {
                let path = format!("{path}.{key}");
                match own.get_mut(&key) {
                    // A variant or the parameters of a transport are one thing.
                    Some(mine) if path.matches('.').count() >= 2 && *mine != value => {
                        let problem = format!("`{mine}` in one study and `{value}` in the other");
                        Err(Fault::at(path, problem))
                    }
                    Some(mine) => merge(mine, value, &path),
                    None => {
                        own.insert(key, value);
                        Ok(())
                    }
                }
            })
        }
        (Value::Array(own), Value::Array(other)) => {
            for value in other {
                if !own.contains(&value) {
                    own.push(value);
                }
            }
            Ok(())
        }
        (own, other) if *own == other => Ok(()),
        (own, other) => {
            let problem = format!("`{own}` in one study and `{other}` in the other");
            Err(Fault::at(path, problem))
        }
    }
}
