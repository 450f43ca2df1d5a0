//! Tables on a console.

use crate::number::aligned;

/// A column of numbers under its name, decimal points below each other; a dash where there is none.
pub(crate) fn numbers(name: &str, texts: impl Iterator<Item = Option<String>>) -> Vec<String> {
    let texts: Vec<String> = texts.map(|text| text.unwrap_or_else(|| "-".into())).collect();
    std::iter::once(name.to_string()).chain(aligned(&texts, ' ', ' ')).collect()
}

/// Columns of texts side by side: `heads`, which each block repeats, then `columns`, as many as `width` characters hold (one at
/// least). Heads are set to the left, columns to the right.
pub(crate) fn blocks(heads: Vec<Vec<String>>, columns: Vec<Vec<String>>, width: usize) -> String {
    let wide = |column: &[String]| column.iter().map(|text| length(text)).max().unwrap_or(0);
    let used: usize = heads.iter().map(|head| wide(head) + 2).sum::<usize>().saturating_sub(2);
    let mut out = String::new();
    let mut left = columns.as_slice();
    while !left.is_empty() {
        let mut sum = used;
        let fits = left.iter().take_while(|column| {
            sum += 2 + wide(column);
            sum <= width
        });
        let (block, rest) = left.split_at(fits.count().max(1));
        for line in 0..block[0].len() {
            let fill = |column: &Vec<String>| " ".repeat(wide(column) - length(&column[line]));
            let heads = heads.iter().map(|head| format!("{}{}", head[line], fill(head)));
            let own = block.iter().map(|column| format!("{}{}", fill(column), column[line]));
            out += heads.chain(own).collect::<Vec<String>>().join("  ").trim_end();
            out.push('\n');
        }
        if !rest.is_empty() {
            out.push('\n');
        }
        left = rest;
    }
    out
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_are_a_block_of_their_own() {
        let texts = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<String>>();
        let heads = || vec![texts(&["load", "0.2", "0.45"])];
        let value = |name, all: [Option<&str>; 2]| {
            numbers(name, all.into_iter().map(|text| text.map(String::from)))
        };
        let columns =
            || vec![value("one", [Some("2.01"), Some("31.5")]), value("b", [None, Some("7")])];
        assert_eq!(
            blocks(heads(), columns(), 16),
            "load    one  b\n0.2    2.01  -\n0.45  31.5   7\n"
        );
        assert_eq!(
            blocks(heads(), columns(), 11),
            "load    one\n0.2    2.01\n0.45  31.5\n\nload  b\n0.2   -\n0.45  7\n"
        );
        assert_eq!(blocks(heads(), vec![], 80), "");
    }
}
