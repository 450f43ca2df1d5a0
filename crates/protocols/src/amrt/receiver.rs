//! The receiver: one grant per data packet, with its mark (AMRT §4.2), a list of the packets that
//! grants have released, and two rules of loss detection: the [`paper`]'s and [`passed`], the
//! default.

pub mod paper;
pub mod passed;

use super::headers::ID;
use super::switch::PACKETS;
use super::{Code, Params};
use incast_endpoint::receiver_driven::{Order, OwnGrants, ReceiverTerms, Tells};
use incast_transport::{FabricSite, Span, Time};
use std::collections::VecDeque;

/// Grants are numbered modulo 2^24, the width of the field.
const NUMBERS: u32 = 1 << 24;
/// The largest share of the timeout that the data queues of the path make up, in base RTTs.
const QUEUES_MOST: u64 = 16;
/// The longest back-off, as a power of two of the timeout.
const DOUBLINGS: u32 = 4;

/// A hole is named once it is more than `behind` packets below the highest arrival.
pub(super) fn terms(expectations: &Expectations, behind: u32) -> ReceiverTerms {
    let (saturated, room) = (Code::Saturated as u8, Code::Room as u8);
    ReceiverTerms {
        transport: ID,
        reply: [saturated, saturated, saturated, room],
        duplicate_reply: [saturated; 4],
        recovery: saturated,
        packets: PACKETS,
        marked: true,
        tells: Tells::Burst,
        order: Order::Own,
        hole_behind: behind,
        hole_patience: expectations.timeout,
        own_grants: OwnGrants::None,
    }
}

/// When data counts as lost (AMRT §6: a `timeout` after its grant).
#[derive(Clone, Copy, Debug)]
pub struct Expectations {
    /// Longest expected time from a grant to the arrival of its data.
    pub timeout: Span,
    /// Whether the timeout stays even when every measured RTT is longer.
    pub strict: bool,
}

impl Expectations {
    /// The timeout of a fabric: the base RTT and a full data queue at each hop both ways.
    pub fn of(fabric: &FabricSite, params: &Params) -> Expectations {
        let packets = 2 * params.data_packets as u64 * fabric.hops as u64;
        let queues = fabric.mtu_time(fabric.host_rate).saturating_mul(packets);
        let queues = queues.min(fabric.base_rtt * QUEUES_MOST);
        let roomy = fabric.base_rtt + queues + Span::from_us(1);
        let default = if params.strict_1rtt { fabric.base_rtt } else { roomy };
        Expectations { timeout: params.timeout.unwrap_or(default), strict: params.strict_1rtt }
    }

    /// The longest interval between re-issued grants of a flow without arrivals.
    pub fn longest(&self) -> Span {
        self.timeout * (1 << DOUBLINGS)
    }

    /// The timeout of a flow: at least its shortest RTT, unless it is strict.
    fn of_flow(&self, least_rtt: Option<Span>) -> Span {
        match least_rtt {
            Some(rtt) if !self.strict => self.timeout.max(rtt),
            _ => self.timeout,
        }
    }
}

/// The packets outstanding for one grant.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When its timeout starts.
    since: Time,
    packets: u8,
    /// Some of its data has arrived.
    partly: bool,
}

/// A flow's outstanding grants, in order of their consecutive numbers. A satisfied grant stays
/// with zero packets until it is at the front.
#[derive(Clone, Debug, Default)]
struct Grants {
    entries: VecDeque<Entry>,
    first_number: u32,
}

impl Grants {
    /// The number of the grant at `place`, or of the next one behind the last.
    fn number(&self, place: usize) -> u32 {
        (self.first_number + place as u32) % NUMBERS
    }

    /// The number of the next grant.
    fn next_number(&self) -> u32 {
        self.number(self.entries.len())
    }

    /// Adds a grant for `packets`. Returns its number.
    #[inline]
    fn push(&mut self, now: Time, packets: u8) -> u32 {
        let number = self.next_number();
        self.entries.push_back(Entry { since: now, packets, partly: false });
        number
    }

    /// The grant of this number and its place, if it is still in the list.
    #[inline]
    fn find(&self, number: Option<u32>) -> Option<(usize, Entry)> {
        let place = (number?.wrapping_sub(self.first_number) % NUMBERS) as usize;
        self.entries.get(place).map(|entry| (place, *entry))
    }

    /// The oldest unsatisfied grant.
    #[inline]
    fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// One packet of the grant at `place` arrived. Returns how many grants left the list.
    #[inline]
    fn bring_one(&mut self, place: usize) -> usize {
        let entry = &mut self.entries[place];
        entry.packets = entry.packets.saturating_sub(1);
        entry.partly = true;
        self.drop_satisfied()
    }

    /// A packet that was let go no later than those that have arrived is lost, and is asked for
    /// otherwise: it is that of the oldest unsatisfied grant among the first `passed`, or of the
    /// next one if the second of its packets came. Returns how many grants left the list.
    fn cancel_one(&mut self, passed: usize) -> usize {
        let until = self.entries.len().min(passed + 1);
        let mut sent = self.entries.range_mut(..until).enumerate();
        let lost =
            sent.find(|(place, entry)| entry.packets > 0 && (*place < passed || entry.partly));
        if let Some((_, entry)) = lost {
            entry.packets -= 1;
        }
        self.drop_satisfied()
    }

    /// Removes the first grant, whose data is lost. Returns how many grants left the list.
    fn give_up_first(&mut self) -> usize {
        match self.entries.front_mut() {
            Some(entry) => entry.packets = 0,
            None => return 0,
        }
        self.drop_satisfied()
    }

    #[inline]
    fn drop_satisfied(&mut self) -> usize {
        let mut dropped = 0;
        while self.first().is_some_and(|entry| entry.packets == 0) {
            self.entries.pop_front();
            dropped += 1;
        }
        self.first_number = self.number(dropped);
        dropped
    }
}
