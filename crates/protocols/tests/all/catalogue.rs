//! The catalogue's entries agree with the behaviour of the transports, and so does the template.

use crate::template;
use incast_egress::port::Join;
use incast_protocols::CATALOGUE;
use incast_testkit::{
    Network, Outcome, Probabilities, Trial, configured, fabric, fabric_site, flow, port_site, star,
    us,
};
use incast_transport::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Actions of the markers of one transport.
#[derive(Default)]
struct Tally {
    markers: AtomicU32,
    /// Changed packets of the transport itself.
    own: AtomicU32,
    /// Packets of the other transport that passed the markers.
    others: AtomicU32,
}

/// A transport with instrumented markers.
struct Watched {
    inner: Arc<dyn Configured>,
    tally: Arc<Tally>,
}

impl Configured for Watched {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        self.inner.host(site)
    }
    fn policy(&self, site: &PortSite) -> Policy {
        let mut policy = self.inner.policy(site);
        let transport = policy.transport;
        let watch = |inner| -> Box<dyn Marker> {
            self.tally.markers.fetch_add(1, Ordering::Relaxed);
            Box::new(WatchedMarker { inner, transport, tally: self.tally.clone() })
        };
        policy.markers = policy.markers.into_iter().map(watch).collect();
        policy
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

struct WatchedMarker {
    inner: Box<dyn Marker>,
    transport: TransportId,
    tally: Arc<Tally>,
}

impl WatchedMarker {
    /// Counts one call of the marker for a packet. Returns whether it marked the packet.
    fn watch(
        &mut self,
        packets: &mut PacketPool,
        handle: PacketRef,
        call: impl FnOnce(&mut dyn Marker, &mut PacketPool) -> bool,
    ) -> bool {
        let state = |packets: &PacketPool| {
            let informed = packets.stamps(handle).informed;
            (packets[handle], *packets.extension(handle), packets.charged(handle), informed)
        };
        let before = state(packets);
        let marked = call(&mut *self.inner, packets);
        let after = state(packets);
        if before.0.transport == self.transport {
            let rewritten = (before.0, before.1) != (after.0, after.1);
            self.tally.own.fetch_add(rewritten as u32, Ordering::Relaxed);
        } else {
            assert!(before == after && !marked, "{before:?} became {after:?}");
            self.tally.others.fetch_add(1, Ordering::Relaxed);
        }
        marked
    }
}

impl Marker for WatchedMarker {
    fn begin(&mut self, random: &mut Random) {
        self.inner.begin(random);
    }
    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        self.watch(packets, packet, |marker, packets| marker.on_enqueue(packets, packet, view))
    }
    fn on_refused(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) {
        self.inner.on_refused(packets, packet, view);
    }
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        self.watch(packets, packet, |marker, packets| marker.on_dequeue(packets, packet, view))
    }
    fn sees(&self) -> (bool, bool) {
        self.inner.sees()
    }
    fn sets_ce(&self) -> bool {
        self.inner.sets_ce()
    }
    fn timed(&self) -> bool {
        self.inner.timed()
    }
    fn deadline(&self) -> Time {
        self.inner.deadline()
    }
    fn wake(&mut self, now: Time, view: &View) {
        self.inner.wake(now, view);
    }
}

fn entries() -> impl Iterator<Item = &'static dyn Transport> {
    CATALOGUE.iter().copied().chain([&template::ENTRY as &dyn Transport])
}

/// Whether ports between switches have markers and those to hosts have none.
fn marks_between_switches(entry: &dyn Transport) -> bool {
    let site = fabric_site(13, Rate::from_gbps(10), us(20));
    let plan = configured(entry, &[], &site);
    let markers = |upward| plan.policy(&PortSite { upward, ..port_site(&site) }).markers.len();
    markers(false) == 0 && markers(true) > 0
}

/// Twelve flows of 300 kB to one host, 10 Gb/s, for 10 ms, and all packets. Every other flow is
/// CUBIC's, which fills the queue independently of the transport and neither marks nor is marked.
/// Also returns the markers' tally.
fn incast(entry: &dyn Transport) -> (Outcome, Arc<Tally>) {
    let tally = Arc::new(Tally::default());
    let cubic = incast_protocols::find("cubic").expect("in the catalogue");
    let (shape, to) = match marks_between_switches(entry) {
        true => (fabric("leaf-spine:2x1x13", Rate::from_gbps(10), us(1)), 13),
        false => (star(13, Rate::from_gbps(10), us(1)), 0),
    };
    let flows = (1..13).map(|src| flow(src - 1, src, to, 300_000, Time::ZERO)).collect();
    let mut trial = Trial::new(cubic, shape, flows);
    if entry.info().id != cubic.info().id {
        trial = trial.beside(entry, &[]);
    }
    trial.buffer = Limit::Bytes(400_000);
    trial.options.until = Time(10_000_000_000);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    if trial.try_setup().is_err() {
        trial.join = Join::Separate;
    }
    let watched = tally.clone();
    trial.change =
        Some(Box::new(move |_, inner| Arc::new(Watched { inner, tally: watched.clone() })));
    (trial.run(), tally)
}

#[test]
fn names_and_ids_are_unique() {
    let names: BTreeSet<_> = entries().map(|entry| entry.info().name).collect();
    let numbers: BTreeSet<_> = entries().map(|entry| entry.info().id.0).collect();
    assert_eq!((names.len(), numbers.len()), (entries().count(), entries().count()));
}

#[test]
fn the_top_bit_of_an_id_marks_a_private_ecn_code() {
    for entry in entries() {
        let Info { name, id, ecn, .. } = entry.info();
        assert_eq!(id.0 & 0x80 != 0, *ecn == EcnUse::OwnCode, "{name}");
    }
}

#[test]
fn descriptions_agree_with_declared_facts() {
    for entry in entries() {
        let Info { name, switch_support, made_for_pfc, symmetric_paths, routing, .. } =
            entry.info();
        assert_eq!(switch_support.contains("made for PFC"), *made_for_pfc, "{name}");
        assert!(!symmetric_paths || *routing == Routing::SymmetricEcmp, "{name}");
    }
}

#[test]
fn ecn_bits_and_marks_are_as_declared() {
    for entry in entries() {
        let Info { name, id, ecn, marks, .. } = entry.info();
        let (record, tally) = incast(entry);
        let own = |packet: &&Packet| packet.transport == *id && packet.is_data();
        let data: Vec<&Packet> =
            record.packets.iter().map(|seen| &seen.packet).filter(own).collect();
        assert!(data.len() > 50, "{name} sends {} packets", data.len());
        let allowed = |mark: u8| match ecn {
            EcnUse::None => mark == Ecn::NotEct as u8,
            EcnUse::Rfc3168 => mark == Ecn::Ect0 as u8 || mark == Ecn::Ce as u8,
            EcnUse::OwnCode => true,
        };
        let wrong = data.iter().find(|packet| !allowed(packet.mark));
        assert!(wrong.is_none(), "{name}: {wrong:?} with {ecn:?}");
        let counted: u32 = record.ports.iter().map(|port| port.total.marks).sum();
        assert_eq!(counted > 0, *marks, "{name}: {counted} marks");
        // Counted marks are visible on departing packets.
        let codes: BTreeSet<u8> = data.iter().map(|packet| packet.mark).collect();
        match ecn {
            EcnUse::Rfc3168 if *marks => assert!(codes.contains(&(Ecn::Ce as u8)), "{name}"),
            EcnUse::OwnCode => assert!(codes.len() > 1, "{name}: {codes:?}"),
            _ => {}
        }
        // A marker rewrites only packets of the transport whose policy it belongs to.
        let [markers, own, others] =
            [&tally.markers, &tally.own, &tally.others].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(markers > 0, own > 0, "{name}: {markers} markers changed {own} packets");
        assert!(markers == 0 || others > 0, "{name}: its markers see all packets");
        assert!(!marks || markers > 0, "{name}: marks without a marker");
    }
}

/// The values of a set are accepted, in force, and overridden by those given beside it.
#[test]
fn timeouts_above_a_minute_are_refused_and_none_below_stops_a_run() {
    let mut tried = 0;
    for entry in CATALOGUE {
        let name = entry.info().name;
        for key in ["rto_min", "rto_initial"] {
            let known = entry.parameters().iter().any(|doc| doc.name == key);
            if !known || name == "ndp" {
                continue;
            }
            let network = || star(3, Rate::from_gbps(10), us(1));
            let site = incast_testkit::fabric_site(3, Rate::from_gbps(10), us(20));
            let set = |value: &str| {
                entry.configure(&incast_testkit::key_values(&[(key, value)]), site.clone())
            };
            let refused = set("61s").err().unwrap_or_else(|| panic!("{name} {key}")).to_string();
            assert!(refused.contains("at most 60s") && refused.contains(key), "{refused}");
            let flows = vec![flow(0, 0, 2, 30_000, Time::ZERO)];
            let run = Trial::new(*entry, network(), flows).set(key, "60s").run();
            assert!(run.flows[0].completed.is_some(), "{name} {key}");
            tried += 1;
        }
    }
    assert!(tried >= 15, "{tried}");
}

#[test]
fn parameter_sets_are_read_and_overridden() {
    let fabric = incast_testkit::fabric_site(4, Rate::from_gbps(10), us(20));
    let configure = |entry: &dyn Transport, settings: &[(&str, &str)]| {
        entry.configure(&incast_testkit::key_values(settings), fabric.clone())
    };
    let value = |configured: &dyn Configured, key: &str| {
        let resolved = configured.resolved();
        resolved.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    };
    let mut sets = 0;
    for entry in entries() {
        let name = entry.info().name;
        if entry.sets().is_empty() {
            let error = configure(entry, &[("set", "paper")]).err().expect("it has no sets");
            assert_eq!(error.key(), Some("set"));
            assert_ne!(error.suggestion(), Some("set"), "{error}");
            continue;
        }
        assert_eq!(entry.parameters().iter().filter(|doc| doc.name == "set").count(), 1, "{name}");
        assert!(entry.sets()[0].values.is_empty(), "{name}: the first set is the default");
        let defaults = configure(entry, &[]).expect(name).resolved();
        for set in entry.sets() {
            sets += 1;
            let with = configure(entry, &[("set", set.name)]).expect(set.name);
            // What follows from parameters may follow a set's too.
            for (key, default) in defaults.iter().filter(|(key, _)| !key.ends_with("(in force)")) {
                let given = set.values.iter().find(|(own, _)| own == key).map(|(_, value)| *value);
                let expected = if *key == "set" { set.name } else { given.unwrap_or(default) };
                assert_eq!(value(&*with, key).as_deref(), Some(expected), "{name} {}", set.name);
            }
            for (key, _) in set.values {
                let default = &defaults.iter().find(|(name, _)| name == key).expect(key).1;
                let given = [(*key, &default[..]), ("set", set.name)];
                match configure(entry, &given) {
                    Ok(beside) => {
                        assert_eq!(value(&*beside, key).as_ref(), Some(default), "{name} {key}");
                    }
                    // Another value of the set may need it.
                    Err(error) => {
                        let mut others = set.values.iter().filter(|(other, _)| other != key);
                        assert!(others.any(|(other, _)| Some(*other) == error.key()), "{error}");
                    }
                }
            }
        }
        let error = configure(entry, &[("set", "papers")]).err().expect("no such set");
        assert!(error.problem().contains(entry.sets()[0].name), "{error}");
    }
    assert!(sets >= 10, "{sets}");
}

/// Numbers of the top-level items below the heading that begins with "## Deviations".
/// A port with RED marks from its lower threshold on, so that has to be the lower one.
#[test]
fn thresholds_of_red_are_in_order() {
    let fabric = fabric_site(4, Rate::from_gbps(10), us(20));
    let marked: Vec<_> = entries()
        .filter(|entry| {
            let has = |key| entry.parameters().iter().any(|doc| doc.name == key);
            has("mark_min") && has("mark_max")
        })
        .collect();
    assert!(marked.len() >= 2, "{}", marked.len());
    for entry in marked {
        let (name, own) = (entry.info().name, incast_testkit::key_values);
        let configure = |settings: &[(&str, &str)]| entry.configure(&own(settings), fabric.clone());
        for refused in [&[("mark_min", "300KB")][..], &[("mark_min", "30KB"), ("mark_max", "20KB")]]
        {
            let error = configure(refused).err().expect(name);
            assert_eq!(error.key(), Some("mark_min"), "{error}");
            assert!(error.problem().contains("at most mark_max"), "{error}");
        }
        assert!(configure(&[("mark_min", "30KB"), ("mark_max", "30KB")]).is_ok(), "{name}");
    }
}

fn numbered(readme: &str) -> Vec<u32> {
    let section = readme.split("\n## ").find(|section| section.starts_with("Deviations"));
    let lines = section.expect("a section on deviations").lines();
    lines.filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect()
}

#[test]
fn readme_and_data_have_the_same_deviations() {
    for entry in entries() {
        let Info { name, deviations, .. } = entry.info();
        let folder = if *name == "template" { "template".into() } else { format!("src/{name}") };
        let readme = format!("{}/{folder}/README.md", env!("CARGO_MANIFEST_DIR"));
        let readme = std::fs::read_to_string(&readme).expect("each transport has a README");
        let numbers: Vec<u32> = deviations.iter().map(|one| one.number).collect();
        assert_eq!(numbers, numbered(&readme), "{name}");
        assert!(numbers.into_iter().eq(1..=deviations.len() as u32), "{name}");
        for Deviation { number, what, reason, effect, .. } in *deviations {
            for text in [Some(*what), Some(*reason), *effect].into_iter().flatten() {
                assert!(text.ends_with('.') && text.len() < 300, "{name} {number}: {text}");
            }
        }
    }
}

fn without_handshake(entry: &dyn Transport, fabric: &Arc<FabricSite>) -> Arc<dyn Configured> {
    let handshake = entry.parameters().iter().any(|parameter| parameter.name == "handshake");
    let settings: &[(&str, &str)] = if handshake { &[("handshake", "false")] } else { &[] };
    incast_testkit::configured(entry, settings, fabric)
}

#[test]
fn a_flow_may_have_a_burst_of_its_own() {
    let fabric = incast_testkit::fabric_site(2, Rate::from_gbps(10), Span::from_us(40));
    let taking: Vec<_> = CATALOGUE.iter().filter(|entry| entry.takes_burst()).collect();
    assert!(taking.len() >= 12);
    for entry in taking {
        let name = entry.info().name;
        let plan = without_handshake(*entry, &fabric);
        for burst in [1, 3, 7] {
            let whole = incast_testkit::flow(0, 0, 1, 146_000, Time::ZERO);
            let mut network = incast_testkit::Network::of(&*plan, &fabric, Default::default(), 1);
            network.open(&Flow { burst: Some(burst), ..whole });
            network.run(Time::ZERO + Span::from_us(35));
            let data = network.sent_on(0).filter(|sent| sent.packet.is_data()).count();
            assert_eq!(data, burst as usize, "{name}");
        }
    }
}

/// Both ends know a flow's own burst, shorter or longer than the transport's: nothing is sent twice.
/// Where the receiver clocks grants, nothing waits for a timer either.
#[test]
fn a_burst_of_its_own_costs_no_repetition_and_no_timeout() {
    let (rtt, packet_time) = (Span::from_us(40), Span::from_ns(1_231));
    let fabric = incast_testkit::fabric_site(2, Rate::from_gbps(10), rtt);
    for entry in CATALOGUE.iter().filter(|entry| entry.takes_burst()) {
        let name = entry.info().name;
        let clocked = ["phost", "homa", "aeolus"].contains(&name);
        let plan = without_handshake(*entry, &fabric);
        let cases = [1, 2, 8, 30, 33, 34, 100];
        for (packets, burst) in cases.into_iter().flat_map(|n| [1, 3, 30, 50].map(|b| (n, b))) {
            let case = format!("{name}: {packets} packets, burst of {burst}");
            let whole = incast_testkit::flow(0, 0, 1, packets * 1_460, Time::ZERO);
            let mut network = incast_testkit::Network::of(&*plan, &fabric, Default::default(), 1);
            network.open(&Flow { burst: Some(burst), ..whole });
            network.complete(Span::from_ms(20));
            let again = |packet: &Packet| packet.is_data() && packet.has(flag::RETRANSMIT);
            assert!(!network.sent_on(0).any(|sent| again(&sent.packet)), "{case}");
            let took = network.completed(0).expect("it is complete").since(Time::ZERO);
            assert!(!clocked || took <= rtt * 2 + packet_time * packets, "{case}: {took}");
        }
    }
}

/// With `window_unit = "packet"` a window counts a flow's own packets, of 312 B here, instead of
/// bytes in units of full segments.
#[test]
fn windows_count_segments_or_packets() {
    let fabric = incast_testkit::fabric_site(2, Rate::from_gbps(10), Span::from_us(40));
    let counting = |entry: &&&dyn Transport| {
        entry.parameters().iter().any(|parameter| parameter.name == "window_unit")
    };
    let names: Vec<&str> =
        CATALOGUE.iter().filter(counting).map(|entry| entry.info().name).collect();
    assert_eq!(names, ["cubic", "dctcp", "mlcp", "vcp"]);
    for entry in CATALOGUE.iter().filter(counting) {
        let name = entry.info().name;
        let handshake = entry.parameters().iter().any(|parameter| parameter.name == "handshake");
        let sent = |unit: &str| {
            let mut settings = vec![("initial_window", "4"), ("window_unit", unit)];
            settings.extend(handshake.then_some(("handshake", "false")));
            let plan = incast_testkit::configured(*entry, &settings, &fabric);
            let whole = incast_testkit::flow(0, 0, 1, 312 * 100, Time::ZERO);
            let mut network = incast_testkit::Network::of(&*plan, &fabric, Default::default(), 1);
            network.open(&Flow { segments: Segments::Uniform(312), ..whole });
            network.run(Time::ZERO + Span::from_us(35));
            network.sent_on(0).filter(|sent| sent.packet.is_data()).count()
        };
        assert_eq!(sent("packet"), 4, "{name}");
        let segment = incast_testkit::MSS as usize;
        assert!((4 * (segment - 2) / 312..=4 * segment / 312).contains(&sent("segment")), "{name}");
    }
}

/// One key moves the ACKs of every sender-driven transport, and its ports have room for them.
#[test]
fn acks_of_sender_driven_transports_take_the_class_that_the_scenario_names() {
    let site = fabric_site(2, Rate::from_gbps(10), us(20));
    let mut moved = 0;
    for entry in CATALOGUE {
        let info = entry.info();
        let classes = |acks: Option<Acks>| {
            let fabric = Arc::new(FabricSite { acks, ..(*site).clone() });
            let plan = configured(*entry, &[], &fabric);
            let policy = plan.policy(&port_site(&fabric));
            let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
            network.add(flow(0, 0, 1, 200_000, Time::ZERO));
            network.complete(Span::from_ms(100));
            let acks = network.sent.iter().map(|sent| sent.packet).filter(|packet| {
                let Header::Segment { flags, .. } = packet.header else { return false };
                let handshake = flags & tcp_flag::SYN != 0;
                packet.payload == 0 && flags & tcp_flag::ACK != 0 && !handshake
            });
            let classes: BTreeSet<u8> = acks.map(|packet| packet.class).collect();
            for class in &classes {
                let last = policy.classes.len() - 1;
                let rule = &policy.classes[last.min(*class as usize)];
                assert_ne!(rule.limit, Limit::Packets(0), "{}", info.name);
                let first = (*class == 0).then_some(Schedule::Strict);
                assert!(first.is_none_or(|first| rule.schedule == first), "{}", info.name);
            }
            classes.into_iter().collect::<Vec<_>>()
        };
        let own = classes(None);
        if own.is_empty() {
            // Or its ACKs are packets of its own, in a class of their own.
            let segments = info.headers.iter().any(|view| view.layout == "Segment");
            assert!(
                info.kind == TransportKind::ReceiverDriven || !segments,
                "{} sends no ACKs",
                info.name
            );
            continue;
        }
        assert_eq!(classes(Some(Acks::Control)), [0], "{}", info.name);
        assert_eq!(classes(Some(Acks::Data)), [1], "{}", info.name);
        moved += 1;
    }
    assert!(moved >= 12, "only {moved} transports");
}
