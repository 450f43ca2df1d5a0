//! The text of GOAL.

use crate::error::{Place, ProgramError};
use crate::graph::{ANY, Edge, Node, Op, Program, Rank};
use incast_units::fault::{Problem, expected, wrong};
use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

/// Reads the text of a program.
pub(super) fn read(file: &str, text: &str) -> Result<Program, ProgramError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = without_comments(file, text)?;
    let mut reader = Reader { file, ranks: vec![], count: None, open: None, line: 0 };
    for line in text.lines() {
        reader.line += 1;
        let mut rest = line;
        // A brace ends what stands before it.
        while let Some(at) = rest.find(['{', '}']) {
            reader.item(&rest[..at])?;
            reader.brace(&rest[at..=at])?;
            rest = &rest[at + 1..];
        }
        reader.item(rest)?;
    }
    reader.finish()
}

/// The text with blanks for comments; lines stay where they are.
fn without_comments<'a>(file: &str, text: &'a str) -> Result<Cow<'a, str>, ProgramError> {
    if !text.contains("//") && !text.contains("/*") {
        return Ok(text.into());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        let comment = &rest[at..];
        let end = match comment.starts_with("//") {
            true => comment.find('\n').unwrap_or(comment.len()),
            false => match comment[2..].find("*/") {
                Some(end) => end + 4,
                None => {
                    let line = out.matches('\n').count() as u32 + 1;
                    let problem = wrong("`/*` without an end").expected("`*/`");
                    return Err(ProgramError::new(file, Place::Line(line), problem));
                }
            },
        };
        out.push(' ');
        out.extend(comment[..end].chars().filter(|c| *c == '\n'));
        rest = &comment[end..];
    }
    out.push_str(rest);
    Ok(out.into())
}

/// A rank whose brace is open.
#[derive(Default)]
struct Open<'a> {
    begun: u32,
    braced: bool,
    nodes: Vec<Node>,
    lines: Vec<u32>,
    edges: Vec<Edge>,
    /// The node of each label, the first that has it.
    labels: HashMap<&'a str, u32>,
}

struct Reader<'a> {
    file: &'a str,
    ranks: Vec<Rank>,
    /// As `num_ranks` says.
    count: Option<u32>,
    open: Option<Open<'a>>,
    line: u32,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, problem: impl Into<Problem>) -> Result<T, ProgramError> {
        Err(ProgramError::new(self.file, Place::Line(self.line), problem))
    }

    fn number<T: FromStr>(&self, word: &str, what: &str, range: &str) -> Result<T, ProgramError> {
        word.parse().or_else(|_| self.fail(wrong(format!("{what} `{word}`")).expected(range)))
    }

    fn brace(&mut self, brace: &str) -> Result<(), ProgramError> {
        match (brace, self.open.as_mut()) {
            ("{", Some(open)) if !open.braced => open.braced = true,
            ("}", Some(open)) if open.braced => {
                let Open { nodes, lines, edges, .. } = self.open.take().expect("it is open");
                self.ranks.push(Rank::new(nodes, &edges).with_lines(lines));
            }
            ("{", _) => return self.fail(wrong("`{` without a rank").expected("`rank R {`")),
            (_, _) => {
                return self.fail(wrong("`}` without a rank").expected("`rank R {` before it"));
            }
        }
        Ok(())
    }

    fn item(&mut self, text: &'a str) -> Result<(), ProgramError> {
        // A label's colon may touch what follows it.
        let (label, text) = match text.split_once(':') {
            Some((label, text)) => (Some(label.trim()), text),
            None => (None, text),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() && label.is_none() {
            return Ok(());
        }
        match &self.open {
            None if label.is_none() => self.outside(&words),
            None => self
                .fail(wrong("an item outside of a rank").expected("`num_ranks N` or `rank R {`")),
            Some(open) if !open.braced => self.fail(expected("`{` behind `rank R`")),
            Some(_) => self.inside(label, &words),
        }
    }

    fn outside(&mut self, words: &[&str]) -> Result<(), ProgramError> {
        match (words, self.count) {
            (["num_ranks", count], None) => {
                let range = "a whole number from 1 to 4294967294";
                let count: u32 = self.number(count, "num_ranks", range)?;
                if count == 0 || count == ANY {
                    return self.fail(wrong(format!("num_ranks `{count}`")).expected(range));
                }
                self.count = Some(count);
            }
            (["num_ranks", ..], Some(_)) => {
                return self.fail(wrong("`num_ranks` twice").expected("it once"));
            }
            (["rank", number], Some(count)) => {
                let next = self.ranks.len() as u32;
                let expected = match next < count {
                    true => format!("rank {next}, the next in order"),
                    false => format!("the end of the file: num_ranks is {count}"),
                };
                let number: u32 = self.number(number, "rank", &expected)?;
                if number != next || next >= count {
                    return self.fail(wrong(format!("rank `{number}`")).expected(expected));
                }
                self.open = Some(Open { begun: self.line, ..Open::default() });
            }
            (_, None) => return self.fail(expected("`num_ranks N` first")),
            (_, Some(_)) => {
                return self.fail(wrong(format!("`{}`", words.join(" "))).expected("`rank R {`"));
            }
        }
        Ok(())
    }

    fn inside(&mut self, label: Option<&'a str>, words: &[&str]) -> Result<(), ProgramError> {
        if let [after, how @ ("requires" | "irequires"), before] = words
            && label.is_none()
        {
            let (after, before) = (self.labelled(after)?, self.labelled(before)?);
            let edge = Edge { before, after, at_start: *how == "irequires" };
            self.open.as_mut().expect("it is open").edges.push(edge);
            return Ok(());
        }
        let node = self.node(words)?;
        if let Some(label) = label {
            let first = label.starts_with(|c: char| c.is_ascii_alphabetic());
            if !first || !label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                let problem = wrong(format!("label `{label}`"))
                    .expected("a letter, then letters, digits and _");
                return self.fail(problem);
            }
        }
        let line = self.line;
        let open = self.open.as_mut().expect("it is open");
        if let Some(label) = label {
            // A label that is there already keeps its first meaning, as in LogGOPSim's reader.
            open.labels.entry(label).or_insert(open.nodes.len() as u32);
        }
        open.nodes.push(node);
        open.lines.push(line);
        Ok(())
    }

    fn labelled(&self, label: &str) -> Result<u32, ProgramError> {
        let labels = &self.open.as_ref().expect("it is open").labels;
        labels.get(label).copied().map_or_else(
            || {
                self.fail(
                    wrong(format!("label `{label}`"))
                        .expected("one that stands above, in the same rank"),
                )
            },
            Ok,
        )
    }

    fn node(&self, words: &[&str]) -> Result<Node, ProgramError> {
        let mut node = match words {
            ["send", bytes, "to", to, ..] => {
                let (to, bytes) = (self.rank(to)?, self.bytes(bytes)?);
                Node { op: Op::Send { to, bytes, tag: 0 }, cpu: 0, nic: 0 }
            }
            ["recv", bytes, "from", from, ..] => {
                let from = if *from == "-1" { ANY } else { self.rank(from)? };
                let op = Op::Recv { from, bytes: self.bytes(bytes)?, tag: 0 };
                Node { op, cpu: 0, nic: 0 }
            }
            ["calc", ns, ..] => {
                let ns = self.number(ns, "calc", "nanoseconds, a whole number")?;
                Node { op: Op::Calc { ns }, cpu: 0, nic: 0 }
            }
            _ => {
                let problem = expected(
                    "`[label:] send <n>b to <rank>`, `recv <n>b from <rank>`, `calc <ns>`, \
                               `<label> requires <label>` or `<label> irequires <label>`",
                );
                return self.fail(problem.in_part(&format!("`{}`", words.join(" "))));
            }
        };
        let is_calc = matches!(node.op, Op::Calc { .. });
        let mut options = if is_calc { &words[2..] } else { &words[4..] };
        let mut allowed: &[&str] = if is_calc { &["cpu"] } else { &["tag", "cpu", "nic"] };
        while let [name, rest @ ..] = options {
            let Some(at) = allowed.iter().position(|one| one == name) else {
                let left = allowed.join(", ");
                let all = if left.is_empty() { "the end of the line".into() } else { left };
                return self
                    .fail(wrong(format!("`{name}`")).expected(format!("{all}, in this order")));
            };
            let [value, rest @ ..] = rest else {
                return self.fail(format!("`{name}` without a number"));
            };
            match (*name, &mut node.op) {
                ("tag", Op::Send { tag, .. }) => *tag = self.tag(value, false)?,
                ("tag", Op::Recv { tag, .. }) => *tag = self.tag(value, true)?,
                ("cpu", _) => node.cpu = self.number(value, "cpu", "0 to 255")?,
                _ => node.nic = self.number(value, "nic", "0 to 255")?,
            }
            (options, allowed) = (rest, &allowed[at + 1..]);
        }
        Ok(node)
    }

    fn rank(&self, word: &str) -> Result<u32, ProgramError> {
        let count = self.count.expect("it stands first");
        let range = format!("a rank from 0 to {}", count - 1);
        let rank = self.number(word, "rank", &range)?;
        if rank < count {
            Ok(rank)
        } else {
            self.fail(wrong(format!("rank `{rank}`")).expected(range))
        }
    }

    fn bytes(&self, word: &str) -> Result<u64, ProgramError> {
        let digits = word.strip_suffix('b').unwrap_or("");
        let expected = "a number of bytes such as `4096b`";
        digits.parse().or_else(|_| self.fail(wrong(format!("`{word}`")).expected(expected)))
    }

    fn tag(&self, word: &str, any: bool) -> Result<u32, ProgramError> {
        let range = match any {
            true => "0 to 4294967294, or -1 for any",
            false => "0 to 4294967294; only a receive takes any",
        };
        if any && word == "-1" {
            return Ok(ANY);
        }
        let tag = self.number(word, "tag", range)?;
        if tag == ANY { self.fail(wrong(format!("tag `{word}`")).expected(range)) } else { Ok(tag) }
    }

    fn finish(self) -> Result<Program, ProgramError> {
        if let Some(open) = &self.open {
            let problem = wrong(format!("rank {} has no end", self.ranks.len())).expected("`}`");
            return Err(ProgramError::new(self.file, Place::Line(open.begun), problem));
        }
        let read = self.ranks.len();
        match self.count {
            None => self.fail(expected("`num_ranks N` first")),
            Some(count) if read < count as usize => self.fail(
                wrong(format!("the file ends after {read} ranks"))
                    .expected(format!("{count}, as num_ranks says")),
            ),
            Some(_) => Program::new(self.file, self.ranks),
        }
    }
}
