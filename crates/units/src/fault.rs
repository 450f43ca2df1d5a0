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
        let what = Some(self.what.clone()).filter(|what| !what.is_empty());
        // A list of what is accepted may be long: the likely answer stands before it.
        let meant = self.suggestion.as_ref().map(|name| format!("did you mean `{name}`?"));
        let expected = match (&meant, &self.accepted) {
            (Some(meant), Some(accepted)) => Some(format!("{meant} Expected {accepted}")),
            (None, Some(accepted)) => Some(format!("expected {accepted}")),
            (meant, None) => meant.clone(),
        };
        what.into_iter().chain(expected).collect::<Vec<String>>().join(": ")
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
pub struct Fault(Box<Parts>);

/// What is known; in a box, so that results with a fault stay small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
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
        if !self.0.file.is_empty() {
            write!(f, "{}: ", self.place())?;
        }
        match (self.key(), self.written()) {
            (Some(key), Some("")) => write!(f, "{key} is missing: ")?,
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
        Fault(Box::new(Parts { problem: problem.into(), ..Parts::default() }))
    }

    /// Results could not be written, which is not for what a user wrote.
    pub fn unwritten(problem: impl Into<Problem>) -> Fault {
        Fault::new(problem).with(|parts| parts.unwritten = true)
    }

    /// About a key, such as `fabric.pfc` or `traffic.0`.
    pub fn at(key: impl Into<String>, problem: impl Into<Problem>) -> Fault {
        Fault::new(problem).called(key)
    }

    /// About the value of a key; it is empty if it is missing.
    pub fn value(
        key: impl Into<String>,
        value: impl fmt::Display,
        problem: impl Into<Problem>,
    ) -> Fault {
        Fault::text(value, problem).called(key)
    }

    /// About a text of which the key is not known here.
    pub fn text(text: impl fmt::Display, problem: impl Into<Problem>) -> Fault {
        Fault::new(problem).with(|parts| parts.value = Some(text.to_string()))
    }

    fn with(mut self, change: impl FnOnce(&mut Parts)) -> Fault {
        change(&mut self.0);
        self
    }

    /// Whether results could not be written.
    pub fn is_unwritten(&self) -> bool {
        self.0.unwritten
    }

    /// The key that it is about.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The value as written by the user.
    pub fn written(&self) -> Option<&str> {
        self.0.value.as_deref()
    }

    /// What is wrong in words, without place, key and value.
    pub fn problem(&self) -> String {
        let notes = self.0.notes.iter().map(|note| format!(" ({note})"));
        self.0.problem.sentence() + &notes.collect::<String>()
    }

    /// What is wrong, without place, key and value.
    pub fn into_problem(self) -> Problem {
        self.0.problem
    }

    /// The problem of something whose part `name` is wrong: name and value stand before it.
    pub fn in_part(self, name: &str) -> Problem {
        match self.written() {
            Some(value) => {
                let part = format!("{name} `{value}`");
                self.into_problem().in_part(&part)
            }
            None => self.into_problem().in_part(&name),
        }
    }

    /// The file or option where it was written; empty if that is not known.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// The line of the file, from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// Where it was written: a file, a file and line, an option; empty if that is not known.
    pub fn place(&self) -> String {
        match self.0.line {
            Some(line) => format!("{}:{line}", self.0.file),
            None => self.0.file.clone(),
        }
    }

    /// What is accepted instead, such as "0 to 1", if that is known.
    pub fn accepted(&self) -> Option<&str> {
        self.0.problem.accepted.as_deref()
    }

    /// The nearest valid name, if there is one.
    pub fn suggestion(&self) -> Option<&str> {
        self.0.problem.suggestion.as_deref()
    }

    /// The same, read from a file, or given by an option. What has a place keeps it.
    #[must_use]
    pub fn placed(self, file: impl Into<String>) -> Fault {
        match self.0.file.is_empty() {
            true => self.with(|parts| parts.file = file.into()),
            false => self,
        }
    }

    /// The same, read from a line of a file. What has a place keeps it.
    #[must_use]
    pub fn on_line(self, file: impl Into<String>, line: usize) -> Fault {
        match self.0.file.is_empty() {
            true => self.with(|parts| (parts.file, parts.line) = (file.into(), Some(line))),
            false => self,
        }
    }

    /// The same about a file that a key names: what is wrong in the file, or with it, follows key and name.
    #[must_use]
    pub fn in_file(self, key: impl Into<String>, file: &str) -> Fault {
        match self.key() {
            Some(_) => self,
            None => self.within(key, Some(file.to_string())),
        }
    }

    /// The same about a key in which it was found: what was known before becomes part of the words.
    fn within(self, key: impl Into<String>, value: Option<String>) -> Fault {
        let known = self.clone().with(|parts| {
            (parts.problem, parts.notes) = (Problem::default(), vec![]);
        });
        let known = known.to_string();
        self.with(|parts| {
            let own = &mut parts.problem.what;
            *own = match own.is_empty() {
                true => known.trim_end_matches(": ").to_string(),
                false => known + own,
            };
            (parts.file, parts.line) = (String::new(), None);
            (parts.key, parts.value) = (Some(key.into()), value);
        })
    }

    /// The same about this key, if it is about none yet; else what it says is about a part of it.
    #[must_use]
    pub fn of(self, key: impl Into<String>) -> Fault {
        match (self.key(), self.0.file.is_empty()) {
            (None, true) => self.called(key),
            _ => self.within(key, None),
        }
    }

    /// The same with another choice beside what is accepted.
    #[must_use]
    pub fn or(self, other: &str) -> Fault {
        self.with(|parts| parts.problem = std::mem::take(&mut parts.problem).or(other))
    }

    /// The same with a remark appended.
    #[must_use]
    pub fn noted(self, note: &str) -> Fault {
        self.with(|parts| parts.notes.push(note.into()))
    }

    /// The same with the name of the key as the user wrote it, such as `--load`.
    #[must_use]
    pub fn called(self, name: impl Into<String>) -> Fault {
        self.with(|parts| parts.key = Some(name.into()))
    }

    /// The same with its key below another: `gain` below `dctcp` is `dctcp.gain`.
    #[must_use]
    pub fn below(self, path: &str) -> Fault {
        let key = self.key().map_or(path.to_string(), |key| format!("{path}.{key}"));
        self.called(key)
    }

    /// The same without key and value, which stand in its place.
    #[must_use]
    pub fn bare(self) -> Fault {
        self.with(|parts| (parts.key, parts.value) = (None, None))
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
            "topolgy: did you mean `topology`? Expected one of topology, rate"
        );
        assert_eq!(name.suggestion(), Some("topology"));
        let key = Fault::new(wrong("unknown key `tpology`").meant("topology"));
        assert_eq!(key.to_string(), "unknown key `tpology`: did you mean `topology`?");
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
