//! Capture files in the pcapng format (draft-ietf-opsawg-pcapng), one interface per port.
//!
//! Blocks are little-endian. Each is written with one call, so that the file of an interrupted run
//! is readable up to its last complete block.

use std::io::{self, Write};

use incast_units::{Rate, Time};

use crate::codec::encode;
use crate::{Extension, Header, HostId, Packet};

/// Bytes of the Ethernet header in front of each packet.
pub const ETHERNET_BYTES: usize = 14;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Link type Ethernet.
const ETHERNET: u16 = 1;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const ETHERTYPE_MAC_CONTROL: [u8; 2] = [0x88, 0x08];
/// The multicast address of pause frames, which no bridge forwards.
const PAUSE_ADDRESS: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
const OPCODE_PAUSE_CLASSES: [u8; 2] = [0x01, 0x01];
/// Bytes of the shortest Ethernet frame without its checksum.
const ETHERNET_MINIMUM: usize = 60;
/// Timestamps count 10^-9 s.
const NANOSECONDS: u8 = 9;
const PS_PER_NS: u64 = 1000;

/// Option codes, with the names of the specification.
mod option {
    pub const END: u16 = 0;
    pub const SHB_USERAPPL: u16 = 4;
    pub const IF_NAME: u16 = 2;
    pub const IF_SPEED: u16 = 8;
    pub const IF_TSRESOL: u16 = 9;
}

/// An interface of a capture, returned by [`Writer::interface`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Interface(u32);

/// Writes a capture. Use a buffered writer: there is one write call per block.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// The current block; the buffer is reused.
    block: Vec<u8>,
    /// Largest number of bytes kept per frame, 0 for all.
    snap_length: u32,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Starts a capture of complete frames. `application` is the name of the writing program.
    pub fn new(out: W, application: &str) -> io::Result<Writer<W>> {
        Writer::with_snap_length(out, application, 0)
    }

    /// Like [`Writer::new`], but keeps at most `snap_length` bytes per frame (0: all of them). 120
    /// B hold every header and extension; payloads are zeros.
    pub fn with_snap_length(out: W, application: &str, snap_length: u32) -> io::Result<Writer<W>> {
        let mut writer =
            Writer { out, block: Vec::with_capacity(2048), snap_length, interfaces: 0 };
        writer.begin(SECTION_HEADER);
        writer.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        writer.put(&1u16.to_le_bytes()); // version 1.0
        writer.put(&0u16.to_le_bytes());
        writer.put(&u64::MAX.to_le_bytes()); // section length: not known
        writer.text(option::SHB_USERAPPL, application)?;
        writer.option(option::END, &[]);
        writer.end()?;
        Ok(writer)
    }

    /// Adds an interface, with a name such as `leaf0->host3`. May be called between packets.
    pub fn interface(&mut self, name: &str, rate: Rate) -> io::Result<Interface> {
        self.begin(INTERFACE_DESCRIPTION);
        self.put(&ETHERNET.to_le_bytes());
        self.put(&0u16.to_le_bytes());
        self.put(&self.snap_length.to_le_bytes());
        self.text(option::IF_NAME, name)?;
        self.option(option::IF_SPEED, &rate.0.to_le_bytes());
        self.option(option::IF_TSRESOL, &[NANOSECONDS]);
        self.option(option::END, &[]);
        self.end()?;
        self.interfaces += 1;
        Ok(Interface(self.interfaces - 1))
    }

    /// Writes a packet of an interface with an Ethernet header. The time is rounded down to
    /// nanoseconds.
    ///
    /// Panics if the interface belongs to another writer, and like [`encode`].
    pub fn packet(
        &mut self,
        interface: Interface,
        at: Time,
        packet: &Packet,
        extension: &Extension,
    ) -> io::Result<()> {
        assert!(interface.0 < self.interfaces, "{interface:?} of {}", self.interfaces);
        let timestamp = at.0 / PS_PER_NS;
        self.begin(ENHANCED_PACKET);
        self.put(&interface.0.to_le_bytes());
        self.put(&((timestamp >> 32) as u32).to_le_bytes());
        self.put(&(timestamp as u32).to_le_bytes());
        let lengths = self.block.len();
        self.put(&[0; 8]);
        let frame = self.block.len();
        let length = match packet.header {
            Header::Pause { classes, paused, quanta, .. } => self.pause(classes, paused, quanta),
            _ => {
                self.put(&mac(packet.dst));
                self.put(&mac(packet.src));
                self.put(&ETHERTYPE_IPV4);
                ETHERNET_BYTES + encode(packet, extension, &mut self.block)
            }
        };
        let captured = match self.snap_length {
            0 => length,
            most => length.min(most as usize),
        };
        self.block.truncate(frame + captured);
        self.block[lengths..lengths + 4].copy_from_slice(&(captured as u32).to_le_bytes());
        self.block[lengths + 4..frame].copy_from_slice(&(length as u32).to_le_bytes());
        self.pad();
        self.end()
    }

    /// Appends a MAC control frame of priority-based flow control (IEEE 802.1Qbb): one pause time
    /// per listed class, zero to resume it. Returns its length without the checksum.
    fn pause(&mut self, classes: u8, paused: u8, quanta: u16) -> usize {
        let start = self.block.len();
        self.put(&PAUSE_ADDRESS);
        self.put(&mac(HostId(0)));
        self.put(&ETHERTYPE_MAC_CONTROL);
        self.put(&OPCODE_PAUSE_CLASSES);
        self.put(&[0, classes]);
        for class in 0..8 {
            let time = if paused >> class & 1 == 1 { quanta } else { 0 };
            self.put(&time.to_be_bytes());
        }
        self.block.resize(start + ETHERNET_MINIMUM, 0);
        ETHERNET_MINIMUM
    }

    /// Flushes and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Starts a block: its type and a placeholder for its length.
    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.put(&kind.to_le_bytes());
        self.put(&[0; 4]);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    /// Appends a text option, at most 65,535 bytes.
    fn text(&mut self, code: u16, value: &str) -> io::Result<()> {
        if value.len() > u16::MAX.into() {
            let message = format!("a name of {} bytes, at most 65535 fit a capture", value.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        self.option(code, value.as_bytes());
        Ok(())
    }

    /// Pads the block to a multiple of four bytes.
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Completes a block with its length at both ends, and writes it.
    fn end(&mut self) -> io::Result<()> {
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.put(&length);
        self.out.write_all(&self.block)
    }
}

/// A locally administered address, 02:00:00 and the host's 24 bits.
fn mac(host: HostId) -> [u8; 6] {
    let [_, a, b, c] = host.0.to_be_bytes();
    [2, 0, 0, a, b, c]
}
