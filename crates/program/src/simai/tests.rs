use super::*;
use crate::graph::{Op, Rank};
use crate::{Execution, Issue, Orders, read_program};
use incast_units::Time;
use std::fmt::Write;
use std::sync::Arc;

const HEAD: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 \
                    checkpoints: 0 checkpoint_initiates: 0";

fn fault(text: &str) -> String {
    let read = Workload::read("w.txt", text).and_then(|load| load.program());
    read.expect_err(text).to_string()
}

fn load(text: &str) -> Workload {
    Workload::read("w.txt", text).unwrap_or_else(|error| panic!("{error}"))
}

/// Kind, peer, bytes of what a rank does.
fn ops(rank: &Rank) -> Vec<(char, u64, u64)> {
    let op = |op| match op {
        Op::Send { to, bytes, .. } => ('s', u64::from(to), bytes),
        Op::Recv { from, bytes, .. } => ('r', u64::from(from), bytes),
        Op::Calc { ns } => ('c', ns, 0),
    };
    rank.nodes().iter().map(|node| op(node.op)).collect()
}

/// All ranks with messages that take `ns` each; when each rank is done, in nanoseconds.
fn run(program: crate::Program, ns: u64) -> Vec<u64> {
    let program = Arc::new(program);
    let count = program.ranks().len() as u32;
    let mut ranks: Vec<Execution> =
        (0..count).map(|rank| Execution::new(program.clone(), rank, Issue::Free)).collect();
    let mut moving = std::collections::BTreeSet::new();
    let mut orders = Orders::default();
    let collect =
        |now: Time, rank: u32, orders: &mut Orders, moving: &mut std::collections::BTreeSet<_>| {
            moving
                .extend(orders.sends.drain(..).map(|node| (Time(now.0 + ns * 1_000), rank, node)));
        };
    for rank in 0..count {
        ranks[rank as usize].begin(Time::ZERO, &mut orders);
        collect(Time::ZERO, rank, &mut orders, &mut moving);
    }
    loop {
        let wake = ranks.iter().filter_map(Execution::deadline).min();
        let next = moving.first().map(|one: &(Time, u32, u32)| one.0);
        let Some(now) = wake.into_iter().chain(next).min() else { break };
        for rank in 0..count {
            if ranks[rank as usize].deadline().is_some_and(|end| end <= now) {
                ranks[rank as usize].wake(now, &mut orders);
                collect(now, rank, &mut orders, &mut moving);
            }
        }
        while moving.first().is_some_and(|one| one.0 <= now) {
            let (_, from, node) = moving.pop_first().unwrap();
            let Op::Send { to, .. } = program.ranks()[from as usize].nodes()[node as usize].op
            else {
                unreachable!()
            };
            ranks[to as usize].received(now, from, node, &mut orders);
            collect(now, to, &mut orders, &mut moving);
            ranks[from as usize].acknowledged(now, node, &mut orders);
            collect(now, from, &mut orders, &mut moving);
        }
    }
    let end = |rank: &Execution| {
        rank.times().ended.unwrap_or_else(|| panic!("{:?}", rank.blocked())).0 / 1_000
    };
    ranks.iter().map(end).collect()
}

/// Forward through layers, then backward: each collective in its group, as SimAI's loop has it.
#[test]
fn a_rank_goes_forward_then_backward() {
    let text = format!(
        "{HEAD}\n2\nfirst -1 10 ALLREDUCE 1000 20 NONE 0 30 ALLGATHER 800 5\n\
         second\t-1\t1\tNONE\t0\t2\tREDUCESCATTER\t100\t3\tNONE\t0\t7"
    );
    let load = load(&text);
    assert!(load.notices().is_empty(), "{:?}", load.notices());
    assert_eq!((load.layers(), load.groups().dp()), (2, 2));
    // Rank 1: TP with 0, DP with 3.
    let rank = load.rank(1);
    assert_eq!(
        ops(&rank),
        [
            ('c', 10, 0),
            ('s', 0, 500),
            ('r', 0, 500),
            ('s', 0, 500),
            ('r', 0, 500),
            ('c', 5, 0),
            ('c', 1, 0),
            ('c', 2, 0),
            ('s', 0, 50),
            ('r', 0, 50),
            ('c', 7, 0),
            ('c', 3, 0),
            ('c', 20, 0),
            ('c', 30, 0),
            ('s', 3, 400),
            ('r', 3, 400),
            ('c', 5, 0),
        ]
    );
    assert_eq!((rank.line(0), rank.line(6), rank.line(13)), (Some(3), Some(4), Some(3)));
    let program = load.program().unwrap();
    assert_eq!(load.count_messages(), program.messages().count() as u64);
    let steps: usize = program.ranks().iter().map(|rank| rank.nodes().len()).sum();
    assert_eq!(load.count_steps(), steps as u64);
    // 10, twice 100, 5, 1, 2, 100, 7, 3, 20, 30, 100, 5.
    assert_eq!(run(program, 100), [483; 4]);
}

/// What is computed in the meantime hides a collective of weight gradients; those of one kind of group take turns.
#[test]
fn weight_gradients_are_exchanged_meanwhile() {
    let text = format!(
        "{HEAD}\n2\na -1 0 NONE 0 50 NONE 0 0 ALLGATHER 800 0\nb -1 0 NONE 0 0 NONE 0 0 ALLGATHER 800 0\n"
    );
    // The second layer's takes 0 to 100; the first one's is wanted at 50 and goes on at 100.
    assert_eq!(run(load(&text).program().unwrap(), 100), [200; 4]);
    let text = text.replacen("0 50 NONE", "0 170 NONE", 1);
    assert_eq!(run(load(&text).program().unwrap(), 100), [270; 4]);
}

/// Suffixes name groups; without one it is that of the pass. Groups of one rank and collectives without bytes are none.
#[test]
fn suffixes_name_groups() {
    let head = HEAD.replace("all_gpus: 4", "all_gpus: 16").replace("ep: 1", "ep: 4");
    let layer = "a -1 0 ALLTOALL_EP 4000 0 ALLTOALL 100 0 REDUCESCATTER_DP_EP 64 0";
    let load = load(&format!("{head}\n1\n{layer}\n"));
    let peers = |rank: u32| -> Vec<u64> {
        ops(&load.rank(rank)).iter().filter(|one| one.0 == 's').map(|one| one.1).collect()
    };
    assert_eq!(peers(5), [7, 1, 3, 4, 13]);
    let bytes = load.bytes_by_group();
    // TP 16 * 50, EP 16 * 3 * 1000, DP_EP 16 * 32.
    assert_eq!(bytes, [800, 0, 48_000, 512, 0]);
    let sent = load.program().unwrap();
    let sizes =
        sent.messages().map(|(_, _, op)| if let Op::Send { bytes, .. } = op { bytes } else { 0 });
    assert_eq!(sizes.sum::<u64>(), bytes.iter().sum());

    let alone = HEAD.replace("group: 2", "group: 4");
    let load =
        self::load(&format!("{alone}\n1\na -1 1 REDUCESCATTER 0 0 NONE 0 2 ALLREDUCE 800 9\n"));
    assert_eq!(ops(&load.rank(0)), [('c', 1, 0), ('c', 2, 0)]);
}

fn pipeline(stages: u32, batches: u32) -> String {
    let mut text = format!(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: {stages} vpp: 1 ga: {batches} all_gpus: {stages} \
         checkpoints: 0 checkpoint_initiates: 0 pp_comm: 4096.0\n{}\n",
        1 + 2 * batches
    );
    text += "grad_gather -1 0 NONE 0 0 NONE 0 0 NONE 0 100\n";
    for _ in 0..batches {
        text += "embedding_layer -1 400 NONE 0 700 NONE 0 0 NONE 0 100\n";
        text += "mlp -1 600 NONE 0 1300 NONE 0 0 NONE 0 100\n";
    }
    text
}

/// All micro-batches forward, then backward: (u + p - 1)(f + b) and p - 1 messages on the path each way.
#[test]
fn a_pipeline_takes_its_known_time() {
    for (p, u, c) in [(4u64, 8, 0), (4, 8, 250), (2, 1, 40), (3, 5, 999)] {
        let load = load(&pipeline(p as u32, u as u32));
        let program = load.program().unwrap();
        assert_eq!(program.messages().count() as u64, 2 * u * (p - 1));
        assert_eq!(load.count_messages(), 2 * u * (p - 1));
        let first = *run(program, c).first().unwrap();
        assert_eq!(first, (u + p - 1) * (1_000 + 2_000) + 2 * (p - 1) * c, "{p} {u} {c}");
    }
    let told: Vec<String> =
        load(&pipeline(2, 3)).notices().iter().map(|one| one.text.clone()).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("2 stages of neighbouring ranks"), "{told:?}");
}

/// What the file does not say is told.
#[test]
fn what_is_taken_is_told() {
    let layer = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 800 1";
    let told = |text: &str| -> String {
        load(text).notices().iter().map(|one| one.text.clone() + "\n").collect()
    };
    let head = "HYBRID_TRANSFORMER all_gpus: 4";
    let all = told(&format!("{head}\n1\n{layer}\nmore\n"));
    for part in
        ["one tensor-parallel group of all 4", "`ep:` 1, `pp:` 1, `ga:` 1", "1 more lines are left"]
    {
        assert!(all.contains(part), "{part}: {all}");
    }
    let head = HEAD.replace("pp: 1", "pp: 2").replace("vpp: 2", "vpp: 1");
    assert!(told(&format!("{head}\n1\n{layer}\n")).contains("`pp_comm` is not there"));
    let head = head.replace("vpp: 1", "vpp: 3") + " pp_comm 99";
    let all = told(&format!("{head}\n1\n{layer}\n"));
    assert!(
        all.contains("one micro-batch: `ga` says 1, but 0 layers") && all.contains("`vpp` is 3"),
        "{all}"
    );
}

/// Layers between checkpoints go forward again, from the checkpoint up to the one that begins it.
#[test]
fn checkpoints_repeat_forward_passes() {
    let head = HEAD.replace(
        "checkpoints: 0 checkpoint_initiates: 0",
        "checkpoints: 2 0 2 checkpoint_initiates: 2 1 3",
    );
    let mut text = format!("{head}\n4\n");
    (1..5).for_each(|n| writeln!(text, "l{n} -1 {n} NONE 0 {n}0 NONE 0 {n}00 NONE 0 0").unwrap());
    let load = load(&text);
    let times: Vec<u64> = ops(&load.rank(0)).iter().map(|one| one.1).collect();
    assert_eq!(times, [1, 2, 3, 4, 3, 40, 400, 30, 300, 1, 20, 200, 10, 100]);
    assert_eq!(load.notices().len(), 1);
}

#[test]
fn faults_name_their_line() {
    let layer = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 800 1\n";
    let with = |from: &str, to: &str| format!("{}\n1\n{layer}", HEAD.replace(from, to));
    let cases = [
        (String::new(), 1, "an empty line"),
        (
            format!("DATA all_gpus: 4\n1\n{layer}"),
            1,
            "expected one of HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_TRANSFORMER",
        ),
        (with("all_gpus: 4", ""), 1, "`all_gpus: N`"),
        (with("all_gpus: 4", "all_gpus: 0"), 1, "`all_gpus: N`"),
        (with("all_gpus: 4", "all_gpus: 9999999999"), 1, "from 1 to 4194304"),
        (with("group: 2", "group: 3"), 1, "model_parallel_NPU_group 3: expected a divisor of 4"),
        (with("pp: 1", "pp: 4"), 1, "pp 4: expected a divisor of 2"),
        (with("ep: 1", "ep: 3"), 1, "ep 3: expected a divisor of 2"),
        (with("ga: 1", "ga: x"), 1, "ga `x`"),
        (with("ga: 1", "ga: 1.5"), 1, "ga `1.5`"),
        (with("checkpoints: 0", "checkpoints: 9"), 1, "with 2 words behind it"),
        (with("checkpoints: 0", "checkpoints: 1 1"), 1, "checkpoint at layer 1"),
        (with("checkpoint_initiates: 0", "checkpoint_initiates: 1 0"), 1, "a layer in checkpoints"),
        (format!("{HEAD} pp_comm\n1\n{layer}"), 1, "`pp_comm` without a value"),
        (HEAD.into(), 2, "number of layers ``"),
        (format!("{HEAD}\n0\n"), 2, "number of layers `0`"),
        (format!("{HEAD}\n2\n{layer}"), 3, "the file ends after 1 layers: expected 2"),
        (format!("{HEAD}\n1\na -1 1 NONE 0\n"), 3, "5 words: expected 12"),
        (format!("{HEAD}\n1\na\n"), 3, "1 word: expected 12"),
        (format!("{HEAD}\n1\n{}", layer.replace("-1", "x")), 3, "dependency `x` of `a`"),
        (
            format!("{HEAD}\n1\n{}", layer.replace("ALLREDUCE", "ALLREDUCEALLTOALL")),
            3,
            "weight gradient collective",
        ),
        (format!("{HEAD}\n1\n{}", layer.replace("ALLREDUCE", "ALLREDUC")), 3, "ALLREDUCE"),
        (format!("{HEAD}\n1\n{}", layer.replace("800", "-8")), 3, "weight gradient bytes `-8`"),
        (
            format!("{HEAD}\n1\n{}", layer.replacen(" 1 ", " 99999999999999999999 ", 1)),
            3,
            "forward time",
        ),
        (with("all_gpus: 4", "all_gpus: 4194304"), 2, "4194304 ranks with 1 layers take"),
    ];
    for (text, line, part) in cases {
        let fault = fault(&text);
        assert!(fault.starts_with(&format!("w.txt:{line}: ")), "{fault}\n{text}");
        assert!(fault.contains(part), "{part}: {fault}");
    }
}

/// Sizes above 2^32 and beyond are what they say.
#[test]
fn large_sizes_are_what_they_say() {
    let text = format!("{HEAD}\n1\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 77309411328 0\n");
    assert_eq!(ops(&load(&text).rank(0))[0], ('s', 2, 38_654_705_664));
}

/// As large as SimAI's example of 9,216 GPUs with 1,789 layers: what all ranks send is counted without making it, and a rank
/// is made when it is asked for.
#[test]
fn a_large_job_is_counted_without_being_held() {
    let mut text = String::from(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 16 pp: 12 vpp: 8 ga: 24 all_gpus: 9216 checkpoints: 0 \
         checkpoint_initiates: 0 pp_comm 251658240\n1789\n",
    );
    for number in 0..6 {
        writeln!(
            text,
            "grad{number}\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER_DP_EP\t19327352832\t100"
        )
        .unwrap();
    }
    for _ in 0..24 {
        text +=
            "embedding_layer\t-1\t622731\tALLREDUCE\t50331648\t1\tNONE\t0\t875420\tNONE\t0\t100\n";
        for _ in 0..72 {
            text += "mlp_moelayer\t-1\t1\tALLTOALL_EP\t100663296\t1\tALLTOALL_EP\t100663296\t1\tNONE\t0\t100\n";
        }
        text += "final_column\t-1\t875420\tALLGATHER\t50331648\t875420\tREDUCESCATTER\t0\t875420\tNONE\t0\t100\n";
    }
    (0..7).for_each(|_| text += "optimizer\t-1\t0\tALLREDUCE\t4\t0\tNONE\t0\t0\tNONE\t0\t100\n");
    let load = load(&text);
    assert_eq!(
        (load.layers(), load.groups().dp(), load.groups().size(Group::DpEp)),
        (1_789, 384, 24)
    );
    // Per rank: 6 * 23 gathers, 24 * (2 + 1) and 7 * 2 in TP, 24 * 72 * 2 * 15 among experts.
    let own = 6 * 23 + 24 * 3 + 7 * 2 + 24 * 72 * 2 * 15;
    assert_eq!(load.count_messages(), 9_216 * own + 2 * 24 * 11 * 768);
    let rank = load.rank(9_215);
    assert_eq!(
        rank.nodes().iter().filter(|node| matches!(node.op, Op::Send { .. })).count() as u64,
        own + 24
    );
    assert!(fault(&text).contains("w.txt:2: 9216 ranks with 1789 layers take"));
    // Its first layers can be run: line 2 counts them.
    let few = text.replace("\n1789\n", "\n1\n");
    assert_eq!(self::load(&few).program().unwrap().messages().count(), 9_216 * 23 + 2 * 11 * 768);
}

#[test]
fn files_are_recognised_by_content() {
    let text = format!("{HEAD}\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 800 1\n");
    assert_eq!(read_program("x", text.as_bytes()).unwrap().ranks().len(), 4);
    let goal = "num_ranks 1\nrank 0 {\ncalc 5\n}\n";
    assert_eq!(read_program("x", goal.as_bytes()).unwrap().ranks().len(), 1);
    let other = format!("MICRO model_parallel_NPU_group: 2\n{}", &text[HEAD.len()..]);
    assert!(read_program("x", other.as_bytes()).unwrap_err().to_string().contains("policy"));
    let bad = [HEAD.as_bytes(), b"\n1\n\xff"].concat();
    assert!(read_program("x", &bad).unwrap_err().to_string().starts_with("x:3: the byte 0xff"));
}
