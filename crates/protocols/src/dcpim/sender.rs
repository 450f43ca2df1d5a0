//! Sources: they offer channels to those who ask, and send a packet per token.

use super::clock::Step;
use super::headers::{Accept, Grant, Request, Return, Token};
use super::matching::{Offer, Promised, share};
use super::outgoing::{Held, Outgoing};
use super::params::Terms;
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::receiver_driven::FlowTimers;
use incast_transport::{Classes, Env, Flow, FlowId, HostId, PacketRef, Reason, Time};

/// All flows that start at one host.
pub struct Senders {
    terms: Terms,
    flows: FlowTable<Outgoing>,
    timers: FlowTimers,
    /// Flows that may send a packet.
    ready: Vec<FlowId>,
    /// Requests of a round, and which it is.
    requests: Vec<Offer>,
    round: Step,
    promised: Promised,
    opened: u32,
}

impl Senders {
    /// No flows yet.
    pub fn new(terms: Terms) -> Senders {
        Senders {
            terms,
            flows: FlowTable::new(),
            timers: FlowTimers::default(),
            ready: vec![],
            requests: vec![],
            round: Step { epoch: 0, round: 0 },
            promised: Promised::default(),
            opened: 0,
        }
    }

    /// Flows that have not finished.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// A flow starts: a short one is sent at once.
    pub fn open(&mut self, env: &mut Env<'_>, outbox: &mut Outbox, flow: &Flow) {
        let mut own = Outgoing::new(flow, self.opened, &self.terms, env.now);
        self.opened = self.opened.wrapping_add(1);
        own.announce(env.now, outbox);
        let deadline = own.deadline(self.terms.retry);
        self.timers.arm(flow.id, &mut own.armed, deadline);
        let short = own.is_unasked();
        self.flows.insert(flow.id, own);
        match short {
            true => self.ready.push(flow.id),
            false => env.probe.blocked(flow.id, Reason::Grant),
        }
    }

    /// A destination asks for channels.
    pub fn requested(
        &mut self,
        (now, informed): (Time, Time),
        (id, src): (FlowId, HostId),
        request: Request,
    ) {
        let clock = self.terms.clock;
        let step = clock.now(now);
        let Request { epoch, remaining, channels, prompt, round } = request;
        let is_now = epoch == step.epoch as u32 && round as u32 == step.round + 1;
        if !is_now || step.round >= clock.rounds || clock.middle(step) < now {
            return;
        }
        if self.round != step {
            self.requests.clear();
            self.round = step;
        }
        let order = self.flows.get(id).map_or(u32::MAX, |flow| flow.order);
        let (channels, prompt) = (channels as u32, prompt as u32);
        let known = self.requests.iter().any(|offer| offer.peer == src);
        if channels > 0 && !known {
            self.requests.push(Offer {
                peer: src,
                flow: id,
                remaining,
                order,
                channels,
                prompt,
                informed,
            });
        }
    }

    /// Offers channels to those who asked in this round.
    fn grant(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let Senders { terms, requests, round, promised, .. } = self;
        let most = terms.channels;
        let free = most.saturating_sub(promised.of(round.epoch));
        let before = round.epoch.checked_sub(1).map_or(0, |epoch| promised.of(epoch));
        let at_once = most.saturating_sub(before + promised.of(round.epoch));
        let number = round.round + 1;
        let (shortest, epoch) = (number <= terms.shortest_rounds, round.epoch as u32);
        share(requests, shortest, (free, at_once), env.random, |offer, given, prompt| {
            let header = Grant {
                epoch,
                remaining: offer.remaining,
                channels: given as u8,
                prompt: prompt as u8,
                round: number as u8,
            };
            let (flow, to, informed) = (offer.flow, offer.peer, offer.informed);
            outbox.push(Control { flow, to, header: header.into(), again: false, informed });
        });
    }

    /// A destination takes channels.
    pub fn accepted(
        &mut self,
        env: &mut Env<'_>,
        outbox: &mut Outbox,
        (id, src): (FlowId, HostId),
        accept: Accept,
        informed: Time,
    ) {
        let now = self.terms.clock.now(env.now).epoch;
        let Some(epoch) =
            [now, now.wrapping_sub(1)].into_iter().find(|one| *one as u32 == accept.epoch)
        else {
            return;
        };
        let channels = accept.channels as u32;
        let taken = self.promised.take(epoch, channels, self.terms.channels);
        if taken < channels {
            let header = Return { epoch: accept.epoch, channels: (channels - taken) as u8 }.into();
            outbox.push(Control { flow: id, to: src, header, again: false, informed: env.now });
        }
        if let Some(flow) = self.flows.get_mut(id).filter(|flow| flow.flow.dst == src && taken > 0)
        {
            flow.heard(env.now);
            env.probe.decision(id, informed);
        }
    }

    /// A token arrived.
    pub fn token(&mut self, env: &mut Env<'_>, (id, src): (FlowId, HostId), token: Token) {
        let Token { packet, turn, token: number } = token;
        let (clock, now) = (self.terms.clock, env.now);
        let Some(flow) = self.flows.get_mut(id).filter(|flow| flow.flow.dst == src) else {
            return env.probe.wasted(id);
        };
        let current = clock.now(now).epoch;
        // The epoch, of which the token has the lower bits: the nearest to the present one.
        let behind = (current as u32).wrapping_sub(turn >> 8) << 8;
        let epoch = current.saturating_add_signed(-((behind as i32 >> 8) as i64));
        let late = self.terms.control / 2 + self.terms.slot * self.terms.channels as u64;
        let until = clock.data_ends(epoch).saturating_add(late);
        if packet >= flow.packets || until < now {
            return env.probe.wasted(id);
        }
        flow.heard(now);
        if flow.priority().is_none() {
            self.ready.push(id);
            env.probe.blocked(id, Reason::Ready);
        }
        let priority = (turn as u8).clamp(1, 7);
        flow.tokens.push_back(Held { packet, number, priority, until });
    }

    /// The destination has everything.
    pub fn finished(&mut self, env: &mut Env<'_>, (id, src): (FlowId, HostId)) {
        let Some(flow) = self.flows.get(id).filter(|flow| flow.flow.dst == src) else { return };
        // What was never sent cannot have arrived.
        if flow.remaining() == 0 {
            self.remove(id);
            env.probe.acknowledged(id);
            env.probe.blocked(id, Reason::Ready);
        }
    }

    /// Forgets a flow.
    pub fn remove(&mut self, id: FlowId) {
        self.flows.remove(id);
        self.ready.retain(|other| *other != id);
    }

    /// Whether nothing may be sent.
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty()
    }

    /// The next packet: of the flow with the best token, then the fewest packets left, then the oldest.
    pub fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        self.drop_expired(env);
        let flows = &self.flows;
        let key = |id: &FlowId| {
            let flow = flows.get(*id).expect("it is open");
            let priority = flow.priority().filter(|_| open.has(flow.class))?;
            Some((priority, flow.remaining(), flow.order, *id))
        };
        let (.., id) = self.ready.iter().filter_map(key).min()?;
        let flow = self.flows.get_mut(id).expect("it is open");
        let packet = flow.packet(env);
        self.settle(env, id);
        Some(packet)
    }

    /// A flow has sent a packet or lost a token.
    fn settle(&mut self, env: &mut Env<'_>, id: FlowId) {
        let flow = self.flows.get(id).expect("it is open");
        if flow.priority().is_some() {
            return;
        }
        let waits = if flow.remaining() > 0 { Reason::Grant } else { Reason::Ready };
        env.probe.blocked(id, waits);
        self.ready.retain(|other| *other != id);
    }

    /// Drops tokens that are of no use any more.
    fn drop_expired(&mut self, env: &mut Env<'_>) {
        for place in (0..self.ready.len()).rev() {
            let id = self.ready[place];
            let flow = self.flows.get_mut(id).expect("it is open");
            let mut dropped = false;
            while flow.tokens.front().is_some_and(|token| token.until < env.now) {
                flow.tokens.pop_front();
                env.probe.wasted(id);
                dropped = true;
            }
            if dropped {
                self.settle(env, id);
            }
        }
    }

    /// The earliest timer.
    pub fn deadline(&self) -> Time {
        let answer = match self.requests.is_empty() {
            true => Time::NEVER,
            false => self.terms.clock.middle(self.round),
        };
        self.timers.next().min(answer)
    }

    /// Answers requests, and announces again flows of which nothing is heard.
    pub fn wake(&mut self, env: &mut Env<'_>, outbox: &mut Outbox) {
        let (now, retry) = (env.now, self.terms.retry);
        if !self.requests.is_empty() && self.terms.clock.middle(self.round) <= now {
            self.grant(env, outbox);
        }
        while let Some((id, slot)) =
            self.timers.expired(now, &mut self.flows, |flow| &mut flow.armed)
        {
            let flow = self.flows.at_mut(slot);
            if flow.deadline(retry) <= now {
                if flow.remaining() == 0 {
                    env.probe.timeout(id);
                }
                // What waits for the NIC has not been heard of yet.
                if !flow.is_unasked() {
                    flow.announce(now, outbox);
                }
                flow.backed_off(now);
            }
            let deadline = flow.deadline(retry);
            self.timers.arm(id, &mut flow.armed, deadline);
        }
    }
}
