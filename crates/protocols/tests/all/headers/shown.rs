//! Wireshark's view of every kind of packet of every transport.

use super::identity::packet;
use super::table::transports;
use incast_transport::{
    Extension, FlowId, Header, HeaderView, HostId, Info, Packet, Rate, Span, Time, TransportId,
    data_flag, flag, tcp_flag,
};
use incast_wire::pcapng::Writer;
use std::fs::File;
use std::io::{BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// The argument that loads the dissector.
const SCRIPT: &str =
    concat!("lua_script:", env!("CARGO_MANIFEST_DIR"), "/../../docs/wireshark/incast.lua");

/// A capture of these packets, a microsecond apart, in a folder of the test.
fn capture(test: &str, packets: &[Packet]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("packets.pcapng");
    let mut writer = Writer::new(BufWriter::new(File::create(&path).unwrap()), "test").unwrap();
    let port = writer.interface("leaf0:port3", Rate::from_gbps(10)).unwrap();
    let mut at = Time::ZERO;
    for packet in packets {
        writer.packet(port, at, packet, &Extension::None).unwrap();
        at += Span::from_us(1);
    }
    writer.finish().unwrap();
    path
}

/// Notes a missing tshark for the end of `make test`.
fn say_skipped() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/skipped");
    let why = ["what Wireshark shows of headers", "tshark is missing"];
    assert!(Command::new(script).args(why).status().unwrap().success());
}

/// tshark's output for a capture, line by line; `None` without tshark.
fn tshark(capture: &Path, arguments: &[String]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.env("LC_ALL", "C").env("WIRESHARK_CONFIG_DIR", capture.with_file_name("config"));
    command.args(["-n", "-X", SCRIPT, "-o", "ip.check_checksum:TRUE", "-r"]).arg(capture);
    let output = match command.args(arguments).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            static SAID: Once = Once::new();
            SAID.call_once(say_skipped);
            return None;
        }
        output => output.unwrap(),
    };
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    for sign in ["Lua:", "Lua Error", "cut short", "isn't a valid"] {
        assert!(!complaints.contains(sign), "{complaints}");
    }
    Some(String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect())
}

/// Values for the fields of a view: different in each field, near the ends of their ranges, with
/// every bit set and not set, and all zero.
fn values(view: &HeaderView) -> Vec<Vec<u32>> {
    let pattern = |round: u32| {
        let fields = (0..).zip(view.fields());
        let value = move |(index, field): (u32, &incast_transport::HeaderField)| match field.bit {
            0 => 0x9abc_def0_u32.rotate_left(8 * index + round).wrapping_add(index) & field.max(),
            _ => (index + round) % 2,
        };
        fields.map(value).collect()
    };
    let most = view.fields().map(|field| field.max()).collect();
    vec![pattern(0), pattern(1), most, vec![]]
}

/// Expected content of a frame.
struct Expected {
    info: &'static Info,
    view: &'static HeaderView,
    packet: Packet,
    values: Vec<u32>,
}

fn expected() -> Vec<Expected> {
    let mut all = vec![];
    for (info, views) in transports() {
        for view in views {
            for values in values(view) {
                let packet = packet(info.id, view, &values);
                // A flag replaces a payload that was cut off.
                let cut = Packet { payload: 0, flags: flag::TRIMMED, ..packet };
                let cut = (view.payload == Some(true)).then_some(cut);
                let codes =
                    view.codes.iter().skip(1).map(|code| Packet { mark: code.mark, ..packet });
                for packet in [packet].into_iter().chain(cut).chain(codes) {
                    all.push(Expected { info, view, packet, values: values.clone() });
                }
            }
        }
    }
    all
}

/// The filter of each field of each kind of packet, and of each transport's codes.
fn filters() -> Vec<String> {
    let mut filters = vec![];
    for (info, views) in transports() {
        for view in views {
            let prefix = format!("incast.{}.{}", info.name, view.filter_name());
            filters.extend(view.fields().map(|field| format!("{prefix}.{}", field.name)));
        }
        if views.iter().any(|view| !view.codes.is_empty()) {
            filters.push(format!("incast.{}.code", info.name));
        }
    }
    filters
}

/// The filters that a frame must show, with values.
fn shown(expected: &Expected) -> Vec<(String, u32)> {
    let Expected { info, view, packet, values } = expected;
    let prefix = format!("incast.{}.{}", info.name, view.filter_name());
    let values = values.iter().copied().chain(std::iter::repeat(0));
    let mut shown: Vec<_> = view
        .fields()
        .zip(values)
        .map(|(f, value)| (format!("{prefix}.{}", f.name), value))
        .collect();
    if !view.codes.is_empty() {
        shown.push((format!("incast.{}.code", info.name), packet.mark.into()));
    }
    shown
}

fn number(text: &str) -> u32 {
    match text {
        "True" => 1,
        "False" => 0,
        _ => text.parse().unwrap_or_else(|_| panic!("`{text}` is no number")),
    }
}

#[test]
fn wireshark_shows_every_field_under_its_name() {
    let all = expected();
    let packets: Vec<Packet> = all.iter().map(|one| one.packet).collect();
    let capture = capture("each_field", &packets);
    let common = ["incast.transport", "incast.transport_name", "incast.view"];
    let valid = ["incast.checksum.good", "ip.checksum.status", "_ws.expert"];
    let mut columns: Vec<String> = common.into_iter().chain(valid).map(String::from).collect();
    let own = filters();
    columns.extend(own.iter().cloned());
    let mut arguments: Vec<String> =
        ["-T", "fields", "-E", "separator=/t"].map(String::from).into();
    arguments.extend(columns.iter().flat_map(|column| [String::from("-e"), column.clone()]));
    let Some(frames) = tshark(&capture, &arguments) else { return };
    assert_eq!(frames.len(), all.len());
    for (frame, expected) in frames.iter().zip(&all) {
        let cells: Vec<&str> = frame.split('\t').collect();
        let (info, view) = (expected.info, expected.view);
        let what = format!("{} {}: {:?}", info.name, view.name, expected.packet);
        assert_eq!(cells[..3], [&info.id.0.to_string(), info.name, view.name], "{what}");
        assert_eq!((number(cells[3]), cells[4], cells[5]), (1, "1", ""), "valid: {what}");
        let found = own.iter().zip(&cells[6..]).filter(|(_, cell)| !cell.is_empty());
        let found: Vec<_> = found.map(|(name, cell)| (name.clone(), number(cell))).collect();
        assert_eq!(found, shown(expected), "{what}");
    }
}

fn raw(transport: u8, header: Header, payload: u16, mark: u8) -> Packet {
    Packet {
        header,
        src: HostId(1),
        dst: HostId(2),
        flow: FlowId(7),
        payload,
        path: 0,
        mark,
        class: 1,
        transport: TransportId(transport),
        flags: 0,
        extension: 0,
    }
}

fn segment(seq: u32, ack: u32, nibble: u8, flags: u8) -> Header {
    Header::Segment { seq, ack, window: 0, nibble, flags }
}

/// Packets by their layouts, and their meaning, independent of the declarations.
fn meanings() -> Vec<(Packet, &'static str)> {
    use tcp_flag::{ACK, ECE, FIN, SYN};
    let data = |seq, tag, flags| Header::Data { seq, offset: seq * 1_460, tag, flags };
    let grant = |seq, request, tag, flags| Header::Grant { seq, request, tag, flags };
    vec![
        (raw(1, segment(2_920, 0, 0, FIN), 900, 2), "dctcp Data sequence=2920 [last] len=900"),
        (
            raw(1, segment(1_460, 4_380, 0, ACK | ECE), 0, 0),
            "dctcp Ack acked=1460 cumulative=4380 [marked] len=0",
        ),
        (raw(2, grant(5, 3, 0, data_flag::REQUEST), 0, 0), "trd Grant acked=5 request=3 [first]"),
        (
            raw(3, data(2, 40, data_flag::UNSCHEDULED), 1_460, 0),
            "phost FreeData packet=2 offset=2920 packets=40 len=1460",
        ),
        (
            raw(3, data(2, 40, data_flag::TAGGED), 1_460, 0),
            "phost TokenData packet=2 offset=2920 token=40 len=1460",
        ),
        (
            raw(
                4,
                Header::Nack { seq: 9, cumulative: 7, number: 30, flags: data_flag::PULL },
                0,
                0,
            ),
            "ndp Nack packet=9 cumulative=7 pull=30 [pulls]",
        ),
        (
            raw(4, Header::Ack { seq: 9, cumulative: 10, number: 0, flags: data_flag::LAST }, 0, 0),
            "ndp Complete packet=9 next=10",
        ),
        (
            raw(4, Header::Pull { cumulative: 7, number: 31, spare: 0, flags: 0 }, 0, 0),
            "ndp Pull cumulative=7 number=31",
        ),
        (raw(7, grant(12, 0, 3, 0), 0, 0), "homa Grant granted=12 class=3"),
        (
            raw(8, grant(12, 4, 3, data_flag::REQUEST), 0, 0),
            "aeolus Grant granted=12 lost=4 class=3 [again]",
        ),
        (
            raw(8, Header::Ack { seq: 8, cumulative: 5, number: 0, flags: data_flag::LAST }, 0, 0),
            "aeolus ProbeAck sent=8 cumulative=5",
        ),
        (
            raw(9, Header::Credit { number: 6, stamp: 1_500, spare: 0, flags: 0 }, 0, 0),
            "expresspass Credit number=6 sent=1500",
        ),
        (
            raw(9, Header::Credited { seq: 4, stamp: 1_500, number: 6, flags: 0 }, 1_460, 0),
            "expresspass Data packet=4 credit_sent=1500 credit=6 len=1460",
        ),
        (
            raw(10, Header::Nack { seq: 0, cumulative: 3, number: 0, flags: 0 }, 0, 0),
            "ccrp Missing first=3",
        ),
        (raw(11, segment(0, 0, 0, 0), 0, 0), "dcqcn Cnp len=0"),
        (raw(15, segment(0, 0, 0, SYN), 0, 0), "rcp Open sequence=0"),
        (raw(15, segment(5_000, 0, 0, FIN), 0, 0), "rcp Close sequence=5000"),
        (raw(17, segment(0, 0, 11, 0), 1_459, 0), "mlcp Data sequence=0 level=11"),
        (raw(21, segment(1_460, 0, 0, 0), 0, 0), "fasttune SwitchAck acked=1460"),
        (
            raw(0x85, grant(1, 0, 9, data_flag::TAGGED), 0, 3),
            "amrt Grant acked=1 request=0 number=9 [numbered] <room>",
        ),
        (
            raw(0x85, data(1, 0, 0), 1_460, 2),
            "amrt Data packet=1 offset=1460 grant_or_rest=0 <saturated>",
        ),
        (raw(0x86, data(1, 0, 0), 1_460, 2), "ren Data packet=1 offset=1460 <over>"),
        (raw(0x86, grant(1, 0, 0, 0), 0, 1), "ren Grant acked=1 request=0 <full>"),
        (raw(0x90, segment(0, 0, 0, 0), 1_460, 3), "vcp Data sequence=0 <overload>"),
        (raw(0x90, segment(0, 1_460, 2, ACK), 0, 0), "vcp Ack acked=0 cumulative=1460 load=2"),
        (
            raw(0x92, segment(1_460, 0, 12, 0), 1_460, 1),
            "decn Data sequence=1460 difference=12 <first>",
        ),
        (
            raw(0x92, segment(1_460, 2_920, 12, ACK), 0, 0),
            "decn Ack acked=1460 cumulative=2920 difference=12 <other>",
        ),
    ]
}

#[test]
fn a_packet_summary_uses_the_names_of_its_transport() {
    let meanings = meanings();
    let packets: Vec<Packet> = meanings.iter().map(|(packet, _)| *packet).collect();
    let capture = capture("summaries", &packets);
    let Some(lines) = tshark(&capture, &[]) else { return };
    assert_eq!(lines.len(), meanings.len());
    for (line, (packet, meaning)) in lines.iter().zip(&meanings) {
        // Number, time, addresses, protocol, bytes, and then the summary.
        let words: Vec<&str> = line.split_whitespace().collect();
        let arrow = words.iter().position(|word| ["→", "->"].contains(word)).expect("an arrow");
        let found = format!("{} {}", words[arrow + 2], words[arrow + 4..].join(" "));
        let found = found.replacen(" flow=7", "", 1);
        assert!(found.starts_with(meaning), "`{found}` is not `{meaning}`: {packet:?}");
    }
}

#[test]
fn wireshark_reports_undeclared_packets() {
    let pull = Header::Pull { cumulative: 1, number: 2, spare: 0, flags: 0 };
    let spare = Header::Pull { cumulative: 1, number: 2, spare: 3, flags: 0 };
    let capture =
        capture("strange", &[raw(7, pull, 0, 0), raw(4, spare, 0, 0), raw(4, pull, 0, 0)]);
    for (complaint, frames) in [("incast.view.unknown", "1"), ("incast.view.unnamed", "2")] {
        let arguments = ["-Y", complaint, "-T", "fields", "-e", "frame.number"].map(String::from);
        let Some(found) = tshark(&capture, &arguments) else { return };
        assert_eq!(found, [frames], "{complaint}");
    }
}
