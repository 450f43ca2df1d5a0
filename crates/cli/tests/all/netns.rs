//! Processes in network namespaces: the tier that needs user namespaces and `ip`.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Whether namespaces can be made here; says loudly if not.
fn tier() -> bool {
    let made = Command::new("unshare")
        .args(["-Urnm", "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"])
        .output();
    let why = match made {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_string(),
        Err(error) => error.to_string(),
    };
    eprintln!(
        "\n*** THE TIER OF NAMESPACES DID NOT RUN: `unshare -Urnm ip link add ...`: {why}\n\
         *** It needs the packages util-linux and iproute2, and user namespaces\n\
         *** (`sysctl kernel.unprivileged_userns_clone`, `user.max_user_namespaces`).\n"
    );
    false
}

fn incast(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

const SCENARIO: &str = "[fabric]\ntopology = \"dumbbell:3x2\"\nrate = \"100Mbps\"\n\
    propagation = \"50us\"\n[transport]\nnames = [\"dctcp\"]\n\
    [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"3\"\nsize = \"10MB\"\n";

/// Runs the scenario with a transport in seven namespaces: the flow's Mb/s, and the records of the
/// nodes.
fn run(transport: &str) -> (f64, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.toml"), SCENARIO).unwrap();
    let set = format!("transport.names=[\"{transport}\"]");
    let output = incast(
        folder.path(),
        &["testbed", "netns", "net.toml", "--set", &set, "--for", "120s", "--out", "out"],
    );
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{out}\n{err}");
    // The program itself holds frames sent against frames received and dropped, link by link.
    assert!(output.status.success(), "{transport}");
    for file in ["manifest.json", "flows.parquet", "ports.parquet", "report.html"] {
        assert!(folder.path().join("out").join(file).exists(), "{file}");
    }
    let nodes = std::fs::read(folder.path().join("out/nodes.json")).unwrap();
    let nodes: Vec<Value> = serde_json::from_slice(&nodes).unwrap();
    assert_eq!(nodes.len(), 7);
    // The run judges itself, as one in real time in one process does, and keeps that.
    for row in
        ["lateness of packets, p99.9: ", "stalled: ", "under the virtual clock", "sent again: "]
    {
        assert!(out.contains(row), "no `{row}`: {out}");
    }
    let manifest = std::fs::read(folder.path().join("out/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let fidelity = &manifest["fidelity"];
    let hops: u64 = nodes.iter().map(|node| node["packet_hops"].as_u64().unwrap()).sum();
    assert_eq!(fidelity["packets"].as_u64(), Some(hops));
    // 10 MB by way of three links, and what answers it.
    assert!(fidelity["virtual_packets"].as_u64().unwrap() > 3 * 6_850, "{fidelity}");
    assert!(fidelity["lateness_p999_ns"].as_f64().unwrap() > 0.0, "{fidelity}");
    assert!(fidelity["refused"].as_array().unwrap().is_empty(), "{fidelity}");
    for why in fidelity["doubts"].as_array().into_iter().flatten() {
        assert!(err.contains(&format!("warning: {transport}: {}", why.as_str().unwrap())), "{err}");
    }
    let flow = |node: &Value| node["flows"].as_array().unwrap().first().cloned();
    let flows: Vec<Value> = nodes.iter().filter_map(flow).collect();
    assert_eq!(flows.len(), 2, "its source and its destination know the flow");
    let at = |key: &str| flows.iter().find_map(|flow| flow[key].as_u64()).expect("known");
    let rate = 10e6 * 8.0 / ((at("completed") - at("started")) as f64 * 1e-12) * 1e-6;
    println!("{transport}: {rate:.1} Mb/s");
    (rate, nodes)
}

/// The machine that runs the tests may be busy: the figures of a quiet one, 90 and 80 Mb/s and a
/// fifth of a core, are asserted with INCAST_QUIET set.
#[test]
fn seven_processes_carry_a_flow() {
    if !tier() {
        return;
    }
    let quiet = std::env::var_os("INCAST_QUIET").is_some();
    for (transport, goal) in [("dctcp", 90.0), ("ren", 80.0)] {
        let (rate, nodes) = run(transport);
        assert!(rate >= if quiet { goal } else { 1.0 } && rate <= 95.0, "{transport}: {rate} Mb/s");
        // Hosts 1, 2 and 4 have nothing to do.
        for node in [1, 2, 4].map(|host| &nodes[host]) {
            let share = node["cpu_s"].as_f64().unwrap() / node["wall_s"].as_f64().unwrap();
            println!("{} idles with {:.1} % of a core", node["name"], share * 100.0);
            assert!(share <= if quiet { 0.2 } else { 0.5 }, "{}: {share}", node["name"]);
        }
    }
}

/// Whether the program has DPDK; says loudly if not.
fn dpdk() -> bool {
    if !cfg!(feature = "dpdk") {
        eprintln!("\n*** PORTS OVER DPDK WERE NOT TESTED: this program was built without it\n");
    }
    cfg!(feature = "dpdk")
}

/// Two hosts and a switch, each a process with ports of DPDK.
#[test]
fn a_switch_and_its_hosts_run_over_devices_of_dpdk() {
    if !tier() || !dpdk() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = SCENARIO.replace("dumbbell:3x2", "star:2").replace("\"3\"", "\"1\"");
    let scenario = scenario.replace("10MB", "1MB");
    std::fs::write(folder.path().join("net.toml"), scenario).unwrap();
    let output = incast(
        folder.path(),
        &["testbed", "netns", "net.toml", "--dpdk", "--for", "60s", "--out", "out"],
    );
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // As above, frames sent are held against frames received and dropped, link by link.
    assert!(output.status.success(), "{out}\n{err}");
    let nodes = std::fs::read(folder.path().join("out/nodes.json")).unwrap();
    let nodes: Vec<Value> = serde_json::from_slice(&nodes).unwrap();
    let delivered = |node: &Value| node["flows"][0]["delivered"].as_u64();
    assert_eq!(nodes.iter().filter_map(delivered).max(), Some(1_000_000));
    let switch = nodes.iter().find(|node| node["name"] == "leaf0").expect("it has a record");
    for interface in switch["interfaces"].as_array().unwrap() {
        let count = |key: &str| interface[key].as_u64().unwrap();
        assert!(count("sent") > 300 && count("received") > 300, "{interface}");
        assert_eq!(count("refused"), 0, "{interface}");
    }
}

/// A switch of four ports on two cores, which hand frames over to each other.
#[test]
fn a_switch_spreads_its_ports_over_cores() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if !tier() || cores < 2 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = SCENARIO.replace("dumbbell:3x2", "star:4").replace("10MB", "1MB");
    std::fs::write(folder.path().join("net.toml"), scenario).unwrap();
    let run = ["testbed", "netns", "net.toml", "--for", "60s", "--lcores"];
    let ports: &[&[&str]] = if dpdk() { &[&[], &["--dpdk"]] } else { &[&[]] };
    for ports in ports {
        let more = [&["0,1", "--out", "out", "--force"], *ports].concat();
        let output = incast(folder.path(), &[&run[..], &more].concat());
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{out}\n{err}");
        assert!(out.contains("core 0") && out.contains("handed over"), "{out}");
        of_two_cores(folder.path());
    }
    let refused = incast(
        folder.path(),
        &[&run[..], &["0,1", "--set", "transport.names=[\"fasttune\"]"]].concat(),
    );
    let text = String::from_utf8_lossy(&refused.stderr).to_string();
    assert!(text.contains("leaf0 needs one core for all its ports: a transport's hook"), "{text}");
}

/// What the results of such a run say.
fn of_two_cores(folder: &Path) {
    let nodes = std::fs::read(folder.join("out/nodes.json")).unwrap();
    let nodes: Vec<Value> = serde_json::from_slice(&nodes).unwrap();
    let delivered = |node: &Value| node["flows"][0]["delivered"].as_u64();
    assert_eq!(nodes.iter().filter_map(delivered).max(), Some(1_000_000));
    // Data goes from a port of the one core to a port of the other, and ACKs come back.
    let switch = nodes.iter().find(|node| node["name"] == "leaf0").expect("it has a record");
    let total = |key: &str| -> u64 {
        let all = switch["cores"].as_array().unwrap();
        all.iter().map(|core| core[key].as_u64().unwrap()).sum()
    };
    assert_eq!(switch["cores"].as_array().unwrap().len(), 2);
    assert_eq!(total("packets"), switch["packet_hops"].as_u64().unwrap());
    assert_eq!(
        total("crossed") + switch["malformed"].as_u64().unwrap(),
        switch["frames"].as_u64().unwrap()
    );
    assert_eq!(total("crossed"), total("taken") + total("unread"));
}

/// Applications on hosts, each a process in a namespace of its own, and what becomes of them when others
/// are killed and come again. Each line that begins with `==` names what follows.
const APPLICATIONS: &str = r#"
set -e
mount -t tmpfs none /run
for n in h0 h1 s; do ip netns add $n; done
for i in 0 1; do
  ip link add a$i mtu 9000 type veth peer name b$i mtu 9000
  ip link set a$i netns h$i
  ip link set b$i netns s
done
# In the background only: the process that is killed is the program.
node() { exec ip netns exec s "$0" testbed node net.toml --name leaf0 --for 100s "$@"; }
client() { ip netns exec h0 "$0" testbed "$@" --name host0 --port leaf0=if:a0 --to host1; }
dying() { exec ip netns exec h0 "$0" testbed "$@" --name host0 --port leaf0=if:a0 --to host1; }
node --port host0=if:b0 --port host1=if:b1 > node.log 2>&1 & switch=$!
ip netns exec h1 "$0" testbed serve net.toml --name host1 --port leaf0=if:a1 --folder inbox > serve.log 2>&1 & server=$!
echo == send; client send one.bin net.toml
echo == perf; client perf --scenario net.toml --for 1500ms
echo == client killed
dying send big.bin net.toml > /dev/null 2>&1 & sender=$!
sleep 0.4; kill -KILL $sender; wait $sender || true
client send two.bin net.toml
echo == switch killed
kill -KILL $switch; wait $switch || true
node $AGAIN > again.log 2>&1 & switch=$!
client send three.bin net.toml
echo == server killed
kill -KILL $server; wait $server || true
client send one.bin net.toml 2>&1 || echo it fails
kill -INT $switch; wait $switch
"#;

/// Runs [`APPLICATIONS`] with ports of the switch that comes again: what it prints, and the folder.
fn applications(again: &str) -> (String, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let scenario = SCENARIO.replace("dumbbell:3x2", "star:2").replace("\"3\"", "\"1\"");
    std::fs::write(at("net.toml"), scenario).unwrap();
    std::fs::create_dir(at("inbox")).unwrap();
    for (name, length) in
        [("one.bin", 300_000), ("two.bin", 200_001), ("three.bin", 1), ("big.bin", 10_000_000u32)]
    {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 31 + at / 257) as u8).collect();
        std::fs::write(at(name), bytes).unwrap();
    }
    let mut unshare = Command::new("unshare");
    // With processes of its own, which all end with it: some run until they are told to end.
    unshare.args(["-Urnmpf", "sh", "-c", APPLICATIONS, env!("CARGO_BIN_EXE_incast")]);
    let output = unshare.env("AGAIN", again).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).to_string();
    let logs = ["node.log", "serve.log", "again.log"]
        .map(|log| std::fs::read_to_string(at(log)).unwrap_or_default());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}\n{logs:?}");
    (said, folder)
}

#[test]
fn applications_run_over_veth_pairs_and_peers_return() {
    if !tier() {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cores < 2 { "--poll" } else { "--poll --lcores 0,1" };
    let ports = match dpdk() {
        true => "--port host0=net_af_packet0,iface=b0 --port host1=net_af_packet1,iface=b1",
        false => "--port host0=if:b0 --port host1=if:b1",
    };
    let (said, folder) = applications(&format!("{cores} {ports}"));
    let parts: Vec<&str> = said.split("== ").skip(1).collect();
    let part = |name: &str| {
        let found = parts.iter().find_map(|part| part.strip_prefix(name));
        found.unwrap_or_else(|| panic!("no part `{name}`: {said}"))
    };
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    for (name, sent) in [("send", "one"), ("client killed", "two"), ("switch killed", "three")] {
        assert!(part(name).contains("SHA-256") && part(name).contains("at both ends"), "{said}");
        assert!(read(&format!("inbox/{sent}.bin")) == read(&format!("{sent}.bin")), "{sent}");
    }
    assert!(part("send").contains("host0: lateness of packets, p99.9: "), "{said}");
    let served = std::fs::read_to_string(folder.path().join("serve.log")).unwrap();
    assert!(served.contains("host1 serves"), "{served}");
    let switch = std::fs::read_to_string(folder.path().join("again.log")).unwrap();
    assert!(switch.contains("leaf0: stalled: "), "{switch}");
    let meter = part("perf");
    let line = meter.lines().find(|line| line.contains("Mb/s in")).expect(meter);
    let rate: f64 = line.split(' ').next().unwrap().parse().unwrap();
    assert!((1.0..=95.0).contains(&rate) && line.contains(" 0 failed"), "{meter}");
    assert!(
        meter.contains("   1 s ") && meter.contains("p99.9"),
        "a live line, percentiles: {meter}"
    );
    let killed = part("server killed");
    assert!(
        killed.contains("it fails") && killed.contains("the destination is silent"),
        "{killed}"
    );
}

/// Two hosts and a switch. What `$PORTS` says are the switch's.
const STAR: &str = r#"
set -e
mount -t tmpfs none /run
for n in h0 h1 s; do ip netns add $n; done
for i in 0 1; do
  ip link add a$i mtu 9000 type veth peer name b$i mtu 9000
  ip link set a$i netns h$i
  ip link set b$i netns s
done
switch() { exec ip netns exec s "$0" testbed node net.toml --name leaf0 --for 60s --json "$@"; }
host() { n=$1; shift; exec ip netns exec $n "$0" testbed node net.toml --patience 20s --for 60s "$@"; }
"#;

/// Nodes of [`STAR`] that meet wrongly. The lines of each process that gives up are behind a line with `==`.
const MEETINGS: &str = r#"
# One end of the link gives up, saying what does not fit; the other may not have heard of it.
either() {
  until [ -s one.log ] || [ -s two.log ]; do sleep 0.05; done
  kill $one $two 2> /dev/null || true; wait $one $two || true
  cat one.log two.log
}
meet() {
  echo "== $1"; shift; rm -f one.log two.log
  host h0 "$@" > one.log 2>&1 & one=$!
  switch --patience 20s $PORTS > two.log 2>&1 & two=$!
  either
}
meet crossed --name host1 --port leaf0=if:a0
meet scenario --name host0 --port leaf0=if:a0 --set run.seed=9
echo == name; rm -f one.log two.log
host h0 --name host0 --port leaf0=if:a0 > one.log 2>&1 & one=$!
host s --name host0 --port leaf0=if:b0 > two.log 2>&1 & two=$!
either
"#;

/// A file passes [`STAR`], beside a process too many and frames of others.
const FOREIGN: &str = r#"
switch $PORTS > node.log 2>&1 & switch=$!
ip netns exec h1 "$0" testbed serve net.toml --name host1 --port leaf0=if:a1 --folder inbox > serve.log 2>&1 & server=$!
ip netns exec h0 "$0" testbed send one.bin net.toml --name host0 --port leaf0=if:a0 --to host1 > send.log 2>&1
echo == running
(host h1 --name host1 --port leaf0=if:a1) 2>&1 || true
echo == foreign
ip netns exec h0 python3 inject.py a0 & first=$!
ip netns exec s python3 inject.py b1 & second=$!
ip netns exec h0 "$0" testbed send two.bin net.toml --name host0 --port leaf0=if:a0 --to host1
wait $first $second
kill -INT $switch $server; wait
cat node.log
"#;

/// Sends frames that are no node's: those that a machine on a network meets, and broken ones.
const INJECT: &str = r#"
import socket, struct, sys, time
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind((sys.argv[1], 0))
any, me = b"\xff" * 6, out.getsockname()[4]
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff
def ip(protocol, payload, good=True):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0x4000, 64, protocol, 0, b"\n\0\0\0", b"\n\0\0\1")
    return head[:10] + struct.pack("!H", checksum(head) ^ (not good)) + head[12:] + payload
def frame(kind, payload):
    return any + me + struct.pack("!H", kind) + payload
udp = struct.pack("!HHHH", 4791, 4791, 8 + 100, 0) + b"x" * 100
frames = [
    frame(0x0806, b"\0\1\x08\0\6\4\0\1" + me + b"\n\0\0\0" + b"\0" * 6 + b"\n\0\0\1"),  # ARP
    frame(0x86dd, b"\x60" + b"\0" * 5 + b"\x3a\xff" + b"\xfe" * 32 + b"\x87" + b"\0" * 23),  # IPv6, neighbour discovery
    frame(0x0800, ip(1, b"\x08\0\xf7\xff" + b"\0" * 52)),  # ping
    frame(0x0800, ip(17, udp)),  # UDP
    frame(0x8100, b"\0\7\x08\0" + ip(253, b"\0" * 40)),  # VLAN
    frame(0x0800, ip(253, b"\0" * 40)),  # ours, without sense
    frame(0x0800, ip(253, b"\xa5" * 40, good=False)),  # ours, with a wrong checksum
    frame(0x0800, ip(253, b"")[:19]),  # cut off
    frame(0x0800, ip(254, b"incast-hello what")),  # a broken hello
    frame(0x0800, ip(6, b"\0" * 8900)),  # a jumbo frame of TCP
]
for _ in range(150):
    for one in frames:
        try:
            out.send(one)
        except OSError:
            pass
    time.sleep(0.002)
"#;

/// Runs [`STAR`] and what follows with these ports of the switch: what it prints, and the folder. `None` if
/// that is not possible here.
fn star(then: &[&str], ports: &str) -> Option<(String, tempfile::TempDir)> {
    if !tier() {
        return None;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("\n*** FOREIGN FRAMES WERE NOT SENT: there is no python3\n");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let scenario = SCENARIO.replace("dumbbell:3x2", "star:2").replace("\"3\"", "\"1\"");
    std::fs::write(at("net.toml"), scenario).unwrap();
    std::fs::write(at("inject.py"), INJECT).unwrap();
    std::fs::create_dir(at("inbox")).unwrap();
    for (name, length) in [("one.bin", 3_000), ("two.bin", 4_000_000u32)] {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 29 + at / 251) as u8).collect();
        std::fs::write(at(name), bytes).unwrap();
    }
    let mut unshare = Command::new("unshare");
    let script = STAR.to_string() + &then.concat();
    // With processes of its own, which all end with it: some run until they are told to end.
    unshare.args(["-Urnmpf", "sh", "-c", &script, env!("CARGO_BIN_EXE_incast")]);
    let output = unshare.env("PORTS", ports).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).to_string();
    let errors = String::from_utf8_lossy(&output.stderr);
    let logs = ["node.log", "serve.log", "send.log"]
        .map(|log| std::fs::read_to_string(at(log)).unwrap_or_default());
    assert!(output.status.success(), "{said}\n{errors}\n{logs:?}");
    Some((said, folder))
}

/// The part of what a script said behind `== name`.
fn part(said: &str, name: &str) -> String {
    let found = said.split("== ").find_map(|part| part.strip_prefix(name));
    found.unwrap_or_else(|| panic!("no part `{name}`: {said}")).to_string()
}

/// What befalls nodes while they run: a link that goes down and up, a server that is stopped, and a peer of another
/// scenario.
const FAULTS: &str = r#"
client() { timeout 40 ip netns exec h0 "$0" testbed send "$@" --name host0 --port leaf0=if:a0 --to host1; }
switch $KEY $PORTS > node.log 2>&1 & switch=$!
ip netns exec h1 "$0" testbed serve net.toml $KEY --name host1 --port leaf0=if:a1 --folder inbox > serve.log 2>&1 & server=$!
echo == down
client two.bin net.toml $KEY > send.log 2>&1 & sender=$!
until grep -q 'base RTT' send.log; do sleep 0.02; done
sleep 0.1; ip netns exec h1 ip link set a1 down; sleep 0.5; ip netns exec h1 ip link set a1 up
wait $sender; cat send.log
echo == stopped
kill -STOP $server; client one.bin net.toml $KEY 2>&1 || echo it fails
sleep 3; kill -CONT $server; sleep 0.2; client one.bin net.toml $KEY
echo == stranger
(host h0 --name host0 --port leaf0=if:a0 $KEY --set run.seed=9) 2>&1 || echo it fails
sleep 0.5; kill -INT $server $switch; wait $server $switch || true
cat node.log
"#;

/// The same nodes with a key, and one whose key is another.
const KEYS: &str = r#"
head -c 32 /dev/urandom > one.key; head -c 32 /dev/urandom > two.key
echo == other
ip netns exec h0 "$0" testbed node net.toml --name host0 --port leaf0=if:a0 --key two.key --patience 2s > one.log 2>&1 & one=$!
switch --patience 2s --key one.key $PORTS > two.log 2>&1 & two=$!
wait $one $two || true; cat one.log two.log
KEY="--key one.key"
"#;

/// A link that is down for half a second, a server that is stopped for 5 s and a stranger: with a key and without.
#[test]
fn nodes_outlive_faults_of_links_and_peers() {
    let ports = "--port host0=if:b0 --port host1=if:b1";
    for keys in ["KEY=\n", KEYS] {
        let Some((said, folder)) = star(&[keys, FAULTS], ports) else { return };
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert!(part(&said, "down").contains("at both ends"), "{said}");
        assert!(read("inbox/two.bin") == read("two.bin"));
        let stopped = part(&said, "stopped");
        assert!(
            stopped.contains("the destination is silent") && stopped.contains("it fails"),
            "{said}"
        );
        assert!(stopped.contains("at both ends"), "it goes on: {said}");
        let stranger = part(&said, "stranger");
        assert!(
            stranger.contains("runs another scenario") && stranger.contains("it fails"),
            "{said}"
        );
        let told = "warning: port 2 of leaf0: host0 runs another scenario";
        assert_eq!(stranger.matches(told).count(), 1, "the switch says so once: {said}");
        if keys == KEYS {
            let other = part(&said, "other");
            assert_eq!(other.matches("came without the key of this network").count(), 2, "{said}");
        }
    }
}

/// What [`FOREIGN`] said: a process too many is refused, the file arrives, and the switch has counted
/// the frames of others.
fn others_are_ignored(said: &str, folder: &Path) {
    let running = part(said, "running");
    assert!(running.contains("`a1` belongs to another node that runs"), "{running}");
    assert_eq!(running.trim().lines().count(), 1, "{running}");
    let foreign = part(said, "foreign");
    assert!(foreign.contains("SHA-256") && foreign.contains("at both ends"), "{foreign}");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(read("inbox/two.bin") == read("two.bin"));
    let record = &foreign[foreign.find("\n{").expect("a record")..foreign.rfind('}').unwrap() + 1];
    let record: Value = serde_json::from_str(record).unwrap();
    let from_host = record["interfaces"].as_array().unwrap().iter().find(|one| one["port"] == 2);
    let count = |key: &str| from_host.expect("the port to host 0")[key].as_u64().unwrap();
    assert!(count("foreign") >= 100, "{record}");
    assert!(record["malformed"].as_u64().unwrap() >= 100, "{record}");
}

#[test]
fn what_does_not_belong_is_told_or_ignored() {
    let ports = "--port host0=if:b0 --port host1=if:b1";
    let Some((said, folder)) = star(&[MEETINGS, FOREIGN], ports) else { return };
    // Each end may be the first to give up; the other then misses it, or is ended.
    let crossed = part(&said, "crossed");
    assert!(crossed.contains("leads to port") && crossed.contains("expected port"), "{crossed}");
    assert!(part(&said, "scenario").contains("runs another scenario"), "{said}");
    assert!(part(&said, "name").contains("names are of one each"), "{said}");
    others_are_ignored(&said, folder.path());
}

/// The same frames at a switch whose ports are DPDK's.
#[test]
fn a_dpdk_switch_ignores_what_does_not_belong() {
    if !dpdk() {
        return;
    }
    let ports = "--port host0=net_af_packet0,iface=b0 --port host1=net_af_packet1,iface=b1";
    if let Some((said, folder)) = star(&[FOREIGN], ports) {
        others_are_ignored(&said, folder.path());
    }
}

/// What a person gets wrong about devices is said in one line.
#[test]
fn mistakes_about_devices_are_said() {
    if !dpdk() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.toml"), SCENARIO).unwrap();
    let says = |more: &[&str], expected: &str| {
        let node = ["testbed", "node", "net.toml", "--name", "host0"];
        let output = incast(folder.path(), &[&node[..], more].concat());
        let text = String::from_utf8_lossy(&output.stderr).trim().to_string();
        assert!(!output.status.success() && text.contains(expected), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    };
    says(&["--port", "0=0000:ff:1f.7"], "there is no PCI device 0000:ff:1f.7");
    says(&["--port", "0=ff:1f"], "a PCI address is written as 0000:3b:00.0");
    says(&["--port", "0=net_af_packet0,iface=nothere"], "no network interface `nothere`");
    says(&["--port", "0=net_nosuch0"], "net_nosuch0");
    says(&["--port", "0=if:lo", "--eal", "--no-huge"], "EAL arguments have no effect");
    says(
        &["--port", "0=net_ring0", "--eal", "--bogus"],
        "does not start with the arguments `--bogus`",
    );
    let small = "--no-huge -m 4 --no-pci --no-telemetry --no-shconf";
    says(&["--port", "0=net_ring0", "--eal", small], "raise `-m` in the EAL arguments");
    says(&["--port", "0=net_ring0", "--patience", "1s"], "its own frames come back");
    // A log that was asked for is heard.
    let loud = "--no-huge -m 64 --no-pci --no-telemetry --no-shconf --log-level=lib.eal:debug";
    let node =
        ["testbed", "node", "net.toml", "--name", "host0", "--patience", "1s", "--eal", loud];
    let output = incast(folder.path(), &[&node[..], &["--port", "0=net_ring0"]].concat());
    let text = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(text.contains("EAL: ") && text.contains("its own frames come back"), "{text}");
    let switch = ["--name", "leaf0", "--port", "host0=if:lo", "--port", "host1=net_ring0"];
    let star = ["testbed", "node", "net.toml", "--set", "fabric.topology=star:4"];
    let output = incast(folder.path(), &[&star[..], &switch[..]].concat());
    let text = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(text.contains("`if:lo` and `net_ring0` are of two kinds"), "{text}");
}

/// What a person gets wrong is said in one line.
#[test]
fn mistakes_are_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.toml"), SCENARIO).unwrap();
    let message = |arguments: &[&str]| {
        let output = incast(folder.path(), arguments);
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).trim().to_string()
    };
    let node = ["testbed", "node", "net.toml", "--name"];
    let with = |more: &[&str]| message(&[&node[..], more].concat());
    let missing = with(&["host0"]);
    assert!(missing.contains("host0 has no interface at port 0 (to "), "{missing}");
    let unknown = with(&["hots0"]);
    assert!(unknown.contains("did you mean `host0`"), "{unknown}");
    let form = with(&["host0", "--port", "0=veth0"]);
    assert!(
        form.contains(
            "expected if:INTERFACE, such as if:veth0, or on an ordinary network if:eth1,ip="
        ),
        "{form}"
    );
    let other = with(&["host0", "--port", "7=if:veth0"]);
    assert!(other.contains("host0 has the ports 0 to 0"), "{other}");
    let twice = with(&["host0", "--port", "0=if:a", "--port", "0=if:b"]);
    assert!(twice.contains("port 0 is given twice"), "{twice}");
    let absent = with(&["host0", "--port", "0=if:nothere"]);
    assert!(absent.contains("there is no interface `nothere` here; there are: lo"), "{absent}");
    let long = message(&["testbed", "netns", "net.toml", "--for", "601s"]);
    assert!(long.contains("at most"), "{long}");
}

/// An ordinary network: two hosts in networks of their own, and a router of the kernel between them, which is also
/// where a switch of ours may run. The kernel has host 1's address, too.
const ROUTED: &str = r#"
set -e
mount -t tmpfs none /run
for n in h0 r h1; do ip netns add $n; done
ip link add a0 netns h0 type veth peer name b0 netns r
ip link add a1 netns h1 type veth peer name b1 netns r
ip -n r address add 10.1.0.1/24 dev b0; ip -n r address add 10.2.0.1/24 dev b1
ip -n h1 address add 10.2.0.2/24 dev a1
for n in h0:a0 r:b0 r:b1 h1:a1; do ip -n ${n%:*} link set ${n#*:} up; done
ip -n h1 route add default via 10.2.0.1
ip netns exec r sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
AT0=ip=10.1.0.2/24,peer=10.2.0.2,gateway=10.1.0.1
AT1=ip=10.2.0.2/24,peer=10.1.0.2,gateway=10.2.0.1
serve() { ip netns exec h1 "$0" testbed serve net.toml --name host1 --folder inbox "$@" > serve.log 2>&1 & server=$!; }
client() { ip netns exec h0 "$0" testbed send "$@" --name host0 --to host1; }
end() { kill -INT $server; wait $server || true; cat serve.log; rm -f inbox/*; }
echo == dctcp
serve --port host0=if:a1,$AT1
client one.bin net.toml --port host1=if:a0,$AT0; cmp one.bin inbox/one.bin; end
echo == with a key
head -c 32 /dev/urandom > net.key; SET='--key net.key'
ip -n r neigh flush all
serve --port host0=if:a1,$AT1 $SET
client one.bin net.toml --port host1=if:a0,$AT0 $SET; cmp one.bin inbox/one.bin; end
echo == ren over its switch
SET='--set transport.names=["ren"]'
ip -n r address add 10.1.0.9/24 dev b0
ip netns exec r "$0" testbed node net.toml --name leaf0 --for 60s $SET \
  --port host0=if:b0,ip=10.1.0.9/24,peer=10.1.0.2 --port host1=if:b1,ip=10.2.0.9/24,peer=10.2.0.2 > node.log 2>&1 & switch=$!
serve --port leaf0=if:a1,ip=10.2.0.2/24,peer=10.2.0.9 $SET
client one.bin net.toml --port leaf0=if:a0,ip=10.1.0.2/24,peer=10.1.0.9 $SET; cmp one.bin inbox/one.bin
kill -INT $switch; wait $switch; cat node.log; end
echo == ren without a switch
serve --port host0=if:a1,$AT1 $SET
client one.bin net.toml --port host1=if:a0,$AT0 $SET 2>&1; end
echo == nobody
client one.bin net.toml --port host1=if:a0,ip=10.1.0.2/24,peer=10.2.0.2,gateway=10.1.0.7 --patience 1s 2>&1 || echo it fails
echo == duplicate
client one.bin net.toml --port host1=if:a0,ip=10.1.0.1/24,peer=10.2.0.2,gateway=10.1.0.7 2>&1 || echo it fails
echo == not there
client one.bin net.toml --port host1=if:a0,$AT0 --patience 2s 2>&1 || echo it fails
echo == taken
ip netns exec h1 python3 -c 'import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 49253)); time.sleep(3)' & taken=$!
sleep 1; (ip netns exec h1 "$0" testbed serve net.toml --name host1 --port host0=if:a1,$AT1) 2>&1 || echo it fails
wait $taken
echo == narrow
ip -n h0 link set a0 mtu 1400
client one.bin net.toml --port host1=if:a0,$AT0 2>&1 || echo it fails
ip -n h0 link set a0 mtu 1500
echo == narrow on the way
ip -n r link set b1 mtu 1400
serve --port host0=if:a1,$AT1 --patience 4s
client one.bin net.toml --port host1=if:a0,$AT0 --patience 3s 2>&1 || echo it fails
wait $server || true
"#;

/// Messages cross an ordinary network, with a router and ARP of the kernel, and what keeps them from it is said.
#[test]
fn hosts_talk_over_a_routed_network() {
    if !tier() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let scenario = SCENARIO.replace("dumbbell:3x2", "star:2").replace("\"3\"", "\"1\"");
    let scenario = scenario.replace("[fabric]\n", "[fabric]\nmtu = 1440\n");
    std::fs::write(at("net.toml"), scenario).unwrap();
    std::fs::create_dir(at("inbox")).unwrap();
    let bytes: Vec<u8> = (0..1_500_000u32).map(|at| (at * 29 + at / 251) as u8).collect();
    std::fs::write(at("one.bin"), bytes).unwrap();
    let mut unshare = Command::new("unshare");
    unshare.args(["-Urnmpf", "sh", "-c", ROUTED, env!("CARGO_BIN_EXE_incast")]);
    let output = unshare.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).to_string();
    let errors = String::from_utf8_lossy(&output.stderr);
    let log = std::fs::read_to_string(at("serve.log")).unwrap_or_default();
    println!("{said}\n{errors}\n{log}");
    assert!(output.status.success(), "{said}\n{errors}\n{log}");
    for name in ["dctcp", "with a key", "ren over its switch", "ren without a switch"] {
        let part = part(&said, name);
        assert!(part.contains("at both ends") && part.contains("host1 serves"), "{part}");
        let blind = part.contains("ren reacts to marks that its own switches make");
        assert_eq!(blind, name == "ren without a switch", "{part}");
    }
    let one = |name: &str, expected: &str| {
        let part = part(&said, name);
        assert!(part.contains(expected) && part.contains("it fails"), "{name}: {part}");
        let errors = part.trim().lines().filter(|line| line.starts_with("error"));
        assert_eq!(errors.count(), 1, "{part}");
    };
    one("nobody", "the gateway 10.1.0.7 has not answered");
    one("duplicate", "has 10.1.0.1 too: give one of them another address");
    one("not there", "10.2.0.2 says that no program has UDP port 49253");
    one("taken", "another program has UDP port 49253 of 10.2.0.2");
    one(
        "narrow",
        "a0 takes packets of at most 1400 bytes (MTU), and 1468 are needed: 1440 of the scenario's",
    );
    let way = "10.1.0.1 says that packets to 10.2.0.2 may have 1400 bytes: set fabric.mtu to 1372 or less";
    one("narrow on the way", way);
}
