//! Invalid input as data: where it was written, which key, which value, what is accepted and the
//! nearest valid name. A sentence is made of it only where it is shown.

use std::convert::Infallible;
use std::fmt;

/// What is wrong with a value: more than that in words, what is accepted, and the nearest valid
/// name.
///
/// Whatever can be displayed is a problem of which no more is known. So it is not displayed itself:
/// a [`Fault`] is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    what: String,
    accepted: Option<String>,
    suggestion: Option<String>,
}

/// A value that is not accepted; `accepted` are those that are, such as "0 to 1".
pub fn expected(accepted: impl fmt::Display) -> Problem {
    Problem { accepted: Some(accepted.to_string()), ..Problem::default() }
}

/// What is wrong, in words.
pub fn wrong(what: impl fmt::Display) -> Problem {
    Problem { what: what.to_string(), ..Problem::default() }
}

impl Problem {
    /// The same with what is accepted instead.
    #[must_use]
    pub fn expected(self, accepted: impl fmt::Display) -> Problem {
        Problem { accepted: Some(accepted.to_string()), ..self }
    }

    /// The same with another choice beside what is accepted, such as "or `auto`".
    #[must_use]
    pub fn or(self, other: &str) -> Problem {
        Problem { accepted: self.accepted.map(|accepted| format!("{accepted}, {other}")), ..self }
    }

    /// The same with the name that may have been meant, if there is one.
    #[must_use]
    pub fn meant<'a>(self, name: impl Into<Option<&'a str>>) -> Problem {
        Problem { suggestion: name.into().map(str::to_string), ..self }
    }

    /// The same about a part of the value, which stands before it.
    #[must_use]
    pub fn in_part(self, part: &impl fmt::Display) -> Problem {
        let colon = if self.what.is_empty() { "" } else { ": " };
        Problem { what: format!("{part}{colon}{}", self.what), ..self }
    }

    /// All of it in words.
    pub fn sentence(&self) -> String {
        let accepted = self.accepted.as_ref().map(|accepted| format!("expected {accepted}"));
        let parts = [Some(self.what.clone()).filter(|what| !what.is_empty()), accepted];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let meant = self.suggestion.as_ref().map(|name| format!("; did you mean `{name}`?"));
        parts.join(": ") + &meant.unwrap_or_default()
    }
}

impl<T: fmt::Display> From<T> for Problem {
    fn from(what: T) -> Problem {
        wrong(what)
    }
}

/// Invalid input, or results that could not be written.
///
/// Prints as `place: key = `value`: problem`, without the parts that are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    file: String,
    line: Option<usize>,
    key: Option<String>,
    value: Option<String>,
    problem: Problem,
    notes: Vec<String>,
    unwritten: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}: ", self.place())?;
        }
        match (&self.key, &self.value) {
            (Some(key), Some(value)) if value.is_empty() => write!(f, "{key} is missing: ")?,
            (Some(key), Some(value)) => write!(f, "{key} = `{value}`: ")?,
            (Some(key), None) => write!(f, "{key}: ")?,
            (None, Some(value)) => write!(f, "`{value}`: ")?,
            (None, None) => {}
        }
        f.write_str(&self.problem())
    }
}
impl std::error::Error for Fault {}

impl Fault {
    /// About no key in particular.
    pub fn new(problem: impl Into<Problem>) -> Fault {
        Fault {
            file: String::new(),
            line: None,
            key: None,
            value: None,
            problem: problem.into(),
            notes: vec![],
            unwritten: false,
        }
    }

    /// Results could not be written, which is not for what a user wrote.
    pub fn unwritten(problem: impl Into<Problem>) -> Fault {
        Fault { unwritten: true, ..Fault::new(problem) }
    }

    /// About a key, such as `fabric.pfc` or `traffic.0`.
    pub fn at(key: impl Into<String>, problem: impl Into<Problem>) -> Fault {
        Fault { key: Some(key.into()), ..Fault::new(problem) }
    }

    /// About the value of a key; it is empty if it is missing.
    pub fn value(
        key: impl Into<String>,
        value: impl fmt::Display,
        problem: impl Into<Problem>,
    ) -> Fault {
        Fault { value: Some(value.to_string()), ..Fault::at(key, problem) }
    }

    /// About a text of which the key is not known here.
    pub fn text(text: impl fmt::Display, problem: impl Into<Problem>) -> Fault {
        Fault { value: Some(text.to_string()), ..Fault::new(problem) }
    }

    /// Whether results could not be written.
    pub fn is_unwritten(&self) -> bool {
        self.unwritten
    }

    /// The key that it is about.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The value as written by the user.
    pub fn written(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// What is wrong in words, without place, key and value.
    pub fn problem(&self) -> String {
        let notes = self.notes.iter().map(|note| format!(" ({note})"));
        self.problem.sentence() + &notes.collect::<String>()
    }

    /// What is wrong, without place, key and value.
    pub fn into_problem(self) -> Problem {
        self.problem
    }

    /// The problem of something whose part `name` is wrong: name and value stand before it.
    pub fn in_part(self, name: &str) -> Problem {
        match &self.value {
            Some(value) => self.problem.clone().in_part(&format!("{name} `{value}`")),
            None => self.problem.in_part(&name),
        }
    }

    /// The file or option where it was written; empty if that is not known.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line of the file, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Where it was written: a file, a file and line, an option; empty if that is not known.
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }

    /// What is accepted instead, such as "0 to 1", if that is known.
    pub fn accepted(&self) -> Option<&str> {
        self.problem.accepted.as_deref()
    }

    /// The nearest valid name, if there is one.
    pub fn suggestion(&self) -> Option<&str> {
        self.problem.suggestion.as_deref()
    }

    /// The same, read from a file, or given by an option. What has a place keeps it.
    #[must_use]
    pub fn placed(self, file: impl Into<String>) -> Fault {
        match self.file.is_empty() {
            true => Fault { file: file.into(), ..self },
            false => self,
        }
    }

    /// The same, read from a line of a file. What has a place keeps it.
    #[must_use]
    pub fn on_line(self, file: impl Into<String>, line: usize) -> Fault {
        match self.file.is_empty() {
            true => Fault { file: file.into(), line: Some(line), ..self },
            false => self,
        }
    }

    /// The same about a file that a key names: what is wrong in the file, or with it, follows key and name.
    #[must_use]
    pub fn in_file(self, key: impl Into<String>, file: &str) -> Fault {
        match self.key {
            Some(_) => self,
            None => self.within(key, Some(file.to_string())),
        }
    }

    /// The same about a key in which it was found: what was known before becomes part of the words.
    fn within(self, key: impl Into<String>, value: Option<String>) -> Fault {
        let inner = Fault { problem: Problem::default(), notes: vec![], ..self.clone() };
        let what = inner.to_string() + &self.problem.what;
        let what = if self.problem.what.is_empty() { what.trim_end_matches(": ") } else { &what };
        let problem = Problem { what: what.to_string(), ..self.problem };
        let (key, file, line) = (Some(key.into()), String::new(), None);
        Fault { file, line, key, value, problem, ..self }
    }

    /// The same about this key, if it is about none yet; else what it says is about a part of it.
    #[must_use]
    pub fn of(self, key: impl Into<String>) -> Fault {
        match (&self.key, self.file.is_empty()) {
            (None, true) => Fault { key: Some(key.into()), ..self },
            _ => self.within(key, None),
        }
    }

    /// The same with another choice beside what is accepted.
    #[must_use]
    pub fn or(self, other: &str) -> Fault {
        Fault { problem: self.problem.or(other), ..self }
    }

    /// The same with a remark appended.
    #[must_use]
    pub fn noted(mut self, note: &str) -> Fault {
        self.notes.push(note.into());
        self
    }

    /// The same with the name of the key as the user wrote it, such as `--load`.
    #[must_use]
    pub fn called(self, name: impl Into<String>) -> Fault {
        Fault { key: Some(name.into()), ..self }
    }

    /// The same with its key below another: `gain` below `dctcp` is `dctcp.gain`.
    #[must_use]
    pub fn below(self, path: &str) -> Fault {
        let key = self.key.map_or(path.to_string(), |key| format!("{path}.{key}"));
        Fault { key: Some(key), ..self }
    }

    /// The same without key and value, which stand in its place.
    #[must_use]
    pub fn bare(self) -> Fault {
        Fault { key: None, value: None, ..self }
    }

    /// The same about other words.
    #[must_use]
    pub fn saying(self, what: impl FnOnce(&str) -> String) -> Fault {
        let problem = Problem { what: what(&self.problem.what), ..self.problem };
        Fault { problem, ..self }
    }
}

impl From<Infallible> for Fault {
    fn from(never: Infallible) -> Fault {
        match never {}
    }
}

/// The valid name that is nearest to a text, if one is near enough to be a slip of the pen. Case does
/// not count.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&text, &name.to_lowercase());
    let scored = names.into_iter().map(|name| (distance(name), name));
    let (_, name) = scored.min().filter(|(distance, name)| *distance <= 2.max(name.len() / 3))?;
    Some(name)
}

/// One of some names, of which the text is none.
pub fn one_of<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Problem {
    let names: Vec<&str> = names.into_iter().collect();
    expected(format!("one of {}", names.join(", "))).meant(nearest(text, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_said_with_what_is_known() {
        let gain = Fault::value("dctcp.gain", 2, expected("0 < gain <= 1"));
        assert_eq!(gain.to_string(), "dctcp.gain = `2`: expected 0 < gain <= 1");
        let placed = gain.on_line("a.toml", 7).noted("a note");
        assert_eq!(
            placed.to_string(),
            "a.toml:7: dctcp.gain = `2`: expected 0 < gain <= 1 (a note)"
        );
        assert_eq!((placed.file(), placed.line()), ("a.toml", Some(7)));
        assert_eq!(placed.accepted(), Some("0 < gain <= 1"));
        let name = Fault::at("topolgy", one_of("topolgy", ["topology", "rate"]));
        assert_eq!(
            name.to_string(),
            "topolgy: expected one of topology, rate; did you mean `topology`?"
        );
        assert_eq!(name.suggestion(), Some("topology"));
        assert_eq!(Fault::new("no").to_string(), "no");
        assert_eq!(
            Fault::text("5", wrong("no unit").expected("ps")).to_string(),
            "`5`: no unit: expected ps"
        );
    }

    /// What is known is kept where a fault is found in what another key names.
    #[test]
    fn a_fault_in_a_file_keeps_what_is_accepted() {
        let inner = Fault::value("size", "x", expected("a number")).on_line("f.csv", 3);
        let outer = inner.clone().of("traffic.0.file");
        assert_eq!(outer.to_string(), "traffic.0.file: f.csv:3: size = `x`: expected a number");
        assert_eq!(outer.accepted(), Some("a number"));
        let missing =
            Fault::new("could not read").placed("f.csv").in_file("traffic.0.file", "f.csv");
        assert_eq!(missing.to_string(), "traffic.0.file = `f.csv`: f.csv: could not read");
        assert_eq!(inner.clone().in_file("key", "f.csv"), inner);
    }

    #[test]
    fn near_names_are_found() {
        let names = ["topology", "rate"];
        assert_eq!(nearest("Topolgy", names), Some("topology"));
        assert_eq!(nearest("nothing", names), None);
    }
}
