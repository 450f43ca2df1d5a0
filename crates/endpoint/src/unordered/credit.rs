//! Credits of receivers (UEC's RCCC): cumulative numbers of quanta, which a receiver hands out to its flows in turn at the pace
//! of its link.

use crate::flow_table::FlowTable;
use crate::queue::Queue;
use incast_transport::{Bytes, FlowId, Rate, Time};

/// Bytes of a quantum.
pub const QUANTUM: u64 = 256;
/// Quanta that a pull grants at most.
const GRANT: u64 = 64;
/// A pull that grants nothing takes as much of the pace as so many quanta.
const EMPTY: u64 = 4;
/// Pulls take so many path numbers in turn.
const PATHS: u16 = 128;

/// What credits are, if receivers give some.
#[derive(Clone, Copy, Debug)]
pub struct CreditPlan {
    /// Bytes that a flow may send before it has heard anything, and its largest credit.
    pub most: u64,
    /// At which a receiver hands out credits.
    pub pace: Rate,
}

/// The credit of a flow at its source.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    most: i64,
    /// Bytes that may leave; the last packet may overdraw it.
    bytes: i64,
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
        Credit { most, bytes: most, pulled: 0, asked: 0, speculates: true }
    }

    /// Whether a packet may leave.
    #[inline]
    pub fn is_left(&self) -> bool {
        self.bytes > 0
    }

    /// A packet of `bytes` leaves.
    pub fn spend(&mut self, bytes: u32) {
        self.bytes -= bytes as i64;
    }

    /// The number to ask for, the lower 24 bits, with `left` bytes still to be sent, in packets of up to `mtu`, and while so many flows
    /// of the host send.
    pub fn ask(&mut self, left: u64, mtu: u32, flows: usize) -> u32 {
        let mut wanted = left.min(self.most as u64) as i64 - self.bytes;
        if self.speculates && wanted < mtu as i64 && left > 0 {
            wanted = mtu as i64;
        }
        let share = wanted / flows.max(1) as i64;
        let quanta = -(-share).div_euclid(QUANTUM as i64);
        let number = self.pulled.saturating_add_signed(quanta);
        self.asked = self.asked.max(number);
        number as u32 & 0x00ff_ffff
    }

    /// The receiver has answered: what is left of the first credit is lost.
    pub fn heard(&mut self) {
        if self.speculates {
            self.speculates = false;
            self.bytes = self.bytes.min(0);
        }
    }

    /// A pull has arrived with the lower 32 bits of its number. One beyond what was asked for and what an idle receiver grants is forged.
    pub fn pull(&mut self, number: u32) {
        let more = number.wrapping_sub(self.pulled as u32) as i32;
        let open = self.asked.saturating_sub(self.pulled) + self.most as u64 / QUANTUM + GRANT;
        if more <= 0 || more as u64 > open {
            return;
        }
        self.pulled += more as u64;
        self.bytes = (self.bytes + (more as u64 * QUANTUM) as i64).min(self.most);
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
}

/// What a receiver knows of the credit of a flow, in quanta.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    asked: u64,
    granted: u64,
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
    active: Queue<(FlowId, u32)>,
    idle: Queue<(FlowId, u32)>,
    /// When the next pull may leave; [`Time::NEVER`] while nobody waits.
    next: Time,
    path: u16,
}

impl Puller {
    /// Nobody waits.
    pub fn new(plan: CreditPlan) -> Puller {
        Puller { plan, active: Queue::new(), idle: Queue::new(), next: Time::NEVER, path: 0 }
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
        if (ahead > 0 || anyway) && demand.turn != Turn::Active {
            Self::wait(&mut self.active, flow, demand, Turn::Active);
            if self.next == Time::NEVER {
                self.next = now;
            }
        }
    }

    fn wait(queue: &mut Queue<(FlowId, u32)>, flow: FlowId, demand: &mut Demand, turn: Turn) {
        demand.entry = demand.entry.wrapping_add(1);
        demand.turn = turn;
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
                        return Some((flow, slot));
                    }
                }
            }
            None
        };
        let active = first(&mut self.active, Turn::Active);
        let slow = active.is_none();
        let Some((flow, slot)) = active.or_else(|| first(&mut self.idle, Turn::Idle)) else {
            self.next = Time::NEVER;
            return None;
        };
        let demand = demand(flows.at_mut(slot));
        let wanted = demand.asked.saturating_sub(demand.granted).min(GRANT);
        let quanta = if slow { GRANT } else { wanted };
        demand.granted += quanta;
        demand.turn = Turn::None;
        if demand.asked > demand.granted {
            Self::wait(&mut self.active, flow, demand, Turn::Active);
        } else if !slow || demand.granted - demand.asked < self.plan.most / QUANTUM {
            Self::wait(&mut self.idle, flow, demand, Turn::Idle);
        }
        let worth = if quanta == 0 { EMPTY } else { quanta };
        let gap = self.plan.pace.tx_time(Bytes(worth * QUANTUM));
        // A world that calls late gets its pace back, but never a burst.
        self.next = if self.next + gap > now { self.next + gap } else { now + gap };
        let path = self.path;
        self.path = (path + 1) % PATHS;
        Some(Grant { flow, number: demand.granted as u32, slow, path })
    }
}
