//! Max-min fair rates, kept as flows come and go.
//!
//! An allocation is max-min fair exactly if every flow has a bottleneck: a link that is full and on which no flow
//! has a higher rate. There is one such allocation. So after a change it is enough to share anew among some flows,
//! the others keeping their rates, and to take in others until all have a bottleneck again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Relative difference below which a link is full and two rates are equal.
const EQUAL: f64 = 1e-9;
/// Relative change of a rate that is rounding alone.
const SAME: f64 = 1e-12;

/// What a flow takes of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// Which link.
    pub link: u32,
    /// This part of the flow's rate, above 0.
    pub part: f64,
}

/// A flow of [`Shares`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(pub u32);

struct User {
    member: u32,
    /// Place in the uses of the member.
    place: u32,
}

struct Link {
    capacity: f64,
    users: Vec<User>,
    dirty: bool,
    /// The capacity has changed.
    changed: bool,
    touched: bool,
    /// While shares are made: what is left for the chosen flows that have no rate yet, the sum of their parts, and
    /// how many they are.
    spare: f64,
    parts: f64,
    open: u32,
    /// The rate that it sets, if it is a bottleneck.
    level: f64,
}

#[derive(Default)]
struct Member {
    uses: Vec<Use>,
    /// Place of each use among the users of its link.
    places: Vec<u32>,
    rate: f64,
    bottleneck: u32,
    chosen: bool,
    /// The rate in the making; negative if there is none yet.
    next: f64,
}

/// Links, flows that use them, and the flows' max-min fair rates.
#[derive(Default)]
pub struct Shares {
    links: Vec<Link>,
    members: Vec<Member>,
    free: Vec<u32>,
    dirty: Vec<u32>,
    touched: Vec<u32>,
    chosen: Vec<u32>,
    changed: Vec<Handle>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Shares {
    /// Links of these capacities, and no flow.
    pub fn new(capacities: impl Iterator<Item = f64>) -> Shares {
        let mut shares = Shares::default();
        for capacity in capacities {
            shares.add_link(capacity);
        }
        shares
    }

    /// One more link.
    pub fn add_link(&mut self, capacity: f64) -> u32 {
        self.links.push(Link {
            capacity,
            users: vec![],
            dirty: false,
            changed: false,
            touched: false,
            spare: 0.0,
            parts: 0.0,
            open: 0,
            level: f64::INFINITY,
        });
        self.links.len() as u32 - 1
    }

    /// Changes what a link carries. Rates are right after the next [`settle`](Shares::settle).
    pub fn set_capacity(&mut self, link: u32, capacity: f64) {
        let own = &mut self.links[link as usize];
        (own.capacity, own.changed) = (capacity, true);
        self.mark(link);
    }

    /// A flow that uses these links, each once, at least one. Rates are right after the next settling.
    pub fn add(&mut self, uses: &[Use]) -> Handle {
        assert!(!uses.is_empty(), "a flow uses a link");
        let handle = self.free.pop().unwrap_or_else(|| {
            self.members.push(Member::default());
            self.members.len() as u32 - 1
        });
        let member = &mut self.members[handle as usize];
        member.uses.extend_from_slice(uses);
        (member.rate, member.bottleneck) = (0.0, uses[0].link);
        for (place, one) in uses.iter().enumerate() {
            let users = &mut self.links[one.link as usize].users;
            self.members[handle as usize].places.push(users.len() as u32);
            users.push(User { member: handle, place: place as u32 });
            self.mark(one.link);
        }
        // It has no rate yet, whatever its bottleneck.
        self.choose(handle);
        Handle(handle)
    }

    /// A flow is over.
    pub fn remove(&mut self, flow: Handle) {
        let member = &mut self.members[flow.0 as usize];
        let (uses, places) = (std::mem::take(&mut member.uses), std::mem::take(&mut member.places));
        for (one, at) in uses.iter().zip(&places) {
            let users = &mut self.links[one.link as usize].users;
            users.swap_remove(*at as usize);
            if let Some(moved) = users.get(*at as usize) {
                self.members[moved.member as usize].places[moved.place as usize] = *at;
            }
            self.mark(one.link);
        }
        let member = &mut self.members[flow.0 as usize];
        // The memory is for the next flow.
        (member.uses, member.places) = (uses, places);
        member.uses.clear();
        member.places.clear();
        if std::mem::take(&mut member.chosen) {
            self.chosen.retain(|other| *other != flow.0);
        }
        self.free.push(flow.0);
    }

    /// The rate of a flow, as of the last settling.
    pub fn rate(&self, flow: Handle) -> f64 {
        self.members[flow.0 as usize].rate
    }

    /// Makes all rates max-min fair.
    pub fn settle(&mut self) {
        self.changed.clear();
        for at in 0..self.dirty.len() {
            let link = self.dirty[at];
            self.touch(link);
            let all = self.links[link as usize].changed;
            self.choose_users(link, |member| all || member.bottleneck == link);
        }
        loop {
            self.fill();
            let before = self.chosen.len();
            self.widen();
            if self.chosen.len() == before {
                break;
            }
        }
        for handle in self.chosen.drain(..) {
            let member = &mut self.members[handle as usize];
            member.chosen = false;
            if (member.next - member.rate).abs() > SAME * member.rate {
                member.rate = member.next;
                self.changed.push(Handle(handle));
            }
        }
        for link in self.touched.drain(..).chain(self.dirty.drain(..)) {
            let own = &mut self.links[link as usize];
            (own.touched, own.dirty, own.changed) = (false, false, false);
        }
    }

    /// The flows whose rates the last settling has changed.
    pub fn changed(&self) -> &[Handle] {
        &self.changed
    }

    fn mark(&mut self, link: u32) {
        if !std::mem::replace(&mut self.links[link as usize].dirty, true) {
            self.dirty.push(link);
        }
    }

    fn touch(&mut self, link: u32) {
        if !std::mem::replace(&mut self.links[link as usize].touched, true) {
            self.touched.push(link);
        }
    }

    fn choose(&mut self, handle: u32) {
        let member = &mut self.members[handle as usize];
        if !std::mem::replace(&mut member.chosen, true) {
            self.chosen.push(handle);
        }
    }

    /// Chooses those users of a link that have no part in the sharing yet and of which this holds.
    fn choose_users(&mut self, link: u32, wanted: impl Fn(&Member) -> bool) {
        for user in &self.links[link as usize].users {
            let member = &mut self.members[user.member as usize];
            if !member.chosen && wanted(member) {
                member.chosen = true;
                self.chosen.push(user.member);
            }
        }
    }

    /// Shares what the others leave among the chosen flows by progressive filling: all rise together until a link
    /// is full; its flows keep that rate, and the rest go on.
    fn fill(&mut self) {
        for at in 0..self.chosen.len() {
            let handle = self.chosen[at] as usize;
            self.members[handle].next = -1.0;
            for place in 0..self.members[handle].uses.len() {
                self.touch(self.members[handle].uses[place].link);
            }
        }
        for link in &self.touched {
            let own = &mut self.links[*link as usize];
            (own.spare, own.parts, own.open) = (own.capacity, 0.0, 0);
            own.level = f64::INFINITY;
            for user in &own.users {
                let member = &self.members[user.member as usize];
                let part = member.uses[user.place as usize].part;
                match member.chosen {
                    true => (own.parts, own.open) = (own.parts + part, own.open + 1),
                    false => own.spare -= part * member.rate,
                }
            }
            if own.open > 0 {
                self.heap.push(Reverse((level(own).to_bits(), *link)));
            }
        }
        while let Some(Reverse((bits, link))) = self.heap.pop() {
            let own = &self.links[link as usize];
            if own.open == 0 {
                continue;
            }
            // Levels only rise, as others take less than an equal share.
            let now = level(own);
            match now.to_bits() > bits {
                true => self.heap.push(Reverse((now.to_bits(), link))),
                false => self.freeze(link, now),
            }
        }
    }

    /// A link is full: its flows without a rate have this one.
    fn freeze(&mut self, link: u32, level: f64) {
        self.links[link as usize].level = level;
        for at in 0..self.links[link as usize].users.len() {
            let user = self.links[link as usize].users[at].member as usize;
            let member = &mut self.members[user];
            if !member.chosen || member.next >= 0.0 {
                continue;
            }
            (member.next, member.bottleneck) = (level, link);
            for one in &member.uses {
                let other = &mut self.links[one.link as usize];
                other.spare -= one.part * level;
                other.parts -= one.part;
                other.open -= 1;
            }
        }
    }

    /// Chooses the flows that have lost their bottleneck, or have a higher rate than a bottleneck of others allows.
    fn widen(&mut self) {
        for at in 0..self.touched.len() {
            let link = self.touched[at];
            let own = &self.links[link as usize];
            let full = own.spare <= EQUAL * own.capacity;
            let most = own.users.iter().map(|user| &self.members[user.member as usize]);
            let most = most.filter(|member| member.chosen).map(|member| member.next);
            let most = most.fold(0.0, f64::max) * (1.0 - EQUAL);
            let level = own.level * (1.0 + EQUAL);
            self.choose_users(link, |member| {
                let lost = member.bottleneck == link && (!full || member.rate < most);
                lost || member.rate > level
            });
        }
    }

    /// What a link carries now.
    pub fn load(&self, link: u32) -> f64 {
        let users = self.links[link as usize].users.iter();
        let of = |user: &User| {
            let member = &self.members[user.member as usize];
            member.rate * member.uses[user.place as usize].part
        };
        users.map(of).sum()
    }

    /// The bottleneck of a flow, as of the last settling.
    pub fn bottleneck(&self, flow: Handle) -> u32 {
        self.members[flow.0 as usize].bottleneck
    }
}

/// The rate at which a link is full if its flows without one rise together.
fn level(link: &Link) -> f64 {
    (link.spare / link.parts).max(0.0)
}

#[cfg(test)]
mod tests;
