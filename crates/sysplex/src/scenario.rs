//! What is simulated, as data. Names are resolved and numbers checked by [`Scenario::check`]; whatever is wrong is said
//! with the path of its key (`class[2].references[0].page_set`) and what would be right.
//!
//! Lengths of time are in seconds where nothing else is said, and mean those of a processor of speed 1.

use serde::Deserialize;
use thiserror::Error;

mod checks;
mod classes;
mod coupling;
pub(crate) mod db2;
mod defaults;
mod distribution;
pub(crate) mod failures;
mod machines;
pub(crate) mod regions;

pub use classes::{Access, Class, Files, Part, References, Start, Think};
pub(crate) use classes::{DAY, MOST_STARTS};
pub use coupling::{Coupling, CouplingFacility};
pub use db2::{Db2, Db2Path, Db2Services, GroupPool, LockSize, LockStructure, Member, PageSet, Pool};
pub use distribution::{Distribution, DistributionKind};
pub use failures::Failure;
pub use machines::{Cec, Dasd, DataSet, System};
pub use regions::{Cics, Region, Routing};

use defaults as default;

/// A value that makes no sense, where it stands, and what may stand there.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{path}: {what}; {remedy}")]
pub struct ScenarioError {
    /// Keys and positions from the top of the scenario.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// A sysplex, its work, and how long to run it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the sysplex.
    #[serde(default = "default::sysplex")]
    pub sysplex: String,
    /// The run.
    #[serde(default)]
    pub run: Run,
    /// Machines.
    pub cec: Vec<Cec>,
    /// z/OS images.
    pub system: Vec<System>,
    /// Coupling facilities.
    #[serde(default)]
    pub coupling_facility: Vec<CouplingFacility>,
    /// What requests to coupling facilities cost.
    #[serde(default)]
    pub coupling: Coupling,
    /// Db2 data-sharing groups, or single subsystems.
    #[serde(default)]
    pub db2: Vec<Db2>,
    /// CICS regions.
    #[serde(default)]
    pub region: Vec<Region>,
    /// CICS: how regions are chosen and what the way there costs.
    #[serde(default)]
    pub cics: Cics,
    /// Transaction classes.
    pub class: Vec<Class>,
    /// Disks.
    #[serde(default)]
    pub dasd: Dasd,
    /// Data sets that programs read and write without Db2.
    #[serde(default)]
    pub data_set: Vec<DataSet>,
    /// What breaks, and when.
    #[serde(default)]
    pub failure: Vec<Failure>,
}

/// How long to run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Seed of all chance.
    pub seed: u64,
    /// Seconds before anything is measured.
    pub warm_up: f64,
    /// Seconds measured.
    pub seconds: f64,
    /// Seconds of an interval.
    pub interval: f64,
    /// Seconds of each interval that are simulated; counts and times of its records are multiplied so that they stand for
    /// all of it. Everything is simulated by default.
    pub sample: Option<f64>,
    /// Seconds after midnight (UTC) of Monday, 5 January 2026, at which the measurement begins.
    pub begin: f64,
    /// Whether pools are filled before the run, by references that take no time.
    pub preload: bool,
}

impl Run {
    /// Simulated seconds for each second of the day.
    pub(crate) fn pace(&self) -> f64 {
        self.sample.map_or(1.0, |sample| sample / self.interval)
    }

    /// Simulated seconds, the warm-up among them.
    #[must_use]
    pub fn simulated(&self) -> f64 {
        self.warm_up + self.seconds * self.pace()
    }
}

impl Scenario {
    /// Reads a scenario from JSON.
    ///
    /// # Errors
    /// A key that is unknown or missing, a value of a wrong kind, or one that [`Scenario::check`] refuses.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let made: Self =
            serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text)).map_err(|error| {
                let path = error.path().to_string();
                let what = error.into_inner().to_string();
                // serde ends with the place in the JSON text, which nobody has written, and has Rust's names of types.
                let what = in_words(what.split(" at line ").next().unwrap_or_default());
                ScenarioError { path, what, remedy: "see the reference of scenarios for its keys".into() }
            })?;
        made.check()?;
        Ok(made)
    }
}

/// Types of numbers as a reader of TOML knows them.
fn in_words(what: &str) -> String {
    let names = [
        ("u8", "a whole number from 0 to 255"),
        ("u16", "a whole number from 0 to 65535"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("u64", "a whole number of 0 or more"),
        ("f64", "a number"),
    ];
    let named = names.iter().find_map(|(name, words)| Some((what.strip_suffix(&format!("expected {name}"))?, words)));
    named.map_or_else(|| what.to_owned(), |(before, words)| format!("{before}expected {words}"))
}
