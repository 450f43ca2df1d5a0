//! The lines of a text file.

/// A non-empty line without comments (`#` to the end) and outer blanks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Line number, from 1.
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

/// The non-empty lines of `text`.
pub(crate) fn content(text: &str) -> Vec<Line<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let strip = |raw| str::split(raw, '#').next().unwrap_or("").trim();
    let lines = text.lines().map(strip).enumerate();
    lines
        .filter(|(_, text)| !text.is_empty())
        .map(|(i, text)| Line { number: i + 1, text })
        .collect()
}
