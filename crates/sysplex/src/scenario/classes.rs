//! Transaction classes and what they refer to.

use serde::Deserialize;

use super::Scenario;
use super::checks::{Checked, MOST_WORK, between, known, number, share, some, times, wrong};
use super::defaults as default;
use super::distribution::{Distribution, check_distribution};

/// Arrivals of a class a second, its users, the getpages of a transaction and its calls.
const MOST_RATE: f64 = 1e6;
const MOST_USERS: f64 = 1e6;
const MOST_GETPAGES: f64 = 1e6;
const MOST_CALLS: f64 = 1e6;
/// Seconds of a goal: SMF 72-3 has whole milliseconds, and WLM takes goals up to 24 hours.
const LEAST_GOAL: f64 = 0.001;
const MOST_GOAL: f64 = 86_400.0;
/// I/Os of a transaction to one data set.
const MOST_IOS: f64 = 1e5;
/// Seconds of a day, after which a profile repeats, and factors of a rate.
pub(crate) const DAY: f64 = 86_400.0;
const FACTORS: (f64, f64) = (0.001, 1000.0);
/// Parts of a day.
const MOST_PARTS: usize = 1440;
/// Seconds of thought on the average.
const MOST_THOUGHT: f64 = 1e8;
/// Generations of started transactions that are followed.
const GENERATIONS: usize = 20_000;
/// Transactions that one transaction leads to, directly or by others that it starts.
const MOST_LED_TO: f64 = 10_000.0;

/// Classes that one class can start.
pub(crate) const MOST_STARTS: usize = 4;

/// A class of transactions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Transaction id.
    pub name: String,
    /// Arrivals a second, in all.
    #[serde(default)]
    pub rate: Option<f64>,
    /// How the rate changes over the day, constant in each part; always the rate by default.
    #[serde(default)]
    pub profile: Vec<Part>,
    /// Users who think between transactions.
    #[serde(default)]
    pub users: Option<u32>,
    /// Seconds of thought.
    #[serde(default)]
    pub think: Option<Think>,
    /// Regions where transactions come in, in turn; they go on to one of `regions`.
    #[serde(default)]
    pub terminal_regions: Vec<String>,
    /// Regions that can run it.
    pub regions: Vec<String>,
    /// Processor time in the terminal region.
    #[serde(default)]
    pub terminal_cpu: f64,
    /// Processor time in the region, on its QR TCB.
    #[serde(default)]
    pub cpu: f64,
    /// Processor time of Db2 on the thread, besides what [`Db2Path`](super::Db2Path) counts.
    #[serde(default)]
    pub db2_cpu: f64,
    /// Distribution of `terminal_cpu`, and of each burst of `cpu` and `db2_cpu` between two calls; constant by default.
    #[serde(default)]
    pub cpu_distribution: Option<Distribution>,
    /// Share of the Db2 time that may run on a zIIP.
    #[serde(default)]
    pub ziip_share: f64,
    /// Whether its program is threadsafe: after its first call to Db2 it stays on its open TCB (L8), and its further
    /// processor time in the region needs no QR TCB.
    #[serde(default)]
    pub threadsafe: bool,
    /// Calls to Db2: how often the region is left and entered again.
    #[serde(default = "default::one_engine")]
    pub calls: u32,
    /// Seconds of response that a transaction is to meet.
    #[serde(default)]
    pub goal: Option<f64>,
    /// Percent of the transactions that are to meet `goal`, a whole number; the mean response is to meet it by default.
    #[serde(default)]
    pub goal_percent: Option<u8>,
    /// What it reads and changes.
    #[serde(default)]
    pub references: Vec<References>,
    /// Data sets that its programs read and write themselves, in the region.
    #[serde(default)]
    pub files: Vec<Files>,
    /// Classes that each of its transactions starts when it ends, four at most, and how many of each.
    #[serde(default)]
    pub starts: Vec<Start>,
}

/// A part of a day.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Where it begins: seconds after the warm-up, and so in each further 24 hours. The warm-up has the rate of the
    /// beginning.
    pub from: f64,
    /// By what the rate is multiplied until the next part begins.
    pub factor: f64,
}

/// Two-humped or exponential thought.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Think {
    /// Exponential, with this mean.
    Mean(f64),
    /// Two humps.
    Humps {
        /// Mean of the short ones.
        short: f64,
        /// Mean of the long ones.
        long: f64,
        /// Share of the short ones.
        short_share: f64,
    },
}

/// Pages of one page set that a transaction refers to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct References {
    /// The page set.
    pub page_set: String,
    /// Getpages on the average; a whole part always, one more as often as the rest says.
    pub getpages: f64,
    /// Share of the getpages that change the page.
    #[serde(default)]
    pub update: f64,
    /// How pages are chosen.
    #[serde(default)]
    pub access: Access,
}

/// Reads and writes of one data set in the region.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// The data set.
    pub data_set: String,
    /// I/Os on the average; a whole part always, one more as often as the rest says. The task leaves the QR TCB for each,
    /// and they are spread over the parts of its work in the region.
    pub ios: f64,
}

/// How pages are chosen.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// By the page set's skew.
    #[default]
    Random,
    /// One after the other from a random page on.
    Sequential,
    /// At the end, which moves on: inserts in the order of the key.
    Append,
}

/// A class started by another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The class.
    pub class: String,
    /// How many on the average.
    #[serde(default = "default::one")]
    pub number: f64,
}

impl Scenario {
    pub(super) fn check_class(&self, path: &str, class: &Class) -> Checked {
        let regions: Vec<&str> = self.region.iter().map(|one| one.name.as_str()).collect();
        some(&format!("{path}regions"), class.regions.len(), "region")?;
        for (key, names) in [("terminal_regions", &class.terminal_regions), ("regions", &class.regions)] {
            for (at, name) in names.iter().enumerate() {
                known(format!("{path}{key}[{at}]"), name, "region", &regions)?;
            }
        }
        if class.rate.is_some() && class.users.is_some() {
            return wrong(format!("{path}users"), "a class has a rate or users".into(), "leave one of them out");
        }
        check_distribution(&format!("{path}cpu_distribution"), class.cpu_distribution.as_ref())?;
        check_profile(path, class)?;
        number(path, "rate", class.rate.unwrap_or(0.0), true)?;
        between(path, "rate", class.rate.unwrap_or(0.0), 0.0, MOST_RATE)?;
        between(path, "users", class.users.unwrap_or(0).into(), 0.0, MOST_USERS)?;
        let work = [("terminal_cpu", class.terminal_cpu), ("cpu", class.cpu), ("db2_cpu", class.db2_cpu)];
        times(path, MOST_WORK, &work)?;
        let thinks = class.think.is_some_and(|think| !matches!(think, Think::Mean(0.0)));
        if class.users.is_some_and(|all| all > 0) && !thinks && work.iter().all(|one| one.1 == 0.0) {
            let what = "its users neither think nor work: no time would pass between their transactions".to_owned();
            return wrong(format!("{path}users"), what, "give it cpu, or its users a think above 0");
        }
        if let Some(goal) = class.goal {
            number(path, "goal", goal, false)?;
            between(path, "goal", goal, LEAST_GOAL, MOST_GOAL)?;
        }
        if let Some(percent) = class.goal_percent {
            if class.goal.is_none() {
                let what = "a percentage of the transactions has no goal to meet".to_owned();
                return wrong(format!("{path}goal_percent"), what, "give goal too, or leave it out");
            }
            between(path, "goal_percent", percent.into(), 1.0, 99.0)?;
        }
        match class.think {
            Some(_) if class.users.is_none() => {
                return wrong(
                    format!("{path}think"),
                    "nobody thinks: there are no users".into(),
                    "give users, or leave it out",
                );
            }
            Some(Think::Mean(mean)) => times(path, MOST_THOUGHT, &[("think", mean)])?,
            Some(Think::Humps { short, long, short_share }) => {
                let path = format!("{path}think.");
                number(&path, "short", short, false)?;
                number(&path, "long", long, false)?;
                times(&path, MOST_THOUGHT, &[("short", short), ("long", long)])?;
                share(&path, "short_share", short_share)?;
            }
            None => {}
        }
        share(path, "ziip_share", class.ziip_share)?;
        number(path, "calls", class.calls.into(), false)?;
        between(path, "calls", class.calls.into(), 1.0, MOST_CALLS)?;
        if class.starts.len() > MOST_STARTS {
            let what = format!("a class starts {MOST_STARTS} others at most");
            return wrong(format!("{path}starts[{MOST_STARTS}]"), what, "let one of those start the rest");
        }
        let classes: Vec<&str> = self.class.iter().map(|one| one.name.as_str()).collect();
        for (at, start) in class.starts.iter().enumerate() {
            known(format!("{path}starts[{at}].class"), &start.class, "class", &classes)?;
            number(&format!("{path}starts[{at}]."), "number", start.number, true)?;
        }
        let data_sets: Vec<&str> = self.data_set.iter().map(|one| one.name.as_str()).collect();
        for (at, file) in class.files.iter().enumerate() {
            known(format!("{path}files[{at}].data_set"), &file.data_set, "data set", &data_sets)?;
            between(&format!("{path}files[{at}]."), "ios", file.ios, 0.0, MOST_IOS)?;
        }
        self.check_references(path, class)
    }

    /// What transactions start comes to an end: where classes start each other in a circle, fewer in each round.
    pub(super) fn check_starts(&self) -> Checked {
        let position = |name: &str| self.class.iter().position(|one| one.name == name);
        let starts: Vec<Vec<(usize, f64)>> = self
            .class
            .iter()
            .map(|class| class.starts.iter().filter_map(|one| Some((position(&one.class)?, one.number))).collect())
            .collect();
        // What a transaction of each class leads to, in so many generations at most.
        let mut led_to = vec![0.0; self.class.len()];
        for _ in 0..GENERATIONS {
            let before = led_to.clone();
            for (all, starts) in led_to.iter_mut().zip(&starts) {
                *all = starts.iter().map(|&(other, number)| number * (1.0 + before[other])).sum::<f64>().min(1e300);
            }
            if led_to.iter().zip(&before).all(|(now, before)| now - before <= 1e-9 * now) {
                break;
            }
        }
        match led_to.iter().position(|&all| all > MOST_LED_TO) {
            None => Ok(()),
            Some(at) => {
                let what = "what its transactions start, and what that starts, does not come to an end".to_owned();
                let remedy = format!("break the circle, or lower the numbers: {MOST_LED_TO} for each in all at most");
                wrong(format!("class[{at}].starts"), what, remedy)
            }
        }
    }

    pub(super) fn check_references(&self, path: &str, class: &Class) -> Checked {
        if class.references.is_empty() && class.db2_cpu == 0.0 {
            return Ok(());
        }
        let mut connected: Option<&str> = None;
        for name in &class.regions {
            let region = self.region.iter().find(|one| one.name == *name);
            let Some(group) = region.and_then(|one| one.db2.as_deref()) else {
                let what = format!("region {name} is not connected to Db2, but the class works in Db2");
                return wrong(format!("{path}regions"), what, "give the region a db2");
            };
            if connected.is_some_and(|other| other != group) {
                let what = "its regions are connected to different groups".to_owned();
                return wrong(format!("{path}regions"), what, "make it two classes");
            }
            connected = Some(group);
        }
        let group = self.db2.iter().find(|one| Some(one.group.as_str()) == connected);
        let page_sets: Vec<&str> =
            group.into_iter().flat_map(|one| &one.page_set).map(|one| one.name.as_str()).collect();
        for (at, references) in class.references.iter().enumerate() {
            let here = format!("{path}references[{at}].");
            known(format!("{here}page_set"), &references.page_set, "page set", &page_sets)?;
            number(&here, "getpages", references.getpages, true)?;
            between(&here, "getpages", references.getpages, 0.0, MOST_GETPAGES)?;
            share(&here, "update", references.update)?;
        }
        Ok(())
    }
}

fn check_profile(path: &str, class: &Class) -> Checked {
    let Some(first) = class.profile.first() else { return Ok(()) };
    if class.rate.is_none() {
        let what = "it multiplies a rate, and the class has none".to_owned();
        return wrong(format!("{path}profile"), what, "give the class a rate, or leave it out");
    }
    if first.from != 0.0 {
        let what = format!("the first part begins after {} s", first.from);
        return wrong(format!("{path}profile[0].from"), what, "let it begin at 0");
    }
    if class.profile.len() > MOST_PARTS {
        let what = format!("{} parts of a day are too many", class.profile.len());
        return wrong(format!("{path}profile"), what, format!("give {MOST_PARTS} at most"));
    }
    let mut before = -1.0;
    for (at, part) in class.profile.iter().enumerate() {
        let here = format!("{path}profile[{at}].");
        between(&here, "from", part.from, 0.0, DAY - 1.0)?;
        if part.from <= before {
            let what = format!("{} s do not come after the part before", part.from);
            return wrong(format!("{here}from"), what, "put the parts in the order of the day");
        }
        before = part.from;
        if part.factor != 0.0 {
            between(&here, "factor", part.factor, FACTORS.0, FACTORS.1)?;
        }
    }
    if class.profile.iter().all(|part| part.factor == 0.0) {
        return wrong(format!("{path}profile"), "all factors are 0".into(), "give rate = 0 instead");
    }
    let highest = class.profile.iter().map(|part| part.factor).fold(0.0, f64::max);
    between(path, "rate", class.rate.unwrap_or(0.0) * highest, 0.0, MOST_RATE)
}
