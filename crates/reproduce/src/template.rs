//! Claims and panels that are alike are written once: `each` names what differs between them.

use incast_experiment::Fault;
use incast_experiment::fault::{Problem, wrong};
use incast_protocols::CATALOGUE;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// What a list of templates is of.
pub trait Templated: DeserializeOwned {
    /// The key that names one of them, in messages and for the order of `each`.
    const HEAD: &'static str;

    /// Keys whose texts are for people: there the name of a transport is that of its title.
    const PROSE: &'static [&'static str];

    /// Keys that `each` and `but` can set.
    const KEYS: &'static [&'static str];
}

/// A name that differs, with what it can be: each a table of the name's value and what goes with it.
struct Dimension {
    name: String,
    values: Vec<Table>,
}

/// Writes every template out, with `runs` for `each.run = "all"`.
///
/// # Errors
/// A template that does not fit, by its text.
pub fn written_out<T: Templated>(all: &[Table], runs: &[String]) -> Result<Vec<T>, Fault> {
    let mut out = vec![];
    for template in all {
        let text = template.get(T::HEAD).and_then(Value::as_str).unwrap_or_default();
        let named = |why: Problem| Fault::text(text, why);
        for one in expanded::<T>(template, runs).map_err(named)? {
            out.push(one.try_into().map_err(|error: toml::de::Error| named(error.into()))?);
        }
    }
    Ok(out)
}

/// What a template stands for: one for each combination of the values of `each`, in which the name that
/// the text has first varies slowest.
fn expanded<T: Templated>(template: &Table, runs: &[String]) -> Result<Vec<Table>, Problem> {
    let mut base = template.clone();
    let but = base.remove("but");
    let Some(each) = base.remove("each") else {
        let alone = but.is_none().then(|| vec![base]);
        return alone.ok_or_else(|| wrong("`but` needs `each`"));
    };
    let Value::Table(each) = each else { return Err(wrong("`each`").expected("names with lists")) };
    let mut dimensions = each
        .into_iter()
        .map(|(name, values)| Dimension::of(name, values, runs))
        .collect::<Result<Vec<_>, _>>()?;
    let text = base.get(T::HEAD).and_then(Value::as_str).unwrap_or_default().to_string();
    for one in &dimensions {
        if one.place(&text).is_none() {
            return Err(wrong(format!("`each.{}` is not named in `{}`", one.name, T::HEAD)));
        }
    }
    dimensions.sort_by_key(|one| one.place(&text));
    let exceptions = exceptions(but, &dimensions)?;
    let mut all = vec![Table::new()];
    for one in &dimensions {
        let with = |own: &Table| {
            let own = own.clone();
            one.values
                .iter()
                .map(move |value| own.clone().into_iter().chain(value.clone()).collect())
        };
        all = all.iter().flat_map(with).collect();
    }
    let whole = base.iter().map(|(_, value)| value.to_string()).collect::<String>();
    let known =
        |key: &&String| T::KEYS.contains(&key.as_str()) || whole.contains(&format!("{{{key}}}"));
    let one = |mut bound: Table| {
        let own = exceptions.iter().filter(|one| one.fits(&bound)).flat_map(|one| one.keys.clone());
        let own: Vec<_> = own.collect();
        bound.extend(own);
        if let Some(other) = bound.keys().find(|key| !known(key)) {
            return Err(wrong(format!("`{other}` is no key, and not named in the template")));
        }
        let mut made = base.clone();
        let keys = bound.iter().filter(|(key, _)| T::KEYS.contains(&key.as_str()));
        made.extend(keys.map(|(key, value)| (key.clone(), value.clone())));
        for (key, value) in &mut made {
            fill(value, &bound, T::PROSE.contains(&key.as_str()));
        }
        Ok(made)
    };
    all.into_iter().map(one).collect()
}

impl Dimension {
    fn of(name: String, values: Value, runs: &[String]) -> Result<Dimension, Problem> {
        let values = match values {
            Value::Array(values) => values,
            Value::String(all) if all == "all" && name == "run" => {
                runs.iter().map(|run| Value::String(run.clone())).collect()
            }
            _ => {
                return Err(wrong(format!("`each.{name}`")).expected("a list, or \"all\" of `run`"));
            }
        };
        let own = |value: Value| match value {
            Value::Table(own) if own.contains_key(&name) => Ok(own),
            Value::Table(_) => {
                Err(wrong(format!("`each.{name}`")).expected(format!("`{name}` in every table")))
            }
            value => Ok(Table::from_iter([(name.clone(), value)])),
        };
        let values = values.into_iter().map(own).collect::<Result<_, Problem>>()?;
        Ok(Dimension { name, values })
    }

    /// Where a text names it, or what goes with it.
    fn place(&self, text: &str) -> Option<usize> {
        let keys = self.values.iter().flat_map(|own| own.keys());
        keys.filter_map(|key| text.find(&format!("{{{key}}}"))).min()
    }
}

/// What is different in some of the combinations.
struct Exception {
    at: Vec<Table>,
    keys: Table,
}

impl Exception {
    /// Whether it is of a combination.
    fn fits(&self, bound: &Table) -> bool {
        let one = |(name, wanted): (&String, &Value)| match wanted {
            Value::Array(some) => bound.get(name).is_some_and(|own| some.contains(own)),
            one => bound.get(name) == Some(one),
        };
        self.at.iter().any(|at| at.iter().all(one))
    }
}

fn exceptions(but: Option<Value>, dimensions: &[Dimension]) -> Result<Vec<Exception>, Problem> {
    const EXPECTED: &str = "`but`: expected a list of { at = [{ NAME = VALUE }], KEY = VALUE }";
    let all = match but {
        None => return Ok(vec![]),
        Some(Value::Array(all)) => all,
        Some(_) => return Err(EXPECTED.into()),
    };
    let mut found = vec![];
    for one in all {
        let Value::Table(mut keys) = one else { return Err(EXPECTED.into()) };
        let at: Vec<Table> = keys.remove("at").and_then(|at| at.try_into().ok()).ok_or(EXPECTED)?;
        for (name, wanted) in at.iter().flatten() {
            let of = dimensions.iter().find(|one| one.name == *name);
            let of = of.ok_or_else(|| wrong(format!("`but`: there is no `each.{name}`")))?;
            let wanted = wanted.as_array().map_or(std::slice::from_ref(wanted), Vec::as_slice);
            let missing =
                |value: &&Value| of.values.iter().all(|own| own.get(name) != Some(*value));
            if let Some(other) = wanted.iter().find(missing) {
                return Err(wrong(format!("`but`: `each.{name}` has no {other}")));
            }
        }
        found.push(Exception { at, keys });
    }
    Ok(found)
}

/// Puts values in the place of their names. A text that is one name alone becomes its value.
fn fill(value: &mut Value, bound: &Table, prose: bool) {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            if let Some(own) = name.and_then(|name| bound.get(name)).filter(|own| !own.is_str()) {
                *value = own.clone();
                return;
            }
            for (name, own) in bound {
                let own = own.as_str().map_or_else(|| own.to_string(), str::to_string);
                let shown = if prose { title(&own) } else { &own };
                *text = text.replace(&format!("{{{name}}}"), shown);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| fill(one, bound, prose)),
        Value::Table(all) => all.iter_mut().for_each(|(_, one)| fill(one, bound, prose)),
        _ => {}
    }
}

/// A transport as papers call it: the first word of its title; any other text as it is.
fn title(name: &str) -> &str {
    let known = CATALOGUE.iter().map(|one| one.info()).find(|info| info.name == name);
    known.and_then(|info| info.title.split([' ', ':']).next()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Claim;

    fn claims(more: &str) -> Result<Vec<Claim>, String> {
        let text = format!("measure.kind = 'fct_mean_us'\norder = ['ren', '{{than}}']\n{more}\n");
        let runs = ["0.1".to_string(), "0.7".to_string()];
        written_out(&[toml::from_str(&text).unwrap()], &runs).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_template_stands_for_every_combination() {
        let text = "text = 'Load {run}: before {than}'\neach.run = 'all'\n\
                    each.than = ['trd', { than = 'hpcc_plus', headline = true }]\n";
        let but = "but = [{ at = [{ run = ['0.7'], than = 'trd' }], deviation = 'so {run}' }]";
        let all = claims(&format!("{text}{but}")).unwrap();
        let seen: Vec<_> = all
            .iter()
            .map(|one| {
                (one.text.as_str(), one.run.as_deref().unwrap(), &one.order.as_ref().unwrap()[1])
            })
            .collect();
        let known = [
            ("Load 0.1: before traditional", "0.1", "trd"),
            ("Load 0.1: before HPCC+", "0.1", "hpcc_plus"),
            ("Load 0.7: before traditional", "0.7", "trd"),
            ("Load 0.7: before HPCC+", "0.7", "hpcc_plus"),
        ];
        assert!(seen.iter().zip(known).all(|(a, b)| (a.0, a.1, a.2.as_str()) == b), "{seen:?}");
        assert_eq!(
            all.iter().map(|one| one.headline).collect::<Vec<_>>(),
            [false, true, false, true]
        );
        let told: Vec<&str> = all.iter().map(|one| one.deviation.as_str()).collect();
        assert_eq!(told, ["", "", "so 0.7", ""]);
    }

    #[test]
    fn a_name_may_be_a_number() {
        let text = "text = '{than} of {n}'\nmeasure.largest = '{n}'\n\
                    each.than = [{ than = 'ndp', n = 7 }]";
        let all = claims(text).unwrap();
        assert_eq!((all[0].text.as_str(), all[0].measure.largest), ("NDP of 7", Some(7)));
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = [
            ("text = 'x'\neach.than = ['ndp']", "`each.than` is not named in `text`"),
            ("text = '{than}'\neach.than = 'all'", "expected a list"),
            ("text = '{than}'\neach.than = [{ papr = 1 }]", "expected `than` in every table"),
            ("text = '{than}'\neach.than = [{ than = 'ndp', papr = 1 }]", "`papr` is no key"),
            ("text = '{than}'\nbut = []", "`but` needs `each`"),
            ("text = '{than}'\neach.than = ['ndp']\nbut = [{ at = [{ x = 1 }] }]", "no `each.x`"),
            ("text = '{than}'\neach.than = ['ndp']\nbut = [{ at = [{ than = 'x' }] }]", "has no"),
            (
                "text = '{than}'\neach.than = ['ndp']\nbut = [{ than = 'ndp' }]",
                "expected a list of",
            ),
        ];
        for (text, expected) in wrong {
            let said = claims(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
