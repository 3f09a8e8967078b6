//! Page physical locks: which member may change a page on which several of them work at the same time, since what they
//! lock is less than a page (rows) or nothing that a transaction holds (leaves of indexes). A member keeps such a lock
//! over its transactions until another asks for it, which it grants after writing the page, or until the page leaves
//! its pool.

use super::locks::ByNumber;

/// What asking for a lock led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The member has it already.
    Held,
    /// Nobody had it.
    Granted,
    /// This other member had it and has given it up.
    Negotiated(u8),
}

/// Holders of the locks of a pool's pages.
#[derive(Clone, Debug, Default)]
pub struct PageLocks {
    holders: ByNumber<u8>,
}

impl PageLocks {
    /// A member wants to change a page.
    pub fn ask(&mut self, key: u64, member: u8) -> Asked {
        match self.holders.insert(key, member) {
            None => Asked::Granted,
            Some(holder) if holder == member => Asked::Held,
            Some(holder) => Asked::Negotiated(holder),
        }
    }

    /// The page leaves a member's pool; whether the member had the lock.
    pub fn release(&mut self, key: u64, member: u8) -> bool {
        if self.holders.get(&key) != Some(&member) {
            return false;
        }
        self.holders.remove(&key).is_some()
    }

    /// A member is lost; the pages whose locks it had, in rising order.
    pub fn lose(&mut self, member: u8) -> Vec<u64> {
        let mut lost: Vec<u64> =
            self.holders.iter().filter(|&(_, &holder)| holder == member).map(|(&key, _)| key).collect();
        lost.sort_unstable();
        for key in &lost {
            self.holders.remove(key);
        }
        lost
    }

    /// Locks held.
    pub fn held(&self) -> usize {
        self.holders.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_stays_with_its_member_until_another_asks() {
        let mut locks = PageLocks::default();
        assert_eq!(locks.ask(1, 0), Asked::Granted);
        assert_eq!(locks.ask(1, 0), Asked::Held);
        assert_eq!(locks.ask(1, 1), Asked::Negotiated(0));
        // The former holder has nothing to give back.
        assert!(!locks.release(1, 0));
        assert!(locks.release(1, 1));
        assert_eq!(
            (locks.ask(1, 0), locks.ask(2, 0), locks.ask(3, 1)),
            (Asked::Granted, Asked::Granted, Asked::Granted)
        );
        assert_eq!(locks.lose(0), [1, 2]);
        assert_eq!((locks.held(), locks.ask(1, 1)), (1, Asked::Granted));
    }
}
