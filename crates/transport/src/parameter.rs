//! Parameters: typed, with unit, default, valid range and the place in the paper.

use crate::Limit;
use incast_units::{Bytes, Rate, Span};
use std::borrow::Cow;
use std::fmt;

/// A parameter as `incast list` shows it.
#[derive(Clone, Debug)]
pub struct ParameterDoc {
    /// Key in a scenario.
    pub name: &'static str,
    /// Default, in the syntax of a scenario.
    pub default: String,
    /// Accepted values.
    pub accepts: Cow<'static, str>,
    /// Paper section or equation, or the reason for the default.
    pub source: &'static str,
    /// Description.
    pub doc: &'static str,
}

/// The key that selects a [`ParameterSet`].
pub const SET: &str = "set";

/// Values of several parameters that belong together, such as those of one published
/// configuration, under one name. Parameters that are given beside it keep the given values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterSet {
    /// Value of the key [`SET`].
    pub name: &'static str,
    /// Where the values come from.
    pub source: &'static str,
    /// Parameters and their values, in the syntax of a scenario; those left out keep their
    /// defaults.
    pub values: &'static [(&'static str, &'static str)],
}

impl ParameterSet {
    /// The key [`SET`] as `incast list` shows it; `None` for a transport without sets. The default
    /// is the first set, which contains no values.
    pub fn doc(sets: &[ParameterSet]) -> Option<ParameterDoc> {
        let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
        Some(ParameterDoc {
            name: SET,
            default: names.first()?.to_string(),
            accepts: names.join(", ").into(),
            source: "listed with each set",
            doc: "Values of several parameters under one name. Parameters given beside it keep \
                  their given values.",
        })
    }

    /// The set that `settings` select by the key [`SET`], else the first one; `None` for a
    /// transport without sets.
    ///
    /// # Errors
    /// An unknown set of `transport`.
    pub fn selected<'a>(
        transport: &'static str,
        sets: &'a [ParameterSet],
        settings: &[(String, String)],
    ) -> Result<Option<&'a ParameterSet>, ParameterError> {
        let written = settings.iter().rfind(|(key, _)| !sets.is_empty() && key == SET);
        let Some((key, value)) = written else { return Ok(sets.first()) };
        let found = sets.iter().find(|set| set.name == value);
        found.map(Some).ok_or_else(|| {
            let known: Vec<&str> = sets.iter().map(|set| set.name).collect();
            let problem = format!("expected one of {}", known.join(", "));
            ParameterError { transport, key: key.clone(), value: value.clone(), problem, known }
        })
    }

    /// The values of this set, then those of `settings`, which override them.
    pub fn below(&self, settings: &[(String, String)]) -> Vec<(String, String)> {
        let own = self.values.iter().map(|(key, value)| (key.to_string(), value.to_string()));
        own.chain(settings.iter().filter(|(key, _)| key != SET).cloned()).collect()
    }
}

/// An invalid parameter setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// The transport.
    pub transport: &'static str,
    /// The key as written.
    pub key: String,
    /// The value as written.
    pub value: String,
    /// The problem and the accepted values.
    pub problem: String,
    /// All keys of the transport, to suggest the nearest one; with the key [`SET`] all sets.
    pub known: Vec<&'static str>,
}

impl ParameterError {
    /// A value of `key` that does not fit the fabric; `P` are the transport's parameters.
    pub fn of<P: Parameters>(
        transport: &'static str,
        key: &str,
        value: impl fmt::Display,
        problem: String,
    ) -> ParameterError {
        let known = P::docs().iter().map(|doc| doc.name).collect();
        ParameterError { transport, key: key.into(), value: value.to_string(), problem, known }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} = {}: {}", self.transport, self.key, self.value, self.problem)
    }
}
impl std::error::Error for ParameterError {}

/// The parameters of a transport, declared with [`parameters!`](crate::parameters).
pub trait Parameters: Sized {
    /// Reads `(key, value)` pairs over the defaults.
    ///
    /// # Errors
    /// An unknown key or an invalid value.
    fn read(settings: &[(String, String)]) -> Result<Self, ParameterError>;

    /// The documentation of every parameter.
    fn docs() -> Vec<ParameterDoc>;

    /// Every parameter with its value, in the syntax of `read`.
    fn resolved(&self) -> Vec<(&'static str, String)>;
}

/// The problem of a name that is none of `known`.
pub fn unknown(known: &[&str]) -> String {
    match known {
        [] => "no such parameter: the transport has none".to_string(),
        known => format!("no such parameter: expected one of {}", known.join(", ")),
    }
}

/// A parameter type.
pub trait Value: Sized {
    /// Parses a value.
    fn read(text: &str) -> Result<Self, String>;
    /// Formats the value so that `read` returns it.
    fn show(&self) -> String;
}

macro_rules! by_parse {
    ($($ty:ty => $what:literal),* $(,)?) => {$(
        impl Value for $ty {
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| format!("expected {}", $what))
            }
            fn show(&self) -> String { self.to_string() }
        }
    )*};
}
by_parse!(bool => "true or false", u8 => "a whole number below 256",
    u32 => "a whole number below 2^32", u64 => "a whole number");

macro_rules! by_unit {
    ($($ty:ty),*) => {$(
        impl Value for $ty {
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|e: incast_units::ParseError| e.to_string())
            }
            fn show(&self) -> String { self.to_string() }
        }
    )*};
}
by_unit!(Span, Bytes, Rate);

impl Value for f64 {
    fn read(text: &str) -> Result<f64, String> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err("expected a finite number".into()),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

/// A count of packets, with or without the word, or charged bytes with a unit; or `unlimited`.
impl Value for Limit {
    fn read(text: &str) -> Result<Limit, String> {
        let packets = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"));
        let read = match packets.unwrap_or(text).trim().parse() {
            Ok(count) => Some(Limit::Packets(count)),
            Err(_) if packets.is_some() => None,
            Err(_) if text == "unlimited" => Some(Limit::Unlimited),
            Err(_) => text.parse().ok().map(|Bytes(bytes)| Limit::Bytes(bytes)),
        };
        read.ok_or("expected packets such as `8 packets`, or a size such as `12KB`".into())
    }
    fn show(&self) -> String {
        match self {
            Limit::Packets(1) => "1 packet".into(),
            Limit::Packets(count) => format!("{count} packets"),
            Limit::Bytes(bytes) => Bytes(*bytes).to_string(),
            Limit::Unlimited => "unlimited".into(),
        }
    }
}

/// `auto` (derived from the fabric) or a value.
impl<T: Value> Value for Option<T> {
    fn read(text: &str) -> Result<Option<T>, String> {
        if text == "auto" {
            return Ok(None);
        }
        T::read(text).map(Some).map_err(|problem| format!("{problem}, or `auto`"))
    }
    fn show(&self) -> String {
        self.as_ref().map_or("auto".into(), T::show)
    }
}

/// A comma-separated list of values.
impl<T: Value> Value for Vec<T> {
    fn read(text: &str) -> Result<Vec<T>, String> {
        text.split(',').map(|one| T::read(one.trim())).collect()
    }
    fn show(&self) -> String {
        self.iter().map(T::show).collect::<Vec<_>>().join(",")
    }
}

/// Declares an enum parameter whose values are names: `choice!{ pub enum Rule { Budget = "budget" }
/// }`.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $vis:vis enum $name:ident {
        $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name { $($(#[$vdoc])* $variant),* }
        impl $crate::parameter::Value for $name {
            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok($name::$variant),)*
                    _ => Err(format!("expected one of {}", [$($text),*].join(", "))),
                }
            }
            fn show(&self) -> String {
                match self { $($name::$variant => $text),* }.to_string()
            }
        }
    };
}

/// Declares a parameter struct. Each field has a doc comment, type, default, valid range and
/// source.
///
/// ```
/// incast_transport::parameters! {
///     /// Parameters of an example.
///     pub struct Params for "example" {
///         /// Gain of the average.
///         gain: f64 = 0.0625, "0 < gain <= 1" => |v| *v > 0.0 && *v <= 1.0, "DCTCP §3.3, Eq. 1";
///     }
/// }
/// let set = |v: &str| Params::read(&[("gain".into(), v.into())]);
/// assert_eq!(set("0.5").unwrap().gain, 0.5);
/// assert!(set("2").unwrap_err().problem.contains("0 < gain <= 1"));
/// ```
#[macro_export]
macro_rules! parameters {
    ($(#[$doc:meta])* $vis:vis struct $name:ident for $transport:literal {
        $(#[doc = $fdoc:literal] $field:ident : $ty:ty = $default:expr,
            $accepts:literal => $valid:expr, $source:literal;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name { $(#[doc = $fdoc] pub $field: $ty),* }

        impl Default for $name {
            fn default() -> Self { $name { $($field: $default),* } }
        }

        impl $name {
            /// Reads `(key, value)` pairs over the defaults.
            #[allow(
                unused_variables,
                unused_mut,
                unreachable_code,
                reason = "a transport may have no parameters"
            )]
            pub fn read(
                settings: &[(String, String)],
            ) -> Result<Self, $crate::parameter::ParameterError> {
                let mut params = Self::default();
                for (key, value) in settings {
                    let fail = |problem: String| $crate::parameter::ParameterError {
                        transport: $transport,
                        key: key.clone(),
                        value: value.clone(),
                        problem,
                        known: vec![$(stringify!($field)),*],
                    };
                    match key.as_str() {
                        $(stringify!($field) => {
                            let read: $ty = <$ty as $crate::parameter::Value>::read(value)
                                .map_err(&fail)?;
                            let valid: fn(&$ty) -> bool = $valid;
                            if !valid(&read) {
                                return Err(fail(format!("expected {}", $accepts)));
                            }
                            params.$field = read;
                        })*
                        _ => return Err(fail($crate::parameter::unknown(&[
                            $(stringify!($field)),*
                        ]))),
                    }
                }
                Ok(params)
            }

            /// The documentation of every parameter.
            pub fn docs() -> Vec<$crate::parameter::ParameterDoc> {
                #[allow(unused_variables, reason = "a transport may have no parameters")]
                let defaults = Self::default();
                vec![$($crate::parameter::ParameterDoc {
                    name: stringify!($field),
                    default: $crate::parameter::Value::show(&defaults.$field),
                    accepts: ::std::borrow::Cow::Borrowed($accepts),
                    source: $source,
                    doc: $fdoc.trim_ascii(),
                }),*]
            }

            /// Every parameter with its value.
            pub fn resolved(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($field), $crate::parameter::Value::show(&self.$field))),*]
            }
        }

        impl $crate::parameter::Parameters for $name {
            fn read(
                settings: &[(String, String)],
            ) -> Result<Self, $crate::parameter::ParameterError> {
                $name::read(settings)
            }

            fn docs() -> Vec<$crate::parameter::ParameterDoc> {
                $name::docs()
            }

            fn resolved(&self) -> Vec<(&'static str, String)> {
                $name::resolved(self)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_packets_or_bytes() {
        for (text, limit, shown) in [
            ("8", Limit::Packets(8), "8 packets"),
            ("1 packet", Limit::Packets(1), "1 packet"),
            ("16 packets", Limit::Packets(16), "16 packets"),
            ("24KB", Limit::Bytes(24_000), "24KB"),
            ("12KiB", Limit::Bytes(12_288), "12KiB"),
            ("unlimited", Limit::Unlimited, "unlimited"),
        ] {
            assert_eq!(Limit::read(text), Ok(limit), "{text}");
            assert_eq!(limit.show(), shown);
            assert_eq!(Limit::read(shown), Ok(limit));
        }
        for text in ["", "eight", "-1", "8 Gbps", "9999999999"] {
            assert!(Limit::read(text).is_err(), "{text}");
        }
    }
}
