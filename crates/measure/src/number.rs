//! Formatting of numbers for display.

/// A number with four significant digits and no exponent: `0.01234`, `12.34`, `1234`, `123456`.
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (3 - magnitude).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// A value and the half width of its interval, both to two digits of the half width and at least to
/// the unit: `4.15` and `0.34`, `203` and `53`. Of no width, or less than a ten-thousandth of the value, four digits.
pub fn with_half_width(value: f64, half_width: f64) -> (String, String) {
    if half_width <= value.abs() * 1e-4 || !half_width.is_finite() {
        let two = format!("{half_width:.1e}").parse().unwrap_or(half_width);
        return (significant(value), significant(two));
    }
    // The first digit of the width once it is rounded: 0.0996 is 0.10.
    let magnitude = format!("{half_width:.1e}");
    let magnitude: i32 = magnitude.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
    let decimals = (1 - magnitude).clamp(0, 9) as usize;
    let shown = format!("{value:.decimals$}");
    let zero = shown.bytes().all(|byte| b"-0.".contains(&byte));
    let shown = if zero { shown.trim_start_matches('-').to_string() } else { shown };
    (shown, format!("{half_width:.decimals$}"))
}

/// A mean with its interval: `4.15 ± 0.34`, or `9 (0 to 38)` where the mean less the half width is below `floor`, which is
/// impossible. `sign` stands between mean and half width.
pub(crate) fn with_interval(mean: f64, half_width: f64, floor: f64, sign: &str) -> String {
    let (text, width) = with_half_width(mean, half_width);
    match mean - half_width < floor {
        true => {
            let (high, _) = with_half_width(mean + half_width, half_width);
            format!("{text} ({} to {high})", significant(floor))
        }
        false => format!("{text}{sign}{width}"),
    }
}

/// A number of a table: three significant digits and every digit before the point; whole numbers as they are.
pub(crate) fn three(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || value.fract() == 0.0 {
        return significant(value);
    }
    let magnitude = value.abs().log10().floor() as i32;
    format!("{value:.*}", (2 - magnitude).clamp(0, 9) as usize)
}

/// Texts of numbers as a column whose decimal points are below each other: `digit` and `point` fill where a text has none.
pub(crate) fn aligned(texts: &[String], digit: char, point: char) -> Vec<String> {
    let parts = |text: &str| {
        let number = |c: char| c.is_ascii_digit() || c == '-' || c == '\u{2212}';
        let whole = text.chars().take_while(|c| number(*c)).count();
        (whole, text.chars().count() - whole)
    };
    let most = |of: fn((usize, usize)) -> usize| {
        texts.iter().map(|text| of(parts(text))).max().unwrap_or(0)
    };
    let (wholes, rests) = (most(|(whole, _)| whole), most(|(_, rest)| rest));
    let fill = |text: &String| {
        let (whole, rest) = parts(text);
        // A point takes less room than a digit.
        let behind = (rest..rests).map(|at| if at == 0 { point } else { digit });
        let before = std::iter::repeat_n(digit, wholes - whole);
        before.chain(text.chars()).chain(behind).collect()
    };
    texts.iter().map(fill).collect()
}

/// Cells of a column of an HTML table: three digits, points below each other, all digits under the pointer. A dash where there is
/// no number.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn column(values: &[Option<f64>]) -> Vec<String> {
    let text = |value: &Option<f64>| value.map_or("\u{2013}".into(), three);
    let texts = aligned(&values.iter().map(text).collect::<Vec<String>>(), '\u{2007}', '\u{2008}');
    let cell = |(text, value): (&String, &Option<f64>)| match value {
        Some(value) if three(*value) != value.to_string() => {
            format!("<td title=\"{value}\">{text}</td>")
        }
        _ => format!("<td>{text}</td>"),
    };
    texts.iter().zip(values).map(cell).collect()
}

/// A size of a flow: `500 B`, `10 KB`, `1.5 MB` (KB = 1000 bytes).
#[cfg(not(target_family = "wasm"))]
pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        b if b >= 1e9 => format!("{} GB", significant(b / 1e9)),
        b if b >= 1e6 => format!("{} MB", significant(b / 1e6)),
        b if b >= 1e3 => format!("{} KB", significant(b / 1e3)),
        b => format!("{} B", significant(b)),
    }
}

/// The unit in which times up to `largest_ns` are read best, and its length in nanoseconds.
pub(crate) fn time_unit(largest_ns: f64) -> (&'static str, f64) {
    match largest_ns {
        ns if ns >= 2e9 => ("s", 1e9),
        ns if ns >= 2e6 => ("ms", 1e6),
        ns if ns >= 2e3 => ("µs", 1e3),
        _ => ("ns", 1.0),
    }
}

/// The unit in which values of a column up to `largest` are read best, and what they are divided by.
#[cfg(not(target_family = "wasm"))]
pub fn display_unit(unit: &str, largest: f64) -> (&str, f64) {
    match unit {
        "ns" => time_unit(largest),
        "bytes" if largest >= 2e6 => ("MB", 1e6),
        "bytes" => ("KB", 1e3),
        unit => (unit, 1.0),
    }
}

/// Text that is safe between tags and in attributes of HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.012344, "0.01234"),
            (12.3449, "12.34"),
            (999.96, "1000"),
            (123456.7, "123457"),
            (-2.5, "-2.5"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
        assert_eq!(size(1500.0), "1.5 KB");
        assert_eq!(size(100_000.0), "100 KB");
    }

    #[test]
    fn an_interval_decides_the_digits() {
        let shown = |value, width| {
            let (value, width) = with_half_width(value, width);
            format!("{value} ± {width}")
        };
        assert_eq!(shown(4.1541, 0.3359), "4.15 ± 0.34");
        assert_eq!(shown(202.61, 53.29), "203 ± 53");
        assert_eq!(shown(2.0086, 0.0996), "2.01 ± 0.10");
        assert_eq!(shown(12345.6, 1234.0), "12346 ± 1234");
        assert_eq!(shown(2.0, 0.0), "2 ± 0");
        assert_eq!(shown(0.99512, 0.00004047), "0.9951 ± 0.00004");
        assert_eq!(shown(0.0, 0.0), "0 ± 0");
        assert_eq!(shown(-0.0021, 0.33), "0.00 ± 0.33");
        assert_eq!(shown(99.99999, 0.0000012), "100 ± 0.0000012");
    }

    #[test]
    fn an_interval_of_what_is_never_negative_ends_at_zero() {
        assert_eq!(with_interval(4.1541, 0.3359, 0.0, " ± "), "4.15 ± 0.34");
        assert_eq!(with_interval(9.02, 28.4, 0.0, " ± "), "9 (0 to 37)");
        assert_eq!(with_interval(-1.0, 3.0, f64::NEG_INFINITY, " ± "), "-1.0 ± 3.0");
    }

    #[test]
    fn numbers_of_a_column_have_three_digits_and_their_points_below_each_other() {
        let values = [2.0131, 84.14, 1980.4, 100.0, 0.17609, 244_873.0];
        let texts: Vec<String> = values.into_iter().map(three).collect();
        assert_eq!(texts, ["2.01", "84.1", "1980", "100", "0.176", "244873"]);
        let column = aligned(&["2.01".into(), "84.1".into(), "1980".into(), "-".into()], ' ', '_');
        assert_eq!(column, ["   2.01", "  84.1 ", "1980_  ", "   -_  "]);
        let cells = super::column(&[Some(2.01314), None, Some(3.0)]);
        assert_eq!(cells[0], "<td title=\"2.01314\">2.01</td>");
        assert_eq!(cells[2], "<td>3\u{2008}\u{2007}\u{2007}</td>");
    }

    #[test]
    fn escapes_markup() {
        assert_eq!(escape("<b a=\"'&\">"), "&lt;b a=&quot;&#39;&amp;&quot;&gt;");
    }
}
