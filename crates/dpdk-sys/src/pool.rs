//! Packet memory.

use crate::error::reason;
use crate::mbuf::{HEADROOM, append};
use crate::raw::{
    PRIVATE, RawPool, incast_dpdk_alloc, incast_dpdk_pool_available, incast_dpdk_pool_create,
    incast_dpdk_pool_free,
};
use crate::{Environment, Error, Mbuf};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Most mbufs that a thread keeps for itself.
const CACHE: usize = 256;

/// Packet memory: a fixed number of mbufs of one size, each with a private area that holds a `T`.
pub struct Mempool<T> {
    pool: NonNull<RawPool>,
    count: usize,
    room: usize,
    environment: Environment,
    private: PhantomData<T>,
}

// SAFETY: any thread may allocate from it, also at the same time.
unsafe impl<T: Send> Send for Mempool<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Mempool<T> {}

/// Writes the first value of a private area.
extern "C" fn write_default<T: Default>(area: *mut u8) {
    // SAFETY: the area has the size of a `T` (`Mempool::new`) and its alignment: mbufs are aligned
    // to 64 bytes.
    unsafe { area.cast::<T>().write(T::default()) }
}

impl<T: Copy + Default + Send> Mempool<T> {
    const FITS: () = {
        assert!(size_of::<T>() <= 1024 && align_of::<T>() <= 64);
    };

    /// `count` mbufs for frames of up to `longest` bytes behind [`HEADROOM`].
    pub fn new(
        environment: Environment,
        count: usize,
        longest: usize,
    ) -> Result<Mempool<T>, Error> {
        const { Self::FITS };
        let private = size_of::<T>().next_multiple_of(64);
        let room = HEADROOM + longest.next_multiple_of(64);
        let fault = |reason| Error::Memory { count, bytes: PRIVATE + private + room, reason };
        let size =
            u16::try_from(room).map_err(|_| fault("frames are shorter than 64 KiB".into()))?;
        let mbufs = u32::try_from(count).map_err(|_| fault("too many".into()))?;
        // A cache may hold no more than a part of the pool.
        let cache = CACHE.min(count * 2 / 3) as u32;
        let name = environment.name("incast_pool");
        let mut pool = std::ptr::null_mut();
        // SAFETY: DPDK runs; the name is a text; `out` is written if the result is 0.
        let result = unsafe {
            incast_dpdk_pool_create(
                name.as_ptr(),
                mbufs,
                cache,
                private as u16,
                size,
                write_default::<T>,
                &mut pool,
            )
        };
        match NonNull::new(pool) {
            Some(pool) if result == 0 => {
                Ok(Mempool { pool, count, room, environment, private: PhantomData })
            }
            _ => Err(fault(reason(result))),
        }
    }
}

impl<T> Mempool<T> {
    pub(crate) fn raw(&self) -> *mut RawPool {
        self.pool.as_ptr()
    }

    pub(crate) fn environment(&self) -> Environment {
        self.environment
    }

    /// How many mbufs there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The longest frame, in bytes.
    pub fn longest(&self) -> usize {
        self.room - HEADROOM
    }

    /// How many of them nobody holds.
    pub fn available(&self) -> usize {
        // SAFETY: the pool is alive.
        unsafe { incast_dpdk_pool_available(self.raw()) as usize }
    }

    /// Appends `count` mbufs of no length, or none if there are fewer; returns whether it did.
    #[inline]
    pub fn allocate(&self, count: usize, into: &mut Vec<Mbuf<T>>) -> bool {
        let got = append(into, count, |out| {
            // SAFETY: there is room for `count` pointers.
            let result = unsafe { incast_dpdk_alloc(self.raw(), out, count as u32) };
            if result == 0 { count } else { 0 }
        });
        got == count
    }
}

impl<T> Drop for Mempool<T> {
    /// A pool of which mbufs are held elsewhere stays: its memory is in use.
    fn drop(&mut self) {
        if self.available() == self.count {
            // SAFETY: nobody holds a part of it.
            unsafe { incast_dpdk_pool_free(self.raw()) }
        }
    }
}

impl<T> std::fmt::Debug for Mempool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mempool({} of {} free)", self.available(), self.count)
    }
}
