//! Inputs made from seeds: the same ones in every run.

/// Words that parsers of numbers and lists stumble over.
const WORDS: [&str; 26] = [
    "0",
    "1",
    "-1",
    "2",
    "007",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e400",
    "-0.0",
    "0.1",
    "nan",
    "inf",
    "1e-400",
    "\u{b5}s",
    "\"",
    ",",
    "\n",
    "[",
    "= ",
];

/// An endless sequence of mutations of seeds.
pub struct Mutations<'a> {
    seeds: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutations<'a> {
    /// Of `seeds`, at least one; another `key` gives another sequence.
    pub fn new(seeds: &'a [Vec<u8>], key: u64) -> Mutations<'a> {
        assert!(!seeds.is_empty(), "mutations need a seed");
        Mutations { seeds, state: key }
    }

    /// A number below `bound`, which is at least 1 (splitmix64).
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn seed(&mut self) -> &'a [u8] {
        let at = self.below(self.seeds.len());
        &self.seeds[at]
    }

    /// A part of `bytes`: a word, a line, or anything.
    fn part(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let (at, kind) = (self.below(bytes.len() + 1), self.below(4));
        let inside: fn(&u8) -> bool = match kind {
            0 => |byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte),
            1 => u8::is_ascii_digit,
            2 => |byte| *byte != b'\n',
            _ => return at..(at + self.below(9)).min(bytes.len()),
        };
        let before = bytes[..at].iter().rev().take_while(|byte| inside(byte)).count();
        let behind = bytes[at..].iter().take_while(|byte| inside(byte)).count();
        at - before..at + behind
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let part = self.part(bytes);
        let new: Vec<u8> = match self.below(7) {
            0 => Vec::new(),
            1 => bytes[part.clone()].repeat(2),
            2 | 3 => WORDS[self.below(WORDS.len())].into(),
            4 => {
                let other = self.seed();
                other[self.part(other)].to_vec()
            }
            5 => (0..part.len().max(1)).map(|_| self.below(256) as u8).collect(),
            _ => {
                let bit = 1 << self.below(8);
                bytes[part.clone()].iter().map(|byte| byte ^ bit).collect()
            }
        };
        bytes.splice(part, new);
    }
}

impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut bytes = self.seed().to_vec();
        for _ in 0..1 + self.below(4) {
            self.change(&mut bytes);
        }
        Some(bytes)
    }
}
