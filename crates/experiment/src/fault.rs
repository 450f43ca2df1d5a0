//! Invalid input, reported in one message with its place, key, value and accepted range; and
//! results that could not be written.

use incast_egress::port::{PolicyConflict, Remedy};
use incast_transport::TransportId;
use std::fmt;

/// Invalid input: where it was written, which key, which value, and what is wrong with it.
///
/// Prints as `place: key = `value`: problem`, without the parts that are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    place: String,
    key: Option<String>,
    value: Option<String>,
    problem: String,
    unwritten: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        match (&self.key, &self.value) {
            (Some(key), Some(value)) => write!(f, "{key} = `{value}`: ")?,
            (Some(key), None) => write!(f, "{key}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.problem)
    }
}
impl std::error::Error for Fault {}

impl Fault {
    /// About no key in particular.
    pub fn new(problem: impl fmt::Display) -> Fault {
        Fault {
            place: String::new(),
            key: None,
            value: None,
            problem: problem.to_string(),
            unwritten: false,
        }
    }

    /// Results could not be written, which is not for what a user wrote.
    pub fn unwritten(problem: impl fmt::Display) -> Fault {
        Fault { unwritten: true, ..Fault::new(problem) }
    }

    /// Whether results could not be written.
    pub fn is_unwritten(&self) -> bool {
        self.unwritten
    }

    /// About a key of the scenario, such as `fabric.pfc` or `traffic.0`.
    pub fn at(key: impl Into<String>, problem: impl fmt::Display) -> Fault {
        Fault { key: Some(key.into()), ..Fault::new(problem) }
    }

    /// About the value of a key.
    pub fn value(
        key: impl Into<String>,
        value: impl fmt::Display,
        problem: impl fmt::Display,
    ) -> Fault {
        Fault { value: Some(value.to_string()), ..Fault::at(key, problem) }
    }

    /// The key of the scenario that it is about.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The value as written by the user.
    pub fn written(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// What is wrong, without place, key and value.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Where it was written: a file, a file and line, an option; empty if that is not known.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What is accepted instead, such as "0 to 1", if the problem says so.
    pub fn accepted(&self) -> Option<&str> {
        let (_, accepted) = self.problem.split_once("expected ")?;
        Some(accepted.split_once(';').map_or(accepted, |(accepted, _)| accepted))
    }

    /// The nearest valid name, if there is one.
    pub fn suggestion(&self) -> Option<&str> {
        let (_, rest) = self.problem.split_once(MEANT)?;
        rest.split_once('`').map(|(name, _)| name)
    }

    /// The same, read from `place`: a file, or a file and line. What has a place keeps it.
    pub fn placed(self, place: impl Into<String>) -> Fault {
        match self.place.is_empty() {
            true => Fault { place: place.into(), ..self },
            false => self,
        }
    }

    /// The same about a file that a key names: what is wrong in the file, or with it, follows key and name.
    pub fn in_file(self, key: impl Into<String>, file: &str) -> Fault {
        match self.key {
            Some(_) => self,
            None => Fault::value(key, file, self),
        }
    }

    /// The same with a remark appended.
    pub fn noted(self, note: &str) -> Fault {
        Fault { problem: format!("{} ({note})", self.problem), ..self }
    }

    /// The same with the name of the key as the user wrote it, such as `--load`.
    pub fn called(self, name: impl Into<String>) -> Fault {
        Fault { key: Some(name.into()), ..self }
    }
}

macro_rules! from_display {
    ($($ty:ty),* $(,)?) => {$(
        impl From<$ty> for Fault {
            fn from(error: $ty) -> Fault { Fault::new(error) }
        }
    )*};
}
from_display!(incast_fabric::TopologyError, incast_workload::WorkloadError,);

impl From<incast_measure::FolderError> for Fault {
    fn from(error: incast_measure::FolderError) -> Fault {
        match error {
            incast_measure::FolderError::Io { .. } => Fault::unwritten(error),
            _ => Fault::new(error),
        }
    }
}

/// Names the transports, and the keys of a scenario that resolve the conflict, instead of numbers
/// and positions within a policy.
impl From<PolicyConflict> for Fault {
    fn from(conflict: PolicyConflict) -> Fault {
        let name = |id: TransportId| {
            let entry = incast_protocols::CATALOGUE.iter().find(|entry| entry.info().id == id);
            let known = entry.map(|entry| entry.info().name).or_else(|| crate::custom::name_of(id));
            known.unwrap_or("another transport")
        };
        let (first, second) = (name(conflict.first), name(conflict.second));
        let who = match conflict.first == conflict.second {
            true => format!("`{first}` cannot have its port"),
            false => format!("`{first}` and `{second}` cannot share a port"),
        };
        let queue = match conflict.key.strip_prefix("classes[").and_then(|key| key.split_once(']'))
        {
            Some(("0", _)) => "for control packets: ".to_string(),
            Some((class, _)) => format!("for packets of class {class}: "),
            None => String::new(),
        };
        let remedy = match conflict.remedy {
            Remedy::Separate => "; expected transport.join = \"separate\"".to_string(),
            Remedy::FewerQueues => format!(
                "; expected fewer classes in transport.parameters.{first} or \
                 transport.parameters.{second}, or transport.join = \"shared\""
            ),
            Remedy::None => String::new(),
        };
        Fault::at("transport.names", format!("{who}: {queue}{}{remedy}", conflict.problem))
    }
}

/// Before a name that may have been meant.
const MEANT: &str = "; did you mean `";

/// The nearest name, as `; did you mean ...?`, or nothing. Case does not count.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let text = text.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&text, &name.to_lowercase());
    let scored = names.into_iter().map(|name| (distance(name), name));
    match scored.min() {
        Some((distance, name)) if distance <= 2.max(name.len() / 3) => meant(name),
        _ => String::new(),
    }
}

/// This name, as `; did you mean ...?`.
pub fn meant(name: &str) -> String {
    format!("{MEANT}{name}`?")
}

impl From<incast_transport::ParameterError> for Fault {
    fn from(error: incast_transport::ParameterError) -> Fault {
        let key = error.key.as_str();
        let written = if key == incast_transport::parameter::SET { &error.value } else { key };
        let hint = if error.known.contains(&written) {
            String::new()
        } else {
            nearest(written, error.known.iter().copied())
        };
        let key = format!("transport.parameters.{}.{}", error.transport, error.key);
        Fault::value(key, &error.value, format!("{}{hint}", error.problem))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Scenario};

    /// What the message says is there in parts, too.
    #[test]
    fn accepted_values_and_the_nearest_name_are_told_apart() {
        let fault = |line: &str| Scenario::parse(line, "a.toml", &[]).unwrap_err();
        let wrong = fault("[fabric]\ntopolgy = \"star:4\"\n");
        assert_eq!((wrong.place(), wrong.suggestion()), ("a.toml:2", Some("topology")));
        let accepted = wrong.accepted().unwrap();
        assert!(accepted.starts_with("one of topology, ") && !accepted.contains("did you mean"));
        let range = fault("[fabric]\ntopology = \"star:4\"\nmtu = 5\n[transport]\nnames = []\n");
        assert_eq!(range.suggestion(), None);
        let of_transport = Scenario::parse(
            "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"dctcp\"]\n\
             [transport.parameters.dctcp]\ngain = 2\n[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n",
            "a.toml",
            &[],
        );
        let gain = of_transport.and_then(Plan::new).map(|_| ()).unwrap_err();
        assert_eq!(gain.accepted(), Some("0 < gain <= 1"));
    }

    /// The message about these transports in one port, or nothing.
    fn conflict(names: [&str; 2], join: &str) -> Option<String> {
        let [main, other] = names;
        let text = format!(
            "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"{main}\"]\n\
             join = \"{join}\"\n[[transport.assign]]\nname = \"{other}\"\nhosts = \"1\"\n\
             [[traffic]]\nkind = \"long\"\nfrom = \"0,1\"\nto = \"2,3\"\nsize = \"1MB\"\n"
        );
        let plan = Scenario::parse(&text, "test", &[]).and_then(Plan::new);
        plan.err().map(|fault| fault.to_string())
    }

    /// An unknown set is refused with all sets and the nearest one; `set` is a key like others.
    #[test]
    fn parameter_sets_are_named() {
        let message = |transport: &str, line: &str| {
            let text = format!(
                "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"{transport}\"]\n\
                 [transport.parameters.{transport}]\n{line}\n[[traffic]]\nkind = \"permutation\"\n\
                 size = \"1MB\"\n"
            );
            let plan = Scenario::parse(&text, "test", &[]).and_then(Plan::new);
            plan.err().map(|fault| fault.to_string()).unwrap_or_default()
        };
        let text = message("dcqcn", "set = \"group_40\"");
        for part in [
            "transport.parameters.dcqcn.set",
            "group_40",
            "expected one of paper, group_40_100, group_200_500",
            "did you mean `group_40_100`?",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(message("ccrp", "sett = \"paper\"").contains("did you mean `set`?"));
        assert!(message("cubic", "set = \"paper\"").contains("no such parameter"));
        assert_eq!(message("ccrp", "set = \"group_200_500\"\ngain = 0.5"), "");
    }

    /// Every pair of the catalogue: a conflict is reported with both names and the key that
    /// resolves it, without internal numbers and types.
    #[test]
    fn conflicts_name_transports_and_keys() {
        let names = || incast_protocols::CATALOGUE.iter().map(|entry| entry.info().name);
        let mut found = 0;
        for first in names() {
            for second in names().filter(|second| *second != first) {
                for join in ["shared", "separate"] {
                    let Some(text) = conflict([first, second], join) else { continue };
                    found += 1;
                    for word in [format!("`{first}`"), format!("`{second}`")] {
                        assert!(text.contains(&word), "{text}");
                    }
                    assert!(text.contains("expected "), "{text}");
                    assert!(
                        text.contains("transport.join") || text.contains("parameters"),
                        "{text}"
                    );
                    for word in ["classes[", "Weighted", "Strict", "TransportId", "transport 1"] {
                        assert!(!text.contains(word), "{text}");
                    }
                }
            }
        }
        assert!(found > 0, "no pair contradicts any more: find another case");
    }
}
