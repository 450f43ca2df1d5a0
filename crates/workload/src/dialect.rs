//! File formats of size distributions.

use crate::error::{in_file, in_line, setting};
use crate::lines::{Line, content};
use crate::warning::{SIZE_UNIT_TAKEN, SIZES_BY_THE_MEAN};
use incast_units::Fault;
use incast_units::{Bytes, Notice};
use std::fmt::Display;

/// Largest size a table may hold, in bytes: every integer up to 2^53 is exact in an `f64`.
pub(crate) const MAX_SIZE: f64 = (1u64 << 53) as f64;

/// Bytes per packet in the ns-2 family, which gives sizes in packets.
const NS2_MSS: f64 = 1460.0;

/// Tolerance of the last share, which is 1 (or 100 %): one flow in a million, since files print few
/// digits.
const END_TOLERANCE: f64 = 1e-6;

/// A mean above this is taken for a mistake in the unit, unless the unit is stated.
const LARGEST_MEAN: f64 = 1e9;

/// How far the mean that a table states may be from its own.
const MEAN_TOLERANCE: f64 = 0.01;

/// What the sizes of a table count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeUnit {
    /// Bytes.
    Bytes,
    /// Packets of 1460 B.
    Packets,
}

impl SizeUnit {
    /// Both, by name.
    pub const NAMES: [(&'static str, SizeUnit); 2] =
        [("bytes", SizeUnit::Bytes), ("packets", SizeUnit::Packets)];

    fn name(self) -> &'static str {
        match self {
            SizeUnit::Bytes => "bytes",
            SizeUnit::Packets => "packets",
        }
    }

    /// In words.
    fn words(self) -> &'static str {
        match self {
            SizeUnit::Bytes => "bytes",
            SizeUnit::Packets => "packets of 1460 B",
        }
    }

    fn other(self) -> SizeUnit {
        match self {
            SizeUnit::Bytes => SizeUnit::Packets,
            SizeUnit::Packets => SizeUnit::Bytes,
        }
    }

    fn bytes(self) -> f64 {
        match self {
            SizeUnit::Bytes => 1.0,
            SizeUnit::Packets => NS2_MSS,
        }
    }
}

/// One point of a distribution: bytes and cumulative share.
pub(crate) struct Row {
    pub(crate) size: f64,
    pub(crate) share: f64,
}

/// The dialect of a size distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `size_bytes,cdf` and rows below it.
    Native,
    /// `bytes percent`.
    Percent,
    /// `bytes probability`.
    Probability,
    /// `size 1 probability`.
    ThreeColumns,
    /// The mean alone, then `size probability`.
    Homa,
}

impl Dialect {
    fn layout(self) -> &'static str {
        match self {
            Dialect::Native => "`size_bytes,cdf`",
            Dialect::Percent => "`bytes percent`",
            Dialect::Probability => "`bytes probability`",
            Dialect::ThreeColumns => "`size 1 probability`",
            Dialect::Homa => "`size probability` below the mean",
        }
    }

    fn columns(self) -> usize {
        if self == Dialect::ThreeColumns { 3 } else { 2 }
    }

    /// The unit of its sizes, and why, where the file does not say.
    fn unit(self) -> (SizeUnit, &'static str) {
        match self {
            Dialect::Native => (SizeUnit::Bytes, "of its header"),
            Dialect::Percent | Dialect::Probability => {
                (SizeUnit::Bytes, "it has two columns, as files of HPCC and ABM do")
            }
            Dialect::ThreeColumns => {
                (SizeUnit::Packets, "it has three columns, as files of ns-2 and YAPS do")
            }
            Dialect::Homa => (SizeUnit::Bytes, "of the mean in its first line"),
        }
    }

    /// Whether a line has as many columns as this dialect's rows.
    pub(crate) fn fits(self, text: &str) -> bool {
        fields(text).len() == self.columns()
    }

    fn end(self) -> f64 {
        if self == Dialect::Percent { 100.0 } else { 1.0 }
    }
}

fn fields(text: &str) -> Vec<&str> {
    text.split(|c: char| c == ',' || c.is_whitespace()).filter(|field| !field.is_empty()).collect()
}

/// Detects the dialect from the header, the most frequent number of columns, and the shares. A
/// single broken line does not change the result.
pub(crate) fn dialect(lines: &[Line<'_>]) -> Option<Dialect> {
    let first = lines.first()?;
    if first.text.starts_with("size_bytes") {
        return Some(Dialect::Native);
    }
    let having =
        |columns: usize| lines.iter().filter(|line| fields(line.text).len() == columns).count();
    let most = [1, 2, 3].into_iter().max_by_key(|columns| having(*columns))?;
    // On a tie the first line decides.
    let first_width = fields(first.text).len();
    let width = if having(first_width) == having(most) { first_width } else { most };
    let percent = percent(lines);
    let mean = first_width == 1 && first.text.parse::<f64>().is_ok() && shares_over_1(lines) < 2;
    match (width, first_width) {
        (1 | 2, 1) if mean => Some(Dialect::Homa),
        (3, _) => Some(Dialect::ThreeColumns),
        (2, _) if first.text.contains(',') && !first.text.contains(char::is_numeric) => {
            Some(Dialect::Native)
        }
        (1 | 2, _) => Some(if percent { Dialect::Percent } else { Dialect::Probability }),
        _ => None,
    }
}

fn share(line: &Line<'_>) -> Option<f64> {
    fields(line.text).get(1).and_then(|share| share.parse::<f64>().ok())
}

fn shares_over_1(lines: &[Line<'_>]) -> usize {
    let over = |line: &&Line<'_>| share(line).is_some_and(|share| share > 1.0 + END_TOLERANCE);
    lines.iter().filter(over).count()
}

/// Whether shares are percentages: the last one is above 1, or two are, in case the last is broken.
fn percent(lines: &[Line<'_>]) -> bool {
    match lines.last().and_then(share) {
        Some(last) => last > 1.0 + END_TOLERANCE || shares_over_1(lines) > 1,
        None => shares_over_1(lines) > 0,
    }
}

fn number(file: &str, line: &Line<'_>, key: &str, text: &str) -> Result<f64, Fault> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(in_line(file, line.number, key, text, "a number, 0 or more")),
    }
}

/// A table as read: its points, and what to say about how its sizes were taken.
pub(crate) struct Sizes {
    pub(crate) rows: Vec<Row>,
    pub(crate) notices: Vec<Notice>,
}

/// Parses `text` into points with ascending sizes in bytes and shares that end at exactly 1. `unit` is
/// what the sizes count, if that is stated elsewhere.
pub(crate) fn read_sizes(text: &str, file: &str, unit: Option<SizeUnit>) -> Result<Sizes, Fault> {
    let lines = content(text);
    let Some(first) = lines.first() else {
        let expected = "at least one line of `size_bytes,cdf`";
        return Err(in_file(file, "size distribution", "", expected));
    };
    let Some(dialect) = dialect(&lines) else {
        let expected = "`size_bytes,cdf` or two or three columns of numbers";
        return Err(in_line(file, first.number, "line", first.text, expected));
    };
    let body = match dialect {
        Dialect::Native => {
            check_header(file, first, unit)?;
            &lines[1..]
        }
        Dialect::Homa => &lines[1..],
        _ => &lines[..],
    };
    let assumed = unit.unwrap_or(dialect.unit().0);
    let mut rows = Vec::with_capacity(body.len());
    for line in body {
        let row = read_row(file, line, dialect, assumed, rows.last())?;
        rows.push(row);
    }
    let rows = finish(file, body, dialect, rows)?;
    match dialect {
        Dialect::Homa => by_the_mean(file, first, rows, unit),
        _ => by_the_columns(file, dialect, rows, unit),
    }
}

fn check_header(file: &str, first: &Line<'_>, unit: Option<SizeUnit>) -> Result<(), Fault> {
    if fields(first.text) != ["size_bytes", "cdf"] {
        let expected = "the header `size_bytes,cdf`";
        return Err(in_line(file, first.number, "header", first.text, expected));
    }
    if unit == Some(SizeUnit::Packets) {
        let expected = format!("bytes: the header of {file} says so");
        return Err(setting("size_unit", "packets", expected));
    }
    Ok(())
}

/// A mean in a message.
fn shown(mean: f64) -> Bytes {
    Bytes(mean.round() as u64)
}

/// Sizes in the unit that is given, or in that which is usual for the columns.
fn by_the_columns(
    file: &str,
    dialect: Dialect,
    rows: Vec<Row>,
    given: Option<SizeUnit>,
) -> Result<Sizes, Fault> {
    let (usual, reason) = dialect.unit();
    let unit = given.unwrap_or(usual);
    let number = mean(&rows, Shape::Lines);
    let [own, other] = [unit, unit.other()].map(|unit| number * unit.bytes());
    let said = given.is_some() || dialect == Dialect::Native;
    if !said && own > LARGEST_MEAN {
        let expected = format!(
            "at most {}: sizes were taken as {}, because {reason}; as {} the mean would be {}: say \
             which with the key size_unit = \"bytes\" or \"packets\"",
            shown(LARGEST_MEAN),
            unit.words(),
            unit.other().words(),
            shown(other),
        );
        return Err(in_file(file, "mean size", shown(own), expected));
    }
    let notice = || {
        SIZE_UNIT_TAKEN.notice(&[
            ("file", &file),
            ("unit", &unit.words()),
            ("reason", &reason),
            ("mean", &shown(own)),
            ("other_unit", &unit.other().words()),
            ("other", &shown(other)),
            ("key", &unit.other().name()),
        ])
    };
    let notices = if said { vec![] } else { vec![notice()] };
    Ok(Sizes { rows: scaled(rows, unit), notices })
}

/// How the points of a table are joined.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Straight lines between the points.
    Lines,
    /// Only the sizes of the points occur.
    Steps,
}

impl Shape {
    fn words(self) -> &'static str {
        match self {
            Shape::Lines => "straight lines between the points",
            Shape::Steps => "steps, the listed sizes alone",
        }
    }
}

/// The mean of a table, in the unit of its sizes.
fn mean(rows: &[Row], shape: Shape) -> f64 {
    let first = rows.first().map_or(0.0, |row| row.size * row.share);
    let between = rows.windows(2).map(|pair| {
        let (lower, upper) = (&pair[0], &pair[1]);
        let size = match shape {
            Shape::Lines => (lower.size + upper.size) / 2.0,
            Shape::Steps => upper.size,
        };
        size * (upper.share - lower.share)
    });
    first + between.sum::<f64>()
}

/// Sizes of a table that states its mean: the first reading that has it.
fn by_the_mean(
    file: &str,
    first: &Line<'_>,
    rows: Vec<Row>,
    given: Option<SizeUnit>,
) -> Result<Sizes, Fault> {
    let stated = number(file, first, "mean", first.text)?;
    let units = [SizeUnit::Bytes, SizeUnit::Packets].into_iter();
    let readings: Vec<(SizeUnit, Shape, f64)> = units
        .filter(|unit| given.is_none_or(|given| given == *unit))
        .flat_map(|unit| [Shape::Steps, Shape::Lines].map(|shape| (unit, shape)))
        .map(|(unit, shape)| (unit, shape, mean(&rows, shape) * unit.bytes()))
        .collect();
    // Homa's own table in packets states its mean in packets, too.
    let close = |mean: f64| (mean - stated).abs() <= MEAN_TOLERANCE * stated;
    let agrees = |&&(unit, _, mean): &&(SizeUnit, Shape, f64)| {
        close(mean) || given == Some(unit) && close(mean / unit.bytes())
    };
    let Some(&(unit, shape, mean)) = readings.iter().find(agrees) else {
        let each = readings.iter().map(|(unit, shape, mean)| {
            format!("{} as {} and {}", shown(*mean), unit.words(), shape.words())
        });
        let expected = format!(
            "the mean of the table, which is {}; correct it, or remove the line: without a mean the \
             table is joined by straight lines",
            each.collect::<Vec<_>>().join(", ")
        );
        return Err(in_line(file, first.number, "mean", first.text, expected));
    };
    let largest = rows.last().map_or(0.0, |row| row.size);
    if largest * unit.bytes() > MAX_SIZE {
        let expected = format!("at most {} packets", MAX_SIZE / unit.bytes());
        return Err(in_file(file, "largest size", largest, expected));
    }
    let (other, other_mean) = (unit.other(), mean / unit.bytes() * unit.other().bytes());
    let values = &[
        ("file", &file as &dyn Display),
        ("unit", &unit.words()),
        ("shape", &shape.words()),
        ("stated", &first.text),
        ("mean", &shown(mean)),
        ("other_unit", &other.words()),
        ("other", &shown(other_mean)),
        ("key", &other.name()),
    ];
    let notices = if given.is_some() { vec![] } else { vec![SIZES_BY_THE_MEAN.notice(values)] };
    let rows = match shape {
        Shape::Lines => rows,
        Shape::Steps => steps(rows),
    };
    Ok(Sizes { rows: scaled(rows, unit), notices })
}

fn scaled(rows: Vec<Row>, unit: SizeUnit) -> Vec<Row> {
    rows.into_iter().map(|row| Row { size: row.size * unit.bytes(), ..row }).collect()
}

/// The same points with a jump at each of them and gaps between.
fn steps(rows: Vec<Row>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::with_capacity(2 * rows.len());
    for row in rows {
        if let Some(share) = all.last().map(|before| before.share) {
            all.push(Row { size: row.size, share });
        }
        all.push(row);
    }
    all
}

/// Parses one line as the point after `previous`; the size stays in the unit of the file, `unit`.
fn read_row(
    file: &str,
    line: &Line<'_>,
    dialect: Dialect,
    unit: SizeUnit,
    previous: Option<&Row>,
) -> Result<Row, Fault> {
    let fail = |key: &str, value: &str, accepted: String| {
        Err(in_line(file, line.number, key, value, accepted))
    };
    let columns = fields(line.text);
    if columns.len() != dialect.columns() {
        return fail("line", line.text, format!("the columns {}", dialect.layout()));
    }
    if dialect == Dialect::ThreeColumns && number(file, line, "column 2", columns[1])? != 1.0 {
        return fail("column 2", columns[1], format!("1, as in {}", dialect.layout()));
    }
    let share_text = columns[columns.len() - 1];
    let size = number(file, line, "size", columns[0])?;
    let written = number(file, line, "cdf", share_text)?;
    let (end, floor) = (dialect.end(), previous.map_or(0.0, |row| row.size));
    let most = MAX_SIZE / unit.bytes();
    if size < floor || size > most {
        let unit = unit.name();
        return fail("size", columns[0], format!("{floor} (the line before) to {most} {unit}"));
    }
    let share = written / end;
    let floor = previous.map_or(0.0, |row| row.share);
    if share < floor || share > 1.0 + END_TOLERANCE {
        return fail(
            "cdf",
            share_text,
            format!("{} (the line before) to {end}", (floor * end * 1e9).round() / 1e9),
        );
    }
    Ok(Row { size, share: share.min(1.0) })
}

/// Checks the end of the table and sets the last share to exactly 1.
fn finish(
    file: &str,
    body: &[Line<'_>],
    dialect: Dialect,
    mut rows: Vec<Row>,
) -> Result<Vec<Row>, Fault> {
    let (Some(last), Some(line)) = (rows.last_mut(), body.last()) else {
        let expected = format!("at least one line of {}", dialect.layout());
        return Err(in_file(file, "size distribution", "", expected));
    };
    if last.share < 1.0 - END_TOLERANCE {
        let columns = fields(line.text);
        let accepted = format!("{} in the last line", dialect.end());
        return Err(in_line(file, line.number, "cdf", columns[columns.len() - 1], accepted));
    }
    if last.size < 1.0 {
        let expected = "a largest size of at least 1";
        return Err(in_line(file, line.number, "size", last.size, expected));
    }
    last.share = 1.0;
    Ok(rows)
}
