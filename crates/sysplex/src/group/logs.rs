//! What a run writes down event by event where that is asked for: transactions as they end, references to pages as they
//! are made.
//!
//! A run can end millions of transactions. What was written down is handed out whenever there is enough of it and at the
//! end of each interval, so that memory does not grow with the run. Writing down draws no random numbers and changes no
//! time: a run is the same with and without.

use plexlens_bufferpool::trace::Status;

use super::account::Account;
use super::in_pool::InPool;
use super::measured::Interval;
use super::task::Task;
use crate::kernel::Time;

/// Transactions, and references, that are handed out together.
const MOST_TRANSACTIONS: usize = 1 << 14;
const MOST_REFERENCES: usize = 1 << 17;

/// What is to be written down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Every transaction as it ends.
    pub transactions: bool,
    /// Every reference to a page.
    pub references: bool,
}

/// What is handed out while a run goes on, in the order of time.
#[derive(Debug)]
pub enum Piece {
    /// Measuring has begun: an interval of no length, with all names and nothing counted.
    Begun(Interval),
    /// What was written down since the piece before.
    Logged(Logged),
    /// An interval is over.
    Over(Interval),
}

/// Takes a piece; whether there is somebody left to take more.
pub type Hand<'a> = Box<dyn FnMut(Piece) -> bool + 'a>;

/// What was written down; times count from the beginning of measuring.
#[derive(Clone, Debug, Default)]
pub struct Logged {
    /// Transactions in the order of their ends.
    pub transactions: Vec<Ended>,
    /// What they did in pools: index of the transaction among these, and use of one pool.
    pub pools: Vec<(u32, InPool)>,
    /// References in the order in which they were made.
    pub references: Vec<Referred>,
}

/// A task's time in one region; nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stay {
    /// From its attach to its first dispatch.
    pub first_dispatch: Time,
    /// On the QR TCB.
    pub dispatched: Time,
    /// Waits for the QR TCB after the first dispatch.
    pub redispatch: Time,
    /// Dispatches of the QR TCB.
    pub dispatches: u32,
    /// When it asked for, or got, the QR TCB.
    since: Time,
}

/// A transaction that has ended; times are nanoseconds since measuring began, negative before.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Number of the transaction in the run, in the order of ends.
    pub number: u64,
    /// Number of its class.
    pub class: u16,
    /// Region where it ran, and the one where it came in, if that is another.
    pub region: u16,
    /// Region where it came in.
    pub terminal_region: Option<u16>,
    /// When it arrived, was sent to its region, was attached there, and ended.
    pub arrived: i64,
    /// When it left for its region.
    pub sent: i64,
    /// When it was attached in its region.
    pub attached: i64,
    /// When it ended.
    pub ended: i64,
    /// In the terminal region, and in its region.
    pub terminal: Stay,
    /// In its region.
    pub stay: Stay,
    /// When it got its thread first, and left Db2 last; both zero where it used no Db2.
    pub thread_begin: i64,
    /// When it left Db2 last.
    pub thread_end: i64,
    /// Waits for a thread, nanoseconds and number.
    pub thread_wait: Time,
    /// Number of them.
    pub thread_waits: u32,
    /// Wait for an open TCB, nanoseconds; it waits once at most.
    pub open_tcb_wait: Time,
    /// Calls to Db2, the commit not counted.
    pub db2_calls: u32,
    /// Time of the commit, nanoseconds.
    pub sync_point: Time,
    /// What it used.
    pub account: Account,
}

/// A reference to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Referred {
    /// Nanoseconds since measuring began.
    pub time: i64,
    /// Group.
    pub group: u16,
    /// Member.
    pub member: u8,
    /// Task.
    pub task: u32,
    /// Number of the pool.
    pub pool: u16,
    /// Page set.
    pub page_set: u32,
    /// Page.
    pub page: u64,
    /// Whether it is part of a scan.
    pub sequential: bool,
    /// Whether the page is changed.
    pub update: bool,
    /// Whether the page was in the local pool, was not, or was made anew.
    pub status: Status,
}

/// A transaction on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    terminal_region: Option<u16>,
    /// In its region, no longer in the terminal region.
    shipped: bool,
    terminal: Stay,
    stay: Stay,
    sent: Time,
    attached: Time,
    asked_thread: Time,
    thread_begin: Time,
    thread_end: Time,
    thread_wait: Time,
    thread_waits: u32,
    open_tcb_wait: Time,
    db2_calls: u32,
    sync_point: Time,
}

impl Course {
    /// The stay under way, and when the task was attached for it.
    fn under_way(&mut self, arrived: Time) -> (&mut Stay, Time) {
        if self.shipped { (&mut self.stay, self.attached) } else { (&mut self.terminal, arrived) }
    }
}

/// The logs of a run.
pub struct Logs<'a> {
    wanted: Wanted,
    hand: Hand<'a>,
    /// Since when it is written down; none during the warm-up.
    begun: Option<Time>,
    /// By number of task.
    courses: Vec<Course>,
    ended: u64,
    logged: Logged,
    heard: bool,
}

impl<'a> Logs<'a> {
    /// Logs of what is wanted, which hand it out.
    pub fn new(wanted: Wanted, hand: Hand<'a>) -> Self {
        Self { wanted, hand, begun: None, courses: Vec::new(), ended: 0, logged: Logged::default(), heard: true }
    }

    /// Whether anybody takes what is handed out.
    pub fn is_heard(&self) -> bool {
        self.heard
    }

    fn give(&mut self, piece: Piece) {
        self.heard = self.heard && (self.hand)(piece);
    }

    /// Measuring begins.
    pub(super) fn begin(&mut self, now: Time, empty: Interval) {
        self.begun = Some(now);
        self.give(Piece::Begun(empty));
    }

    /// An interval is over.
    pub(super) fn interval_over(&mut self, interval: &Interval) {
        self.hand_out();
        self.give(Piece::Over(interval.clone()));
    }

    fn hand_out(&mut self) {
        if !self.logged.transactions.is_empty() || !self.logged.references.is_empty() {
            let logged = std::mem::take(&mut self.logged);
            self.give(Piece::Logged(logged));
        }
    }

    fn course(&mut self, task: u32) -> &mut Course {
        let at = task as usize;
        if at >= self.courses.len() {
            self.courses.resize_with(at + 1, Course::default);
        }
        &mut self.courses[at]
    }

    /// A transaction arrives, in a terminal region or at once where it runs.
    pub(super) fn arrived(&mut self, task: u32, terminal_region: Option<u16>) {
        *self.course(task) = Course { terminal_region, ..Course::default() };
    }

    /// It is attached in the region where it runs; it was so long on its way there from the terminal region.
    pub(super) fn attached(&mut self, task: u32, now: Time, on_the_way: Time) {
        let course = self.course(task);
        (course.shipped, course.attached, course.sent) = (true, now, now - on_the_way);
        if course.terminal_region.is_some() {
            // The terminal region sends it on from its QR TCB.
            course.terminal.dispatched += course.sent.saturating_sub(course.terminal.since);
        }
    }

    /// It asks for the QR TCB and has to wait.
    pub(super) fn waits_for_region(&mut self, task: u32, now: Time) {
        self.course(task).under_way(0).0.since = now;
    }

    /// It gets the QR TCB, at once or after a wait.
    pub(super) fn gets_region(&mut self, task: u32, now: Time, arrived: Time, waited: bool) {
        let (stay, attached) = self.course(task).under_way(arrived);
        if stay.dispatches == 0 {
            stay.first_dispatch = now - attached;
        } else if waited {
            stay.redispatch += now - stay.since;
        }
        stay.dispatches += 1;
        stay.since = now;
    }

    /// It leaves the QR TCB.
    pub(super) fn leaves_region(&mut self, task: u32, now: Time) {
        let (stay, _) = self.course(task).under_way(0);
        stay.dispatched += now - stay.since;
        stay.since = now;
    }

    /// It has got an open TCB after so long.
    pub(super) fn waited_for_open_tcb(&mut self, task: u32, waited: Time) {
        self.course(task).open_tcb_wait = waited;
    }

    /// It asks for a thread, and gets it or not.
    pub(super) fn asks_thread(&mut self, task: u32, now: Time, gets_it: bool) {
        let course = self.course(task);
        if course.asked_thread > 0 && gets_it {
            course.thread_wait += now - course.asked_thread;
            course.asked_thread = 0;
        } else if !gets_it && course.asked_thread == 0 {
            course.thread_waits += 1;
            course.asked_thread = now;
        }
        if gets_it && course.thread_begin == 0 {
            course.thread_begin = now;
        }
    }

    /// It leaves Db2 after so long, from a call or the commit.
    pub(super) fn leaves_db2(&mut self, task: u32, now: Time, spent: Time, committed: bool) {
        let course = self.course(task);
        course.thread_end = now;
        if committed {
            course.sync_point += spent;
        } else {
            course.db2_calls += 1;
        }
    }

    /// It has ended.
    pub(super) fn ended(&mut self, number: u32, task: &Task, now: Time) {
        let Some(begun) = self.begun.filter(|_| self.wanted.transactions) else { return };
        let since = |time: Time| time as i64 - begun as i64;
        let course = *self.course(number);
        let used = |time: Time| if course.thread_begin == 0 { 0 } else { since(time) };
        self.ended += 1;
        let at = self.logged.transactions.len() as u32;
        self.logged.pools.extend(task.in_pools.iter().map(|&part| (at, part)));
        self.logged.transactions.push(Ended {
            number: self.ended,
            class: task.class,
            region: task.region,
            terminal_region: course.terminal_region,
            arrived: since(task.begun),
            sent: since(course.sent),
            attached: since(course.attached),
            ended: since(now),
            terminal: course.terminal,
            stay: course.stay,
            thread_begin: used(course.thread_begin),
            thread_end: used(course.thread_end),
            thread_wait: course.thread_wait,
            thread_waits: course.thread_waits,
            open_tcb_wait: course.open_tcb_wait,
            db2_calls: course.db2_calls,
            sync_point: course.sync_point,
            account: task.account,
        });
        if self.logged.transactions.len() >= MOST_TRANSACTIONS {
            self.hand_out();
        }
    }

    /// A page is referred to; `time` is that of the run.
    pub(super) fn referred(&mut self, referred: Referred) {
        let Some(begun) = self.begun.filter(|_| self.wanted.references) else { return };
        self.logged.references.push(Referred { time: referred.time - begun as i64, ..referred });
        if self.logged.references.len() >= MOST_REFERENCES {
            self.hand_out();
        }
    }
}
