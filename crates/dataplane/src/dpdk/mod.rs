//! Backends over DPDK: frames are mbufs.
//!
//! [`Rings`] emulates the links of a fabric within the process and needs no privilege; [`Wire`]
//! sends by network interfaces and NICs. DPDK is started first, once per process, with
//! [`Environment::start`].

mod frame;
mod rings;
mod wire;

pub use frame::{MbufFrame, Note};
pub use incast_dpdk_sys::{
    EMBEDDED, Environment, Error, Mempool, Port, WIRE, arguments_for, forward, most_ports, version,
};
pub use rings::Rings;
pub use wire::Wire;

use frame::Beside;
use incast_dpdk_sys::Mbuf;
use std::sync::Arc;

/// Most frames in a burst to or from a device.
const BURST: usize = 32;
/// Most free mbufs that a backend keeps at hand.
const SPARE: usize = 512;

/// Packet memory of one thread: a pool, and free mbufs at hand.
struct Memory<T: Beside> {
    /// Freed before the pool, if this is its last user.
    spare: Vec<Mbuf<T>>,
    pool: Arc<Mempool<T>>,
    /// Frames that nodes hold.
    held: usize,
}

impl<T: Beside> Memory<T> {
    fn new(pool: Arc<Mempool<T>>) -> Memory<T> {
        Memory { spare: Vec::with_capacity(SPARE + BURST), pool, held: 0 }
    }

    #[inline]
    fn alloc(&mut self, length: usize) -> Option<MbufFrame<T>> {
        if self.spare.is_empty() && !self.pool.allocate(BURST, &mut self.spare) {
            self.pool.allocate(1, &mut self.spare);
        }
        let mut mbuf = self.spare.pop()?;
        if !mbuf.reset(length) {
            self.spare.push(mbuf);
            return None;
        }
        mbuf.private_mut().clear();
        self.held += 1;
        Some(MbufFrame(mbuf))
    }

    #[inline]
    fn free(&mut self, frame: MbufFrame<T>) {
        self.held -= 1;
        self.spare.push(frame.0);
        if self.spare.len() >= SPARE {
            let mut rest = self.spare.split_off(SPARE / 2);
            Mbuf::free_all(&mut rest);
        }
    }
}
