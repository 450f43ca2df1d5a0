//! Kept tables: one small CSV file per run, so that no run is repeated and an interruption costs
//! one run.

use super::EXPERIMENTS;
use super::real_time;
use super::seen::{Row, Seen};
use incast_experiment::Fault;
use incast_experiment::VERSION;
use incast_measure::Fidelity;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// Which run a table is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `ren/fig16`.
    pub experiment: String,
    /// `as_published`.
    pub set: String,
    /// Name of the run in `expected.toml`.
    pub run: String,
    /// The transport.
    pub transport: String,
    /// The seed.
    pub seed: u64,
}

impl Address {
    /// Its place below the folder of all experiments.
    pub fn path(&self) -> PathBuf {
        let Address { experiment, set, run, transport, seed } = self;
        [experiment, "kept", set, run, &format!("{transport}-{seed}.csv")].iter().collect()
    }
}

/// A table: what a run gave, and what made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What decides the results of the run: see [`incast_experiment::identity`].
    pub identity: String,
    /// Version of the program.
    pub version: String,
    /// Flows of the scenario.
    pub flows: usize,
    /// Why the run failed; then it gave nothing.
    pub error: Option<String>,
    /// Why the run, in real time, is not judged.
    pub refused: Option<String>,
    /// How faithful it was, if it was in real time.
    pub fidelity: Row,
    /// What the run gave.
    pub row: Row,
}

/// Where tables are.
#[derive(Clone, Debug)]
pub enum Store {
    /// In the program.
    Embedded,
    /// In this folder of experiments.
    Folder(PathBuf),
}

impl Store {
    /// The table of a run, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read or is no table.
    pub fn table(&self, address: &Address) -> Result<Option<Table>, Fault> {
        let path = address.path();
        match self {
            Store::Folder(folder) => Table::load(&folder.join(path)),
            Store::Embedded => {
                let text = EXPERIMENTS.get_file(&path).and_then(|file| file.contents_utf8());
                text.map(|text| Table::parse(text, &path.display().to_string())).transpose()
            }
        }
    }

    /// All tables of a run in a set, with transport and seed.
    ///
    /// # Errors
    /// A file that cannot be read or is no table.
    pub fn runs(
        &self,
        experiment: &str,
        set: &str,
        run: &str,
    ) -> Result<Vec<(String, u64, Table)>, Fault> {
        let place: PathBuf = [experiment, "kept", set, run].iter().collect();
        let mut names: Vec<String> = match self {
            Store::Embedded => {
                let files = EXPERIMENTS.get_dir(&place).into_iter().flat_map(|place| place.files());
                files.map(|file| last(file.path())).collect()
            }
            Store::Folder(folder) => {
                let entries = std::fs::read_dir(folder.join(&place)).into_iter().flatten();
                entries.filter_map(|entry| Some(last(&entry.ok()?.path()))).collect()
            }
        };
        names.sort_unstable();
        let mut tables = vec![];
        for name in names {
            let parts = name.strip_suffix(".csv").and_then(|stem| stem.rsplit_once('-'));
            let Some((transport, Ok(seed))) = parts.map(|(name, seed)| (name, seed.parse())) else {
                continue;
            };
            let (experiment, set, run) = (experiment.into(), set.into(), run.into());
            let address = Address { experiment, set, run, transport: transport.into(), seed };
            if let Some(table) = self.table(&address)? {
                tables.push((address.transport, seed, table));
            }
        }
        Ok(tables)
    }
}

/// The last part of a path.
fn last(path: &Path) -> String {
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// The tables below a folder of experiments by what made them, so that a run of another figure or set
/// that is the same is found.
#[derive(Default)]
pub struct Index(BTreeMap<(String, String), Vec<PathBuf>>);

impl Index {
    /// Reads the heads of all tables below a folder.
    ///
    /// # Errors
    /// A folder or a file that cannot be read.
    pub fn of(folder: &Path) -> Result<Index, Fault> {
        let mut all = Index::default();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(place) = folders.pop() {
            let placed = |error| Fault::new(error).placed(place.display().to_string());
            let Ok(entries) = std::fs::read_dir(&place) else { continue };
            for entry in entries {
                let path = entry.map_err(placed)?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "csv") {
                    all.read(path)?;
                }
            }
        }
        all.0.values_mut().for_each(|paths| paths.sort_unstable());
        Ok(all)
    }

    /// Adds a table; another file has no such head.
    fn read(&mut self, path: PathBuf) -> Result<(), Fault> {
        let placed = |error| Fault::new(error).placed(path.display().to_string());
        for line in BufReader::new(File::open(&path).map_err(placed)?).lines() {
            let line = line.map_err(placed)?;
            if let Some(identity) = line.strip_prefix("# identity: ") {
                let key = (last(&path), identity.to_string());
                self.0.entry(key).or_default().push(path);
                return Ok(());
            }
            if !line.starts_with('#') {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Tables with the transport and seed of `address` that were made from the same run as `identity`
    /// says, in order of their paths.
    ///
    /// # Errors
    /// A file that cannot be read or is no table.
    pub fn same(&self, address: &Address, identity: &str) -> Result<Vec<Table>, Fault> {
        let key = (last(&address.path()), identity.to_string());
        let paths = self.0.get(&key).into_iter().flatten();
        let tables: Result<Vec<_>, Fault> = paths.map(|path| Table::load(path)).collect();
        Ok(tables?.into_iter().flatten().collect())
    }
}

/// First line of the numbers.
const HEAD: &str = "measure,value,flows,list";

impl Table {
    /// The table of a run of this program.
    pub fn of(identity: String, flows: usize, row: Row) -> Table {
        let (error, refused, fidelity) = (None, None, Row::new());
        Table { identity, version: VERSION.into(), flows, error, refused, fidelity, row }
    }

    /// The same of a run in real time.
    pub fn in_real_time(self, fidelity: &Fidelity) -> Table {
        let refused = (!fidelity.refused.is_empty()).then(|| fidelity.refused.join("; "));
        Table { refused, fidelity: real_time::numbers(fidelity), ..self }
    }

    /// The table of a run that failed.
    pub fn failed(identity: String, error: &str) -> Table {
        let error = Some(error.lines().collect::<Vec<_>>().join("; "));
        Table { error, ..Table::of(identity, 0, Row::new()) }
    }

    /// As CSV. Lines that begin with `#` say what the run was.
    pub fn text(&self, address: &Address) -> String {
        let Address { experiment, set, run, transport, seed } = address;
        format!(
            "# experiment: {experiment}\n# set: {set}\n# run: {run}\n# transport: {transport}\n\
             # seed: {seed}\n{}",
            self.body()
        )
    }

    /// The same without its address.
    pub fn body(&self) -> String {
        let mut out = format!(
            "# flows: {}\n# identity: {}\n# version: {}\n",
            self.flows, self.identity, self.version
        );
        if let Some(error) = &self.error {
            out += &format!("# error: {error}\n");
        }
        if let Some(why) = &self.refused {
            out += &format!("# refused: {why}\n");
        }
        out += &format!("{HEAD}\n");
        for (id, seen) in self.fidelity.iter().chain(&self.row) {
            let value = seen.value.map_or(String::new(), |value| value.to_string());
            let list: Vec<String> = seen.list.iter().map(f64::to_string).collect();
            out += &format!("\"{id}\",{value},{:x},{}\n", seen.flows, list.join(" "));
        }
        out
    }

    /// Reads a table; `name` is what messages call it.
    ///
    /// # Errors
    /// A text that is no table, with its line.
    pub fn parse(text: &str, name: &str) -> Result<Table, Fault> {
        let fail = |line: usize, why: &str| {
            Err(Fault::new(format!("not a kept table: {why}")).placed(format!("{name}:{line}")))
        };
        let said = |key: &str| {
            let begins = format!("# {key}: ");
            text.lines().find_map(|line| line.strip_prefix(&begins)).map(str::to_string)
        };
        let (Some(identity), Some(version), Some(flows)) =
            (said("identity"), said("version"), said("flows").and_then(|n| n.parse().ok()))
        else {
            return fail(1, "expected `# identity`, `# version` and `# flows`");
        };
        let (mut row, mut fidelity) = (Row::new(), Row::new());
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let mut lines = lines.skip_while(|(_, line)| line.starts_with('#'));
        match lines.next() {
            Some((_, HEAD)) => {}
            other => return fail(other.map_or(1, |(at, _)| at), &format!("expected `{HEAD}`")),
        }
        for (at, line) in lines {
            let Some((id, seen)) = number(line) else {
                return fail(at, "expected \"measure\",value,flows,list");
            };
            let of = if real_time::is_number(&id) { &mut fidelity } else { &mut row };
            of.insert(id, seen);
        }
        let (error, refused) = (said("error"), said("refused"));
        Ok(Table { identity, version, flows, error, refused, fidelity, row })
    }

    /// Reads a file, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read or is no table.
    pub fn load(path: &Path) -> Result<Option<Table>, Fault> {
        if !path.is_file() {
            return Ok(None);
        }
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| Fault::new(error).placed(name.clone()))?;
        Table::parse(&text, &name).map(Some)
    }

    /// Writes the table below a folder, atomically.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep(&self, folder: &Path, address: &Address) -> Result<(), Fault> {
        let path = folder.join(address.path());
        let place = path.parent().expect("an address has folders");
        std::fs::create_dir_all(place)
            .map_err(|error| Fault::new(error).placed(place.display().to_string()))?;
        Ok(incast_measure::write_atomic(&path, self.text(address).as_bytes())?)
    }
}

/// One line of numbers.
fn number(line: &str) -> Option<(String, Seen)> {
    let (id, rest) = line.strip_prefix('"')?.split_once("\",")?;
    let mut parts = rest.splitn(3, ',');
    let value = match parts.next()? {
        "" => None,
        value => Some(value.parse().ok()?),
    };
    let flows = u64::from_str_radix(parts.next()?, 16).ok()?;
    let list = parts.next()?.split_whitespace().map(|one| one.parse().ok());
    Some((id.to_string(), Seen { value, flows, list: list.collect::<Option<Vec<f64>>>()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        Address {
            experiment: "ren/fig16".into(),
            set: "sensitivity/hosts".into(),
            run: "0.7".into(),
            transport: "ren".into(),
            seed: 2,
        }
    }

    #[test]
    fn a_table_reads_back_to_the_bit() {
        let mut row = Row::new();
        let list = vec![1.0 / 3.0, f64::INFINITY, 1e-300];
        row.insert(
            "backlog port=a->b,c->*".into(),
            Seen { value: Some(0.1 + 0.2), flows: 0xfeed, list },
        );
        row.insert("none".into(), Seen::default());
        let version = "1".to_string();
        let table = Table { version, ..Table::of("00ff".into(), 7, row) };
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Table::load(&folder.path().join(address().path())).unwrap(), None);
        table.keep(folder.path(), &address()).unwrap();
        let path = folder.path().join("ren/fig16/kept/sensitivity/hosts/0.7/ren-2.csv");
        assert_eq!(Table::load(&path).unwrap(), Some(table.clone()));
        // In real time, refused: with what was measured of it.
        let refused = vec!["too late".into(), "12 packets, and 10".into()];
        let fidelity = Fidelity { stalled_share: 0.1, packets: 12, refused, ..Fidelity::default() };
        let table = table.in_real_time(&fidelity);
        assert_eq!(table.refused.as_deref(), Some("too late; 12 packets, and 10"));
        assert!(table.fidelity.len() > 10 && table.row.len() == 2);
        table.keep(folder.path(), &address()).unwrap();
        assert_eq!(Table::load(&path).unwrap(), Some(table));
    }

    #[test]
    fn a_text_that_is_no_table_is_refused_with_its_line() {
        let head = "# flows: 1\n# identity: 0\n# version: 1\n";
        let known = [
            ("measure,value\n".to_string(), "x:1", "# identity"),
            (format!("{head}nonsense\n"), "x:4", "measure,value,flows,list"),
            (format!("{head}{HEAD}\n\"a\",1,0,\n\"b\",c,0,\n"), "x:6", "value"),
        ];
        for (text, place, why) in known {
            let said = Table::parse(&text, "x").unwrap_err().to_string();
            assert!(said.contains(place) && said.contains(why), "{said}");
        }
    }
}
