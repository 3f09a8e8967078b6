//! In how many I/Os changed pages are written.

use super::config::WRITE_REACH;

/// Number of write I/Os for pages in rising order: each takes up to `quantity` pages that lie within 180.
pub(crate) fn write_ios(pages: &[u64], quantity: usize) -> u64 {
    let (mut ios, mut at) = (0, 0);
    while at < pages.len() {
        let reach = pages[at].saturating_add(WRITE_REACH);
        at += pages[at..].iter().take(quantity).take_while(|&&page| page < reach).count();
        ios += 1;
    }
    ios
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ios_hold_thirty_two_pages_within_a_hundred_and_eighty() {
        let steps = |count: u64, step: u64| (0..count).map(|at| 1000 + at * step).collect::<Vec<_>>();
        assert_eq!(write_ios(&[], 32), 0);
        assert_eq!(write_ios(&steps(32, 1), 32), 1);
        assert_eq!(write_ios(&steps(33, 1), 32), 2);
        // Pages 0, 90 and 179 fit; 180 begins the next.
        assert_eq!(write_ios(&[0, 90, 179], 32), 1);
        assert_eq!(write_ios(&[0, 90, 180], 32), 2);
        // Every tenth page: eighteen to an I/O.
        assert_eq!(write_ios(&steps(36, 10), 32), 2);
        assert_eq!(write_ios(&steps(10, 180), 32), 10);
        assert_eq!(write_ios(&steps(32, 1), 4), 8);
    }
}
