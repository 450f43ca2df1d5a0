//! What few NICs do: fall silent, or pause their links for long.

use crate::Options;
use incast_transport::Time;

/// What the NIC of a host does that few do.
pub(super) struct Rare {
    /// From here on it sends nothing.
    pub silent_from: Time,
    /// When it sends a pause frame, and its classes and which of them it pauses; the next one last.
    pub pauses: Vec<(Time, u8, u8)>,
}

impl Rare {
    /// That of a host, if it does anything of it.
    pub fn of(options: &Options, host: u32) -> Option<Rare> {
        let silent = options.silent.iter().filter(|(silent, _)| *silent == host);
        let silent_from = silent.map(|(_, at)| *at).min().unwrap_or(Time::NEVER);
        let storms = options.storms.iter().filter(|storm| storm.host.0 == host);
        let mut pauses: Vec<_> = storms
            .flat_map(|storm| {
                let classes = storm.classes.0;
                [(storm.from, classes, classes), (storm.until, classes, 0)]
            })
            .filter(|(at, ..)| *at != Time::NEVER)
            .collect();
        pauses.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        let rare = Rare { silent_from, pauses };
        (rare.due() != Time::NEVER).then_some(rare)
    }

    /// When the first of it is due.
    pub fn due(&self) -> Time {
        self.silent_from.min(self.pauses.last().map_or(Time::NEVER, |(at, ..)| *at))
    }
}
