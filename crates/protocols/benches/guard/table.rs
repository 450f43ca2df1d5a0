//! The figures of a release: `docs/performance/VERSION.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// One case. A hop is a packet that begins transmission at some port.
#[derive(Deserialize, Clone, Default, Debug)]
#[serde(default, deny_unknown_fields)]
pub struct Row {
    /// Instructions per hop, by callgrind.
    pub instructions: Option<f64>,
    /// Events of the engine per hop.
    pub events: Option<f64>,
    /// Allocations per hop.
    pub allocations: Option<f64>,
    /// Bytes allocated per hop.
    pub bytes: Option<f64>,
    /// Most memory that the longer run holds, KiB.
    pub heap_kib: Option<f64>,
    /// Share of the bare kernel's speed in each measurement of `incast bench`.
    pub share: Vec<f64>,
    /// Peak memory of the process in `incast bench`, MiB.
    pub resident_mib: Option<f64>,
}

/// Cases by name of the transport.
pub type Rows = BTreeMap<String, Row>;

/// The figures of a release.
#[derive(Deserialize, Clone, Default, Debug)]
#[serde(default, deny_unknown_fields)]
pub struct Table {
    /// What compiled the programs.
    pub rustc: String,
    /// What counted their instructions.
    pub valgrind: String,
    /// Sizes of types in bytes.
    pub sizes: BTreeMap<String, usize>,
    /// By kind of traffic.
    pub cases: BTreeMap<String, Rows>,
}

/// The release that this is or will be.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION").split('-').next().expect("splitting gives one part at least")
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance"))
}

/// The file of a release in the repository, for messages.
pub fn file(version: &str) -> String {
    format!("docs/performance/{version}.toml")
}

impl Table {
    /// All releases that have a table, the oldest first.
    pub fn all() -> Vec<(String, Table)> {
        let files = std::fs::read_dir(folder()).expect("docs/performance is there");
        let mut all: Vec<(String, Table)> = files
            .filter_map(|file| {
                let path = file.expect("an entry of a folder").path();
                let version = path.file_name()?.to_str()?.strip_suffix(".toml")?.to_string();
                Some((version.clone(), Table::read(&version)?))
            })
            .collect();
        let number = |version: &str| -> Vec<u32> {
            version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
        };
        all.sort_by_key(|(version, _)| number(version));
        all
    }

    /// That of a release, if it has one.
    pub fn read(version: &str) -> Option<Table> {
        let text = std::fs::read_to_string(folder().join(format!("{version}.toml"))).ok()?;
        Some(toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file(version))))
    }

    /// Makes it that of a release.
    pub fn write(&self, version: &str) {
        let path = folder().join(format!("{version}.toml"));
        std::fs::write(path, self.text())
            .unwrap_or_else(|error| panic!("{}: {error}", file(version)));
    }

    /// A row, if it is there.
    pub fn row(&self, kind: &str, transport: &str) -> Option<&Row> {
        self.cases.get(kind)?.get(transport)
    }

    fn text(&self) -> String {
        let mut out = String::from("# Written by `make bench`; docs/performance.md explains it.\n");
        let _ = writeln!(out, "rustc = {:?}\nvalgrind = {:?}", self.rustc, self.valgrind);
        out += "\n[sizes]\n";
        for (name, bytes) in &self.sizes {
            let _ = writeln!(out, "{name} = {bytes}");
        }
        for (kind, rows) in &self.cases {
            let _ = writeln!(out, "\n[cases.{kind}]");
            for (transport, row) in rows {
                let _ = writeln!(out, "{transport} = {{ {} }}", row.text());
            }
        }
        out
    }
}

impl Row {
    /// As a line of the table.
    pub fn text(&self) -> String {
        let mut parts = vec![];
        let mut part = |name, value: Option<f64>, digits| {
            parts.extend(value.map(|value| format!("{name} = {value:.digits$}")));
        };
        part("instructions", self.instructions, 1);
        part("events", self.events, 4);
        part("allocations", self.allocations, 5);
        part("bytes", self.bytes, 2);
        part("heap_kib", self.heap_kib, 0);
        part("resident_mib", self.resident_mib, 0);
        if !self.share.is_empty() {
            let shares: Vec<String> =
                self.share.iter().map(|share| format!("{share:.3}")).collect();
            parts.push(format!("share = [{}]", shares.join(", ")));
        }
        parts.join(", ")
    }
}
