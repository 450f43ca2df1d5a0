//! How the nodes of a testbed meet: before a run each says over every link who it is.
//!
//! A hello is an IPv4 packet of a protocol of its own, so that every backend carries it. A node has
//! met a neighbour when it has heard it and knows that it was heard. What does not fit - another
//! version, another scenario, other ends of the link, a second node of one name - ends the meeting
//! with a message.
//!
//! Hellos measure the round trips of links, too: one with a number is answered at once, with this number.
//! A meeting that measures is over when every node knows those of all links.
//!
//! A meeting that needs long packets ([`Meeting::needing`]) sends hellos as long as they are, too, and is not over
//! before each end has heard one of the other.
//!
//! A node that runs answers hellos, so that a neighbour that ended can return.

mod round_trips;
#[cfg(test)]
mod tests;

pub use round_trips::{LINKS_MOST, LinkRtt};

use self::round_trips::RoundTrips;
use crate::{Departure, Frame, PacketIo};
use incast_transport::{Span, Time};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The protocol number of hellos: for experiments, as that of packets (RFC 3692).
pub const HELLO: u8 = 254;
/// Bytes of an IPv4 header.
const IP_BYTES: usize = 20;
/// First word of a hello.
const MAGIC: &str = "incast-hello";
/// Most strangers that are told of.
const STRANGERS_MOST: usize = 16;
/// Longest hello: the largest packet of Ethernet in use.
const LONGEST: usize = 9_000;
/// First byte of the word that makes a hello long; and of an answer, which is not answered.
const FILL: char = '-';
const FILL_ANSWER: char = '=';

/// Who a node is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Name of the node in the scenario.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Hash of the scenario.
    pub scenario: u64,
    /// A number that no other process has.
    pub process: u64,
}

/// One end of a link, and who is expected at the other.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Our port.
    pub port: u32,
    /// The node at the other end.
    pub name: String,
    /// Its port.
    pub peer: u32,
}

/// A hello as it was read.
struct Hello {
    who: Identity,
    port: u32,
    /// The process that its sender has heard on this link; 0 for none.
    heard: u64,
    /// Its sender knows that it is heard.
    known: bool,
    /// A number to be answered with; 0 for none.
    asks: u64,
    /// The number that this answers; 0 for none.
    answers: u64,
    /// Its sender knows the round trips of all links.
    whole: bool,
    /// Those that it knows.
    trips: String,
    /// Bytes of the longest hello that its sender has heard on this link.
    longest: usize,
    /// It was made long, and wants an answer as long.
    is_long: bool,
    /// Bytes of this one.
    length: usize,
}

/// What a hello says beside who its sender is.
#[derive(Clone, Copy, Default)]
struct Says {
    heard: u64,
    known: bool,
    asks: u64,
    answers: u64,
    /// The longest that its sender has heard.
    longest: usize,
    /// Fill it up to so many bytes.
    fill: usize,
    /// It is sent by a node that runs.
    runs: bool,
}

/// What is known of a neighbour.
#[derive(Default)]
struct State {
    /// Its process, once it was heard.
    heard: Option<u64>,
    /// The process that was heard before that one.
    before: Option<u64>,
    /// It has heard us.
    hears: bool,
    /// It knows the round trips of all links.
    whole: bool,
    /// Bytes of the longest hello that was heard of it.
    longest: usize,
    /// It has heard one that is as long as needed.
    hears_long: bool,
}

/// A node that meets its neighbours.
pub struct Meeting {
    me: Identity,
    neighbours: Vec<(Neighbour, State)>,
    trips: RoundTrips,
    /// Bytes of the longest packets that links are to carry; 0 if that is not tried.
    needs: usize,
    /// What is to be told of links and came while this node ran, and whether it was told.
    strangers: Mutex<Vec<(String, bool)>>,
    /// Numbers of hellos are nanoseconds since then.
    origin: Instant,
}

impl Meeting {
    /// Nobody has been met.
    pub fn new(me: Identity, neighbours: Vec<Neighbour>) -> Meeting {
        let neighbours = neighbours.into_iter().map(|one| (one, State::default())).collect();
        let (trips, strangers) = (RoundTrips::default(), Mutex::default());
        Meeting { me, neighbours, trips, needs: 0, strangers, origin: Instant::now() }
    }

    /// The same; it is not over before packets of so many bytes have come both ways on every link.
    pub fn needing(self, bytes: usize) -> Meeting {
        Meeting { needs: bytes.min(LONGEST), ..self }
    }

    /// The same; it measures the round trips of all `links` of the fabric, if they are at most
    /// [`LINKS_MOST`].
    pub fn measuring(self, links: usize) -> Meeting {
        Meeting { trips: RoundTrips::of(links), ..self }
    }

    /// Round trips of links, by their lower ports; nothing if they are not measured.
    pub fn round_trips(&self) -> BTreeMap<u32, Span> {
        self.trips.all()
    }

    /// Those that this node has measured.
    pub fn measured(&self) -> Vec<LinkRtt> {
        self.trips.own()
    }

    /// Nanoseconds since the meeting began, and never 0.
    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64 + 1
    }

    /// Says hello on every link. To be repeated every few milliseconds, and once more when all have
    /// been met.
    pub fn say<I: PacketIo>(&self, io: &mut I) {
        for (place, (_, state)) in self.neighbours.iter().enumerate() {
            self.say_to(io, place, 0);
            if !self.is_wide(state) {
                self.send(io, place, Says { fill: self.needs, ..self.says_to(place) });
            }
        }
    }

    /// Says hello to a neighbour, which answers the number `answers` if it is not 0.
    fn say_to<I: PacketIo>(&self, io: &mut I, place: usize, answers: u64) {
        let Neighbour { port, peer, .. } = &self.neighbours[place].0;
        let asks = if self.trips.asks(*port, *peer) { self.now() } else { 0 };
        self.send(io, place, Says { asks, answers, ..self.says_to(place) });
    }

    /// What every hello says to a neighbour.
    fn says_to(&self, place: usize) -> Says {
        let State { heard, hears, longest, .. } = self.neighbours[place].1;
        Says { heard: heard.unwrap_or(0), known: hears, longest, ..Says::default() }
    }

    fn send<I: PacketIo>(&self, io: &mut I, place: usize, says: Says) {
        let port = &self.neighbours[place].0.port;
        let bytes = self.hello(*port, says);
        let Some(mut frame) = io.alloc(bytes.len()) else { return };
        frame.bytes_mut().copy_from_slice(&bytes);
        let at = Time::ZERO;
        let departure = Departure { start: at, release: at, complete: at };
        if let Err(frame) = io.stage(*port, frame, departure) {
            io.free(frame);
        }
        io.flush(*port);
    }

    fn hello(&self, port: u32, says: Says) -> Vec<u8> {
        let Identity { name, version, scenario, process } = &self.me;
        let mut text = String::new();
        let Says { heard, known, asks, answers, longest, fill, runs } = says;
        let first = if runs { FILL_ANSWER } else { FILL };
        let (known, whole, trips) =
            (known as u8, self.trips.is_complete() as u8, self.trips.word());
        write!(
            text,
            "{MAGIC} {version} {scenario:x} {name} {port} {process:x} {heard:x} {known} {asks:x} \
             {answers:x} {whole} {trips} {longest:x} {first}"
        )
        .expect("a string takes text");
        if fill > 0 {
            let missing = fill.saturating_sub(IP_BYTES + text.len() + SUM).max(1);
            text.extend(std::iter::repeat_n('x', missing));
        }
        write!(text, " {:04x}", incast_wire::checksum(text.as_bytes()))
            .expect("a string takes text");
        let length = IP_BYTES + text.len();
        let mut bytes = vec![0; IP_BYTES];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        (bytes[8], bytes[9], bytes[12], bytes[16]) = (1, HELLO, 10, 10);
        let sum = incast_wire::checksum(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    /// The answer of a node that runs to a frame that came by `port`: nothing if it is no hello, or says
    /// that its sender has heard this process and knows that it is heard. One that does not know is
    /// answered each time: the last hello of a meeting may be lost. Answers are not answered.
    pub fn answer(&self, port: u32, bytes: &[u8]) -> Option<Vec<u8>> {
        let hello = read(bytes)?;
        self.note_stranger(port, &hello);
        let Hello { heard, known, asks, whole, is_long, length, .. } = hello;
        let waits = heard != self.me.process || !known || asks > 0 || !whole || is_long;
        let answers = waits && hello.who.process != self.me.process;
        let (heard, known) = (hello.who.process, true);
        let (fill, runs) = (if is_long { length } else { 0 }, true);
        let says = Says { heard, known, asks: 0, answers: asks, longest: length, fill, runs };
        answers.then(|| self.hello(port, says))
    }

    /// Takes in hellos that have arrived; other frames are dropped.
    ///
    /// # Errors
    /// A neighbour does not fit, in words.
    pub fn hear<I: PacketIo>(&mut self, io: &mut I) -> Result<(), String> {
        let mut arrived = vec![];
        for place in 0..self.neighbours.len() {
            io.rx_burst(self.neighbours[place].0.port, Time(u64::MAX), 32, &mut arrived);
            for arrival in arrived.drain(..) {
                let hello = read(arrival.frame.bytes());
                io.free(arrival.frame);
                let Some(hello) = hello else { continue };
                let (asks, answers) = (hello.asks, hello.answers);
                self.take(place, hello)?;
                let (Neighbour { port, peer, .. }, _) = &self.neighbours[place];
                let (port, peer) = (*port, *peer);
                if let Some(took) = self.now().checked_sub(answers).filter(|_| answers > 0) {
                    self.trips.answered(port, took);
                }
                if asks > 0 || answers > 0 && self.trips.asks(port, peer) {
                    self.say_to(io, place, asks);
                }
            }
        }
        Ok(())
    }

    /// Why whoever says this hello is not this neighbour, in words.
    fn misfit(&self, neighbour: &Neighbour, hello: &Hello) -> Result<(), String> {
        let (me, Hello { who, port, .. }) = (&self.me, hello);
        let at = format!("port {} of {}", neighbour.port, me.name);
        if who.process == me.process {
            return Err(format!("{at}: its own frames come back; the link leads to itself"));
        }
        if who.version != me.version {
            return Err(format!(
                "{at}: {} runs version {}, this is version {}: both ends need the same",
                who.name, who.version, me.version
            ));
        }
        if who.scenario != me.scenario {
            return Err(format!("{at}: {} runs another scenario", who.name));
        }
        if who.name == me.name {
            return Err(format!("{at}: another process is {} too: names are of one each", me.name));
        }
        if (&who.name, *port) != (&neighbour.name, neighbour.peer) {
            return Err(format!(
                "{at} leads to port {port} of {}: expected port {} of {}",
                who.name, neighbour.peer, neighbour.name
            ));
        }
        Ok(())
    }

    /// What was met since the last call that does not fit, while this node runs: once each.
    pub fn take_strangers(&self) -> Vec<String> {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh =
            strangers.iter().filter(|(_, told)| !told).map(|(why, _)| why.clone()).collect();
        strangers.iter_mut().for_each(|(_, told)| *told = true);
        fresh
    }

    fn note_stranger(&self, port: u32, hello: &Hello) {
        let neighbour = self.neighbours.iter().map(|(one, _)| one).find(|one| one.port == port);
        if let Some(Err(why)) = neighbour.map(|neighbour| self.misfit(neighbour, hello)) {
            self.note(why);
        }
    }

    /// Takes in what is to be told of a link while this node runs.
    pub fn note(&self, why: String) {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if strangers.len() < STRANGERS_MOST && !strangers.iter().any(|(known, _)| *known == why) {
            strangers.push((why, false));
        }
    }

    fn take(&mut self, place: usize, hello: Hello) -> Result<(), String> {
        self.misfit(&self.neighbours[place].0, &hello)?;
        let (neighbour, state) = &mut self.neighbours[place];
        let (me, Hello { who, heard, whole, trips, longest, length, .. }) = (&self.me, hello);
        let at = format!("port {} of {}", neighbour.port, me.name);
        // Another process is the neighbour that was started again, unless the first one still speaks: a
        // link keeps hellos in order.
        if state.before == Some(who.process) {
            return Err(format!("{at}: two processes are {}", who.name));
        }
        if state.heard != Some(who.process) {
            *state = State { before: state.heard, heard: Some(who.process), ..State::default() };
        }
        state.hears |= heard == me.process;
        state.whole |= whole;
        state.longest = state.longest.max(length);
        state.hears_long |= self.needs > 0 && longest >= self.needs;
        self.trips.learn(&trips);
        Ok(())
    }

    /// Whether every neighbour has been met, and knows all round trips as this node does.
    pub fn is_over(&self) -> bool {
        let met = |state: &State| {
            state.heard.is_some() && state.hears && state.whole && self.is_wide(state)
        };
        self.trips.is_complete() && self.neighbours.iter().all(|(_, state)| met(state))
    }

    /// Whether packets as long as needed pass both ways.
    fn is_wide(&self, state: &State) -> bool {
        self.needs == 0 || state.hears_long && state.longest >= self.needs
    }

    /// Who has not been met, in words; nothing if the meeting is over.
    pub fn missing(&self) -> Option<String> {
        let missing = |(neighbour, state): &(Neighbour, State)| {
            let Neighbour { port, name, peer } = neighbour;
            match (state.heard, state.hears) {
                (Some(_), true) if !self.is_wide(state) => Some(format!(
                    "{name} (port {port}) hears this node, but packets of {} bytes do not pass {} there: \
                     what is between takes shorter ones (MTU)",
                    self.needs,
                    if state.hears_long { "from" } else { "to" },
                )),
                (Some(_), true) => None,
                (Some(_), false) => Some(format!("{name} (port {port}) does not hear this node")),
                (None, _) => {
                    Some(format!("nothing is heard of {name}, port {peer}, at port {port}"))
                }
            }
        };
        let mut all: Vec<String> = self.neighbours.iter().filter_map(missing).collect();
        if all.is_empty() && !self.is_over() {
            all.push(match self.trips.missing() {
                0 => "neighbours do not know the round trips of all links".into(),
                links => format!("the round trips of {links} links are not known"),
            });
        }
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// Bytes of a hello's check sum, with the blank before it.
const SUM: usize = 5;
/// Words of hellos before they had a check sum. They are heard so that their version is named.
const OLD_WORDS: usize = 8;

/// Reads a hello whose check sum, its last word, is right. Bytes beyond the IP length are padding.
fn read(bytes: &[u8]) -> Option<Hello> {
    let length = u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]) as usize;
    let is_hello = bytes[0] == 0x45 && *bytes.get(9)? == HELLO;
    if !is_hello || length > LONGEST || incast_wire::checksum(bytes.get(..IP_BYTES)?) != 0 {
        return None;
    }
    let text = std::str::from_utf8(bytes.get(IP_BYTES..length)?).ok()?;
    if text.split(' ').count() > OLD_WORDS {
        let (checked, sum) = text.rsplit_once(' ')?;
        let own = incast_wire::checksum(checked.as_bytes());
        if u16::from_str_radix(sum, 16) != Ok(own) {
            return None;
        }
    }
    let mut words = text.split(' ');
    let mut word = || words.next();
    if word()? != MAGIC {
        return None;
    }
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let version = word()?.to_string();
    let scenario = hex(word()?)?;
    let name = word()?.to_string();
    let port = word()?.parse().ok()?;
    let process = hex(word()?)?;
    let heard = hex(word()?)?;
    // What follows is absent in hellos of older versions.
    let known = word() == Some("1");
    let mut number = || word().and_then(hex).unwrap_or(0);
    let (asks, answers) = (number(), number());
    let (whole, trips) = (word() == Some("1"), word().unwrap_or("-").to_string());
    let longest = word().and_then(|text| usize::from_str_radix(text, 16).ok()).unwrap_or(0);
    let is_long = word().is_some_and(|fill| fill.starts_with(FILL) && fill.len() > 1);
    let who = Identity { name, version, scenario, process };
    Some(Hello { who, port, heard, known, asks, answers, whole, trips, longest, is_long, length })
}
