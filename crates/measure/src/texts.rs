//! Columns of texts.

use std::collections::HashMap;

/// Texts with few different values: row `r` is `names[codes[r]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The different texts, in order of their first row.
    pub names: Vec<String>,
    /// Which of them, for each row.
    pub codes: Vec<u32>,
}

/// Texts and where each different one is.
#[derive(Default)]
pub(crate) struct Gathered {
    pub texts: Texts,
    known: HashMap<String, u32>,
}

impl Gathered {
    /// Adds a row; returns its code.
    pub fn add(&mut self, text: &str) -> u32 {
        let Texts { names, codes } = &mut self.texts;
        // Neighbours are often equal.
        let last = codes.last().copied().filter(|last| names[*last as usize] == text);
        let code = last.or_else(|| self.known.get(text).copied()).unwrap_or_else(|| {
            let code = names.len() as u32;
            self.known.insert(text.to_string(), code);
            names.push(text.to_string());
            code
        });
        codes.push(code);
        code
    }
}

impl<'a> FromIterator<&'a str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Texts {
        let mut all = Gathered::default();
        for text in texts {
            all.add(text);
        }
        all.texts
    }
}
