//! Page set physical locks: which members read and which change a page set, and when it therefore depends on the group
//! buffer pool ("Sysplex/CICSplex/DB2 Data Sharing", 1996, table 1).

use crate::kernel::Time;

/// What a member does with a page set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interest {
    /// Not open.
    #[default]
    None,
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// Mode of a page set physical lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSetLock {
    /// Share.
    S,
    /// Intent share.
    IS,
    /// Exclusive.
    X,
    /// Share with intent exclusive.
    SIX,
    /// Intent exclusive.
    IX,
}

/// Mode of a member's lock, and whether the page set depends on the group buffer pool, from its own interest and the
/// strongest of the others; none where it has no interest.
pub fn page_set_lock(own: Interest, others: Interest) -> Option<(PageSetLock, bool)> {
    match (own, others) {
        (Interest::None, _) => None,
        (Interest::Read, Interest::None | Interest::Read) => Some((PageSetLock::S, false)),
        (Interest::Read, Interest::Write) => Some((PageSetLock::IS, true)),
        (Interest::Write, Interest::None) => Some((PageSetLock::X, false)),
        (Interest::Write, Interest::Read) => Some((PageSetLock::SIX, true)),
        (Interest::Write, Interest::Write) => Some((PageSetLock::IX, true)),
    }
}

#[derive(Clone, Debug)]
struct PageSet {
    interests: Vec<Interest>,
    updated: Vec<Time>,
    dependent: bool,
    /// Lost members whose locks on it are retained, by bit.
    retained: u64,
    /// A lost member alone used it, and changed it: nobody gets in until that member has recovered.
    closed: bool,
    /// Members that change it, in the order in which they began to: the first is its castout owner.
    writers: Vec<u8>,
}

/// Interests of all members in all page sets.
#[derive(Clone, Debug)]
pub struct Interests {
    page_sets: Vec<PageSet>,
    changes: u64,
    /// Page sets that stopped to be dependent, with the member whose interest ended.
    ended: Vec<(u32, u8)>,
}

impl Interests {
    /// Nobody has opened anything.
    pub fn new(members: usize, page_sets: usize) -> Self {
        let one = PageSet {
            interests: vec![Interest::None; members],
            updated: vec![0; members],
            dependent: false,
            retained: 0,
            closed: false,
            writers: Vec::new(),
        };
        Self { page_sets: vec![one; page_sets], changes: 0, ended: Vec::new() }
    }

    /// A member uses a page set; whether its lock has to be asked for or changed.
    pub fn note(&mut self, member: u8, page_set: u32, now: Time, update: bool) -> bool {
        let about = &mut self.page_sets[page_set as usize];
        let at = usize::from(member);
        if update {
            about.updated[at] = now;
        }
        let wanted = if update { Interest::Write } else { Interest::Read };
        if about.interests[at] >= wanted {
            return false;
        }
        about.interests[at] = wanted;
        if update && !about.writers.contains(&member) {
            about.writers.push(member);
        }
        about.settle();
        self.changes += 1;
        true
    }

    /// A member that counts as the first that changes a page set.
    pub fn prefer_owner(&mut self, page_set: u32, member: u8) {
        self.page_sets[page_set as usize].writers.insert(0, member);
    }

    /// The member that casts out a page set: of those that change it the one that began first. Where none does, one that
    /// reads it; none where nobody has it open.
    pub fn castout_owner(&self, page_set: u32) -> Option<u8> {
        let about = &self.page_sets[page_set as usize];
        let reader = || about.interests.iter().position(|&interest| interest == Interest::Read).map(|at| at as u8);
        about.writers.first().copied().or_else(reader)
    }

    /// Members that have not changed a page set for so long become readers; the number of changed locks.
    pub fn pseudo_close(&mut self, now: Time, after: Time) -> u64 {
        let mut changed = 0;
        for (page_set, about) in (0..).zip(&mut self.page_sets) {
            let (mut last, retained) = (0, about.retained);
            for (member, (interest, &updated)) in (0..).zip(about.interests.iter_mut().zip(&about.updated)) {
                let is_retained = retained >> member & 1 == 1;
                if *interest == Interest::Write && !is_retained && now.saturating_sub(updated) >= after {
                    *interest = Interest::Read;
                    about.writers.retain(|&writer| writer != member);
                    changed += 1;
                    last = member;
                }
            }
            let was = about.dependent;
            about.settle();
            if was && !about.dependent {
                self.ended.push((page_set, last));
            }
        }
        self.changes += changed;
        changed
    }

    /// A member is lost: it reads nothing any more; its locks on what it changed are retained.
    pub fn lose(&mut self, member: u8) {
        for about in &mut self.page_sets {
            about.writers.retain(|&writer| writer != member);
            let own = &mut about.interests[usize::from(member)];
            if *own == Interest::Write {
                about.retained |= 1 << member;
                let users = about.interests.iter().filter(|&&one| one != Interest::None).count();
                about.closed = users == 1;
            } else {
                *own = Interest::None;
            }
            about.settle();
        }
    }

    /// A lost member has recovered: nothing is retained for it any more.
    pub fn recover(&mut self, member: u8) {
        for (page_set, about) in (0..).zip(&mut self.page_sets).filter(|(_, one)| one.retained >> member & 1 == 1) {
            about.retained &= !(1 << member);
            about.interests[usize::from(member)] = Interest::None;
            about.closed = false;
            let was = about.dependent;
            about.settle();
            if was && !about.dependent {
                self.ended.push((page_set, member));
            }
        }
    }

    /// Whether a page set is kept for a lost member alone.
    pub fn is_closed(&self, page_set: u32) -> bool {
        self.page_sets[page_set as usize].closed
    }

    /// Whether any page set is kept for a lost member alone.
    pub fn has_closed(&self) -> bool {
        self.page_sets.iter().any(|one| one.closed)
    }

    /// Page sets that a member has open, each with a lock.
    pub fn open(&self, member: u8) -> u64 {
        self.page_sets.iter().filter(|one| one.interests[usize::from(member)] != Interest::None).count() as u64
    }

    /// Page sets that stopped to depend on the group buffer pool since the last time of asking, each with the member
    /// whose interest ended.
    pub fn take_ended(&mut self) -> Vec<(u32, u8)> {
        std::mem::take(&mut self.ended)
    }

    /// Whether a page set depends on the group buffer pool.
    #[inline]
    pub fn is_dependent(&self, page_set: u32) -> bool {
        self.page_sets[page_set as usize].dependent
    }

    /// A member's lock on a page set.
    pub fn lock(&self, member: u8, page_set: u32) -> Option<PageSetLock> {
        let about = &self.page_sets[page_set as usize];
        about.lock(usize::from(member)).map(|(mode, _)| mode)
    }

    /// Locks asked for or changed so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }
}

impl PageSet {
    fn lock(&self, member: usize) -> Option<(PageSetLock, bool)> {
        let others = self.interests.iter().enumerate().filter(|&(other, _)| other != member);
        page_set_lock(self.interests[member], others.map(|(_, &interest)| interest).max().unwrap_or_default())
    }

    fn settle(&mut self) {
        self.dependent = (0..self.interests.len()).any(|member| self.lock(member).is_some_and(|(_, depends)| depends));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lost_member_changed_stays_locked() {
        let mut interests = Interests::new(2, 3);
        // 0: changed by both; 1: by the lost member alone; 2: only read.
        interests.note(0, 0, 5, true);
        interests.note(1, 0, 5, true);
        interests.note(0, 1, 5, true);
        interests.note(0, 2, 5, false);
        interests.lose(0);
        assert!(interests.is_dependent(0) && !interests.is_closed(0));
        assert!(interests.is_closed(1) && interests.has_closed() && !interests.is_closed(2));
        assert_eq!((interests.lock(0, 2), interests.open(0)), (None, 2));
        assert_eq!(interests.pseudo_close(50, 10), 1);
        interests.recover(0);
        assert!(!interests.has_closed() && !interests.is_dependent(0));
        assert_eq!(interests.open(0), 0);
    }

    #[test]
    fn table_1_of_the_1996_study() {
        // Interest of the requester, of the others, lock, dependence.
        let printed = [
            (Interest::Read, Interest::None, PageSetLock::S, false),
            (Interest::Read, Interest::Read, PageSetLock::S, false),
            (Interest::Read, Interest::Write, PageSetLock::IS, true),
            (Interest::Write, Interest::None, PageSetLock::X, false),
            (Interest::Write, Interest::Read, PageSetLock::SIX, true),
            (Interest::Write, Interest::Write, PageSetLock::IX, true),
        ];
        for (own, others, mode, depends) in printed {
            assert_eq!(page_set_lock(own, others), Some((mode, depends)));
        }
    }

    #[test]
    fn a_page_set_depends_from_the_first_writer_among_readers_to_the_last() {
        let mut interests = Interests::new(3, 1);
        assert!(interests.note(0, 0, 5, true));
        assert!(!interests.note(0, 0, 9, true));
        assert_eq!((interests.is_dependent(0), interests.lock(0, 0)), (false, Some(PageSetLock::X)));
        assert!(interests.note(1, 0, 10, false));
        assert!(interests.is_dependent(0));
        assert_eq!(interests.lock(0, 0), Some(PageSetLock::SIX));
        assert_eq!(interests.lock(1, 0), Some(PageSetLock::IS));
        assert_eq!(interests.lock(2, 0), None);
        assert_eq!(interests.pseudo_close(15, 10), 0);
        assert_eq!(interests.pseudo_close(19, 10), 1);
        assert!(!interests.is_dependent(0));
        assert_eq!(interests.changes(), 3);
    }

    #[test]
    fn the_castout_owner_is_the_first_of_those_that_change_a_page_set() {
        let mut interests = Interests::new(3, 1);
        assert_eq!(interests.castout_owner(0), None);
        interests.note(2, 0, 1, true);
        interests.note(0, 0, 9, true);
        interests.note(1, 0, 9, false);
        assert_eq!(interests.castout_owner(0), Some(2));
        // Member 2 stops to change it, and begins anew behind member 0.
        interests.pseudo_close(11, 10);
        assert_eq!(interests.castout_owner(0), Some(0));
        interests.note(2, 0, 12, true);
        assert_eq!(interests.castout_owner(0), Some(0));
        interests.lose(0);
        assert_eq!(interests.castout_owner(0), Some(2));
        // Nobody changes it any more: a reader is left to cast out.
        interests.lose(2);
        assert_eq!(interests.castout_owner(0), Some(1));
    }
}
