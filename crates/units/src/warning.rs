//! What a user should know before trusting results. A kind of warning is declared once, where it is
//! given, with its sentence, what it means and what to do; `docs/warnings.md` lists all of them.

use std::fmt::{self, Display};

/// A kind of warning.
#[derive(Debug, PartialEq, Eq)]
pub struct WarningKind {
    /// Its name in manifests and in `docs/warnings.md`.
    pub name: &'static str,
    /// The sentence it prints; `{names}` stand for values.
    pub says: &'static str,
    /// What it means for the results.
    pub means: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

impl WarningKind {
    /// The sentence with its values. Panics if a value of the sentence is missing.
    pub fn text(&self, values: &[(&str, &dyn Display)]) -> String {
        let (mut text, mut rest) = (String::new(), self.says);
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').expect("a brace is closed");
            let value = values.iter().find(|(key, _)| *key == name);
            let (_, value) = value.unwrap_or_else(|| panic!("{}: no {{{name}}}", self.name));
            text += before;
            text += &value.to_string();
            rest = after;
        }
        text + rest
    }

    /// A warning of this kind.
    pub fn notice(&'static self, values: &[(&str, &dyn Display)]) -> Notice {
        Notice { kind: self, text: self.text(values) }
    }
}

/// A warning that is known before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its kind.
    pub kind: &'static WarningKind,
    /// Its sentence.
    pub text: String,
}

impl Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Declares kinds of warnings as statics, and the list of them, so that none can be left out of it.
///
/// ```
/// incast_units::warnings! {
///     /// Kinds of warnings about speed.
///     pub static WARNINGS;
///     TOO_SLOW = "too_slow" {
///         says: "{rate} is slow",
///         means: "The link is slower than the smallest step.",
///         remedy: "Choose a faster link.",
///     }
/// }
/// assert_eq!(TOO_SLOW.notice(&[("rate", &"1Mbps")]).to_string(), "1Mbps is slow");
/// assert_eq!(WARNINGS[0].name, "too_slow");
/// ```
#[macro_export]
macro_rules! warnings {
    (
        $(#[$about:meta])* $seen:vis static $list:ident;
        $($kind:ident = $name:literal {
            says: $says:literal, means: $means:literal, remedy: $remedy:literal $(,)?
        })+
    ) => {
        $(
            #[doc = $means]
            $seen static $kind: $crate::WarningKind = $crate::WarningKind {
                name: $name, says: $says, means: $means, remedy: $remedy,
            };
        )+
        $(#[$about])*
        $seen static $list: &[&$crate::WarningKind] = &[$(&$kind),+];
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    static KIND: WarningKind =
        WarningKind { name: "a", says: "{one} and {two}, {one}", means: "", remedy: "" };

    #[test]
    fn a_sentence_has_its_values_and_braces_of_a_value_stay() {
        let notice = KIND.notice(&[("one", &"{two}"), ("two", &2)]);
        assert_eq!(notice.text, "{two} and 2, {two}");
    }

    #[test]
    #[should_panic(expected = "a: no {two}")]
    fn a_value_that_is_missing_is_a_bug() {
        KIND.text(&[("one", &1)]);
    }
}
