//! CICS regions and how one is chosen.

use serde::Deserialize;

use super::Scenario;
use super::checks::{Checked, MOST_MICROSECONDS, MOST_SERVICE, different, known, number, times, wrong};
use super::defaults as default;

/// Dispatching priorities: 0 to 7.
pub(crate) const PRIORITIES: u8 = 8;

/// A CICS region.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Application id.
    pub name: String,
    /// System that it runs on.
    pub system: String,
    /// Db2 group whose member on the same system it is connected to.
    #[serde(default)]
    pub db2: Option<String>,
    /// Threads to Db2 at the same time (TCBLIMIT, THREADLIMIT).
    #[serde(default = "default::region_threads")]
    pub threads: u32,
    /// Open TCBs (L8 and L9) at the same time (MAXOPENTCBS): a task gets one at its first call to Db2 and keeps it to its
    /// end. Without a limit by default.
    #[serde(default)]
    pub open_tcbs: Option<u32>,
    /// Dispatching priority: lower numbers first.
    #[serde(default = "default::priority")]
    pub priority: u8,
}

/// How regions are chosen, and what the way there costs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cics {
    /// The rule.
    pub routing: Routing,
    /// Processor time at each end to ship a transaction within a system, microseconds.
    pub mro_us: f64,
    /// Processor time at each end to ship a transaction to another system, microseconds.
    pub xcf_us: f64,
    /// Seconds on the way to another system.
    pub xcf_delay: f64,
    /// Processor time in the region of a change from the QR TCB to an open TCB, and of one back, microseconds.
    pub switch_us: f64,
}

/// How a region is chosen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// The one with the fewest transactions inside; of equal ones on the same system, then in turn.
    JoinShortestQueue,
    /// The one whose system has the lowest load against its engines, then as above.
    GoalOriented,
    /// In turn.
    RoundRobin,
}

impl Scenario {
    pub(super) fn check_regions(&self) -> Checked {
        let systems: Vec<&str> = self.system.iter().map(|one| one.name.as_str()).collect();
        let groups: Vec<&str> = self.db2.iter().map(|one| one.group.as_str()).collect();
        different("region", "region", self.region.iter().map(|one| one.name.as_str()))?;
        let cics = &self.cics;
        let paths = [("mro_us", cics.mro_us), ("xcf_us", cics.xcf_us), ("switch_us", cics.switch_us)];
        times("cics.", MOST_MICROSECONDS, &paths)?;
        times("cics.", MOST_SERVICE, &[("xcf_delay", cics.xcf_delay)])?;
        for (at, region) in self.region.iter().enumerate() {
            let path = format!("region[{at}].");
            known(format!("{path}system"), &region.system, "system", &systems)?;
            number(&path, "threads", region.threads.into(), false)?;
            number(&path, "open_tcbs", region.open_tcbs.unwrap_or(1).into(), false)?;
            if region.priority >= PRIORITIES {
                let what = format!("{} is not possible", region.priority);
                return wrong(format!("{path}priority"), what, format!("give 0 to {}", PRIORITIES - 1));
            }
            if let Some(name) = &region.db2 {
                known(format!("{path}db2"), name, "Db2 group", &groups)?;
                let group = self.db2.iter().find(|one| one.group == *name);
                if !group.is_some_and(|one| one.member.iter().any(|member| member.system == region.system)) {
                    let what = format!("group {name} has no member on system {}", region.system);
                    return wrong(format!("{path}db2"), what, "define one there, or move the region");
                }
            }
        }
        Ok(())
    }
}
