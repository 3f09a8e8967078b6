//! In which I/Os changed pages are written.

use super::config::WRITE_REACH;

/// A write I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteIo {
    /// Key of its first page.
    pub first: u64,
    /// Pages.
    pub pages: u32,
}

/// Write I/Os for pages in rising order: each takes up to `quantity` pages that lie within 180.
pub(crate) fn write_ios(pages: &[u64], quantity: usize) -> impl Iterator<Item = WriteIo> {
    let mut rest = pages;
    std::iter::from_fn(move || {
        let &first = rest.first()?;
        let reach = first.saturating_add(WRITE_REACH);
        let count = rest.iter().take(quantity).take_while(|&&page| page < reach).count();
        rest = &rest[count..];
        Some(WriteIo { first, pages: count as u32 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ios_hold_thirty_two_pages_within_a_hundred_and_eighty() {
        let count = |pages: &[u64], quantity: usize| write_ios(pages, quantity).count();
        let steps = |count: u64, step: u64| (0..count).map(|at| 1000 + at * step).collect::<Vec<_>>();
        assert_eq!(count(&[], 32), 0);
        assert_eq!(count(&steps(32, 1), 32), 1);
        assert_eq!(count(&steps(33, 1), 32), 2);
        // Pages 0, 90 and 179 fit; 180 begins the next.
        assert_eq!(count(&[0, 90, 179], 32), 1);
        assert_eq!(count(&[0, 90, 180], 32), 2);
        // Every tenth page: eighteen to an I/O.
        assert_eq!(count(&steps(36, 10), 32), 2);
        assert_eq!(count(&steps(10, 180), 32), 10);
        assert_eq!(count(&steps(32, 1), 4), 8);
    }

    #[test]
    fn an_io_says_where_it_begins() {
        let ios: Vec<WriteIo> = write_ios(&[7, 100, 187, 188, 400], 32).collect();
        // 7 to 186; 187 begins the next.
        assert_eq!(ios.iter().map(|io| (io.first, io.pages)).collect::<Vec<_>>(), [(7, 2), (187, 2), (400, 1)]);
    }
}
