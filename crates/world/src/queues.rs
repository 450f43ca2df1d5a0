//! Flows of several classes of data: the queues of ports that serve them, and hosts that send them.
//!
//! A transport knows one class of data. So that its flows can have several, a host has one instance of it
//! for each, and the world says which packet is whose; no transport knows of the others.

use incast_egress::port::Scheduler;
use incast_transport::{
    Acks, Classes, Env, Flow, FlowId, Host, Observed, PacketRef, Schedule, Time, Timers,
};
use std::sync::Arc;

/// The queues of data at every port, and which of them each flow is in.
#[derive(Clone, Debug)]
pub struct Queues {
    /// How they are served; class 1 is in the first one.
    pub served: Arc<[Schedule]>,
    /// The class of each flow, from 1. Flows that it does not have are in the last one.
    pub class_of: Arc<[u8]>,
}

impl Queues {
    /// The queue of a flow.
    #[inline]
    fn of(&self, flow: FlowId) -> usize {
        let last = self.served.len() - 1;
        self.class_of.get(flow.0 as usize).map_or(last, |class| *class as usize - 1)
    }
}

/// A host with one instance of a transport for each queue of data, which sends in the order of the
/// queues.
pub(crate) struct QueuedHost {
    queues: Queues,
    hosts: Vec<Box<dyn Host>>,
    scheduler: Scheduler,
}

impl QueuedHost {
    /// With instances that `make` makes.
    pub fn new(queues: &Queues, make: impl Fn() -> Box<dyn Host>) -> QueuedHost {
        let hosts = queues.served.iter().map(|_| make()).collect();
        QueuedHost { queues: queues.clone(), hosts, scheduler: Scheduler::of(&queues.served) }
    }
}

/// Where packets of a queue stand among classes.
fn class(queue: usize) -> u8 {
    queue as u8 + 1
}

impl Host for QueuedHost {
    fn set_acks(&mut self, acks: Acks) {
        self.hosts.iter_mut().for_each(|host| host.set_acks(acks));
    }

    fn set_timers(&mut self, timers: Timers) {
        self.hosts.iter_mut().for_each(|host| host.set_timers(timers));
    }

    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        self.hosts[self.queues.of(flow.id)].open(env, flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let queue = self.queues.of(env.packets[packet].flow);
        self.hosts[queue].receive(env, packet);
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(0) {
            let control = self.hosts.iter_mut();
            let control = control.filter_map(|host| host.transmit(env, Classes::CONTROL)).next();
            if control.is_some() {
                return control;
            }
        }
        let mut ready = 0u8;
        for (queue, host) in self.hosts.iter().enumerate() {
            ready |= ((open.has(class(queue)) && !host.idle()) as u8) << queue;
        }
        while ready != 0 {
            let queue = self.scheduler.pick(ready);
            ready &= !(1 << queue);
            // The transport's only class of data.
            let Some(packet) = self.hosts[queue as usize].transmit(env, Classes(0b10)) else {
                continue;
            };
            env.packets[packet].class = class(queue as usize);
            self.scheduler.charge(queue, env.packets.charged(packet));
            return Some(packet);
        }
        None
    }

    fn idle(&self) -> bool {
        self.hosts.iter().all(|host| host.idle())
    }

    fn deadline(&self) -> Time {
        self.hosts.iter().map(|host| host.deadline()).min().unwrap_or(Time::NEVER)
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        let now = env.now;
        let due = self.hosts.iter_mut().filter(|host| host.deadline() <= now);
        due.for_each(|host| host.wake(env));
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        self.hosts[self.queues.of(flow)].abandon(env, flow);
    }

    fn observe(&self, flow: FlowId, now: Time) -> Observed {
        self.hosts[self.queues.of(flow)].observe(flow, now)
    }

    fn open_flows(&self) -> usize {
        self.hosts.iter().map(|host| host.open_flows()).sum()
    }
}
