//! Captures conform to the pcapng specification.

use std::io::{self, Write};

use crate::common::{all_packets, packet};
use incast_units::{Rate, Time};
use incast_wire::pcapng::{ETHERNET_BYTES, Writer};
use incast_wire::{Extension, Header, HostId, Packet, decode};

#[derive(Debug, PartialEq)]
struct Block {
    kind: u32,
    body: Vec<u8>,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The complete blocks at the start of a file.
fn blocks(mut file: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    while file.len() >= 12 {
        let length = u32_at(file, 4) as usize;
        assert!(length >= 12 && length.is_multiple_of(4), "block of {length} bytes");
        if file.len() < length {
            break;
        }
        assert_eq!(u32_at(file, length - 4) as usize, length, "the length stands at both ends");
        blocks.push(Block { kind: u32_at(file, 0), body: file[8..length - 4].to_vec() });
        file = &file[length..];
    }
    blocks
}

/// Code and value of each option; the list must have an end.
fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut options = Vec::new();
    loop {
        let (code, length) = (u16_at(bytes, 0), u16_at(bytes, 2) as usize);
        if code == 0 {
            assert_eq!((length, bytes.len()), (0, 4), "the end of the options ends the block");
            return options;
        }
        options.push((code, bytes[4..4 + length].to_vec()));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
}

fn sample(payload: u16) -> Packet {
    let header = Header::Data { seq: 1, offset: 2, tag: 3, flags: 4 };
    Packet { src: HostId(0x0a_0b0c), payload, ..packet(header, &Extension::None) }
}

fn capture() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "incast 0.1.0").unwrap();
    let first = writer.interface("leaf0->host3", Rate::from_gbps(100)).unwrap();
    let second = writer.interface("host12", Rate::from_gbps(10)).unwrap();
    writer.packet(second, Time(1_999), &sample(7), &Extension::None).unwrap();
    let late = Time(5_000_000_000_123_456_789);
    writer.packet(first, late, &sample(1460), &Extension::None).unwrap();
    writer.finish().unwrap()
}

#[test]
fn the_section_header_contains_the_program() {
    let file = capture();
    assert_eq!(file[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert_eq!(file[8..12], [0x4d, 0x3c, 0x2b, 0x1a], "little-endian");
    let section = &blocks(&file)[0];
    assert_eq!((u16_at(&section.body, 4), u16_at(&section.body, 6)), (1, 0), "version 1.0");
    assert_eq!(section.body[8..16], [0xff; 8], "length not known");
    assert_eq!(options(&section.body[16..]), [(4, b"incast 0.1.0".to_vec())]);
}

#[test]
fn each_port_is_an_interface() {
    let blocks = blocks(&capture());
    assert_eq!(blocks.iter().map(|b| b.kind).collect::<Vec<_>>(), [0x0a0d_0d0a, 1, 1, 6, 6]);
    for (block, name, rate) in
        [(&blocks[1], "leaf0->host3", 100_000_000_000u64), (&blocks[2], "host12", 10_000_000_000)]
    {
        assert_eq!(u16_at(&block.body, 0), 1, "link type Ethernet");
        assert_eq!(u32_at(&block.body, 4), 0, "frames are kept whole");
        let expected =
            [(2, name.as_bytes().to_vec()), (8, rate.to_le_bytes().to_vec()), (9, vec![9])];
        assert_eq!(options(&block.body[8..]), expected);
    }
}

#[test]
fn packets_have_their_interface_time_and_bytes() {
    let blocks = blocks(&capture());
    let (early, late) = (&blocks[3].body, &blocks[4].body);
    assert_eq!((u32_at(early, 0), u32_at(late, 0)), (1, 0), "interface");
    let timestamp = |body| u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8));
    assert_eq!(timestamp(early), 1, "1999 ps are rounded down");
    assert_eq!(timestamp(late), 5_000_000_000_123_456, "needs the high word");
    for (body, payload) in [(early, 7), (late, 1460)] {
        let length = ETHERNET_BYTES + 40 + payload;
        assert_eq!(u32_at(body, 12) as usize, length, "captured");
        assert_eq!(u32_at(body, 16) as usize, length, "original");
        let frame = &body[20..20 + length];
        assert_eq!(frame[..6], [2, 0, 0, 2, 3, 4], "destination");
        assert_eq!(frame[6..12], [2, 0, 0, 0x0a, 0x0b, 0x0c], "source");
        assert_eq!(frame[12..14], [8, 0], "IPv4");
        let expected = (sample(payload as u16), Extension::None);
        assert_eq!(decode(&frame[ETHERNET_BYTES..]), Ok(expected));
        assert_eq!(body.len(), (20 + length).next_multiple_of(4), "padded to words");
        assert!(body[20 + length..].iter().all(|&byte| byte == 0));
    }
}

#[test]
fn every_packet_can_be_captured() {
    let packets = all_packets();
    let mut writer = Writer::new(Vec::new(), "test").unwrap();
    let port = writer.interface("port", Rate::from_gbps(1)).unwrap();
    for (packet, extension) in &packets {
        writer.packet(port, Time(0), packet, extension).unwrap();
    }
    let file = writer.finish().unwrap();
    let blocks = blocks(&file);
    assert_eq!(blocks.len(), 2 + packets.len());
    for (block, expected) in blocks[2..].iter().zip(packets) {
        assert_eq!(decode(&block.body[20 + ETHERNET_BYTES..]), Ok(expected));
    }
}

#[test]
fn a_truncated_file_keeps_its_complete_blocks() {
    let file = capture();
    let whole = blocks(&file);
    let mut ends = Vec::new();
    for block in &whole {
        ends.push(ends.last().copied().unwrap_or(0) + block.body.len() + 12);
    }
    assert_eq!(ends.last(), Some(&file.len()));
    for cut in 0..=file.len() {
        let complete = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(blocks(&file[..cut]), whole[..complete]);
    }
}

#[test]
fn the_snap_length_truncates_frames_but_keeps_their_length() {
    let mut writer = Writer::with_snap_length(Vec::new(), "test", 54).unwrap();
    let port = writer.interface("port", Rate::from_gbps(1)).unwrap();
    for payload in [0, 1460] {
        writer.packet(port, Time(0), &sample(payload), &Extension::None).unwrap();
    }
    let blocks = blocks(&writer.finish().unwrap());
    assert_eq!(u32_at(&blocks[1].body, 4), 54);
    assert_eq!((u32_at(&blocks[2].body, 12), u32_at(&blocks[2].body, 16)), (54, 54));
    assert_eq!((u32_at(&blocks[3].body, 12), u32_at(&blocks[3].body, 16)), (54, 1514));
    assert_eq!(blocks[3].body.len(), 20 + 56);
}

/// Accepts `left` writes, then fails; counts them.
struct Full {
    left: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return Err(io::ErrorKind::StorageFull.into()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn errors_of_the_output_are_returned_and_each_block_is_one_write() {
    let failed = |error: io::Error| error.kind() == io::ErrorKind::StorageFull;
    assert!(Writer::new(Full { left: 0 }, "test").is_err_and(failed));
    let mut writer = Writer::new(Full { left: 1 }, "test").unwrap();
    assert!(writer.interface("port", Rate(0)).is_err_and(failed));
    let mut writer = Writer::new(Full { left: 3 }, "test").unwrap();
    let port = writer.interface("port", Rate(0)).unwrap();
    writer.packet(port, Time(0), &sample(9), &Extension::None).unwrap();
    let full = writer.packet(port, Time(0), &sample(9), &Extension::None);
    assert!(full.is_err_and(failed));
    let flushed = writer.finish();
    assert!(flushed.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe));
}

#[test]
fn a_name_too_long_is_refused() {
    let mut writer = Writer::new(Vec::new(), "test").unwrap();
    let error = writer.interface(&"x".repeat(65_536), Rate(0)).unwrap_err();
    assert_eq!(error.to_string(), "a name of 65536 bytes, at most 65535 fit a capture");
    let port = writer.interface(&"x".repeat(65_535), Rate(0)).unwrap();
    writer.packet(port, Time(0), &sample(0), &Extension::None).unwrap();
    let file = writer.finish().unwrap();
    assert_eq!(blocks(&file).len(), 3, "the refused interface left nothing behind");
}
