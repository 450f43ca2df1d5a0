//! Mbufs as frames.

use crate::{Frame, Trail};
use incast_dpdk_sys::Mbuf;
use incast_transport::Time;

/// A frame in an mbuf.
#[derive(Debug)]
pub struct MbufFrame<T>(pub(super) Mbuf<T>);

/// What lies beside a frame in its mbuf.
pub trait Beside: Copy + Default + Send + 'static {
    /// The path so far, if it is kept.
    fn trail(&self) -> Option<&Trail>;
    /// Keeps the path so far, or does not.
    fn set_trail(&mut self, trail: &Trail);
    /// Forgets what another frame has left.
    fn clear(&mut self);
}

/// Over a wire only bytes go.
impl Beside for () {
    fn trail(&self) -> Option<&Trail> {
        None
    }
    fn set_trail(&mut self, _trail: &Trail) {}
    fn clear(&mut self) {}
}

/// What travels beside a frame on an emulated link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Note {
    /// When the other end may have it.
    pub(super) release: Time,
    /// When its last bit is there.
    pub(super) complete: Time,
    known: bool,
    trail: Trail,
}

impl Beside for Note {
    #[inline]
    fn trail(&self) -> Option<&Trail> {
        self.known.then_some(&self.trail)
    }
    #[inline]
    fn set_trail(&mut self, trail: &Trail) {
        (self.known, self.trail) = (true, *trail);
    }
    #[inline]
    fn clear(&mut self) {
        self.known = false;
    }
}

impl<T: Beside> Frame for MbufFrame<T> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
    fn grow_front(&mut self, by: usize) -> bool {
        self.0.grow_front(by)
    }
    fn cut_front(&mut self, by: usize) {
        self.0.cut_front(by);
    }
    #[inline]
    fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }
    #[inline]
    fn trail(&self) -> Option<&Trail> {
        self.0.private().trail()
    }
    #[inline]
    fn set_trail(&mut self, trail: &Trail) {
        self.0.private_mut().set_trail(trail);
    }
}
