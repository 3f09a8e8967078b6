//! What breaks, and when.

use serde::Deserialize;

use super::Scenario;
use super::checks::{Checked, between, known, number, wrong};
use super::defaults as default;

/// Seconds after the warm-up, or after a failure.
const MOST_LATER: f64 = 1e9;

/// What breaks: a member, a coupling facility, or links to one.
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
    /// Links from a system to a coupling facility that are lost.
    #[serde(default)]
    pub link: Option<LostLink>,
    /// Seconds until a lost member begins its restart on its own system, or a coupling facility or links can be used
    /// again.
    #[serde(default = "default::recovery")]
    pub recovery: f64,
    /// Restart of a lost member on another system before that, only to give its retained locks back (LIGHT(YES)).
    #[serde(default)]
    pub restart_light: Option<RestartLight>,
}

/// Lost links.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostLink {
    /// System.
    pub system: String,
    /// Coupling facility.
    pub coupling_facility: String,
    /// Subchannels that are lost with them; all, and so the connection, by default.
    #[serde(default)]
    pub subchannels: Option<u32>,
}

/// A restart in light mode.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestartLight {
    /// System.
    pub system: String,
    /// Seconds from the loss until it begins.
    #[serde(default = "default::restart_light")]
    pub after: f64,
}

impl Scenario {
    pub(super) fn check_failures(&self) -> Checked {
        let members: Vec<&str> = self.db2.iter().flat_map(|one| &one.member).map(|one| one.name.as_str()).collect();
        let systems: Vec<&str> = self.system.iter().map(|one| one.name.as_str()).collect();
        let facilities = self.names_of_facilities();
        for (at, failure) in self.failure.iter().enumerate() {
            let path = format!("failure[{at}].");
            number(&path, "at", failure.at, true)?;
            number(&path, "recovery", failure.recovery, false)?;
            between(&path, "at", failure.at, 0.0, MOST_LATER)?;
            between(&path, "recovery", failure.recovery, 0.0, MOST_LATER)?;
            match (&failure.member, &failure.coupling_facility, &failure.link) {
                (Some(name), None, None) => known(format!("{path}member"), name, "member", &members)?,
                (None, Some(name), None) => {
                    known(format!("{path}coupling_facility"), name, "coupling facility", &facilities)?;
                }
                (None, None, Some(link)) => {
                    known(format!("{path}link.system"), &link.system, "system", &systems)?;
                    let facility = &link.coupling_facility;
                    known(format!("{path}link.coupling_facility"), facility, "coupling facility", &facilities)?;
                    let all = self.coupling_facility.iter().find(|one| one.name == *facility);
                    let (lost, all) = (link.subchannels.unwrap_or(1), all.map_or(0, |one| one.subchannels));
                    if lost == 0 || lost > all {
                        let what = format!("{lost} is not possible, {facility} has {all} subchannels to each system");
                        return wrong(format!("{path}link.subchannels"), what, format!("give 1 to {all}"));
                    }
                }
                _ => {
                    let what = "one thing fails at a time".to_owned();
                    let remedy = "name one of member, coupling_facility, link; more failures are more tables";
                    return wrong(path.trim_end_matches('.').to_owned(), what, remedy);
                }
            }
            if let Some(light) = &failure.restart_light {
                self.check_restart_light(&path, failure, light)?;
            }
        }
        Ok(())
    }

    fn check_restart_light(&self, path: &str, failure: &Failure, light: &RestartLight) -> Checked {
        let systems: Vec<&str> = self.system.iter().map(|one| one.name.as_str()).collect();
        let path = format!("{path}restart_light");
        let Some(member) = &failure.member else {
            return wrong(path, "only a member is restarted".into(), "leave it out");
        };
        known(format!("{path}.system"), &light.system, "system", &systems)?;
        let mut members = self.db2.iter().flat_map(|one| &one.member);
        if members.any(|one| one.name == *member && one.system == light.system) {
            let what = format!("{} is the member's own system", light.system);
            return wrong(format!("{path}.system"), what, "name another, or leave restart_light out");
        }
        number(&format!("{path}."), "after", light.after, true)?;
        between(&format!("{path}."), "after", light.after, 0.0, MOST_LATER)
    }
}
