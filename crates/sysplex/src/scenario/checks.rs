//! Whether the names of a scenario name something and its numbers can be.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::{DAY, Scenario, ScenarioError};

pub(super) type Checked = Result<(), ScenarioError>;

pub(super) fn wrong(path: String, what: String, remedy: impl Into<String>) -> Checked {
    Err(ScenarioError { path, what, remedy: remedy.into() })
}

/// A number as a reader writes it: 1e-300, not three hundred zeros.
fn shown(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-6..1e15).contains(&value.abs());
    if plain { format!("{value}") } else { format!("{value:e}") }
}

/// A number above zero, or zero too.
pub(super) fn number(path: &str, key: &str, value: f64, zero: bool) -> Checked {
    if value.is_finite() && (value > 0.0 || (zero && value == 0.0)) {
        return Ok(());
    }
    let remedy = if zero { "give 0 or more" } else { "give more than 0" };
    wrong(format!("{path}{key}"), format!("{} is not possible", shown(value)), remedy)
}

/// A number from `least` to `most`: what is beyond them would take all memory or all time, or wrap.
pub(super) fn between(path: &str, key: &str, value: f64, least: f64, most: f64) -> Checked {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    wrong(format!("{path}{key}"), format!("{} is not possible", shown(value)), format!("give {least} to {most}"))
}

/// Seconds that a run can have, and anything in it that happens once.
const MOST_SECONDS: f64 = 1e8;
/// Seconds of processor time of one transaction, or of thought.
pub(super) const MOST_WORK: f64 = 86_400.0;
/// Seconds of a service, of which many queue up.
pub(super) const MOST_SERVICE: f64 = 60.0;
/// Microseconds of anything that is counted by requests or pages.
pub(super) const MOST_MICROSECONDS: f64 = 1e7;
/// Intervals that are kept.
const MOST_INTERVALS: f64 = 100_000.0;

/// Seconds of an interval that are simulated: in fewer, nothing happens that an interval could be judged by.
const LEAST_SAMPLE: f64 = 0.001;

/// The numbers of a table in seconds (or, as their keys say, microseconds), none of them beyond what the calendar holds.
pub(super) fn times(path: &str, most: f64, all: &[(&str, f64)]) -> Checked {
    all.iter().try_for_each(|&(key, value)| {
        number(path, key, value, true)?;
        between(path, key, value, 0.0, most)
    })
}

pub(super) fn share(path: &str, key: &str, value: f64) -> Checked {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    wrong(format!("{path}{key}"), format!("{} is no share", shown(value)), "give a number from 0 to 1")
}

pub(super) fn at_most(path: &str, key: &str, value: u32, most: u32) -> Checked {
    if value <= most {
        return Ok(());
    }
    wrong(format!("{path}{key}"), format!("{value} is not possible"), format!("give 0 to {most}"))
}

pub(super) fn known(path: String, name: &str, what: &str, names: &[&str]) -> Checked {
    if names.contains(&name) {
        return Ok(());
    }
    let there = if names.is_empty() { "there is none".to_owned() } else { format!("name one of {}", names.join(", ")) };
    wrong(path, format!("there is no {what} {name}"), there)
}

pub(super) fn different<T: Ord + Copy + Display>(path: &str, what: &str, names: impl Iterator<Item = T>) -> Checked {
    let mut seen = BTreeSet::new();
    for (at, name) in names.enumerate() {
        if !seen.insert(name) {
            return wrong(format!("{path}[{at}]"), format!("{what} {name} is there twice"), "give it another name");
        }
    }
    Ok(())
}

pub(super) fn some(path: &str, count: usize, what: &str) -> Checked {
    if count > 0 {
        return Ok(());
    }
    wrong(path.to_owned(), format!("there is no {what}"), "define at least one")
}

impl Scenario {
    /// Checks names and numbers.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn check(&self) -> Checked {
        some("cec", self.cec.len(), "machine")?;
        some("system", self.system.len(), "system")?;
        some("class", self.class.len(), "transaction class")?;
        number("run.", "seconds", self.run.seconds, false)?;
        number("run.", "warm_up", self.run.warm_up, true)?;
        number("run.", "interval", self.run.interval, false)?;
        times("run.", MOST_SECONDS, &[("seconds", self.run.seconds), ("warm_up", self.run.warm_up)])?;
        if self.run.seconds / self.run.interval > MOST_INTERVALS {
            let what = format!("{} s in intervals of {} s are too many", self.run.seconds, self.run.interval);
            let remedy = format!("give {} or more", self.run.seconds / MOST_INTERVALS);
            return wrong("run.interval".into(), what, remedy);
        }
        between("run.", "begin", self.run.begin, 0.0, DAY - 1.0)?;
        if let Some(sample) = self.run.sample {
            if sample.is_nan() || sample < LEAST_SAMPLE {
                let remedy = format!("give {LEAST_SAMPLE} or more");
                return wrong("run.sample".into(), format!("{} is not possible", shown(sample)), remedy);
            }
            let times = self.run.interval / sample;
            if times < 1.0 || (times - times.round()).abs() > 1e-9 * times {
                let what = format!("an interval of {} s is no whole multiple of {sample} s", self.run.interval);
                let remedy = format!("give {}, or another whole part of the interval", self.run.interval / 10.0);
                return wrong("run.sample".into(), what, remedy);
            }
        }
        self.check_machines()?;
        self.check_coupling()?;
        different("db2", "group", self.db2.iter().map(|one| one.group.as_str()))?;
        for (at, group) in self.db2.iter().enumerate() {
            self.check_group(&format!("db2[{at}]."), group)?;
        }
        self.check_buffers()?;
        self.check_regions()?;
        different("class", "class", self.class.iter().map(|one| one.name.as_str()))?;
        for (at, class) in self.class.iter().enumerate() {
            self.check_class(&format!("class[{at}]."), class)?;
        }
        self.check_starts()?;
        if !self.class.iter().any(|one| one.rate.is_some_and(|rate| rate > 0.0) || one.users.is_some_and(|all| all > 0))
        {
            let what = "no class has a rate or users: nothing will happen".to_owned();
            return wrong("class".into(), what, "give at least one class a rate or users above 0");
        }
        self.check_dasd()?;
        self.check_failures()
    }
}
