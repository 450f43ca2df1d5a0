//! Frames that only who has the key of the network can make.
//!
//! With a key every frame that leaves by a port, hellos included, is followed by [`TRAILER`] bytes that its IP length
//! does not count: a number that grows from frame to frame, and the first 16 bytes of an HMAC-SHA256 (RFC 2104)
//! over the port that sends, this number and the IP packet. A frame that comes is dropped and counted unless that
//! fits and its number is larger than all before it on the link. So nobody without the key joins, ends or changes
//! a flow, and what was recorded on a link is worth nothing while the link's nodes run. Payload is not hidden.
//!
//! Numbers begin at the time of day at which a node starts, so that those of a node that is started again are
//! larger than before.

use crate::outside::{Obstacle, Outside, PortCount};
use crate::{Arrival, Departure, Frame, HELLO, Meeting, PacketIo};
use hmac::{Hmac, Mac};
use incast_transport::Time;
use sha2::Sha256;
use std::any::Any;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes behind each frame.
pub const TRAILER: usize = NUMBER + TAG;
const NUMBER: usize = 8;
const TAG: usize = 16;
/// Fewest bytes of a key.
pub const KEY_LEAST: usize = 16;
/// Where the protocol stands in an IPv4 packet.
const IP_PROTOCOL: usize = 9;

/// The key of a network.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl Key {
    /// From these bytes; `None` if they are fewer than [`KEY_LEAST`].
    pub fn new(bytes: &[u8]) -> Option<Key> {
        let keyed = Hmac::new_from_slice(bytes).expect("keys have any length");
        (bytes.len() >= KEY_LEAST).then_some(Key(keyed))
    }

    fn over(&self, port: u32, number: u64, packet: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(&port.to_be_bytes());
        mac.update(&number.to_be_bytes());
        mac.update(packet);
        mac
    }
}

/// A port and the link that it leads to.
#[derive(Clone, Copy, Debug)]
struct Link {
    port: u32,
    /// The port at the other end.
    peer: u32,
    /// Number of the last frame that left.
    sent: u64,
    /// The largest of those that came.
    heard: u64,
    /// Frames without the key.
    refused: u64,
}

/// A backend whose frames are authenticated.
pub struct Keyed<I: PacketIo> {
    inner: I,
    key: Key,
    links: Vec<Link>,
    /// Answers hellos once neighbours have met.
    met: Option<Arc<Meeting>>,
    incoming: Vec<Arrival<I::Frame>>,
}

impl<I: PacketIo> Keyed<I> {
    /// Frames of `ports`, each with the port at the other end of its link.
    pub fn new(inner: I, key: Key, ports: &[(u32, u32)]) -> Keyed<I> {
        let now =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
        let link =
            |&(port, peer): &(u32, u32)| Link { port, peer, sent: now, heard: 0, refused: 0 };
        Keyed { inner, key, links: ports.iter().map(link).collect(), met: None, incoming: vec![] }
    }

    /// Frames that came by a port without the key.
    pub fn refused(&self, port: u32) -> u64 {
        let link = self.links.iter().find(|link| link.port == port);
        link.map_or(0, |link| link.refused)
    }

    /// Takes the trailer off a frame that came by a port; whether it has the key.
    fn opens(&mut self, port: u32, frame: &mut I::Frame) -> bool {
        let Some(link) = self.links.iter_mut().find(|link| link.port == port) else { return false };
        let fits = |bytes: &[u8]| {
            let length = u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]) as usize;
            let trailer = bytes.get(length..length + TRAILER)?;
            let (number, tag) = trailer.split_first_chunk::<NUMBER>()?;
            let number = u64::from_be_bytes(*number);
            let mac = self.key.over(link.peer, number, &bytes[..length]);
            mac.verify_truncated_left(tag).ok()?;
            Some((number, length)).filter(|(number, _)| *number > link.heard)
        };
        match fits(frame.bytes()) {
            Some((number, length)) => {
                link.heard = number;
                frame.truncate(length);
                true
            }
            None => {
                link.refused += 1;
                false
            }
        }
    }

    /// Sends an answer to a hello, if there is room.
    #[cold]
    fn say(&mut self, port: u32, bytes: &[u8]) {
        let Some(mut frame) = self.alloc(bytes.len()) else { return };
        frame.bytes_mut().copy_from_slice(bytes);
        let at = Time::ZERO;
        if let Err(frame) =
            self.stage(port, frame, Departure { start: at, release: at, complete: at })
        {
            self.free(frame);
        }
        self.flush(port);
    }
}

impl<I: PacketIo> PacketIo for Keyed<I> {
    type Frame = I::Frame;

    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<I::Frame>>,
    ) -> usize {
        let mut incoming = std::mem::take(&mut self.incoming);
        self.inner.rx_burst(port, now, most, &mut incoming);
        let had = into.len();
        for mut one in incoming.drain(..) {
            if !self.opens(port, &mut one.frame) {
                self.inner.free(one.frame);
                continue;
            }
            let is_hello = one.frame.bytes().get(IP_PROTOCOL) == Some(&HELLO);
            match &self.met {
                Some(meeting) if is_hello => {
                    let answer = meeting.answer(port, one.frame.bytes());
                    self.inner.free(one.frame);
                    answer.into_iter().for_each(|answer| self.say(port, &answer));
                }
                _ => into.push(one),
            }
        }
        self.incoming = incoming;
        into.len() - had
    }

    fn alloc(&mut self, length: usize) -> Option<I::Frame> {
        self.inner.alloc(length)
    }

    fn free(&mut self, frame: I::Frame) {
        self.inner.free(frame);
    }

    /// The frame leaves in a longer one.
    fn stage(&mut self, port: u32, frame: I::Frame, departure: Departure) -> Result<(), I::Frame> {
        let length = frame.bytes().len();
        let Some(link) = self.links.iter_mut().find(|link| link.port == port) else {
            return Err(frame);
        };
        if self.inner.room(port) == 0 {
            return Err(frame);
        }
        let Some(mut longer) = self.inner.alloc(length + TRAILER) else { return Err(frame) };
        link.sent += 1;
        let bytes = longer.bytes_mut();
        bytes[..length].copy_from_slice(frame.bytes());
        bytes[length..length + NUMBER].copy_from_slice(&link.sent.to_be_bytes());
        let tag = self.key.over(port, link.sent, frame.bytes()).finalize().into_bytes();
        bytes[length + NUMBER..].copy_from_slice(&tag[..TAG]);
        match self.inner.stage(port, longer, departure) {
            Ok(()) => {
                self.inner.free(frame);
                Ok(())
            }
            Err(longer) => {
                self.inner.free(longer);
                Err(frame)
            }
        }
    }

    fn flush(&mut self, port: u32) -> usize {
        self.inner.flush(port)
    }

    fn room(&mut self, port: u32) -> usize {
        self.inner.room(port)
    }

    fn due(&mut self, port: u32) -> Time {
        self.inner.due(port)
    }

    fn is_external(&self, port: u32) -> bool {
        self.inner.is_external(port)
    }

    fn note_crossing(&mut self, change: isize) {
        self.inner.note_crossing(change);
    }

    fn held(&self) -> usize {
        self.inner.held()
    }
}

impl<I: Outside> Outside for Keyed<I> {
    fn end_hellos(&mut self, meeting: Arc<Meeting>) {
        self.inner.tell(meeting.clone());
        self.met = Some(meeting);
    }

    /// Hellos are none of them: those of peers with the key are taken out here.
    fn count(&mut self, port: u32) -> Option<PortCount> {
        self.inner.count(port)
    }

    fn obstacle(&self, port: u32) -> Option<Obstacle> {
        self.inner.obstacle(port)
    }

    fn unkeyed(&self, port: u32) -> u64 {
        self.refused(port)
    }

    fn drain(&mut self) {
        self.inner.drain();
    }

    fn enter_thread(&self) -> Option<Box<dyn Any>> {
        self.inner.enter_thread()
    }

    fn split(self, groups: &[Vec<u32>]) -> Vec<Self> {
        let Keyed { inner, key, links, met, .. } = self;
        let part = |(inner, ports): (I, &Vec<u32>)| {
            let own = links.iter().filter(|link| ports.contains(&link.port));
            let links = own.copied().collect();
            Keyed { inner, key: key.clone(), links, met: met.clone(), incoming: vec![] }
        };
        inner.split(groups).into_iter().zip(groups).map(part).collect()
    }
}
