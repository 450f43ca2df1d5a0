//! The models' functions by name, for `claims.toml`.

use incast_experiment::fault::{expected, one_of, wrong};
use incast_experiment::{Fault, nearest};
use incast_models::ren::{Repeats, Scheme};
use incast_models::{amrt, credit, decn, fasttune, ren};
use incast_protocols::CATALOGUE;
use incast_transport::{Framing, Rate, Span};
use incast_wire::{Explicit, Extension};
use serde::Deserialize;
use std::collections::BTreeMap;

/// An argument: a number, or a text such as `10Gbps`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A quantity or a name.
    Text(String),
}

/// Arguments by name.
pub struct Arguments(pub BTreeMap<String, Value>);

/// A function with the names of its arguments.
pub struct Function {
    name: &'static str,
    arguments: &'static [&'static str],
    evaluate: fn(&Arguments) -> Result<f64, Fault>,
}

/// Bytes of a packet in REN's and AMRT's sections on numbers: 1.5 KB.
const PACKET: f64 = 1500.0;

/// All functions. The crate `incast-models` documents them under the same names.
const FUNCTIONS: &[Function] = &[
    Function {
        name: "ren.mean_queue",
        arguments: &["scheme", "rate", "rtt", "arriving", "leaving", "rounds", "repeats", "seed"],
        evaluate: |a| {
            let bdp = ren::bdp_packets(a.rate("rate")?, a.span("rtt")?, PACKET);
            let (arriving, leaving) = (a.strength("arriving")?, a.strength("leaving")?);
            Ok(ren::mean_queue(a.scheme()?, bdp, arriving, leaving, a.repeats()?))
        },
    },
    Function {
        name: "ren.mean_utilisation",
        arguments: &["scheme", "flows", "leaving", "rounds", "repeats", "seed"],
        evaluate: |a| {
            let flows = a.count("flows")?;
            Ok(ren::mean_utilisation(a.scheme()?, flows, a.strength("leaving")?, a.repeats()?))
        },
    },
    Function {
        name: "amrt.fill_rounds",
        arguments: &["full", "vacant", "places"],
        evaluate: |a| {
            let (full, vacant) = (a.count("full")?, a.count("vacant")?);
            if vacant >= full {
                return Err(Fault::value(
                    "vacant",
                    vacant,
                    expected(format!("less than full = {full}")),
                ));
            }
            Ok(match a.one_of("places", &["spread", "consecutive"])? {
                0 => amrt::fill_rounds_spread(full, vacant),
                _ => amrt::fill_rounds_consecutive(vacant),
            } as f64)
        },
    },
    Function {
        name: "amrt.utilisation_gain",
        arguments: &["rate", "rtt", "size", "reduced", "after", "full"],
        evaluate: |a| a.reduced().map(|(flow, full)| flow.utilisation_gain(full)),
    },
    Function {
        name: "amrt.fct_gain",
        arguments: &["rate", "rtt", "size", "reduced", "after", "full"],
        evaluate: |a| a.reduced().map(|(flow, full)| flow.fct_gain(full)),
    },
    Function { name: "decn.feedback_bits", arguments: &["scheme"], evaluate: |a| a.bits() },
    Function {
        name: "decn.packets_up_to",
        arguments: &["packets", "bytes"],
        evaluate: |a| Ok(decn::packets_up_to(a.packets()?, a.count("bytes")? as u64)),
    },
    Function {
        name: "decn.packet_percentile",
        arguments: &["packets", "share"],
        evaluate: |a| Ok(decn::packet_percentile(a.packets()?, a.within("share", 0.0, 1.0)?)),
    },
    Function {
        name: "decn.overhead",
        arguments: &["scheme", "packets", "share"],
        evaluate: |a| {
            let share = a.within("share", 0.0, 1.0)?;
            Ok(decn::overhead(a.bits()?, decn::packet_percentile(a.packets()?, share)))
        },
    },
    Function {
        name: "transport.feedback_bits",
        arguments: &["transport"],
        evaluate: |a| {
            let name = a.text("transport")?;
            let infos = || CATALOGUE.iter().map(|entry| entry.info());
            let info = infos().find(|info| info.name == name);
            info.and_then(|info| info.feedback_bits).map(f64::from).ok_or_else(|| {
                let counted = infos().filter(|info| info.feedback_bits.is_some());
                let names: Vec<_> = counted.map(|info| info.name).collect();
                Fault::value("transport", name, one_of(name, names.iter().copied()))
            })
        },
    },
    Function {
        name: "wire.feedback_bits",
        arguments: &["extension"],
        evaluate: |a| {
            let names = ["none", "window", "rate"];
            let extension = match a.one_of("extension", &names)? {
                0 => Extension::None,
                1 => Extension::explicit(Explicit::Window {
                    long: false,
                    rtt: 0,
                    spacing: 0,
                    feedback: 0,
                    reverse: 0,
                }),
                _ => Extension::explicit(Explicit::Rate { rtt: 0, forward: 0, reverse: 0 }),
            };
            Ok(8.0 * extension.bytes() as f64)
        },
    },
    Function {
        name: "wire.credit_share",
        arguments: &[],
        evaluate: |_| {
            let links = Framing::ETHERNET;
            Ok(credit::credit_share(links.charged_header() as f64, links.charged_mtu() as f64))
        },
    },
    Function {
        name: "fasttune.first_rtt_share",
        arguments: &["workload", "rate", "rtt"],
        evaluate: |a| {
            let table = incast_workload::table(a.text("workload")?)?;
            Ok(fasttune::first_rtt_share(table, a.rate("rate")?, a.span("rtt")?))
        },
    },
    Function {
        name: "fasttune.hpcc_utility",
        arguments: &["switches"],
        evaluate: |a| a.count("switches").map(fasttune::hpcc_utility),
    },
    Function {
        name: "fasttune.utility",
        arguments: &["passed", "switches"],
        evaluate: |a| {
            let (passed, switches) = (a.count("passed")?, a.count("switches")?);
            if passed > switches {
                return Err(Fault::value(
                    "passed",
                    passed,
                    expected(format!("at most switches = {switches}")),
                ));
            }
            Ok(fasttune::fasttune_utility(passed, switches))
        },
    },
];

/// The function of this name.
///
/// # Errors
/// An unknown name, with the nearest one.
pub fn find(name: &str) -> Result<&'static Function, Fault> {
    FUNCTIONS.iter().find(|function| function.name == name).ok_or_else(|| {
        let hint = nearest(name, FUNCTIONS.iter().map(|function| function.name));
        Fault::value("function", name, wrong("no such function").meant(hint))
    })
}

impl Function {
    /// Its value.
    ///
    /// # Errors
    /// An argument that is missing, unknown or out of its range.
    pub fn evaluate(&self, arguments: &Arguments) -> Result<f64, Fault> {
        let known = |name: &&String| !self.arguments.contains(&name.as_str());
        if let Some(unknown) = arguments.0.keys().find(known) {
            let names = self.arguments.join(", ");
            let problem = wrong(format!("no argument of {}", self.name)).expected(names);
            return Err(Fault::text(unknown, problem));
        }
        (self.evaluate)(arguments)
    }
}

impl Arguments {
    fn get(&self, name: &str) -> Result<&Value, Fault> {
        self.0.get(name).ok_or_else(|| Fault::text(name, "is missing"))
    }

    fn text(&self, name: &str) -> Result<&str, Fault> {
        match self.get(name)? {
            Value::Text(text) => Ok(text),
            Value::Number(number) => Err(Fault::value(name, number, expected("a text"))),
        }
    }

    fn within(&self, name: &str, least: f64, most: f64) -> Result<f64, Fault> {
        match self.get(name)? {
            Value::Number(number) if (least..=most).contains(number) => Ok(*number),
            Value::Number(number) => {
                Err(Fault::value(name, number, expected(format!("{least} to {most}"))))
            }
            Value::Text(text) => Err(Fault::value(name, text, expected("a number"))),
        }
    }

    fn whole(&self, name: &str, least: f64, most: f64) -> Result<f64, Fault> {
        let number = self.within(name, least, most)?;
        match number.fract() == 0.0 {
            true => Ok(number),
            false => Err(Fault::value(name, number, expected("a whole number"))),
        }
    }

    /// A whole number, 1 or more.
    fn count(&self, name: &str) -> Result<u32, Fault> {
        Ok(self.whole(name, 1.0, 1e9)? as u32)
    }

    /// Mean number of flows per round.
    fn strength(&self, name: &str) -> Result<f64, Fault> {
        self.within(name, 0.0, 30.0)
    }

    fn rate(&self, name: &str) -> Result<f64, Fault> {
        let text = self.text(name)?;
        let rate: Rate = text.parse().map_err(|fault: Fault| fault.of(name))?;
        Ok(rate.0 as f64)
    }

    fn span(&self, name: &str) -> Result<f64, Fault> {
        let text = self.text(name)?;
        let span: Span = text.parse().map_err(|fault: Fault| fault.of(name))?;
        Ok(span.as_secs_f64())
    }

    fn one_of(&self, name: &str, names: &[&str]) -> Result<usize, Fault> {
        let text = self.text(name)?;
        names
            .iter()
            .position(|known| *known == text)
            .ok_or_else(|| Fault::value(name, text, one_of(text, names.iter().copied())))
    }

    fn scheme(&self) -> Result<Scheme, Fault> {
        Ok([Scheme::Ren, Scheme::Traditional][self.one_of("scheme", &["ren", "traditional"])?])
    }

    fn repeats(&self) -> Result<Repeats, Fault> {
        let (rounds, repeats) = (self.count("rounds")?, self.count("repeats")?);
        Ok(Repeats { rounds, repeats, seed: self.whole("seed", 0.0, 9e15)? as u64 })
    }

    /// The flow of AMRT's Figure 6 and when it uses the entire link again: `reduced` is R/C, `after`
    /// is T_R over the ideal completion time, `full` is `earliest` or `latest`.
    fn reduced(&self) -> Result<(amrt::Reduced, f64), Fault> {
        let capacity = self.rate("rate")? * self.span("rtt")? / (8.0 * PACKET);
        let size = self.count("size")? as f64 / PACKET;
        let reduced = self.within("reduced", 1.0 / capacity, 1.0 - 1.0 / capacity)? * capacity;
        let at = self.within("after", 0.0, 1.0)? * size / capacity;
        let flow = amrt::Reduced { size, capacity, reduced, at };
        let full = match self.one_of("full", &["earliest", "latest"])? {
            0 => flow.earliest(),
            _ => flow.latest(),
        };
        match flow.lasts(full) {
            true => Ok((flow, full)),
            false => Err(Fault::new(format!(
                "the flow ends before it uses the entire link again: {flow:?}"
            ))),
        }
    }

    fn bits(&self) -> Result<f64, Fault> {
        let scheme = self.text("scheme")?;
        let bits = decn::feedback_bits(scheme);
        bits.map(|bits| bits as f64).ok_or_else(|| {
            let hint = nearest(scheme, decn::FEEDBACK_BITS.iter().map(|(name, _)| *name));
            Fault::value("scheme", scheme, wrong("not in DECN's Table I").meant(hint))
        })
    }

    fn packets(&self) -> Result<&'static incast_workload::PacketTable, Fault> {
        incast_workload::packet_table(self.text("packets")?)
    }
}
