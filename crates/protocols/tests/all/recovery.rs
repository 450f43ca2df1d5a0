//! Every transport, every way in which it recovers: a lone flow loses a packet of data or of control,
//! and its breakdown says `recovery` for the wait that the trace of its NIC shows. Without loss it says
//! none. That the parts add up is asserted for every flow of every run.

use incast_protocols::{CATALOGUE, find};
use incast_testkit::{
    Impairment, Impairments, Network, Outcome, Probabilities, Sent, Trial, configured, fabric_site,
    flow, star, us,
};
use incast_transport::*;

const RATE: Rate = Rate::from_gbps(10);
const RTT: Span = Span::from_us(20);
/// Packets of the flow: more than a bandwidth-delay product, so that it needs what it is told.
const PACKETS: u64 = 60;

/// Which packets fare badly: the n-th of a kind, so often in a row.
#[derive(Clone, Copy, Debug)]
enum Harm {
    /// Data that is sent for the first time, and so many of its copies.
    Data { place: usize, copies: usize },
    /// The payload of data that is sent for the first time.
    Payload { place: usize },
    /// So many control packets from a place on.
    Control { place: usize, packets: usize },
}

/// A flow that is alone.
struct Lone {
    network: Network,
    parts: Parts,
    fct: u64,
}

/// A parameter of a transport and a value of it.
type Setting<'a> = (&'a str, &'a str);

fn lone(entry: &dyn Transport, own: &[Setting<'_>], harm: Option<Harm>) -> Lone {
    let fabric = fabric_site(3, RATE, RTT);
    let configured = configured(entry, own, &fabric);
    let mut network = Network::of(&*configured, &fabric, Probabilities::default(), 1);
    let (mut data, mut control, mut victim, mut copies) = (0, 0, None, 0);
    let script = move |packet: &Packet, _: usize| {
        let key = packet.header.data_key();
        let again = packet.has(flag::RETRANSMIT);
        let (lost, trimmed) = match harm {
            None => (false, false),
            Some(Harm::Data { place, copies: most }) if packet.is_data() => {
                data += !again as usize;
                let first = !again && data == place + 1;
                if first {
                    victim = Some(key);
                }
                let copy = again && victim == Some(key) && copies < most;
                copies += copy as usize;
                (first || copy, false)
            }
            Some(Harm::Payload { place }) if packet.is_data() => {
                data += !again as usize;
                (false, !again && data == place + 1)
            }
            Some(Harm::Control { place, packets }) if !packet.is_data() => {
                control += 1;
                ((place + 1..=place + packets).contains(&control), false)
            }
            Some(_) => (false, false),
        };
        Impairment { lost, trimmed, ..Impairment::NONE }
    };
    network.impair_all(Impairments::scripted(script));
    network.open(&flow(0, 0, 1, PACKETS * 1_460, Time::ZERO));
    network.complete(Span::from_secs(100));
    let outcome = network.probe.outcomes()[0];
    let fct = outcome.completed - outcome.started;
    assert_eq!(outcome.parts.total(), fct);
    Lone { network, parts: outcome.parts, fct }
}

impl Lone {
    /// Data packets that left the flow's source, and when they were through.
    fn data(&self) -> impl Iterator<Item = (&Sent, u64)> {
        let data = self.network.sent_on(0).filter(|sent| sent.packet.is_data());
        data.map(|sent| (sent, ends(sent)))
    }

    /// Since when the flow had sent nothing new at `at`.
    fn quiet_since(&self, at: u64) -> u64 {
        let new = self.data().filter(|(sent, _)| !sent.packet.has(flag::RETRANSMIT));
        new.filter(|(sent, _)| sent.at.0 < at).map(|(_, end)| end).max().unwrap_or(0)
    }

    /// How long the trace shows that the flow waited for a retransmission or, after the loss of a
    /// control packet, for what repaired it.
    fn waited(&self) -> u64 {
        let harmed = |sent: &&Sent| sent.impairment.lost || sent.impairment.trimmed;
        let Some(first) = self.network.sent.iter().find(harmed) else { return 0 };
        let (lost, key) = (ends(first), first.packet.header.data_key());
        let wait = |at: u64| at - lost.max(self.quiet_since(at));
        if first.packet.is_data() {
            let copies = self.data().filter(|(sent, _)| sent.packet.header.data_key() == key);
            let mut arrived = copies.filter(|(sent, _)| sent.at.0 >= lost && !harmed(sent));
            let (copy, _) = arrived.next().expect("it was sent again");
            return wait(copy.at.0);
        }
        let end = self.network.completed(0).expect("complete").0;
        let ack = match first.packet.header {
            Header::Segment { flags, .. } => flags & tcp_flag::SYN == 0,
            header => matches!(header, Header::Nack { .. }),
        };
        let later = self.data().filter(|(sent, _)| sent.at.0 >= lost && sent.at.0 < end);
        let ends = later.filter(|(sent, _)| !ack || sent.packet.has(flag::RETRANSMIT));
        ends.map(|(sent, _)| wait(sent.at.0)).find(|wait| *wait >= RTT.0).unwrap_or(0)
    }
}

impl Lone {
    /// From the first loss to the departure of the packet that completes the flow: there is no recovery
    /// before or after.
    fn since_loss(&self) -> u64 {
        let harmed = |sent: &&Sent| sent.impairment.lost || sent.impairment.trimmed;
        let Some(first) = self.network.sent.iter().find(harmed) else { return 0 };
        let end = self.network.completed(0).expect("complete").0;
        let departures = self.data().map(|(sent, _)| sent.at.0).filter(|at| *at < end);
        departures.max().unwrap_or(0).saturating_sub(ends(first))
    }

    /// Times without a data packet of the flow before the one that completed it.
    fn gaps(&self) -> impl Iterator<Item = u64> {
        let end = self.network.completed(0).expect("complete").0;
        let mut last = 0;
        self.data().filter(move |(sent, _)| sent.at.0 < end).map(move |(sent, end)| {
            let gap = sent.at.0.saturating_sub(last);
            last = end;
            gap
        })
    }

    /// The longest of them.
    fn silence(&self) -> u64 {
        self.gaps().max().unwrap_or(0)
    }

    /// The sum of those over two round trips, and how many there are.
    fn silences(&self) -> (u64, u64) {
        let long = self.gaps().filter(|gap| *gap > 2 * RTT.0);
        long.fold((0, 0), |(sum, count), gap| (sum + gap, count + 1))
    }
}

fn ends(sent: &Sent) -> u64 {
    let charged = Framing::ETHERNET.charged(sent.packet.ip_bytes());
    (sent.at + RATE.tx_time(Bytes(charged as u64))).0
}

/// For how long a flow may wait for no timer. pHost's token clock sleeps for 25 packet times until it looks at the
/// flow again; dcPIM's flow waits for a matching, also without loss.
fn sleep(entry: &dyn Transport, alone: &Lone) -> u64 {
    match entry.info().name {
        "phost" => 25 * RATE.tx_time(Bytes(1_538)).0,
        "dcpim" => alone.silence(),
        _ => 0,
    }
}

fn check(entry: &dyn Transport, own: &[Setting<'_>], alone: &Lone, harm: Harm) {
    let name = format!("{} {own:?}", entry.info().name);
    let seen = lone(entry, own, Some(harm));
    let (waited, recovery) = (seen.waited(), seen.parts.recovery);
    let delay = seen.fct.saturating_sub(alone.fct);
    println!(
        "{name} {harm:?}: delayed {:.1} us, waited {:.1} us, recovery {:.1} us",
        delay as f64 / 1e6,
        waited as f64 / 1e6,
        recovery as f64 / 1e6
    );
    assert!(recovery >= waited, "{name}, {harm:?}: {recovery} ps of {waited} ps");
    let most = seen.since_loss();
    assert!(recovery <= most, "{name}, {harm:?}: {recovery} ps, {most} ps since the loss");
    if matches!(harm, Harm::Control { .. }) && waited == 0 {
        assert_eq!(recovery, 0, "{name}, {harm:?}: nothing waited for it");
    }
    // Whatever the rule: a lone flow that says nothing for so long waits for a timer.
    let silence = seen.silence();
    let sleep = sleep(entry, alone);
    if silence > 2 * RTT.0 + sleep {
        assert!(
            recovery + RTT.0 + sleep >= silence,
            "{name}, {harm:?}: {recovery} ps of {silence} ps"
        );
    }
}

#[test]
fn without_loss_there_is_no_recovery() {
    for entry in CATALOGUE {
        assert_eq!(lone(*entry, &[], None).parts.recovery, 0, "{}", entry.info().name);
    }
}

#[test]
fn the_wait_for_lost_data_is_recovery() {
    for entry in CATALOGUE {
        let alone = lone(*entry, &[], None);
        let packets = alone.data().count();
        for place in [0, 1, packets / 3, packets / 2, packets - 2, packets - 1] {
            for copies in [0, 1] {
                check(*entry, &[], &alone, Harm::Data { place, copies });
            }
        }
    }
}

#[test]
fn the_wait_for_trimmed_payload_is_recovery() {
    let entry = find("ndp").expect("in the catalogue");
    let alone = lone(entry, &[], None);
    let packets = alone.data().count();
    for place in [0, 1, packets / 2, packets - 1] {
        check(entry, &[], &alone, Harm::Payload { place });
    }
}

#[test]
fn the_wait_for_lost_control_packets_is_recovery() {
    for entry in CATALOGUE {
        let alone = lone(*entry, &[], None);
        let control = alone.network.sent.iter().filter(|sent| !sent.packet.is_data()).count();
        for place in [0, 1, control / 3, control / 2, control - 1] {
            for packets in [1, 8] {
                check(*entry, &[], &alone, Harm::Control { place, packets });
            }
        }
    }
}

/// Every choice that a transport has besides its defaults: a parameter and the value.
fn choices(entry: &dyn Transport) -> Vec<(&'static str, String)> {
    let fabric = fabric_site(3, RATE, RTT);
    let fits = |name: &str, value: &str| {
        entry.configure(&incast_testkit::key_values(&[(name, value)]), fabric.clone()).is_ok()
    };
    let mut all = vec![];
    for doc in entry.parameters() {
        let words = doc.accepts.split([',', ' ']).filter(|word| !word.is_empty());
        let words = words.filter(|word| word.starts_with(|first: char| first.is_ascii_lowercase()));
        let others = words.filter(|word| *word != doc.default && *word != "auto");
        all.extend(others.filter(|word| fits(doc.name, word)).map(|word| (doc.name, word.into())));
    }
    all
}

#[test]
fn the_wait_is_recovery_with_every_choice_of_every_parameter() {
    let mut tried = 0;
    for entry in CATALOGUE {
        for (name, value) in choices(*entry) {
            let own = [(name, &*value)];
            let alone = lone(*entry, &own, None);
            assert_eq!(alone.parts.recovery, 0, "{} {own:?}", entry.info().name);
            let packets = alone.data().count();
            let control = alone.network.sent.len() - packets;
            for place in [0, packets / 2, packets - 1] {
                check(*entry, &own, &alone, Harm::Data { place, copies: 1 });
            }
            for place in [0, control / 2] {
                check(*entry, &own, &alone, Harm::Control { place, packets: 8 });
            }
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried} choices");
}

/// With many losses of every kind recoveries overlap, and copies are lost, with ACKs and new packets between
/// them. Still a lone flow that says nothing for more than two round trips waits for a timer.
#[test]
fn long_silences_are_recovery_however_many_packets_are_lost() {
    let losses = Probabilities { loss: 0.1, ..Probabilities::default() };
    for entry in CATALOGUE {
        let name = entry.info().name;
        let alone = lone(*entry, &[], None);
        for seed in 1..=12 {
            let fabric = fabric_site(3, RATE, RTT);
            let configured = configured(*entry, &[], &fabric);
            let mut network = Network::of(&*configured, &fabric, losses, seed);
            network.open(&flow(0, 0, 1, PACKETS * 1_460, Time::ZERO));
            network.complete(Span::from_secs(100));
            let outcome = network.probe.outcomes()[0];
            let fct = outcome.completed - outcome.started;
            let seen = Lone { network, parts: outcome.parts, fct };
            let (silent, gaps) = seen.silences();
            let recovery = seen.parts.recovery;
            let matching = if name == "dcpim" { sleep(*entry, &alone) } else { 0 };
            // DECN's rate may fall so far that it paces for longer than two round trips.
            let pace = if name == "decn" { seen.parts.blocked[Reason::Pacing as usize] } else { 0 };
            assert!(
                recovery + pace + (RTT.0 + matching) * gaps >= silent,
                "{name}, seed {seed}: recovery {recovery} ps of {silent} ps in {gaps} silences"
            );
        }
    }
}

#[test]
fn the_flow_is_long_enough_to_need_answers() {
    for entry in CATALOGUE {
        let alone = lone(*entry, &[], None);
        assert!(alone.fct > us(50).0, "{}: {} ps", entry.info().name, alone.fct);
    }
}

/// Hosts 1 to 24 send 64 KB each to host 0, whose port holds 100 packets; host 1 also sends to host 25
/// all the time.
fn incast_beside_a_long_flow(entry: &dyn Transport) -> Outcome {
    let mut flows: Vec<Flow> = (0..24).map(|id| flow(id, id + 1, 0, 64_000, Time::ZERO)).collect();
    flows.push(flow(24, 1, 25, 20_000_000, Time::ZERO));
    let mut trial = Trial::new(entry, star(26, RATE, Span::from_us(1)), flows);
    trial.buffer = Limit::Packets(100);
    trial.delivers()
}

#[test]
fn timeouts_of_an_incast_are_recovery_whatever_else_the_nic_does() {
    for name in ["dctcp", "cubic"] {
        let outcome = incast_beside_a_long_flow(find(name).expect("in the catalogue"));
        let mut timeouts = 0;
        for seen in &outcome.flows[..24] {
            let fct = seen.completed.expect("complete") - seen.started.expect("opened");
            let parts = seen.parts.expect("complete");
            // The shortest timeout is 10 ms; without one the flows take less. Some flows send new
            // packets for a while after their first loss.
            if fct > Span::from_ms(10) {
                timeouts += 1;
                assert!(parts.recovery > 9_000_000_000, "{name}: {parts:?}");
                let waiting = parts.nic_other + parts.blocked.iter().sum::<u64>();
                assert!(waiting < 2_000_000_000, "{name}: {parts:?}");
            } else {
                assert!(parts.recovery < fct.0, "{name}: {parts:?}");
            }
        }
        assert!(timeouts >= 5, "{name}: {timeouts} timeouts");
    }
}
