//! The input files of a run, with hashes of their contents.

use crate::Fault;
use crate::fault::wrong;
use crate::files::{bytes_of, text_of};
use crate::scenario::{ClosedLoop, Host, Poisson, Scenario, Traffic};
use incast_measure::InputFile;
use incast_program::{Program, Trace, chakra_file, chakra_groups_file, read_program};
use std::borrow::Cow;
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
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// SHA-256 of them, in hexadecimal digits.
    pub sha256: String,
}

impl Content {
    /// A file of these bytes, or of this text.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Content {
        let bytes = bytes.into();
        let sha256 = InputFile::of("", "", &bytes).sha256;
        Content { bytes, sha256 }
    }

    /// Its text if it is a file of text, as people write them.
    pub fn plain(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// Its text; `name` is that of the file, for messages.
    ///
    /// # Errors
    /// A file that has none.
    pub fn text(&self, name: &str) -> Result<Cow<'_, str>, Fault> {
        text_of(name, &self.bytes)
    }
}

/// Contents of input files by name, which stand for the files: nothing else is read.
pub type Contents = BTreeMap<String, Content>;

/// The files read so far, each once.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// In the order in which they were read.
    pub files: Vec<InputFile>,
    /// What was read from disk.
    own: Contents,
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
        Ok(self.read_content(name, role)?.text(name)?.into_owned())
    }

    /// Reads a program, of whatever format, and remembers its files.
    pub fn read_program(&mut self, name: &str) -> Result<Program, Fault> {
        if chakra_file(name, 0).is_some() {
            return self.read_trace(name);
        }
        read_program(name, &self.read_content(name, PROGRAM)?.bytes).map_err(Fault::from)
    }

    /// Reads the files of a trace of Chakra, of which `name` is one: those of ranks 0, 1 and so on, and that of their groups.
    fn read_trace(&mut self, name: &str) -> Result<Program, Fault> {
        let mut files = program_files(name, |file| self.has(file));
        let groups_file = chakra_groups_file(name).filter(|own| files.last() == Some(own));
        files.truncate(files.len() - usize::from(groups_file.is_some()));
        let count = files.len() as u32;
        let of = |rank| chakra_file(name, rank).expect("it is a trace's");
        if let Some(later) = (count + 1..count + LONGEST_HOLE).map(of).find(|file| self.has(file)) {
            let problem = wrong(format!("is not there, but `{later}` is"));
            return Err(Fault::new(problem.expected("a file for each rank")).placed(of(count)));
        }
        for file in &files {
            self.read_content(file, PROGRAM)?;
        }
        let groups = match &groups_file {
            None => Default::default(),
            Some(file) => serde_json::from_str(&self.read(file, PROGRAM)?).map_err(|error| {
                let problem = wrong(error.to_string())
                    .expected("ranks by name of their group, such as {\"tp\": [0, 1]}");
                Fault::new(problem).on_line(file, error.line())
            })?,
        };
        let mut trace = Trace::new(&files[0], count, groups)?;
        for file in &files {
            trace.add(file, self.content(file).expect("it was read").bytes.as_slice())?;
        }
        Ok(trace.finish()?)
    }

    /// Reads a file, from disk unless it is given, and remembers it.
    fn read_content(&mut self, name: &str, role: &str) -> Result<&Content, Fault> {
        if self.content(name).is_none() {
            if self.only_given {
                return Err(self.not_given(name));
            }
            self.own.insert(name.into(), Content::of(bytes_of(name)?));
        }
        let sha256 = self.content(name).expect("it is there by now").sha256.clone();
        self.remember(InputFile { name: name.into(), role: role.into(), sha256, copy: None });
        Ok(self.content(name).expect("as before"))
    }

    /// A file that is given or was read.
    fn content(&self, name: &str) -> Option<&Content> {
        self.given.get(name).or_else(|| self.own.get(name))
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
            Some((file.copy.as_deref()?, self.content(&file.name)?.bytes.as_slice()))
        })
    }
}

/// Where the file of a rank is missing, so many numbers behind it are looked at for one.
const LONGEST_HOLE: u32 = 64;

/// The files of a program of which one is named, as far as they are there: of a trace of Chakra those of all ranks, and that of
/// their groups.
fn program_files(name: &str, has: impl Fn(&str) -> bool) -> Vec<String> {
    let of = |rank| chakra_file(name, rank);
    let Some(first) = of(0) else { return vec![name.into()] };
    let more = (1..).map_while(of).take_while(|file| has(file));
    let groups = chakra_groups_file(name).filter(|file| has(file));
    std::iter::once(first).chain(more).chain(groups).collect()
}

/// Name and role of every file that a scenario reads, in the order in which it reads them; `has` says which other files are there.
pub fn sources(scenario: &Scenario, has: impl Fn(&str) -> bool) -> Vec<(String, &'static str)> {
    let named = |(name, role): (&str, &'static str)| {
        let files = if role == PROGRAM { program_files(name, &has) } else { vec![name.into()] };
        files.into_iter().map(move |name| (name, role))
    };
    named_sources(scenario).into_iter().flat_map(named).collect()
}

/// Name and role of every file that a scenario names.
fn named_sources(scenario: &Scenario) -> Vec<(&str, &'static str)> {
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
/// A file that cannot be read.
pub fn gather(scenario: &Scenario, contents: &mut Contents) -> Result<(), Fault> {
    let there = |name: &str| Path::new(name).is_file();
    for (name, role) in sources(scenario, |name| contents.contains_key(name) || there(name)) {
        // What is neither a table nor a file is refused with all names when the scenario is planned.
        let named = role == "workload" && !name.contains(['/', '.']) && !there(&name);
        if !named && !contents.contains_key(&name) {
            let content = Content::of(bytes_of(&name)?);
            contents.insert(name, content);
        }
    }
    Ok(())
}
