//! A row for each of many things, of which few may ever be used: rows are made in pages when they are
//! first touched. So many that memory does not matter are made at once: then a row is as near as in
//! a vector.

use std::cell::OnceCell;
use std::ops::{Index, IndexMut};

/// Rows of a page.
const PAGE: usize = 16;
/// Most rows that are made at once.
const AT_ONCE: usize = 1 << 16;

/// Rows by number.
pub(crate) struct Paged<T> {
    /// All rows, or none if there are too many.
    flat: Vec<T>,
    pages: Vec<OnceCell<Box<[T; PAGE]>>>,
    count: usize,
    make: Box<dyn Fn(u32) -> T + Send>,
}

impl<T> Paged<T> {
    /// So many rows, each made by `make` from its number.
    pub fn new(count: usize, make: impl Fn(u32) -> T + Send + 'static) -> Paged<T> {
        Paged::at_most(AT_ONCE, count, make)
    }

    /// The same; at most so many are made at once.
    fn at_most(at_once: usize, count: usize, make: impl Fn(u32) -> T + Send + 'static) -> Paged<T> {
        let all = if count <= at_once { count } else { 0 };
        let flat = (0..all as u32).map(&make).collect();
        let pages = (0..(count - all).div_ceil(PAGE)).map(|_| OnceCell::new()).collect();
        Paged { flat, pages, count, make: Box::new(make) }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// A row that was made.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&T> {
        self.flat.get(number).or_else(|| self.made_in_page(number))
    }

    // What follows is not inlined: most fabrics do not need it.

    #[inline(never)]
    fn made_in_page(&self, number: usize) -> Option<&T> {
        let page = self.pages.get(number / PAGE)?.get()?;
        Some(&page[number % PAGE])
    }

    #[inline(never)]
    fn in_page(&self, number: usize) -> &T {
        let page = &self.pages[number / PAGE];
        &page.get_or_init(|| Self::page(&self.make, self.count, number / PAGE))[number % PAGE]
    }

    #[inline(never)]
    fn in_page_mut(&mut self, number: usize) -> &mut T {
        let page = &mut self.pages[number / PAGE];
        if page.get().is_none() {
            let made = Self::page(&self.make, self.count, number / PAGE);
            assert!(page.set(made).is_ok(), "it is empty");
        }
        &mut page.get_mut().expect("it was made")[number % PAGE]
    }

    #[cold]
    #[inline(never)]
    fn page(make: &dyn Fn(u32) -> T, count: usize, page: usize) -> Box<[T; PAGE]> {
        // The last page has rows beyond the last number: as its last one, and never used.
        let number = |row: usize| (page * PAGE + row).min(count - 1) as u32;
        Box::new(std::array::from_fn(|row| make(number(row))))
    }

    /// The rows that were made, with their numbers, in order.
    pub fn made(&self) -> impl Iterator<Item = (u32, &T)> {
        let flat = (0..).zip(&self.flat);
        let pages = self.pages.iter().zip(0..).filter_map(|(page, at)| Some((page.get()?, at)));
        let rows = pages.flat_map(|(page, at): (_, u32)| {
            page.iter().zip(0..).map(move |(row, place)| (at * PAGE as u32 + place, row))
        });
        flat.chain(rows.take_while(|(number, _)| (*number as usize) < self.count))
    }

    /// The same, to take them.
    pub fn into_made(self) -> impl Iterator<Item = (u32, T)> {
        let count = self.count as u32;
        let flat = (0..).zip(self.flat);
        let pages = self.pages.into_iter().zip(0..);
        let pages = pages.filter_map(|(page, at)| Some((page.into_inner()?, at)));
        let rows = pages.flat_map(|(page, at): (Box<[T; PAGE]>, u32)| {
            let numbers = at * PAGE as u32..;
            numbers.zip(<Box<[T]> as Into<Vec<T>>>::into(page))
        });
        flat.chain(rows.take_while(move |(number, _)| *number < count))
    }

    /// The numbers of the rows that were made, in order.
    pub fn numbers(&self) -> Vec<u32> {
        self.made().map(|(number, _)| number).collect()
    }
}

impl<T> Index<usize> for Paged<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: usize) -> &T {
        match self.flat.get(number) {
            Some(row) => row,
            None => self.in_page(number),
        }
    }
}

impl<T> IndexMut<usize> for Paged<T> {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut T {
        if number < self.flat.len() {
            return &mut self.flat[number];
        }
        self.in_page_mut(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_made_by_pages_when_touched() {
        let mut rows = Paged::at_most(39, 40, |number| number * 10);
        assert_eq!((rows.len(), rows.made().count()), (40, 0));
        assert_eq!(rows[39], 390);
        rows[3] += 1;
        let expected =
            (0..16).map(|n| (n, n * 10 + (n == 3) as u32)).chain((32..40).map(|n| (n, n * 10)));
        assert!(rows.made().map(|(number, row)| (number, *row)).eq(expected));
    }

    #[test]
    fn few_rows_are_made_at_once() {
        let mut rows = Paged::at_most(40, 40, |number| number * 10);
        rows[3] += 1;
        assert_eq!((rows.get(3), rows.get(40), rows[39]), (Some(&31), None, 390));
        assert!(rows.numbers().into_iter().eq(0..40));
        assert!(rows.into_made().eq((0..40).map(|n| (n, n * 10 + (n == 3) as u32))));
    }
}
