//! What is wrong, in words and by kind.

use incast_experiment::fault::Problem;
use incast_experiment::{Fault, Unread, UnreadFile};
use serde_json::{Value, json};
use std::fmt;

/// Kinds of trouble that a page treats in ways of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// A scenario, name or number is wrong.
    Input,
    /// The folder has no manifest.
    NoManifest,
    /// Files of the folder are missing.
    Incomplete,
    /// A file is not whole.
    Truncated,
    /// More than this module holds.
    TooLarge,
    /// An input file is not what it was.
    ChangedFile,
    /// An input file is not there.
    MissingFile,
    /// The run cannot be repeated.
    NotRepeatable,
    /// There is no such flow.
    NoSuchFlow,
}

impl TroubleKind {
    /// Its name in JavaScript.
    pub fn name(self) -> &'static str {
        match self {
            TroubleKind::Input => "input",
            TroubleKind::NoManifest => "no-manifest",
            TroubleKind::Incomplete => "incomplete",
            TroubleKind::Truncated => "truncated",
            TroubleKind::TooLarge => "too-large",
            TroubleKind::ChangedFile => "changed-file",
            TroubleKind::MissingFile => "missing-file",
            TroubleKind::NotRepeatable => "not-repeatable",
            TroubleKind::NoSuchFlow => "no-such-flow",
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What kind it is of.
    pub kind: TroubleKind,
    /// In words.
    pub fault: Fault,
}

impl Trouble {
    /// About a file.
    pub fn of(kind: TroubleKind, place: &str, problem: impl Into<Problem>) -> Trouble {
        Trouble { kind, fault: Fault::new(problem).placed(place) }
    }

    /// Its parts by name, as `Fault` in `incast-web.d.ts`.
    pub fn parts(&self) -> [(&'static str, String); 7] {
        let fault = &self.fault;
        let text = |part: Option<&str>| part.unwrap_or_default().to_string();
        [
            ("kind", self.kind.name().into()),
            ("place", fault.place()),
            ("key", text(fault.key())),
            ("value", text(fault.written())),
            ("problem", fault.problem()),
            ("accepted", text(fault.accepted())),
            ("suggestion", text(fault.suggestion())),
        ]
    }

    /// The same as JSON, with message and line.
    pub fn to_json(&self) -> Value {
        let mut all: serde_json::Map<String, Value> =
            self.parts().into_iter().map(|(name, text)| (name.to_string(), text.into())).collect();
        all.insert("line".into(), json!(self.fault.line()));
        all.insert("message".into(), self.to_string().into());
        Value::Object(all)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl std::error::Error for Trouble {}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble { kind: TroubleKind::Input, fault }
    }
}

impl From<UnreadFile> for Trouble {
    fn from(unread: UnreadFile) -> Trouble {
        let kind = match unread.why {
            Unread::Missing => TroubleKind::Incomplete,
            Unread::Damaged => TroubleKind::Truncated,
            Unread::Refused => TroubleKind::Input,
        };
        Trouble { kind, fault: unread.fault }
    }
}
