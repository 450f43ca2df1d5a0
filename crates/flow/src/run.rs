//! A run: flows come, share, and go.

use crate::bins::Bins;
use crate::carried::Carrier;
use crate::carried::{Carried, carried};
use crate::paths::{Paths, Ways};
use crate::{Handle, Shares, Use};
use incast_fabric::{Fabric, PathUse, Routes};
use incast_transport::{
    FlowId, FlowSeries, Framing, PortRecord, Rate, RunRecord, Span, Time, TransportId,
};
use incast_world::{
    Epoch, FlowSetup, Gate, Monitor, Options, Progress, all_complete, common_width, empty_record,
    epochs, path_use,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is run.
pub struct Load {
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// What links charge.
    pub framing: Framing,
    /// The transports.
    pub carriers: Vec<Carrier>,
    /// Flows; `flows[i].flow.id == FlowId(i)`.
    pub flows: Vec<FlowSetup>,
    /// What several flows wait for.
    pub gates: Vec<Gate>,
    /// How to run; what is about packets counts for nothing.
    pub options: Options,
}

/// What happens. The order is that in which things of one instant happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// The last bit has left the source, if the flow's rate has not changed since: the count of its rates.
    Sent(u32, u32),
    /// Links fail or work again: the number of the epoch.
    Links(u32),
    /// A host sends nothing from now on.
    Silent(u32),
    /// An application ends a flow.
    Stopped(u32),
    /// The last bit has arrived.
    Arrived(u32),
    /// A flow starts.
    Opens(u32),
}

/// A flow that is sending.
struct Open {
    flow: u32,
    carried: Carried,
    /// `None` while its ends are apart.
    handle: Option<Handle>,
    uses: Vec<Use>,
    /// Bits left, at `since`.
    left: f64,
    since: u64,
    /// Bits per picosecond since then.
    rate: f64,
    /// How many rates it has had.
    rates: u32,
}

/// Bits per picosecond.
fn speed(rate: Rate) -> f64 {
    rate.0 as f64 / 1e12
}

/// Runs a load to its end. `monitor` receives the progress and can stop it.
pub fn run(load: Load, monitor: &Monitor) -> RunRecord {
    let mut engine = Engine::new(&load);
    monitor.begun.store(true, Ordering::Relaxed);
    let mut batches = 0u64;
    while let Some(now) = engine.next() {
        if batches.is_multiple_of(1024) {
            monitor.report(engine.now, engine.progress.completed, 0);
            if monitor.stopped() {
                engine.record.interrupted = true;
                break;
            }
        }
        batches += 1;
        engine.instant(now);
    }
    monitor.report(engine.now, engine.progress.completed, 0);
    engine.finish()
}

struct Engine<'a> {
    load: &'a Load,
    ways: Ways,
    /// Without failed links, for ideal times.
    whole: Arc<Routes>,
    epochs: Vec<Epoch>,
    paths: Paths,
    shares: Shares,
    /// A link of its own for each flow of a fixed rate, by place in `open`.
    own_links: Vec<Option<u32>>,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    /// Where a flow is in `open`, by its number, and which place a handle is of.
    place: Vec<u32>,
    owner: Vec<u32>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    progress: Progress,
    record: RunRecord,
    now: u64,
    /// Flows whose completion ends the run, and when it ends, once that is known.
    goal: usize,
    limit: u64,
    bins: Vec<Option<Bins>>,
    watched: Vec<(u32, Bins)>,
    transports: Vec<Bins>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> Engine<'a> {
    fn new(load: &'a Load) -> Engine<'a> {
        let Load { fabric, options, flows, .. } = load;
        let ways =
            Ways { fabric: fabric.clone(), fixed: options.paths.clone(), seed: options.seed };
        let epochs = epochs(fabric);
        let mut paths = Paths::new(fabric.routes(), vec![]);
        let spread = load.carriers.iter().all(|own| path_use(own.routing) == PathUse::Each);
        if spread && epochs.is_empty() {
            paths.join_links(&ways, flows.iter().map(|own| (own.flow.src.0, own.flow.dst.0)));
        }
        let mut events = BinaryHeap::new();
        let mut at = |time: u64, event| events.push(Reverse((time, event)));
        let progress =
            Progress::opening(flows, &load.gates, |time, flow| at(time, Event::Opens(flow)));
        for (index, own) in (0..).zip(flows).filter(|(_, own)| !own.waits()) {
            at(own.flow.start.0, Event::Opens(index));
        }
        (0..).zip(&epochs).for_each(|(index, epoch)| at(epoch.at, Event::Links(index)));
        options.silent.iter().for_each(|(host, time)| at(time.0, Event::Silent(*host)));
        options.stops.iter().for_each(|(flow, time)| at(time.0, Event::Stopped(flow.0)));
        let bins = || Bins::new(options.series_start, options.interval);
        let mut watched: Vec<_> = options.watch.iter().map(|flow| (flow.0, bins())).collect();
        watched.sort_by_key(|(flow, _)| *flow);
        let several = if load.carriers.len() > 1 { load.carriers.len() } else { 0 };
        let endless = flows.iter().filter(|own| own.is_endless()).count();
        let awaited = options.until != Time::NEVER && endless > options.stops.len();
        let last = options.stops.iter().map(|(_, at)| at.saturating_add(options.drain).0).max();
        let none = endless > 0 && endless == flows.len() && !awaited;
        Engine {
            whole: fabric.routes(),
            shares: Shares::new(fabric.ports().iter().map(|port| speed(port.rate))),
            own_links: vec![],
            open: vec![],
            free: vec![],
            place: vec![NOWHERE; flows.len()],
            owner: vec![],
            progress,
            record: empty_record(flows.len()),
            now: 0,
            goal: if awaited { usize::MAX } else { flows.len() - endless },
            limit: last
                .filter(|_| none)
                .unwrap_or(u64::MAX)
                .min(options.until.min(Time::HORIZON).0),
            bins: fabric.ports().iter().map(|_| None).collect(),
            watched,
            transports: (0..several).map(|_| bins()).collect(),
            load,
            ways,
            epochs,
            paths,
            events,
        }
    }

    /// The next instant at which something happens, if the run has not ended.
    fn next(&self) -> Option<u64> {
        let Reverse((time, _)) = self.events.peek()?;
        (*time < self.limit).then_some(*time)
    }

    /// All that happens at one instant.
    fn instant(&mut self, now: u64) {
        self.now = now;
        while let Some(Reverse((time, event))) = self.events.peek().copied() {
            if time > now {
                break;
            }
            self.events.pop();
            self.record.events += 1;
            self.happens(event);
        }
        self.settle();
    }

    fn at(&mut self, time: u64, event: Event) {
        self.events.push(Reverse((time, event)));
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Links(epoch) => self.reroute(epoch as usize),
            Event::Silent(host) => {
                let port = self.load.fabric.host_port(host);
                self.shares.set_capacity(port.0, 0.0);
            }
            Event::Stopped(flow) => {
                if self.place[flow as usize] != NOWHERE {
                    self.close(flow);
                }
            }
            Event::Sent(flow, rates) => {
                let place = self.place[flow as usize];
                let current = |own: &Open| own.flow == flow && own.rates == rates;
                let own = self.open.get(place as usize).and_then(|own| own.as_ref());
                if own.is_some_and(current) {
                    self.sent(flow);
                }
            }
            Event::Arrived(flow) => self.arrived(flow),
            Event::Opens(flow) => self.opens(flow),
        }
    }

    fn opens(&mut self, flow: u32) {
        let setup = &self.load.flows[flow as usize];
        let carrier = self.carrier(setup.transport);
        let carried =
            carried(&self.load.fabric, &self.whole, self.load.framing, &setup.flow, carrier);
        self.record.flows[flow as usize].started = Some(Time(self.now));
        let place = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.own_links.push(None);
            self.open.len() as u32 - 1
        });
        self.place[flow as usize] = place;
        self.open[place as usize] = Some(Open {
            flow,
            carried,
            handle: None,
            uses: vec![],
            left: carried.bits,
            since: self.now,
            rate: 0.0,
            rates: 0,
        });
        self.join(place);
    }

    fn carrier(&self, id: TransportId) -> Carrier {
        let found = self.load.carriers.iter().find(|own| own.id == id);
        *found.expect("a flow's transport takes part in the run")
    }

    /// A flow takes the path that routes give it now, if there is one.
    fn join(&mut self, place: u32) {
        let own = self.open[place as usize].as_ref().expect("it is open");
        let setup = &self.load.flows[own.flow as usize];
        let carrier = self.carrier(setup.transport);
        let routing = (carrier.id, carrier.routing);
        let Some(mut uses) = self.paths.of(&self.ways, &setup.flow, routing) else { return };
        if let Some(most) = carrier.most {
            let speed = speed(most);
            let known = self.own_links[place as usize];
            let link = known.unwrap_or_else(|| self.shares.add_link(speed));
            self.own_links[place as usize] = Some(link);
            self.shares.set_capacity(link, speed);
            uses.push(Use { link, part: 1.0 });
        }
        let handle = self.shares.add(&uses);
        let (at, count) = (handle.0 as usize, self.owner.len());
        self.owner.resize(count.max(at + 1), NOWHERE);
        self.owner[at] = place;
        let own = self.open[place as usize].as_mut().expect("it is open");
        (own.handle, own.uses) = (Some(handle), uses);
    }

    /// Links have failed or work again: every open flow takes its path anew.
    fn reroute(&mut self, epoch: usize) {
        let Epoch { routes, dead, .. } = &self.epochs[epoch];
        self.paths = Paths::new(routes.clone(), dead.clone());
        for place in 0..self.open.len() as u32 {
            if self.open[place as usize].is_some() {
                self.leave(place);
                self.join(place);
            }
        }
    }

    /// A flow uses no link from now on.
    fn leave(&mut self, place: u32) {
        self.bring_to(place, self.now);
        let own = self.open[place as usize].as_mut().expect("it is open");
        own.rate = 0.0;
        own.rates += 1;
        if let Some(handle) = own.handle.take() {
            self.shares.remove(handle);
        }
    }

    /// Accounts for what a flow has sent until `now`.
    fn bring_to(&mut self, place: u32, now: u64) {
        let own = self.open[place as usize].as_mut().expect("it is open");
        let endless = self.load.flows[own.flow as usize].is_endless();
        let wanted = own.rate * (now - own.since) as f64;
        let bits = if endless { wanted } else { wanted.min(own.left) };
        let from = std::mem::replace(&mut own.since, now);
        own.left -= bits;
        self.account(place, (from, now), bits);
    }

    fn account(&mut self, place: u32, (from, to): (u64, u64), bits: f64) {
        if bits <= 0.0 {
            return;
        }
        let own = self.open[place as usize].as_ref().expect("it is open");
        let Options { series_start, interval, .. } = self.load.options;
        for one in &own.uses {
            if let Some(bins) = self.bins.get_mut(one.link as usize) {
                let bins = bins.get_or_insert_with(|| Bins::new(series_start, interval));
                bins.add(from, to, bits * one.part);
            }
        }
        let payload = bits * own.carried.payload;
        if let Ok(at) = self.watched.binary_search_by_key(&own.flow, |(flow, _)| *flow) {
            self.watched[at].1.add(from, to, payload);
        }
        let transport = self.load.flows[own.flow as usize].transport;
        let lane = self.load.carriers.iter().position(|one| one.id == transport);
        if let Some(bins) = lane.and_then(|lane| self.transports.get_mut(lane)) {
            bins.add(from, to, payload);
        }
    }

    /// The last bit of a flow leaves its source.
    fn sent(&mut self, flow: u32) {
        let place = self.place[flow as usize];
        let own = self.open[place as usize].as_mut().expect("it is open");
        let (from, rest, lag) = (own.since, own.left, own.carried.lag.0);
        (own.since, own.left) = (self.now, 0.0);
        self.account(place, (from, self.now), rest);
        self.close(flow);
        self.at(self.now.saturating_add(lag), Event::Arrived(flow));
    }

    fn arrived(&mut self, flow: u32) {
        let setup = &self.load.flows[flow as usize];
        let record = &mut self.record.flows[flow as usize];
        (record.completed, record.delivered) = (Some(Time(self.now)), setup.flow.size);
        self.progress.completed += 1;
        self.progress.last_completion = self.now;
        let (flows, events) = (&self.load.flows, &mut self.events);
        self.progress.complete(FlowId(flow), Time(self.now), flows, &mut |time, next| {
            events.push(Reverse((time, Event::Opens(next))));
        });
        if self.progress.completed == self.goal {
            let stopped = self.load.options.stops.iter().map(|(_, at)| at.0).max().unwrap_or(0);
            let end = self.now.max(stopped).saturating_add(self.load.options.drain.0);
            self.limit = self.limit.min(end);
        }
    }

    /// A flow sends no more: what has arrived by now is known.
    fn close(&mut self, flow: u32) {
        let place = self.place[flow as usize];
        self.bring_to(place, self.now);
        let own = self.open[place as usize].as_ref().expect("it is open");
        let under_way = own.rate * own.carried.lag.0 as f64;
        let bits = (own.carried.bits - own.left - under_way).max(0.0);
        self.record.flows[flow as usize].delivered = (bits * own.carried.payload / 8.0) as u64;
        self.leave(place);
        self.open[place as usize] = None;
        self.place[flow as usize] = NOWHERE;
        self.free.push(place);
    }

    /// Rates are fair again; flows whose rates have changed know when they will be sent.
    fn settle(&mut self) {
        self.shares.settle();
        for at in 0..self.shares.changed().len() {
            let handle = self.shares.changed()[at];
            let place = self.owner[handle.0 as usize];
            self.bring_to(place, self.now);
            let rate = self.shares.rate(handle);
            let own = self.open[place as usize].as_mut().expect("a flow that shares is open");
            own.rate = rate;
            own.rates += 1;
            let (flow, rates, left) = (own.flow, own.rates, own.left);
            if rate > 0.0 && !self.load.flows[flow as usize].is_endless() {
                let time = self.now.saturating_add((left / rate).ceil() as u64);
                self.at(time, Event::Sent(flow, rates));
            }
        }
    }

    fn finish(mut self) -> RunRecord {
        let options = &self.load.options;
        let known = self.limit < options.until.min(Time::HORIZON).0;
        let sends = self.open.iter().flatten().any(|own| own.rate > 0.0);
        let goes_on = sends || !self.events.is_empty() || options.until != Time::NEVER;
        let whole = (known || goes_on) && !self.record.interrupted;
        let ended = if whole { self.limit } else { self.now };
        self.now = ended;
        if !whole && !self.record.interrupted && self.open.iter().any(Option::is_some) {
            self.record.stalled_since = Some(Time(self.progress.last_completion));
        }
        let open: Vec<u32> = self.open.iter().flatten().map(|own| own.flow).collect();
        open.into_iter().for_each(|flow| self.close(flow));
        self.record.ended = Time(ended);
        self.record.series_start = options.series_start;
        let lived = ended.saturating_sub(options.series_start.0);
        let ports = self.bins.iter().flatten();
        let all = ports.chain(self.watched.iter().map(|(_, bins)| bins)).chain(&self.transports);
        let widths = all.map(Bins::width).chain([options.interval.0.max(1)]);
        let width = common_width(widths, lived);
        self.record.interval = Span(width);
        self.record.ports = self.ports(width);
        let series = std::mem::take(&mut self.watched).into_iter();
        let series = series
            .map(|(flow, bins)| FlowSeries { flow: FlowId(flow), delivered: bins.finish(width) });
        self.record.series = series.collect();
        self.record.shares = self.transports.drain(..).map(|bins| bins.finish(width)).collect();
        self.record.complete = all_complete(&self.record, &self.load.flows);
        self.record
    }

    /// What each port has sent; what one stands for has sent the same.
    fn ports(&mut self, width: u64) -> Vec<PortRecord> {
        let bins = std::mem::take(&mut self.bins).into_iter();
        let sent: Vec<Option<Vec<u64>>> =
            bins.map(|bins| bins.map(|bins| bins.finish(width))).collect();
        let record = |port: u32| {
            let own = sent[self.paths.stands_for(port) as usize].as_deref().unwrap_or_default();
            let bin =
                |bytes: u64| incast_transport::Bin { sent_bytes: bytes, ..Default::default() };
            PortRecord {
                port,
                total: bin(own.iter().sum()),
                bins: own.iter().map(|bytes| bin(*bytes)).collect(),
                ..PortRecord::default()
            }
        };
        (0..sent.len() as u32).map(record).collect()
    }
}

#[cfg(test)]
mod tests;
