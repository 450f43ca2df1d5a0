//! Destinations: they ask for channels, accept offers, and give tokens on the channels they have.

use super::clock::Step;
use super::headers::{Accept, Finish, Grant, Request, Return, Scheduled, Token, Unscheduled};
use super::incoming::Incoming;
use super::matching::{Offer, share};
use super::params::Terms;
use incast_endpoint::flow_table::{FlowSet, FlowTable};
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::receiver_driven::{Arrival, FlowTimers};
use incast_transport::{Env, FlowId, Header, HostId, Packet, Time};

/// Priority of the tokens of channels that are used before their data phase.
const PROMPT: u8 = 7;

/// Channels from one source.
#[derive(Clone, Copy, Debug)]
struct Link {
    src: HostId,
    channels: u32,
    /// Used at once.
    prompt: u32,
    priority: u8,
    /// When the next token is due; never while none of the channels is used.
    next: Time,
}

/// All flows that arrive at one host.
pub struct Receivers {
    terms: Terms,
    flows: FlowTable<Incoming>,
    finished: FlowSet,
    /// Flows that take part in matchings.
    long: u32,
    timers: FlowTimers,
    /// The next instant of the calendar; `None` while nothing is asked for.
    step: Option<Step>,
    /// Channels of the matching that is going on.
    matched: Vec<Link>,
    /// Offers of its round.
    grants: Vec<Offer>,
    /// Channels of the data phase that is going on, and its epoch.
    running: Vec<Link>,
    epoch: u64,
    /// Tokens that are not given, to leave room for short flows.
    hold: u32,
    seen: u32,
    /// Flows that want a channel, for one round.
    wanting: Vec<(HostId, u32, u32, FlowId)>,
}

impl Link {
    /// Channels on which tokens are given.
    fn used(&self) -> u32 {
        if self.priority == PROMPT { self.prompt } else { self.channels }
    }
}

fn channels(links: &[Link], src: HostId) -> u32 {
    links.iter().filter(|link| link.src == src).map(|link| link.channels).sum()
}

fn all_channels(links: &[Link]) -> u32 {
    links.iter().map(|link| link.channels).sum()
}

impl Receivers {
    /// No flows yet.
    pub fn new(terms: Terms) -> Receivers {
        Receivers {
            terms,
            flows: FlowTable::new(),
            finished: FlowSet::new(),
            long: 0,
            timers: FlowTimers::default(),
            step: None,
            matched: vec![],
            grants: vec![],
            running: vec![],
            epoch: 0,
            hold: 0,
            seen: 0,
            wanting: vec![],
        }
    }

    /// Flows with state.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    fn slot(&mut self, id: FlowId, src: HostId) -> u32 {
        self.flows.slot_of(id).unwrap_or_else(|| {
            let order = self.seen;
            self.seen = self.seen.wrapping_add(1);
            self.flows.insert(id, Incoming::new(id, src, order))
        })
    }

    /// A flow is announced.
    pub fn announced(
        &mut self,
        now: Time,
        outbox: &mut Outbox,
        (id, src): (FlowId, HostId),
        packets: u32,
    ) {
        if self.finished.contains(id) {
            return finish(now, outbox, (id, src));
        }
        let slot = self.slot(id, src);
        let (terms, flow) = (self.terms, self.flows.at_mut(slot));
        if flow.src != src || flow.packets > 0 || packets == 0 || packets < flow.arrivals.end() {
            return;
        }
        flow.packets = packets;
        if packets <= terms.token_initial {
            self.hold = self.hold.saturating_add(packets);
            flow.downgrade = now + terms.slot * packets as u64 + terms.downgrade;
            self.timers.arm(id, &mut flow.armed, flow.downgrade);
        } else {
            self.matches(now, slot);
        }
    }

    /// A flow takes part in matchings from now on.
    fn matches(&mut self, now: Time, slot: u32) {
        let flow = self.flows.at_mut(slot);
        if !flow.long {
            flow.long = true;
            self.long += 1;
            self.step.get_or_insert(self.terms.clock.next_round(now));
            // Channels that had nothing left to do.
            let links = self.matched.iter_mut().chain(&mut self.running);
            for link in links.filter(|link| link.src == flow.src && link.used() > 0) {
                if link.next == Time::NEVER {
                    link.next = now;
                }
            }
        }
    }

    /// A data packet arrived.
    pub fn data(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, content: &Packet) {
        let (id, src) = (content.flow, content.src);
        let header = &content.header;
        let (packet, offset, last, token) =
            match (Unscheduled::read(header), Scheduled::read(header)) {
                (Some(data), _) => (data.packet, data.offset, data.last, None),
                (_, Some(data)) => (data.packet, data.offset, data.last, Some(data.token)),
                _ => return,
            };
        if self.finished.contains(id) {
            return finish(env.now, outbox, (id, src));
        }
        let slot = self.slot(id, src);
        let flow = self.flows.at_mut(slot);
        if flow.src != src || flow.packets > 0 && packet >= flow.packets {
            return;
        }
        if let Some(token) = token {
            flow.came_back(token);
        }
        if flow.arrivals.insert(packet, last) == Arrival::New {
            flow.arrived += 1;
            let offset = flow.widen(offset);
            env.probe.delivered(id, packet, offset, content.payload as u32);
        }
        if flow.arrivals.complete() {
            env.probe.completed(id);
            self.finished.insert(id, env.now);
            self.remove(id);
            finish(env.now, outbox, (id, src));
        }
    }

    /// Forgets a flow.
    pub fn remove(&mut self, id: FlowId) {
        let Some(flow) = self.flows.remove(id) else { return };
        self.long -= flow.long as u32;
        if self.long == 0 {
            self.rest();
        }
    }

    /// Nothing is asked for: the calendar is looked at again when something is.
    fn rest(&mut self) {
        self.step = None;
        self.hold = 0;
        self.matched.clear();
        self.running.clear();
        self.grants.clear();
    }

    /// Whether a packet that waits for the NIC is a request that its source cannot answer any more.
    pub fn is_late(&self, header: &Header, now: Time) -> bool {
        let clock = self.terms.clock;
        Request::read(header).is_some_and(|Request { epoch, round, .. }| {
            let step = clock.now(now);
            let is_now = (epoch, round as u32) == (step.epoch as u32, step.round + 1);
            !is_now || clock.middle(step) <= now
        })
    }

    /// A source offers channels.
    pub fn granted(&mut self, (id, src): (FlowId, HostId), grant: Grant, informed: Time) {
        let Grant { epoch, remaining, channels, prompt, round } = grant;
        let Some(step) = self.step else { return };
        if (epoch, round as u32) != (step.epoch as u32, step.round) {
            return;
        }
        let order = self.flows.get(id).map_or(u32::MAX, |flow| flow.order);
        let (channels, prompt) = (channels as u32, prompt as u32);
        self.grants.push(Offer {
            peer: src,
            flow: id,
            remaining,
            order,
            channels,
            prompt,
            informed,
        });
    }

    /// A source takes back channels that it does not have.
    pub fn returned(&mut self, src: HostId, back: Return) {
        let Return { epoch, channels } = back;
        let here = self.step.is_some_and(|step| step.epoch as u32 == epoch);
        let links = match here {
            true => &mut self.matched,
            false if self.epoch as u32 == epoch => &mut self.running,
            false => return,
        };
        if let Some(link) = links.iter_mut().find(|link| link.src == src) {
            link.channels = link.channels.saturating_sub(channels as u32);
            link.prompt = link.prompt.min(link.channels);
        }
        links.retain(|link| link.channels > 0);
    }

    /// The earliest timer.
    pub fn deadline(&self) -> Time {
        let step = self.step.map_or(Time::NEVER, |step| self.terms.clock.at(step));
        let links = self.matched.iter().chain(&self.running).map(|link| link.next);
        links.min().unwrap_or(Time::NEVER).min(step).min(self.timers.next())
    }

    /// Runs what is due.
    pub fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let now = env.now;
        while let Some((id, slot)) =
            self.timers.expired(now, &mut self.flows, |flow| &mut flow.armed)
        {
            let flow = self.flows.at_mut(slot);
            if flow.downgrade <= now {
                self.matches(now, slot);
            } else {
                self.timers.arm(id, &mut flow.armed, flow.downgrade);
            }
        }
        let clock = self.terms.clock;
        // A host that slept too long joins the next round.
        if let Some(step) = self.step
            && clock.at(step).saturating_add(clock.epoch) < now
        {
            self.matched.clear();
            self.grants.clear();
            self.running.clear();
            self.step = Some(clock.next_round(now));
        }
        while let Some(step) = self.step.filter(|step| clock.at(*step) <= now) {
            if step.round > 0 {
                self.accept(env, outbox, step);
            }
            match step.round == clock.rounds {
                true => self.begin_data(now, step.epoch),
                false => self.ask(now, outbox, step),
            }
            self.step = Some(clock.after(step));
        }
        self.give_tokens(now, outbox);
    }

    /// Takes the offers of a round.
    fn accept(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, step: Step) {
        let Receivers { terms, matched, grants, running, .. } = self;
        let prompt_used: u32 = matched.iter().map(|link| link.prompt).sum();
        let at_once = terms.channels.saturating_sub(all_channels(running) + prompt_used);
        let free = terms.channels.saturating_sub(all_channels(matched));
        let (now, shortest) = (env.now, step.round <= terms.shortest_rounds);
        share(grants, shortest, (free, at_once), env.random, |offer, given, prompt| {
            let header = Accept {
                epoch: step.epoch as u32,
                channels: given as u8,
                prompt: prompt as u8,
                round: step.round as u8,
            };
            let (flow, to, informed) = (offer.flow, offer.peer, offer.informed);
            outbox.push(Control { flow, to, header: header.into(), again: false, informed });
            let place = matched.iter().position(|link| link.src == to).unwrap_or_else(|| {
                let (src, next) = (to, Time::NEVER);
                matched.push(Link { src, channels: 0, prompt: 0, priority: PROMPT, next });
                matched.len() - 1
            });
            let link = &mut matched[place];
            link.channels += given;
            link.prompt += prompt;
            if link.prompt > 0 {
                link.next = link.next.min(now);
            }
        });
    }

    /// Asks each source of which something is wanted.
    fn ask(&mut self, now: Time, outbox: &mut Outbox, step: Step) {
        let Receivers { terms, flows, matched, running, wanting, .. } = self;
        let free = terms.channels.saturating_sub(all_channels(matched));
        if free == 0 {
            return;
        }
        let prompt_used: u32 = matched.iter().map(|link| link.prompt).sum();
        let at_once = match terms.prompt {
            true => terms.channels.saturating_sub(all_channels(running) + prompt_used),
            false => 0,
        };
        wanting.clear();
        let all = flows.values().filter(|flow| flow.wants(now));
        wanting.extend(all.map(|flow| (flow.src, flow.remaining(), flow.order, flow.id)));
        // The flow with the fewest packets left of each source.
        wanting.sort_unstable();
        wanting.dedup_by_key(|(src, ..)| *src);
        for &(src, remaining, _, flow) in wanting.iter() {
            let have = channels(running, src) + channels(matched, src);
            if have as u64 * terms.per_channel as u64 >= remaining as u64 {
                continue;
            }
            let need = (remaining.div_ceil(terms.per_channel) - have).min(free);
            let header = Request {
                epoch: step.epoch as u32,
                remaining,
                channels: need as u8,
                prompt: need.min(at_once) as u8,
                round: step.round as u8 + 1,
            };
            let header: Header = header.into();
            outbox.push(Control { flow, to: src, header, again: false, informed: now });
        }
    }

    /// The data phase of an epoch begins: those with the least to send come first.
    fn begin_data(&mut self, now: Time, epoch: u64) {
        let (flows, matched) = (&self.flows, &mut self.matched);
        matched.sort_by_key(|link| {
            let own = flows.values().filter(|flow| flow.long && flow.src == link.src);
            own.map(Incoming::remaining).min().unwrap_or(u32::MAX)
        });
        let mut before = 0;
        for link in matched.iter_mut() {
            link.priority = (2 + before).min(PROMPT as u32 - 1) as u8;
            before += link.channels;
            link.prompt = link.channels;
            link.next = now;
        }
        self.running.clear();
        std::mem::swap(&mut self.running, &mut self.matched);
        self.epoch = epoch;
    }

    /// Gives the tokens that are due.
    fn give_tokens(&mut self, now: Time, outbox: &mut Outbox) {
        let running = self.running.len();
        let matching = self.step.map_or(self.epoch, |step| step.epoch);
        for place in 0..running + self.matched.len() {
            let (epoch, link) = match place.checked_sub(running) {
                None => (self.epoch, self.running[place]),
                Some(place) => (matching, self.matched[place]),
            };
            if link.next > now {
                continue;
            }
            let next = self.tick(now, outbox, &link, epoch);
            match place.checked_sub(running) {
                None => self.running[place].next = next,
                Some(place) => self.matched[place].next = next,
            }
        }
    }

    /// The flow of a source with the fewest packets left that may have a token now.
    fn shortest(&self, now: Time, src: HostId) -> (bool, Option<FlowId>) {
        let open = |flow: &&Incoming| flow.src == src && flow.long && flow.remaining() > 0;
        let all = || self.flows.values().filter(open);
        let best = all().filter(|flow| flow.wants(now));
        let best = best.min_by_key(|flow| (flow.remaining(), flow.order)).map(|flow| flow.id);
        (best.is_some() || all().next().is_some(), best)
    }

    /// A token on the channels of a link, if its source has a flow for it. Returns when the next is due.
    fn tick(&mut self, now: Time, outbox: &mut Outbox, link: &Link, epoch: u64) -> Time {
        let used = link.used();
        let (any, flow) = self.shortest(now, link.src);
        if !any || used == 0 {
            return Time::NEVER;
        }
        let gap = self.terms.gap(used);
        // A world that calls late gets its rate back, but never a burst.
        let next = (link.next + gap).max(Time(now.0 + 1));
        let next = if next <= now { now + gap } else { next };
        let Some(id) = flow else { return next };
        if self.hold > 0 {
            self.hold -= 1;
            return next;
        }
        let terms = self.terms;
        let flow = self.flows.get_mut(id).expect("it wants a token");
        if let Some((number, packet)) = flow.token(now, &terms, used) {
            let turn = (epoch as u32 & 0xff_ffff) << 8 | link.priority as u32;
            let header = Token { packet, turn, token: number & 0xff_ffff }.into();
            outbox.push(Control { flow: id, to: link.src, header, again: false, informed: now });
        }
        next
    }
}

/// Sends the Finish packet of a flow.
fn finish(now: Time, outbox: &mut Outbox, (flow, to): (FlowId, HostId)) {
    outbox.push(Control { flow, to, header: Finish {}.into(), again: false, informed: now });
}
