//! Network interfaces and NICs.

use super::frame::MbufFrame;
use super::{BURST, Memory};
use crate::hello::HELLO;
use crate::outside::divide;
use crate::{Arrival, Departure, Meeting, Outside, PacketIo, PortCount};
use incast_dpdk_sys::{Environment, Error, Mbuf, Mempool, Port};
use incast_transport::{Framing, Time};
use incast_wire::{HEADER_BYTES, PROTOCOL};
use std::any::Any;
use std::sync::Arc;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// The shortest Ethernet frame, without its checksum.
const SHORTEST: usize = 60;
/// Where the protocol stands in an IPv4 packet.
const IP_PROTOCOL: usize = 9;
/// Of an IPv4 packet.
const ETHER_TYPE: [u8; 2] = [0x08, 0x00];
/// The address to which all frames go: locally administered, and that of no kernel, which then
/// leaves them alone. Ports receive whatever comes.
const ANY_NODE: [u8; 6] = *b"\x02incst";
/// Bytes that headers may take beside a packet of the largest size.
const EXTENSION: usize = 128;
/// Room that `net_af_packet` and most NICs want in an mbuf, however short frames are.
const ROOM: usize = 2_048;
/// Mbufs for each port: two queues of descriptors, and what nodes hold.
const PER_PORT: usize = 3_072;
/// Most frames staged at a port whose device takes none.
const STAGED: usize = 256;
/// Most bursts per port that are dropped when it is opened: a flood of foreign frames never ends.
const EARLY_BURSTS: usize = 256;

/// A port of the fabric at a device.
struct End {
    port: Port<()>,
    header: [u8; ETHERNET],
    staged: Vec<Mbuf<()>>,
    count: PortCount,
}

/// Ports at devices of DPDK: network interfaces (`net_af_packet`), NICs. What a port receives comes
/// from outside the process.
///
/// Frames have an Ethernet header here, to an address that is nobody's; nodes see IPv4 packets. Frames
/// that are none of ours - another Ethernet type or IP protocol, or to another's address - are ignored
/// and counted. Releases are without meaning: the wire takes its own time. Trails do not travel.
pub struct Wire {
    /// By port of the fabric; `None` where there is no device.
    ends: Vec<Option<End>>,
    scratch: Vec<Mbuf<()>>,
    /// Answers hellos, which are no longer handed on, once the neighbours have met.
    met: Option<Arc<Meeting>>,
    answers: Vec<Mbuf<()>>,
    memory: Memory<()>,
    environment: Environment,
}

impl Wire {
    /// Opens `devices`, each for a port of the fabric: an interface by its name, a NIC by its PCI
    /// address, or any device by DPDK's arguments for it.
    pub fn open(
        environment: Environment,
        devices: &[(u32, &str)],
        framing: Framing,
    ) -> Result<Wire, Error> {
        let largest = framing.mtu as usize + HEADER_BYTES as usize + EXTENSION + ETHERNET;
        let frames = PER_PORT * devices.len().max(1);
        let pool = Arc::new(Mempool::new(environment, frames, largest.clamp(ROOM, 60_000))?);
        let mut ends = vec![];
        for (number, device) in devices {
            let port = Port::open(&pool, device)?;
            let mut header = [0; ETHERNET];
            header[..6].copy_from_slice(&ANY_NODE);
            header[6..12].copy_from_slice(&port.address());
            header[12..].copy_from_slice(&ETHER_TYPE);
            let count = PortCount::default();
            let end = End { port, header, staged: Vec::with_capacity(STAGED), count };
            let number = *number as usize;
            ends.resize_with(ends.len().max(number + 1), || None);
            ends[number] = Some(end);
        }
        let mut scratch = Vec::with_capacity(BURST);
        for end in ends.iter_mut().flatten() {
            // A packet socket hears every interface of the machine until it is bound to its own: what
            // came before all ports were open may be another's. Hellos are repeated.
            for _ in 0..EARLY_BURSTS {
                end.port.receive(BURST, &mut scratch);
                if scratch.is_empty() {
                    break;
                }
                scratch.clear();
            }
        }
        let memory = Memory::new(pool);
        Ok(Wire { ends, scratch, met: None, answers: vec![], memory, environment })
    }

    /// Frames of others that came by.
    pub fn foreign(&self) -> u64 {
        self.ends.iter().flatten().map(|end| end.count.foreign).sum()
    }

    /// The device of a port of the fabric.
    pub fn device(&self, port: u32) -> Option<&Port<()>> {
        self.ends.get(port as usize)?.as_ref().map(|end| &end.port)
    }

    /// The packet memory.
    pub fn pool(&self) -> &Arc<Mempool<()>> {
        &self.memory.pool
    }

    fn end(&mut self, port: u32) -> Option<&mut End> {
        self.ends.get_mut(port as usize)?.as_mut()
    }
}

/// The mbuf of a hello with what answers it, and with an Ethernet header; `None` if it has no room.
#[cold]
fn answered(mut mbuf: Mbuf<()>, bytes: &[u8], end: &End) -> Option<Mbuf<()>> {
    if !mbuf.reset(bytes.len()) || !mbuf.grow_front(ETHERNET) {
        return None;
    }
    mbuf.bytes_mut()[..ETHERNET].copy_from_slice(&end.header);
    mbuf.bytes_mut()[ETHERNET..].copy_from_slice(bytes);
    Some(mbuf)
}

/// Whether a frame that came to a port with this address is one of ours, as far as its first headers say.
fn is_ours(mbuf: &Mbuf<()>, own: &[u8]) -> bool {
    let bytes = mbuf.bytes();
    mbuf.is_one_segment()
        && bytes.len() >= ETHERNET + HEADER_BYTES as usize
        && (bytes[..6] == ANY_NODE || bytes[..6] == *own || bytes[..6] == [0xFF; 6])
        && bytes[12..ETHERNET] == ETHER_TYPE
        && [PROTOCOL, HELLO].contains(&bytes[ETHERNET + IP_PROTOCOL])
}

impl PacketIo for Wire {
    type Frame = MbufFrame<()>;

    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<MbufFrame<()>>>,
    ) -> usize {
        let Some(Some(end)) = self.ends.get_mut(port as usize) else { return 0 };
        end.port.receive(most.min(BURST), &mut self.scratch);
        self.scratch.iter().for_each(Mbuf::prefetch);
        let before = into.len();
        for mut mbuf in self.scratch.drain(..) {
            if !is_ours(&mbuf, &end.header[6..12]) {
                end.count.foreign += 1;
                continue;
            }
            mbuf.cut_front(ETHERNET);
            let hello = mbuf.bytes()[IP_PROTOCOL] == HELLO;
            end.count.received += !hello as u64;
            match &self.met {
                Some(meeting) if hello => {
                    let answer = meeting.answer(port, mbuf.bytes());
                    self.answers.extend(answer.and_then(|bytes| answered(mbuf, &bytes, end)));
                }
                _ => into.push(Arrival { at: now, complete: now, frame: MbufFrame(mbuf) }),
            }
        }
        if !self.answers.is_empty() {
            // One that the device does not take is lost: hellos are repeated.
            end.port.send(&mut self.answers);
            self.answers.clear();
        }
        let count = into.len() - before;
        self.memory.held += count;
        count
    }

    fn alloc(&mut self, length: usize) -> Option<MbufFrame<()>> {
        self.memory.alloc(length)
    }

    fn free(&mut self, frame: MbufFrame<()>) {
        self.memory.free(frame);
    }

    fn stage(
        &mut self,
        port: u32,
        frame: MbufFrame<()>,
        _departure: Departure,
    ) -> Result<(), MbufFrame<()>> {
        let Some(end) = self.end(port) else { return Err(frame) };
        let mut mbuf = frame.0;
        if end.staged.len() >= STAGED || !mbuf.grow_front(ETHERNET) {
            return Err(MbufFrame(mbuf));
        }
        mbuf.bytes_mut()[..ETHERNET].copy_from_slice(&end.header);
        let short = SHORTEST.saturating_sub(mbuf.len());
        mbuf.pad(short);
        end.staged.push(mbuf);
        self.memory.held -= 1;
        Ok(())
    }

    fn flush(&mut self, port: u32) -> usize {
        let Some(Some(end)) = self.ends.get_mut(port as usize) else { return 0 };
        // A device may take a burst in parts.
        let before = end.staged.len();
        while !end.staged.is_empty() && end.port.send(&mut end.staged) > 0 {}
        let left = end.staged.len();
        if self.met.is_some() {
            end.count.sent += (before - left) as u64;
        }
        left
    }

    fn room(&mut self, port: u32) -> usize {
        self.end(port).map_or(0, |end| STAGED - end.staged.len())
    }

    fn due(&mut self, _port: u32) -> Time {
        Time::NEVER
    }

    fn is_external(&self, port: u32) -> bool {
        self.device(port).is_some()
    }

    fn note_crossing(&mut self, change: isize) {
        let held = self.memory.held.checked_add_signed(change).expect("a frame that is held");
        self.memory.held = held;
    }

    fn held(&self) -> usize {
        self.memory.held
    }
}

impl Outside for Wire {
    fn end_hellos(&mut self, meeting: Arc<Meeting>) {
        self.met = Some(meeting);
        // Hellos are all that was staged so far, and they are not counted.
        self.ends.iter_mut().flatten().for_each(|end| end.staged.clear());
    }

    fn count(&mut self, port: u32) -> Option<PortCount> {
        let end = self.end(port)?;
        let device = end.port.counts();
        Some(PortCount { dropped: device.missed + device.without_memory, ..end.count })
    }

    fn drain(&mut self) {
        let mut arrived = vec![];
        for port in 0..self.ends.len() as u32 {
            while self.rx_burst(port, Time::ZERO, BURST, &mut arrived) > 0 {
                if let Some(end) = self.end(port) {
                    end.count.unread += arrived.len() as u64;
                }
                arrived.drain(..).for_each(|arrival| self.free(arrival.frame));
            }
        }
    }

    fn enter_thread(&self) -> Option<Box<dyn Any>> {
        self.environment.register_thread().map(|registered| Box::new(registered) as Box<dyn Any>)
    }

    fn split(self, groups: &[Vec<u32>]) -> Vec<Wire> {
        let Wire { ends, met, memory, environment, .. } = self;
        let part = |ends| {
            let scratch = Vec::with_capacity(BURST);
            let memory = Memory::new(memory.pool.clone());
            Wire { ends, scratch, met: met.clone(), answers: vec![], memory, environment }
        };
        divide(ends, groups).into_iter().map(part).collect()
    }
}
