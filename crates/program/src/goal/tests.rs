use super::*;
use crate::graph::{ANY, Edge, Node, Op, Rank};
use proptest::prelude::*;

fn fault(text: &str) -> String {
    read_goal("x.goal", text.as_bytes()).expect_err(text).to_string()
}

/// 16 MiB from one rank to another: the layout of the file in htsim's collection, by hand.
#[test]
fn the_binary_layout_has_its_known_places() {
    let text = "num_ranks 2\nrank 0 {\nl1: send 16777216b to 1 tag 3\n}\nrank 1 {\nl1: recv 16777216b from 0 tag 3\n}\n";
    let program = read_goal("p2p", text.as_bytes()).unwrap();
    let bytes = write_binary(&program);
    assert_eq!(bytes.len(), 148);
    assert_eq!(bytes[..14], [0x7f, 0x10, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 1]);
    let words: Vec<u64> =
        bytes[14..46].chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
    assert_eq!(words, [38, 89, 89, 140]);
    let node = &bytes[8 + 38..8 + 89];
    assert_eq!(node[..12], [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        node[12..],
        [
            0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        ]
    );
    assert_eq!(read_goal("p2p", &bytes).unwrap(), program);
}

#[test]
fn text_has_comments_labels_options_and_both_kinds_of_edges() {
    let text = "// a program\nnum_ranks 2 /* two\nranks */\nrank 0 {\r\na: calc 500 cpu 2\n\
                b: send 5000000000b to 1 tag 7 cpu 1 nic 3\nb irequires a\n  b requires a\na: calc 1\n}\n\
                rank 1 { recv 10b from -1 tag -1 }";
    let program = read_goal("x", text.as_bytes()).unwrap();
    let [first, second] = program.ranks() else { panic!("two ranks") };
    assert_eq!(first.nodes()[0], Node { op: Op::Calc { ns: 500 }, cpu: 2, nic: 0 });
    let send = Op::Send { to: 1, bytes: 5_000_000_000, tag: 7 };
    assert_eq!(first.nodes()[1], Node { op: send, cpu: 1, nic: 3 });
    assert_eq!((first.at_end(0), first.at_start(0)), (&[1][..], &[1][..]));
    assert_eq!([0, 1, 2].map(|node| first.line(node)), [Some(5), Some(6), Some(9)]);
    assert_eq!(second.nodes()[0].op, Op::Recv { from: ANY, bytes: 10, tag: ANY });
}

#[test]
fn faults_of_text_name_their_line() {
    let rank = |items: &str| format!("num_ranks 2\nrank 0 {{\n{items}\n}}\nrank 1 {{\n}}\n");
    let cases = [
        (rank("a: calc 1\nb: calc 1\na requires c"), 5, "label `c`"),
        (rank("a requires b\nb: calc 1"), 3, "stands above"),
        (rank("a: calc 1\nb: calc 1\na requires b\nb irequires a"), 3, "waits for itself"),
        (rank("send 1b to 2"), 3, "expected a rank from 0 to 1"),
        (rank("recv 1b from -2"), 3, "expected a rank from 0 to 1"),
        (rank("send 1b to 1"), 3, "1 message from rank 0 to rank 1 with tag 0 more than receives"),
        (rank("recv 1b from 1 tag 3"), 3, "1 receive from rank 1 to rank 0 with tag 3 more"),
        (rank("send 1 to 1"), 3, "a number of bytes such as `4096b`"),
        (rank("send 1b to 1 tag -1"), 3, "only a receive takes any"),
        (rank("send 1b to 1 nic 1 cpu 2"), 3, "`cpu`: expected the end of the line"),
        (rank("calc 1 nic 0"), 3, "`nic`: expected cpu"),
        (rank("calc 1 cpu 256"), 3, "0 to 255"),
        (rank("calc 1 cpu"), 3, "without a number"),
        (rank("1a: calc 1"), 3, "expected a letter"),
        (rank("wait 3"), 3, "`wait 3`: expected `[label:] send"),
        ("num_ranks 2\nrank 1 {\n}\n".into(), 2, "expected rank 0, the next in order"),
        ("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n".into(), 4, "num_ranks is 1"),
        ("num_ranks 2\nrank 0 {\n}\n".into(), 3, "ends after 1 ranks: expected 2"),
        ("num_ranks 1\nrank 0 {\ncalc 1\n".into(), 2, "no end"),
        ("num_ranks 1\nrank 0\ncalc 1\n".into(), 3, "expected `{`"),
        ("rank 0 {\n}\n".into(), 1, "`num_ranks N` first"),
        ("num_ranks 0\n".into(), 1, "from 1 to"),
        ("num_ranks 1\n}\n".into(), 2, "`}` without a rank"),
        ("num_ranks 1\n/* rank\n".into(), 2, "without an end"),
    ];
    for (text, line, words) in cases {
        let said = fault(&text);
        assert!(
            said.starts_with(&format!("x.goal:{line}: ")) && said.contains(words),
            "{text}\n{said}"
        );
    }
}

#[test]
fn what_a_rank_sends_to_itself_need_not_be_taken() {
    let program =
        |items: &str| read_goal("x", format!("num_ranks 1\nrank 0 {{\n{items}\n}}\n").as_bytes());
    assert!(program("send 5b to 0").is_ok() && program("send 5b to 0\nrecv 5b from -1").is_ok());
    assert!(program("recv 5b from 0").is_err() && program("recv 5b from -1").is_err());
}

#[test]
fn empty_messages_are_said() {
    let text = "num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n";
    let notices = read_goal("x.goal", text.as_bytes()).unwrap().notices();
    assert_eq!(notices.len(), 1);
    assert_eq!(
        notices[0].to_string(),
        "x.goal: 1 message of 0 bytes, the first in rank 0: sent as 1 byte"
    );
}

#[test]
fn faults_of_binary_files_name_rank_and_node() {
    let text = "num_ranks 2\nrank 0 {\na: calc 5\nb: send 9b to 1\nb requires a\n}\nrank 1 {\nrecv 9b from 0\n}\n";
    let good = write_binary(&read_goal("x", text.as_bytes()).unwrap());
    let first = 8 + 38;
    let said = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        read_goal("x.bin", &bytes).expect_err("it is damaged").to_string()
    };
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let cases: [(Change, &str); 12] = [
        (
            &|b| b[..8].copy_from_slice(&2342u64.to_le_bytes()),
            "x.bin: begins with 2342: the program that writes it",
        ),
        (&|b| b[0] = 1, "expected 4223"),
        (&|b| b.truncate(10), "x.bin: has 10 bytes"),
        (&|b| b[8] = 200, "expected a table of 200 ranks"),
        (&|b| b.truncate(good.len() - 1), "x.bin: rank 1: is from"),
        (&|b| b[14] = 37, "x.bin: rank 0: is from 37"),
        (&|b| b[first] = 9, "x.bin: rank 0: has"),
        (&|b| b[first + 8] = 1, "list of first nodes"),
        (&|b| b[first + 12 + 4] = 7, "x.bin: rank 0, node 0: is of kind 7"),
        (&|b| b[first + 12 + 23] = 2, "x.bin: rank 0, node 0: 2 nodes from 0 on"),
        (
            &|b| b[first + 12] = 1,
            "x.bin: rank 0, node 0: says that it waits for 1 nodes: expected 0",
        ),
        (
            &|b| b[first + 12 + 78] = 5,
            "x.bin: rank 0, node 0: node 5 waits for it: expected a node from 0 to 1",
        ),
    ];
    for (change, words) in cases {
        let said = said(change);
        assert!(said.contains(words), "{said}, not {words}");
    }
}

/// The unused place of a node without followers is 999 or -1 with older writers.
#[test]
fn only_counts_of_followers_are_looked_at() {
    let text = "num_ranks 1\nrank 0 {\ncalc 5\n}\n";
    let program = read_goal("x", text.as_bytes()).unwrap();
    let mut bytes = write_binary(&program);
    let node = 8 + HEAD as usize + ENTRY as usize + 12;
    bytes[node + 27..node + 31].copy_from_slice(&999u32.to_le_bytes());
    bytes[node + 35..node + 39].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read_goal("x", &bytes).unwrap(), program);
}

/// Ranks of any shape whose sends and receives go in pairs.
pub(crate) fn programs() -> impl Strategy<Value = Program> {
    let calcs = prop::collection::vec((0u32..4, any::<u64>(), any::<u8>()), 0..12);
    let size = prop_oneof![0u64..10_000, Just(u64::MAX), Just(1 << 31)];
    let message = (0u32..4, 0u32..4, size, 0u32..3, any::<u8>(), 0u8..3);
    let messages = prop::collection::vec(message, 0..12);
    let edges = prop::collection::vec((0u32..4, any::<u32>(), any::<u32>(), any::<bool>()), 0..20);
    (calcs, messages, edges).prop_map(|(calcs, messages, edges)| {
        let mut ranks: Vec<Vec<Node>> = vec![vec![]; 4];
        for (rank, ns, cpu) in calcs {
            ranks[rank as usize].push(Node { op: Op::Calc { ns }, cpu, nic: 0 });
        }
        for (from, to, bytes, tag, cpu, nic) in messages {
            ranks[from as usize].push(Node { op: Op::Send { to, bytes, tag }, cpu, nic });
            ranks[to as usize].push(Node { op: Op::Recv { from, bytes, tag }, cpu, nic });
        }
        let of = |(nodes, rank): (Vec<Node>, u32)| {
            let own = edges.iter().filter(|(own, ..)| *own == rank && nodes.len() > 1);
            let edge = |(_, a, b, at_start): &(u32, u32, u32, bool)| {
                let (a, b) = (a % nodes.len() as u32, b % nodes.len() as u32);
                (a != b).then(|| Edge { before: a.min(b), after: a.max(b), at_start: *at_start })
            };
            let edges: Vec<Edge> = own.filter_map(edge).collect();
            Rank::new(nodes, &edges)
        };
        Program::new("drawn", ranks.into_iter().zip(0..).map(of).collect()).expect("in pairs")
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(program in programs()) {
        let text = write_text(&program);
        prop_assert_eq!(&read_goal("text", text.as_bytes()).unwrap(), &program);
        let bytes = write_binary(&program);
        let binary = read_goal("binary", &bytes).unwrap();
        prop_assert_eq!(&binary, &program);
        prop_assert_eq!(write_binary(&binary), bytes);
    }

    #[test]
    fn damaged_files_are_refused_or_read(
        program in programs(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        text: bool,
    ) {
        let mut bytes = if text { write_text(&program).into_bytes() } else { write_binary(&program) };
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if cut.index(4) == 0 {
            bytes.truncate(cut.index(bytes.len()));
        }
        match read_goal("damaged", &bytes) {
            Ok(read) => prop_assert_eq!(&read_goal("again", &write_binary(&read)).unwrap(), &read),
            Err(error) => prop_assert!(error.to_string().starts_with("damaged")),
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200), cookie: bool) {
        let mut all = if cookie { COOKIE.to_le_bytes().to_vec() } else { vec![] };
        all.extend(bytes);
        let _ = read_goal("any", &all);
    }
}
