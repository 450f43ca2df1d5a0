//! Distributions of times as text.

use crate::Fault;
use crate::fault::expected;
use incast_transport::Span;
use std::fmt;

/// The longest time that a host may take for a packet, as a key.
pub(super) const MOST: Span = Span::from_secs(1);

/// A distribution of times, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum DelayText {
    /// Always so long.
    Fixed(Span),
    /// Between two times.
    Uniform(Span, Span),
    /// With this mean.
    Exponential(Span),
    /// The file that has it.
    File(String),
}

impl DelayText {
    /// How it is written.
    pub const FORMS: &str =
        "a time such as `2us` (at most 1s), `uniform:1us-3us`, `exponential:2us` or `file:NAME`";
}

impl std::str::FromStr for DelayText {
    type Err = Fault;

    fn from_str(text: &str) -> Result<DelayText, Fault> {
        let wrong = || Fault::text(text, expected(DelayText::FORMS));
        let time = |text: &str| -> Result<Span, Fault> {
            text.trim().parse::<Span>().ok().filter(|span| *span <= MOST).ok_or_else(wrong)
        };
        match text.trim().split_once(':') {
            None => Ok(DelayText::Fixed(time(text)?)),
            Some(("uniform", both)) => {
                let (least, most) = both.split_once('-').ok_or_else(wrong)?;
                let (least, most) = (time(least)?, time(most)?);
                if least > most {
                    return Err(Fault::text(text, expected("the lesser time first")));
                }
                Ok(DelayText::Uniform(least, most))
            }
            Some(("exponential", mean)) => Ok(DelayText::Exponential(time(mean)?)),
            Some(("file", name)) if !name.trim().is_empty() => {
                Ok(DelayText::File(name.trim().into()))
            }
            Some(_) => Err(wrong()),
        }
    }
}

impl fmt::Display for DelayText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DelayText::Fixed(span) => span.fmt(f),
            DelayText::Uniform(least, most) => write!(f, "uniform:{least}-{most}"),
            DelayText::Exponential(mean) => write!(f, "exponential:{mean}"),
            DelayText::File(name) => write!(f, "file:{name}"),
        }
    }
}
