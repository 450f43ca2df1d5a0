//! What is wrong with what a user wrote.

pub use incast_transport::fault::{Fault, Problem, expected, nearest, one_of, wrong};

#[cfg(test)]
mod tests {
    use crate::{Plan, Scenario};

    /// What the message says is there in parts, too.
    #[test]
    fn accepted_values_and_the_nearest_name_are_told_apart() {
        let fault = |line: &str| Scenario::parse(line, "a.toml", &[]).unwrap_err();
        let wrong = fault("[fabric]\ntopolgy = \"star:4\"\n");
        assert_eq!((wrong.file(), wrong.line()), ("a.toml", Some(2)));
        assert_eq!(wrong.suggestion(), Some("topology"));
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
        assert_eq!(gain.key(), Some("transport.parameters.dctcp.gain"));
        assert_eq!((gain.written(), gain.file()), (Some("2"), ""));
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
            "Expected one of paper, group_40_100, group_200_500",
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
