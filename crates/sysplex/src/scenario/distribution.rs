//! How lengths of time are distributed.

use serde::Deserialize;

use super::checks::{Checked, between, number, wrong};
use crate::kernel::random::Shape;

/// Stages, variation and values that a distribution may have.
const MOST_STAGES: f64 = 1000.0;
const MOST_VARIATION: f64 = 100.0;
const MOST_VALUES: usize = 10_000;

/// How a length of time is distributed around its mean, which has a key of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// Which distribution.
    pub kind: DistributionKind,
    /// Stages of an Erlang distribution; its variance is the squared mean divided by them.
    #[serde(default)]
    pub stages: Option<u32>,
    /// Coefficient of variation of a hyperexponential distribution (standard deviation by mean), 1 or more. Its two means
    /// bring equal parts of the time.
    #[serde(default)]
    pub variation: Option<f64>,
    /// Values of an empirical distribution, in any unit: they are scaled so that the mean stays.
    #[serde(default)]
    pub values: Vec<f64>,
    /// Share of each value, in any unit; equal ones by default.
    #[serde(default)]
    pub shares: Vec<f64>,
}

/// Which distribution.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum DistributionKind {
    /// Always the mean.
    Constant,
    /// Exponential: the standard deviation is the mean.
    Exponential,
    /// Sum of exponential stages, less variable than one.
    Erlang,
    /// Exponential with one of two means, more variable than one.
    Hyperexponential,
    /// Values as they were measured, by their shares.
    Empirical,
}

impl Distribution {
    /// What a run draws from; a constant where there is none. The distribution was checked.
    pub(crate) fn shape(about: Option<&Self>) -> Shape {
        let Some(about) = about else { return Shape::Constant };
        match about.kind {
            DistributionKind::Constant => Shape::Constant,
            DistributionKind::Exponential => Shape::Exponential,
            DistributionKind::Erlang => Shape::Erlang(about.stages.unwrap_or(1)),
            DistributionKind::Hyperexponential => Shape::hyperexponential(about.variation.unwrap_or(1.0)),
            DistributionKind::Empirical => {
                let equal = vec![1.0; about.values.len()];
                Shape::empirical(&about.values, if about.shares.is_empty() { &equal } else { &about.shares })
            }
        }
    }
}

pub(super) fn check_distribution(path: &str, about: Option<&Distribution>) -> Checked {
    let Some(about) = about else { return Ok(()) };
    let kind = about.kind;
    let given = [
        ("stages", about.stages.is_some(), DistributionKind::Erlang),
        ("variation", about.variation.is_some(), DistributionKind::Hyperexponential),
        ("values", !about.values.is_empty(), DistributionKind::Empirical),
        ("shares", !about.shares.is_empty(), DistributionKind::Empirical),
    ];
    for (key, is_given, of) in given {
        let word = format!("{of:?}").to_lowercase();
        if is_given && kind != of {
            let what = format!("{key} are of the kind {word} alone");
            return wrong(format!("{path}.{key}"), what, format!("leave it out, or give the kind {word}"));
        }
        if !is_given && kind == of && key != "shares" {
            return wrong(format!("{path}.{key}"), format!("the kind {word} needs them"), "give them");
        }
    }
    let here = format!("{path}.");
    if let Some(stages) = about.stages {
        between(&here, "stages", stages.into(), 1.0, MOST_STAGES)?;
    }
    if let Some(variation) = about.variation {
        between(&here, "variation", variation, 1.0, MOST_VARIATION)?;
    }
    if about.values.len() > MOST_VALUES {
        let what = format!("{} values are too many", about.values.len());
        return wrong(format!("{path}.values"), what, format!("give {MOST_VALUES} at most"));
    }
    if !about.shares.is_empty() && about.shares.len() != about.values.len() {
        let what = format!("{} shares are not those of {} values", about.shares.len(), about.values.len());
        return wrong(format!("{path}.shares"), what, "give each value its share");
    }
    for (key, numbers) in [("values", &about.values), ("shares", &about.shares)] {
        numbers.iter().enumerate().try_for_each(|(at, &value)| {
            number(&here, &format!("{key}[{at}]"), value, true)?;
            between(&here, &format!("{key}[{at}]"), value, 0.0, 1e12)
        })?;
    }
    let weighted = about.values.iter().enumerate().map(|(at, value)| value * about.shares.get(at).unwrap_or(&1.0));
    if kind == DistributionKind::Empirical && weighted.sum::<f64>() <= 0.0 {
        return wrong(format!("{path}.values"), "their mean is zero".into(), "give at least one above 0 a share");
    }
    Ok(())
}
