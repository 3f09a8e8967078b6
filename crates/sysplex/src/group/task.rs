//! Transactions and background work on their way, and the steps they take.

use std::collections::VecDeque;

use super::account::{Account, Wait};
use super::in_pool::InPool;
use super::locks::Mode;
use super::pools::Place;
use crate::kernel::{Time, seconds};

/// Whose processor time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A CICS region.
    Region(u16),
    /// Database services of a member.
    DatabaseServices(u16),
    /// System services of a member: the log.
    SystemServices(u16),
    /// The lock manager of a member.
    LockManager(u16),
    /// A member that restarts on a system that is not its own.
    Guest(u16),
}

/// What a request to a disk is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A page set, by its number in the group.
    PageSet(u32),
    /// A data set of programs, by its number.
    File(u16),
    /// The log.
    Log,
}

/// Why a transaction ended without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The member that it worked with was lost.
    MemberLost,
    /// Its region has no member to work with (SQLCODE -923).
    NoMember,
    /// A page set is not available: its pages are to be recovered, its group buffer pool is lost or out of reach, or a
    /// lost member keeps it (SQLCODE -904).
    ResourceUnavailable,
    /// A lock is retained for a lost member (SQLCODE -904).
    RetainedLock,
    /// It was rolled back for deadlocks and timeouts too often (SQLCODE -911).
    DeadlockOrTimeout,
}

impl Reason {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::MemberLost => "member_lost",
            Self::NoMember => "no_member",
            Self::ResourceUnavailable => "resource_unavailable",
            Self::RetainedLock => "retained_lock",
            Self::DeadlockOrTimeout => "deadlock_or_timeout",
        }
    }
}

/// Kinds of requests to coupling facilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Lock or unlock.
    Lock,
    /// A read that returns no page.
    Read,
    /// A registration of so many pages.
    List(u16),
    /// A read that returns a page.
    Page,
    /// A write of a page, into both instances of a duplexed group buffer pool.
    Write,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Run so long on a processor of speed 1.
    Cpu {
        /// Nanoseconds.
        work: Time,
        /// Whose time it is.
        space: Space,
        /// Whether a zIIP may do it.
        eligible: bool,
    },
    /// Ask a structure so many times, one after the other.
    Ask {
        /// The structure.
        structure: u16,
        /// What is asked.
        request: Request,
        /// How often.
        count: u32,
        /// Whose time the sending takes.
        space: Space,
    },
    /// The request goes out, from the engine that the task holds.
    Send {
        /// The structure.
        structure: u16,
        /// What is asked.
        request: Request,
        /// Whose time the wait takes.
        space: Space,
    },
    /// Read or write pages of a volume, and wait for it or not.
    Disk {
        /// The volume.
        volume: u32,
        /// Pages.
        pages: u32,
        /// What is read or written.
        of: Extent,
        /// What the wait counts as; none: the task does not wait.
        wait: Option<Wait>,
    },
    /// Let time pass.
    Pass {
        /// Nanoseconds.
        time: Time,
        /// What the wait counts as.
        wait: Wait,
    },
    /// Wait until the log of the member is on disk.
    Log,
    /// Take a lock; `shared` where the lock structure has to know.
    Lock {
        /// The resource.
        resource: u64,
        /// The mode.
        mode: Mode,
        /// Whether the lock structure has to know.
        shared: bool,
    },
    /// Wait until the lock asked for last is there.
    AwaitLock,
    /// Get, and perhaps change, a page.
    Page {
        /// The page set.
        page_set: u32,
        /// The page.
        page: u64,
        /// Whether it is part of a scan.
        sequential: bool,
        /// Whether the page is changed.
        update: bool,
        /// Where in its page set it is.
        place: Place,
    },
    /// Give one lock back.
    Unlock {
        /// The resource.
        resource: u64,
        /// The mode.
        mode: Mode,
        /// Whether the lock structure knows.
        shared: bool,
    },
    /// Enter and leave the QR TCB of the region.
    EnterRegion,
    /// Leave it.
    LeaveRegion,
    /// Work in the region on an open TCB: a threadsafe program after its first call to Db2.
    EnterOpenTcb,
    /// The program waits, or calls Db2 again.
    LeaveOpenTcb,
    /// Get an open TCB, where the region has a limit of them.
    GetOpenTcb,
    /// Get a thread to Db2.
    GetThread,
    /// Commit: write the pages of dependent page sets that the unit of work changed to the group buffer pool.
    Commit,
    /// The same at the end of a rollback.
    WriteChanged,
    /// Give all locks and the thread back.
    EndUnit,
    /// Back to the region.
    LeaveDb2,
    /// A member has done its part of a rebuild.
    Rebuilt {
        /// The structure.
        structure: u16,
        /// Number of the rebuild.
        rebuild: u32,
    },
    /// Pages of a page set have been recovered from the logs.
    PagesRecovered {
        /// The page set.
        page_set: u32,
    },
    /// The member has restarted.
    Restarted,
}

/// Where a transaction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has arrived.
    Arrived,
    /// In the terminal region, before a region is chosen.
    Terminal,
    /// On the way to a region.
    Shipped(u16),
    /// In the region, so many calls done.
    Region(u32),
    /// In Db2, in the call after so many.
    Db2(u32),
    /// The unit of work ends.
    Ending,
    /// All is done.
    Done,
    /// Background work, which has its steps from the start.
    Background,
    /// The same for a rebuild, whose requests do not wait for its end.
    Rebuild,
}

/// Processor time under way, or a spin.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// When the task asked for it.
    pub since: Time,
    /// How long an engine is busy with it.
    pub length: Time,
    /// Of this, what z/OS attributes to the address space.
    pub charged: Time,
    /// The address space.
    pub space: Space,
    /// Whether a zIIP may do it.
    pub eligible: bool,
}

/// A lock that a task holds to the end of its unit of work.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The resource.
    pub resource: u64,
    /// The mode.
    pub mode: Mode,
    /// Whether the lock structure knows.
    pub shared: bool,
}

/// A transaction, or background work.
#[derive(Clone, Debug)]
pub struct Task {
    /// Number of the class; background work has that of no class.
    pub class: u16,
    /// Where it stands.
    pub stage: Stage,
    /// System that it is on, region that it is in.
    pub system: u16,
    /// Region.
    pub region: u16,
    /// Region where it came in, if it went on to another.
    pub terminal: Option<u16>,
    /// Group and member that it works with.
    pub group: u16,
    /// Member.
    pub member: u8,
    /// Dispatching priority.
    pub priority: u8,
    /// When it arrived.
    pub begun: Time,
    /// When it entered Db2, or zero.
    pub entered_db2: Time,
    /// When it got its first thread, or zero.
    pub thread_since: Time,
    /// What it does next.
    pub steps: VecDeque<Action>,
    /// Engine that it holds: whether of the zIIPs, and its number.
    pub engine: Option<(bool, u32)>,
    /// The burst under way.
    pub burst: Option<Burst>,
    /// Since when it waits, and for what.
    pub waiting: Option<(Time, Option<Wait>)>,
    /// Changes whenever it goes on: timers of former waits are void.
    pub turn: u32,
    /// References of the class that are left: its number and getpages.
    pub references: Vec<(u16, u32)>,
    /// Page sets and pages of the call under way that are to come, of references at random.
    pub ahead: VecDeque<(u32, u64)>,
    /// Whether another transaction started it, on the system where that one ended.
    pub started: bool,
    /// Page of the scan under way.
    pub scan: Option<u64>,
    /// Locks to the end of the unit of work.
    pub held: Vec<Held>,
    /// Whether the unit of work has changed anything.
    pub has_changes: bool,
    /// Pools with a group buffer pool in which it has, by bit, and keys of the pages there that it has changed.
    pub changed_pools: u128,
    /// Keys of the pages, in the order of the changes.
    pub changed_pages: Vec<u64>,
    /// Whether it has a thread, and the QR TCB.
    pub has_thread: bool,
    /// Whether it has the QR TCB.
    pub has_region: bool,
    /// Whether it has an open TCB of those that the region limits.
    pub has_open_tcb: bool,
    /// Since when its open TCB is dispatched, in Db2 or for the program; none where it is not.
    pub on_open_tcb: Option<Time>,
    /// When it was dispatched last.
    pub left_open_tcb: Option<Time>,
    /// Processor time of Db2 that is still to be spent, nanoseconds at speed 1.
    pub pending: Time,
    /// Getpages of a call, and what is left of the call.
    pub call_size: u32,
    /// What is left of the call.
    pub call_left: u32,
    /// Whether it stands still until a lock is there.
    pub awaits_lock: bool,
    /// Whether its member was lost under it.
    pub lost: bool,
    /// Why it ends without success.
    pub failed: Option<Reason>,
    /// Times that it was rolled back.
    pub rollbacks: u32,
    /// What it used.
    pub account: Account,
    /// What it did in each pool.
    pub in_pools: Vec<InPool>,
}

impl Task {
    /// A task at the beginning.
    pub fn new(class: u16, now: Time) -> Self {
        Self {
            class,
            stage: Stage::Arrived,
            system: 0,
            region: 0,
            terminal: None,
            group: u16::MAX,
            member: 0,
            priority: 0,
            begun: now,
            entered_db2: 0,
            thread_since: 0,
            steps: VecDeque::new(),
            engine: None,
            burst: None,
            waiting: None,
            turn: 0,
            references: Vec::new(),
            ahead: VecDeque::new(),
            started: false,
            scan: None,
            held: Vec::new(),
            has_changes: false,
            changed_pools: 0,
            changed_pages: Vec::new(),
            has_thread: false,
            has_region: false,
            has_open_tcb: false,
            on_open_tcb: None,
            left_open_tcb: None,
            pending: 0,
            call_size: 0,
            call_left: 0,
            awaits_lock: false,
            lost: false,
            failed: None,
            rollbacks: 0,
            account: Account::default(),
            in_pools: Vec::new(),
        }
    }

    /// Leaves Db2, or the call in which it was rolled back; how long it was inside.
    pub fn leave_db2(&mut self, now: Time) -> Time {
        let spent = now.saturating_sub(std::mem::take(&mut self.entered_db2).max(1));
        self.account.db2_elapsed += seconds(spent);
        self.account.thread_elapsed = seconds(now - self.thread_since);
        spent
    }

    /// Begins anew as another task, with the memory of the former.
    pub fn reuse(&mut self, class: u16, now: Time) {
        let mut former = std::mem::replace(self, Self::new(class, now));
        former.steps.clear();
        former.references.clear();
        former.ahead.clear();
        former.held.clear();
        former.in_pools.clear();
        former.changed_pages.clear();
        self.turn = former.turn.wrapping_add(1);
        (self.steps, self.references) = (former.steps, former.references);
        (self.ahead, self.held, self.in_pools) = (former.ahead, former.held, former.in_pools);
        self.changed_pages = former.changed_pages;
    }
}
