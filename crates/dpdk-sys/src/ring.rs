//! Rings of mbufs.

use crate::error::reason;
use crate::mbuf::{append, hand_over};
use crate::raw::{
    RawRing, incast_dpdk_ring_count, incast_dpdk_ring_create, incast_dpdk_ring_free,
    incast_dpdk_ring_put, incast_dpdk_ring_take,
};
use crate::{Environment, Error, Mbuf};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A ring of mbufs, with one thread that puts and one that takes.
pub struct Ring<T> {
    ring: NonNull<RawRing>,
    count: usize,
    private: PhantomData<T>,
}

// SAFETY: what it holds may go to another thread; `&mut` keeps each end to one user at a time.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T> Ring<T> {
    /// A ring that holds `count` mbufs, at least 1.
    pub fn new(environment: Environment, count: usize) -> Result<Ring<T>, Error> {
        let count = count.max(1);
        let fault = |reason| Error::Ring { count, reason };
        let size = u32::try_from(count).map_err(|_| fault("too many".into()))?;
        let name = environment.name("incast_ring");
        let mut ring = std::ptr::null_mut();
        // SAFETY: DPDK runs; the name is a text; `out` is written if the result is 0.
        let result = unsafe { incast_dpdk_ring_create(name.as_ptr(), size, &mut ring) };
        match NonNull::new(ring) {
            Some(ring) if result == 0 => Ok(Ring { ring, count, private: PhantomData }),
            _ => Err(fault(reason(result))),
        }
    }

    pub(crate) fn raw(&self) -> *mut RawRing {
        self.ring.as_ptr()
    }

    /// Most mbufs it holds.
    pub fn capacity(&self) -> usize {
        self.count
    }

    /// Mbufs in it.
    #[inline]
    pub fn count(&self) -> usize {
        // SAFETY: the ring is alive.
        unsafe { incast_dpdk_ring_count(self.raw()) as usize }
    }

    /// Puts the first of `from` into the ring, as many as there is room for; returns how many.
    #[inline]
    pub fn put(&mut self, from: &mut Vec<Mbuf<T>>) -> usize {
        // SAFETY: as many pointers as stated.
        hand_over(from, |start, count| unsafe {
            incast_dpdk_ring_put(self.raw(), start, count as u32) as usize
        })
    }

    /// Takes at most `most` out of the ring; returns how many.
    #[inline]
    pub fn take(&mut self, most: usize, into: &mut Vec<Mbuf<T>>) -> usize {
        // SAFETY: there is room for as many pointers as stated.
        append(into, most, |out| unsafe {
            incast_dpdk_ring_take(self.raw(), out, most as u32) as usize
        })
    }
}

impl<T> Drop for Ring<T> {
    /// Frees what is in it.
    fn drop(&mut self) {
        let mut rest = vec![];
        while self.take(64, &mut rest) > 0 {
            rest.clear();
        }
        // SAFETY: the handle owned it; a port that used it is closed first (`Port` holds it).
        unsafe { incast_dpdk_ring_free(self.raw()) }
    }
}
