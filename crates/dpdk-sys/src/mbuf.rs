//! A frame in packet memory.

use crate::raw::{Head, PRIVATE, incast_dpdk_free};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Bytes in front of an mbuf's data when it comes from its pool (`RTE_PKTMBUF_HEADROOM`).
pub const HEADROOM: usize = 128;

/// A frame that its holder owns: one segment, in memory of a [`Mempool<T>`](crate::Mempool), with a
/// private area that holds a `T`. Freed when it is dropped.
#[repr(transparent)]
pub struct Mbuf<T> {
    head: NonNull<Head>,
    private: PhantomData<T>,
}

// SAFETY: an mbuf has one owner, and DPDK lets any thread use and free it.
unsafe impl<T: Send> Send for Mbuf<T> {}

impl<T> Mbuf<T> {
    #[inline]
    fn head(&self) -> &Head {
        // SAFETY: the mbuf is alive as long as its handle, which alone reaches it.
        unsafe { self.head.as_ref() }
    }

    #[inline]
    fn head_mut(&mut self) -> &mut Head {
        // SAFETY: as above, and the handle is borrowed exclusively.
        unsafe { self.head.as_mut() }
    }

    /// Bytes of the frame.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "an empty frame is none")]
    pub fn len(&self) -> usize {
        self.head().data_len as usize
    }

    /// The frame.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        let head = self.head();
        // SAFETY: data lies within the buffer: `set_window` keeps it there, and so does DPDK.
        // Packet memory is initialised: the pool was zeroed when it was mapped.
        unsafe {
            let start = head.buf_addr.add(head.data_off as usize);
            std::slice::from_raw_parts(start, head.data_len as usize)
        }
    }

    /// The frame.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let head = self.head_mut();
        // SAFETY: as above.
        unsafe {
            let start = head.buf_addr.add(head.data_off as usize);
            std::slice::from_raw_parts_mut(start, head.data_len as usize)
        }
    }

    /// Where the frame lies in its buffer.
    #[inline]
    fn set_window(&mut self, start: usize, length: usize) {
        let head = self.head_mut();
        debug_assert!(start + length <= head.buf_len as usize);
        head.data_off = start as u16;
        head.data_len = length as u16;
        head.pkt_len = length as u32;
    }

    /// Gives the frame this length, with [`HEADROOM`] in front; the contents are undefined. False,
    /// and nothing happens, if the buffer is too small.
    #[inline]
    pub fn reset(&mut self, length: usize) -> bool {
        let fits = HEADROOM + length <= self.head().buf_len as usize;
        if fits {
            self.set_window(HEADROOM, length);
        }
        fits
    }

    /// Adds `by` bytes in front, contents undefined. False, and nothing happens, if there is no room.
    #[inline]
    pub fn grow_front(&mut self, by: usize) -> bool {
        let (start, length) = (self.head().data_off as usize, self.len());
        let fits = by <= start;
        if fits {
            self.set_window(start - by, length + by);
        }
        fits
    }

    /// Takes `by` bytes off the front.
    ///
    /// Panics if the frame is shorter.
    #[inline]
    pub fn cut_front(&mut self, by: usize) {
        let (start, length) = (self.head().data_off as usize, self.len());
        assert!(by <= length, "cannot cut {by} B off {length} B");
        self.set_window(start + by, length - by);
    }

    /// Cuts the end off: `length` bytes remain, or all if the frame is shorter.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        let (start, now) = (self.head().data_off as usize, self.len());
        self.set_window(start, length.min(now));
    }

    /// Adds `by` zeros at the end. False, and nothing happens, if the buffer is too small.
    pub fn pad(&mut self, by: usize) -> bool {
        let (start, length) = (self.head().data_off as usize, self.len());
        let fits = start + length + by <= self.head().buf_len as usize;
        if fits {
            self.set_window(start, length + by);
            self.bytes_mut()[length..].fill(0);
        }
        fits
    }

    /// Brings what a reader of the frame's headers and of the private area touches first into the
    /// cache, if the frame begins behind [`HEADROOM`].
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let start = self.head.as_ptr().cast::<i8>();
            let frame = PRIVATE + size_of::<T>().next_multiple_of(64) + HEADROOM;
            for place in [0, PRIVATE, frame] {
                // SAFETY: a prefetch has no effect a program can observe, whatever the address.
                unsafe { _mm_prefetch(start.wrapping_add(place), _MM_HINT_T0) }
            }
        }
    }

    /// Whether the frame is all in this mbuf. Those from a pool are; a NIC may deliver others.
    #[inline]
    pub fn is_one_segment(&self) -> bool {
        self.head().nb_segs == 1
    }

    /// The private area.
    #[inline]
    pub fn private(&self) -> &T {
        // SAFETY: the pool wrote a `T` there when it was created, and only handles write it again.
        unsafe { &*self.head.as_ptr().byte_add(PRIVATE).cast::<T>() }
    }

    /// The private area.
    #[inline]
    pub fn private_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.head.as_ptr().byte_add(PRIVATE).cast::<T>() }
    }

    /// Frees all of them at once.
    pub fn free_all(mbufs: &mut Vec<Mbuf<T>>) {
        // SAFETY: the handles are as many pointers, given up by the `set_len`.
        unsafe {
            let count = mbufs.len();
            mbufs.set_len(0);
            incast_dpdk_free(mbufs.as_mut_ptr().cast(), count as u32);
        }
    }
}

impl<T> Drop for Mbuf<T> {
    #[inline]
    fn drop(&mut self) {
        let mut head = self.head.as_ptr();
        // SAFETY: the handle owned it.
        unsafe { incast_dpdk_free(&mut head, 1) }
    }
}

impl<T> std::fmt::Debug for Mbuf<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mbuf({} B)", self.len())
    }
}

/// Room for `most` more handles at the end of `into`, to be filled by `fill`, which returns how many it
/// wrote.
#[inline]
pub(crate) fn append<T>(
    into: &mut Vec<Mbuf<T>>,
    most: usize,
    fill: impl FnOnce(*mut *mut Head) -> usize,
) -> usize {
    into.reserve(most);
    // SAFETY: there is room for `most`, of which `fill` wrote `count`; a handle is a pointer.
    unsafe {
        let end = into.as_mut_ptr().add(into.len());
        let count = fill(end.cast::<*mut Head>());
        debug_assert!(count <= most);
        into.set_len(into.len() + count);
        count
    }
}

/// Hands the first handles of `from` to `take`, which returns how many it took, and removes those.
#[inline]
pub(crate) fn hand_over<T>(
    from: &mut Vec<Mbuf<T>>,
    take: impl FnOnce(*mut *mut Head, usize) -> usize,
) -> usize {
    let count = from.len();
    let start = from.as_mut_ptr().cast::<*mut Head>();
    let taken = take(start, count);
    debug_assert!(taken <= count);
    // SAFETY: the first `taken` are another's now; the others move to the front.
    unsafe {
        std::ptr::copy(start.add(taken), start, count - taken);
        from.set_len(count - taken);
    }
    taken
}
