//! What a person wrote wrongly, said in one message.

use incast_egress::port::{PolicyConflict, Remedy};
use incast_transport::TransportId;
use std::fmt;
use std::path::Path;

/// A message for the person who wrote the input: file, key, value and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Fault {}

impl Fault {
    /// From anything that prints.
    pub fn new(text: impl fmt::Display) -> Fault {
        Fault(text.to_string())
    }
}

macro_rules! from_display {
    ($($ty:ty),* $(,)?) => {$(
        impl From<$ty> for Fault {
            fn from(error: $ty) -> Fault { Fault(error.to_string()) }
        }
    )*};
}
from_display!(
    incast_fabric::TopologyError,
    incast_workload::WorkloadError,
    incast_measure::FolderError,
);

/// Names the transports and the keys of a scenario that mend it, instead of numbers and places
/// within a policy.
impl From<PolicyConflict> for Fault {
    fn from(conflict: PolicyConflict) -> Fault {
        let name = |id: TransportId| {
            let entry = incast_protocols::CATALOGUE.iter().find(|entry| entry.info().id == id);
            entry.map_or("another transport", |entry| entry.info().name)
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
        let mend = match conflict.remedy {
            Remedy::Separate => "; expected transport.join = \"separate\"".to_string(),
            Remedy::FewerQueues => format!(
                "; expected fewer classes in transport.parameters.{first} or \
                 transport.parameters.{second}, or transport.join = \"shared\""
            ),
            Remedy::None => String::new(),
        };
        Fault(format!("transport.names: {who}: {queue}{}{mend}", conflict.problem))
    }
}

/// What a text file says.
pub(crate) fn text_of(path: &Path) -> Result<String, Fault> {
    let name = path.display();
    let bytes =
        std::fs::read(path).map_err(|error| Fault(format!("{name}: could not read: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = error.as_bytes()[good.len()];
        Fault(format!("{name}:{line}: the byte 0x{byte:02x} is no text: expected UTF-8"))
    })
}

/// The name that was probably meant, as `; did you mean ...?`, or nothing. Case does not count.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let text = text.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&text, &name.to_lowercase());
    let scored = names.into_iter().map(|name| (distance(name), name));
    match scored.min() {
        Some((distance, name)) if distance <= 2.max(name.len() / 3) => {
            format!("; did you mean `{name}`?")
        }
        _ => String::new(),
    }
}

impl From<incast_transport::ParameterError> for Fault {
    fn from(error: incast_transport::ParameterError) -> Fault {
        let hint = if error.known.contains(&error.key.as_str()) {
            String::new()
        } else {
            nearest(&error.key, error.known.iter().copied())
        };
        Fault(format!("{error}{hint}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Scenario};

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

    /// Every pair of the catalogue: what cannot be is said with both names and with the key that
    /// mends it, and the numbers and types of the program do not show.
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
