//! An end host as both worlds run it: its transports, its NIC, their timers, and impairments.
//!
//! A world keeps the clock and the links. It calls [`EndHost::advance`] up to an instant, then
//! hands over what happens at that instant; the host takes what it needs of the world through
//! [`HostIo`]. At one instant packets are received first, then flows open, then timers run, then the
//! NIC transmits; [`EndHost::next_start`] and [`EndHost::deadline`] say when a world
//! must call again.

use self::rare::Rare;
use crate::arbiter::pull;
use crate::fates::Drops;
use crate::{Deliveries, Faults, FlowSetup, Options, PortSeries, Setup, purpose};
use incast_transport::{
    Classes, Env, FlowId, Host, HostClock, HostId, Observed, PacketPool, PacketRef, Port, PortEnv,
    Probe, Random, Time, TransportId, flag,
};
use smallvec::SmallVec;

/// Never.
pub const NEVER: u64 = u64::MAX;
/// More calls than this at one instant mean that a transport or marker does not let time pass.
pub const MOST_CALLS: u32 = 1_000_000;

/// What a host needs of its world. `port` is the number of the host's NIC.
pub trait HostIo: Drops {
    /// Where flows are recorded and where packets live.
    fn records(&mut self) -> Records<'_>;

    /// What belongs to a NIC that is a port of its own.
    fn nic(&mut self, port: u32) -> NicParts<'_>;

    /// The classes that the other end of the link lets it send.
    fn open(&self, port: u32) -> Classes;

    /// Whether the link took no packet when it was last asked for room. Then the NIC waits until
    /// [`has_room`](HostIo::has_room) is true again.
    #[inline]
    fn is_held(&self, _port: u32) -> bool {
        false
    }

    /// Whether the link has room for a packet.
    #[inline]
    fn has_room(&mut self, _port: u32) -> bool {
        true
    }

    /// How long `charged` bytes occupy the link, in picoseconds; rounded up.
    fn tx(&self, port: u32, charged: u32) -> u64;

    /// The host's transport has seen the packet: its life ends.
    #[inline]
    fn received(&mut self, _port: u32, packet: PacketRef) {
        self.records().packets.free(packet);
    }

    /// The packet begins transmission at `start` and leaves `backlog` charged bytes behind.
    fn send(&mut self, port: u32, packet: PacketRef, start: u64, backlog: u64);

    /// A transport or the NIC's port lets no time pass. Here the run ends: that is a defect of it. A world
    /// that returns goes on; timers and transmissions of the host then stand still until it is called again.
    #[cold]
    fn stand_still(&mut self, still: Still) {
        panic!("{still}");
    }
}

/// What a world records and where its packets live.
pub struct Records<'a> {
    /// Facts about flows.
    pub probe: &'a mut Probe,
    /// Packets.
    pub packets: &'a mut PacketPool,
    /// Payload delivered over time.
    pub deliveries: &'a mut Deliveries,
}

/// What belongs to a NIC's port beside its handler.
pub struct NicParts<'a> {
    /// Packets.
    pub packets: &'a mut PacketPool,
    /// The port's random stream.
    pub random: &'a mut Random,
    /// The port's record.
    pub series: &'a mut PortSeries,
}

/// A host. What every packet touches comes first.
#[repr(C)]
pub struct EndHost {
    clock: HostClock,
    /// From when on the NIC polls; never if the last poll found no packet.
    wanted: u64,
    /// Earliest deadline of the transports and of the NIC's port.
    deadline: u64,
    /// From here on the NIC does something that few do, as `rare` says.
    rare_from: u64,
    port: u32,
    /// The transport that is asked first.
    turn: u32,
    transports: SmallVec<[(TransportId, Box<dyn Host>); 1]>,
    /// A port of the NIC's own, if something shapes or marks there.
    nic: Option<Box<dyn Port>>,
    random: Random,
    impairments: Random,
    /// Draws path numbers, if some transport's packets take the path that these choose and have none.
    paths: Option<Box<PathNumbers>>,
    rare: Option<Box<Rare>>,
    host: HostId,
    /// The NIC's port only marks, and nothing waits there.
    clear: bool,
    /// The NIC's port only marks.
    passes: bool,
}

/// The path numbers of data packets under [`Routing::Entropy`], for transports that choose none.
struct PathNumbers {
    random: Random,
    /// So many per flow.
    entropies: u16,
    of: Vec<TransportId>,
}

impl PathNumbers {
    fn of(setup: &Setup, host: u32) -> Option<Box<PathNumbers>> {
        let Options { seed, balance, .. } = &setup.options;
        let of = setup.drawn_paths.clone();
        let random = Random::new(*seed, host, purpose::PATHS);
        let entropies = balance.entropies;
        (entropies > 1 && !of.is_empty()).then(|| Box::new(PathNumbers { random, entropies, of }))
    }

    #[cold]
    fn draw(&mut self, packets: &mut PacketPool, packet: PacketRef) {
        if self.of.contains(&packets[packet].transport) {
            packets[packet].path = self.random.below(self.entropies as u64) as u16;
        }
    }
}

/// Lends a host to its transports.
macro_rules! env {
    ($host:ident, $probe:expr, $packets:expr, $now:expr) => {
        Env {
            now: Time($now),
            host: $host.host,
            random: &mut $host.random,
            probe: $probe,
            packets: $packets,
        }
    };
}

mod nic;
mod rare;
mod still;

pub use still::{Standing, Still};

impl EndHost {
    /// Takes host `host` out of a setup.
    pub fn new(setup: &mut Setup, host: u32) -> EndHost {
        let port = setup.fabric.host_port(host).0;
        let options = &setup.options;
        let rare = Rare::of(options, host).map(Box::new);
        let nic = setup.ports.make(port);
        let passes = nic.as_ref().is_some_and(|nic| nic.passes());
        let mut made = EndHost {
            clock: HostClock::default(),
            wanted: NEVER,
            deadline: NEVER,
            rare_from: rare.as_ref().map_or(NEVER, |rare| rare.due().0),
            port,
            turn: 0,
            transports: std::mem::take(&mut setup.hosts[host as usize]).into_iter().collect(),
            nic,
            random: Random::new(options.seed, host, purpose::HOST),
            impairments: Random::new(options.seed, host, purpose::FAULTS),
            paths: PathNumbers::of(setup, host),
            rare,
            host: HostId(host),
            clear: passes,
            passes,
        };
        made.refresh_deadline();
        made
    }

    /// Its number.
    #[inline]
    pub fn id(&self) -> HostId {
        self.host
    }

    /// The number of its NIC.
    #[inline]
    pub fn port(&self) -> u32 {
        self.port
    }

    /// From when on the NIC polls for a packet; [`NEVER`] if nothing is to be sent.
    #[inline]
    pub fn wanted(&self) -> u64 {
        self.wanted
    }

    /// When the NIC's present or last transmission ends.
    #[inline]
    pub fn busy_until(&self) -> u64 {
        self.clock.busy_until
    }

    /// Earliest deadline of the transports and of the NIC's port.
    #[inline]
    pub fn deadline(&self) -> u64 {
        self.deadline
    }

    /// When the NIC polls for a packet next.
    #[inline]
    pub fn next_start(&self) -> u64 {
        match self.wanted {
            NEVER => NEVER,
            wanted => wanted.max(self.clock.busy_until),
        }
    }

    /// The first of its transports, to prefetch it.
    #[inline]
    pub fn first_transport(&self) -> Option<&dyn Host> {
        self.transports.first().map(|(_, transport)| &**transport)
    }

    /// What the transport of a flow tells of it.
    pub fn observe(&self, transport: TransportId, flow: FlowId, now: u64) -> Observed {
        let own = self.transports.iter().find(|(id, _)| *id == transport);
        own.map_or(Observed::default(), |(_, host)| host.observe(flow, Time(now)))
    }

    /// Packets marked at the NIC's own port.
    pub fn marks(&self) -> Option<u64> {
        self.nic.as_ref().map(|nic| nic.marks())
    }

    /// The NIC polls from `at` on.
    #[inline]
    pub fn want(&mut self, at: u64) {
        self.wanted = self.wanted.min(at);
    }

    /// The NIC is paused and does not poll before `at`.
    pub fn want_no_earlier(&mut self, at: u64) {
        self.wanted = self.wanted.max(at);
    }

    #[inline]
    fn refresh_deadline(&mut self) {
        self.deadline = match &self.transports[..] {
            [(_, only)] => only.deadline().0,
            all => all.iter().map(|(_, host)| host.deadline().0).min().unwrap_or(NEVER),
        };
        if let Some(nic) = &self.nic {
            self.deadline = self.deadline.min(nic.deadline().0);
        }
    }

    /// A flow opens.
    pub fn open<W: HostIo>(&mut self, world: &mut W, now: u64, setup: &FlowSetup) {
        let Records { probe, packets, .. } = world.records();
        probe.enter(Time(now), self.clock);
        probe.opened(setup.flow.id);
        let mut flow = setup.flow.clone();
        flow.start = Time(now);
        let handler = self.transports.iter_mut().find(|(id, _)| *id == setup.transport);
        let (_, handler) = handler.expect("the flow's transport is on its source");
        handler.open(&mut env!(self, probe, packets, now), &flow);
        self.after_call(now);
    }

    /// A flow is given up: its transport forgets it.
    pub fn abandon<W: HostIo>(&mut self, world: &mut W, now: u64, flow: FlowId) {
        let Records { probe, packets, .. } = world.records();
        probe.enter(Time(now), self.clock);
        for (_, handler) in &mut self.transports {
            handler.abandon(&mut env!(self, probe, packets, now), flow);
        }
        self.after_call(now);
    }

    /// Flows with state in its transports.
    pub fn open_flows(&self) -> usize {
        self.transports.iter().map(|(_, handler)| handler.open_flows()).sum()
    }

    /// A packet has arrived.
    // It has two callers, and one of them is for every packet.
    #[inline(always)]
    pub fn receive<W: HostIo>(&mut self, world: &mut W, now: u64, packet: PacketRef) {
        let Records { probe, packets, deliveries } = world.records();
        probe.enter(Time(now), self.clock);
        let content = &packets[packet];
        let (transport, flow) = (content.transport, content.flow);
        probe.received(content, packets.charged(packet));
        if content.is_data() {
            if probe.records_paths() {
                probe.takes_path(flow, packets.stamps(packet), packets.path_taken(packet));
            }
            if probe.arrives(content, packets.stamps(packet)) {
                probe.arriving(content, packets.stamps(packet), packets.meta(packet));
            } else {
                probe.passing();
            }
        }
        let recorded = deliveries.record(flow);
        let before = if recorded { probe.bytes_delivered(flow) } else { 0 };
        let handler = match &mut self.transports[..] {
            [(id, only)] if *id == transport => only,
            all => {
                let found = all.iter_mut().find(|(id, _)| *id == transport);
                &mut found.expect("the packet's transport is on its destination").1
            }
        };
        handler.receive(&mut env!(self, probe, packets, now), packet);
        if recorded {
            deliveries.add(flow, transport, now, probe.bytes_delivered(flow) - before);
        }
        world.received(self.port, packet);
        self.after_call(now);
    }

    /// After `open` or `receive`: the deadline may have moved, and there may be something to send.
    #[inline]
    fn after_call(&mut self, now: u64) {
        self.refresh_deadline();
        self.want(now);
    }

    /// Whether a packet that arrives is lost, late or doubled. Draws the same numbers whatever
    /// becomes of it.
    #[cold]
    pub fn impair(&mut self, impairments: &Faults) -> Impaired {
        let random = &mut self.impairments;
        let lost = random.chance(impairments.loss);
        let reordered = random.chance(impairments.reorder);
        let doubled = random.chance(impairments.duplicate);
        let late = 1 + random.below(impairments.late.0.max(1));
        let again = 1 + random.below(impairments.late.0.max(1));
        Impaired { lost, late: reordered.then_some(late), again: doubled.then_some(again) }
    }

    /// Runs the timers and transmissions that come before `until`, in order of time; at one instant
    /// timers first.
    #[inline]
    pub fn advance<W: HostIo>(&mut self, world: &mut W, until: u64) {
        let (mut calls, mut last) = (0, NEVER);
        loop {
            let start = if world.is_held(self.port) { NEVER } else { self.next_start() };
            let next = start.min(self.deadline);
            if next >= until {
                return;
            }
            calls = if next == last { calls + 1 } else { 0 };
            last = next;
            if calls >= MOST_CALLS {
                return self.stand_still(world, next, Standing::Calls, None);
            }
            if self.deadline <= start {
                self.wake(world, self.deadline);
            } else if world.has_room(self.port) {
                self.transmit(world, start);
            }
        }
    }

    /// Runs the timers of this instant.
    pub fn run_timers<W: HostIo>(&mut self, world: &mut W, now: u64) {
        if self.deadline <= now {
            self.wake(world, now);
        }
    }

    fn wake<W: HostIo>(&mut self, world: &mut W, at: u64) {
        let Records { probe, packets, .. } = world.records();
        probe.wakes += 1;
        probe.enter(Time(at), self.clock);
        let mut still = None;
        for (_, handler) in &mut self.transports {
            if handler.deadline().0 <= at {
                handler.wake(&mut env!(self, probe, packets, at));
                let next = handler.deadline().0;
                if next <= at {
                    still = Some(Standing::Deadline(next));
                }
            }
        }
        if let Some(nic) = &mut self.nic
            && nic.deadline().0 <= at
        {
            let NicParts { packets, random, .. } = world.nic(self.port);
            nic.wake(&mut PortEnv { now: Time(at), random, packets });
            let next = nic.deadline().0;
            if next <= at {
                still = Some(Standing::NicDeadline(next));
            }
        }
        self.refresh_deadline();
        self.want(at);
        if let Some(what) = still {
            self.stand_still(world, at, what, None);
        }
    }

    /// The NIC is free at `start`: polls for a packet and sends it.
    #[inline]
    fn transmit<W: HostIo>(&mut self, world: &mut W, start: u64) {
        if start >= self.rare_from && self.transmit_rarely(world, start) {
            return;
        }
        if self.nic.is_some() {
            return self.transmit_shaped(world, start);
        }
        let open = world.open(self.port);
        let Records { probe, packets, .. } = world.records();
        probe.enter(Time(start), self.clock);
        let mut env = env!(self, probe, packets, start);
        let pulled = pull(&mut self.transports, &mut self.turn, &mut env, |_| open);
        self.refresh_deadline();
        let Some(packet) = pulled else {
            self.wanted = NEVER;
            return;
        };
        let charged = world.records().packets.charged(packet);
        let tx = world.tx(self.port, charged);
        depart(world, &mut self.paths, packet, start, tx);
        self.occupy(start, tx);
        self.rest_if_idle();
        world.send(self.port, packet, start, 0);
    }

    /// Nothing waits in the NIC: it does not poll transports that have nothing to send.
    #[inline]
    fn rest_if_idle(&mut self) {
        if self.transports.iter().all(|(_, host)| host.idle()) {
            self.wanted = NEVER;
        }
    }

    #[inline]
    fn occupy(&mut self, start: u64, tx: u64) {
        self.clock.busy += tx;
        self.clock.busy_until = start + tx;
    }
}

/// A packet leaves its transport: the snapshot that a data packet takes along is written.
#[inline]
fn depart<W: HostIo>(
    world: &mut W,
    paths: &mut Option<Box<PathNumbers>>,
    packet: PacketRef,
    start: u64,
    tx: u64,
) {
    let Records { probe, packets, .. } = world.records();
    packets.meta_mut(packet).arrived = Time(start);
    if packets[packet].is_data() {
        if let Some(paths) = paths {
            paths.draw(packets, packet);
        }
        let content = &packets[packet];
        let (flow, again) = (content.flow, content.has(flag::RETRANSMIT));
        probe.departs(flow, tx, again, packets.stamps_mut(packet));
    }
}

/// What becomes of a packet that arrives at a host where packets are impaired.
#[derive(Clone, Copy, Debug)]
pub struct Impaired {
    /// It is lost, whatever else was drawn.
    pub lost: bool,
    /// It arrives by so many picoseconds later.
    pub late: Option<u64>,
    /// A copy arrives so many picoseconds later.
    pub again: Option<u64>,
}

/// A packet just like this one, which is under way as well.
pub fn copied(probe: &mut Probe, packets: &mut PacketPool, packet: PacketRef) -> PacketRef {
    let (content, meta) = (packets[packet], *packets.meta(packet));
    let (extension, mut stamps) = (*packets.extension(packet), *packets.stamps(packet));
    probe.doubles(&content, &mut stamps);
    let (taken, copy) = (packets.path_taken(packet), packets.put(content, meta, extension, stamps));
    if probe.records_paths() {
        packets.set_path_taken(copy, taken);
    }
    copy
}
