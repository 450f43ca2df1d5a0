//! Backends whose ports lead out of the process.

use crate::{Meeting, PacketIo};
use std::any::Any;
use std::sync::Arc;

/// What came and went at a port, without hellos.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCount {
    /// Frames that the interface or device took.
    pub sent: u64,
    /// Frames received.
    pub received: u64,
    /// Frames that were there when the run was over, among those received.
    pub unread: u64,
    /// Frames received that are not of this program.
    pub foreign: u64,
    /// Frames that the interface refused for good, for instance because it is down.
    pub refused: u64,
    /// Frames that came and were dropped before this program could read them: the buffer of the
    /// kernel or the queue of the device was full.
    pub dropped: u64,
}

/// What keeps a port from reaching the other end of its link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// What it is, and what to do, in words.
    pub says: String,
    /// Whether waiting is of no use.
    pub ends: bool,
}

/// A backend whose ports lead out of the process: interfaces of the machine, devices of DPDK. Until
/// the neighbours have met it hands on hellos too.
pub trait Outside: PacketIo + Sized {
    /// The neighbours have met: from now on `meeting` answers the hellos of those that return, and
    /// none is handed on.
    fn end_hellos(&mut self, meeting: Arc<Meeting>);

    /// What is to be told of ports while they are in use is noted in `meeting`: part of
    /// [`end_hellos`](Outside::end_hellos), for who answers hellos itself.
    fn tell(&mut self, _meeting: Arc<Meeting>) {}

    /// What came and went at a port, if it is one of this backend.
    fn count(&mut self, port: u32) -> Option<PortCount>;

    /// What keeps a port from reaching the other end, if it is known.
    fn obstacle(&self, _port: u32) -> Option<Obstacle> {
        None
    }

    /// Frames that came by a port without the key of the network, if it has one.
    fn unkeyed(&self, _port: u32) -> u64 {
        0
    }

    /// Takes in what is still there, as received and unread, and drops it.
    fn drain(&mut self);

    /// This thread will use the backend until what is returned is dropped.
    fn enter_thread(&self) -> Option<Box<dyn Any>> {
        None
    }

    /// A backend for each group of ports, to be used by a thread of its own. Every port is in one
    /// group.
    fn split(self, groups: &[Vec<u32>]) -> Vec<Self>;
}

/// Divides things that are known by number.
#[cfg(any(feature = "dpdk", target_os = "linux"))]
pub(crate) fn divide<T>(mut all: Vec<Option<T>>, groups: &[Vec<u32>]) -> Vec<Vec<Option<T>>> {
    let take = |group: &Vec<u32>| {
        let mut part: Vec<Option<T>> = all.iter().map(|_| None).collect();
        for port in group {
            let port = *port as usize;
            (part[port], all[port]) = (all[port].take(), None);
        }
        part
    };
    groups.iter().map(take).collect()
}
