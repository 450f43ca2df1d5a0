//! Round trips of links, as hellos measure them.
//!
//! The end of a link whose port has the lower number asks, the other end answers at once, and the median
//! of several answers is the link's round trip: what wire and both nodes take until they look. Every
//! node tells its neighbours of all that it knows, until all know all of them.

use incast_transport::Span;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Answers to each of which a median is made.
const ASKED: usize = 16;
/// Most links: a hello carries all of them.
pub const LINKS_MOST: usize = 80;
/// Longest round trip that is believed.
const LONGEST: u64 = 10_000_000_000;

/// What was measured of a link by one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkRtt {
    /// The port that asked.
    pub port: u32,
    /// Half of the answers took at most so long.
    pub median: Span,
    /// The longest of them.
    pub most: Span,
}

/// Round trips of all links of a fabric, in nanoseconds, as far as they are known.
#[derive(Clone, Default)]
pub(super) struct RoundTrips {
    /// Links of the fabric; 0 if they are not measured.
    links: usize,
    /// By the lower port of the link.
    known: BTreeMap<u32, u64>,
    /// Answers to our own ports.
    answers: BTreeMap<u32, Vec<u64>>,
}

impl RoundTrips {
    /// Of a fabric with so many links; of none if they are too many for a hello.
    pub fn of(links: usize) -> RoundTrips {
        RoundTrips { links: if links <= LINKS_MOST { links } else { 0 }, ..RoundTrips::default() }
    }

    /// Whether `port`, which leads to `peer`, still asks.
    pub fn asks(&self, port: u32, peer: u32) -> bool {
        self.links > 0 && port < peer && !self.known.contains_key(&port)
    }

    /// Whether there is nothing left to learn.
    pub fn is_complete(&self) -> bool {
        self.known.len() >= self.links
    }

    /// Links that are not known.
    pub fn missing(&self) -> usize {
        self.links.saturating_sub(self.known.len())
    }

    /// An answer to `port` came after so many nanoseconds.
    pub fn answered(&mut self, port: u32, took: u64) {
        if took > LONGEST || self.known.contains_key(&port) {
            return;
        }
        let answers = self.answers.entry(port).or_default();
        answers.push(took);
        if answers.len() == ASKED {
            answers.sort_unstable();
            self.known.insert(port, answers[ASKED / 2]);
        }
    }

    /// All that is known, as a word of a hello.
    pub fn word(&self) -> String {
        let mut word = String::from("-");
        for (port, took) in &self.known {
            write!(word, "{port}:{took},").expect("a string takes text");
        }
        word
    }

    /// Learns what another node knows. What is known stays as it is, so that all know the same.
    pub fn learn(&mut self, word: &str) {
        for pair in word.trim_start_matches('-').split_terminator(',').take(LINKS_MOST) {
            let Some((port, took)) = pair.split_once(':') else { continue };
            let (Ok(port), Ok(took)) = (port.parse(), took.parse::<u64>()) else { continue };
            if took <= LONGEST && self.known.len() < self.links {
                self.known.entry(port).or_insert(took);
            }
        }
    }

    /// By the lower port of each link; nothing if they are not measured.
    pub fn all(&self) -> BTreeMap<u32, Span> {
        self.known.iter().map(|(port, took)| (*port, Span::from_ns(*took))).collect()
    }

    /// What this node has measured itself.
    pub fn own(&self) -> Vec<LinkRtt> {
        let whole = self.answers.iter().filter(|(_, answers)| answers.len() == ASKED);
        let of = |(port, answers): (&u32, &Vec<u64>)| LinkRtt {
            port: *port,
            median: Span::from_ns(answers[ASKED / 2]),
            most: Span::from_ns(answers[ASKED - 1]),
        };
        whole.map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_the_answers_is_told_to_all() {
        let mut asker = RoundTrips::of(2);
        assert!(asker.asks(3, 7) && !asker.asks(7, 3));
        for took in 0..ASKED as u64 {
            assert!(asker.asks(3, 7));
            asker.answered(3, if took == 2 { 900_000 } else { 100 + took });
        }
        asker.answered(3, 5);
        assert!(!asker.asks(3, 7) && !asker.is_complete());
        let [own] = asker.own()[..] else { panic!("one link") };
        assert_eq!((own.median, own.most), (Span::from_ns(109), Span::from_us(900)));
        let mut other = RoundTrips::of(2);
        other.learn(&asker.word());
        assert_eq!(other.all(), BTreeMap::from([(3, Span::from_ns(109))]));
        // What is known stays; links beyond those of the fabric are not believed.
        other.learn("-3:5,4:77,9:1,");
        let all = BTreeMap::from([(3, Span::from_ns(109)), (4, Span::from_ns(77))]);
        assert_eq!(other.all(), all);
        assert!(other.is_complete() && other.own().is_empty());
    }

    #[test]
    fn what_is_no_round_trip_is_not_believed() {
        let mut trips = RoundTrips::of(3);
        trips.learn("-,:,1,2:x,x:3,4:99999999999999,18446744073709551616:1,");
        trips.answered(1, u64::MAX);
        assert!(trips.all().is_empty() && trips.missing() == 3);
        // Too many links for a hello: they are not measured.
        let many = RoundTrips::of(LINKS_MOST + 1);
        assert!(many.is_complete() && !many.asks(0, 1));
        let whole: Vec<String> = (0..LINKS_MOST).map(|port| format!("{port}:{LONGEST},")).collect();
        assert!(whole.concat().len() < 1_250);
    }
}
