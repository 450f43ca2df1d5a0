//! What the declaration of a number says.

use crate::measured::Chosen;
use crate::summary::{Group, Summary};
use crate::{PortMeta, Run};
use incast_transport::Bin;
use std::ops::Range;

/// Functions that set something of a declaration.
macro_rules! setters {
    ($($name:ident($($with:ident: $of:ty),*) => $field:ident = $value:expr;)*) => {
        $(pub(super) const fn $name(mut self $(, $with: $of)*) -> Self { self.$field = $value; self })*
    };
}

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// A whole number.
    Count,
    /// A float.
    Float,
    /// Yes (1) or no (0).
    Flag,
}

/// Which values are good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
    /// Neither: the number describes.
    Neither,
}

/// Where tables and pages show a number, and as what.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// What they call it, without unit; empty if none shows it.
    pub title: &'static str,
    /// Its line of a comparison, by which lines are ordered.
    pub line: Option<u16>,
    /// The unit of that line, if it is not the number's own or the usual one of times and sizes, and how much of the number's unit it is.
    pub unit: Option<(&'static str, f64)>,
    /// Whether a comparison leaves it out where it is zero: most runs have none.
    pub rare: bool,
    /// Whether it is about packets, which a run at flow level does not have.
    pub of_packets: bool,
    /// Its weight among the numbers that decide: low ones first. Of those with the same tens the first that is there is shown.
    pub decides: Option<u16>,
    /// Its place among the figures of a study.
    pub drawn: Option<u8>,
    /// Its place in the table of the laboratory.
    pub laboratory: Option<u8>,
}

impl Listing {
    pub(super) const NONE: Listing = Listing {
        title: "",
        line: None,
        unit: None,
        rare: false,
        of_packets: false,
        decides: None,
        drawn: None,
        laboratory: None,
    };

    setters! {
        percent(unit: &'static str) => unit = Some((unit, 0.01));
        rare() => rare = true;
        of_packets() => of_packets = true;
        decides(weight: u16) => decides = Some(weight);
        drawn(place: u8) => drawn = Some(place);
        laboratory(place: u8) => laboratory = Some(place);
    }
}

/// A number with a title.
pub(super) const fn titled(title: &'static str) -> Listing {
    Listing { title, ..Listing::NONE }
}

/// A line of the comparison: its place and its title.
pub(super) const fn line(place: u16, title: &'static str) -> Listing {
    Listing { line: Some(place), ..titled(title) }
}

/// A number of a group of flows, of the run, or of a tier.
pub(crate) struct Entry<T> {
    pub name: &'static str,
    pub unit: &'static str,
    pub written: Written,
    pub better: Better,
    pub doc: &'static str,
    pub read: fn(&T) -> Option<f64>,
    /// Title of a figure; `{}` is where it says which flows. Empty: as `doc` says.
    pub heading: &'static str,
    /// Of a percentile of completed flows: which, in thousandths.
    pub percentile: Option<u32>,
    /// Of all flows or the run, of short flows, of long flows.
    pub listings: [Listing; 3],
    /// As claims have it, if in another unit or restricted to more than flows.
    pub claimed: Option<Claimed>,
}

impl<T> Entry<T> {
    pub(super) const fn new(
        (name, unit): (&'static str, &'static str),
        written: Written,
        better: Better,
        doc: &'static str,
        read: fn(&T) -> Option<f64>,
    ) -> Entry<T> {
        let listings = [Listing::NONE; 3];
        let (heading, percentile, claimed) = ("", None, None);
        Entry { name, unit, written, better, doc, read, heading, percentile, listings, claimed }
    }

    /// As claims have it: in its own name and unit, and with its meaning, if they have no others.
    pub(super) const fn claimed(self, mut claimed: Claimed) -> Entry<T> {
        if claimed.name.is_empty() {
            (claimed.name, claimed.unit) = (self.name, self.unit);
        }
        if claimed.doc.is_empty() {
            claimed.doc = self.doc;
        }
        Entry { claimed: Some(claimed), ..self }
    }

    setters! {
        heading(heading: &'static str) => heading = heading;
        percentile(thousandths: u32) => percentile = Some(thousandths);
    }

    pub(super) const fn shown(mut self, listing: Listing) -> Entry<T> {
        self.listings[0] = listing;
        self
    }

    pub(super) const fn short(mut self, listing: Listing) -> Entry<T> {
        self.listings[1] = listing;
        self
    }

    pub(super) const fn long(mut self, listing: Listing) -> Entry<T> {
        self.listings[2] = listing;
        self
    }
}

/// Where the summary has a group of flows, of the class that is named if it is one.
pub(super) type OfSummary = for<'a> fn(&'a Summary, &str) -> Option<&'a Group>;

/// How a number is read from `T`.
pub(super) type Get<T> = Box<dyn Fn(&T) -> Option<f64> + Send + Sync>;

/// What a number is read from.
pub(super) enum Source {
    /// A group of flows: those of these sizes, or of this class.
    Flows { of: OfSummary, class: &'static str, sizes: Range<u64>, read: Get<Group> },
    /// The summary of the run.
    Run(Get<Summary>),
}

/// One number of a run.
pub struct Number {
    /// Its name; ends in the unit where it has one: `short_fct_p99_ns`.
    pub name: String,
    /// Where tables and pages show it, and as what.
    pub listing: Listing,
    /// What figures call it, without unit.
    pub heading: String,
    /// Its unit; empty for counts, shares and ratios.
    pub unit: &'static str,
    /// Meaning, and when it does not exist.
    pub doc: String,
    /// How it is written.
    pub written: Written,
    /// Which values are good.
    pub better: Better,
    /// Of a percentile of completed flows: which, in thousandths.
    pub(super) percentile: Option<u32>,
    source: Source,
}

impl std::fmt::Debug for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Number").field("name", &self.name).field("unit", &self.unit).finish()
    }
}

impl Number {
    pub(super) fn new<T>(entry: &Entry<T>, name: String, doc: String, source: Source) -> Number {
        let heading = match entry.heading {
            "" => doc.trim_end_matches('.').trim_end_matches("; all measured flows"),
            own => own,
        };
        let (heading, [listing, ..]) = (heading.to_string(), entry.listings);
        let Entry { unit, written, better, percentile, .. } = *entry;
        Number { name, listing, heading, unit, doc, written, better, percentile, source }
    }

    /// Its value in a run, if it has one.
    pub fn of(&self, summary: &Summary) -> Option<f64> {
        let value = match &self.source {
            Source::Flows { of, class, read, .. } => of(summary, class).and_then(read),
            Source::Run(read) => read(summary),
        };
        value.filter(|value| value.is_finite())
    }

    /// The thousandths of a percentile of completed flows, and how many of them a run has; `None` of other numbers.
    pub(crate) fn percentile(&self, summary: &Summary) -> Option<(u32, u64)> {
        let Source::Flows { of, class, .. } = &self.source else { return None };
        Some((self.percentile?, of(summary, class)?.completed as u64))
    }

    /// The class of its flows; empty if they are of any.
    pub(crate) fn class(&self) -> &'static str {
        match self.source {
            Source::Flows { class, .. } => class,
            Source::Run(_) => "",
        }
    }

    /// Of which sizes its flows are, and how it is read from some of them; `None` of a number of the run.
    pub(crate) fn of_flows(&self) -> Option<(&Range<u64>, &Get<Group>)> {
        match &self.source {
            Source::Flows { sizes, read, .. } => Some((sizes, read)),
            Source::Run(_) => None,
        }
    }
}

/// What a number is of, which decides how it can be restricted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// A statistic over flows that completed.
    Flows,
    /// Ports, in a window.
    Ports,
    /// Ports, over the run.
    PortsOverRun,
    /// Ports in a window, or the whole fabric.
    Fabric,
    /// One recorded flow, in a window.
    Flow,
    /// One packet, on its way.
    Packet,
    /// Transports that share recorded flows.
    Transports,
    /// Something else: chosen flows, recorded flows, requests.
    Other,
}

/// One interval of a port's time series.
pub(crate) struct Interval<'a> {
    pub bin: Bin,
    /// Its length in picoseconds.
    pub width: f64,
    /// Bytes that the link carried in it.
    pub carried: f64,
    pub port: &'a PortMeta,
}

/// A number of one interval of a port.
pub(crate) type OfInterval = fn(&Interval<'_>) -> f64;

/// A number of a run, restricted as chosen.
pub(crate) type Chooses = fn(&Chosen<ClaimedNumber>, &Run) -> Option<f64>;

/// How a number is read for claims.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// A statistic of a value of each flow: the mean, or a percentile in thousandths.
    Flows(fn(&Run, usize) -> Option<f64>, Option<u32>),
    /// Of ports, over a window and of one interval, each in what the unit is of it.
    Ports(Chooses, OfInterval, fn(&Run) -> Option<f64>),
    /// Anything else that is chosen.
    Run(Chooses),
    /// Of the chosen flows.
    Group(fn(&Group) -> Option<f64>),
    /// As a study has it, of the chosen flows or of the run.
    Number(&'static Number),
}

/// A number as claims and figures of papers have it.
#[derive(Clone, Copy)]
pub(crate) struct Claimed {
    pub name: &'static str,
    pub unit: &'static str,
    pub doc: &'static str,
    pub of: Of,
    /// Whether it depends on the length of a run that never reaches balance.
    pub steady: bool,
    /// The size below which differences of its values are shares of this size instead of the value itself,
    /// so that queues next to nothing can be compared. `None` if it does not summarise values.
    pub least: Option<f64>,
    /// What a measure must give.
    pub needs: &'static [&'static str],
    pub read: Read,
}

/// A number that claims and figures read: one that is declared for them, or one that a study has, of the chosen
/// flows or of the run.
#[derive(Clone, Copy)]
pub struct ClaimedNumber(pub(crate) &'static Claimed);

impl Claimed {
    pub(crate) const fn new(name: &'static str, unit: &'static str, of: Of, read: Read) -> Claimed {
        Claimed { name, unit, doc: "", of, steady: false, least: None, needs: &[], read }
    }

    /// It depends on the length of a run that never reaches balance.
    pub(crate) const fn steady(mut self) -> Claimed {
        self.steady = true;
        self
    }

    setters! {
        doc(doc: &'static str) => doc = doc;
        least(least: f64) => least = Some(least);
        needs(needs: &'static [&'static str]) => needs = needs;
    }
}
