//! One round of a matching, as a source and as a destination see it.

use incast_transport::{FlowId, HostId, Random, Time};

/// A request at a source or a grant at a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The other host.
    pub peer: HostId,
    /// Its flow with the fewest packets left.
    pub flow: FlowId,
    /// These.
    pub remaining: u32,
    /// Flows that are older come first.
    pub order: u32,
    /// Channels.
    pub channels: u32,
    /// Of these, how many may be used at once.
    pub prompt: u32,
    /// When the request was made.
    pub informed: Time,
}

/// Gives `free` channels to offers, of which `prompt` may be used at once: to the one with the fewest packets
/// left, then the oldest, or at random. Calls `give` with each offer, channels and prompt ones; takes the offers
/// away.
pub fn share(
    offers: &mut Vec<Offer>,
    shortest: bool,
    (mut free, mut prompt): (u32, u32),
    random: &mut Random,
    mut give: impl FnMut(&Offer, u32, u32),
) {
    while free > 0 && !offers.is_empty() {
        let place = match shortest {
            true => {
                let key = |place: &usize| (offers[*place].remaining, offers[*place].order);
                (0..offers.len()).min_by_key(key).expect("there is one")
            }
            false => random.below(offers.len() as u64) as usize,
        };
        let offer = offers.swap_remove(place);
        let given = offer.channels.min(free);
        let at_once = offer.prompt.min(given).min(prompt);
        if given > 0 {
            (free, prompt) = (free - given, prompt - at_once);
            give(&offer, given, at_once);
        }
    }
    offers.clear();
}

/// Channels that a source has promised, in the last two epochs: the last accepts come when the next matching
/// has begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promised {
    epochs: [(u64, u32); 2],
}

impl Promised {
    /// Those of an epoch.
    pub fn of(&self, epoch: u64) -> u32 {
        self.epochs.iter().find(|(own, _)| *own == epoch).map_or(0, |(_, channels)| *channels)
    }

    /// Promises channels as far as there are `most`; returns how many that are.
    pub fn take(&mut self, epoch: u64, channels: u32, most: u32) -> u32 {
        if self.epochs[0].0 < epoch {
            self.epochs = [(epoch, 0), self.epochs[0]];
        }
        let Some((_, own)) = self.epochs.iter_mut().find(|(own, _)| *own == epoch) else {
            return 0;
        };
        let taken = channels.min(most.saturating_sub(*own));
        *own += taken;
        taken
    }
}
