//! Congestion controls from outside the catalogue, in whole runs.

use incast_endpoint::custom::{
    BadValue, CustomControl, CustomParameter, Flows, Law, Limits, Opening, fixed_law,
};
use incast_endpoint::sender::{Ack, Loss, Outbound, Progress};
use incast_experiment::custom::{Control, Registered, find, register};
use incast_experiment::{Fault, Monitor, Plan, Scenario, execute, identity, transport_version};
use incast_measure::Run;
use incast_transport::{FabricSite, RunRecord, Span, Time, TransportKind};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// DCTCP (DCTCP §3.3, RFC 8257), written against the interface of custom controls.
struct Dctcp {
    gain: f64,
    segment: f64,
    window: f64,
    threshold: f64,
    alpha: f64,
    acked: u64,
    marked: u64,
    observed: u64,
    cut: u64,
    before: f64,
}

impl CustomControl for Dctcp {
    fn on_ack(&mut self, ack: &Ack<'_>, at: &Progress) -> Result<Limits, String> {
        if ack.bytes == 0 {
            return Ok(Limits::window(self.window as u64));
        }
        self.acked += ack.bytes;
        self.marked += if ack.ece { ack.bytes } else { 0 };
        if at.acknowledged >= self.observed {
            let share = self.marked as f64 / self.acked as f64;
            self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
            (self.acked, self.marked, self.observed) = (0, 0, at.sent);
        }
        if at.acknowledged > self.cut && !at.recovering {
            if ack.ece {
                self.before = self.window;
                let least = self.window.min(2.0 * self.segment);
                self.window = (self.window * (1.0 - self.alpha / 2.0)).max(least);
                (self.threshold, self.cut) = (self.window, at.sent);
            } else if ack.limited {
                let bytes = ack.bytes as f64;
                let slow_start = self.window < self.threshold;
                self.window += if slow_start { bytes } else { self.segment * bytes / self.window };
            }
        }
        Ok(Limits::window(self.window as u64))
    }

    fn on_loss(&mut self, loss: Loss, at: &Progress) -> Result<Limits, String> {
        let before = if at.acknowledged >= self.cut { self.window } else { self.before };
        self.threshold = (before / 2.0).max(2.0 * self.segment);
        self.before = before;
        (self.window, self.cut) = match loss {
            Loss::Fast => (self.threshold.min(self.window), at.sent),
            Loss::Timeout => (self.segment, at.acknowledged),
        };
        Ok(Limits::window(self.window as u64))
    }

    fn on_timer(&mut self, _at: &Progress) -> Result<Limits, String> {
        Err("no timer was set".into())
    }
}

struct DctcpLaw;

impl Law for DctcpLaw {
    fn configure(
        &self,
        values: &[(&'static str, String)],
        _fabric: &Arc<FabricSite>,
    ) -> Result<Arc<dyn Flows>, BadValue> {
        let [(key, text)] = values else { panic!("one parameter") };
        let gain = text.parse().ok().filter(|gain| *gain > 0.0 && *gain <= 1.0);
        let wrong = || BadValue { key: key.to_string(), problem: "expected 0 < gain <= 1".into() };
        gain.map(|gain| Arc::new(DctcpFlows(gain)) as Arc<dyn Flows>).ok_or_else(wrong)
    }
}

struct DctcpFlows(f64);

impl Flows for DctcpFlows {
    fn open(&self, opening: &Opening<'_>) -> Result<(Box<dyn CustomControl>, Limits), String> {
        let segment = opening.segment as f64;
        let window = 10.0 * segment;
        let control = Dctcp {
            gain: self.0,
            segment,
            window,
            threshold: f64::INFINITY,
            alpha: 1.0,
            acked: 0,
            marked: 0,
            observed: 0,
            cut: 0,
            before: 0.0,
        };
        Ok((Box::new(control), Limits::window(window as u64)))
    }
}

fn control(name: &str, law: Arc<dyn Law>) -> Control {
    Control {
        name: name.into(),
        version: "1".into(),
        ports_like: "dctcp".into(),
        ecn: true,
        kind: TransportKind::Window,
        sender: vec![],
        parameters: vec![],
        law,
    }
}

fn dctcp(name: &str) -> Registered {
    let gain = CustomParameter { name: "gain", default: "0.0625".into(), accepts: "0 to 1".into() };
    register(Control { parameters: vec![gain], ..control(name, Arc::new(DctcpLaw)) }).unwrap()
}

/// Losses, marks and timeouts between unequal links.
fn scenario(names: &str, changes: &[&str]) -> Plan {
    let text = format!(
        "[fabric]\ntopology = \"leaf-spine:3x2x3\"\nrate = \"10Gbps\"\nuplink_rate = \"20Gbps\"\n\
         loss = 0.001\nbuffer = \"64KiB\"\n[transport]\nnames = [{names}]\n\
         [[traffic]]\nkind = \"poisson\"\nworkload = \"web_search\"\nload = 0.7\nflows = 40\n\
         [[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = 8\nsize = \"200KB\"\n"
    );
    plan(&text, changes).unwrap_or_else(|fault| panic!("{fault}"))
}

fn plan(text: &str, changes: &[&str]) -> Result<Plan, Fault> {
    let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
    Plan::new(Scenario::parse(text, "test", &changes)?)
}

fn run(plan: &Plan, case: usize, threads: usize) -> Result<Run, Fault> {
    let monitor = Monitor::default();
    execute(plan, &plan.cases[case], vec![], threads, &monitor).map(|(run, _)| run)
}

fn record(plan: &Plan, case: usize, threads: usize) -> RunRecord {
    let record = run(plan, case, threads).unwrap_or_else(|fault| panic!("{fault}")).record;
    RunRecord { events: 0, ..record }
}

/// The interface gives a law all that the catalogue's has: records are equal to the last bit.
#[test]
fn dctcp_from_outside_gives_the_records_of_the_catalogue() {
    let own = dctcp("outside");
    assert_eq!(own.name(), "outside");
    let plan = scenario("\"dctcp\", \"outside\"", &[]);
    let expected = record(&plan, 0, 1);
    let marks: u64 =
        expected.ports.iter().flat_map(|port| &port.bins).map(|bin| bin.marks as u64).sum();
    let again: u32 = expected.flows.iter().map(|flow| flow.retransmits).sum();
    assert!(marks > 100 && again > 10, "{marks} {again}");
    for threads in [1, 2, 3] {
        let found = record(&plan, 1, threads);
        assert_eq!(found.flows, expected.flows, "{threads} threads");
        assert_eq!(found.ports, expected.ports, "{threads} threads");
    }
    let plan = scenario("\"dctcp\", \"outside\"", &["run.world=dataplane"]);
    assert_eq!(record(&plan, 1, 1).flows, expected.flows, "in the data plane");
}

/// A law is kept for the messages of a connection, as one of the catalogue's is, also under losses.
#[test]
fn a_law_from_outside_keeps_connections() {
    let _own = dctcp("connected");
    let text = "[fabric]\ntopology = \"leaf-spine:2x2x4\"\nrate = \"10Gbps\"\nloss = 0.001\n[transport]\n\
                names = [\"dctcp\", \"connected\"]\n[[traffic]]\nkind = \"collective\"\n\
                collective = \"all_to_all\"\nsize = \"2MB\"\nchunks = 2\niterations = 3\nissue = \"free\"\n\
                connection = \"pair\"\n";
    let pair = plan(text, &[]).unwrap_or_else(|fault| panic!("{fault}"));
    let expected = record(&pair, 0, 1);
    let again: u32 = expected.flows.iter().map(|flow| flow.retransmits).sum();
    assert!(expected.complete && again > 10, "{again}");
    assert_eq!(record(&pair, 1, 1).flows, expected.flows);
    assert_eq!(record(&pair, 1, 3).flows, expected.flows, "3 threads");
    let message = plan(text, &["traffic.0.connection=message"]).unwrap();
    assert_ne!(record(&message, 0, 1).flows, expected.flows);
}

/// Its own parameters, those of the common sender and those of its ports are keys like others; what
/// else the ports' transport has is none of them.
#[test]
fn parameters_are_its_own_the_senders_and_the_ports() {
    let _own = dctcp("with_keys");
    let set = |change: &str| {
        let keys: Vec<String> = ["dctcp", "with_keys"]
            .map(|name| format!("transport.parameters.{name}.{change}"))
            .to_vec();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        scenario("\"dctcp\", \"with_keys\"", &keys)
    };
    let default = record(&scenario("\"dctcp\"", &[]), 0, 1).flows;
    for change in ["gain=0.5", "rto_min=1ms", "mark_threshold=\"8 packets\"", "recovery=newreno"] {
        let plan = set(change);
        let flows = record(&plan, 1, 1).flows;
        assert_eq!(flows, record(&plan, 0, 1).flows, "{change}");
        assert_ne!(flows, default, "{change}");
    }
    let refused = |change: &str| {
        let text = "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"with_keys\"]\n\
                    [[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n";
        let key = format!("transport.parameters.with_keys.{change}");
        plan(text, &[&key]).err().expect("it is refused").to_string()
    };
    for (change, expected) in [
        ("gain=2", "transport.parameters.with_keys.gain = `2`: expected 0 < gain <= 1"),
        ("gian=1", "did you mean `gain`?"),
        ("initial_window=4", "no such parameter: expected one of gain, recovery, rto_min"),
        ("mark_threshold=0B", "transport.parameters.with_keys.mark_threshold = `0B`: expected"),
        ("rto_min=61s", "transport.parameters.with_keys.rto_min = `61s`: expected"),
    ] {
        let text = refused(change);
        assert!(text.contains(expected), "{text}");
    }
}

/// Notes the load codes that ACKs return.
struct Codes(Arc<Mutex<BTreeSet<u8>>>, u64);

impl CustomControl for Codes {
    fn on_ack(&mut self, ack: &Ack<'_>, _: &Progress) -> Result<Limits, String> {
        assert!(!ack.ece, "codes are no marks");
        self.0.lock().unwrap().insert(ack.nibble);
        Ok(Limits::window(self.1))
    }

    fn on_loss(&mut self, _: Loss, _: &Progress) -> Result<Limits, String> {
        Ok(Limits::window(self.1))
    }

    fn on_timer(&mut self, _: &Progress) -> Result<Limits, String> {
        Err("no timer was set".into())
    }
}

struct CodesLaw(Arc<Mutex<BTreeSet<u8>>>, u64);

impl Law for CodesLaw {
    fn configure(
        &self,
        _: &[(&'static str, String)],
        _: &Arc<FabricSite>,
    ) -> Result<Arc<dyn Flows>, BadValue> {
        Ok(Arc::new(CodesLaw(self.0.clone(), self.1)))
    }
}

impl Flows for CodesLaw {
    fn open(&self, _: &Opening<'_>) -> Result<(Box<dyn CustomControl>, Limits), String> {
        Ok((Box::new(Codes(self.0.clone(), self.1)), Limits::window(self.1)))
    }
}

/// Ports like VCP's tell their load: below 80 %, from 80 % on, overload. Those of TRD put ACKs in
/// front. Both have the keys that decide what ports do, and no others.
#[test]
fn ports_of_vcp_return_codes_and_ports_of_trd_lend_two_queues() {
    let seen = |senders: u32, window: u64, ports: &str| {
        let codes = Arc::new(Mutex::new(BTreeSet::new()));
        let law = Arc::new(CodesLaw(codes.clone(), window));
        let own = Control { ports_like: ports.into(), ecn: false, ..control("codes", law) };
        let _own = register(own).unwrap();
        let text = format!(
            "[fabric]\ntopology = \"star:4\"\nrate = \"10Gbps\"\n[transport]\nnames = [\"codes\"]\n\
             [[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = {senders}\nsize = \"1MB\"\n"
        );
        let own = plan(&text, &[]).unwrap();
        let (run, _) = execute(&own, &own.cases[0], vec![], 1, &Monitor::default()).unwrap();
        assert!(run.record.flows.iter().all(|flow| flow.completed.is_some()), "{ports}");
        codes.lock().unwrap().clone()
    };
    // One packet per RTT fills two links by turns; three windows of 60 KB wait at one port.
    assert_eq!(seen(1, 100, "vcp"), BTreeSet::from([1]));
    assert!(seen(3, 60_000, "vcp").contains(&3));
    assert_eq!(seen(3, 60_000, "trd"), BTreeSet::from([0]), "no codes");
    let keys = |ports: &str| {
        let law = Arc::new(CodesLaw(Arc::default(), 1_000));
        let own = Control { ports_like: ports.into(), ..control("codes", law) };
        let _own = register(own).unwrap();
        let entry = find("codes").unwrap();
        entry.parameters().iter().map(|doc| doc.name).collect::<Vec<_>>()
    };
    assert!(keys("vcp").contains(&"high_load") && !keys("vcp").contains(&"increase"));
    assert!(keys("trd").contains(&"control_limit") && !keys("trd").contains(&"stall"));
}

/// What a result is named after contains the version that the user gives, and the ports.
#[test]
fn versions_are_part_of_the_identity() {
    let name = |version: &str, ports: &str, gain: &str| {
        let parameters =
            vec![CustomParameter { name: "gain", default: gain.into(), accepts: String::new() }];
        let own = Control {
            version: version.into(),
            ports_like: ports.into(),
            parameters,
            ..control("versioned", Arc::new(DctcpLaw))
        };
        let _own = register(own).unwrap();
        let plan = scenario("\"versioned\", \"ren\"", &[]);
        assert!(transport_version("versioned").is_string());
        [identity(&plan, &plan.cases[0]), identity(&plan, &plan.cases[1])]
    };
    let base = name("1", "dctcp", "0.0625");
    assert_eq!(base, name("1", "dctcp", "0.0625"));
    for other in
        [name("2", "dctcp", "0.0625"), name("1", "dcqcn", "0.0625"), name("1", "dctcp", "0.5")]
    {
        assert_ne!(other[0], base[0]);
        assert_eq!(other[1], base[1], "the others' names stay");
    }
    assert!(transport_version("versioned").is_null(), "it is gone");
    assert!(plan("[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"versioned\"]\n[[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n", &[]).is_err());
}

/// A window with a fault at one of its calls.
#[derive(Clone, Copy)]
enum Fate {
    /// Its 20th ACK.
    Ack,
    /// Its first loss.
    Loss,
    /// It opens with a window of 0.
    Never,
    /// After the 20th ACK the window is 0.
    Stops,
    /// A timer that does nothing, again and again.
    Ticks,
    /// A timer in the past.
    Past,
    /// A pacing rate of 0.
    Rate,
}

struct Faulty(Fate, u32);

impl Faulty {
    fn limits(&self, now: Time) -> Limits {
        let usual = Limits::window(30_000);
        let tick = now.saturating_add(Span::from_us(1));
        match self.0 {
            Fate::Ticks => Limits { window: 0, timer: tick, ..usual },
            Fate::Stops if self.1 >= 20 => Limits::window(0),
            Fate::Past if self.1 >= 20 => Limits { timer: Time(now.0 - 1), ..usual },
            Fate::Rate if self.1 >= 20 => {
                Limits { pacing: Some(incast_transport::Rate(0)), ..usual }
            }
            _ => usual,
        }
    }
}

impl CustomControl for Faulty {
    fn on_ack(&mut self, _ack: &Ack<'_>, at: &Progress) -> Result<Limits, String> {
        self.1 += 1;
        match self.0 {
            Fate::Ack if self.1 == 20 => Err("an error of the user's".into()),
            _ => Ok(self.limits(at.now)),
        }
    }

    fn on_loss(&mut self, _loss: Loss, at: &Progress) -> Result<Limits, String> {
        match self.0 {
            Fate::Loss => Err("an error of the user's".into()),
            _ => Ok(self.limits(at.now)),
        }
    }

    fn on_timer(&mut self, at: &Progress) -> Result<Limits, String> {
        Ok(self.limits(at.now))
    }

    fn on_send(&mut self, _packet: &Outbound, at: &Progress) -> Result<Option<Limits>, String> {
        Ok(Some(self.limits(at.now)))
    }
}

/// Each is an error with the control, the flow and the time, the same with any number of threads
/// and in both worlds; the run ends long before its flows would.
#[test]
fn a_control_that_fails_ends_its_run_with_a_message() {
    let cases = [
        (Fate::Ack, "on_ack: an error of the user's"),
        (Fate::Loss, "on_loss: an error of the user's"),
        (Fate::Never, "opening: the flow never sends again: its window is 0"),
        (Fate::Stops, "the flow never sends again: its window is 0"),
        (Fate::Ticks, "on_timer: the flow never sends: its timer ran 100000 times"),
        (Fate::Past, "the timer is set to"),
        (Fate::Rate, "the pacing rate is 0"),
    ];
    for (fate, expected) in cases {
        let law = fixed_law(move |opening| {
            let limits = match fate {
                Fate::Never => Limits::window(0),
                _ => Faulty(fate, 0).limits(opening.now),
            };
            Ok((Box::new(Faulty(fate, 0)), limits))
        });
        let _own = register(control("faulty", law)).unwrap();
        // Timers that do nothing are counted per flow: a few flows are enough.
        let few: &[&str] = match fate {
            Fate::Ticks => &["traffic.0.flows=1", "traffic.1.senders=1"],
            _ => &[],
        };
        let plan = scenario("\"faulty\"", few);
        let first = run(&plan, 0, 1).expect_err("it fails").to_string();
        assert!(first.contains("the control `faulty`, flow "), "{first}");
        assert!(first.contains(expected), "{first}");
        assert_eq!(run(&plan, 0, 2).expect_err("it fails").to_string(), first);
        let plan = scenario("\"faulty\"", &[few, &["run.world=dataplane"]].concat());
        assert_eq!(run(&plan, 0, 1).expect_err("it fails").to_string(), first);
    }
}
