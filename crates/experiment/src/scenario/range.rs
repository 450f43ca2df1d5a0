//! Ranges of values: `{ from = 0.1, to = 0.9, step = 0.1 }`.

use super::Field;
use super::key::{Key, Preset};
use super::node::{Node, Value};
use super::section::{Section, Table, join, within};
use super::section::{brief, first, preset, read_key, section, section_field};
use crate::Fault;
use crate::fault::{Problem, expected, wrong};
use incast_transport::{Bytes, Rate, Span};
use std::convert::Infallible;

/// Most values of a range.
const MOST: f64 = 100_000.0;

section! {
    /// A range of numbers, or of quantities of one kind: times, sizes or rates.
    pub struct Range is "a range" {
        /// The first value.
        from: Any;
        /// The last value; what no step reaches is left out.
        to: Any;
        /// What is added from value to value.
        step: Option<Any> = None;
        /// What values are multiplied by.
        factor: Option<f64> = None, "a number above 1" => |factor| *factor > 1.0 && factor.is_finite();
        /// Number of values, both ends included.
        count: Option<u32> = None, "2 to 100000" => |count| (2..=100_000).contains(count);
        /// Whether `count` values have equal differences (`linear`) or equal ratios (`log`).
        scale: String = "linear".into(), "linear or log" => |scale| ["linear", "log"].contains(&scale.as_str());
    }
}

section_field! { Range }

/// A number as it was written: its value, digits after the point, unit, and whether it is whole.
struct Number {
    value: f64,
    decimals: usize,
    unit: String,
    text: bool,
    whole: bool,
}

fn number(node: &Node, path: &str) -> Result<Number, Fault> {
    let refused = || Fault::value(path, node, expected("a number, or a quantity such as `10us`"));
    let written = node.to_string();
    let text = match &node.value {
        Value::Whole(_) | Value::Number(_) => false,
        Value::Text(_) => true,
        _ => return Err(refused()),
    };
    let unit = written.find(|c: char| !c.is_ascii_digit() && !['.', '-', '+'].contains(&c));
    let (digits, unit) = written.split_at(unit.unwrap_or(written.len()));
    let value: f64 = digits.trim().parse().map_err(|_| refused())?;
    if !value.is_finite() {
        return Err(refused());
    }
    let decimals = digits.trim().split_once('.').map_or(0, |(_, after)| after.len());
    let whole = matches!(node.value, Value::Whole(_));
    Ok(Number { value, decimals, unit: unit.trim().to_string(), text, whole })
}

impl Number {
    /// The same in the unit of another; none if it is of another kind.
    fn within(self, other: &Number) -> Option<Number> {
        if self.unit == other.unit && self.text == other.text {
            return Some(self);
        }
        let ((kind, own), (its, scale)) = (scale(&self.unit)?, scale(&other.unit)?);
        if kind != its {
            return None;
        }
        let value = self.value * own as f64 / scale as f64;
        let decimals = value.to_string().split_once('.').map_or(0, |(_, after)| after.len());
        Some(Number { value, decimals, unit: other.unit.clone(), ..self })
    }

    /// A value in its unit, in whole picoseconds, bytes or bits per second if it has one.
    fn whole_units(&self, value: f64) -> f64 {
        match scale(&self.unit) {
            Some((_, scale)) => (value * scale as f64).round() / scale as f64,
            None => value,
        }
    }
}

/// What a unit measures, and how many of the smallest of its kind it is.
fn scale(unit: &str) -> Option<(&'static str, u64)> {
    let one = format!("1{unit}");
    let time = one.parse().map(|Span(ps)| ("time", ps));
    let size = || one.parse().map(|Bytes(bytes)| ("size", bytes));
    let rate = || one.parse().map(|Rate(bits)| ("rate", bits));
    time.or_else(|_| size()).or_else(|_| rate()).ok()
}

/// The values of a range, both ends included.
///
/// # Errors
/// A key that is missing, unknown or beyond its range; a range that never reaches its end, or has
/// more than 100,000 values.
pub fn values(node: &Node, path: &str) -> Result<Vec<Node>, Fault> {
    let range = Range::read(node, path)?;
    range.check_keys(path)?;
    let at = |key: &str| join(path, key);
    let from = number(&range.from.0, &at("from"))?;
    let alike = |key: &str, node: &Node| {
        let problem = || expected(format!("a value of the kind of `from`, {}", range.from.0));
        let found = number(node, &at(key))?;
        found.within(&from).ok_or_else(|| Fault::value(at(key), node, problem()))
    };
    let to = alike("to", &range.to.0)?;
    let step = range.step.as_ref().map(|step| alike("step", &step.0)).transpose()?;
    let all = match (step, range.factor, range.count) {
        (Some(step), None, None) => added(&from, &to, &step, &at("step"))?,
        (None, Some(factor), None) => multiplied(&from, &to, factor, path)?,
        (None, None, Some(count)) => spread(&from, &to, count, &range.scale, path)?,
        _ => {
            let problem =
                expected("one of the keys `step`, `factor` and `count` beside `from` and `to`");
            return Err(Fault::at(path, problem));
        }
    };
    let node = |value: f64| {
        let value = match (from.text, from.whole && to.whole && value.fract() == 0.0) {
            (true, _) => Value::Text(format!("{}{}", from.whole_units(value), from.unit)),
            (false, true) => Value::Whole(value as i128),
            (false, false) => Value::Number(value),
        };
        Node { value, origin: node.origin }
    };
    Ok(all.into_iter().map(node).collect())
}

/// Refuses a range that never reaches its end, or has too many values.
fn countable(count: f64, path: &str, never: Problem) -> Result<usize, Fault> {
    if !(0.0..=f64::MAX).contains(&count) {
        return Err(Fault::at(path, never.in_part(&"the range never ends")));
    }
    if count >= MOST {
        let problem = wrong(format!("{count} values")).expected(format!("at most {MOST}"));
        return Err(Fault::at(path, problem));
    }
    Ok(count as usize)
}

/// Steps are exact in decimals: 0.1 + 0.2 is 0.3.
fn added(from: &Number, to: &Number, step: &Number, path: &str) -> Result<Vec<f64>, Fault> {
    let count = (to.value - from.value) / step.value;
    let never = expected("a step that leads from `from` to `to`");
    let count = countable((count + 1e-9).floor(), path, never)?;
    let decimals = from.decimals.max(step.decimals);
    let value = |at: usize| rounded(from.value + at as f64 * step.value, decimals);
    Ok((0..=count).map(value).collect())
}

fn multiplied(from: &Number, to: &Number, factor: f64, path: &str) -> Result<Vec<f64>, Fault> {
    let count = (to.value / from.value).ln() / factor.ln();
    let never = expected("`from` above 0 and `to` not below it");
    let count = countable((count + 1e-9).floor(), path, never)?;
    Ok((0..=count).map(|at| significant(from.value * factor.powi(at as i32))).collect())
}

fn spread(
    from: &Number,
    to: &Number,
    count: u32,
    scale: &str,
    path: &str,
) -> Result<Vec<f64>, Fault> {
    if scale == "log" && !(from.value > 0.0 && to.value > 0.0) {
        return Err(Fault::at(path, expected("`from` and `to` above 0 for scale = \"log\"")));
    }
    let value = |at: u32| {
        let share = f64::from(at) / f64::from(count - 1);
        let value = match scale {
            "log" => from.value * (to.value / from.value).powf(share),
            _ => from.value + (to.value - from.value) * share,
        };
        let value = if from.whole && to.whole { value.round() } else { significant(value) };
        // The ends are as they were written.
        if at == 0 {
            from.value
        } else if at + 1 == count {
            to.value
        } else {
            value
        }
    };
    Ok((0..count).map(value).collect())
}

/// Rounded to so many digits after the point.
fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().expect("a number that was printed")
}

/// Rounded to six significant digits.
fn significant(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a number that was printed")
}

/// A value of any type.
#[derive(Clone, Debug, PartialEq)]
pub struct Any(pub Node);

impl Field for Any {
    type Item = Infallible;
    fn expects() -> String {
        "a value".into()
    }
    fn read(node: &Node, _path: &str) -> Result<Any, Fault> {
        Ok(Any(node.clone()))
    }
    fn write(&self) -> Option<Node> {
        Some(self.0.clone())
    }
    fn items(&self) -> Vec<&Infallible> {
        vec![]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<String, String> {
        let node =
            Node::document(&format!("x = {text}"), "t").map_err(|fault| fault.to_string())?;
        let list =
            values(node.get("x").unwrap(), "study.vary.x").map_err(|fault| fault.to_string())?;
        Ok(list.iter().map(Node::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn ranges_have_both_ends_and_no_rounding_errors() {
        let known = [
            ("{ from = 0.1, to = 0.9, step = 0.1 }", "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9"),
            ("{ from = 1, to = 8, step = 3 }", "1 4 7"),
            ("{ from = 8, to = 2, step = -2 }", "8 6 4 2"),
            ("{ from = \"10us\", to = \"30us\", step = \"10us\" }", "10us 20us 30us"),
            ("{ from = 1, to = 1000, factor = 10 }", "1 10 100 1000"),
            ("{ from = 1, to = 100, count = 3, scale = \"log\" }", "1 10 100"),
            ("{ from = \"1KB\", to = \"2KB\", count = 5 }", "1KB 1.25KB 1.5KB 1.75KB 2KB"),
            ("{ from = 0.5, to = 0.5, step = 1 }", "0.5"),
            ("{ from = \"500ns\", to = \"2us\", step = \"0.5us\" }", "500ns 1000ns 1500ns 2000ns"),
            ("{ from = \"1KB\", to = \"2KB\", step = \"300B\" }", "1KB 1.3KB 1.6KB 1.9KB"),
            (
                "{ from = \"1us\", to = \"1ms\", count = 4, scale = \"log\" }",
                "1us 10us 100us 1000us",
            ),
            // In whole bytes.
            ("{ from = \"1KB\", to = \"3KB\", count = 4 }", "1KB 1.667KB 2.333KB 3KB"),
            ("{ from = \"1Gbps\", to = \"1Tbps\", factor = 10 }", "1Gbps 10Gbps 100Gbps 1000Gbps"),
        ];
        for (text, values) in known {
            assert_eq!(of(text).as_deref(), Ok(values), "{text}");
        }
    }

    #[test]
    fn ranges_that_never_end_are_refused() {
        let known = [
            ("{ from = 0.1, to = 0.9, step = 0 }", "never ends"),
            ("{ from = 0.1, to = 0.9, step = -0.1 }", "never ends"),
            ("{ from = 0, to = 9, factor = 2 }", "never ends"),
            ("{ from = 1, to = 9, factor = 1 }", "a number above 1"),
            ("{ from = 0.1, to = 0.9, step = 1e-9 }", "at most 100000"),
            ("{ from = 0.1, to = 0.9 }", "`step`, `factor` and `count`"),
            ("{ from = 0.1, too = 0.9, step = 1 }", "did you mean `to`?"),
            (
                "{ from = \"1us\", to = \"1KB\", step = \"1us\" }",
                "to = `1KB`: expected a value of the kind of",
            ),
            ("{ from = \"1us\", to = 9, step = \"1us\" }", "of the kind of `from`, 1us"),
            ("{ from = \"1us\", to = \"1ms\", step = \"0s\" }", "never ends"),
            ("{ from = true, to = 2, step = 1 }", "expected a number"),
            ("{ from = -1, to = 2, count = 3, scale = \"log\" }", "above 0"),
            ("{ from = inf, to = 2, count = 3 }", "expected a number"),
        ];
        for (text, why) in known {
            let said = of(text).expect_err(text);
            assert!(said.contains(why) && said.contains("study.vary.x"), "{text}: {said}");
        }
    }
}
