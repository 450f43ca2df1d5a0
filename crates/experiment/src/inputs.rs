//! The input files of a run, with hashes of their contents.

use crate::Fault;
use crate::files::{bytes_of, text_of};
use crate::scenario::{ClosedLoop, Host, Poisson, Scenario, Traffic};
use incast_measure::InputFile;
use incast_program::{Program, read_program};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The role of a file of what hosts take.
pub(crate) const HOST_DELAYS: &str = "host delays";
/// The role of a file that ranks run.
const PROGRAM: &str = "program";

/// The content of an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its text.
    pub text: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

impl Content {
    /// A file of this text.
    pub fn of(text: String) -> Content {
        let sha256 = InputFile::of("", "", text.as_bytes()).sha256;
        Content { text, sha256 }
    }
}

/// Contents of input files by name, which stand for the files: nothing else is read.
pub type Contents = BTreeMap<String, Content>;

/// The files read so far, each once.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// In the order in which they were read.
    pub files: Vec<InputFile>,
    /// Bytes of the files that were read from disk, by name.
    bytes: BTreeMap<String, Vec<u8>>,
    /// What stands for files.
    given: Arc<Contents>,
    /// Nothing but what is given can be read.
    only_given: bool,
}

impl Inputs {
    /// None read yet; all that can be read is `given`.
    pub fn of(given: Arc<Contents>) -> Inputs {
        Inputs { given, only_given: true, ..Inputs::default() }
    }

    /// None read yet; `given` stands for the files of these names.
    pub fn beside(given: Arc<Contents>) -> Inputs {
        Inputs { given, ..Inputs::default() }
    }

    /// Whether there is a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.given.contains_key(name) || !self.only_given && Path::new(name).is_file()
    }

    /// Reads a text file and remembers it.
    pub fn read(&mut self, name: &str, role: &str) -> Result<String, Fault> {
        match self.given.get(name) {
            Some(content) => {
                let (text, sha256) = (content.text.clone(), content.sha256.clone());
                self.remember(InputFile {
                    name: name.into(),
                    role: role.into(),
                    sha256,
                    copy: None,
                });
                Ok(text)
            }
            None => text_of(name, self.read_bytes(name, role)?.to_vec()),
        }
    }

    /// Reads a program, of text or binary, and remembers its file.
    pub fn read_program(&mut self, name: &str) -> Result<Program, Fault> {
        let program = match self.given.contains_key(name) {
            true => read_program(name, self.read(name, PROGRAM)?.as_bytes()),
            false => read_program(name, self.read_bytes(name, PROGRAM)?),
        };
        program.map_err(Fault::from)
    }

    /// Reads a file from disk and remembers it.
    fn read_bytes(&mut self, name: &str, role: &str) -> Result<&[u8], Fault> {
        if self.only_given {
            return Err(self.not_given(name));
        }
        let bytes = bytes_of(name)?;
        self.remember(InputFile::of(name, role, &bytes));
        self.bytes.insert(name.into(), bytes);
        Ok(&self.bytes[name])
    }

    fn remember(&mut self, mut file: InputFile) {
        let read = |known: &InputFile| known.name == file.name && known.role == file.role;
        if !self.files.iter().any(read) {
            let base = Path::new(&file.name)
                .file_name()
                .map_or("file".into(), |own| own.to_string_lossy());
            file.copy = Some(format!("inputs/{}-{base}", self.files.len()));
            self.files.push(file);
        }
    }

    fn not_given(&self, name: &str) -> Fault {
        let known: Vec<&str> = self.given.keys().map(String::as_str).collect();
        let problem = match known.as_slice() {
            [] => "is not with this scenario, which came without input files".into(),
            known => format!("is not with this scenario; with it are {}", known.join(", ")),
        };
        Fault::new(problem).placed(name)
    }

    /// The bytes of each file that was read, with the path of its copy in a results folder.
    pub fn copies(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().filter_map(|file| {
            let given = || {
                let bytes = self.given.get(&file.name)?.text.as_bytes();
                // Of a table there is only the text here.
                (InputFile::of("", "", bytes).sha256 == file.sha256).then_some(bytes)
            };
            let bytes = self.bytes.get(&file.name).map(Vec::as_slice).or_else(given)?;
            Some((file.copy.as_deref()?, bytes))
        })
    }
}

/// Name and role of every file that a scenario reads, in the order in which it reads them.
pub fn sources(scenario: &Scenario) -> Vec<(&str, &'static str)> {
    let mut all: Vec<(&str, &'static str)> = vec![];
    if let (None, Some(file)) = (&scenario.fabric.topology, &scenario.fabric.file) {
        all.push((file, "topology"));
    }
    for entry in &scenario.traffic {
        match entry {
            Traffic::FlowFile(own) => all.push((&own.file, "flows")),
            Traffic::Program(own) => {
                all.push((&own.file, PROGRAM));
                all.extend(own.placement_file.as_deref().map(|file| (file, "placement")));
            }
            Traffic::Poisson(Poisson { workload, .. })
            | Traffic::ClosedLoop(ClosedLoop { workload, .. })
                if incast_workload::table(workload).is_err() =>
            {
                all.push((workload, "workload"));
            }
            _ => {}
        }
    }
    for job in &scenario.job {
        all.extend(job.program.as_deref().map(|file| (file, PROGRAM)));
        all.extend(job.placement_file.as_deref().map(|file| (file, "placement")));
    }
    all.extend(scenario.transport.paths.as_deref().map(|file| (file, "paths")));
    all.extend(scenario.host.iter().flat_map(Host::files).map(|file| (file, HOST_DELAYS)));
    let mut once: Vec<(&str, &'static str)> = vec![];
    all.into_iter().for_each(|one| {
        if !once.contains(&one) {
            once.push(one)
        }
    });
    once
}

/// Adds the contents of the files that a scenario reads.
///
/// # Errors
/// A file that cannot be read, or is not text.
pub fn gather(scenario: &Scenario, contents: &mut Contents) -> Result<(), Fault> {
    for (name, role) in sources(scenario) {
        // What is neither a table nor a file is refused with all names when the scenario is planned.
        let named = role == "workload" && !name.contains(['/', '.']) && !Path::new(name).is_file();
        if !named && !contents.contains_key(name) {
            let bytes = bytes_of(name)?;
            let sha256 = InputFile::of(name, role, &bytes).sha256;
            contents.insert(name.into(), Content { text: text_of(name, bytes)?, sha256 });
        }
    }
    Ok(())
}
