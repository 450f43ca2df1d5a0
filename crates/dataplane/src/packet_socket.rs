//! The backend on ordinary Linux interfaces: a packet socket for each port.
//!
//! Works on any interface, such as one end of a veth pair, with the right to open packet sockets
//! (`CAP_NET_RAW`), which root has in a network namespace of its own. A frame is an Ethernet frame
//! of type IPv4; frames of any other type or IP protocol are foreign: they are counted and dropped.
//! Frames go to the address that the neighbour last sent from, and to all before that. On an ordinary network a
//! port is a [`Station`] instead, and its frames carry UDP datagrams.
//!
//! The kernel stamps frames when they come, so that a process that looks late knows since when they wait.
//!
//! A frame costs a system call in each direction, so this is for links up to about 1 Gb/s.

mod socket;

use crate::hello::HELLO;
use crate::mem::Buffer;
use crate::outside::divide;
use crate::system::monotonic;
use crate::{
    Addresses, Arrival, Came, Departure, Frame, Meeting, Obstacle, Outside, PacketIo, PortCount,
    Station,
};
use incast_transport::Time;
use incast_wire::PROTOCOL;
use socket::{Guard, Incoming, Socket, wall_clock};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Ethernet's type of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];
/// Where the protocol stands in an IPv4 header.
const IP_PROTOCOL: usize = 9;
/// Frames that may be staged at a port: what the device does not take at once waits here.
const STAGED_MOST: usize = 256;
/// Longest IPv4 packet: the largest MTU of Ethernet interfaces in use.
const LONGEST: usize = 9_000;
/// Most buffers that are kept for later.
const SPARE_MOST: usize = 4_096;
/// Most foreign frames and hellos that one burst reads, so that a flood of them does not hold up a pass.
const FOREIGN_MOST: usize = 64;

/// A port of this process.
struct Port {
    socket: Socket,
    staged: VecDeque<Staged>,
    way: Way,
    count: PortCount,
}

/// A frame to send, and whether it is a hello.
struct Staged {
    frame: Buffer,
    hello: bool,
}

/// How packets get to the neighbour.
enum Way {
    /// As they are, to the Ethernet address that it last sent from.
    Ethernet([u8; 6]),
    /// In datagrams.
    Udp {
        station: Box<Station>,
        /// Keeps the kernel from answering them.
        _guard: Option<Guard>,
    },
}

impl Way {
    /// Cuts a frame that came to its packet; what it was.
    fn take(&mut self, frame: &mut Buffer, now: u64) -> Came {
        match self {
            Way::Ethernet(_) if !is_ours(frame.bytes()) => Came::Foreign,
            Way::Ethernet(neighbour) => {
                neighbour.copy_from_slice(&frame.bytes()[6..12]);
                frame.cut_front(ETHERNET);
                Came::Packet
            }
            Way::Udp { station, .. } => station.take(frame, now),
        }
    }

    /// Puts what a packet needs in front of it; whether that was possible.
    fn wrap(&self, frame: &mut Buffer, own: [u8; 6]) -> bool {
        match self {
            Way::Ethernet(neighbour) => {
                if !frame.grow_front(ETHERNET) {
                    return false;
                }
                let header = frame.bytes_mut();
                header[..6].copy_from_slice(neighbour);
                header[6..12].copy_from_slice(&own);
                header[12..14].copy_from_slice(&IPV4);
                true
            }
            Way::Udp { station, .. } => station.wrap(frame),
        }
    }
}

impl Port {
    /// Sends what the station of this port asks and answers; what it has to tell. The present, by its clock.
    fn tend(&mut self, told: Option<&Meeting>, port: u32) -> u64 {
        let Way::Udp { station, .. } = &mut self.way else { return 0 };
        let now = monotonic();
        while let Some(frame) = station.poll(now) {
            // What does not go is asked again.
            let _ = self.socket.send(&frame);
        }
        while let Some(note) = station.take_note() {
            told.into_iter().for_each(|meeting| meeting.note(format!("port {port}: {note}")));
        }
        now
    }
}

/// Packet sockets at ports of a fabric.
#[derive(Default)]
pub struct PacketSockets {
    /// By number of the port.
    ports: Vec<Option<Port>>,
    spare: Vec<Buffer>,
    held: usize,
    /// Answers hellos, which are no longer handed on, once the neighbours have met.
    met: Option<Arc<Meeting>>,
    /// What stations have to tell goes there.
    told: Option<Arc<Meeting>>,
}

impl PacketSockets {
    /// Without ports.
    pub fn new() -> PacketSockets {
        PacketSockets::default()
    }

    /// Attaches a port to an interface, which is brought up if it is down.
    ///
    /// # Errors
    /// What the system says, in words that name the interface and what to do.
    pub fn attach(&mut self, port: u32, interface: &str) -> Result<(), String> {
        let socket = Socket::open(interface)?;
        self.insert(port, socket, Way::Ethernet([0xFF; 6]));
        Ok(())
    }

    /// The same on an ordinary network: packets go in UDP datagrams. `marks`: their ECN bits are those of RFC 3168.
    ///
    /// # Errors
    /// What the system says; another program has the UDP port.
    pub fn attach_udp(
        &mut self,
        port: u32,
        interface: &str,
        addresses: Addresses,
        marks: bool,
    ) -> Result<(), String> {
        let socket = Socket::open(interface)?;
        let guard = Guard::open(addresses.own, addresses.port)?;
        // A kernel that has the address answers for it.
        let station = Station::new(addresses, socket.address(), marks, guard.is_none());
        self.insert(port, socket, Way::Udp { station: Box::new(station), _guard: guard });
        Ok(())
    }

    fn insert(&mut self, port: u32, socket: Socket, way: Way) {
        let index = port as usize;
        self.ports.resize_with(self.ports.len().max(index + 1), || None);
        let (staged, count) = (VecDeque::new(), PortCount::default());
        self.ports[index] = Some(Port { socket, staged, way, count });
    }

    /// The longest IPv4 packet that the interface of a port takes; nothing if it is not attached.
    pub fn mtu(&self, port: u32) -> Option<usize> {
        self.ports.get(port as usize)?.as_ref().map(|port| port.socket.mtu())
    }

    /// Sends a hello, if there is room.
    #[cold]
    fn say(&mut self, port: u32, bytes: &[u8]) {
        let Some(mut frame) = self.alloc(bytes.len()) else { return };
        frame.bytes_mut().copy_from_slice(bytes);
        let at = Time::ZERO;
        let departure = Departure { start: at, release: at, complete: at };
        if let Err(frame) = self.stage(port, frame, departure) {
            self.free(frame);
        }
        self.flush(port);
    }

    fn buffer(&mut self, length: usize) -> Buffer {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.begin(length);
        buffer
    }
}

impl Outside for PacketSockets {
    fn end_hellos(&mut self, meeting: Arc<Meeting>) {
        self.told = Some(meeting.clone());
        self.met = Some(meeting);
    }

    fn tell(&mut self, meeting: Arc<Meeting>) {
        self.told = Some(meeting);
    }

    fn count(&mut self, port: u32) -> Option<PortCount> {
        let port = self.ports.get_mut(port as usize)?.as_mut()?;
        port.count.dropped += port.socket.take_dropped();
        Some(port.count)
    }

    fn obstacle(&self, port: u32) -> Option<Obstacle> {
        match &self.ports.get(port as usize)?.as_ref()?.way {
            Way::Ethernet(_) => None,
            Way::Udp { station, .. } => station.obstacle(),
        }
    }

    fn drain(&mut self) {
        let mut arrived = vec![];
        for port in 0..self.ports.len() as u32 {
            while self.rx_burst(port, Time::ZERO, 32, &mut arrived) > 0 {
                if let Some(one) = &mut self.ports[port as usize] {
                    one.count.unread += arrived.len() as u64;
                }
                arrived.drain(..).for_each(|arrival| self.free(arrival.frame));
            }
        }
    }

    fn split(self, groups: &[Vec<u32>]) -> Vec<PacketSockets> {
        let (met, told) = (self.met, self.told);
        let part = |ports| {
            let (met, told) = (met.clone(), told.clone());
            PacketSockets { ports, met, told, ..PacketSockets::default() }
        };
        divide(self.ports, groups).into_iter().map(part).collect()
    }
}

/// Whether an Ethernet frame is one of this program.
fn is_ours(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&IPV4[..])
        && frame.get(ETHERNET + IP_PROTOCOL).is_some_and(|p| *p == PROTOCOL || *p == HELLO)
}

/// Whether a packet is a hello.
fn is_hello(packet: &[u8]) -> bool {
    packet[IP_PROTOCOL] == HELLO
}

impl PacketIo for PacketSockets {
    type Frame = Buffer;

    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Buffer>>,
    ) -> usize {
        let Some(Some(one)) = self.ports.get_mut(port as usize) else { return 0 };
        let present = one.tend(self.told.as_deref(), port);
        let (mut count, mut foreign, wall) = (0, 0, wall_clock());
        while count < most && foreign < FOREIGN_MOST {
            let mut frame = self.buffer(LONGEST);
            assert!(frame.grow_front(ETHERNET), "there is headroom");
            let Some(Some(one)) = self.ports.get_mut(port as usize) else { return 0 };
            let Ok(received) = one.socket.receive(frame.bytes_mut(), wall) else {
                self.spare.push(frame);
                break;
            };
            let age = match received {
                Incoming::Frame(length, age) => {
                    frame.truncate(length);
                    match one.way.take(&mut frame, present) {
                        Came::Packet => Some(age),
                        Came::Noted => None,
                        Came::Foreign => {
                            one.count.foreign += 1;
                            None
                        }
                    }
                }
                Incoming::TooLong => {
                    one.count.foreign += 1;
                    None
                }
            };
            let Some(age) = age else {
                foreign += 1;
                self.spare.push(frame);
                continue;
            };
            let hello = is_hello(frame.bytes());
            one.count.received += !hello as u64;
            if hello && let Some(meeting) = &self.met {
                let answer = meeting.answer(port, frame.bytes());
                self.spare.push(frame);
                answer.into_iter().for_each(|answer| self.say(port, &answer));
                foreign += 1;
                continue;
            }
            let at = Time(now.0.saturating_sub(age.saturating_mul(1_000)));
            into.push(Arrival { at, complete: at, frame });
            count += 1;
        }
        self.held += count;
        count
    }

    fn alloc(&mut self, length: usize) -> Option<Buffer> {
        let frame = (length <= LONGEST).then(|| self.buffer(length));
        self.held += frame.is_some() as usize;
        frame
    }

    fn free(&mut self, frame: Buffer) {
        self.held -= 1;
        // Of a switch with several cores, some get more frames than they give away.
        if self.spare.len() < SPARE_MOST {
            self.spare.push(frame);
        }
    }

    fn stage(&mut self, port: u32, mut frame: Buffer, _: Departure) -> Result<(), Buffer> {
        if self.room(port) == 0 {
            return Err(frame);
        }
        let Some(Some(one)) = self.ports.get_mut(port as usize) else { return Err(frame) };
        let hello = is_hello(frame.bytes());
        if one.way.wrap(&mut frame, one.socket.address()) {
            one.staged.push_back(Staged { frame, hello });
            self.held -= 1;
        } else {
            // Nobody is known to whom it could go.
            one.count.refused += !hello as u64;
            self.free(frame);
        }
        Ok(())
    }

    fn flush(&mut self, port: u32) -> usize {
        let Some(Some(one)) = self.ports.get_mut(port as usize) else { return 0 };
        while let Some(Staged { frame, hello }) = one.staged.front() {
            match one.socket.send(frame.bytes()) {
                Ok(()) => one.count.sent += !hello as u64,
                // A hello is repeated. One that is too long for the other end would wait for ever: the kernel calls
                // its loss a full buffer.
                Err(error) if is_full(&error) && !hello => break,
                Err(_) => one.count.refused += !hello as u64,
            }
            if let Some(sent) = one.staged.pop_front()
                && self.spare.len() < SPARE_MOST
            {
                self.spare.push(sent.frame);
            }
        }
        one.staged.len()
    }

    fn room(&mut self, port: u32) -> usize {
        match self.ports.get(port as usize) {
            Some(Some(one)) => STAGED_MOST - one.staged.len(),
            _ => 0,
        }
    }

    fn due(&mut self, _port: u32) -> Time {
        Time::NEVER
    }

    fn is_external(&self, port: u32) -> bool {
        self.ports.get(port as usize).is_some_and(Option::is_some)
    }

    fn note_crossing(&mut self, change: isize) {
        let held = self.held.checked_add_signed(change).expect("a frame that is held");
        self.held = held;
    }

    fn held(&self) -> usize {
        self.held
    }
}

/// Whether a frame may be sent again later.
fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}
