//! Credits of receivers (UEC's RCCC, EQDS): cumulative numbers of quanta, which a receiver hands out to its flows in turn at the
//! pace of its link.

use crate::flow_table::FlowTable;
use crate::queue::Queue;
use incast_transport::{Bytes, FlowId, Rate, Time};

/// Bytes of a quantum.
pub const QUANTUM: u64 = 256;
/// A pull that grants nothing takes as much of the pace as so many quanta.
const EMPTY: u64 = 4;
/// Pulls take so many path numbers in turn.
const PATHS: u16 = 128;

/// How sources spend credit and how receivers hand it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// The last packet may overdraw the credit; the first answer takes what is left of it. A pull grants no more than was asked for.
    AsAsked,
    /// A packet needs credit for all of it; the first ACK or NACK takes what is left of the first credit, not what was granted since.
    /// All pulls grant the same, and flows whose packets were cut or lost come first.
    RepairFirst,
}

/// What credits are, if receivers give some.
#[derive(Clone, Copy, Debug)]
pub struct CreditPlan {
    /// Bytes that a flow may send before it has heard anything, and its largest credit.
    pub most: u64,
    /// At which a receiver hands out credits.
    pub pace: Rate,
    /// Quanta of a pull, at most.
    pub grant: u64,
    /// Bytes of a full packet.
    pub packet: u64,
    /// How they are spent and handed out.
    pub rules: Rules,
}

/// The credit of a flow at its source.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    plan: CreditPlan,
    /// Bytes that may leave; under [`Rules::AsAsked`] the last packet may overdraw it.
    bytes: i64,
    /// Bytes that may leave before anything is heard of the receiver, beside those ([`Rules::RepairFirst`]).
    first: i64,
    /// The highest number that a pull had, in quanta.
    pulled: u64,
    /// The highest number that was asked for.
    asked: u64,
    /// Nothing was heard of the receiver yet.
    speculates: bool,
}

impl Credit {
    /// That of a flow that begins.
    pub fn new(plan: CreditPlan) -> Credit {
        let most = plan.most as i64;
        let (bytes, first) = if plan.rules == Rules::AsAsked { (most, 0) } else { (0, most) };
        Credit { plan, bytes, first, pulled: 0, asked: 0, speculates: true }
    }

    /// Whether a packet of so many bytes may leave.
    #[inline]
    pub fn admits(&self, bytes: u32) -> bool {
        match self.plan.rules {
            Rules::AsAsked => self.bytes > 0,
            Rules::RepairFirst => self.bytes + self.first >= bytes as i64,
        }
    }

    /// Whether it is asked for again where nothing else may bring it: under [`Rules::AsAsked`] idle receivers do.
    pub fn asks_again(&self) -> bool {
        self.plan.rules == Rules::RepairFirst
    }

    /// A packet of `bytes` leaves.
    pub fn spend(&mut self, bytes: u32) {
        self.bytes -= bytes as i64;
        if self.bytes < 0 && self.first > 0 {
            self.first += self.bytes;
            self.bytes = 0;
        }
    }

    /// The number to ask for, the lower 24 bits, with `left` bytes still to be sent, and while so many flows of the host send.
    pub fn ask(&mut self, left: u64, flows: usize) -> u32 {
        let mut wanted = left.min(self.plan.most) as i64 - self.bytes - self.first;
        let packet = self.plan.packet as i64;
        if self.speculates && wanted < packet && left > 0 {
            wanted = packet;
        }
        if self.plan.rules == Rules::AsAsked {
            wanted /= flows.max(1) as i64;
        }
        let quanta = -(-wanted).div_euclid(QUANTUM as i64);
        let number = self.pulled.saturating_add_signed(quanta);
        self.asked = self.asked.max(number);
        number as u32 & 0x00ff_ffff
    }

    /// The receiver has answered a packet: what is left of the first credit is lost.
    pub fn heard(&mut self) {
        if self.speculates {
            self.speculates = false;
            self.first = 0;
            if self.plan.rules == Rules::AsAsked {
                self.bytes = self.bytes.min(0);
            }
        }
    }

    /// A pull has arrived with the lower 32 bits of its number. One beyond what was asked for and what an idle receiver grants is forged.
    pub fn pull(&mut self, number: u32) {
        let CreditPlan { most, grant, rules, .. } = self.plan;
        let as_asked = rules == Rules::AsAsked;
        if as_asked {
            self.heard();
        }
        let more = number.wrapping_sub(self.pulled as u32) as i32;
        // A window that was cut is granted beside what was asked for with it.
        let beside = if as_asked { most } else { 2 * most };
        let open = self.asked.saturating_sub(self.pulled) + beside / QUANTUM + grant;
        if more <= 0 || more as u64 > open {
            return;
        }
        self.pulled += more as u64;
        self.bytes += (more as u64 * QUANTUM) as i64;
        if as_asked {
            self.bytes = self.bytes.min(most as i64);
        }
    }
}

/// Where a flow waits for credit at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Turn {
    /// Nowhere: it has what it asked for and more.
    #[default]
    None,
    /// Among those that asked for more than they have.
    Active,
    /// Among those that are given more than they asked for while nobody else asks.
    Idle,
    /// Among those that lost packets, before all others ([`Rules::RepairFirst`]).
    Repair,
}

/// What a receiver knows of the credit of a flow, in quanta.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    asked: u64,
    granted: u64,
    /// Bytes that were cut or lost, for which no pull was given yet ([`Rules::RepairFirst`]).
    repair: u64,
    turn: Turn,
    /// Number of its last entry in a queue: others are out of date.
    entry: u32,
}

/// A pull to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// To which flow.
    pub flow: FlowId,
    /// The lower 32 bits of its number.
    pub number: u32,
    /// Whether it is beyond what was asked for.
    pub slow: bool,
    /// Its path number.
    pub path: u16,
}

/// The credits that a receiver hands out.
pub struct Puller {
    plan: CreditPlan,
    repairs: Queue<(FlowId, u32)>,
    active: Queue<(FlowId, u32)>,
    idle: Queue<(FlowId, u32)>,
    /// When the next pull may leave; [`Time::NEVER`] while nobody waits.
    next: Time,
    path: u16,
}

impl Puller {
    /// Nobody waits.
    pub fn new(plan: CreditPlan) -> Puller {
        let (repairs, active, idle) = (Queue::new(), Queue::new(), Queue::new());
        Puller { plan, repairs, active, idle, next: Time::NEVER, path: 0 }
    }

    /// Credits are handed out at another pace from the next pull on.
    pub fn set_pace(&mut self, pace: Rate) {
        self.plan.pace = pace;
    }

    /// When to ask for a [turn](Puller::turn).
    #[inline]
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// A packet of a flow asks for a number, of which it carries the lower 24 bits. With `anyway` the flow waits even if it asked for no
    /// more than before: its payload was lost.
    pub fn ask(&mut self, flow: FlowId, demand: &mut Demand, number: u32, anyway: bool, now: Time) {
        let low = (demand.asked as u32) << 8;
        let ahead = ((number << 8).wrapping_sub(low) as i32) >> 8;
        if ahead > 0 {
            demand.asked += ahead as u64;
        }
        let repairs = anyway && self.plan.rules == Rules::RepairFirst;
        let turn = if repairs { Turn::Repair } else { Turn::Active };
        if repairs {
            demand.repair += self.plan.packet;
        }
        if (ahead > 0 || anyway) && demand.turn != turn && demand.turn != Turn::Repair {
            self.wait(turn, flow, demand);
            if self.next == Time::NEVER {
                self.next = now;
            }
        }
    }

    fn wait(&mut self, turn: Turn, flow: FlowId, demand: &mut Demand) {
        demand.entry = demand.entry.wrapping_add(1);
        demand.turn = turn;
        let queue = match turn {
            Turn::None => return,
            Turn::Repair => &mut self.repairs,
            Turn::Active => &mut self.active,
            Turn::Idle => &mut self.idle,
        };
        queue.push_back((flow, demand.entry));
    }

    /// The pull that is due, for one of the `flows` that are being received; `demand` is where a flow keeps its own.
    pub fn turn<T>(
        &mut self,
        now: Time,
        flows: &mut FlowTable<T>,
        demand: impl Fn(&mut T) -> &mut Demand,
    ) -> Option<Grant> {
        if now < self.next {
            return None;
        }
        let mut first = |queue: &mut Queue<(FlowId, u32)>, turn| {
            while let Some((flow, entry)) = queue.pop_front() {
                if let Some(slot) = flows.slot_of(flow) {
                    let own = demand(flows.at_mut(slot));
                    if (own.turn, own.entry) == (turn, entry) {
                        return Some((flow, slot, turn));
                    }
                }
            }
            None
        };
        let waits = first(&mut self.repairs, Turn::Repair)
            .or_else(|| first(&mut self.active, Turn::Active))
            .or_else(|| first(&mut self.idle, Turn::Idle));
        let Some((flow, slot, turn)) = waits else {
            self.next = Time::NEVER;
            return None;
        };
        let CreditPlan { grant, most, rules, .. } = self.plan;
        let (slow, demand) = (turn == Turn::Idle, demand(flows.at_mut(slot)));
        let wanted = demand.asked.saturating_sub(demand.granted).min(grant);
        let quanta = if slow || rules == Rules::RepairFirst { grant } else { wanted };
        demand.granted += quanta;
        demand.repair = demand.repair.saturating_sub(quanta * QUANTUM);
        let next = match () {
            () if demand.repair > 0 => Turn::Repair,
            () if demand.asked > demand.granted => Turn::Active,
            () if turn == Turn::Active || demand.granted - demand.asked < most / QUANTUM => {
                Turn::Idle
            }
            () => Turn::None,
        };
        demand.turn = Turn::None;
        self.wait(next, flow, demand);
        let worth = if quanta == 0 { EMPTY } else { quanta };
        let gap = self.plan.pace.tx_time(Bytes(worth * QUANTUM));
        // A world that calls late gets its pace back, but never a burst.
        self.next = if self.next + gap > now { self.next + gap } else { now + gap };
        let path = self.path;
        self.path = (path + 1) % PATHS;
        Some(Grant { flow, number: demand.granted as u32, slow, path })
    }
}
