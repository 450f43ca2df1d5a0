use super::*;
use crate::endpoint::{Endpoint, Event, Failure, MessageId};
use crate::node::Node;
use crate::{Idle, Mem, RealTime, Rule, SharedClock, Testbed, run_virtual};
use bytes::Bytes;
use incast_fabric::{Fabric, LinkDefaults, parse};
use incast_protocols::CATALOGUE;
use incast_transport::{
    Backlog, Classes, Dequeue, Env, Flow, Host, HostId, Packet, PacketRef, Port, PortEnv, Rate,
    Segments, Span, Transport, TransportId, Verdict,
};
use incast_world::{FlowSetup, Monitor, Setup, for_messages};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A transport whose timer for one flow never moves on, once it has seen that flow.
struct Faulty {
    inner: Box<dyn Host>,
    /// Which of the flows it opens or receives, in their order; every one if there is none to blame.
    bad: Option<usize>,
    seen: Vec<FlowId>,
    ended: Vec<FlowId>,
    /// It sends control packets of the flow without end, instead of having a timer.
    floods: bool,
    /// Its timer is due from the start and says nothing of the flow; otherwise one picosecond later, and it does.
    quiet: bool,
}

impl Faulty {
    fn sees(&mut self, flow: FlowId) {
        if !self.seen.contains(&flow) {
            self.seen.push(flow);
        }
    }

    /// The flow that does it, if it is there.
    fn blamed(&self) -> Option<FlowId> {
        match self.bad {
            Some(place) => self.seen.get(place).copied().filter(|flow| !self.ended.contains(flow)),
            None => self.seen.first().copied(),
        }
    }
}

impl Host for Faulty {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        self.sees(flow.id);
        self.inner.open(env, flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        self.sees(env.packets[packet].flow);
        self.inner.receive(env, packet);
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        match self.blamed().filter(|_| self.floods) {
            Some(flow) => {
                let mut packet = Packet::header_only(
                    TransportId(2),
                    flow,
                    env.host,
                    HostId(1 - env.host.0),
                    0,
                    incast_transport::Header::Pull { cumulative: 0, number: 0, flags: 0, spare: 0 },
                );
                packet.class = 0;
                Some(env.packets.create(packet))
            }
            None => self.inner.transmit(env, open),
        }
    }

    fn deadline(&self) -> Time {
        match self.blamed().is_some() && !self.floods {
            true => Time(!self.quiet as u64),
            false => self.inner.deadline(),
        }
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        if self.inner.deadline() <= env.now {
            self.inner.wake(env);
        }
        if let Some(flow) = self.blamed().filter(|_| !self.quiet) {
            env.probe.timeout(flow);
        }
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        self.ended.push(flow);
        self.inner.abandon(env, flow);
    }

    fn open_flows(&self) -> usize {
        self.inner.open_flows()
    }
}

fn star() -> Arc<Fabric> {
    let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
    Arc::new(parse("star:2", LinkDefaults { rate, propagation, loss: 0.0 }).unwrap())
}

/// How the transport of a host is faulty.
#[derive(Clone, Copy)]
struct How {
    bad: Option<usize>,
    floods: bool,
    quiet: bool,
}

const FOURTH: How = How { bad: Some(3), floods: false, quiet: false };

/// Messages from host 0 to host 1, of which `host` has a faulty transport.
fn setup(transport: &'static dyn Transport, host: usize, how: How) -> Setup {
    let How { bad, floods, quiet } = how;
    let mut setup = for_messages(&star(), transport, &[]).unwrap();
    let hosts = std::mem::take(&mut setup.hosts[host]);
    let wrap = |(id, inner)| {
        let faulty = Faulty { inner, bad, seen: vec![], ended: vec![], floods, quiet };
        (id, Box::new(faulty) as Box<dyn Host>)
    };
    setup.hosts[host] = hosts.into_iter().map(wrap).collect();
    setup
}

/// Sends eight messages from host 0 to host 1 at once: those that failed, with why, and those that arrived.
fn eight(
    transport: &'static dyn Transport,
    faulty: usize,
    how: How,
) -> (Vec<(MessageId, Failure)>, Vec<u8>) {
    let fabric = star();
    let whole = || for_messages(&fabric, transport, &[]).unwrap();
    let wires = Rc::new(RefCell::new(Mem::new(&fabric, whole().framing)));
    let mut clocks = SharedClock::of(3).into_iter();
    let mut side = |host: usize| {
        let own = if host == faulty { setup(transport, host, how) } else { whole() };
        Endpoint::new(wires.clone(), clocks.next().unwrap(), own, HostId(host as u32))
    };
    let (mut from, mut to) = (side(0), side(1));
    let mut switch = Testbed::part(whole(), wires.clone(), clocks.next().unwrap(), &[2]);
    for number in 0..8 {
        from.send(HostId(1), Bytes::from(vec![number; 20_000])).unwrap();
    }
    let (mut failed, mut arrived) = (vec![], vec![]);
    let mut turns = 0;
    while !from.is_idle() || arrived.len() + failed.len() < 8 {
        switch.turn();
        turns += 1;
        assert!(turns < 10_000_000, "{:?} {:?} {failed:?} {arrived:?}", from.now(), from.tables());
        match from.poll() {
            Some(Event::Failed(id, why)) => failed.push((id, why)),
            Some(Event::Sent(_) | Event::Received(_)) | None => {}
        }
        if let Some(Event::Received(received)) = to.poll() {
            assert!(received.body.iter().all(|byte| *byte == received.body[0]));
            arrived.push(received.body[0]);
        }
    }
    arrived.sort_unstable();
    (failed, arrived)
}

const OTHERS: [u8; 7] = [0, 1, 2, 4, 5, 6, 7];

/// The flow whose timer stands still fails at once, at its sender; the others do not notice.
#[test]
fn a_flow_for_which_no_time_passes_fails_and_others_go_on() {
    for entry in CATALOGUE {
        let name = entry.info().name;
        for how in [FOURTH, How { quiet: true, ..FOURTH }] {
            let (failed, arrived) = eight(*entry, 0, how);
            assert_eq!(failed, [(MessageId(3), Failure::Faulty)], "{name}");
            assert_eq!(arrived, OTHERS, "{name}");
        }
    }
}

/// The same at the receiver: its flow is given up there, and the sender hears nothing more of it.
#[test]
fn a_receiver_gives_up_the_flow_for_which_no_time_passes() {
    for entry in &CATALOGUE[..2] {
        let name = entry.info().name;
        let (failed, arrived) = eight(*entry, 1, FOURTH);
        let [(_, Failure::Stalled | Failure::Silent)] = failed[..] else {
            panic!("{name}: {failed:?}")
        };
        assert_eq!(arrived.len(), 7, "{name}");
    }
}

/// A transport that fills its NIC's own port without end.
#[test]
fn a_flow_that_fills_its_nic_fails() {
    let mut shaped = 0;
    for entry in CATALOGUE {
        let nic = for_messages(&star(), *entry, &[]).unwrap().ports.make(0);
        if nic.is_none_or(|nic| nic.passes()) {
            continue;
        }
        let name = entry.info().name;
        let (failed, arrived) = eight(*entry, 0, How { floods: true, ..FOURTH });
        assert_eq!(failed, [(MessageId(3), Failure::Faulty)], "{name}");
        assert_eq!(arrived, OTHERS, "{name}");
        shaped += 1;
    }
    assert!(shaped > 0, "some transports shape at the NIC");
}

/// A host with two flows of a run.
fn run_of_two(bad: Option<usize>) -> Setup {
    let mut setup = setup(CATALOGUE[0], 0, How { bad, ..FOURTH });
    let flow = |id: u32| FlowSetup {
        flow: Flow {
            id: FlowId(id),
            src: HostId(0),
            dst: HostId(1),
            size: 50_000,
            start: Time(1_000_000 * id as u64),
            segments: Segments::Uniform(setup.framing.mss()),
            burst: None,
            connection: None,
        },
        transport: setup.routing[0].0,
        after: vec![],
        delay: Span::ZERO,
        gate: None,
        cut: Time::NEVER,
    };
    setup.flows = vec![flow(0), flow(1)];
    setup
}

/// In real time a run goes on without the flow, and says once what happened.
#[test]
fn a_run_in_real_time_says_which_flow_it_gave_up() {
    let setup = run_of_two(Some(0));
    let mem = Mem::new(&setup.fabric, setup.framing);
    let clock = RealTime::new(Rule::Compensated, Idle::Spin);
    let until = Time::ZERO + Span::from_ms(20);
    let mut setup = setup;
    setup.options.until = until;
    let ran = Testbed::with(setup, mem, clock).run_timed(&Monitor::default());
    let troubles = ran.fidelity.expect("real time").troubles;
    let [trouble] = &troubles[..] else { panic!("{troubles:?}") };
    assert_eq!(trouble.flow, Some(FlowId(0)));
    let text = trouble.to_string();
    assert!(
        text.starts_with("flow 0 was given up at ") && text.contains("lets no time pass"),
        "{text}"
    );
    assert!(ran.record.flows[0].completed.is_none() && ran.record.flows[1].completed.is_some());
}

/// A transport of which no flow can be blamed is left alone, and said once, however often it is called.
#[test]
fn a_transport_that_stands_still_whatever_ends_does_not_end_the_node() {
    let mut setup = run_of_two(None);
    setup.options.until = Time::ZERO + Span::from_ms(20);
    let mem = Mem::new(&setup.fabric, setup.framing);
    let clock = RealTime::new(Rule::Compensated, Idle::Spin);
    let ran = Testbed::with(setup, mem, clock).run_timed(&Monitor::default());
    let troubles = ran.fidelity.expect("real time").troubles;
    let unnamed = troubles.iter().filter(|one| one.flow.is_none());
    assert_eq!(unnamed.count(), 1, "{troubles:?}");
    assert!(troubles.len() <= 3, "{troubles:?}");
}

/// Under the virtual clock it is a defect that ends the run, in both worlds.
#[test]
fn a_virtual_run_ends_with_the_defect() {
    let message = |run: fn(Setup)| {
        let run = std::panic::AssertUnwindSafe(move || run(run_of_two(Some(0))));
        *std::panic::catch_unwind(run).unwrap_err().downcast::<String>().unwrap()
    };
    for run in [(|setup| drop(run_virtual(setup))) as fn(Setup), |setup| {
        drop(incast_sim::run(setup, 1, &Monitor::default()))
    }] {
        let text = message(run);
        assert!(text.starts_with("host 0: deadline 1 ps after wake at 1 ps"), "{text}");
    }
}

/// A port whose marker never lets time pass.
struct StuckPort(Box<dyn Port>);

impl Port for StuckPort {
    fn enqueue(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict {
        self.0.enqueue(env, packet)
    }
    fn dequeue(&mut self, env: &mut PortEnv<'_>, open: Classes) -> Dequeue {
        self.0.dequeue(env, open)
    }
    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }
    fn data_backlog(&self) -> Backlog {
        self.0.data_backlog()
    }
    fn marks(&self) -> u64 {
        self.0.marks()
    }
    fn deadline(&self) -> Time {
        Time(1)
    }
}

#[test]
fn the_timers_of_a_port_that_stands_still_are_stopped() {
    let mut setup = run_of_two(Some(9));
    setup.options.until = Time::ZERO + Span::from_ms(20);
    let mem = Mem::new(&setup.fabric, setup.framing);
    let clock = RealTime::new(Rule::Compensated, Idle::Spin);
    let mut testbed = Testbed::with(setup, mem, clock);
    let Node::Switch(switch) = &mut testbed.nodes[2] else { panic!("a switch") };
    let port = &mut switch.egress[1];
    port.line.transmitter.timed = true;
    put_around(&mut port.handler);
    testbed.reschedule(2);
    let ran = testbed.run_timed(&Monitor::default());
    let troubles = ran.fidelity.expect("real time").troubles;
    let [trouble] = &troubles[..] else { panic!("{troubles:?}") };
    assert!(trouble.to_string().starts_with("port 3 lets no time pass, at "), "{trouble}");
    assert!(ran.record.flows.iter().all(|flow| flow.completed.is_some()), "packets still cross it");
}

/// Puts a stuck port around a handler.
fn put_around(handler: &mut Box<dyn Port>) {
    struct Gone;
    impl Port for Gone {
        fn enqueue(&mut self, _: &mut PortEnv<'_>, _: PacketRef) -> Verdict {
            unreachable!()
        }
        fn dequeue(&mut self, _: &mut PortEnv<'_>, _: Classes) -> Dequeue {
            unreachable!()
        }
        fn backlog(&self) -> Backlog {
            Backlog::default()
        }
        fn data_backlog(&self) -> Backlog {
            Backlog::default()
        }
        fn marks(&self) -> u64 {
            0
        }
    }
    let own = std::mem::replace(handler, Box::new(Gone));
    *handler = Box::new(StuckPort(own));
}
