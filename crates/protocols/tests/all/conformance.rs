//! Requirements on every transport of the catalogue and on the template. New transports are tested
//! here automatically.

use crate::template;
use incast_egress::port::{Join, PolicyConflict};
use incast_fabric::{Fabric, PathUse, ideal_fct, ideal_fct_over};
use incast_protocols::CATALOGUE;
use incast_testkit::{Outcome, Trial, configured, fabric, flow, random_flows, us};
use incast_transport::*;
use incast_world::{Faults, Options, host_site, path_use};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn entries() -> impl Iterator<Item = &'static dyn Transport> {
    CATALOGUE.iter().copied().chain([&template::ENTRY as &dyn Transport])
}

/// Checks every call of a transport: packets must survive encoding and decoding, deadlines must be
/// in the future, and a second `wake` must have no visible effect.
struct Watched {
    inner: Arc<dyn Configured>,
    open: Arc<AtomicUsize>,
    /// Largest payload of its packets.
    largest: Arc<AtomicUsize>,
    wakes_again: bool,
}

struct WatchedHost {
    inner: Box<dyn Host>,
    open: Arc<AtomicUsize>,
    largest: Arc<AtomicUsize>,
    counted: usize,
    wakes_again: bool,
}

impl WatchedHost {
    fn count(&mut self) {
        let now = self.inner.open_flows();
        self.open.fetch_add(now, Ordering::Relaxed);
        self.open.fetch_sub(self.counted, Ordering::Relaxed);
        self.counted = now;
    }
}

impl Host for WatchedHost {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        self.inner.open(env, flow);
        self.count();
    }
    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        self.inner.receive(env, packet);
        self.count();
    }
    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        let idle = self.inner.idle();
        let packet = self.inner.transmit(env, open)?;
        assert!(!idle, "an idle host sends");
        self.count();
        let (content, extension) = (env.packets[packet], *env.packets.extension(packet));
        assert!(open.has(content.class), "class {} is closed", content.class);
        self.largest.fetch_max(content.payload as usize, Ordering::Relaxed);
        let mut bytes = vec![];
        incast_wire::encode(&content, &extension, &mut bytes);
        let back = incast_wire::decode(&bytes).expect("its own bytes");
        assert_eq!(back, (content, extension.rounded()));
        Some(packet)
    }
    fn deadline(&self) -> Time {
        self.inner.deadline()
    }
    fn wake(&mut self, env: &mut Env<'_>) {
        self.inner.wake(env);
        if self.wakes_again {
            let deadline = self.inner.deadline();
            self.inner.wake(env);
            assert_eq!(self.inner.deadline(), deadline, "wake is idempotent");
        }
        self.count();
    }
    fn open_flows(&self) -> usize {
        self.inner.open_flows()
    }
}

impl Configured for Watched {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        Box::new(WatchedHost {
            inner: self.inner.host(site),
            open: self.open.clone(),
            largest: self.largest.clone(),
            counted: 0,
            wakes_again: self.wakes_again,
        })
    }
    fn policy(&self, site: &PortSite) -> Policy {
        self.inner.policy(site)
    }
    fn shapes_nic(&self) -> bool {
        self.inner.shapes_nic()
    }
    fn hook(&self, site: &SwitchSite) -> Option<Box<dyn SwitchHook>> {
        self.inner.hook(site)
    }
    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.inner.resolved()
    }
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        self.inner.unsolicited(site, packets)
    }
}

/// A network and its flows, for any transports of the catalogue.
struct Case {
    fabric: Arc<Fabric>,
    buffer: Limit,
    flows: Vec<Flow>,
    options: Options,
    join: Join,
    wakes_again: bool,
    /// All transports use per-flow ECMP, regardless of their papers.
    single_path: bool,
    /// Largest payload of a packet of each transport in the last run.
    largest: [Arc<AtomicUsize>; 2],
}

impl Case {
    fn new(spec: &str, buffer: Limit, flows: Vec<Flow>) -> Case {
        let options = Options { until: Time(5_000_000_000_000), ..Options::default() };
        Case {
            fabric: Arc::new(fabric(spec, Rate::from_gbps(10), us(2))),
            buffer,
            flows,
            options,
            join: Join::Shared,
            wakes_again: false,
            single_path: false,
            largest: [Arc::default(), Arc::default()],
        }
    }

    /// Runs with these transports, flow i carried by transport i modulo their number. Also returns
    /// the number of flows with state left at hosts.
    fn run(&self, entries: &[&dyn Transport], threads: usize) -> (Outcome, usize) {
        self.try_run(entries, threads).unwrap_or_else(|conflict| panic!("{conflict}"))
    }

    fn try_run(
        &self,
        entries: &[&dyn Transport],
        threads: usize,
    ) -> Result<(Outcome, usize), PolicyConflict> {
        let open = Arc::new(AtomicUsize::new(0));
        self.largest.iter().for_each(|largest| largest.store(0, Ordering::Relaxed));
        let mut trial = self.trial(entries[0]);
        trial.threads = threads;
        for other in &entries[1..] {
            trial = trial.beside(*other, &[]);
        }
        trial.change = Some(Box::new(|info, inner| {
            let index = entries.iter().position(|entry| entry.info().id == info.id);
            Arc::new(Watched {
                inner,
                open: open.clone(),
                largest: self.largest[index.expect("one of them")].clone(),
                wakes_again: self.wakes_again,
            })
        }));
        let outcome = trial.try_run()?;
        drop(trial);
        Ok((outcome, open.load(Ordering::Relaxed)))
    }

    fn trial<'a>(&self, entry: &'a dyn Transport) -> Trial<'a> {
        let mut trial = Trial::new(entry, self.fabric.clone(), self.flows.clone());
        (trial.buffer, trial.join) = (self.buffer, self.join);
        trial.options = self.options.clone();
        trial.routing = self.single_path.then_some(Routing::Ecmp);
        trial
    }
}

/// Random flows and an incast to host 0.
fn mixed(hosts: u32, count: u32, seed: u64) -> Vec<Flow> {
    let size = |random: &mut Random, _| {
        let scale = 6 + random.below(12);
        1 + random.below(1 << scale)
    };
    let mut flows = random_flows(&mut Random::new(seed, 7, 7), hosts, count, us(200), size);
    for src in 1..hosts {
        flows.push(flow(flows.len() as u32, src, 0, 30_000, Time(50_000_000)));
    }
    flows
}

/// Checks that all flows are complete, with all bytes, and not faster than alone on an empty
/// network. Flow i was carried by transport i modulo their number.
fn check(name: &str, trial: &Case, entries: &[&dyn Transport], record: &RunRecord) {
    let routes = trial.fabric.routes();
    for (index, (flow, seen)) in trial.flows.iter().zip(&record.flows).enumerate() {
        let (Some(start), Some(end)) = (seen.started, seen.completed) else {
            panic!("{name}: flow {} of {} B is not complete", flow.id.0, flow.size);
        };
        assert_eq!(seen.delivered, flow.size, "{name}: flow {}", flow.id.0);
        let routing = entries[index % entries.len()].info().routing;
        let path_use = if trial.single_path { PathUse::One } else { path_use(routing) };
        let hops = trial.fabric.hops(&routes, flow.src.0, flow.dst.0);
        // Packets that reserve space for a growing header are shorter at first.
        let largest = trial.largest[index % entries.len()].load(Ordering::Relaxed) as u16;
        let cut = Flow { segments: flow.segments.at_most(largest, flow.size), ..flow.clone() };
        let ideal = [flow, &cut].map(|flow| ideal_fct_over(&hops, path_use, charged_sizes(flow)));
        let ideal = ideal[0].min(ideal[1]);
        assert!(end - start >= ideal, "{name}: {} is faster than {ideal}", end - start);
        assert_eq!(seen.parts.expect("complete").total(), (end - start).0, "{name}");
    }
}

fn charged_sizes(flow: &Flow) -> impl Iterator<Item = Bytes> {
    let charged = |seq| Bytes(Framing::ETHERNET.charged(flow.payload(seq) as u32 + 40) as u64);
    (0..flow.packets()).map(charged)
}

fn ideal(links: &[(Rate, Span)], flow: &Flow) -> Span {
    ideal_fct(links, charged_sizes(flow))
}

#[test]
fn a_lone_flow_within_the_unsolicited_window_takes_the_ideal_time() {
    for entry in entries() {
        let name = entry.info().name;
        for (spec, src, dst) in [
            ("star:3", 0, 2),
            ("dumbbell:2x2", 1, 3),
            ("leaf-spine:3x2x2", 0, 5),
            ("leaf-spine:3x2x2", 0, 1),
            ("fat-tree:4", 0, 15),
        ] {
            for packets in [1u64, 2, 3, 7, 12, 30] {
                let start = Time(777);
                let mut trial = Case::new(
                    spec,
                    Limit::Unlimited,
                    vec![flow(0, src, dst, packets * 1460 - 9, start)],
                );
                trial.options.drain = Span::from_ms(1);
                trial.single_path = true;
                let fabric = trial.trial(entry).site();
                let configured = configured(entry, &[], &fabric);
                let site = host_site(&trial.fabric, &fabric, src, Routing::Ecmp);
                if configured.unsolicited(&site, packets as u32) < packets as u32 {
                    continue;
                }
                let (record, _) = trial.run(&[entry], 1);
                let path = trial.fabric.path(&trial.fabric.routes(), src, dst, |_| 0);
                let ideal = ideal(&trial.fabric.links(&path), &trial.flows[0]);
                let end = record.flows[0].completed.expect("complete");
                assert_eq!(end - start, ideal, "{name} on {spec}, {packets} packets");
            }
        }
    }
}

#[test]
fn all_flows_finish_in_small_buffers() {
    for entry in entries() {
        let mut trial = Case::new("leaf-spine:4x2x4", Limit::Packets(20), mixed(16, 150, 3));
        trial.options.drain = Span::from_ms(300);
        let (record, open) = trial.run(&[entry], 1);
        check(entry.info().name, &trial, &[entry], &record);
        assert_eq!(open, 0, "{} keeps state of finished flows", entry.info().name);
    }
}

#[test]
fn all_flows_finish_under_loss_reordering_and_duplication() {
    for entry in entries() {
        for seed in 0..3 {
            let mut trial =
                Case::new("leaf-spine:4x2x4", Limit::Packets(100), mixed(16, 100, seed));
            let late = Span::from_us(20);
            trial.options.seed = seed;
            trial.options.drain = Span::from_ms(300);
            trial.options.faults = Faults { loss: 0.01, reorder: 0.01, duplicate: 0.01, late };
            let (record, open) = trial.run(&[entry], 1);
            assert!(record.link_losses > 10);
            check(entry.info().name, &trial, &[entry], &record);
            assert_eq!(open, 0, "{} keeps state of finished flows", entry.info().name);
        }
    }
}

#[test]
fn no_flow_on_one_path_is_faster_than_alone() {
    for entry in entries() {
        let mut trial = Case::new("leaf-spine:4x2x4", Limit::Packets(60), mixed(16, 150, 21));
        trial.single_path = true;
        let (record, _) = trial.run(&[entry], 1);
        check(entry.info().name, &trial, &[entry], &record);
    }
}

#[test]
fn wake_is_idempotent() {
    for entry in entries() {
        let mut trial = Case::new("leaf-spine:4x2x4", Limit::Packets(20), mixed(16, 60, 5));
        let (once, _) = trial.run(&[entry], 1);
        trial.wakes_again = true;
        assert!(trial.run(&[entry], 1).0.record == once.record, "{}", entry.info().name);
    }
}

#[test]
fn threads_do_not_change_the_record() {
    for entry in entries() {
        let trial = Case::new("leaf-spine:4x2x4", Limit::Packets(20), mixed(16, 120, 9));
        let of = |threads| RunRecord { events: 0, ..trial.run(&[entry], threads).0.record };
        let alone = of(1);
        for threads in [2, 4] {
            assert!(of(threads) == alone, "{} with {threads} threads", entry.info().name);
        }
        let mut cut = Case::new("leaf-spine:4x2x4", Limit::Packets(20), mixed(16, 120, 9));
        cut.options.until = Time(123_456_789);
        let of = |threads| RunRecord { events: 0, ..cut.run(&[entry], threads).0.record };
        assert!(of(3) == of(1), "{} cut off", entry.info().name);
    }
}

#[test]
fn any_two_transports_share_a_fabric() {
    for (index, first) in CATALOGUE.iter().enumerate() {
        for second in &CATALOGUE[index + 1..] {
            for join in [Join::Shared, Join::Separate] {
                let mut trial = Case::new("leaf-spine:2x2x4", Limit::Packets(60), mixed(8, 40, 11));
                trial.join = join;
                let name = format!("{} beside {}", first.info().name, second.info().name);
                let (record, _) = match trial.try_run(&[*first, *second], 1) {
                    Ok(done) => done,
                    // Queues that cannot be joined, or too many for a port, are refused before the
                    // run, with a remedy.
                    Err(conflict) => {
                        let text = conflict.to_string();
                        let many = text.contains("more than 8 queues");
                        let mixed = join == Join::Shared && text.contains("join them separately");
                        assert!(many || mixed, "{name}: {text}");
                        continue;
                    }
                };
                check(&name, &trial, &[*first, *second], &record);
            }
        }
    }
}

/// DCTCP and REN hosts share one bottleneck: both complete, and neither starves.
#[test]
fn dctcp_beside_ren_on_one_bottleneck() {
    let find = |name| incast_protocols::find(name).expect("in the catalogue");
    for join in [Join::Shared, Join::Separate] {
        let size = 20_000_000;
        let flows = (0..4).map(|id| flow(id, id, 4 + id, size, Time::ZERO)).collect();
        let mut trial = Case::new("dumbbell:4x4", Limit::Bytes(128 * 1024), flows);
        trial.join = join;
        trial.options.until = Time(20_000_000_000);
        let (record, _) = trial.run(&[find("dctcp"), find("ren")], 1);
        for seen in &record.flows {
            assert!(seen.delivered > 100_000, "{join:?}: {}", seen.delivered);
        }
        let total: u64 = record.flows.iter().map(|seen| seen.delivered).sum();
        assert!(total > 20_000_000, "{join:?}: the link is used, {total}");
    }
}

/// What a large fabric does for its caches changes no record: with packets lost, late and doubled,
/// racks in batches give what all of them together give, in one thread and in two.
#[test]
fn batches_of_racks_do_not_change_a_record() {
    for entry in entries() {
        let mut random = Random::new(7, 0, 0);
        let size = |random: &mut Random, _| 1 + random.below(60_000);
        let flows = random_flows(&mut random, 16, 40, us(60), size);
        let fabric = fabric("leaf-spine:4x2x4", Rate::from_gbps(10), us(2));
        let mut trial = Trial::new(entry, fabric, flows);
        trial.buffer = Limit::Packets(40);
        trial.options.until = Time::ZERO + Span::from_ms(200);
        let late = Span::from_us(20);
        trial.options.faults = Faults { loss: 0.004, reorder: 0.01, duplicate: 0.01, late };
        let mut of = |threads, batch| {
            (trial.threads, trial.batch) = (threads, batch);
            RunRecord { events: 0, ..trial.run().record }
        };
        let whole = of(1, None);
        assert!(whole.packet_hops > 1_000, "{}", entry.info().name);
        for (threads, hosts) in [(1, 4), (1, 8), (2, 4)] {
            let same = of(threads, Some(hosts)) == whole;
            assert!(same, "{}: {threads} threads, {hosts} hosts a batch", entry.info().name);
        }
    }
}
