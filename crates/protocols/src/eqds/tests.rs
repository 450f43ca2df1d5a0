//! EQDS as its authors' simulator has it: credits at both ends, whose turn it is, and times that can be added up.

use super::{ENTRY, ID};
use incast_endpoint::unordered::{Credit, CreditPlan, QUANTUM, Rules};
use incast_testkit::{Driver, Outcome, Trial, fabric, fabric_site, flow, key_values};
use incast_transport::{
    Bytes, Flow, FlowId, Framing, Header, HostId, Packet, Rate, Segments, Span, Time, Transport,
    flag,
};

const RATE: Rate = Rate::from_gbps(100);
const FRAMING: Framing = Framing { mtu: 4_150, ..Framing::NONE };
const MSS: u64 = 4_086;
/// Between two pulls.
fn gap() -> Span {
    Rate(98_500_000_000).tx_time(Bytes(4_096))
}

fn of(id: u32, src: u32, dst: u32, size: u64) -> Flow {
    Flow { segments: Segments::Uniform(MSS as u16), ..flow(id, src, dst, size, Time::ZERO) }
}

/// Links of 100 Gb/s and a microsecond with packets of the authors' simulator.
fn run(spec: &str, flows: Vec<Flow>) -> Outcome {
    let mut trial = Trial::new(&ENTRY, fabric(spec, RATE, Span::from_us(1)), flows);
    trial.framing = FRAMING;
    trial.options.drain = Span::from_ms(1);
    trial.run()
}

fn acknowledged(outcome: &Outcome, flow: usize) -> u64 {
    outcome.flows[flow].acknowledged.expect("acknowledged").0
}

fn credit() -> Credit {
    Credit::new(CreditPlan {
        most: 10 * 4_150,
        pace: RATE,
        grant: 4_096 / QUANTUM,
        packet: 4_150,
        rules: Rules::RepairFirst,
    })
}

#[test]
fn a_packet_needs_credit_for_all_of_it() {
    let mut credit = credit();
    for left in (1..=10).rev() {
        assert!(credit.admits(4_150), "{left} packets of the first credit");
        credit.spend(4_150);
    }
    assert!(!credit.admits(64));
    credit.pull(16);
    assert!(!credit.admits(4_150) && credit.admits(4_096));
    credit.pull(32);
    assert!(credit.admits(4_150));
}

#[test]
fn an_answer_takes_the_first_credit_and_not_what_was_granted() {
    let mut credit = credit();
    credit.spend(4_150);
    // Nine packets are left: of 1 MB a window less that is asked for; of little nothing.
    assert_eq!(credit.ask(1_000_000, 3), 17, "4,150 bytes in quanta, however many flows send");
    credit.pull(16);
    credit.pull(16);
    credit.pull(15);
    credit.heard();
    assert!(credit.admits(4_096) && !credit.admits(4_097));
    assert_eq!(credit.ask(1_000_000, 1), 16 + 147, "a window less 4,096 bytes, 37,404");
    // What is granted is spent first, so that an answer takes no more than the first credit's rest.
    let mut credit = self::credit();
    credit.pull(32);
    credit.spend(4_150);
    credit.heard();
    assert!(credit.admits(8_192 - 4_150) && !credit.admits(8_192 - 4_149));
    // Nobody asked for so much.
    credit.pull(32 + 2 * 163 + 17 + 100);
    assert!(!credit.admits(8_192));
}

#[test]
fn a_lone_flow_takes_what_its_credits_take() {
    let outcome = run("leaf-spine:8x8x8", vec![of(0, 0, 15, MSS)]);
    assert_eq!(acknowledged(&outcome, 0), 9_348_480);
    // 490 packets, the last of 2,010 bytes. A BDP, 29 packets, needs no credit; the other 1,911,010 bytes need 467 pulls, the first as
    // the first packet arrives. The last pull is for the last two: the short one comes behind the full one.
    let outcome = run("leaf-spine:8x8x8", vec![of(0, 0, 15, 2_000_000)]);
    let (first, pull, last, ack) = (4 * 1_332_000, 4_020_480, 4 * 1_332_000 + 160_800, 4_020_480);
    let sum = first + 466 * gap().0 + pull + last + ack;
    let taken = acknowledged(&outcome, 0);
    assert!(taken.abs_diff(sum) < 1_000, "{taken} ps, by hand {sum} ps");
    assert_eq!((outcome.trims(), outcome.retransmits()), (0, 0));
}

#[test]
fn an_incast_is_paced_by_its_receiver_and_repairs_what_was_cut() {
    let flows = (0..16).map(|id| of(id, id, 63, 2_000_000)).collect();
    let outcome = run("leaf-spine:8x8x8", flows);
    let last = (0..16).map(|flow| acknowledged(&outcome, flow)).max().expect("sixteen flows");
    // The link is busy for 2,600 us; at 98.5 % for 2,640.
    assert!((2_609_160_000..2_660_000_000).contains(&last), "{last}");
    // No timeout: what is sent again is what was cut, of the first windows alone.
    assert_eq!(outcome.retransmits(), outcome.trims());
    assert!((1..16 * 29).contains(&outcome.trims()), "{}", outcome.trims());
}

/// A receiver, and the pulls that it sends.
struct Bench {
    driver: Driver,
    now: Time,
}

impl Bench {
    fn new() -> Bench {
        let site = fabric_site(4, RATE, Span::from_us(10));
        Bench { driver: Driver::of(&ENTRY, &[], &site, 3), now: Time::ZERO }
    }

    /// A packet of a flow, without a payload if it was cut off, asks for credit.
    fn arrive(&mut self, id: u32, seq: u32, target: u32, whole: bool) {
        let mut packet = incast_testkit::data(ID, seq, 0);
        (packet.src, packet.dst, packet.flow) = (HostId(id), HostId(3), FlowId(id));
        (packet.payload, packet.flags) = if whole { (1_400, 0) } else { (0, flag::TRIMMED) };
        if let Header::Data { tag, .. } = &mut packet.header {
            *tag = target;
        }
        self.driver.receive(self.now, packet);
    }

    /// Of which flows pulls leave in the time of so many, and their numbers.
    fn pulls(&mut self, count: u64) -> Vec<(u32, u32)> {
        let until = self.now + gap() * count;
        let all = self.driver.run(Time(until.0 - 1));
        self.now = until;
        let pull = |(_, packet): &(Time, Packet)| match packet.header {
            Header::Pull { number, .. } => Some((packet.flow.0, number)),
            _ => None,
        };
        all.iter().filter_map(pull).collect()
    }
}

#[test]
fn lost_packets_come_before_others_and_idle_flows_last() {
    let mut b = Bench::new();
    b.arrive(0, 0, 40, true);
    b.arrive(1, 0, 40, true);
    assert_eq!(b.pulls(3), [(0, 16), (1, 16), (0, 32)]);
    // A packet of a third flow was cut: one and a half kilobytes, one pull. Then the others until they have more than they asked for.
    b.arrive(2, 0, 0, false);
    assert_eq!(b.pulls(3), [(2, 16), (1, 32), (0, 48)]);
    // Two more, in one queue before the others.
    b.arrive(2, 1, 0, false);
    b.arrive(2, 2, 0, false);
    b.arrive(2, 3, 0, false);
    assert_eq!(b.pulls(3), [(2, 32), (2, 48), (1, 48)]);
    // Nobody asks: each in turn, up to a window beyond what was asked for.
    let idle = b.pulls(1_000);
    let most = |flow| idle.iter().filter(|one| one.0 == flow).map(|one| one.1).max().unwrap();
    // 82 packets of 1,500 bytes are 480 times 256.
    for (flow, asked) in [(0, 40), (1, 40), (2, 0)] {
        let beyond = most(flow) - asked;
        assert!((480..480 + 60).contains(&beyond), "flow {flow}: {beyond}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let fabric = fabric_site(4, RATE, Span::from_us(10));
    for (key, value, least) in
        [("window", "1000B", "a full packet"), ("data_queue", "2000B", "two full packets")]
    {
        let error =
            ENTRY.configure(&key_values(&[(key, value)]), fabric.clone()).err().expect("refused");
        assert_eq!(error.key(), Some(key));
        assert!(error.to_string().contains(least), "{error}");
    }
}
