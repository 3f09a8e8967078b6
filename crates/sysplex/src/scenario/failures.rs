//! What breaks, and when.

use serde::Deserialize;

use super::Scenario;
use super::checks::{Checked, known, number, wrong};
use super::defaults as default;

/// What breaks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Seconds after the warm-up.
    pub at: f64,
    /// Member that is lost.
    #[serde(default)]
    pub member: Option<String>,
    /// Coupling facility that is lost.
    #[serde(default)]
    pub coupling_facility: Option<String>,
    /// Seconds until a lost member is back, or structures are rebuilt.
    #[serde(default = "default::recovery")]
    pub recovery: f64,
}

impl Scenario {
    pub(super) fn check_failures(&self) -> Checked {
        let members: Vec<&str> = self.db2.iter().flat_map(|one| &one.member).map(|one| one.name.as_str()).collect();
        for (at, failure) in self.failure.iter().enumerate() {
            let path = format!("failure[{at}].");
            number(&path, "at", failure.at, true)?;
            number(&path, "recovery", failure.recovery, false)?;
            match (&failure.member, &failure.coupling_facility) {
                (Some(name), None) => known(format!("{path}member"), name, "member", &members)?,
                (None, Some(name)) => {
                    known(format!("{path}coupling_facility"), name, "coupling facility", &self.names_of_facilities())?;
                }
                _ => {
                    let what = "one thing fails at a time".to_owned();
                    return wrong(path.trim_end_matches('.').to_owned(), what, "name a member or a coupling facility");
                }
            }
        }
        Ok(())
    }
}
