//! Queues that are mostly short and whose first element is read often: it lies in the queue itself
//! and only what is behind it in an allocation, so a queue of one element costs no further cache
//! line.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// First in, first out.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    head: Option<T>,
    /// Empty if there is no head.
    rest: VecDeque<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue::new()
    }
}

impl<T> Queue<T> {
    /// Nothing waits.
    pub fn new() -> Queue<T> {
        Queue { head: None, rest: VecDeque::new() }
    }

    /// Adds an element behind all others.
    #[inline]
    pub fn push_back(&mut self, element: T) {
        if self.head.is_none() {
            self.head = Some(element);
        } else {
            self.rest.push_back(element);
        }
    }

    /// Takes out the element that has waited longest.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let head = self.head.take()?;
        if !self.rest.is_empty() {
            self.head = self.rest.pop_front();
        }
        Some(head)
    }

    /// The element that has waited longest.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.head.as_ref()
    }

    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.head.is_some() as usize + self.rest.len()
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.head = None;
        self.rest.clear();
    }
}

/// The least element first.
#[derive(Clone, Debug)]
pub struct Agenda<T> {
    first: Option<T>,
    /// Empty if there is no first.
    rest: BinaryHeap<Reverse<T>>,
}

impl<T: Ord> Default for Agenda<T> {
    fn default() -> Agenda<T> {
        Agenda { first: None, rest: BinaryHeap::new() }
    }
}

impl<T: Ord> Agenda<T> {
    /// Adds an element.
    #[inline]
    pub fn push(&mut self, element: T) {
        match &mut self.first {
            None => self.first = Some(element),
            Some(first) if element < *first => {
                let later = std::mem::replace(first, element);
                self.rest.push(Reverse(later));
            }
            Some(_) => self.rest.push(Reverse(element)),
        }
    }

    /// The least element.
    #[inline]
    pub fn peek(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// Takes out the least element.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.first.take()?;
        self.first = self.rest.pop().map(|Reverse(next)| next);
        Some(first)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.first.is_some() as usize + self.rest.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_queue_is_a_deque(pushes in prop::collection::vec(any::<Option<u8>>(), 1..200)) {
            let (mut queue, mut deque) = (Queue::new(), VecDeque::new());
            for push in pushes {
                match push {
                    Some(255) => {
                        queue.clear();
                        deque.clear();
                    }
                    Some(element) => {
                        queue.push_back(element);
                        deque.push_back(element);
                    }
                    None => prop_assert_eq!(queue.pop_front(), deque.pop_front()),
                }
                prop_assert_eq!(queue.front(), deque.front());
                prop_assert_eq!(queue.is_empty(), deque.is_empty());
            }
        }

        #[test]
        fn an_agenda_is_a_heap(pushes in prop::collection::vec(any::<Option<u8>>(), 1..200)) {
            let (mut agenda, mut heap) = (Agenda::default(), BinaryHeap::new());
            for push in pushes {
                match push {
                    Some(element) => {
                        agenda.push(element);
                        heap.push(Reverse(element));
                    }
                    None => prop_assert_eq!(agenda.pop(), heap.pop().map(|least| least.0)),
                }
                prop_assert_eq!(agenda.peek(), heap.peek().map(|least| &least.0));
                prop_assert_eq!((agenda.len(), agenda.is_empty()), (heap.len(), heap.is_empty()));
            }
        }
    }
}
