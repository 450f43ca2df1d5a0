//! File formats of size distributions.

use crate::error::WorkloadError;
use crate::lines::{Line, content};

/// Largest size a table may hold, in bytes: every integer up to 2^53 is exact in an `f64`.
pub(crate) const MAX_SIZE: f64 = (1u64 << 53) as f64;

/// Bytes per packet in the ns-2 family, which gives sizes in packets.
const NS2_MSS: f64 = 1460.0;

/// Tolerance of the last share, which is 1 (or 100 %): one flow in a billion.
const END_TOLERANCE: f64 = 1e-9;

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
    /// `packets 1 probability`.
    Packets,
    /// The mean alone, then `size probability`.
    Homa,
}

impl Dialect {
    fn layout(self) -> &'static str {
        match self {
            Dialect::Native => "`size_bytes,cdf`",
            Dialect::Percent => "`bytes percent`",
            Dialect::Probability => "`bytes probability`",
            Dialect::Packets => "`packets 1 probability`",
            Dialect::Homa => "`size probability` below the mean",
        }
    }

    fn columns(self) -> usize {
        if self == Dialect::Packets { 3 } else { 2 }
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
        (3, _) => Some(Dialect::Packets),
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
    lines.iter().filter(|line| share(line).is_some_and(|share| share > 1.0)).count()
}

/// Whether shares are percentages: the last one is above 1, or two are, in case the last is broken.
fn percent(lines: &[Line<'_>]) -> bool {
    match lines.last().and_then(share) {
        Some(last) => last > 1.0 || shares_over_1(lines) > 1,
        None => shares_over_1(lines) > 0,
    }
}

fn number(file: &str, line: &Line<'_>, key: &str, text: &str) -> Result<f64, WorkloadError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(WorkloadError::line(file, line.number, key, text, "a number, 0 or more")),
    }
}

/// Parses `text` into points with ascending sizes and shares that end at exactly 1.
pub(crate) fn read_sizes(text: &str, file: &str) -> Result<Vec<Row>, WorkloadError> {
    let lines = content(text);
    let Some(first) = lines.first() else {
        let expected = "at least one line of `size_bytes,cdf`";
        return Err(WorkloadError::file(file, "size distribution", "", expected));
    };
    let Some(dialect) = dialect(&lines) else {
        let expected = "`size_bytes,cdf` or two or three columns of numbers";
        return Err(WorkloadError::line(file, first.number, "line", first.text, expected));
    };
    let body = match dialect {
        Dialect::Native => {
            if fields(first.text) != ["size_bytes", "cdf"] {
                let expected = "the header `size_bytes,cdf`";
                return Err(WorkloadError::line(
                    file,
                    first.number,
                    "header",
                    first.text,
                    expected,
                ));
            }
            &lines[1..]
        }
        Dialect::Homa => {
            let mean = number(file, first, "mean", first.text)?;
            if mean > MAX_SIZE {
                let expected = format!("0 to {MAX_SIZE}");
                return Err(WorkloadError::line(file, first.number, "mean", first.text, expected));
            }
            &lines[1..]
        }
        _ => &lines[..],
    };
    let mut rows = Vec::with_capacity(body.len());
    for line in body {
        let row = read_row(file, line, dialect, rows.last())?;
        rows.push(row);
    }
    finish(file, body, dialect, rows)
}

/// Parses one line as the point after `previous`.
fn read_row(
    file: &str,
    line: &Line<'_>,
    dialect: Dialect,
    previous: Option<&Row>,
) -> Result<Row, WorkloadError> {
    let fail = |key: &str, value: &str, accepted: String| {
        Err(WorkloadError::line(file, line.number, key, value, accepted))
    };
    let columns = fields(line.text);
    if columns.len() != dialect.columns() {
        return fail("line", line.text, format!("the columns {}", dialect.layout()));
    }
    if dialect == Dialect::Packets && number(file, line, "column 2", columns[1])? != 1.0 {
        return fail("column 2", columns[1], format!("1, as in {}", dialect.layout()));
    }
    let share_text = columns[columns.len() - 1];
    let scale = if dialect == Dialect::Packets { NS2_MSS } else { 1.0 };
    let size = number(file, line, "size", columns[0])? * scale;
    let written = number(file, line, "cdf", share_text)?;
    let (end, floor) = (dialect.end(), previous.map_or(0.0, |row| row.size));
    if size < floor || size > MAX_SIZE {
        let unit = if dialect == Dialect::Packets { "packets" } else { "bytes" };
        let (low, high) = (floor / scale, MAX_SIZE / scale);
        return fail("size", columns[0], format!("{low} (the line before) to {high} {unit}"));
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
) -> Result<Vec<Row>, WorkloadError> {
    let (Some(last), Some(line)) = (rows.last_mut(), body.last()) else {
        let expected = format!("at least one line of {}", dialect.layout());
        return Err(WorkloadError::file(file, "size distribution", "", expected));
    };
    if last.share < 1.0 - END_TOLERANCE {
        let columns = fields(line.text);
        let accepted = format!("{} in the last line", dialect.end());
        return Err(WorkloadError::line(
            file,
            line.number,
            "cdf",
            columns[columns.len() - 1],
            accepted,
        ));
    }
    if last.size < 1.0 {
        let expected = "a largest size of at least 1 byte";
        return Err(WorkloadError::line(file, line.number, "size", last.size, expected));
    }
    last.share = 1.0;
    Ok(rows)
}
