//! Parameters: typed, with unit, default, valid range and the place in the paper.

use crate::Limit;
use incast_units::fault::{Fault, Problem, expected, nearest, one_of, wrong};
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
    /// An unknown set.
    pub fn selected<'a>(
        sets: &'a [ParameterSet],
        settings: &[(String, Setting)],
    ) -> Result<Option<&'a ParameterSet>, Fault> {
        let written = settings.iter().rfind(|(key, _)| !sets.is_empty() && key == SET);
        let Some((_, value)) = written else { return Ok(sets.first()) };
        let found = sets.iter().find(|set| value.is_text(set.name));
        let names = sets.iter().map(|set| set.name);
        let refused = || Fault::value(SET, value, one_of(&value.to_string(), names));
        found.map(Some).ok_or_else(refused)
    }

    /// The values of this set, then those of `settings`, which override them.
    pub fn below(&self, settings: &[(String, Setting)]) -> Vec<(String, Setting)> {
        let own = self.values.iter().map(|(key, value)| (key.to_string(), (*value).into()));
        own.chain(settings.iter().filter(|(key, _)| key != SET).cloned()).collect()
    }
}

/// The parameters of a transport, declared with [`parameters!`](crate::parameters).
pub trait Parameters: Sized {
    /// Reads `(key, value)` pairs over the defaults.
    ///
    /// # Errors
    /// An unknown key or an invalid value.
    fn read(settings: &[(String, Setting)]) -> Result<Self, Fault>;

    /// The documentation of every parameter.
    fn docs() -> Vec<ParameterDoc>;

    /// Every parameter with its value, in the syntax of `read`.
    fn resolved(&self) -> Vec<(&'static str, String)>;
}

/// A key that is none of `known`, with the value that it was to have.
pub fn unknown(key: &str, value: &Setting, known: &[&str]) -> Fault {
    let problem = match known {
        [] => wrong("no such parameter: the transport has none"),
        known => wrong("no such parameter").expected(format!("one of {}", known.join(", "))),
    };
    Fault::value(key, value, problem.meant(nearest(key, known.iter().copied())))
}

/// A value as a scenario has it, before its type is known.
#[derive(Clone, Debug)]
pub enum Setting {
    /// Text, or a quantity with its unit; a number, too, where it was given by a flag.
    Text(String),
    /// A whole number.
    Whole(i128),
    /// Another number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Setting>),
    /// A table: keys and values.
    Table(Vec<(String, Setting)>),
}

impl Setting {
    /// Whether it is this text.
    pub fn is_text(&self, text: &str) -> bool {
        matches!(self, Setting::Text(own) if own == text)
    }
}

/// What is written alike is equal, as text or as a number.
impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        self.to_string() == other.to_string()
    }
}
impl Eq for Setting {}

/// A list has commas, a table `key=value`. Whole numbers and fractions stay distinct.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |at: usize| if at > 0 { "," } else { "" };
        match self {
            Setting::Text(text) => f.write_str(text),
            Setting::Whole(number) => write!(f, "{number}"),
            Setting::Number(number) => write!(f, "{number:?}"),
            Setting::Flag(flag) => write!(f, "{flag}"),
            Setting::List(all) => {
                let mut all = all.iter().enumerate();
                all.try_for_each(|(at, one)| write!(f, "{}{one}", comma(at)))
            }
            Setting::Table(all) => {
                let mut all = all.iter().enumerate();
                all.try_for_each(|(at, (key, one))| write!(f, "{}{key}={one}", comma(at)))
            }
        }
    }
}

impl From<&str> for Setting {
    fn from(text: &str) -> Setting {
        Setting::Text(text.into())
    }
}
impl From<String> for Setting {
    fn from(text: String) -> Setting {
        Setting::Text(text)
    }
}

/// A parameter type.
pub trait Value: Sized {
    /// Reads a value; text that [`show`](Value::show) wrote gives it back.
    fn read(setting: &Setting) -> Result<Self, Problem>;
    /// Formats the value so that `read` returns it.
    fn show(&self) -> String;
}

/// Reads a value that is part of a text.
pub fn read<T: Value>(text: &str) -> Result<T, Problem> {
    T::read(&text.into())
}

macro_rules! whole {
    ($($ty:ty => $what:literal),* $(,)?) => {$(
        impl Value for $ty {
            fn read(setting: &Setting) -> Result<Self, Problem> {
                let read = match setting {
                    Setting::Whole(number) => (*number).try_into().ok(),
                    Setting::Text(text) => text.parse().ok(),
                    _ => None,
                };
                read.ok_or_else(|| expected($what))
            }
            fn show(&self) -> String { self.to_string() }
        }
    )*};
}
whole!(u8 => "a whole number below 256", u32 => "a whole number below 2^32", u64 => "a whole number");

impl Value for bool {
    fn read(setting: &Setting) -> Result<bool, Problem> {
        let read = match setting {
            Setting::Flag(flag) => Some(*flag),
            Setting::Text(text) => text.parse().ok(),
            _ => None,
        };
        read.ok_or_else(|| expected("true or false"))
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

macro_rules! by_unit {
    ($($ty:ty),*) => {$(
        impl Value for $ty {
            fn read(setting: &Setting) -> Result<Self, Problem> {
                setting.to_string().parse().map_err(Fault::into_problem)
            }
            fn show(&self) -> String { self.to_string() }
        }
    )*};
}
by_unit!(Span, Bytes, Rate);

impl Value for f64 {
    fn read(setting: &Setting) -> Result<f64, Problem> {
        let read = match setting {
            Setting::Number(number) => Some(*number),
            Setting::Whole(number) => Some(*number as f64),
            Setting::Text(text) => text.parse().ok(),
            _ => None,
        };
        read.filter(|value| value.is_finite()).ok_or_else(|| expected("a finite number"))
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

/// A count of packets, with or without the word, or charged bytes with a unit; or `unlimited`.
impl Value for Limit {
    fn read(setting: &Setting) -> Result<Limit, Problem> {
        let text = setting.to_string();
        let packets = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"));
        let read = match packets.unwrap_or(&text).trim().parse() {
            Ok(count) => Some(Limit::Packets(count)),
            Err(_) if packets.is_some() => None,
            Err(_) if text == "unlimited" => Some(Limit::Unlimited),
            Err(_) => text.parse().ok().map(|Bytes(bytes)| Limit::Bytes(bytes)),
        };
        read.ok_or_else(|| expected("packets such as `8 packets`, or a size such as `12KB`"))
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
    fn read(setting: &Setting) -> Result<Option<T>, Problem> {
        if setting.is_text("auto") {
            return Ok(None);
        }
        T::read(setting).map(Some).map_err(|problem| problem.or("or `auto`"))
    }
    fn show(&self) -> String {
        self.as_ref().map_or("auto".into(), T::show)
    }
}

/// A list of values, or text with commas between them.
impl<T: Value> Value for Vec<T> {
    fn read(setting: &Setting) -> Result<Vec<T>, Problem> {
        match setting {
            Setting::List(all) => all.iter().map(T::read).collect(),
            other => other.to_string().split(',').map(|one| read(one.trim())).collect(),
        }
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
            fn read(
                setting: &$crate::parameter::Setting,
            ) -> Result<Self, $crate::fault::Problem> {
                match setting.to_string().as_str() {
                    $($text => Ok($name::$variant),)*
                    other => Err($crate::fault::one_of(other, [$($text),*])),
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
/// assert_eq!(set("2").unwrap_err().accepted(), Some("0 < gain <= 1"));
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
                settings: &[(String, $crate::parameter::Setting)],
            ) -> Result<Self, $crate::fault::Fault> {
                let mut params = Self::default();
                for (key, value) in settings {
                    let fail = |problem| $crate::fault::Fault::value(key, value, problem);
                    match key.as_str() {
                        $(stringify!($field) => {
                            let read: $ty = <$ty as $crate::parameter::Value>::read(value)
                                .map_err(&fail)?;
                            let valid: fn(&$ty) -> bool = $valid;
                            if !valid(&read) {
                                return Err(fail($crate::fault::expected($accepts)));
                            }
                            params.$field = read;
                        })*
                        _ => {
                            let known = [$(stringify!($field)),*];
                            return Err($crate::parameter::unknown(key, value, &known));
                        }
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
                settings: &[(String, $crate::parameter::Setting)],
            ) -> Result<Self, $crate::fault::Fault> {
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
            assert_eq!(read(text), Ok(limit), "{text}");
            assert_eq!(limit.show(), shown);
            assert_eq!(read(shown), Ok(limit));
        }
        for text in ["", "eight", "-1", "8 Gbps", "9999999999"] {
            assert!(read::<Limit>(text).is_err(), "{text}");
        }
    }

    /// A number is read as one: as it stands, or from the text of a flag.
    #[test]
    fn values_are_read_by_their_type() {
        assert_eq!(u32::read(&Setting::Whole(7)), Ok(7));
        assert_eq!(u32::read(&"7".into()), Ok(7));
        assert_eq!(f64::read(&Setting::Whole(2)), Ok(2.0));
        assert_eq!(f64::read(&Setting::Number(0.1)), Ok(0.1));
        assert_eq!(bool::read(&Setting::Flag(true)), Ok(true));
        let list = Setting::List(vec![Setting::Whole(1), Setting::Whole(2)]);
        assert_eq!((Vec::<u8>::read(&list), list.to_string().as_str()), (Ok(vec![1, 2]), "1,2"));
        for wrong in
            [Setting::Number(1.5), Setting::Number(1.0), Setting::Whole(256), Setting::Flag(true)]
        {
            assert_eq!(u8::read(&wrong), Err(expected("a whole number below 256")), "{wrong}");
        }
        let auto = Option::<bool>::read(&"maybe".into()).unwrap_err();
        assert_eq!(Fault::new(auto).accepted(), Some("true or false, or `auto`"));
    }
}
