//! Flows in several queues of data: strict or by weights, at ports and in hosts.

use incast_experiment::{Fault, Monitor, Plan, Scenario, execute};
use incast_measure::Run;

const STAR: &str = "topology = \"star:5\"\nrate = \"10Gbps\"\n";

fn plan(fabric: &str, transport: &str, rest: &str) -> Result<Plan, Fault> {
    let lines = format!("[fabric]\n{fabric}[transport]\nnames = [\"{transport}\"]\n{rest}");
    Plan::new(Scenario::parse(&lines, "test.toml", &[])?)
}

fn run(plan: &Plan, threads: usize) -> Run {
    execute(plan, &plan.cases[0], vec![], threads, &Monitor::default()).unwrap().0
}

/// An endless flow from a host to host 4.
fn endless(from: u32, priority: u8) -> String {
    format!(
        "[[traffic]]\nkind = \"long\"\nfrom = \"{from}\"\nto = \"4\"\nuntil = \"20ms\"\npriority = {priority}\n"
    )
}

/// Of what two flows delivered, the share of the first.
fn share(run: &Run) -> f64 {
    let bytes = |flow: usize| run.record.flows[flow].delivered as f64;
    bytes(0) / (bytes(0) + bytes(1))
}

/// Weights 3 and 1: 75 % and 25 % of the link, whether the two queues are at a switch or in one host. Both worlds and
/// two threads give the same.
#[test]
fn two_long_flows_share_a_link_by_their_weights() {
    let queues = format!("{STAR}queues = [3, 1]\n");
    for name in ["dctcp", "cubic", "none"] {
        for sender in [1, 0] {
            let traffic = endless(0, 1) + &endless(sender, 2);
            let made = plan(&queues, name, &traffic).unwrap();
            let first = run(&made, 1);
            let got = share(&first);
            assert!((got - 0.75).abs() < 0.01, "{name}, hosts 0 and {sender}: {got}");
            let twice = run(&made, 2).record;
            assert!(twice == first.record, "{name}: two threads");
            let rest = format!("{traffic}[run]\nworld = \"dataplane\"\n");
            let mut other = run(&plan(&queues, name, &rest).unwrap(), 1).record;
            other.events = first.record.events;
            assert!(other == first.record, "{name}: the data plane");
        }
    }
}

/// With strict priority the first queue has all that it asks for, and the second one the rest.
#[test]
fn a_strict_queue_leaves_the_rest() {
    let queues = format!("{STAR}queues = [\"strict\", \"strict\"]\n");
    let rest = "[transport.parameters.none]\nrate = \"9Gbps\"\n";
    for sender in [1, 0] {
        let traffic = endless(0, 1) + &endless(sender, 2);
        let all = run(&plan(&queues, "dctcp", &traffic).unwrap(), 1);
        assert!(share(&all) > 0.99, "hosts 0 and {sender}: {}", share(&all));
        // 9 of 10 Gb/s; the second flow sends at 9 as well.
        let fixed = run(&plan(&queues, "none", &(rest.to_string() + &traffic)).unwrap(), 1);
        assert!((share(&fixed) - 0.9).abs() < 0.01, "hosts 0 and {sender}: {}", share(&fixed));
    }
}

/// A small flow in front of a queue of others: it takes as long as alone but for a packet at each of two places.
#[test]
fn a_small_flow_does_not_wait_behind_a_queue() {
    let small = |priority: u8| {
        format!(
            "[[traffic]]\nkind = \"burst\"\nfrom = \"2\"\nreceiver = 4\nsize = \"20KB\"\nat = \"10ms\"\n\
             priority = {priority}\n"
        )
    };
    let traffic = |priority: u8| endless(0, 2) + &endless(1, 2) + &small(priority);
    let queues = format!("{STAR}queues = [\"strict\", \"strict\"]\n");
    let fct = |queues: &str, traffic: &str| {
        let run = run(&plan(queues, "cubic", traffic).unwrap(), 1);
        (run.fct(2).unwrap(), run.flows[2].ideal_fct)
    };
    let (first, alone) = fct(&queues, &traffic(1));
    let packet = 1538 * 8 * 100;
    assert!(first.0 - alone.0 <= packet, "{first} {alone}");
    let (second, _) = fct(&queues, &traffic(2));
    assert!(second.0 > 2 * first.0, "{second} {first}");
}

/// With PFC a queue that is paused stops its own flows alone: two senders of the second class fill a port, and the flow
/// of the first class from one of them, to another host, goes on.
#[test]
fn a_pause_stops_its_own_class() {
    let to = |from: u32, to: u32, priority: u8| {
        format!(
            "[[traffic]]\nkind = \"long\"\nfrom = \"{from}\"\nto = \"{to}\"\nuntil = \"5ms\"\npriority = {priority}\n"
        )
    };
    let traffic = to(0, 3, 1) + &to(0, 4, 2) + &to(1, 4, 2) + &to(2, 4, 2);
    let queues = format!("{STAR}queues = [1, 1]\nbuffer = \"64KB\"\npfc = {{}}\n");
    let run = run(&plan(&queues, "none", &traffic).unwrap(), 1);
    let gbps = |flow: usize| run.throughput_gbps(flow).unwrap();
    // Two thirds of host 0's link are left by its paused flow.
    assert!(gbps(0) > 6.0, "{} {} {} {}", gbps(0), gbps(1), gbps(2), gbps(3));
    let rest = gbps(1) + gbps(2) + gbps(3);
    assert!((rest - 9.49).abs() < 0.1, "{rest}");
    assert!(run.record.ports.iter().all(|port| port.total.drops == 0));
}

/// The priority groups of a file are the queues of its flows; without queues they are told, once.
#[test]
fn priority_groups_of_a_file_choose_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flow.txt");
    let of = |fabric: &str, text: &str, more: &str| {
        std::fs::write(&file, text).unwrap();
        let entry = format!(
            "[[traffic]]\nkind = \"file\"\nfile = {:?}\n{more}",
            file.display().to_string()
        );
        plan(fabric, "dctcp", &entry)
    };
    let text = "2\n0 4 1 100 8000000 2\n1 4 2 100 8000000 2\n";
    let queues = format!("{STAR}queues = [3, 1]\n");
    let made = of(&queues, text, "").unwrap();
    assert_eq!(made.warnings, []);
    let both = run(&made, 1);
    // The first has 3 of 4, and then the second the whole link.
    let took = |flow: usize| both.fct(flow).unwrap().as_ns_f64();
    assert!((took(1) / took(0) - 1.5).abs() < 0.02, "{} {}", took(0), took(1));

    let alike = of(STAR, text, "").unwrap();
    let said: Vec<String> = alike.warnings.iter().map(ToString::to_string).collect();
    assert!(
        matches!(&said[..], [one] if one.contains("priority groups 1, 2 are treated alike")),
        "{said:?}"
    );
    assert_eq!(of(STAR, "1\n0 4 3 100 8000 2\n", "").unwrap().warnings, []);
    let fault = of(&queues, "1\n0 4 3 100 8000 2\n", "").err().unwrap().to_string();
    assert!(fault.contains("has flows of priority 3, and there are 2 queues"), "{fault}");
    let set = of(&queues, "1\n0 4 3 100 8000 2\n", "priority = 2\n").unwrap();
    assert_eq!(set.traffic.flows[0].priority, Some(2));
}

#[test]
fn queues_that_cannot_be_are_refused() {
    let flow = "[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n";
    for (queues, rest, said) in [
        ("", "priority = 2\n", "traffic.0.priority = `2`: there is one queue of data"),
        ("queues = [1, 1]\n", "priority = 3\n", "traffic.0.priority = `3`: expected 1 to 2"),
        ("queues = [1, 1]\n", "priority = 0\n", "traffic.0.priority = `0`: expected 1 to 7"),
        ("queues = [1, \"strict\"]\n", "", "fabric.queues.1 = `strict`: expected a weight"),
        ("queues = [0]\n", "", "fabric.queues.0 = `0`: expected weights above 0"),
        (
            "queues = [\"strickt\"]\n",
            "",
            "fabric.queues.0 = `strickt`: expected `strict` or a weight",
        ),
        ("queues = [1,1,1,1,1,1,1,1]\n", "", "fabric.queues.7 = `1`: expected at most 7 queues"),
    ] {
        let fault = plan(&format!("{STAR}{queues}"), "dctcp", &format!("{flow}{rest}"));
        let fault = fault.err().expect(said).to_string();
        assert!(fault.contains(said), "{fault}");
    }
    // Each of two transports with ports of their own needs five.
    let rest = "join = \"separate\"\nassign = [{ name = \"cubic\", hosts = \"0\" }]\n";
    let five = format!("{STAR}queues = [1, 1, 1, 1, 1]\n");
    let lines = format!("[fabric]\n{five}[transport]\nnames = [\"dctcp\"]\n{rest}{flow}");
    let fault = Plan::new(Scenario::parse(&lines, "test.toml", &[]).unwrap()).err().unwrap();
    assert!(fault.to_string().contains("more than 8 queues"), "{fault}");
    let queues = format!("{STAR}queues = [1, 1]\n");
    for name in ["homa", "aeolus", "phost", "ndp", "ren", "trd", "expresspass", "uec"] {
        let fault = plan(&queues, name, flow).err().expect(name).to_string();
        assert!(
            fault.contains(&format!("the flows of {name} cannot be in several queues")),
            "{fault}"
        );
        assert!(fault.contains("dctcp") && !fault.contains("panic"), "{fault}");
    }
    for name in ["dctcp", "cubic", "dcqcn", "timely", "hpcc", "none", "decn", "fasttune"] {
        plan(&queues, name, flow).unwrap();
    }
}
