//! How much room lists take.

/// By how much a full list of this length grows: many flows keep long lists, so by a half and not to
/// twice the size.
#[inline]
pub(crate) fn growth(len: usize) -> usize {
    len / 2 + 8
}

/// To how much a list is cut that was much longer once.
pub(crate) fn excess(len: usize, capacity: usize) -> Option<usize> {
    (capacity > 64 && len < capacity / 4).then_some(2 * len)
}

/// Room for one more.
#[inline]
pub(crate) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(growth(list.len()));
    }
}
