//! What a link does to packets beside carrying them: loss, reordering, duplication, delay, changed
//! marks, trimming and bouncing, by a script or at random by a seed.

use incast_transport::{Ecn, Packet, Random, Span};

/// What happens to one packet. Several things can happen at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Impairment {
    /// It is lost. Its copy is not.
    pub lost: bool,
    /// It arrives this much later, so that packets behind it overtake.
    pub late: Span,
    /// A copy arrives this much later than the packet would on time.
    pub copy: Option<Span>,
    /// Its two ECN bits are set to this.
    pub mark: Option<u8>,
    /// It arrives without its payload, if it is data.
    pub trimmed: bool,
    /// It arrives, without its payload, at its source, if it is data.
    pub bounced: bool,
}

impl Impairment {
    /// The packet arrives as it was sent.
    pub const NONE: Impairment = Impairment {
        lost: false,
        late: Span::ZERO,
        copy: None,
        mark: None,
        trimmed: false,
        bounced: false,
    };
    /// The packet is lost.
    pub const LOST: Impairment = Impairment { lost: true, ..Impairment::NONE };
    /// The packet arrives with congestion experienced (RFC 3168).
    pub const MARKED: Impairment = Impairment { mark: Some(Ecn::Ce as u8), ..Impairment::NONE };

    /// The packet arrives this much later.
    pub fn late(late: Span) -> Impairment {
        Impairment { late, ..Impairment::NONE }
    }

    /// The packet arrives, and this much later again.
    pub fn twice(later: Span) -> Impairment {
        Impairment { copy: Some(later), ..Impairment::NONE }
    }
}

/// Decides about a packet, given how many packets were sent in the whole network before it.
pub type Script = Box<dyn FnMut(&Packet, usize) -> Impairment>;

/// Probabilities per packet, each drawn by itself.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Probabilities {
    /// Of being lost.
    pub loss: f64,
    /// Of arriving twice.
    pub duplicate: f64,
    /// Of arriving late.
    pub late: f64,
    /// A late packet and a copy come up to this much later, uniformly.
    pub latest: Span,
    /// Of two ECN bits drawn at random.
    pub mark: f64,
    /// Of losing the payload, for data.
    pub trim: f64,
    /// Of going back to its source, for data that loses its payload.
    pub bounce: f64,
}

impl Probabilities {
    /// The same of being lost, of arriving twice, late, and without payload.
    pub fn each(level: f64, latest: Span) -> Probabilities {
        let (loss, duplicate, late, trim) = (level, level, level, level);
        Probabilities { loss, duplicate, late, latest, mark: 0.0, trim, bounce: 0.0 }
    }

    /// As many draws for each packet, so that one probability does not shift what others decide.
    fn draw(&self, random: &mut Random, data: bool) -> Impairment {
        let [later, by] = [(); 2].map(|_| Span(random.below(self.latest.0 + 1)));
        let copy = random.chance(self.duplicate).then_some(later);
        let late = if random.chance(self.late) { by } else { Span::ZERO };
        let lost = random.chance(self.loss);
        let bits = random.next_u64() as u8 & 0b11;
        let mark = random.chance(self.mark).then_some(bits);
        let trimmed = random.chance(self.trim) && data;
        let bounced = random.chance(self.bounce) && trimmed;
        Impairment { lost, late, copy, mark, trimmed, bounced }
    }
}

/// What a link does to packets. The same packets and the same script, or the same seed, give the
/// same impairments.
pub struct Impairments(Source);

enum Source {
    None,
    Script(Script),
    Random(Probabilities, Random),
}

impl Impairments {
    /// All packets arrive as they were sent.
    pub fn none() -> Impairments {
        Impairments(Source::None)
    }

    /// Each packet fares as the script says.
    pub fn scripted(script: impl FnMut(&Packet, usize) -> Impairment + 'static) -> Impairments {
        Impairments(Source::Script(Box::new(script)))
    }

    /// The packets of which `lost` says so are lost.
    pub fn losing(mut lost: impl FnMut(&Packet) -> bool + 'static) -> Impairments {
        Impairments::scripted(move |packet, _| match lost(packet) {
            true => Impairment::LOST,
            false => Impairment::NONE,
        })
    }

    /// Each packet draws what happens to it.
    pub fn random(probabilities: Probabilities, seed: u64) -> Impairments {
        Impairments(Source::Random(probabilities, Random::new(seed, 0, 2)))
    }

    /// What happens to the next packet; `sent` were sent in the whole network before it.
    pub fn next(&mut self, packet: &Packet, sent: usize) -> Impairment {
        match &mut self.0 {
            Source::None => Impairment::NONE,
            Source::Script(script) => script(packet, sent),
            Source::Random(probabilities, random) => probabilities.draw(random, packet.is_data()),
        }
    }
}
