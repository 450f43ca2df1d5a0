//! Values of ports by the rate of their links.

use crate::Rate;
use crate::parameter::{Setting, Value, read};
use incast_units::fault::{Fault, Problem, wrong};

/// Values for ports of some rates, written `10Gbps=97.5KB,40Gbps=390KB`, or `none`. Ports of other
/// rates follow another parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRate<T>(Vec<(Rate, T)>);

impl<T> ByRate<T> {
    /// No values.
    pub const NONE: ByRate<T> = ByRate(Vec::new());

    /// The value for ports of this rate, if there is one.
    pub fn at(&self, rate: Rate) -> Option<&T> {
        self.0.iter().find(|(of, _)| *of == rate).map(|(_, value)| value)
    }

    /// Whether all values satisfy `valid`.
    pub fn all(&self, valid: impl Fn(&T) -> bool) -> bool {
        self.0.iter().all(|(_, value)| valid(value))
    }
}

impl<T: Value> ByRate<T> {
    /// Refuses a value for a rate that no port has; `rates` are those of the fabric.
    ///
    /// # Errors
    /// Such a rate, as an error of the parameter `key`.
    pub fn check(&self, key: &'static str, rates: &[Rate]) -> Result<(), Fault> {
        let Some((unused, _)) = self.0.iter().find(|(rate, _)| !rates.contains(rate)) else {
            return Ok(());
        };
        let there: Vec<String> = rates.iter().map(Rate::to_string).collect();
        let problem = wrong(format!("no port has {unused}"));
        let accepted = format!("rates of {}", there.join(", "));
        Err(Fault::value(key, self.show(), problem.expected(accepted)))
    }
}

impl<T: Value> Value for ByRate<T> {
    fn read(setting: &Setting) -> Result<ByRate<T>, Problem> {
        let (text, mut all) = (setting.to_string(), vec![]);
        if text.trim() == "none" {
            return Ok(ByRate(all));
        }
        for entry in text.split(',') {
            let (rate, value) = entry.split_once('=').ok_or_else(|| {
                wrong(format!("`{}`", entry.trim())).expected("RATE=VALUE, or none")
            })?;
            let (rate, value) = (rate.trim(), value.trim());
            let part = |part: String| move |problem: Problem| problem.in_part(&part);
            let rate: Rate = read(rate).map_err(part(format!("`{rate}`")))?;
            if all.iter().any(|(other, _)| *other == rate) {
                return Err(wrong(format!("{rate} is given twice")));
            }
            let value = read(value).map_err(part(format!("{rate}: `{value}`")))?;
            all.push((rate, value));
        }
        Ok(ByRate(all))
    }

    fn show(&self) -> String {
        let shown: Vec<String> =
            self.0.iter().map(|(rate, value)| format!("{rate}={}", value.show())).collect();
        if shown.is_empty() { "none".into() } else { shown.join(",") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;

    fn table(text: &str) -> Result<ByRate<Bytes>, Problem> {
        read(text)
    }

    #[test]
    fn values_are_read_and_shown() {
        let read_one = table("10Gbps=97500B, 40Gbps=390KB").unwrap();
        assert_eq!(read_one.at(Rate::from_gbps(10)), Some(&Bytes(97_500)));
        assert_eq!(read_one.at(Rate::from_gbps(40)), Some(&Bytes(390_000)));
        assert_eq!(read_one.at(Rate::from_gbps(25)), None);
        assert_eq!(table(&read_one.show()), Ok(read_one));
        assert_eq!(
            (table("none"), ByRate::<Bytes>::NONE.show()),
            (Ok(ByRate::NONE), "none".into())
        );
        for (text, problem) in [
            ("10Gbps", "RATE=VALUE"),
            ("", "RATE=VALUE"),
            ("10Gbps=1KB,10Gbps=2KB", "twice"),
            ("10Gbps=soon", "10Gbps: "),
            ("fast=1KB", "fast"),
        ] {
            let error = table(text).unwrap_err().sentence();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn a_rate_that_no_port_has_is_refused() {
        let rates = [Rate::from_gbps(10), Rate::from_gbps(40)];
        let check = |text| table(text).unwrap().check("k", &rates);
        assert_eq!(check("40Gbps=1KB"), Ok(()));
        let error = check("10Gbps=1KB,100Gbps=2KB").unwrap_err();
        assert_eq!(error.key(), Some("k"));
        assert!(error.problem().contains("no port has 100Gbps"), "{error}");
        assert!(error.problem().contains("10Gbps, 40Gbps"), "{error}");
    }
}
