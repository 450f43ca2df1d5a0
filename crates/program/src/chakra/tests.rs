use super::schema::{
    self, Attribute, Bools, COLLECTIVE, COMPUTE, Metadata, Node, RECEIVE, SEND, Value,
};
use super::*;
use crate::compute_alone;
use crate::error::ProgramError;
use crate::graph::Op;
use crate::graph::Program;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use std::io::Write;
use std::sync::Arc;

fn node(id: u64, kind: i32, deps: &[u64], attributes: &[(&str, Value)]) -> Node {
    let attribute = |(name, value): &(&str, Value)| Attribute {
        name: name.to_string(),
        value: Some(value.clone()),
    };
    Node {
        id,
        kind,
        ctrl_deps: vec![],
        data_deps: deps.to_vec(),
        duration_us: 0,
        attributes: attributes.iter().map(attribute).collect(),
    }
}

fn calc(id: u64, deps: &[u64], us: u64, cpu: bool) -> Node {
    Node { duration_us: us, ..node(id, COMPUTE, deps, &[("is_cpu_op", Value::Bool(cpu))]) }
}

fn send(id: u64, deps: &[u64], to: i32, bytes: i64) -> Node {
    node(id, SEND, deps, &[("comm_dst", Value::Int32(to)), ("comm_size", Value::Int64(bytes))])
}

fn receive(id: u64, deps: &[u64], from: i32, bytes: i64) -> Node {
    node(id, RECEIVE, deps, &[("comm_src", Value::Int32(from)), ("comm_size", Value::Int64(bytes))])
}

fn collective(id: u64, deps: &[u64], kind: i64, bytes: i64) -> Node {
    node(
        id,
        COLLECTIVE,
        deps,
        &[("comm_type", Value::Int64(kind)), ("comm_size", Value::Int64(bytes))],
    )
}

/// A file of these nodes.
fn file(nodes: &[Node]) -> Vec<u8> {
    let mut bytes = Metadata { version: "0.0.4".into() }.encode_length_delimited_to_vec();
    nodes.iter().for_each(|node| bytes.extend(node.encode_length_delimited_to_vec()));
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(vec![], Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn read_bytes(files: &[Vec<u8>], groups: ProcessGroups) -> Result<Program, ProgramError> {
    let mut trace = Trace::new("t.0.et", files.len() as u32, groups)?;
    for (rank, bytes) in (0..).zip(files) {
        trace.add(&chakra_file("t.0.et", rank).unwrap(), bytes.as_slice())?;
    }
    trace.finish()
}

fn read(ranks: &[Vec<Node>]) -> Result<Program, ProgramError> {
    let files: Vec<_> = ranks.iter().map(|nodes| file(nodes)).collect();
    read_bytes(&files, ProcessGroups::new())
}

fn fault(ranks: &[Vec<Node>]) -> String {
    read(ranks).expect_err("refused").to_string()
}

#[test]
fn names_of_files_have_the_rank() {
    assert_eq!(chakra_file("a/t.0.et", 17).as_deref(), Some("a/t.17.et"));
    assert_eq!(chakra_file("t.3.et", 0).as_deref(), Some("t.0.et"));
    assert_eq!(chakra_groups_file("a.b.7.et").as_deref(), Some("a.b.json"));
    for other in ["t.et", "t.0.goal", "t.x.et", "t..et", "0.et"] {
        assert_eq!(chakra_file(other, 1), None, "{other}");
    }
}

/// Messages, computations, and what they wait for; also of nodes that come later in the file, and plain or packed.
#[test]
fn nodes_become_steps() {
    let ranks = [
        vec![
            send(9, &[4], 1, 5_000_000_000),
            Node { ctrl_deps: vec![2, 2, 4], ..calc(7, &[4], 3, false) },
            calc(4, &[], 500, true),
            node(2, schema::METADATA, &[], &[]),
        ],
        vec![receive(0, &[], 0, 5_000_000_000), calc(1, &[0], 0, true)],
    ];
    let program = read(&ranks).unwrap();
    let [first, second] = program.ranks() else { panic!("two ranks") };
    let ops: Vec<_> = first.nodes().iter().map(|node| (node.op, node.cpu)).collect();
    let send = Op::Send { to: 1, bytes: 5_000_000_000, tag: 0 };
    let expected = [
        (Op::Calc { ns: 0 }, 3),
        (Op::Calc { ns: 500_000 }, 0),
        (Op::Calc { ns: 3_000 }, 1),
        (send, 0),
    ];
    assert_eq!(ops, expected);
    assert_eq!((first.at_end(0), first.at_end(1)), (&[2][..], &[2, 3][..]));
    assert_eq!(second.at_end(0), [1]);
    let told = program.notices();
    assert_eq!(told.len(), 1);
    assert!(told[0].text.contains("1 nodes that also wait for their `ctrl_deps`"), "{told:?}");

    let files: Vec<_> = ranks.iter().map(|nodes| packed(&file(nodes))).collect();
    assert_eq!(read_bytes(&files, ProcessGroups::new()).unwrap(), program);
}

/// Writers take different members for a whole number.
#[test]
fn any_member_of_a_whole_number_is_taken() {
    let kinds: [fn(u32) -> Value; 10] = [
        |n| Value::Int32(n as i32),
        |n| Value::Int64(n.into()),
        Value::Uint32,
        |n| Value::Uint64(n.into()),
        |n| Value::Sint32(n as i32),
        |n| Value::Sint64(n.into()),
        Value::Fixed32,
        |n| Value::Fixed64(n.into()),
        |n| Value::Sfixed32(n as i32),
        |n| Value::Sfixed64(n.into()),
    ];
    for value in kinds {
        let attributes =
            [("comm_dst", value(1)), ("comm_size", value(777)), ("comm_tag", value(5))];
        let ranks = [
            vec![node(0, SEND, &[], &attributes)],
            vec![node(
                0,
                RECEIVE,
                &[],
                &[("comm_src", value(0)), ("comm_size", value(777)), ("comm_tag", value(5))],
            )],
        ];
        let program = read(&ranks).unwrap();
        assert_eq!(program.ranks()[0].nodes()[0].op, Op::Send { to: 1, bytes: 777, tag: 5 });
    }
}

/// Of an all-gather the size is that of a rank's share, of all others that of all data.
#[test]
fn collectives_have_their_sizes() {
    for (kind, sent) in [
        (0, 2 * 3 * 4_000),
        (2, 4 * 3 * 4_000),
        (6, 3 * 4_000),
        (7, 3 * 4_000),
        (5, 3 * 4_000),
        (9, 24),
    ] {
        let rank = || {
            vec![calc(0, &[], 10, false), collective(1, &[0], kind, 4_000), calc(2, &[1], 5, false)]
        };
        let program = read(&[rank(), rank(), rank(), rank()]).unwrap();
        let bytes = program.messages().map(|(_, _, op)| match op {
            Op::Send { bytes, .. } => bytes,
            _ => unreachable!(),
        });
        assert_eq!(bytes.sum::<u64>(), sent, "{kind}");
        let took = compute_alone(&Arc::new(program));
        assert_eq!(took, [incast_units::Span::from_us(15)], "{kind}");
    }
}

/// Groups are those of the file beside the trace; each counts its collectives in the order of ids.
#[test]
fn process_groups_are_named() {
    let named = |id, group: &str, bytes| {
        let mut node = collective(id, &[], 0, bytes);
        node.attributes
            .push(Attribute { name: "pg_name".into(), value: Some(Value::Text(group.into())) });
        node
    };
    let groups =
        ProcessGroups::from([("tp".to_string(), vec![2, 0]), ("dp".to_string(), vec![0, 1])]);
    let files = |ranks: &[Vec<Node>]| ranks.iter().map(|nodes| file(nodes)).collect::<Vec<_>>();
    let ranks = [
        vec![named(8, "dp", 50), named(3, "tp", 20)],
        vec![named(1, "dp", 50)],
        vec![named(0, "tp", 20)],
    ];
    let program = read_bytes(&files(&ranks), groups.clone()).unwrap();
    let mut sends: Vec<_> = program
        .messages()
        .filter_map(|(from, _, op)| {
            if let Op::Send { to, bytes, .. } = op { Some((from, to, bytes)) } else { None }
        })
        .collect();
    sends.sort_unstable();
    sends.dedup();
    assert_eq!(sends, [(0, 1, 25), (0, 2, 10), (1, 0, 25), (2, 0, 10)]);

    let other = [vec![named(8, "dp", 50)], vec![named(1, "dp", 51)], vec![]];
    let error = read_bytes(&files(&other), groups.clone()).unwrap_err().to_string();
    assert!(
        error.starts_with("t.1.et: node 1, collective 0 of process group `dp`, is AllReduce of 51"),
        "{error}"
    );
    let stranger = [vec![], vec![], vec![named(8, "dp", 50)]];
    let error = read_bytes(&files(&stranger), groups.clone()).unwrap_err().to_string();
    assert!(error.contains("t.2.et: node 8") && error.contains("one of its ranks"), "{error}");
    let unknown = [vec![named(8, "ep", 50)], vec![], vec![]];
    let error = read_bytes(&files(&unknown), groups).unwrap_err().to_string();
    assert!(error.contains("one of `dp`, `tp`, as `t.json` has them"), "{error}");
    let error = read_bytes(&files(&unknown), ProcessGroups::new()).unwrap_err().to_string();
    assert!(error.contains("its ranks in `t.json`"), "{error}");
    for ranks in [vec![0, 3], vec![1, 1]] {
        let groups = ProcessGroups::from([("x".to_string(), ranks)]);
        let error = read_bytes(&files(&unknown), groups).unwrap_err().to_string();
        assert!(error.contains("process group `x` has rank"), "{error}");
    }
}

#[test]
fn faults_name_the_node() {
    let one = |nodes: Vec<Node>| fault(&[nodes, vec![]]);
    let with = |node: Node, name: &str, value: Value| {
        let mut node = node;
        node.attributes.retain(|own| own.name != name);
        node.attributes.push(Attribute { name: name.into(), value: Some(value) });
        one(vec![node])
    };
    let cases = [
        (
            one(vec![calc(1, &[2], 5, true), calc(2, &[1], 5, true)]),
            "t.0.et: node 1 waits for itself",
        ),
        (one(vec![calc(1, &[1], 5, true)]), "t.0.et: node 1 waits for itself"),
        (
            one(vec![calc(1, &[7], 5, true)]),
            "t.0.et: node 1 waits for node 7: expected a node of the same file",
        ),
        (one(vec![calc(1, &[], 5, true), calc(1, &[], 5, true)]), "two nodes have the id 1"),
        (one(vec![node(1, 0, &[], &[])]), "node 1: is of type 0: expected 1 (metadata)"),
        (one(vec![node(1, 8, &[], &[])]), "node 1: is of type 8"),
        (
            one(vec![node(4, SEND, &[], &[("comm_size", Value::Int64(5))])]),
            "node 4: has no comm_dst",
        ),
        (
            one(vec![send(4, &[], 2, 5)]),
            "node 4: comm_dst `2`: expected a whole number from 0 to 1",
        ),
        (one(vec![send(4, &[], 1, -5)]), "node 4: comm_size `-5`"),
        (
            with(send(4, &[], 1, 5), "comm_size", Value::Text("5".into())),
            "node 4: comm_size of another type",
        ),
        (
            with(send(4, &[], 1, 5), "comm_src", Value::Int32(1)),
            "node 4: comm_src 1 in the file of rank 0",
        ),
        (with(send(4, &[], 1, 5), "comm_tag", Value::Uint32(1 << 31)), "comm_tag `2147483648`"),
        (with(calc(4, &[], 1, true), "is_cpu_op", Value::Double(1.0)), "is_cpu_op of another type"),
        (one(vec![calc(3, &[], u64::MAX, true)]), "node 3: duration of"),
        (one(vec![collective(3, &[], 4, 5)]), "node 3: comm_type 4: expected 0 (all-reduce)"),
        (
            one(vec![collective(3, &[], 2, i64::MAX), collective(4, &[], 2, -1)]),
            "node 4: comm_size `-1`",
        ),
        (
            with(
                collective(3, &[], 0, 5),
                "involved_dim",
                Value::Bools(Bools { values: vec![true, false] }),
            ),
            "node 3: involved_dim leaves dimensions out",
        ),
        (one(vec![send(6, &[], 1, 5)]), "t.0.et: rank 0, node 6: 1 message from rank 0 to rank 1"),
        (
            one(vec![calc(0, &[], 1, true), receive(9, &[], 1, 5)]),
            "rank 0, node 9: 1 receive from rank 1",
        ),
        (one(vec![collective(5, &[], 0, 4)]), "rank 0, node 5: 2 receives from rank 1 to rank 0"),
    ];
    for (fault, part) in cases {
        assert!(fault.contains(part), "{part}: {fault}");
    }
    let error = fault(&[vec![collective(3, &[], 2, i64::MAX)], vec![], vec![]]);
    assert!(error.contains("comm_size times ranks"), "{error}");
    // All dimensions are no choice.
    let mut all = collective(3, &[], 0, 5);
    let value = Some(Value::Bools(Bools { values: vec![true; 4] }));
    all.attributes.push(Attribute { name: "involved_dim".into(), value });
    assert!(read(&[vec![all.clone()], vec![all]]).is_ok());
}

/// A file that is cut off anywhere is refused or has fewer nodes; nothing panics.
#[test]
fn damaged_files_are_refused() {
    let whole = file(&[calc(1, &[], 5, true), calc(2, &[1], 5, true)]);
    let nodes = |bytes: &[u8]| {
        read_bytes(&[bytes.to_vec()], ProcessGroups::new())
            .map(|program| program.ranks()[0].nodes().len())
    };
    assert_eq!(nodes(&whole), Ok(2));
    let mut read = vec![];
    for end in 0..whole.len() {
        match nodes(&whole[..end]) {
            Ok(count) => read.push(count),
            Err(error) => assert!(error.to_string().starts_with("t.0.et: "), "{error}"),
        }
    }
    assert_eq!(read, [0, 1]);
    let packed = packed(&whole);
    for end in 0..packed.len() {
        assert!(nodes(&packed[..end]).is_err(), "{end}");
    }
    let cases: [(&[u8], &str); 4] = [
        (b"", "is empty"),
        (b"\x00\xff\xff\xff\xff\x7f", "node 0 of the file has 34359738367 bytes"),
        (&[0xff; 30], "its metadata has a length of more than ten bytes"),
        (b"\x00\x02\x08", "of which the file has 1: it is cut off"),
    ];
    for (bytes, part) in cases {
        let error = nodes(bytes).unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    // A text in place of a number.
    let wrong = [&[0u8, 4][..], &[0x0a, 2, b'a', b'b']].concat();
    assert!(nodes(&wrong).unwrap_err().to_string().contains("node 0 of the file is damaged"));
}
