//! The declaration of a shape: its name, its counts, what it is, and how it is built.

use super::parts::Size;
use crate::options::{LinkDefaults, Options};
use crate::{Fabric, TopologyError};
use incast_units::fault::wrong;
use incast_units::{Rate, Span};

/// A count in the name of a fabric: `8` in `star:8`.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// How `incast list` writes it.
    pub symbol: &'static str,
    /// What is counted, for messages.
    pub what: &'static str,
    /// The least that is accepted; the most is 2^32 - 1, and what fits a fabric.
    pub least: u32,
}

/// A shape that can be written in a line: `leaf-spine:8x8x48`.
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// Its counts, in order.
    pub counts: &'static [Count],
    /// What it is.
    pub doc: &'static str,
    /// A fabric of this shape.
    pub example: &'static str,
    /// Whether it has links between switches.
    pub uplinks: bool,
    /// How large the fabric is, from its counts.
    pub(crate) size: fn(&[u64]) -> Size,
    /// Builds the fabric; every count is at least its least.
    pub(super) build: fn(&Spec<'_>) -> Result<Fabric, TopologyError>,
}

impl Shape {
    /// Its form with symbols: `leaf-spine:LEAVESxSPINESxHOSTS`.
    pub fn form(&self) -> String {
        self.join(|count| count.symbol.to_string())
    }

    fn join(&self, name: impl Fn(&Count) -> String) -> String {
        let names: Vec<String> = self.counts.iter().map(name).collect();
        format!("{}:{}", self.name, names.join("x"))
    }
}

/// What a shape has to provide.
pub(crate) struct Spec<'a> {
    /// As it was written.
    pub text: &'a str,
    /// Of which shape.
    pub shape: &'static Shape,
    /// Its counts.
    pub counts: &'a [u32],
    /// What its links are like.
    pub links: LinkDefaults,
    /// What else is said of them.
    pub options: &'a Options,
}

impl Spec<'_> {
    /// The fabric.
    pub fn build(&self) -> Result<Fabric, TopologyError> {
        (self.shape.build)(self)
    }

    /// The counts, as many as the shape declares.
    pub(super) fn counts<const COUNTS: usize>(&self) -> [u32; COUNTS] {
        self.counts.try_into().expect("as many counts as the shape declares")
    }

    /// The rate of each of `links` uplinks that `hosts` senders at an edge switch share, rounded
    /// down to a bit per second.
    pub(super) fn uplink_rate(&self, hosts: u32, links: u32) -> Rate {
        let rate = self.links.rate;
        match (self.options.uplink_rate, self.options.oversubscription) {
            (Some(uplink_rate), _) => uplink_rate,
            (None, Some(ratio)) => {
                Rate((rate.0 as f64 * hosts as f64 / (links as f64 * ratio)).floor() as u64)
            }
            (None, None) => rate,
        }
    }

    /// The propagation of an uplink, one-way.
    pub(super) fn uplink_propagation(&self) -> Span {
        self.options.uplink_propagation.unwrap_or(self.links.propagation)
    }

    /// An error that names the accepted form.
    pub fn refused(&self, problem: String) -> TopologyError {
        refused(self.text, self.shape, problem)
    }
}

/// An error that names the accepted form of a shape.
pub(crate) fn refused(text: &str, shape: &Shape, problem: String) -> TopologyError {
    let (form, example) = (shape.join(|count| format!("<{}>", count.what)), shape.example);
    TopologyError::malformed(
        wrong(format!("`{text}`: {problem}")).expected(format!("{form}, such as {example}")),
    )
}
