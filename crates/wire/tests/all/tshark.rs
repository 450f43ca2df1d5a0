//! Captures and the shipped dissector in Wireshark.

use crate::common;
use std::io::{BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use incast_units::{Rate, Time};
use incast_wire::pcapng::Writer;
use incast_wire::{Extension, Header, INT_HOPS, IntRecord, Packet, TransportId, encode, flag};

/// The argument that loads the dissector.
const SCRIPT: &str =
    concat!("lua_script:", env!("CARGO_MANIFEST_DIR"), "/../../docs/wireshark/incast.lua");

/// A transport that the dissector does not know, so that it shows plain layouts. The views of the
/// catalogue's transports are tested in `crates/protocols/tests/headers`.
const UNKNOWN: TransportId = TransportId(99);

fn packet(header: Header, extension: &Extension) -> Packet {
    Packet { transport: UNKNOWN, ..common::packet(header, extension) }
}

fn all_packets() -> Vec<(Packet, Extension)> {
    let unknown = |(packet, extension)| (Packet { transport: UNKNOWN, ..packet }, extension);
    common::all_packets().into_iter().map(unknown).collect()
}

/// An empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether there is a tshark; if not, notes it for the end of `make test`.
fn there() -> bool {
    let found = Command::new("tshark").arg("--version").output();
    if !matches!(&found, Err(error) if error.kind() == ErrorKind::NotFound) {
        return true;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/skipped");
    let why = ["what Wireshark reads of captures", "tshark is missing"];
    assert!(Command::new(script).args(why).status().unwrap().success());
    false
}

/// Runs tshark on a capture and returns its output. tshark exits with success even if a script
/// fails, so its messages are checked too.
fn tshark(capture: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("tshark");
    command.env("LC_ALL", "C").env("WIRESHARK_CONFIG_DIR", capture.with_file_name("config"));
    command.arg("-n").arg("-r").arg(capture).args(["-o", "ip.check_checksum:TRUE"]);
    let output = command.args(arguments).output().expect("tshark does not run");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    for sign in ["Lua:", "Lua Error", "cut short", "isn't a valid"] {
        assert!(!complaints.contains(sign), "{complaints}");
    }
    String::from_utf8(output.stdout).unwrap()
}

/// The given fields of each frame.
fn fields_of(capture: &Path, arguments: &[&str], fields: &[String]) -> Vec<Vec<String>> {
    let mut all = arguments.to_vec();
    all.extend(["-T", "fields", "-E", "separator=/t"]);
    all.extend(fields.iter().flat_map(|field| ["-e", field]));
    let text = tshark(capture, &all);
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn with_dissector(capture: &Path, arguments: &[&str], fields: &[String]) -> Vec<Vec<String>> {
    fields_of(capture, &[&["-X", SCRIPT], arguments].concat(), fields)
}

fn names(fields: &[&str]) -> Vec<String> {
    fields.iter().map(|&field| field.to_owned()).collect()
}

/// Writes packets one microsecond and 1.5 ns apart, alternating between two ports.
fn write(path: &Path, packets: &[(Packet, Extension)]) {
    write_cut(path, packets, 0);
}

/// The same, cut at a length.
fn write_cut(path: &Path, packets: &[(Packet, Extension)], snap_length: u32) {
    let file = BufWriter::new(std::fs::File::create(path).unwrap());
    let mut writer = Writer::with_snap_length(file, "incast test", snap_length).unwrap();
    let ports = ["leaf0->host3", "spine1->leaf0"]
        .map(|name| writer.interface(name, Rate::from_gbps(100)).unwrap());
    for (i, (packet, extension)) in packets.iter().enumerate() {
        let at = Time(i as u64 * 1_001_500);
        writer.packet(ports[i % 2], at, packet, extension).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn wireshark_reads_what_we_write() {
    if !there() {
        return;
    }
    let capture = folder("plain").join("plain.pcapng");
    let packets = all_packets();
    write(&capture, &packets);
    let fields = names(&[
        "frame.time_epoch",
        "frame.interface_name",
        "frame.len",
        "ip.checksum.status",
        "ip.proto",
        "ip.src",
        "ip.dst",
        "ip.dsfield.ecn",
        "ip.len",
        "eth.src",
        "_ws.expert",
    ]);
    let frames = fields_of(&capture, &[], &fields);
    assert_eq!(frames.len(), packets.len());
    for (i, (frame, (packet, _))) in frames.iter().zip(&packets).enumerate() {
        let ns = i as u64 * 1_001_500 / 1000;
        let expected = [
            format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            ["leaf0->host3", "spine1->leaf0"][i % 2].to_owned(),
            (14 + packet.ip_bytes()).to_string(),
            "1".to_owned(), // good
            "253".to_owned(),
            "10.0.0.1".to_owned(),
            "10.2.3.4".to_owned(),
            packet.mark.to_string(),
            packet.ip_bytes().to_string(),
            "02:00:00:00:00:01".to_owned(),
            String::new(),
        ];
        assert_eq!(frame[..], expected, "frame {}: {packet:?}", i + 1);
    }
}

/// A capture of IPv4 packets as they are.
fn write_raw(path: &Path, packets: &[Vec<u8>]) {
    const RAW_IP: u32 = 101;
    let mut file = vec![];
    let mut words = |words: &[u32]| file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, RAW_IP]);
    for packet in packets {
        let length = packet.len() as u32;
        file.extend([0, 0, length, length].iter().flat_map(|word: &u32| word.to_le_bytes()));
        file.extend_from_slice(packet);
    }
    std::fs::write(path, file).unwrap();
}

/// An IPv4 packet of protocol 254.
fn hello(text: &str) -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 1, 254, 0, 0, 10, 0, 0, 0, 10, 0, 0, 0];
    bytes[2..4].copy_from_slice(&(20 + text.len() as u16).to_be_bytes());
    let sum = incast_wire::checksum(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[test]
fn hellos_are_named_and_their_words_shown() {
    if !there() {
        return;
    }
    let capture = folder("hello").join("hello.pcap");
    let text = "incast-hello 0.2.0 4d2 host0 7 1f 0 0 12 0 1 -7:500, 5dc -";
    let with_sum = |text: &str| format!("{text} {:x}", incast_wire::checksum(text.as_bytes()));
    let damaged = with_sum(text).replace("host0", "host1");
    let other = "GET / HTTP/1.0".to_string();
    let all = [with_sum(text), damaged, other];
    write_raw(&capture, &all.map(|text| hello(&text)));
    let fields = names(&[
        "_ws.col.Protocol",
        "_ws.col.Info",
        "incast_hello.name",
        "incast_hello.asks",
        "incast_hello.trips",
        "incast_hello.checksum.good",
        "incast_hello.bad",
    ]);
    let seen = with_dissector(&capture, &[], &fields);
    let info = "Hello from host0 port 7, hears nobody yet";
    let row = |frame: usize| seen[frame].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(row(0)[..5], ["Incast hello", info, "host0", "12", "-7:500,"]);
    assert_eq!(row(0)[5], "1");
    assert_eq!((row(1)[2], row(1)[5], row(1)[6].is_empty()), ("host1", "0", false));
    assert_eq!((row(2)[1], row(2)[6].is_empty()), ("no hello of this version", false));
}

/// A packet in a datagram of an ordinary network is shown as one that comes as it is.
#[test]
fn packets_in_datagrams_are_shown() {
    if !there() {
        return;
    }
    let capture = folder("udp").join("udp.pcap");
    let datagram = |packet: &[u8]| {
        let (udp, ip) = (8 + packet.len(), 28 + packet.len());
        let mut bytes = vec![0x45, 0, (ip >> 8) as u8, ip as u8, 0, 0, 0x40, 0, 64, 17, 0, 0];
        bytes.extend_from_slice(&[10, 1, 0, 2, 10, 2, 0, 2]);
        let sum = incast_wire::checksum(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend_from_slice(&[0xc0, 0x65, 0xc0, 0x65, (udp >> 8) as u8, udp as u8, 0, 0]);
        bytes.extend_from_slice(packet);
        bytes
    };
    let (packet, extension) = all_packets().remove(0);
    let mut bytes = vec![];
    encode(&packet, &extension, &mut bytes);
    let text = "incast-hello 0.2.0 4d2 host0 7 1f 0 0 12 0 1 - 0 -";
    let text = format!("{text} {:04x}", incast_wire::checksum(text.as_bytes()));
    write_raw(&capture, &[datagram(&bytes), datagram(&hello(&text))]);
    let fields = names(&["incast.flow", "incast.checksum.bad", "incast_hello.name", "ip.dst"]);
    let seen = with_dissector(&capture, &[], &fields);
    assert_eq!((&seen[0][0], seen[0][1].is_empty()), (&packet.flow.0.to_string(), true));
    assert!(seen[0][3].starts_with("10.2.0.2,10."), "both addresses: {:?}", seen[0]);
    assert_eq!(seen[1][2], "host0");
}

/// What a packet carries is data, and no part of the transport's header.
#[test]
fn payload_is_shown_as_payload() {
    if !there() {
        return;
    }
    let capture = folder("payload").join("payload.pcapng");
    write(&capture, &all_packets());
    let fields = names(&["frame.len", "incast.payload", "data.len", "incast"]);
    let seen = with_dissector(&capture, &[], &fields);
    let mut carrying = 0;
    for (frame, (packet, _)) in seen.iter().zip(all_packets()) {
        let expected = if packet.payload > 0 { packet.payload.to_string() } else { String::new() };
        assert_eq!(frame[2], expected, "{packet:?}");
        carrying += (packet.payload > 0) as u32;
    }
    assert!(carrying > 5, "{carrying}");
}

/// 120 bytes of each packet hold every header: the same fields, the length as it was.
#[test]
fn a_capture_cut_at_a_length_has_every_header() {
    if !there() {
        return;
    }
    let folder = folder("snap");
    let (whole, cut) = (folder.join("whole.pcapng"), folder.join("cut.pcapng"));
    let packets = all_packets();
    write(&whole, &packets);
    write_cut(&cut, &packets, 120);
    let shown = names(&["frame.len", "incast.kind", "incast.flow", "ip.checksum.status"]);
    let read = |capture: &Path| with_dissector(capture, &[], &shown);
    assert_eq!(read(&whole), read(&cut));
    let lengths = fields_of(&cut, &[], &names(&["frame.len", "frame.cap_len"]));
    let mut shorter = 0;
    for length in &lengths {
        let [long, kept] = [&length[0], &length[1]].map(|text| number(text));
        assert_eq!(kept, long.min(120));
        shorter += (kept < long) as u32;
    }
    assert!(shorter > 0 && lengths.len() == packets.len());
}

/// Names and values of a header's fields, from its `Debug` output, so that new kinds are covered.
fn own_fields(header: &Header) -> Vec<(String, u32)> {
    let text = format!("{header:?}");
    let (kind, rest) = text.split_once(" { ").unwrap();
    let pairs = rest.trim_end_matches(" }").split(", ").map(|pair| {
        let (name, value) = pair.split_once(": ").unwrap();
        (format!("incast.{}.{name}", kind.to_lowercase()), value.parse().unwrap())
    });
    pairs.collect()
}

fn number(text: &str) -> u32 {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap_or_else(|_| panic!("`{text}` is no number")),
    }
}

#[test]
fn the_dissector_shows_every_field_of_every_kind() {
    if !there() {
        return;
    }
    let capture = folder("kinds").join("kinds.pcapng");
    let packets = all_packets();
    write(&capture, &packets);
    let common =
        ["flow", "transport", "kind", "flags", "checksum.good", "payload", "extension.count"];
    let mut fields: Vec<String> = common.map(|name| format!("incast.{name}")).into();
    fields.push("_ws.expert".to_owned());
    let own: Vec<String> = Header::samples(0, 0)
        .iter()
        .filter(|header| !matches!(header, Header::Pause { .. }))
        .flat_map(|header| own_fields(header).into_iter().map(|(name, _)| name))
        .collect();
    fields.extend(own.iter().cloned());
    let frames = with_dissector(&capture, &[], &fields);
    assert_eq!(frames.len(), packets.len());
    for (frame, (packet, extension)) in frames.iter().zip(&packets) {
        let context = format!("{packet:?} {extension:?}: {frame:?}");
        assert_eq!(number(&frame[0]), packet.flow.0, "{context}");
        assert_eq!(number(&frame[1]), packet.transport.0.into(), "{context}");
        assert_eq!(number(&frame[2]), packet.header.kind().into(), "{context}");
        assert_eq!(number(&frame[3]), packet.flags.into(), "{context}");
        assert!(["1", "True"].contains(&&*frame[4]), "{context}");
        assert_eq!(number(&frame[5]), packet.payload.into(), "{context}");
        match extension {
            Extension::None => assert_eq!(frame[6], "", "{context}"),
            Extension::Sack { count, .. }
            | Extension::Int { count, .. }
            | Extension::Padding { count } => {
                assert_eq!(number(&frame[6]), (*count).into(), "{context}");
            }
            Extension::Explicit { count: 0, .. } | Extension::Arrivals { .. } => {
                assert_eq!(frame[6], "", "{context}");
            }
            Extension::Explicit { count, .. } => {
                assert_eq!(number(&frame[6]), (*count).into(), "{context}");
            }
        }
        assert_eq!(frame[7], "", "nothing to complain about: {context}");
        let shown = own.iter().zip(&frame[8..]).filter(|(_, value)| !value.is_empty());
        let shown: Vec<(String, u32)> =
            shown.map(|(name, value)| (name.clone(), number(value))).collect();
        assert_eq!(shown, own_fields(&packet.header), "{context}");
    }
}

fn data() -> Header {
    Header::Data { seq: 17, offset: 24_820, tag: 9, flags: 1 | 16 }
}

fn record(rate_code: u8, timestamp: u32, sent: u32, queued: u16) -> IntRecord {
    IntRecord { rate_code, timestamp, sent, queued, ..IntRecord::default() }
}

#[test]
fn the_dissector_shows_extensions_flags_and_summaries() {
    if !there() {
        return;
    }
    let capture = folder("extensions").join("extensions.pcapng");
    let sack = Extension::Sack { count: 2, ranges: [(1000, 2460), (3920, 5380), (0, 0)] };
    let mut records = [IntRecord::default(); INT_HOPS];
    records[0] = record(5, 0x12_3456, 0xa_bcde, 0xf012);
    records[1] = record(15, 1, 2, 3);
    let int = Extension::Int { count: 2, records };
    let mut trimmed = packet(data(), &Extension::None);
    trimmed.flags = flag::TRIMMED | flag::RETRANSMIT;
    let mut full = packet(data(), &int);
    full.payload = 1442;
    write(&capture, &[(packet(data(), &sack), sack), (full, int), (trimmed, Extension::None)]);
    let fields = names(&[
        "incast.sack.from",
        "incast.sack.to",
        "incast.int.rate_code",
        "incast.int.timestamp",
        "incast.int.sent",
        "incast.int.queued",
        "incast.transport_name",
    ]);
    let names = ["-o", "incast.transports:98=one,99=other"];
    let frames = with_dissector(&capture, &names, &fields);
    let expected = [
        ["1000,3920", "2460,5380", "", "", "", "", "other"],
        ["", "", "5,15", "1193046,1", "703710,2", "61458,3", "other"],
        ["", "", "", "", "", "", "other"],
    ];
    assert_eq!(frames, expected);
    let own = "Data flow=458761 seq=17 offset=24820 tag=9 [LAST,TAGGED]";
    let text = tshark(&capture, &["-X", SCRIPT, "-o", "incast.transports:98=one,99=other"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (line, end) in lines.iter().zip(["len=0", "len=1442", "len=0 {TRIMMED,RETRANSMIT}"]) {
        assert!(line.contains(" other "), "{line}");
        assert!(line.ends_with(&format!(" {own} {end}")), "{line}");
    }
    // Filters on single bits.
    let filter = ["-Y", "incast.flags.trimmed == 1 && incast.data.flags.last == 1"];
    assert_eq!(with_dissector(&capture, &filter, &fields).len(), 1);
}

#[test]
fn the_dissector_shows_explicit_feedback_and_the_ranges_after_it() {
    if !there() {
        return;
    }
    let capture = folder("explicit").join("explicit.pcapng");
    let sack = Extension::Sack { count: 2, ranges: [(1000, 2460), (3920, 5380), (0, 0)] };
    let packets: Vec<(Packet, Extension)> = common::explicit()
        .into_iter()
        .flat_map(|fields| {
            [Extension::explicit(fields), Extension::explicit(fields).with_sack(&sack)]
        })
        .map(|extension| (packet(data(), &extension), extension))
        .collect();
    write(&capture, &packets);
    let fields = names(&[
        "incast.extension.kind",
        "incast.extension.followed",
        "incast.explicit.rtt",
        "incast.explicit.spacing",
        "incast.explicit.feedback",
        "incast.explicit.reverse_feedback",
        "incast.explicit.forward",
        "incast.explicit.reverse",
        "incast.explicit.class",
        "incast.explicit.sent",
        "incast.sack.from",
        "incast.checksum.good",
    ]);
    let frames = with_dissector(&capture, &[], &fields);
    let own = [
        ["16702650", "16909060", "-1", "-2147483641", "", "", "", ""],
        ["16702650", "", "", "", "4294967295", "2147483649", "", ""],
        ["", "", "", "", "", "", "5", ""],
        ["", "", "", "", "", "", "", "71737338064426034"],
        ["16702650", "16909060", "-1", "-2147483641", "", "", "", ""],
    ];
    assert_eq!(frames.len(), 10);
    for (index, frame) in frames.iter().enumerate() {
        let (kind, with) = ([4, 5, 6, 7, 4][index / 2], index % 2 == 1);
        assert_eq!(frame[0], if with { format!("{kind},1") } else { kind.to_string() });
        assert!(if with { ["1", "True"] } else { ["0", "False"] }.contains(&&*frame[1]));
        assert_eq!(frame[2..10], own[index / 2], "{index}");
        assert_eq!(frame[10], if with { "1000,3920" } else { "" });
        assert!(["1", "True"].contains(&&*frame[11]), "{index}");
    }
}

#[test]
fn the_dissector_shows_what_has_arrived() {
    if !there() {
        return;
    }
    let capture = folder("arrivals").join("arrivals.pcapng");
    let (base, bits, received, beyond) = common::ARRIVALS;
    let arrivals = Extension::Arrivals { base, bits, received, beyond };
    write(&capture, &[(packet(data(), &arrivals), arrivals)]);
    let fields =
        ["base", "bits", "received", "beyond"].map(|name| format!("incast.arrivals.{name}"));
    let fields = names(&fields.each_ref().map(|name| name.as_str()));
    let [frame] = &with_dissector(&capture, &[], &fields)[..] else { panic!("one frame") };
    assert_eq!(number(&frame[0]), base);
    assert_eq!(u64::from_str_radix(frame[1].trim_start_matches("0x"), 16), Ok(bits));
    assert_eq!(frame[2..], [received.to_string(), beyond.to_string()]);
}

#[test]
fn the_dissector_reports_broken_packets() {
    if !there() {
        return;
    }
    let folder = folder("broken");
    let capture = folder.join("broken.pcapng");
    let sack = Extension::Sack { count: 3, ranges: [(1, 2); 3] };
    let one = [(packet(data(), &sack), sack)];
    write(&capture, &one);
    let file = std::fs::read(&capture).unwrap();
    // The frame: 14 + 40 + 26 bytes, no padding, before the block's second length.
    let ip = file.len() - 4 - 66;
    assert_eq!(file[ip], 0x45);
    let cases: [(&[(usize, u8)], &str); 4] = [
        (&[(30, 1)], "incast.checksum.bad"),
        (&[(25, 31 << 3)], "incast.kind.unknown"),
        (&[(40, 0x43)], "incast.extension.bad"),
        (&[(40, 0x1f)], "incast.extension.bad"),
    ];
    for (edits, complaint) in cases {
        let mut broken = file.clone();
        for &(at, value) in edits {
            broken[ip + at] = value;
        }
        std::fs::write(&capture, broken).unwrap();
        let frames = with_dissector(&capture, &["-Y", complaint], &names(&["frame.number"]));
        assert_eq!(frames, [["1"]], "{edits:?} {complaint}");
    }
    // Every IP length from the bare IP header on: no truncation causes a script error.
    let block = file.len() - (28 + 80 + 4);
    let mut broken = file[..block].to_vec();
    for length in 20..66 {
        let start = broken.len();
        broken.extend_from_slice(&file[block..]);
        broken[start + ip - block + 3] = length;
    }
    std::fs::write(&capture, broken).unwrap();
    let fields = names(&["ip.len", "_ws.lua.error", "incast.checksum.good"]);
    let frames = with_dissector(&capture, &[], &fields);
    assert_eq!(frames.len(), 46);
    for (frame, length) in frames.iter().zip(20..) {
        assert_eq!(frame[..], [length.to_string(), String::new(), String::new()]);
    }
}

#[test]
fn a_truncated_capture_is_readable_up_to_its_last_complete_frame() {
    if !there() {
        return;
    }
    let folder = folder("cut");
    let capture = folder.join("cut.pcapng");
    let packets = vec![(packet(data(), &Extension::None), Extension::None); 5];
    write(&capture, &packets);
    let file = std::fs::read(&capture).unwrap();
    std::fs::write(&capture, &file[..file.len() - 30]).unwrap();
    let output = Command::new("tshark")
        .env("LC_ALL", "C")
        .args(["-n", "-T", "fields", "-e", "frame.number", "-r"])
        .arg(&capture)
        .output()
        .expect("tshark does not run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n2\n3\n4\n");
}

const README: &str = include_str!("../../../../docs/wireshark/README.md");

/// The rows of the README's table under a heading of this first column.
fn readme_rows(first_column: &str) -> Vec<Vec<&'static str>> {
    let table = README.split_once(&format!("| {first_column} |")).expect("no such table").1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn the_filters_of_the_readme_are_valid() {
    if !there() {
        return;
    }
    let capture = folder("readme").join("readme.pcapng");
    write(&capture, &[(packet(data(), &Extension::None), Extension::None)]);
    let cells: String = readme_rows("Filter").iter().map(|row| row[0]).collect();
    let filters: Vec<&str> = cells.split('`').skip(1).step_by(2).collect();
    assert!(filters.len() >= 10, "{filters:?}");
    // Wireshark rejects the expression if one of them is not a filter.
    let any = filters.join(" or ");
    let frames = with_dissector(&capture, &["-Y", &any], &names(&["frame.number"]));
    assert_eq!(frames, [["1"]], "it was seen at leaf0->host3");
}

#[test]
fn the_readme_describes_every_kind() {
    let described: Vec<String> = readme_rows("Kind")
        .iter()
        .map(|row| format!("{} {}: {}", row[0], row[1], row[2]))
        .collect();
    // The sample of all ones shows the width of each field.
    let expected: Vec<String> = Header::samples(u32::MAX, u8::MAX)
        .iter()
        .filter(|header| !matches!(header, Header::Pause { .. }))
        .map(|header| {
            let kind = header.kind_name();
            let fields = own_fields(header).into_iter().map(|(name, ones)| {
                format!("{} {}", name.rsplit('.').next().unwrap(), ones.count_ones() / 8)
            });
            format!("{} {kind}: {}", header.kind(), fields.collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert_eq!(described, expected);
}

#[test]
fn wireshark_knows_our_pause_frames() {
    if !there() {
        return;
    }
    let capture = folder("pause").join("pause.pcapng");
    let pause = |classes, paused| {
        let header = Header::Pause { classes, paused, quanta: 0xffff, spare_low: 0, spare: 0 };
        (packet(header, &Extension::None), Extension::None)
    };
    write(&capture, &[pause(0b11, 0b10), pause(0b10, 0)]);
    let fields =
        ["frame.len", "eth.dst", "macc.opcode", "macc.cbfc.enbv", "macc.cbfc.pause_time.c1"];
    let frames = fields_of(&capture, &[], &names(&fields));
    let expected = |enabled, time| ["60", "01:80:c2:00:00:01", "0x0101", enabled, time];
    assert_eq!(frames, [expected("0x0003", "65535"), expected("0x0002", "0")]);
}
